//! What the environment tests share: a world with its buffers, and random legal play.

use tandem_core::base::rng::{Stream, below};
use tandem_core::env::api::{Ended, Env, EnvState, StepOut};

/// One world with buffers of its size.
#[derive(Clone, Debug)]
pub(crate) struct World<'a> {
    pub(crate) env: &'a dyn Env,
    pub(crate) state: EnvState,
    pub(crate) rewards: Vec<f32>,
    pub(crate) parts: Vec<f32>,
    pub(crate) stream: Stream,
    pub(crate) index: u32,
    pub(crate) episode: u32,
}

impl<'a> World<'a> {
    /// At the start of episode 0 of world 0.
    pub(crate) fn new(env: &'a dyn Env, seed: u64) -> Self {
        let info = env.info();
        let mut world = Self {
            env,
            state: EnvState::new(info),
            rewards: vec![0.0; info.num_agents as usize],
            parts: vec![0.0; info.num_agents as usize * info.part_names.len()],
            stream: Stream::new(seed, "env"),
            index: 0,
            episode: 0,
        };
        world.reset();
        world
    }

    pub(crate) fn reset(&mut self) {
        self.env.reset(self.state.view_mut(), &self.stream.env(self.index, self.episode, 0));
    }

    pub(crate) fn step(&mut self, actions: &[u32]) -> Ended {
        let draws = self.stream.env(self.index, self.episode, self.env.step_count(self.state.view()) + 1);
        let mut out = StepOut { rewards: &mut self.rewards, parts: &mut self.parts };
        self.env.step(self.state.view_mut(), actions, &draws, &mut out)
    }

    pub(crate) fn team_reward(&mut self) -> Option<f32> {
        self.env.team_reward(&StepOut { rewards: &mut self.rewards, parts: &mut self.parts })
    }

    pub(crate) fn obs(&self, agent: u32) -> Vec<f32> {
        let mut obs = vec![f32::NAN; self.env.info().obs_len() as usize];
        self.env.observe(self.state.view(), agent, &mut obs);
        obs
    }

    pub(crate) fn state_vector(&self) -> Vec<f32> {
        let mut vector = vec![f32::NAN; self.env.info().state_len() as usize];
        self.env.state(self.state.view(), &mut vector);
        vector
    }

    pub(crate) fn mask(&self, agent: u32) -> Vec<u32> {
        let mut mask = vec![u32::MAX; self.env.info().num_actions as usize];
        self.env.legal(self.state.view(), agent, &mut mask);
        mask
    }

    /// The same world with an agent elsewhere.
    pub(crate) fn place(&mut self, agent: u32, cell: u32) {
        self.state = self.env.standing_at(self.state.view(), agent, cell).expect("a cell to stand on");
    }
}

/// Uniform draws among what a mask allows.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    stream: Stream,
    drawn: u32,
}

impl Player {
    pub(crate) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "player"), drawn: 0 }
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.drawn += 1;
        below(self.stream.words([self.drawn, 0, 0, 0])[0], n)
    }

    pub(crate) fn legal(&mut self, mask: &[u32]) -> u32 {
        let legal: Vec<u32> = (0..mask.len() as u32).filter(|&action| mask[action as usize] == 1).collect();
        legal[self.below(legal.len() as u32) as usize]
    }

    pub(crate) fn joint(&mut self, world: &World<'_>) -> Vec<u32> {
        (0..world.env.info().num_agents).map(|agent| self.legal(&world.mask(agent))).collect()
    }
}
