//! The particle environments of mpe2: discrete and continuous actions, those in the precision the file names.

use serde_json::Value;
use tandem_core::base::float::Real;
use tandem_core::env::aec::{Aec, AecError};
use tandem_core::env::api::{Ended, Env, EnvState, StateRef, StepOut};
use tandem_core::env::particles::{ParticleSpec, Particles, Placement, Scenario};
use tandem_core::experiment::snapshot::Sentence;

use super::check::{Stop, Tolerance};
use super::format::{Episode, Malformed, Precision, numbers};
use super::params::Params;
use super::replay::{Draws, Subject, Turn};

/// A particle world.
pub(super) struct Plane {
    world: Particles,
    start: EnvState,
    precision: Precision,
}

impl Plane {
    pub(super) fn new(scenario: Scenario, episode: &Episode) -> Result<Self, Stop> {
        let (spec, is_continuous) = spec(scenario, episode)?;
        let world = spec.validate().map_err(Stop::out_of_bounds)?;
        let precision = episode.action_dtype;
        if is_continuous == (precision == Precision::Int) {
            return Err(Malformed(format!("{}: action_dtype", episode.id)).into());
        }
        let start = start(&world, &episode.init)?;
        Ok(Self { world, start, precision })
    }

    fn step_as<A: Real>(
        &self,
        turn: &Turn<'_>,
        state: tandem_core::env::api::StateMut<'_>,
        rewards: &mut [f64],
    ) -> Ended {
        let all: Vec<A> = turn.actions.iter().flat_map(floats).map(A::from_f64).collect();
        let mut parts = vec![0.0; rewards.len() * self.world.info().part_names.len()];
        self.world.step_continuous(state, &all, &mut StepOut { rewards, parts: &mut parts })
    }
}

fn floats(action: &Value) -> Vec<f64> {
    numbers("actions", action).unwrap_or_default()
}

fn spec(scenario: Scenario, episode: &Episode) -> Result<(ParticleSpec, bool), Stop> {
    let mut params = Params::new(&episode.params);
    let mut spec = ParticleSpec::new(scenario);
    let mut is_continuous = false;
    params.count("max_cycles", &mut spec.max_cycles)?;
    params.switch("continuous_actions", &mut is_continuous)?;
    if matches!(scenario, Scenario::Spread | Scenario::Adversary) {
        params.count("N", &mut spec.agents)?;
    }
    if matches!(scenario, Scenario::Spread | Scenario::Reference) {
        params.number("local_ratio", &mut spec.local_ratio)?;
    }
    if matches!(scenario, Scenario::Spread | Scenario::Adversary | Scenario::Tag) {
        spec.near_agents = params.optional_count("num_agent_neighbors")?;
        spec.near_landmarks = params.optional_count("num_landmark_neighbors")?;
    }
    if matches!(scenario, Scenario::Spread | Scenario::Tag) {
        params.switch("terminate_on_success", &mut spec.terminate_on_success)?;
        let (mut has_curriculum, mut stage) = (false, 0);
        params.switch("curriculum", &mut has_curriculum)?;
        params.count("_curriculum_stage", &mut stage)?;
        spec.curriculum = has_curriculum.then_some(stage);
    }
    if scenario == Scenario::Tag {
        params.count("num_good", &mut spec.good)?;
        params.count("num_adversaries", &mut spec.adversaries)?;
        params.count("num_obstacles", &mut spec.obstacles)?;
    }
    params.finish()?;
    Ok((spec, is_continuous))
}

/// The state that the file sets, of exactly the things that the world has.
fn start(world: &Particles, init: &Value) -> Result<EnvState, Stop> {
    let given = |key: &str| match init.get(key) {
        Some(value) => numbers(&format!("init.{key}"), value),
        None => Ok(Vec::new()),
    };
    let pairs = |key: &str| -> Result<Vec<[f64; 2]>, Malformed> {
        let numbers = given(key)?;
        let (pairs, rest) = numbers.as_chunks();
        if rest.is_empty() { Ok(pairs.to_vec()) } else { Err(Malformed(format!("init.{key}: {}", init[key]))) }
    };
    let mut state = EnvState::new(world.info());
    let room = world.placement(state.view());
    // Who says nothing at the start need not be written down.
    let said = if init.get("agent_comm").is_some() { given("agent_comm")? } else { room.said.clone() };
    let placement = Placement {
        positions: pairs("agent_pos")?,
        velocities: pairs("agent_vel")?,
        landmarks: pairs("landmark_pos")?,
        said,
        goals: given("goal")?.into_iter().map(|goal| self::goal(goal, world)).collect::<Result<_, Stop>>()?,
    };
    let counts = [
        ("agent_pos", placement.positions.len(), room.positions.len()),
        ("agent_vel", placement.velocities.len(), room.velocities.len()),
        ("landmark_pos", placement.landmarks.len(), room.landmarks.len()),
        ("agent_comm", placement.said.len(), room.said.len()),
        ("goal", placement.goals.len(), room.goals.len()),
    ];
    for (key, found, needed) in counts {
        if found != needed {
            let said = [key, &found.to_string(), &needed.to_string()];
            return Err(Stop::Failed(Sentence::new("conformance.init_count", &said)));
        }
    }
    world.place(state.view_mut(), &placement);
    Ok(state)
}

/// A goal of the start, which is one of the world's.
fn goal(goal: f64, world: &Particles) -> Result<u32, Stop> {
    let last = world.goal_choices() - 1;
    // `contains` is false for NaN.
    if goal.fract() == 0.0 && (0.0..=f64::from(last)).contains(&goal) {
        return Ok(goal as u32);
    }
    let said = [&goal.to_string(), &last.to_string()];
    Err(Stop::Failed(Sentence::new("conformance.no_goal", &said.map(String::as_str))))
}

impl Subject for Plane {
    fn env(&self) -> &dyn Env {
        &self.world
    }

    /// A kind's agents are numbered among themselves; all that are not named otherwise are agents.
    fn names(&self) -> Vec<String> {
        let info = self.world.info();
        let kind = |agent: u32| match info.role(agent).id.as_str() {
            "role.adversary" | "role.hunter" => "adversary",
            "role.speaker" => "speaker",
            "role.listener" => "listener",
            _ => "agent",
        };
        let before = |agent: u32| (0..agent).filter(|&other| kind(other) == kind(agent)).count();
        (0..info.num_agents).map(|agent| format!("{}_{}", kind(agent), before(agent))).collect()
    }

    fn start(&self) -> EnvState {
        self.start.clone()
    }

    fn obs_tolerance(&self) -> Tolerance {
        Tolerance::Single
    }

    fn reward_tolerance(&self) -> Tolerance {
        Tolerance::Double
    }

    fn sim_tolerance(&self) -> Tolerance {
        Tolerance::Double
    }

    fn sim(&self, state: StateRef<'_>) -> Vec<(&'static str, Vec<f64>)> {
        let now = self.world.placement(state);
        vec![("pos", now.positions.concat()), ("vel", now.velocities.concat()), ("comm", now.said)]
    }

    fn play(&self, aec: &mut Aec<'_>, turn: &Turn<'_>, _draws: &mut Draws) -> Result<(), AecError> {
        if self.precision == Precision::Int {
            let action = turn.action(aec, self.world.info().role(aec.selection()).actions.len() as u32)?;
            return aec.step(Some(i64::from(action)));
        }
        let agent = aec.selection();
        let given = turn.actions.last().map(floats).unwrap_or_default();
        // The reference refuses another shape and NaN.
        if given.len() as u32 != self.world.continuous_len(agent) || given.iter().any(|number| number.is_nan()) {
            return Err(AecError::Missing(agent));
        }
        aec.step_with(|playing| match self.precision {
            _ if !playing.is_last => Ended::default(),
            Precision::Float32 => self.step_as::<f32>(turn, playing.state, playing.rewards),
            Precision::Float64 | Precision::Int => self.step_as::<f64>(turn, playing.state, playing.rewards),
        })
    }
}
