//! A particle world as the user sets it up, and what can be wrong with it.
//!
//! One flat set of parameters for all scenarios, named after the reference's constructors; one that a scenario does not
//! know has no effect in it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{MAX_AGENTS, Particles, adversary, push, reference, speaker_listener, spread, tag};
use crate::env::range::{OutOfRange, within};

/// How many agents there may be, of all kinds together.
pub const AGENTS: RangeInclusive<u32> = 1..=MAX_AGENTS as u32;
/// Good agents of simple_adversary, each with a landmark: one place is the adversary's.
pub const GOOD: RangeInclusive<u32> = 1..=MAX_AGENTS as u32 - 1;
/// Obstacles of simple_tag.
pub const OBSTACLES: RangeInclusive<u32> = 0..=16;
/// Env steps of an episode.
pub const MAX_CYCLES: RangeInclusive<u32> = 1..=10_000;
/// Nearest agents or landmarks that an agent sees, where it does not see all.
pub const NEAREST: RangeInclusive<u32> = 1..=16;

/// Which rules, with the reference's version in the name of its golden files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scenario {
    /// simple_spread_v3: cover all landmarks, do not collide.
    #[default]
    Spread,
    /// simple_adversary_v3: an adversary guesses which landmark the good agents mean.
    Adversary,
    /// simple_tag_v3: slow hunters and fast prey.
    Tag,
    /// simple_speaker_listener_v4: one names the goal, the other walks.
    SpeakerListener,
    /// simple_reference_v3: each knows the other's goal.
    Reference,
    /// simple_push_v3: keep the other from its goal.
    Push,
}

/// By whose rules simple_spread is played and paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Convention {
    /// mpe2 and `PettingZoo` since 1.23: position before velocity, (1 − ρ)·global + ρ·local.
    #[default]
    V3,
    /// OpenAI's original: velocity before position, everyone also collides with itself, and all are handed the sum.
    OpenAi,
}

/// A particle world as the user sets it up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleSpec {
    /// Which rules.
    pub scenario: Scenario,
    /// N: agents and landmarks of spread; good agents and landmarks of adversary.
    pub agents: u32,
    /// num_good: prey of tag.
    pub good: u32,
    /// num_adversaries: hunters of tag.
    pub adversaries: u32,
    /// num_obstacles of tag.
    pub obstacles: u32,
    /// local_ratio ρ of spread and reference: weight of an agent's own part.
    pub local_ratio: f64,
    /// Rules of spread.
    pub convention: Convention,
    /// max_cycles: env steps until the episode is truncated.
    pub max_cycles: u32,
    /// Stage of the curriculum of spread and tag; `None` without one. A stage beyond the last counts as the last.
    pub curriculum: Option<u32>,
    /// Whether success ends an episode of spread or tag.
    pub terminate_on_success: bool,
    /// num_agent_neighbors of spread, adversary and tag; `None`: all are seen.
    pub near_agents: Option<u32>,
    /// num_landmark_neighbors of the same; `None`: all are seen.
    pub near_landmarks: Option<u32>,
}

/// Why a [`ParticleSpec`] is no world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParticleError {
    /// A number out of its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// More agents than a world holds.
    #[error(
        "Parameters num_adversaries {adversaries} and num_good {good} make {} agents: at most 16 are possible together.",
        adversaries + good
    )]
    Together {
        /// Hunters.
        adversaries: u32,
        /// Prey.
        good: u32,
    },
}

impl Scenario {
    /// All, in the order of the menu.
    pub const ALL: [Self; 6] =
        [Self::Spread, Self::Adversary, Self::Tag, Self::SpeakerListener, Self::Reference, Self::Push];

    /// Name of the reference's environment.
    pub fn reference(self) -> &'static str {
        match self {
            Self::Spread => "simple_spread_v3",
            Self::Adversary => "simple_adversary_v3",
            Self::Tag => "simple_tag_v3",
            Self::SpeakerListener => "simple_speaker_listener_v4",
            Self::Reference => "simple_reference_v3",
            Self::Push => "simple_push_v3",
        }
    }
}

impl Default for ParticleSpec {
    fn default() -> Self {
        Self::new(Scenario::default())
    }
}

impl ParticleSpec {
    /// The reference's defaults.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            agents: if scenario == Scenario::Adversary { 2 } else { 3 },
            good: 1,
            adversaries: 3,
            obstacles: 2,
            local_ratio: 0.5,
            convention: Convention::V3,
            max_cycles: 25,
            curriculum: None,
            terminate_on_success: false,
            near_agents: None,
            near_landmarks: None,
        }
    }

    /// How many agents the world has, all kinds together, possible or not.
    pub fn num_agents(&self) -> u32 {
        match self.scenario {
            Scenario::Spread => self.agents,
            Scenario::Adversary => self.agents.saturating_add(1),
            Scenario::Tag => self.adversaries.saturating_add(self.good),
            Scenario::SpeakerListener | Scenario::Reference | Scenario::Push => 2,
        }
    }

    /// The same with the defaults in place of what its scenario does not know.
    fn known(&self) -> Self {
        let defaults = Self::new(self.scenario);
        let mut spec = self.clone();
        if !matches!(self.scenario, Scenario::Spread | Scenario::Tag) {
            (spec.terminate_on_success, spec.curriculum) = (defaults.terminate_on_success, defaults.curriculum);
        }
        if !matches!(self.scenario, Scenario::Spread | Scenario::Adversary | Scenario::Tag) {
            (spec.near_agents, spec.near_landmarks) = (defaults.near_agents, defaults.near_landmarks);
        }
        spec
    }

    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<Particles, ParticleError> {
        self.check()?;
        let spec = self.known();
        let scene = match self.scenario {
            Scenario::Spread => spread::scene(&spec),
            Scenario::Adversary => adversary::scene(&spec),
            Scenario::Tag => tag::scene(&spec),
            Scenario::SpeakerListener => speaker_listener::scene(),
            Scenario::Reference => reference::scene(self.local_ratio),
            Scenario::Push => push::scene(),
        };
        Ok(Particles::new(spec, scene))
    }

    fn check(&self) -> Result<(), ParticleError> {
        within("max_cycles", self.max_cycles, &MAX_CYCLES)?;
        match self.scenario {
            Scenario::Spread => within("N", self.agents, &AGENTS)?,
            Scenario::Adversary => within("N", self.agents, &GOOD)?,
            Scenario::Tag => {
                let (adversaries, good) = (self.adversaries, self.good);
                within("num_adversaries", adversaries, &GOOD)?;
                within("num_good", good, &GOOD)?;
                within("num_obstacles", self.obstacles, &OBSTACLES)?;
                if adversaries + good > *AGENTS.end() {
                    return Err(ParticleError::Together { adversaries, good });
                }
            }
            Scenario::SpeakerListener | Scenario::Reference | Scenario::Push => {}
        }
        if matches!(self.scenario, Scenario::Spread | Scenario::Reference) {
            within("local_ratio", self.local_ratio, &(0.0..=1.0))?;
        }
        if matches!(self.scenario, Scenario::Spread | Scenario::Adversary | Scenario::Tag) {
            within("num_agent_neighbors", self.near_agents.unwrap_or(1), &NEAREST)?;
            within("num_landmark_neighbors", self.near_landmarks.unwrap_or(1), &NEAREST)?;
        }
        Ok(())
    }
}
