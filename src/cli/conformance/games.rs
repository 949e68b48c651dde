//! Matrix games and the two-step game: joint steps, and the targets that are known for them exactly.

use serde_json::{Map, Value};
use tandem_core::env::api::{Env, EnvState};
use tandem_core::env::bimatrix::additive_fit;
use tandem_core::env::matrix_game::{MatrixGame, MatrixSpec};
use tandem_core::env::two_step::{JointTables, TwoStep, TwoStepSpec};
use tandem_core::experiment::snapshot::Sentence;

use super::check::{Check, Stop, Tolerance};
use super::format::{Episode, Malformed, numbers};
use super::params::{Params, unsupported, wrong};
use super::replay::Subject;

/// A game.
pub(super) enum Game {
    /// One table.
    Matrix(MatrixGame),
    /// Two tables, of which the first move chooses one.
    TwoStep(TwoStep),
}

impl Game {
    pub(super) fn new(episode: &Episode) -> Result<Self, Stop> {
        let mut params = Params::new(&episode.params);
        if let Some(name) = params.take("game") {
            if name != "two_step" {
                return Err(unsupported("game", &name));
            }
            params.finish()?;
            return Ok(Self::TwoStep(TwoStepSpec::default().validate().map_err(Stop::out_of_bounds)?));
        }
        let Some(payoff) = params.take("payoff") else { return Err(Malformed("params.payoff".to_owned()).into()) };
        let mut repeat = 1;
        params.count("ep_length", &mut repeat)?;
        params.finish()?;
        let spec = MatrixSpec { repeat, ..table(&payoff)? };
        Ok(Self::Matrix(spec.validate().map_err(Stop::out_of_bounds)?))
    }
}

/// The payoffs `[agent][row][column]`.
fn table(payoff: &Value) -> Result<MatrixSpec, Stop> {
    let malformed = || wrong("payoff", payoff);
    let of_agents = payoff.as_array().ok_or_else(malformed)?;
    if of_agents.len() != 2 {
        let count = of_agents.len().to_string();
        return Err(Stop::Unsupported(Sentence::new("conformance.two_agents", &[&count])));
    }
    let rows = of_agents[0].as_array().ok_or_else(malformed)?.len();
    let columns = of_agents[0][0].as_array().ok_or_else(malformed)?.len();
    for of_agent in of_agents {
        let table = of_agent.as_array().filter(|table| table.len() == rows).ok_or_else(malformed)?;
        let is_row = |row: &Value| row.as_array().is_some_and(|row| row.len() == columns);
        table.iter().all(is_row).then_some(()).ok_or_else(malformed)?;
    }
    let [first, second] = [&of_agents[0], &of_agents[1]].map(|table| numbers("params.payoff", table));
    let (first, second) = (first?, second?);
    // Our tables are f32.
    if let Some(fine) = first.iter().chain(&second).find(|&&pay| f64::from(pay as f32) != pay) {
        return Err(Stop::Unsupported(Sentence::new("conformance.fine_payoff", &[&fine.to_string()])));
    }
    let payoffs = first.iter().zip(&second).map(|(&a, &b)| (a as f32, b as f32)).collect();
    Ok(MatrixSpec { rows: rows as u32, columns: columns as u32, payoffs, repeat: 1 })
}

impl Subject for Game {
    fn env(&self) -> &dyn Env {
        match self {
            Self::Matrix(game) => game,
            Self::TwoStep(game) => game,
        }
    }

    fn names(&self) -> Vec<String> {
        vec!["agent_0".to_owned(), "agent_1".to_owned()]
    }

    fn start(&self) -> EnvState {
        let mut state = EnvState::new(self.env().info());
        self.env().reset_to(state.view_mut(), 0);
        state
    }

    fn reward_tolerance(&self) -> Tolerance {
        Tolerance::Double
    }

    fn analytic(&self, known: &Map<String, Value>, check: &mut Check<'_>) -> Result<(), Stop> {
        match self {
            Self::Matrix(game) => matrix_targets(game, known, check),
            Self::TwoStep(game) => {
                let gamma = known.get("gamma").and_then(Value::as_f64).unwrap_or(0.99);
                two_step_targets("true_Q", &game.exact_tables(gamma), known, check)?;
                two_step_targets("vdn_ls_fixed_point", &game.vdn_tables(gamma), known, check)
            }
        }
    }
}

fn matrix_targets(game: &MatrixGame, known: &Map<String, Value>, check: &mut Check<'_>) -> Result<(), Stop> {
    let table: Vec<f64> = game.game().cells().iter().map(|&(pay, _)| f64::from(pay)).collect();
    let (rows, columns) = (game.game().rows(), game.game().columns());
    let fit = additive_fit(rows, columns, &table);
    let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The first of equals, as numpy has it; rounding must not break a tie.
    let best = fit.iter().position(|&value| value >= largest(&fit) - 1e-9).unwrap_or(0) as u32;
    let greedy = vec![f64::from(best / columns), f64::from(best % columns)];
    for (key, ours) in [("max_payoff", vec![largest(&table)]), ("vdn_ls_fit", fit.clone()), ("vdn_greedy", greedy)] {
        if let Some(value) = known.get(key) {
            check.numbers("analytic", key, &numbers(key, value)?, &ours, Tolerance::Double)?;
        }
    }
    Ok(())
}

fn two_step_targets(
    key: &str,
    tables: &JointTables,
    known: &Map<String, Value>,
    check: &mut Check<'_>,
) -> Result<(), Stop> {
    let Some(of_states) = known.get(key) else { return Ok(()) };
    for (state, table) in ["1", "2A", "2B"].into_iter().zip(tables) {
        if let Some(value) = of_states.get(state) {
            check.numbers("analytic", key, &numbers(key, value)?, table, Tolerance::Double)?;
        }
    }
    Ok(())
}
