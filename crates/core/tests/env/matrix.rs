//! Matrix games against reference trajectories and exact targets.

use serde_json::Value;
use tandem_core::env::api::{Env, Frame, Headline};
use tandem_core::env::bimatrix::additive_fit;
use tandem_core::env::matrix_game::{GAMES, MatrixError, MatrixSpec};
use tandem_core::env::registry::EnvSpec;
use tandem_core::env::two_step::TwoStepSpec;
use tandem_core::experiment::spec::{ExperimentSpec, GameChoice, MatrixSettings};
use tandem_core::experiment::world::matrix_spec;

use crate::support::World;

/// Trajectories of the reference (format `marlgold/1`).
const GOLDEN: &str = include_str!("../golden/matrix_games.json");

fn episodes() -> Vec<Value> {
    let file: Value = serde_json::from_str(GOLDEN).expect("the fixture is JSON");
    file["episodes"].as_array().expect("a list of episodes").clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

fn spec_of(episode: &Value) -> EnvSpec {
    let params = &episode["params"];
    if params["game"] == "two_step" {
        return EnvSpec::TwoStep(TwoStepSpec::default());
    }
    let [of_1, of_2] = [0, 1].map(|agent| numbers(&params["payoff"][agent]));
    let rows = params["payoff"][0].as_array().expect("rows").len() as u32;
    EnvSpec::Matrix(MatrixSpec {
        rows,
        columns: of_1.len() as u32 / rows,
        payoffs: of_1.iter().zip(&of_2).map(|(&a, &b)| (a as f32, b as f32)).collect(),
        repeat: params["ep_length"].as_u64().expect("a length") as u32,
    })
}

fn check_obs(world: &World<'_>, expected: &Value) {
    for agent in 0..2 {
        let obs: Vec<f64> = world.obs(agent).into_iter().map(f64::from).collect();
        assert_eq!(obs, numbers(&expected[agent as usize]));
    }
}

#[test]
fn reference_episodes_are_replayed_exactly() {
    let episodes = episodes();
    assert_eq!(episodes.len(), 20, "episodes of the fixture");
    for episode in &episodes {
        let env = spec_of(episode).build().expect("the reference's games are valid");
        let mut world = World::new(env.as_ref(), 0);
        check_obs(&world, &episode["reset"]["obs"]);
        for step in episode["steps"].as_array().expect("steps") {
            let actions: Vec<u32> = numbers(&step["actions"]).iter().map(|&a| a as u32).collect();
            let ended = world.step(&actions);
            let rewards: Vec<f64> = world.rewards.clone();
            assert_eq!(rewards, numbers(&step["rewards"]), "{}", episode["id"]);
            assert_eq!(
                (Some(ended.terminated), Some(ended.truncated)),
                (step["term"].as_bool(), step["trunc"].as_bool())
            );
            check_obs(&world, &step["obs"]);
            if episode["state"] == "obs0" {
                assert_eq!(world.state_vector(), world.obs(0));
            }
        }
    }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance);
    assert!(is_near, "{what}: {found:?}, expected {expected:?}");
}

#[test]
fn exact_targets_of_the_reference_are_computed() {
    let mut checked = 0;
    for episode in episodes() {
        let (analytic, params) = (&episode["analytic"], &episode["params"]);
        if analytic.is_null() || params["game"] == "two_step" {
            continue;
        }
        let payoffs = numbers(&params["payoff"][0]);
        let table: Vec<f32> = payoffs.iter().map(|&p| p as f32).collect();
        let fit = additive_fit(3, 3, &payoffs);
        let name = episode["id"].to_string();
        assert_near(&fit, &numbers(&analytic["vdn_ls_fit"]), 1e-9, &name);
        let best = fit.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let greedy = numbers(&analytic["vdn_greedy"]);
        assert!((fit[(greedy[0] * 3.0 + greedy[1]) as usize] - best).abs() < 1e-9, "{name}: VDN's greedy action");

        let (fits, error) = monotone_fits(&payoffs);
        assert_near(&[error], &numbers(&analytic["monotone_sq_error"]), 1e-6, &name);
        let expected = numbers(&analytic["monotone_ls_fit"]);
        let is_expected = |fit: &[f64; 9]| fit.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(fits.iter().any(is_expected), "{name}: {fits:?}, expected {expected:?}");

        let spec = MatrixSpec { rows: 3, columns: 3, payoffs: table.iter().map(|&p| (p, p)).collect(), repeat: 1 };
        let optimum = spec.validate().expect("valid").optimum().expect("a common payoff");
        assert_eq!(Some(optimum.value), analytic["max_payoff"].as_f64(), "{name}");
        checked += 1;
    }
    assert!(checked >= 6, "only {checked} games have targets");
}

#[test]
fn p20_exact_values_of_the_reference_are_computed() {
    let episode = episodes().into_iter().find(|episode| episode["id"] == "two_step_0000").expect("in the fixture");
    let analytic = &episode["analytic"];
    let gamma = analytic["gamma"].as_f64().expect("a number");
    let game = TwoStepSpec::default().validate().expect("valid");
    for (state, name) in ["1", "2A", "2B"].into_iter().enumerate() {
        assert_near(&game.exact_tables(gamma)[state], &numbers(&analytic["true_Q"][name]), 1e-12, name);
        assert_near(&game.vdn_tables(gamma)[state], &numbers(&analytic["vdn_ls_fixed_point"][name]), 1e-12, name);
    }
}

/// The best fits of a 3 × 3 table that rise along some order of the rows and some order of the columns (what a monotone
/// mixer can represent), with their common squared error: isotonic regression for each pair of orders by the min-max
/// formula over lower sets (Robertson, Wright and Dykstra 1988, theorem 1.4.4).
fn monotone_fits(table: &[f64]) -> (Vec<[f64; 9]>, f64) {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut best = (Vec::new(), f64::INFINITY);
    for rows in ORDERS {
        for columns in ORDERS {
            let at = |place: usize| rows[place / 3] * 3 + columns[place % 3];
            let sorted: Vec<f64> = (0..9).map(|place| table[at(place)]).collect();
            let mut fit = [0.0; 9];
            for (place, value) in isotonic(&sorted).into_iter().enumerate() {
                fit[at(place)] = value;
            }
            let error: f64 = fit.iter().zip(table).map(|(a, b)| (a - b) * (a - b)).sum();
            if error < best.1 - 1e-6 {
                best = (vec![fit], error);
            } else if error < best.1 + 1e-6 {
                best.0.push(fit);
            }
        }
    }
    best
}

/// Least-squares fit of a 3 × 3 table that rises along rows and columns.
fn isotonic(table: &[f64]) -> [f64; 9] {
    let is_lower = |set: u32| {
        (0..9)
            .filter(|place| set >> place & 1 == 1)
            .all(|place| (place % 3 == 0 || set >> (place - 1) & 1 == 1) && (place < 3 || set >> (place - 3) & 1 == 1))
    };
    let lower: Vec<u32> = (0..512).filter(|&set| is_lower(set)).collect();
    assert_eq!(lower.len(), 20, "lower sets of a 3 × 3 grid");
    let average = |set: u32| {
        let members = (0..9).filter(|place| set >> place & 1 == 1);
        members.clone().map(|place| table[place as usize]).sum::<f64>() / members.count() as f64
    };
    std::array::from_fn(|place| {
        let holds = |set: u32| set >> place & 1 == 1;
        let least = |upper: u32| {
            let averages = lower.iter().filter(|&&set| holds(set)).map(|&set| average(set & upper));
            averages.fold(f64::INFINITY, f64::min)
        };
        let uppers = lower.iter().map(|&set| !set & 511).filter(|&set| holds(set));
        uppers.map(least).fold(f64::NEG_INFINITY, f64::max)
    })
}

fn game(id: &str) -> MatrixSpec {
    MatrixSpec::named(id).expect("a named game")
}

#[test]
fn named_games_pay_what_the_papers_say() {
    let check = |id: &str, nash: &[(u32, u32)], pareto: &[(u32, u32)], optimum: Option<f64>| {
        let rules = game(id).validate().expect("valid");
        assert_eq!(rules.game().pure_nash(), nash, "{id}");
        assert_eq!(rules.game().pareto_optimal(), pareto, "{id}");
        assert_eq!(rules.optimum().map(|optimum| optimum.value), optimum, "{id}");
    };
    check("climbing", &[(0, 0), (1, 1)], &[(0, 0)], Some(11.0));
    check("nonmonotonic", &[(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)], &[(0, 0)], Some(8.0));
    check("prisoners_dilemma", &[(1, 1)], &[(0, 0), (0, 1), (1, 0)], None);
    check("stag_hunt", &[(0, 0), (1, 1)], &[(0, 0)], None);
    check("matching_pennies", &[], &[(0, 0), (0, 1), (1, 0), (1, 1)], None);
    check("sanity", &[(0, 0)], &[(0, 0)], Some(1.0));
    assert_eq!(GAMES.len(), 6, "every named game is checked here");
}

#[test]
fn the_penalty_game_is_paid_by_its_k() {
    for k in [0.0, -25.0, -50.0, -75.0, -100.0] {
        let settings = MatrixSettings { game: GameChoice::Penalty, penalty: k, ..ExperimentSpec::default().matrix };
        let rules = matrix_spec(&settings).validate().expect("valid");
        let game = rules.game();
        assert_eq!((game.at(0, 0), game.at(2, 2), game.at(1, 1)), ((k, k), (k, k), (2.0, 2.0)), "k = {k}");
        assert_eq!(game.pure_nash(), [(0, 2), (1, 1), (2, 0)], "k = {k}");
        assert_eq!(game.pareto_optimal(), [(0, 2), (2, 0)], "k = {k}");
        assert_eq!(rules.optimum().map(|optimum| optimum.value), Some(10.0), "k = {k}");
    }
}

#[test]
fn p19_each_agent_that_plays_action_one_earns_the_team_a_half() {
    let rules = game("sanity").validate().expect("valid");
    let payoffs: Vec<f32> = rules.game().cells().iter().map(|cell| cell.0).collect();
    assert_eq!(payoffs, [1.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
    assert!(rules.info().common_reward);
}

#[test]
fn a_dilemma_is_one_and_pennies_sum_to_zero() {
    let dilemma = game("prisoners_dilemma").validate().expect("valid");
    let (reward, sucker) = (dilemma.game().at(0, 0).0, dilemma.game().at(0, 1).0);
    let (temptation, punishment) = (dilemma.game().at(1, 0).0, dilemma.game().at(1, 1).0);
    assert!(temptation > reward && reward > punishment && punishment > sucker && 2.0 * reward > temptation + sucker);
    let pennies = game("matching_pennies").validate().expect("valid");
    assert!(pennies.game().cells().iter().all(|(a, b)| a + b == 0.0));
    assert!(!pennies.info().team_reward && !dilemma.info().team_reward);
}

#[test]
fn a_repeated_game_ends_with_its_last_repetition() {
    let env = MatrixSpec { repeat: 3, ..game("climbing") }.validate().expect("valid");
    let mut world = World::new(&env, 0);
    let ends: Vec<_> = (0..3).map(|_| world.step(&[0, 0])).map(|end| (end.terminated, end.truncated)).collect();
    assert_eq!(ends, [(false, false), (false, false), (true, false)]);
    assert_eq!(env.optimum().map(|optimum| optimum.value), Some(33.0));
    assert_eq!((env.info().headline, env.info().fixed_length), (Headline::Mean { first: 0, count: 2 }, true));
}

#[test]
fn joint_values_are_known_for_one_shot_common_payoffs_only() {
    let q = |spec: &MatrixSpec| {
        let env = spec.validate().expect("valid");
        env.exact_q(World::new(&env, 0).state.view(), 0.9)
    };
    assert_eq!(q(&game("climbing")), Some(vec![11.0, -30.0, 0.0, -30.0, 7.0, 0.0, 0.0, 6.0, 5.0]));
    assert_eq!(q(&MatrixSpec { repeat: 2, ..game("climbing") }), None);
    assert_eq!(q(&game("stag_hunt")), None);
    let oblong = MatrixSpec { rows: 3, columns: 2, payoffs: (0..6).map(|i| (i as f32, i as f32)).collect(), repeat: 1 };
    let known = q(&oblong).expect("a common payoff");
    let legal: Vec<f32> = known.iter().copied().filter(|value| !value.is_nan()).collect();
    assert_eq!((known.len(), legal), (9, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
    assert!(known[2].is_nan() && known[5].is_nan() && known[8].is_nan(), "agent 2 has two actions: {known:?}");
}

#[test]
fn surplus_actions_are_masked() {
    let payoffs = vec![(0.0, 0.0), (1.0, 2.0), (3.0, 4.0), (5.0, 6.0), (7.0, 8.0), (9.0, 10.0)];
    let env = MatrixSpec { rows: 2, columns: 3, payoffs, repeat: 1 }.validate().expect("valid");
    let mut world = World::new(&env, 0);
    assert_eq!((world.mask(0), world.mask(1)), (vec![1, 1, 0], vec![1, 1, 1]));
    world.step(&[2, 1]);
    assert_eq!(world.rewards, [7.0, 8.0], "an illegal action counts as the agent's last");
}

#[test]
fn the_frame_lights_the_joint_action_just_played() {
    let env = MatrixSpec { repeat: 2, ..game("matching_pennies") }.validate().expect("valid");
    let mut world = World::new(&env, 0);
    let shown = |world: &World<'_>| match env.frame(world.state.view()) {
        Frame::Matrix { played, repetition, .. } => (played, repetition),
        _ => unreachable!("a matrix game is no grid"),
    };
    assert_eq!(shown(&world), (None, (2, 1)));
    world.step(&[1, 0]);
    assert_eq!(shown(&world), (Some((1, 0)), (2, 2)));
    world.step(&[0, 0]);
    assert_eq!(shown(&world), (Some((0, 0)), (2, 2)));
    let names: Vec<&str> = env.info().role(0).actions.iter().map(|name| name.id.as_str()).collect();
    assert_eq!(names, ["action.heads", "action.tails"]);
}

#[test]
fn bad_games_are_refused_with_a_reason() {
    let check = |change: &dyn Fn(&mut MatrixSpec), expected: &str| {
        let mut spec = game("climbing");
        change(&mut spec);
        let error = spec.validate().expect_err(expected);
        assert_eq!(error.to_string(), expected);
    };
    check(&|spec| spec.rows = 1, "Agent 1 has 1 actions: between 2 and 6 are possible.");
    check(&|spec| spec.columns = 7, "Agent 2 has 7 actions: between 2 and 6 are possible.");
    check(&|spec| spec.columns = 2, "The payoff table has 9 cells, but 3 × 2 actions need 6.");
    check(
        &|spec| spec.payoffs[5].1 = f32::NAN,
        "The payoff in row 2, column 3 is NaN: numbers from -1000 to 1000 are possible.",
    );
    check(&|spec| spec.repeat = 0, "The game is repeated 0 times: between 1 and 100 are possible.");
    assert!(matches!(MatrixSpec { repeat: 101, ..game("sanity") }.validate(), Err(MatrixError::Repeat(101))));
}
