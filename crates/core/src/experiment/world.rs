//! From an experiment's settings to the rules of its world, and what the rules object to, as sentences of the text
//! table so that the page can say them in the reader's language.

use super::snapshot::Sentence;
use super::spec::{
    CellKind, EnvChoice, ExperimentSpec, GameChoice, MatrixSettings, RewardChoice, StartChoice, TieChoice,
};
use crate::env::api::Env;
use crate::env::foraging::ForagingError;
use crate::env::matrix_game::{MatrixError, MatrixSpec};
use crate::env::particles::{ParticleError, ParticleSpec, Scenario};
use crate::env::pellet::{Cell, PelletError, PelletMap, PelletSpec, StartLayout, TieRule};
use crate::env::pursuit::PursuitError;
use crate::env::range::OutOfRange;
use crate::env::registry::{EnvError, EnvSpec};
use crate::env::two_step::{TwoStepError, TwoStepSpec};

/// The rules of `spec`'s world, or why there are none.
pub fn build(spec: &ExperimentSpec) -> Result<Box<dyn Env>, Sentence> {
    env_spec(spec).build().map_err(|error| sentence(&error))
}

/// How many agents that world has, possible or not.
pub fn num_agents(spec: &ExperimentSpec) -> u32 {
    match spec.env {
        EnvChoice::Pellet => spec.pellet.agents,
        EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Board(_) => 2,
        EnvChoice::Foraging => spec.foraging.players,
        EnvChoice::Pursuit => spec.pursuit.n_pursuers,
        EnvChoice::Particles(scenario) => particle_spec(spec, scenario).num_agents(),
    }
}

/// The environment's own set-up.
pub fn env_spec(spec: &ExperimentSpec) -> EnvSpec {
    match spec.env {
        EnvChoice::Pellet => EnvSpec::Pellet(pellet_spec(spec)),
        EnvChoice::Matrix => EnvSpec::Matrix(matrix_spec(&spec.matrix)),
        EnvChoice::TwoStep => {
            EnvSpec::TwoStep(TwoStepSpec { payoffs_2a: spec.two_step.a, payoffs_2b: spec.two_step.b })
        }
        EnvChoice::Foraging => EnvSpec::Foraging(spec.foraging.clone()),
        EnvChoice::Pursuit => EnvSpec::Pursuit(spec.pursuit.clone()),
        EnvChoice::Particles(scenario) => EnvSpec::Particles(particle_spec(spec, scenario)),
        EnvChoice::Board(game) => EnvSpec::Board(game),
    }
}

fn particle_spec(spec: &ExperimentSpec, scenario: Scenario) -> ParticleSpec {
    ParticleSpec { scenario, ..spec.particles.clone() }
}

fn pellet_spec(spec: &ExperimentSpec) -> PelletSpec {
    let settings = &spec.pellet;
    let mut map = PelletMap::open(settings.width, settings.height);
    if let Some(edited) = &settings.map {
        map.cells = edited.cells.iter().map(|&kind| cell(kind)).collect();
        map.starts = edited.starts.iter().map(|&start| Some(start)).collect();
    }
    PelletSpec {
        map,
        num_agents: settings.agents,
        starts: match settings.start {
            StartChoice::Corner => StartLayout::OneCorner,
            StartChoice::Opposite => StartLayout::OppositeCorners,
            StartChoice::Spread => StartLayout::Spread,
            StartChoice::Random => StartLayout::Random,
            StartChoice::Placed => StartLayout::Placed,
        },
        num_pellets: settings.pellets,
        sight: settings.sight,
        move_cost: settings.move_cost,
        time_limit: settings.limit,
        tie: match settings.tie {
            TieChoice::Split => TieRule::Split,
            TieChoice::Nobody => TieRule::Nobody,
        },
        alpha: match settings.reward {
            RewardChoice::Team => 1.0,
            RewardChoice::First => settings.alpha,
        },
    }
}

fn cell(kind: CellKind) -> Cell {
    match kind {
        CellKind::Free => Cell::Free,
        CellKind::Wall => Cell::Wall,
        CellKind::NoPellet => Cell::NoPellet,
    }
}

/// A matrix game's table; free editing begins with the climbing game.
pub fn matrix_spec(settings: &MatrixSettings) -> MatrixSpec {
    let repeat = settings.repeat;
    let named = |id: &str| MatrixSpec { repeat, ..MatrixSpec::named(id).unwrap_or_default() };
    match settings.game {
        GameChoice::Climbing => named("climbing"),
        GameChoice::NonMonotonic => named("nonmonotonic"),
        GameChoice::Prisoners => named("prisoners_dilemma"),
        GameChoice::StagHunt => named("stag_hunt"),
        GameChoice::Pennies => named("matching_pennies"),
        GameChoice::Sanity => named("sanity"),
        GameChoice::Penalty => {
            let k = settings.penalty;
            let payoffs = [k, 0.0, 10.0, 0.0, 2.0, 0.0, 10.0, 0.0, k].map(|payoff| (payoff, payoff));
            MatrixSpec { rows: 3, columns: 3, payoffs: payoffs.to_vec(), repeat }
        }
        GameChoice::Custom => match &settings.payoffs {
            Some(table) => {
                MatrixSpec { rows: table.rows, columns: table.columns, payoffs: table.cells.clone(), repeat }
            }
            None => named("climbing"),
        },
    }
}

/// What is wrong with a world, for the reader.
pub fn sentence(error: &EnvError) -> Sentence {
    match error {
        EnvError::Pellet(error) => pellet_sentence(error),
        EnvError::Matrix(error) => matrix_sentence(error),
        EnvError::TwoStep(TwoStepError::Payoff { state, given }) => {
            Sentence::new("world.two_step_payoff", &[state, &given.to_string()])
        }
        EnvError::Particles(error) => particle_sentence(error),
        EnvError::Foraging(error) => foraging_sentence(error),
        EnvError::Pursuit(error) => pursuit_sentence(error),
    }
}

fn pellet_sentence(error: &PelletError) -> Sentence {
    let one = |id: &str, given: &dyn ToString| Sentence::new(id, &[&given.to_string()]);
    let two = |id: &str, a: &dyn ToString, b: &dyn ToString| Sentence::new(id, &[&a.to_string(), &b.to_string()]);
    match error {
        PelletError::Size { width, height } => two("world.size", width, height),
        PelletError::Cells { given, needed } => two("world.cells", given, needed),
        PelletError::Agents(given) => one("world.agents", given),
        PelletError::Pellets(given) => one("world.pellets", given),
        PelletError::Sight(given) => one("world.sight", given),
        PelletError::MoveCost(given) => one("world.move_cost", given),
        PelletError::Alpha(given) => one("world.alpha", given),
        PelletError::TimeLimit(given) => one("world.time_limit", given),
        PelletError::OnlyWalls => Sentence::new("world.only_walls", &[]),
        PelletError::StartBlocked(agent) => one("world.start_blocked", agent),
        PelletError::Disconnected => Sentence::new("world.disconnected", &[]),
        PelletError::TooFewPelletCells { room, pellets } => two("world.too_few_pellet_cells", pellets, room),
    }
}

fn particle_sentence(error: &ParticleError) -> Sentence {
    match error {
        ParticleError::Range(error) => range_sentence(error),
        ParticleError::Together { adversaries, good } => words("world.too_many_particles", &[adversaries, good]),
    }
}

fn matrix_sentence(error: &MatrixError) -> Sentence {
    match error {
        MatrixError::Actions { agent, given } => words("world.matrix_actions", &[agent, given]),
        MatrixError::Cells { given, rows, columns } => words("world.matrix_cells", &[given, rows, columns]),
        MatrixError::Payoff { row, column, given } => words("world.matrix_payoff", &[row, column, given]),
        MatrixError::Repeat(given) => words("world.matrix_repeat", &[given]),
    }
}

fn foraging_sentence(error: &ForagingError) -> Sentence {
    match error {
        ForagingError::Range(error) => range_sentence(error),
        ForagingError::Count { name, given, needed } => words("world.levels_count", &[name, given, needed]),
        ForagingError::Levels { least_name, least, most_name, most } => {
            words("world.levels_order", &[least_name, least, most_name, most])
        }
        ForagingError::FoodLevel { least, most } => words("world.food_level", &[least, most]),
        ForagingError::Crowded { players, interior } => words("world.no_room_for_food", &[players, interior]),
        ForagingError::Place { what, row, column } => words("world.scene_place", &[what, row, column]),
        ForagingError::Things { what, given, needed } => words("world.scene_count", &[what, given, needed]),
    }
}

fn pursuit_sentence(error: &PursuitError) -> Sentence {
    match error {
        PursuitError::Range(error) => range_sentence(error),
        PursuitError::Crowded { name, given, free } => words("world.no_free_cell", &[name, given, free]),
        PursuitError::Place { x, y } => words("world.scene_wall", &[x, y]),
        PursuitError::Count { name, given, needed } => words("world.scene_count", &[name, given, needed]),
    }
}

fn range_sentence(error: &OutOfRange) -> Sentence {
    words("world.range", &[&error.name, &error.given, &error.least, &error.most])
}

fn words(id: &str, given: &[&dyn ToString]) -> Sentence {
    Sentence { id: id.to_owned(), args: given.iter().map(|word| word.to_string()).collect() }
}
