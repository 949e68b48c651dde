//! All agents at once: PettingZoo's parallel API over any [`Env`], which is its `aec_to_parallel` over [`Aec`].
//!
//! A step plays the turns of one env step and adds up what they pay, turn by turn (the cumulative rewards of the AEC are
//! something else). In a game of turns an env step is one turn: everybody names an action, the mover's counts.

use std::collections::BTreeMap;

use crate::base::rng::Stream;
use crate::env::aec::{Account, Aec, AecError};
use crate::env::api::Env;

/// A world played by joint actions.
#[derive(Clone, Debug)]
pub struct Parallel<'a> {
    aec: Aec<'a>,
}

/// What a step tells each agent that was alive before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stepped {
    /// Observations after the env step, also of an episode's last.
    pub obs: BTreeMap<u32, Vec<f32>>,
    /// Rewards.
    pub rewards: BTreeMap<u32, f64>,
    /// Whether the world has ended.
    pub terminated: BTreeMap<u32, bool>,
    /// Whether the episode was cut off.
    pub truncated: BTreeMap<u32, bool>,
}

impl<'a> Parallel<'a> {
    /// Not begun yet. Draws are those of environment 0 of `stream`, as a run has them.
    pub fn new(env: &'a dyn Env, stream: Stream) -> Self {
        Self { aec: Aec::new(env, stream) }
    }

    /// Begins an episode; everybody's observation.
    pub fn reset(&mut self) -> BTreeMap<u32, Vec<f32>> {
        self.aec.reset();
        self.observed(self.aec.agents()).expect("the episode has just begun")
    }

    /// Live agents, in order; none once the episode is over.
    pub fn agents(&self) -> &[u32] {
        self.aec.agents()
    }

    /// The same world agent by agent: it is between two env steps.
    pub fn aec(&self) -> &Aec<'a> {
        &self.aec
    }

    /// One env step. `actions` names one for every live agent; others are ignored. Nothing happens where one is missing or
    /// out of range, or where nobody is left.
    pub fn step(&mut self, actions: &BTreeMap<u32, i64>) -> Result<Stepped, AecError> {
        let live = self.aec.agents().to_vec();
        let info = self.aec.env().info();
        self.aec.begun()?;
        for &agent in &live {
            let given = *actions.get(&agent).ok_or(AecError::Missing(agent))?;
            let last = info.role(agent).actions.len() as u32 - 1;
            if !(0..=i64::from(last)).contains(&given) {
                return Err(AecError::OutOfRange { agent, given, last });
            }
        }
        let turns = if info.in_turns && !live.is_empty() { vec![self.aec.selection()] } else { live.clone() };
        let mut rewards: BTreeMap<u32, f64> = live.iter().map(|&agent| (agent, 0.0)).collect();
        for agent in turns {
            self.aec.step(Some(actions[&agent]))?;
            for (&agent, sum) in &mut rewards {
                *sum += self.account(agent).reward;
            }
        }
        let flags = |of: fn(&Account) -> bool| {
            live.iter().map(|&agent| (agent, of(&self.account(agent)))).collect::<BTreeMap<u32, bool>>()
        };
        let stepped = Stepped {
            obs: self.observed(&live)?,
            rewards,
            terminated: flags(|account| account.terminated),
            truncated: flags(|account| account.truncated),
        };
        while self.aec.account(self.aec.selection()).is_some_and(|account| account.is_dead()) {
            self.aec.step(None)?;
        }
        Ok(stepped)
    }

    fn account(&self, agent: u32) -> Account {
        *self.aec.account(agent).expect("nobody leaves before its dead step")
    }

    fn observed(&self, agents: &[u32]) -> Result<BTreeMap<u32, Vec<f32>>, AecError> {
        agents.iter().map(|&agent| Ok((agent, self.aec.observe(agent)?))).collect()
    }
}
