//! Pursuit of PettingZoo: every turn pays, evaders do what the file says.

use tandem_core::env::aec::{Aec, AecError};
use tandem_core::env::api::{Env, EnvState, StateRef, weighted};
use tandem_core::env::pursuit::{Place, Pursuit, PursuitSpec};
use tandem_core::experiment::snapshot::Sentence;

use super::check::{Stop, Tolerance};
use super::format::{Episode, Malformed, numbers, rows};
use super::params::Params;
use super::replay::{Draws, Subject, Turn};

/// A pursuit world.
pub(super) struct Hunt {
    world: Pursuit,
    start: EnvState,
}

impl Hunt {
    pub(super) fn new(episode: &Episode) -> Result<Self, Stop> {
        let spec = spec(episode)?;
        let world = spec.validate().map_err(Stop::out_of_bounds)?;
        let init = |key: &str| episode.init.get(key).ok_or_else(|| Malformed(format!("init.{key}")));
        let places = |key: &str| -> Result<Vec<Place>, Malformed> { rows(&format!("init.{key}"), init(key)?) };
        let start = world.place(&places("pursuers")?, &places("evaders")?).map_err(Stop::no_start)?;
        if let Some(map) = episode.init.get("map") {
            let given = numbers("init.map", map)?;
            // The file has x slowest.
            let (x_size, y_size) = (spec.x_size as usize, spec.y_size as usize);
            let cells = (0..x_size).flat_map(|x| (0..y_size).map(move |y| y * x_size + x));
            let ours = cells.map(|cell| f64::from(u8::from(world.walls()[cell])));
            if !ours.eq(given) {
                return Err(Stop::Failed(Sentence::new("conformance.other_map", &[&episode.id])));
            }
        }
        Ok(Self { world, start })
    }
}

fn spec(episode: &Episode) -> Result<PursuitSpec, Stop> {
    let mut params = Params::new(&episode.params);
    let mut spec = PursuitSpec::default();
    params.count("x_size", &mut spec.x_size)?;
    params.count("y_size", &mut spec.y_size)?;
    params.count("max_cycles", &mut spec.max_cycles)?;
    params.switch("shared_reward", &mut spec.shared_reward)?;
    params.count("n_evaders", &mut spec.n_evaders)?;
    params.count("n_pursuers", &mut spec.n_pursuers)?;
    params.count("obs_range", &mut spec.obs_range)?;
    params.count("n_catch", &mut spec.n_catch)?;
    params.switch("freeze_evaders", &mut spec.freeze_evaders)?;
    params.number("tag_reward", &mut spec.tag_reward)?;
    params.number("catch_reward", &mut spec.catch_reward)?;
    params.number("urgency_reward", &mut spec.urgency_reward)?;
    params.switch("surround", &mut spec.surround)?;
    params.number("constraint_window", &mut spec.constraint_window)?;
    params.finish()?;
    Ok(spec)
}

impl Subject for Hunt {
    fn env(&self) -> &dyn Env {
        &self.world
    }

    fn names(&self) -> Vec<String> {
        (0..self.world.info().num_agents).map(|pursuer| format!("pursuer_{pursuer}")).collect()
    }

    fn start(&self) -> EnvState {
        self.start.clone()
    }

    fn reward_tolerance(&self) -> Tolerance {
        Tolerance::Double
    }

    fn sim(&self, state: StateRef<'_>) -> Vec<(&'static str, Vec<f64>)> {
        let flat = |(x, y): (i32, i32)| [f64::from(x), f64::from(y)];
        vec![
            ("pursuers", self.world.pursuers(state).flat_map(flat).collect()),
            ("evaders", self.world.evaders(state).flatten().flat_map(flat).collect()),
            ("gone", self.world.evaders(state).map(|place| f64::from(u8::from(place.is_none()))).collect()),
        ]
    }

    fn play(&self, aec: &mut Aec<'_>, turn: &Turn<'_>, draws: &mut Draws) -> Result<(), AecError> {
        let info = self.world.info();
        // Evaders move as pursuers do.
        let evader_actions = info.num_actions;
        let action = turn.action(aec, info.role(0).actions.len() as u32)?;
        aec.step_with(|playing| {
            let mut parts = vec![0.0; info.part_weights.len() * info.num_agents as usize];
            let flee = |_| draws.action("evader_actions", evader_actions).unwrap_or(u32::MAX);
            let ended = self.world.turn_with(playing.state, playing.agent, action, flee, &mut parts);
            for (reward, parts) in playing.rewards.iter_mut().zip(parts.chunks_exact(info.part_weights.len())) {
                *reward = weighted(&info.part_weights, parts);
            }
            ended
        })
    }
}
