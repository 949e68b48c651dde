//! What the algorithms learn, as data: experiment, seeds, claim. `cargo xtask learn` runs the whole table, the test run
//! a seed or five of every row; both read this list and nothing else.
//!
//! Algorithms that are compared share every setting but the algorithm, and have a row each. A claim is a bound with room
//! for another seed, not what one run happened to give. A row that claims nothing is reported whatever it does.

use tandem_core::experiment::link::parse;
use tandem_core::experiment::presets::preset;
use tandem_core::experiment::spec::ExperimentSpec;

/// One experiment and what it must reach.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its name; `--only climbing` takes this row and all whose names go on with `_`.
    pub(crate) id: String,
    /// Heading it stands under.
    pub(crate) section: &'static str,
    /// What is run.
    pub(crate) source: Source,
    /// Seeds 0, 1, … of the whole table.
    pub(crate) seeds: u64,
    /// What a seed must reach.
    pub(crate) claim: Claim,
    /// How many of the whole table's seeds must reach it.
    pub(crate) needed: u64,
}

/// Where an experiment is written down.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In the menu, under this id, as shipped.
    Preset(&'static str),
    /// Here.
    Link(String),
}

/// What a seed must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Claim {
    /// The headline measure of the last evaluation is at least this good, with at most that budget.
    Ends {
        /// Bound, in the measure's unit.
        headline: f32,
        /// Env steps.
        env_steps: u32,
    },
    /// The best of the last three evaluations is at least this good, with at most that budget.
    BestOfThree {
        /// Bound, in the measure's unit.
        headline: f32,
        /// Env steps.
        env_steps: u32,
    },
    /// In one of the last three evaluations the greedy network wins at least these shares of its games against chance, as
    /// first and as second player, and as first against one ply.
    Wins {
        /// Against chance.
        chance: [f64; 2],
        /// As first against one ply.
        one_ply: f64,
        /// Plies.
        env_steps: u32,
    },
    /// In one of the last three evaluations the greedy network loses at most this share of its games against chance, from
    /// either seat.
    Loses {
        /// The share.
        most: f64,
    },
    /// As [`Claim::Ends`], and the agents' returns sum to the share of episodes whose pellet somebody walked to: it is paid once.
    PaidOnce {
        /// Bound, in the measure's unit.
        headline: f32,
        /// Env steps.
        env_steps: u32,
    },
    /// The joint values learned in all states of the two-step game, after at most 5,000 gradient steps.
    Tables {
        /// The values they are compared with.
        of: Values,
        /// Largest distance of an entry.
        within: f64,
        /// Return of the greedy joint actions.
        greedy_return: f32,
    },
    /// The greedy joint action at the end, counted from 1.
    Joint([u32; 2]),
    /// The greedy joint action pays differently than at the evaluation before, at least so often: nobody settles.
    Turns(u32),
    /// Nothing.
    Reported,
}

/// Joint values of the two-step game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Q*.
    Optimal,
    /// The additive fit that VDN converges to from uniform joint actions.
    AdditiveFit,
}

impl Row {
    /// The experiment, with that seed.
    pub(crate) fn spec(&self, seed: u64) -> ExperimentSpec {
        ExperimentSpec { seed, ..parse(&self.link()).spec }
    }

    /// The experiment's link.
    pub(crate) fn link(&self) -> String {
        match &self.source {
            Source::Preset(id) => preset(id).expect("the row names a preset of the menu").link.clone(),
            Source::Link(link) => link.clone(),
        }
    }

    /// Whether `--only name` means this row.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }

    fn must(self, claim: Claim, needed: u64) -> Self {
        Self { claim, needed, ..self }
    }
}

const ALGORITHMS: [&str; 3] = ["iql", "vdn", "qmix"];
const POLICIES: [&str; 2] = ["ippo", "mappo"];

/// Heading of the tuned presets; the document says beneath it what others report.
pub(crate) const BENCHMARKS: &str = "Reference tasks: spread, speaker and listener, foraging; tuned presets";

/// Heading of what a graphics processor trains.
pub(crate) const DEVICE: &str = "On a graphics processor";

/// Heading of the presets that are not tuned but quoted.
const COURSE: &str = "The course's own settings, as they are";

/// Heading of self-play on boards.
pub(crate) const SELF_PLAY: &str =
    "Self-play on boards: 1,000 games of the greedy network against each script from either seat";

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    [
        two_step(),
        pellet(),
        sight_and_several_pellets(),
        common_payoffs(),
        conflict(),
        benchmarks(),
        course(),
        self_play(),
        particles(),
        grids(),
        boards(),
        on_a_device(),
    ]
    .concat()
}

fn row(section: &'static str, id: &str, seeds: u64, source: Source) -> Row {
    Row { id: id.to_owned(), section, source, seeds, claim: Claim::Reported, needed: 0 }
}

fn two_step() -> Vec<Row> {
    let section = "Two-step game";
    let preset = |id| row(section, id, 5, Source::Preset(id));
    let link = |id: &str, link: &str| row(section, id, 10, Source::Link(format!("#v=1&env=two_step&{link}")));
    let mut rows = vec![
        preset("two_step_qmix").must(Claim::Tables { of: Values::Optimal, within: 0.15, greedy_return: 8.0 }, 5),
        preset("two_step_vdn").must(Claim::Tables { of: Values::AdditiveFit, within: 0.25, greedy_return: 7.0 }, 5),
        row(section, "two_step_coma", 3, Source::Preset("two_step_coma"))
            .must(Claim::Ends { headline: 8.0, env_steps: 200_000 }, 3),
        link("two_step_iql", "algo=iql"),
    ];
    // The same game on other data: what the agents try instead of uniform joint actions.
    for algo in ALGORITHMS {
        rows.push(link(
            &format!("two_step_eps_{algo}"),
            &format!("algo={algo}&explore=eps&eps=1&eps_end=0.1&eps_over=64000"),
        ));
    }
    rows
}

fn pellet() -> Vec<Row> {
    let section = "Pellet gridworld, one pellet, both agents in one corner, full sight";
    let world = |id: &str, link: &str| row(section, id, 5, Source::Link(link.to_owned()));
    let preset = |id: &str, preset| row(section, id, 5, Source::Preset(preset));
    let small = Claim::Ends { headline: 3.1, env_steps: 100_000 };
    let large = Claim::Ends { headline: 5.2, env_steps: 150_000 };
    let (policies_small, policies_large) =
        (Claim::Ends { headline: 3.1, env_steps: 50_000 }, Claim::Ends { headline: 5.2, env_steps: 100_000 });
    let six = "#v=1&env=pellet&size=6x6&lr_over=100000&budget=100000";
    vec![
        preset("pellet_4x4_iql", "pellet_iql"),
        preset("pellet_4x4_vdn", "pellet_vdn").must(small, 5),
        preset("pellet_4x4_qmix", "pellet_qmix").must(small, 5),
        preset("pellet_4x4_qmix_one_layer", "pellet_qmixer"),
        preset("pellet_4x4_ippo", "pellet_ippo").must(policies_small, 5),
        preset("pellet_4x4_mappo", "pellet_mappo").must(policies_small, 5),
        row(section, "pellet_4x4_coma", 3, Source::Preset("pellet_coma"))
            .must(Claim::Ends { headline: 3.5, env_steps: 200_000 }, 3),
        preset("pellet_4x4_group", "pellet_group").must(policies_small, 5),
        world("pellet_6x6_iql", &format!("{six}&algo=iql")),
        world("pellet_6x6_vdn", &format!("{six}&algo=vdn")).must(large, 5),
        preset("pellet_6x6_qmix", "pellet_6x6").must(large, 5),
        world("pellet_6x6_qmix_one_layer", &format!("{six}&algo=qmix&hyper=1")),
        preset("pellet_6x6_ippo", "pellet_6x6_ippo").must(policies_large, 5),
        preset("pellet_6x6_mappo", "pellet_6x6_mappo").must(policies_large, 5),
    ]
}

fn sight_and_several_pellets() -> Vec<Row> {
    let section = "Pellet gridworld where agents must part: several pellets, limited sight";
    let mut rows = Vec::new();
    // Optima of full sight: 5.9, 3.0, 5.0.
    for (id, shipped, headline) in
        [("pellet_6x6_four", "pellet_6x6_four", 7.5), ("sight_4x4", "sight_4x4", 3.3), ("sight_6x6", "sight_6x6", 5.5)]
    {
        let link = preset(shipped).expect("the menu has it").link.clone();
        for algo in ALGORITHMS {
            let id = format!("{id}_{algo}");
            rows.push(match algo {
                "qmix" => {
                    row(section, &id, 5, Source::Preset(shipped)).must(Claim::Ends { headline, env_steps: 150_000 }, 5)
                }
                _ => row(section, &id, 5, Source::Link(link.replace("algo=qmix", &format!("algo={algo}")))),
            });
        }
    }
    for algo in POLICIES {
        let id = format!("sight_4x4_{algo}");
        let source = Source::Preset(if algo == "ippo" { "sight_4x4_ippo" } else { "sight_4x4_mappo" });
        rows.push(row(section, &id, 5, source).must(Claim::Ends { headline: 3.3, env_steps: 50_000 }, 5));
        for (id, world) in [
            ("pellet_6x6_four", "size=6x6&start=random&pellets=4&budget=150000&eval_every=2000"),
            ("sight_6x6", "size=6x6&sight=2&budget=100000&eval_every=1000"),
        ] {
            let link = format!("#v=1&env=pellet&algo={algo}&{world}");
            rows.push(row(section, &format!("{id}_{algo}"), 5, Source::Link(link)));
        }
    }
    rows
}

fn common_payoffs() -> Vec<Row> {
    let section = "Climbing and penalty games: one common payoff; value-based learners try uniform joint actions";
    let game = |id: &str, link: &str| row(section, id, 20, Source::Link(format!("#v=1&env=matrix&{link}")));
    let mut rows = vec![
        row(section, "climbing_qmix", 20, Source::Preset("climbing_qmix")),
        game("climbing_vdn", "algo=vdn"),
        row(section, "climbing_iql", 20, Source::Preset("climbing_iql")),
        row(section, "climbing_hysteretic", 20, Source::Preset("climbing_hysteretic"))
            .must(Claim::Ends { headline: 11.0, env_steps: 128_000 }, 18),
    ];
    for algo in POLICIES {
        rows.push(game(&format!("climbing_{algo}"), &format!("algo={algo}")));
    }
    for k in [0, 25, 50, 75, 100] {
        for algo in ALGORITHMS.into_iter().chain(POLICIES) {
            let link = format!("game=penalty&penalty=-{k}&algo={algo}");
            rows.push(game(&format!("penalty_{k}_{algo}"), &link));
        }
    }
    for algo in ALGORITHMS {
        rows.push(game(&format!("nonmonotonic_{algo}"), &format!("game=nonmonotonic&algo={algo}")));
    }
    rows.push(
        row(section, "sanity_vdn", 3, Source::Preset("sanity_vdn"))
            .must(Claim::Ends { headline: 1.0, env_steps: 128_000 }, 3),
    );
    rows
}

fn conflict() -> Vec<Row> {
    let section = "Conflict: each agent its own reward, independent learners";
    let preset = |id| row(section, id, 3, Source::Preset(id));
    let ends = |headline, env_steps| Claim::Ends { headline, env_steps };
    vec![
        preset("pellet_race").must(ends(1.85, 50_000), 3),
        preset("pellet_race_ippo").must(Claim::PaidOnce { headline: 1.85, env_steps: 50_000 }, 3),
        row(section, "free_rider", 5, Source::Preset("free_rider")),
        row(section, "free_rider_coma", 3, Source::Preset("free_rider_coma")),
        row(section, "free_rider_idle", 5, Source::Preset("free_rider_idle")),
        preset("prisoners_dilemma").must(Claim::Joint([2, 2]), 3),
        preset("stag_hunt"),
        preset("matching_pennies").must(Claim::Turns(10), 3),
    ]
}

/// Presets tuned for the field's reference tasks, three seeds each.
fn benchmarks() -> Vec<Row> {
    let section = BENCHMARKS;
    let reaches = |headline, env_steps| Claim::BestOfThree { headline, env_steps };
    let shipped =
        |id, headline, env_steps| row(section, id, 3, Source::Preset(id)).must(reaches(headline, env_steps), 3);
    vec![
        shipped("spread_mappo", -14.0, 1_000_000),
        shipped("spread_ippo", -14.0, 1_000_000),
        row(section, "spread_coma", 3, Source::Preset("spread_coma")),
        shipped("spread_qmix", -13.0, 1_000_000),
        shipped("spread_vdn", -13.0, 1_000_000),
        shipped("speaker_listener_mappo", -12.0, 2_000_000),
        shipped("foraging_mappo", 0.95, 2_000_000),
        shipped("foraging_qmix", 0.95, 2_000_000),
        longer("spread_mappo", "5m", 5_000_000).must(reaches(-10.5, 5_000_000), 3),
        longer("spread_ippo", "5m", 5_000_000).must(reaches(-12.0, 5_000_000), 3),
        longer("spread_qmix", "2m", 2_000_000).must(reaches(-11.0, 2_000_000), 3),
        Row { seeds: 1, ..longer("spread_mappo", "20m", 20_000_000) },
    ]
}

/// The same preset with another budget and a twentieth of it between evaluations.
fn longer(id: &str, suffix: &str, budget: u32) -> Row {
    let link = preset(id).expect("the menu has it").link.clone();
    let change = |pair: &str| match pair.split_once('=') {
        Some(("budget", _)) => format!("budget={budget}"),
        Some(("eval_every", _)) => format!("eval_every={}", budget / 20),
        _ => pair.to_owned(),
    };
    let link: Vec<String> = link.split('&').map(change).collect();
    row(BENCHMARKS, &format!("{id}_{suffix}"), 3, Source::Link(link.join("&")))
}

/// Presets as shipped, with updates made on a device.
fn on_a_device() -> Vec<Row> {
    let shipped = |id: &'static str| row(DEVICE, &format!("gpu_{id}"), 3, Source::Preset(id));
    vec![shipped("pellet_mappo").must(Claim::Ends { headline: 3.1, env_steps: 100_000 }, 3)]
}

/// Presets with the numbers that the course names, whatever they reach.
fn course() -> Vec<Row> {
    ["course_ppo", "course_cycles"].map(|id| row(COURSE, id, 3, Source::Preset(id))).to_vec()
}

/// One network against itself, judged by games against scripts.
fn self_play() -> Vec<Row> {
    let shipped = |id: &str| {
        let link = preset(id).expect("the menu has it").link.clone();
        row(SELF_PLAY, id, 3, Source::Link(format!("{link}&match_games=1000")))
    };
    vec![
        shipped("connect_four_both").must(Claim::Wins { chance: [0.97, 0.95], one_ply: 0.55, env_steps: 5_000_000 }, 3),
        shipped("tictactoe_both").must(Claim::Loses { most: 0.01 }, 3),
    ]
}

fn particles() -> Vec<Row> {
    let section = "Particle worlds: untuned settings and short budgets, as a first look";
    ["adversary_ippo", "tag_ippo", "speaker_listener_qmix", "reference_mappo", "push_ippo"]
        .map(|id| row(section, id, 1, Source::Preset(id)))
        .to_vec()
}

fn grids() -> Vec<Row> {
    let section = "Foraging and pursuit: untuned settings and short budgets, as a first look";
    ["foraging_ippo", "pursuit_ippo"].map(|id| row(section, id, 1, Source::Preset(id))).to_vec()
}

fn boards() -> Vec<Row> {
    let section = "Board games: against chance, untuned; the return is the first player's";
    ["tictactoe_random", "connect_four_random"].map(|id| row(section, id, 1, Source::Preset(id))).to_vec()
}
