//! Foraging and pursuit: what scripted players get against what the references gave for the same players, where worlds
//! begin, and what is no world.

use std::fmt::Write as _;

use tandem_core::env::api::{Env, Frame};
use tandem_core::env::foraging::{ForagingError, ForagingSpec};
use tandem_core::env::pursuit::{PursuitError, PursuitSpec};
use tandem_core::env::script::{Script, Turn};

use crate::support::{Player, World};

const EPISODES: u32 = 1_000;
/// Episodes of the reference, whose deviations are only known for pursuit.
const FORAGING_EPISODES: f64 = 400.0;
const PURSUIT_EPISODES: f64 = 10.0;

/// Mean and standard deviation of a return.
#[derive(Clone, Copy)]
struct Returns {
    mean: f64,
    sd: f64,
}

/// Who plays all agents.
#[derive(Clone, Copy)]
enum Who {
    /// Uniform over all actions; the worlds let those that the mask forbids stand still, as the references do.
    Random,
    Script(Script),
}

/// Sum of all agents' rewards in an episode.
fn team_returns(env: &dyn Env, who: Who, episodes: u32) -> Returns {
    let info = env.info();
    let mut world = World::new(env, 11);
    let mut player = Player::new(12);
    let program = match who {
        Who::Random => None,
        Who::Script(script) => Some(env.program(script).expect("the script suits the world")),
    };
    let mut returns = Vec::new();
    for episode in 0..episodes {
        world.episode = episode;
        world.reset();
        let mut sum = 0.0;
        loop {
            let step = env.step_count(world.state.view());
            let act = |agent| match &program {
                None => player.below(info.num_actions),
                Some(program) => {
                    let turn = Turn { stream: world.stream, at: [1, episode, step], agent };
                    program.act(&world.obs(agent), &world.mask(agent), &turn)
                }
            };
            let actions: Vec<u32> = (0..info.num_agents).map(act).collect();
            let ended = world.step(&actions);
            sum += world.rewards.iter().sum::<f64>();
            if ended.any() {
                break;
            }
        }
        returns.push(sum);
    }
    let mean = returns.iter().sum::<f64>() / f64::from(episodes);
    let squares: f64 = returns.iter().map(|sum| (sum - mean) * (sum - mean)).sum();
    Returns { mean, sd: (squares / f64::from(episodes - 1)).sqrt() }
}

/// The reference's tasks with its returns of random players and of its own scripted team, which saw everything.
fn tasks() -> [(&'static str, ForagingSpec, f64, f64); 8] {
    let named = |id: &str| ForagingSpec::registered(id).expect("a registered id");
    let by_hand = |players| ForagingSpec { players, rows: 15, columns: 15, food: 5, ..ForagingSpec::default() };
    [
        ("8x8-2p-1f", named("Foraging-8x8-2p-1f-v3"), 0.233, 1.0),
        ("8x8-2p-2f-coop", named("Foraging-8x8-2p-2f-coop-v3"), 0.004, 1.0),
        ("2s-8x8-2p-2f-coop", named("Foraging-2s-8x8-2p-2f-coop-v3"), 0.004, 1.0),
        ("10x10-3p-3f", named("Foraging-10x10-3p-3f-v3"), 0.085, 0.910),
        ("2s-10x10-3p-3f", named("Foraging-2s-10x10-3p-3f-v3"), 0.085, 0.910),
        ("15x15-3p-5f", by_hand(3), 0.045, 0.697),
        ("15x15-4p-3f", named("Foraging-15x15-4p-3f-v3"), 0.080, 0.970),
        ("15x15-4p-5f", by_hand(4), 0.067, 0.886),
    ]
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grid_players.md");

/// `BLESS=1` rewrites the document. Random players must agree with the reference's within three standard errors of the
/// difference; of foraging only its means are known, so its deviation is taken to be ours.
#[test]
fn scripted_returns_agree_with_the_references() {
    let mut text = HEAD.to_owned();
    let mut off = Vec::new();
    for (name, spec, random, scripted) in tasks() {
        let env = spec.validate().expect("a world");
        let ours = team_returns(&env, Who::Random, EPISODES);
        let bound = 3.0 * ours.sd * (1.0 / f64::from(EPISODES) + 1.0 / FORAGING_EPISODES).sqrt();
        if (ours.mean - random).abs() > bound {
            off.push(format!("{name}: {:.4} is not {random} ± {bound:.4}", ours.mean));
        }
        assert_eq!(team_returns(&env, Who::Script(Script::Idle), 20).mean, 0.0, "who stands still loads nothing");
        let expert = team_returns(&env, Who::Script(Script::Expert), EPISODES);
        let row = [ours.mean, random, bound, expert.mean, scripted].map(|number| format!("{number:.3}"));
        writeln!(text, "| {name} | {} |", row.join(" | ")).expect("strings grow");
    }
    text += PURSUIT_HEAD;
    for (name, shared_reward, reference, sd) in [("shared", true, -45.3, 1.8), ("own", false, -45.6, 1.2)] {
        let env = PursuitSpec { shared_reward, ..PursuitSpec::default() }.validate().expect("a world");
        let each = |returns: Returns| Returns { mean: returns.mean / 8.0, sd: returns.sd / 8.0 };
        let ours = each(team_returns(&env, Who::Random, EPISODES));
        let bound = 3.0 * (ours.sd * ours.sd / f64::from(EPISODES) + sd * sd / PURSUIT_EPISODES).sqrt();
        if (ours.mean - reference).abs() > bound {
            off.push(format!("pursuit, {name}: {:.3} is not {reference} ± {bound:.3}", ours.mean));
        }
        let of = |script| each(team_returns(&env, Who::Script(script), 50)).mean;
        let (idle, expert) = (of(Script::Idle), of(Script::Expert));
        writeln!(text, "| {name} | {:.2} | {reference} | {bound:.2} | {idle:.2} | {expert:.2} |", ours.mean)
            .expect("strings grow");
    }
    println!("{text}");
    assert!(off.is_empty(), "{}", off.join("\n"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, &text).expect("docs/grid_players.md can be written");
    }
    let found = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        found == text,
        "docs/grid_players.md is out of date: BLESS=1 cargo test --workspace --test env grid_players"
    );
}

const HEAD: &str = "\
# Players of foraging and pursuit

<!-- Written by `BLESS=1 cargo test --workspace --test env grid_players`. Do not edit. -->

Returns of scripted players here and in the references. *Random* draws evenly from all actions; those that the mask forbids
stand still, as in the references. Random players must agree within *bound*, three standard errors of the difference.
*Expert* is each world's own script, which sees only what its agent observes; the reference's scripted team is another
program that sees everything.

## Level-based foraging: return of the team

1,000 episodes here, 400 in the reference (lbforaging 2.0.0), whose deviations are taken to be ours. Who stands still gets 0.

| task | random | reference | bound | expert | reference's scripted team |
| --- | --- | --- | --- | --- | --- |
";

const PURSUIT_HEAD: &str = "
## Pursuit: return of a pursuer

Defaults of pursuit_v5; random: 1,000 episodes here, 10 in the reference (standard deviations 1.8 and 1.2); idle and expert:
50 episodes. Time alone is −50.

| reward | random | reference | bound | idle | expert |
| --- | --- | --- | --- | --- | --- |
";

#[test]
fn registered_ids_are_the_references() {
    for id in ["Foraging-5x5-2p-1f-v3", "Foraging-2s-19x19-9p-4f-coop-v3", "Foraging-grid-3s-8x8-2p-2f-v3"] {
        assert!(ForagingSpec::registered(id).is_some(), "{id}");
    }
    let sees_little = ForagingSpec::registered("Foraging-2s-10x10-3p-3f-coop-v3").expect("a registered id");
    assert_eq!((sees_little.sight, sees_little.force_coop, sees_little.players), (Some(2), true, 3));
    for id in [
        "Foraging-4x4-2p-1f-v3",
        "Foraging-8x9-2p-1f-v3",
        "Foraging-8x8-2p-5f-v3",
        "Foraging-08x8-2p-1f-v3",
        "Foraging",
    ] {
        assert_eq!(ForagingSpec::registered(id), None, "{id}");
    }
}

#[test]
fn food_lies_apart_off_the_edge_and_no_heavier_than_three_players() {
    let spec = ForagingSpec { players: 3, food: 4, rows: 9, columns: 7, ..ForagingSpec::default() };
    let env = spec.validate().expect("a world");
    let mut world = World::new(&env, 3);
    for episode in 0..300 {
        world.episode = episode;
        world.reset();
        let Frame::Grid { agents, levels, things, .. } = env.frame(world.state.view()) else {
            unreachable!("foraging is played on a grid")
        };
        assert!(!things.is_empty() && things.len() <= 4);
        let mut weakest = levels.clone();
        weakest.sort_unstable();
        let place = |cell: u32| ((cell / 7) as i32, (cell % 7) as i32);
        for (at, thing) in things.iter().enumerate() {
            assert!((1..=weakest.iter().sum()).contains(&thing.level) && !agents.contains(&thing.cell));
            let (row, column) = place(thing.cell);
            assert!((1..8).contains(&row) && (1..6).contains(&column));
            for other in &things[..at] {
                let (rows, columns) = (place(other.cell).0.abs_diff(row), place(other.cell).1.abs_diff(column));
                assert!(rows.max(columns) > 2 || (rows.max(columns) == 2 && rows.min(columns) > 0));
            }
        }
    }
}

#[test]
fn what_is_no_world_names_parameter_value_and_range() {
    let foraging = |spec: ForagingSpec| spec.validate().expect_err("no world").to_string();
    let usual = ForagingSpec::default();
    assert_eq!(
        foraging(ForagingSpec { players: 0, ..usual.clone() }),
        "The parameter players is 0: it must be from 1 to 16."
    );
    assert_eq!(
        foraging(ForagingSpec { food: 10, ..usual.clone() }),
        "The parameter max_num_food is 10: it must be from 1 to 9."
    );
    let too_heavy = ForagingSpec { min_food_level: vec![3], ..usual.clone() };
    assert_eq!(too_heavy.validate().expect_err("no world"), ForagingError::FoodLevel { least: 3, most: 2 });
    let crowded = ForagingSpec { players: 4, rows: 4, columns: 4, ..usual.clone() };
    assert_eq!(crowded.validate().expect_err("no world"), ForagingError::Crowded { players: 4, interior: 4 });
    assert!(foraging(ForagingSpec { min_player_level: vec![3], ..usual }).contains("must not be above"));

    let usual = PursuitSpec::default();
    let nobody = PursuitSpec { n_pursuers: 0, ..usual.clone() }.validate().expect_err("no world");
    assert_eq!(nobody.to_string(), "The parameter n_pursuers is 0: it must be from 1 to 16.");
    let crowded = PursuitSpec { x_size: 5, y_size: 5, ..usual.clone() }.validate().expect_err("no world");
    assert_eq!(crowded, PursuitError::Crowded { name: "n_evaders", given: 30, free: 21 });
    let narrow = PursuitSpec { constraint_window: 0.01, ..usual }.validate().expect_err("no world");
    assert_eq!(narrow.to_string(), "The parameter constraint_window is 0.01: it must be from 0.0625 to 1.");
}
