//! The table as a document.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use tandem_core::base::stats::summary;

use tandem_core::env::script::Script;

use crate::measure::{Outcome, share};
use crate::table::{BENCHMARKS, Claim, Row, SELF_PLAY, Source, Values};

/// A row that was run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Finished {
    /// The code that ran it.
    pub(crate) code: String,
    /// The experiment.
    pub(crate) link: String,
    /// Seeds 0, 1, ….
    pub(crate) outcomes: Vec<Outcome>,
}

impl Finished {
    /// Whether that code would only repeat it.
    pub(crate) fn is_of(&self, row: &Row, code: &str) -> bool {
        self.code == code && self.link == row.link() && self.outcomes.len() as u64 == row.seeds
    }

    fn holding(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.holds).count()
    }
}

const HEAD: &str = "\
# What the algorithms learn
<!-- Written by `cargo xtask learn`. Do not edit. -->

Every row is an experiment of the page, trained once per seed to its budget on the exact engine: the same link and code
give the same numbers on every machine. IQL, VDN and QMIX share all settings but the algorithm, and so do IPPO and MAPPO;
between these two families networks, data and rates differ (Links below). Where episodes are compared as groups, worlds
wait for the longest one and waiting counts as env steps. *At the end* is the headline measure of the last evaluation, its mean over seeds ± half the 95 % confidence interval of that mean
(Student's t; seeds, not episodes): mean env steps until the last pellet in the pellet worlds (lower is better), mean
return per agent elsewhere. Optima of pellet worlds are those of full sight. *Near* means within 0.1 of the optimum;
*away later* is the share of later evaluations that were not. Games count actions from 1. A claim counts the seeds that
must meet it; where nothing is claimed the row is reported whatever it does. *Code* is the last commit that could have
changed the row.
";

/// What others report on the same tasks, and how their figures are to be read.
const PUBLISHED: &str = "\
Returns of spread are those of one agent in the current environment (three agents, 25 env steps, ρ 0.5); three seeds, 0, 1
and 2; greedy evaluations over 200 episodes. Here random play returns −26.3, no movement −24.0, a scripted assignment −7.4;
speaker and listener: random −39.5 each, scripted −8.8; foraging (team's return, at most 1): random 0.23. The references'
own figures stand beside them in [particle_players.md](particle_players.md) and [grid_players.md](grid_players.md).

Published figures, converted. *D* is the return of the original environment, where an agent is handed everybody's rewards
and collides with itself: current = (D + 75) / 6, and D moves positions with the new velocity, which at equal play is 7 to
8 better in D (1.2 after conversion). Papoudakis et al. 2021 (arXiv 2006.07869, five seeds, the best of 41 evaluations, 2
million env steps for value-based algorithms and 20 million for others) give D −133.5 ± 3.1 MAPPO, −133.9 ± 3.7 IPPO, −126.6 ± 3.0 QMIX and
−131.0 ± 1.9 VDN: −9.8, −9.8, −8.6 and −9.3 here, about −11.0, −11.0, −9.9 and −10.6 with the current integrator. Users of
Yu et al. 2022 (arXiv 2103.01955) report MAPPO at about D −120 after 20 million env steps: −7.5, about −8.8. Speaker and
listener in the first paper is twice an agent's return: MAPPO −10.7 ± 0.3, so −5.3 an agent, original integrator.

";

/// Shares of a budget at which a curve is written down, in percent.
const SHARES: [u32; 9] = [0, 5, 10, 20, 35, 50, 65, 80, 100];

/// What the curves' table says.
const CURVES: &str = "\
Greedy return of seeds 0, 1 and 2 at the first evaluation after that share of the budget; units and conventions as above.
The presets of MAPPO, IPPO and QMIX on spread are the first part of the longer runs; boards stand in
[self_play.md](algorithms/self_play.md).

";

/// What a document says of one row: its line, and that of its curve if it has one.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    result: String,
    curve: Option<String>,
}

impl Lines {
    /// Of a row that was run.
    pub(crate) fn of(row: &Row, finished: &Finished) -> Self {
        let curve = (row.section == BENCHMARKS).then(|| curve(row, finished));
        Self { result: table_row(row, finished), curve }
    }

    /// As `document` has them, if it ran the same experiment and asked the same of it.
    pub(crate) fn in_document(row: &Row, document: &str) -> Option<Self> {
        let (rest, links) = document.split_once(LINKS_HEADING)?;
        let (tables, curves) = rest.split_once(CURVES_HEADING).unwrap_or((rest, ""));
        let line = |part: &str| {
            let start = format!("| {} |", row.id);
            part.lines().find(|line| line.starts_with(&start)).map(|line| format!("{line}\n"))
        };
        let result = line(tables)?;
        let asks = |lower: bool| result.contains(&format!("| {} |", claim(row, lower)));
        let ran = links.lines().any(|line| line == link_line(row));
        (ran && (asks(true) || asks(false))).then(|| Self { result, curve: line(curves) })
    }
}

const CURVES_HEADING: &str = "\n## Curves of the reference tasks\n";
const LINKS_HEADING: &str = "\n## Links\n";

/// The document.
pub(crate) fn report(rows: &[(Row, Lines)]) -> String {
    let mut text = HEAD.to_owned();
    let mut section = "";
    for (row, lines) in rows {
        if row.section != section {
            section = row.section;
            let published = if section == BENCHMARKS { PUBLISHED } else { "" };
            let columns =
                "| row | seeds | env steps | gradient steps | at the end | optimum | more | claim | verdict | code |";
            let _infallible = write!(text, "\n## {section}\n{published}{columns}\n{}\n", columns_rule(columns));
        }
        text.push_str(&lines.result);
    }
    let columns = format!("| row | budget |{}", SHARES.map(|share| format!(" {share} % |")).concat());
    let _infallible = write!(text, "{CURVES_HEADING}{CURVES}{columns}\n{}\n", columns_rule(&columns));
    text.extend(rows.iter().filter_map(|(_, lines)| lines.curve.as_deref()));
    text.push_str(LINKS_HEADING);
    for (row, _) in rows {
        let _infallible = writeln!(text, "{}", link_line(row));
    }
    text
}

fn link_line(row: &Row) -> String {
    let from = match row.source {
        Source::Preset(id) => format!(" (in the menu: {id})"),
        Source::Link(_) => String::new(),
    };
    format!("- {}{from}: `{}`", row.id, row.link())
}

/// A reference task's curve, seeds side by side.
fn curve(row: &Row, finished: &Finished) -> String {
    let budget = row.spec(0).budget;
    let at = |share: u32| {
        let from = (u64::from(budget) * u64::from(share) / 100) as u32;
        let points = finished.outcomes.iter().filter_map(|outcome| {
            outcome.curve.iter().find(|(env_steps, _)| *env_steps >= from).map(|&(_, mean)| f64::from(mean))
        });
        let seeds: Vec<String> = points.map(number).collect();
        format!(" {} |", seeds.join(", "))
    };
    format!("| {} | {budget} |{}\n", row.id, SHARES.map(at).concat())
}

/// One line for the terminal.
pub(crate) fn line(row: &Row, finished: &Finished) -> String {
    format!("at the end {}; {}; {}", at_the_end(finished), more(row, finished), verdict(row, finished))
}

fn columns_rule(columns: &str) -> String {
    "| --- ".repeat(columns.matches('|').count() - 1) + "|"
}

fn table_row(row: &Row, finished: &Finished) -> String {
    let outcomes = &finished.outcomes;
    let first = &outcomes[0];
    let optimum = first.optimum.map_or_else(|| "–".to_owned(), |optimum| number(f64::from(optimum)));
    format!(
        "| {} | {} | {} | {} | {} | {optimum} | {} | {} | {} | {} |\n",
        row.id,
        outcomes.len(),
        first.env_steps,
        first.gradient_steps,
        at_the_end(finished),
        more(row, finished),
        claim(row, first.lower_is_better),
        verdict(row, finished),
        finished.code,
    )
}

fn at_the_end(finished: &Finished) -> String {
    let last: Vec<f64> = finished.outcomes.iter().map(|outcome| f64::from(outcome.last)).collect();
    let over_seeds = summary(&last).expect("a row has a seed");
    match last.len() {
        1 => number(over_seeds.mean), // one seed tells nothing of the others
        _ => format!("{} ± {}", number(over_seeds.mean), number(over_seeds.ci95)),
    }
}

fn more(row: &Row, finished: &Finished) -> String {
    let outcomes = &finished.outcomes;
    let mut parts = Vec::new();
    if let Some(worst) = outcomes.iter().filter_map(|outcome| outcome.error).max_by(f64::total_cmp) {
        parts.push(format!("largest error of a joint value {worst:.3}"));
    }
    if let Claim::BestOfThree { .. } = row.claim {
        let seeds = outcomes.iter().map(|outcome| {
            let of_seed: Vec<String> = outcome.last_three.iter().map(|&mean| number(f64::from(mean))).collect();
            format!("seed {}: {}", outcome.seed, of_seed.join(", "))
        });
        parts.push(seeds.collect::<Vec<_>>().join("; "));
        return parts.join("; ");
    }
    if row.section == SELF_PLAY {
        return outcomes.iter().map(games).collect::<Vec<_>>().join("; ");
    }
    let mut joints = BTreeMap::new();
    for [first, second] in outcomes.iter().filter_map(|outcome| outcome.joint) {
        *joints.entry((first, second)).or_insert(0) += 1;
    }
    if joints.is_empty() {
        parts.push(nearness(outcomes));
    } else {
        let counts: Vec<String> = joints.iter().map(|((a, b), count)| format!("({a}, {b}): {count}")).collect();
        parts.push(format!("greedy joint action {}", counts.join(", ")));
        let turns = range(outcomes.iter().map(|outcome| outcome.turns));
        parts.push(format!("changed {turns} times"));
    }
    for outcome in outcomes {
        if let Some(tensor) = &outcome.diverged {
            parts.push(format!("seed {} diverged at {tensor}", outcome.seed));
        }
    }
    parts.join("; ")
}

/// The last three evaluations of a seed in games.
fn games(outcome: &Outcome) -> String {
    let of = |games: &Vec<_>| {
        let percent = |script, seat, lost: bool| {
            let ended = share(games, script, seat, |result| if lost { result.lost } else { result.won });
            format!("{:.1}", 100.0 * ended)
        };
        let both = |script, lost| format!("{} / {}", percent(script, 0, lost), percent(script, 1, lost));
        format!(
            "chance {} (lost {}), one ply {}, negamax {}",
            both(Script::Uniform, false),
            both(Script::Uniform, true),
            both(Script::OnePly, false),
            both(Script::Negamax4, false)
        )
    };
    let all: Vec<String> = outcome.matches.iter().map(of).collect();
    format!("seed {}: {}", outcome.seed, all.join(", then "))
}

fn nearness(outcomes: &[Outcome]) -> String {
    let best: Vec<f64> = outcomes.iter().map(|outcome| f64::from(outcome.best)).collect();
    let best = number(summary(&best).expect("a row has a seed").mean);
    let reached: Vec<u32> = outcomes.iter().filter_map(|outcome| outcome.reached).collect();
    if outcomes[0].optimum.is_none() {
        return format!("best {best}");
    }
    if reached.is_empty() {
        return format!("best {best}, never near");
    }
    let all = outcomes.iter().filter(|outcome| outcome.reached.is_some());
    let left: Vec<f64> = all.map(|outcome| f64::from(outcome.left) * 100.0).collect();
    let left = summary(&left).expect("one was near").mean;
    let steps = range(reached.iter().copied());
    let seeds = match outcomes.len() - reached.len() {
        0 => String::new(),
        _ => format!(" in {} seeds", reached.len()),
    };
    format!("best {best}, near after {steps} env steps{seeds}, away later {left:.0} %")
}

fn claim(row: &Row, lower_is_better: bool) -> String {
    let of = |text: String| format!("{text}, {} of {} seeds", row.needed, row.seeds);
    match row.claim {
        Claim::Ends { headline, env_steps } => {
            let sign = if lower_is_better { "≤" } else { "≥" };
            of(format!("{sign} {headline} within {env_steps} env steps"))
        }
        Claim::BestOfThree { headline, env_steps } => {
            let sign = if lower_is_better { "≤" } else { "≥" };
            of(format!("best of the last three {sign} {headline} within {env_steps} env steps"))
        }
        Claim::PaidOnce { headline, env_steps } => {
            let sign = if lower_is_better { "≤" } else { "≥" };
            of(format!("{sign} {headline} within {env_steps} env steps, returns sum to the rate of pellets walked to"))
        }
        Claim::Tables { of: values, within, greedy_return } => {
            let values = match values {
                Values::Optimal => "Q*",
                Values::AdditiveFit => "the additive fit",
            };
            of(format!("joint values within {within} of {values}, greedy return {greedy_return}"))
        }
        Claim::Wins { chance: [first, second], one_ply, env_steps } => {
            let [first, second, one_ply] = [first, second, one_ply].map(|share| 100.0 * share);
            of(format!(
                "wins ≥ {first:.0} / {second:.0} % against chance and ≥ {one_ply:.0} % as first against one ply within {env_steps} plies"
            ))
        }
        Claim::Loses { most } => of(format!("loses ≤ {:.0} % against chance", 100.0 * most)),
        Claim::Joint([first, second]) => of(format!("greedy joint action ({first}, {second})")),
        Claim::Turns(least) => of(format!("changes at least {least} times")),
        Claim::Reported => "none".to_owned(),
    }
}

fn verdict(row: &Row, finished: &Finished) -> String {
    if row.claim == Claim::Reported {
        return "reported".to_owned();
    }
    let holding = finished.holding();
    let word = if holding as u64 >= row.needed { "holds" } else { "does not hold" };
    format!("{word} ({holding} of {})", finished.outcomes.len())
}

fn range(numbers: impl Iterator<Item = u32> + Clone) -> String {
    let (least, most) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

fn number(x: f64) -> String {
    format!("{x:.2}")
}
