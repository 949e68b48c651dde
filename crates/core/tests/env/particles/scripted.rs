//! Scripted players against what the reference environments gave for the same players: random, doing nothing and the
//! spread controllers must agree; our own experts are printed beside theirs.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{Env, EnvState, StepOut};
use tandem_core::env::particles::{Convention, ParticleSpec, Particles, Scenario};
use tandem_core::env::script::{Program, Script, Turn};

const EPISODES: u32 = 1_000;

/// A sample's mean, standard deviation and size.
#[derive(Clone, Copy, Debug)]
struct Sample {
    mean: f64,
    sd: f64,
    episodes: u32,
}

impl Sample {
    fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        Self { mean, sd: (squares / (count - 1.0)).sqrt(), episodes: numbers.len() as u32 }
    }

    fn standard_error(self) -> f64 {
        self.sd / f64::from(self.episodes).sqrt()
    }
}

/// What many episodes gave.
struct Play {
    /// Return of each agent `[episodes, n]`.
    returns: Vec<Vec<f64>>,
    /// Sums of each agent's reward parts `[episodes, n, parts]`.
    parts: Vec<Vec<f64>>,
}

impl Play {
    /// Plays by `scripts`, one for each role.
    fn new(env: &Particles, scripts: &[Script]) -> Self {
        let info = env.info();
        let n = info.num_agents as usize;
        let programs: Vec<Box<dyn Program>> =
            scripts.iter().map(|&script| env.program(script).expect("the script suits the world")).collect();
        let (worlds, seats) = (Stream::new(5, "trial"), Stream::new(5, "trial seats"));
        let mut state = EnvState::new(info);
        let (mut obs, mut legal) = (vec![0.0; info.obs_len as usize], vec![0; info.num_actions as usize]);
        let (mut rewards, mut paid) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
        let (mut returns, mut parts) = (Vec::new(), Vec::new());
        for episode in 0..EPISODES {
            env.reset(state.view_mut(), &worlds.env(0, episode, 0));
            let (mut sum, mut part_sum) = (vec![0.0; n], vec![0.0; paid.len()]);
            for step in 1..=info.max_steps {
                let mut actions = vec![0; n];
                for (agent, action) in actions.iter_mut().enumerate() {
                    env.observe(state.view(), agent as u32, &mut obs);
                    env.legal(state.view(), agent as u32, &mut legal);
                    let turn = Turn { stream: seats, at: [0, episode, step - 1], agent: agent as u32 };
                    *action = programs[info.role_of[agent] as usize].act(&obs, &legal, &turn);
                }
                let mut out = StepOut { rewards: &mut rewards, parts: &mut paid };
                env.step(state.view_mut(), &actions, &worlds.env(0, episode, step), &mut out);
                sum.iter_mut().zip(&rewards).for_each(|(sum, reward)| *sum += reward);
                part_sum.iter_mut().zip(&paid).for_each(|(sum, part)| *sum += part);
            }
            returns.push(sum);
            parts.push(part_sum);
        }
        Self { returns, parts }
    }

    /// Mean return of agents `first` and those behind it.
    fn mean_of(&self, first: usize, count: usize) -> Sample {
        let mean = |returns: &Vec<f64>| returns[first..first + count].iter().sum::<f64>() / count as f64;
        Sample::of(&self.returns.iter().map(mean).collect::<Vec<_>>())
    }
}

/// What the reference gave: mean, standard deviation where it is known, episodes.
#[derive(Clone, Copy)]
struct Given(f64, Option<f64>, u32);

impl Given {
    /// Three standard errors of the difference; an unknown deviation is taken to be ours.
    fn tolerance(self, ours: Sample) -> f64 {
        let theirs = self.1.unwrap_or(ours.sd) / f64::from(self.2).sqrt();
        let own = ours.standard_error();
        3.0 * (theirs * theirs + own * own).sqrt()
    }

    fn check(self, ours: Sample, what: &str) {
        let (off, tolerance) = ((ours.mean - self.0).abs(), self.tolerance(ours));
        println!(
            "{what}: {:.2} ± {:.2}, reference {:.2}, off by {off:.2} of {tolerance:.2}",
            ours.mean, ours.sd, self.0
        );
        assert!(off <= tolerance, "{what}: {ours:?}, the reference {}", self.0);
    }

    fn text(self) -> String {
        minus(&self.1.map_or_else(|| format!("{:.2}", self.0), |sd| format!("{:.2} ± {sd:.2}", self.0)))
    }
}

fn spread(agents: u32) -> Particles {
    ParticleSpec { agents, ..ParticleSpec::default() }.validate().expect("a world")
}

/// simple_spread: agents, player, mean return of an agent, mean of the global part alone.
const SPREAD: [(u32, Script, Given, Option<Given>); 9] = {
    use Script::{Hungarian, HungarianGreedy, Idle, Nearest, Uniform};
    const fn given(mean: f64, sd: f64) -> Given {
        Given(mean, Some(sd), 1_000)
    }
    [
        (3, Uniform, given(-26.55, 7.99), Some(given(-52.27, 15.81))),
        (3, Idle, given(-24.44, 8.43), Some(given(-48.71, 16.75))),
        (3, Nearest, given(-16.84, 8.24), Some(given(-28.72, 14.26))),
        (3, Hungarian, given(-8.84, 3.13), Some(given(-16.72, 5.80))),
        (3, HungarianGreedy, given(-7.57, 3.47), Some(given(-14.07, 6.23))),
        (2, Uniform, Given(-20.73, None, 500), None),
        (2, Hungarian, Given(-6.63, None, 500), None),
        (5, Uniform, Given(-34.90, None, 500), None),
        (5, Hungarian, Given(-12.45, None, 500), None),
    ]
};

#[test]
fn spread_players_earn_what_they_earn_in_the_reference() {
    for (agents, script, of_agent, of_global) in SPREAD {
        let play = Play::new(&spread(agents), &[script]);
        let what = format!("spread, {agents} agents, {}", script.info().id);
        of_agent.check(play.mean_of(0, agents as usize), &what);
        if let Some(of_global) = of_global {
            let global: Vec<f64> = play.parts.iter().map(|parts| parts[0]).collect();
            of_global.check(Sample::of(&global), &format!("{what}, the global part"));
        }
    }
}

/// A row of the other scenarios: players of each role; the role's first agent, how many, and what the reference gave.
struct Row {
    scenario: Scenario,
    scripts: [Script; 2],
    told: &'static str,
    groups: &'static [(usize, usize, &'static str, Given)],
    /// Whether the reference's players are these very players, so that figures must agree.
    same: bool,
}

const ROWS: [Row; 13] = {
    use Script::{Expert, Uniform};
    const fn given(mean: f64, sd: f64) -> Given {
        Given(mean, Some(sd), 500)
    }
    const fn row(
        scenario: Scenario,
        scripts: [Script; 2],
        told: &'static str,
        groups: &'static [(usize, usize, &'static str, Given)],
    ) -> Row {
        let same = matches!(scripts, [Uniform, Uniform]);
        Row { scenario, scripts, told, groups, same }
    }
    [
        row(
            Scenario::Adversary,
            [Uniform, Uniform],
            "all random",
            &[(0, 1, "adversary", given(-29.2, 12.6)), (1, 2, "good", given(7.8, 16.3))],
        ),
        row(
            Scenario::Adversary,
            [Uniform, Expert],
            "good agents split over the landmarks, adversary random",
            &[(0, 1, "adversary", Given(-29.6, None, 500)), (1, 2, "good", given(23.0, 13.4))],
        ),
        row(
            Scenario::Adversary,
            [Expert, Expert],
            "the same, adversary in the landmarks' middle",
            &[(0, 1, "adversary", given(-16.8, 6.3)), (1, 2, "good", given(10.2, 7.1))],
        ),
        row(
            Scenario::Tag,
            [Uniform, Uniform],
            "all random",
            &[(0, 3, "hunters", given(4.2, 10.6)), (3, 1, "prey", given(-17.1, 19.8))],
        ),
        row(
            Scenario::Tag,
            [Expert, Uniform],
            "hunters chase, prey random",
            &[(0, 3, "hunters", given(67.8, 37.4)), (3, 1, "prey", given(-86.3, 35.8))],
        ),
        row(
            Scenario::Tag,
            [Expert, Expert],
            "hunters chase, prey flees",
            &[(0, 3, "hunters", given(39.3, 29.6)), (3, 1, "prey", given(-42.1, 30.3))],
        ),
        row(Scenario::SpeakerListener, [Uniform, Uniform], "all random", &[(0, 2, "each", given(-40.9, 34.3))]),
        row(
            Scenario::SpeakerListener,
            [Expert, Expert],
            "speaker names the goal, listener coasts to it",
            &[(0, 2, "each", given(-8.16, 8.17))],
        ),
        row(Scenario::Reference, [Uniform, Uniform], "all random", &[(0, 2, "each", Given(-28.9, None, 500))]),
        row(
            Scenario::Reference,
            [Expert, Expert],
            "each names the other's goal and coasts to its own",
            &[(0, 2, "each", given(-8.8, 4.0))],
        ),
        row(
            Scenario::Push,
            [Uniform, Uniform],
            "all random",
            &[(0, 1, "adversary", given(0.0, 18.4)), (1, 1, "agent", given(-28.0, 13.6))],
        ),
        row(
            Scenario::Push,
            [Uniform, Expert],
            "agent goes to its goal, adversary random",
            &[(0, 1, "adversary", given(-19.8, 14.2)), (1, 1, "agent", given(-8.5, 5.4))],
        ),
        row(Scenario::Push, [Expert, Expert], "the same, adversary goes where the agent seems to go", &[]),
    ]
};

fn play(row: &Row) -> Play {
    Play::new(&ParticleSpec::new(row.scenario).validate().expect("a world"), &row.scripts)
}

#[test]
fn random_play_earns_what_it_earns_in_the_reference() {
    for row in ROWS.iter().filter(|row| row.same) {
        let play = play(row);
        for &(first, count, who, given) in row.groups {
            given.check(play.mean_of(first, count), &format!("{}, {}, {who}", row.scenario.reference(), row.told));
        }
    }
}

/// What an expert is for: it earns more than a random player in its place.
#[test]
fn experts_earn_more_than_random_players() {
    for scenario in [Scenario::Adversary, Scenario::Tag, Scenario::SpeakerListener, Scenario::Reference, Scenario::Push]
    {
        let env = ParticleSpec::new(scenario).validate().expect("a world");
        let info = env.info();
        let random = Play::new(&env, &[Script::Uniform; 2]);
        for (role, name) in info.roles.iter().enumerate() {
            let of_role = |play: &Play| {
                let first = info.role_of.iter().position(|&of| of as usize == role).expect("a role has agents");
                let count = info.role_of.iter().filter(|&&of| of as usize == role).count();
                play.mean_of(first, count)
            };
            let mut scripts = [Script::Uniform; 2];
            // Who speaks and who listens need each other.
            if info.common_reward || info.roles.len() == 1 {
                scripts = [Script::Expert; 2];
            }
            scripts[role] = Script::Expert;
            let (expert, random) = (of_role(&Play::new(&env, &scripts)), of_role(&random));
            println!("{} {}: {:.2}, random {:.2}", scenario.reference(), name.id, expert.mean, random.mean);
            let error = 3.0 * (expert.standard_error() + random.standard_error());
            assert!(expert.mean > random.mean + error, "{scenario:?} {}: {expert:?}, {random:?}", name.id);
        }
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/particle_players.md");

/// `BLESS=1` rewrites the document: its numbers are computed here.
#[test]
fn the_document_of_particle_players_has_their_numbers() {
    let expected = document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, &expected).expect("docs/particle_players.md can be written");
    }
    let found = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        found == expected,
        "docs/particle_players.md is out of date: BLESS=1 cargo test -p tandem-core --test env particle_players"
    );
}

fn document() -> String {
    let ours = |sample: Sample| minus(&format!("{:.2} ± {:.2}", sample.mean, sample.sd));
    let spread_row = |&(agents, script, given, _): &(u32, Script, Given, Option<Given>)| {
        let play = Play::new(&spread(agents), &[script]);
        let n = agents as usize;
        let global: Vec<f64> = play.parts.iter().map(|parts| parts[0]).collect();
        let touching: f64 = play.parts.iter().map(|parts| -parts.iter().skip(1).step_by(2).sum::<f64>()).sum();
        format!(
            "| {agents} | `{}` | {} | {} | {} | {:.2} |\n",
            script.info().id,
            ours(play.mean_of(0, n)),
            given.text(),
            ours(Sample::of(&global)),
            touching / f64::from(EPISODES)
        )
    };
    let original = |&(script, theirs): &(Script, &str)| {
        let spec = ParticleSpec { convention: Convention::OpenAi, ..ParticleSpec::default() };
        let play = Play::new(&spec.validate().expect("a world"), &[script]);
        format!("| `{}` | {} | {theirs} |\n", script.info().id, ours(play.mean_of(0, 1)))
    };
    let other_rows = |row: &Row| -> String {
        let play = play(row);
        let name = row.scenario.reference();
        let line = |&(first, count, who, given): &(usize, usize, &str, Given)| {
            format!("| {name} | {} | {who} | {} | {} |\n", row.told, ours(play.mean_of(first, count)), given.text())
        };
        if row.groups.is_empty() {
            return [(0, "adversary"), (1, "agent")]
                .map(|(agent, who)| {
                    format!("| {name} | {} | {who} | {} | – |\n", row.told, ours(play.mean_of(agent, 1)))
                })
                .concat();
        }
        row.groups.iter().map(line).collect()
    };
    let spread: String = SPREAD.iter().map(spread_row).collect();
    let originals: String =
        [(Script::Uniform, "−229.3 ± 43.9"), (Script::Hungarian, "−120.6"), (Script::HungarianGreedy, "−111.7")]
            .iter()
            .map(original)
            .collect();
    let others: String = ROWS.iter().map(other_rows).collect();
    format!("{HEAD}{spread}{MIDDLE}{originals}{OTHERS}{others}")
}

/// A number as it is printed.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

const HEAD: &str = "\
# Scripted players of the particle worlds

<!-- Written by `BLESS=1 cargo test -p tandem-core --test env particle_players`. Do not edit. -->

1,000 episodes of 25 env steps each; mean ± standard deviation over episodes.
The reference's figures are mpe2 1.1.1's, 1,000 episodes for three spread agents and 500 elsewhere.
Figures of random play, of doing nothing and of the spread controllers agree within three standard errors, which a test
checks; the other players were written independently on both sides and are printed side by side.
Every player sees what its agent observes and nothing else; what each does stands in
`crates/core/src/env/particles/script.rs`.

## simple_spread_v3, return of an agent

| agents | player | here | reference | global part alone | colliding ordered pairs × env steps |
| --- | --- | --- | --- | --- | --- |
";

const MIDDLE: &str = "
## simple_spread in the original convention

Three agents, the summed reward that everyone is handed (3G − C − 75), the old integrator; the reference is an own
simulation of that convention.

| player | here | reference |
| --- | --- | --- |
";

const OTHERS: &str = "
## The other scenarios

| world | players | whose return | here | reference |
| --- | --- | --- | --- | --- |
";
