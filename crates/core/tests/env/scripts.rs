//! Scripts: the course's four teams, what they see and what they do where they cannot see.

use tandem_core::base::rng::Stream;
use tandem_core::base::stats::{Summary, summary};
use tandem_core::env::api::{Env, EnvState};
use tandem_core::env::pellet::{Cell, PelletMap, PelletSpec, StartLayout};
use tandem_core::env::script::{SCRIPTS, Script, Turn};
use tandem_core::experiment::trial::{EPISODES, ScriptedTeam, Trial};

/// Env steps over the episodes of one seed.
fn steps(env: &dyn Env, script: Script, seed: u64, episodes: u32) -> Summary {
    let mut team = ScriptedTeam::new(env, script).expect("the script suits the world");
    let mut trial = Trial::new(env, seed);
    let steps: Vec<f64> = (0..episodes).map(|episode| f64::from(trial.play(env, episode, &mut team))).collect();
    summary(&steps).expect("episodes were played")
}

fn teams() -> impl Iterator<Item = Script> {
    SCRIPTS.iter().filter(|info| info.is_team).map(|info| info.script)
}

/// The course's numbers for its own scripts; it does not state the start layout.
const COURSE: [(Script, f64); 4] =
    [(Script::Independent, 6.0), (Script::MaddpgStyle, 3.5), (Script::QmixStyle, 3.5), (Script::MappoStyle, 3.5)];
const SEEDS: std::ops::Range<u64> = 0..5;

/// The course's pattern, which is written into the scripts: about 6 against about 3.5, optimum 3.
#[test]
fn the_independent_pair_is_slower_than_every_team_with_a_central_idea() {
    let env = PelletSpec::default().validate().expect("the course's world");
    for seed in SEEDS {
        let of = |script| steps(&env, script, seed, EPISODES);
        let independent = of(Script::Independent);
        for (script, about) in COURSE {
            let team = of(script);
            assert!((team.mean - about).abs() <= 0.5, "seed {seed}: {script:?} needs about {about}: {team:?}");
            let is_faster = team.mean + team.ci95 < independent.mean - independent.ci95;
            assert_eq!(is_faster, script != Script::Independent, "seed {seed}: {script:?} {team:?} {independent:?}");
        }
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scripts.md");

/// `BLESS=1` rewrites the document: its numbers are computed here.
#[test]
fn the_document_has_the_numbers_the_scripts_have() {
    let expected = document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, &expected).expect("docs/scripts.md can be written");
    }
    let found = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(found == expected, "docs/scripts.md is out of date: BLESS=1 cargo test -p tandem-core --test env scripts");
}

fn document() -> String {
    let env = PelletSpec::default().validate().expect("the course's world");
    let optimum = env.optimum().expect("pellet worlds have one").value;
    let row = |(script, about): (Script, f64)| {
        let team = steps(&env, script, 0, EPISODES);
        let id = script.info().id;
        format!("| `{id}` | {:.2} ± {:.2} | about {about} | {optimum:.2} |\n", team.mean, team.ci95)
    };
    let rows: String = COURSE.into_iter().map(row).collect();
    format!("{HEAD}{rows}{TAIL}")
}

const HEAD: &str = "\
# Scripts

<!-- Written by `BLESS=1 cargo test -p tandem-core --test env scripts`. Do not edit. -->

A script is a program that acts without learning. It sees what its agent observes, o_i, and nothing else of the world's
state; that a script of the pellet world knows the map is knowledge of the rules.
Any agent may be played by one (`seats` in [links](links.md)): `uniform` draws from the legal actions in every world,
`idle` stays where a world has an action for that.

## The course's four teams

The course shows the pattern of centralised training before any network is trained: independent agents need about 6 env
steps on 4 × 4, its three other teams about 3.5, and 3 is the optimum with both agents in one corner.
**The gap is written into the scripts.** They show what the words mean and are no evidence for any algorithm; what is
learned on the same start cells stands beside them on the page.

*Worth* of a pellet that is d moves away, around walls, is γ^d with γ = 0.9.
With *chance* c an agent draws from all five actions, otherwise it takes its best one, ties drawn at random.

| script | best action | c |
| --- | --- | --- |
| `independent` | leads to the cell of largest own utility, the worth of the best pellet in sight | 2/3 |
| `maddpg_style` | raises the *joint value* most, the others standing still: the sum over the pellets of their worth to whoever is nearest. Who is nearest to none raises nothing and wanders | 1/4 |
| `qmix_style` | leads to the cell of largest own utility; their sum is monotone in each, so each argmax is the team's | 1/4 |
| `mappo_style` | drawn from softmax(A / 0.05), A = joint value after the action − joint value now. The baseline, shared by all, moves every advantage alike and changes no probability | 0 |

Who sees no pellet walks to a cell drawn at random and draws a new one after width + height env steps.

## Mean env steps until the pellet

4 × 4, both agents in one corner, 1,000 episodes with the pellet drawn evenly over all 16 cells (underfoot counts 0),
the same for every team; ± is the half width of the 95 % interval of the mean.

| script | mean | the course's | optimum |
| --- | --- | --- | --- |
";

const TAIL: &str = "
Two agents that draw from all five actions need 20.9, so an independent pair at 6 is half-competent, not random.
";

/// Uniform play in the same episodes is the two random walkers of the course's notes: 20.9 env steps without a limit.
#[test]
fn the_trial_agrees_with_the_exact_mean_of_random_walkers() {
    let env = PelletSpec { time_limit: 1_000, ..PelletSpec::default() }.validate().expect("a world");
    let uniform = steps(&env, Script::Uniform, 5, 4_000);
    assert!((uniform.mean - 20.9).abs() < 1.5 * uniform.ci95, "{uniform:?}");
}

/// A start on the agents' own cell is among the drawn ones and counts 0.
#[test]
fn a_pellet_underfoot_counts_nothing() {
    let env = PelletSpec::default().validate().expect("the course's world");
    assert_eq!(steps(&env, Script::QmixStyle, 1, EPISODES).min, 0.0);
}

/// Around walls, with several pellets and a narrow sight every team still finishes, far from the time limit.
#[test]
fn teams_cope_with_walls_several_pellets_and_narrow_sight() {
    let mut map = PelletMap::open(6, 6);
    for cell in [7, 13, 19, 22, 28] {
        map.cells[cell] = Cell::Wall;
    }
    let hard = PelletSpec {
        map,
        num_agents: 3,
        num_pellets: 3,
        sight: Some(1),
        starts: StartLayout::Random,
        time_limit: 500,
        ..PelletSpec::default()
    };
    let env = hard.validate().expect("a world");
    let random = steps(&env, Script::Uniform, 9, 200);
    for script in teams() {
        let team = steps(&env, script, 9, 200);
        println!("{} {:.2} ± {:.2} (uniform {:.2})", script.info().id, team.mean, team.ci95, random.mean);
        assert!(team.max < 500.0, "{script:?} {team:?}");
        assert!(team.mean + team.ci95 < random.mean - random.ci95, "{script:?} {team:?}");
    }
}

/// What an agent does depends on what it sees: worlds that look alike to it get the same action.
#[test]
fn a_script_acts_on_its_own_observation() {
    let env =
        PelletSpec { map: PelletMap::open(8, 8), sight: Some(1), ..PelletSpec::default() }.validate().expect("a world");
    let info = env.info();
    let look = |pellet: i32, other: i32| {
        let state = EnvState { ints: vec![0, 0, other, pellet, 0], reals: Vec::new() };
        let mut obs = vec![0.0; info.obs_len as usize];
        env.observe(state.view(), 0, &mut obs);
        obs
    };
    let legal = vec![1; info.num_actions as usize];
    for &script in env.scripts() {
        let program = env.program(script).expect("it is on the list");
        for step in 0..50 {
            let turn = Turn { stream: Stream::new(3, "seat"), at: [0, 0, step], agent: 0 };
            let act = |pellet, other| program.act(&look(pellet, other), &legal, &turn);
            assert_eq!(act(63, 40), act(37, 52), "{script:?}: both are out of sight");
        }
    }
}

/// Where several may learn, one may idle: it never leaves its cell.
#[test]
fn idle_stays() {
    let env = PelletSpec { time_limit: 20, ..PelletSpec::default() }.validate().expect("a world");
    let idle = steps(&env, Script::Idle, 1, 50);
    assert!(idle.max == 20.0 && idle.min == 0.0, "reached only where the pellet began: {idle:?}");
}
