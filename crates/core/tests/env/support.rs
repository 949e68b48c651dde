//! What the environment tests share: a world on its own, worlds in lockstep as a run has them, and random legal play.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, below};
use tandem_core::env::api::{Ended, Env, EnvState, StepOut};
use tandem_core::marl::parts::world::{self as kernels, Observe, ResetAll, Starts, Step};
use tandem_core::nn::graph::{Buffers, List, Phase, Plan};

/// One world with buffers of its size.
#[derive(Clone, Debug)]
pub(crate) struct World<'a> {
    pub(crate) env: &'a dyn Env,
    pub(crate) state: EnvState,
    pub(crate) rewards: Vec<f64>,
    pub(crate) parts: Vec<f64>,
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

    pub(crate) fn team_reward(&mut self) -> Option<f64> {
        self.env.team_reward(&StepOut { rewards: &mut self.rewards, parts: &mut self.parts })
    }

    pub(crate) fn obs(&self, agent: u32) -> Vec<f32> {
        let mut obs = vec![f32::NAN; self.env.info().obs_len as usize];
        self.env.observe(self.state.view(), agent, &mut obs);
        obs
    }

    pub(crate) fn state_vector(&self) -> Vec<f32> {
        let mut vector = vec![f32::NAN; self.env.info().state_len as usize];
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

/// Worlds in lockstep, moved by the kernels that move those of a run.
#[derive(Debug)]
pub(crate) struct Lockstep {
    pub(crate) world: kernels::World,
    pub(crate) buffers: Buffers<f32>,
    step: List,
    observe: List,
}

/// What worlds show after an env step, before any reset.
pub(crate) struct Followed {
    /// `[E, n, padded(O)]`.
    pub(crate) obs: Vec<f32>,
    /// `[E, padded(S)]`.
    pub(crate) states: Vec<f32>,
    /// `[E, n, |A|]`.
    pub(crate) masks: Vec<u32>,
}

impl Lockstep {
    /// All at the start of episode 0, seen.
    pub(crate) fn new(env: Arc<dyn Env>, seed: u64, worlds: u32) -> Self {
        let mut plan = Plan::default();
        let world = kernels::World::new(&mut plan, "test", env, worlds, false);
        let (mut reset, mut step, mut observe) = (List::default(), List::default(), List::default());
        let stream = Stream::new(seed, "env");
        reset.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts: Starts::Drawn });
        step.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: true });
        observe.train(Phase::Observe, Observe { world: world.clone() });
        let buffers = Buffers::new(&plan);
        reset.run(&buffers);
        observe.run(&buffers);
        Self { world, buffers, step, observe }
    }

    /// One env step of all, then a look at where the next actions are taken; what followed before any reset.
    pub(crate) fn step(&self, actions: &[u32]) -> Followed {
        self.buffers.write(self.world.action).copy_from_slice(actions);
        self.step.run(&self.buffers);
        let of = |id| self.buffers.read(id).clone();
        let followed = Followed {
            obs: of(self.world.next_obs),
            states: of(self.world.next_state),
            masks: self.buffers.read(self.world.next_mask).clone(),
        };
        self.look();
        followed
    }

    pub(crate) fn look(&self) {
        self.observe.run(&self.buffers);
    }

    /// A random legal joint action of each world `[E, n]`.
    pub(crate) fn legal_actions(&self, player: &mut Player) -> Vec<u32> {
        let mask = self.buffers.read(self.world.mask);
        mask.chunks_exact(self.world.env.info().num_actions as usize).map(|mask| player.legal(mask)).collect()
    }

    /// The state of world `index`.
    pub(crate) fn state(&self, index: u32) -> EnvState {
        let (ints, reals) = (self.buffers.read(self.world.ints), self.buffers.read(self.world.reals));
        EnvState { ints: self.row(&ints, index).to_vec(), reals: self.row(&reals, index).to_vec() }
    }

    /// The part of a buffer that belongs to world `index`.
    pub(crate) fn row<'a, T>(&self, buffer: &'a [T], index: u32) -> &'a [T] {
        let width = buffer.len() / self.world.envs as usize;
        &buffer[index as usize * width..][..width]
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

    /// Action 0 of an agent that is not to move, which the world ignores.
    pub(crate) fn legal(&mut self, mask: &[u32]) -> u32 {
        let legal: Vec<u32> = (0..mask.len() as u32).filter(|&action| mask[action as usize] == 1).collect();
        if legal.is_empty() { 0 } else { legal[self.below(legal.len() as u32) as usize] }
    }

    pub(crate) fn joint(&mut self, world: &World<'_>) -> Vec<u32> {
        (0..world.env.info().num_agents).map(|agent| self.legal(&world.mask(agent))).collect()
    }
}
