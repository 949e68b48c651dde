//! The same episodes for every team: equal start states and streams, so that what differs is the team.
//!
//! Where an environment lists its start states an episode begins at one of them, drawn evenly (a pellet on an agent's
//! cell counts 0 env steps), so the mean estimates what [`Env::optimum`] is the best of; elsewhere its own reset draws.

use crate::base::rng::{Stream, below};
use crate::env::api::{Env, EnvState, StateRef, StepOut};
use crate::env::script::{Program, Script, Turn};

/// Episodes of a comparison.
pub const EPISODES: u32 = 1_000;

/// Episodes of one world and seed.
#[derive(Clone, Debug)]
pub struct Trial {
    worlds: Stream,
    seats: Stream,
    state: EnvState,
    rewards: Vec<f64>,
    parts: Vec<f64>,
}

/// Who plays: the action of an agent at a state, on its turn.
pub trait Team {
    /// All agents' actions `[n]`.
    fn act(&mut self, env: &dyn Env, state: StateRef<'_>, turn: Turn, actions: &mut [u32]);
}

impl Trial {
    /// The episodes of `seed`.
    pub fn new(env: &dyn Env, seed: u64) -> Self {
        let info = env.info();
        let n = info.num_agents as usize;
        Self {
            worlds: Stream::new(seed, "trial"),
            seats: Stream::new(seed, "trial seats"),
            state: EnvState::new(info),
            rewards: vec![0.0; n],
            parts: vec![0.0; n * info.part_names.len()],
        }
    }

    /// Plays episode `episode`; its env steps.
    pub fn play(&mut self, env: &dyn Env, episode: u32, team: &mut dyn Team) -> u32 {
        let info = env.info();
        let mut actions = [0; crate::marl::parts::world::MAX_AGENTS];
        let actions = &mut actions[..info.num_agents as usize];
        let start = self.worlds.env(0, episode, 0);
        if info.enumerated_starts == 0 {
            env.reset(self.state.view_mut(), &start);
        } else if env.reset_to(
            self.state.view_mut(),
            below(self.worlds.words([0, episode, 0, u32::MAX])[0], info.enumerated_starts),
        ) {
            return 0;
        }
        for step in 1..=info.max_steps {
            let turn = Turn { stream: self.seats, at: [0, episode, step - 1], agent: 0 };
            team.act(env, self.state.view(), turn, actions);
            let mut out = StepOut { rewards: &mut self.rewards, parts: &mut self.parts };
            if env.step(self.state.view_mut(), actions, &self.worlds.env(0, episode, step), &mut out).any() {
                return step;
            }
        }
        info.max_steps
    }
}

/// Every agent by one script.
#[derive(Debug)]
pub struct ScriptedTeam {
    program: Box<dyn Program>,
    obs: Vec<f32>,
    legal: Vec<u32>,
}

impl ScriptedTeam {
    /// `None` where the script does not suit the world.
    pub fn new(env: &dyn Env, script: Script) -> Option<Self> {
        let info = env.info();
        let (obs, legal) = (vec![0.0; info.obs_len as usize], vec![0; info.num_actions as usize]);
        env.program(script).map(|program| Self { program, obs, legal })
    }
}

impl Team for ScriptedTeam {
    fn act(&mut self, env: &dyn Env, state: StateRef<'_>, turn: Turn, actions: &mut [u32]) {
        for (agent, action) in actions.iter_mut().enumerate() {
            let agent = agent as u32;
            env.observe(state, agent, &mut self.obs);
            env.legal(state, agent, &mut self.legal);
            *action = self.program.act(&self.obs, &self.legal, &Turn { agent, ..turn });
        }
    }
}
