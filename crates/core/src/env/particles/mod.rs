//! Particle worlds: discs in the plane that accelerate, glide and push each other; the multi-agent particle
//! environments of Lowe et al. 2017 as mpe2 1.1.1 plays them.
//!
//! One physics (`physics.rs`), one file of a few rules for each scenario. An env step: every agent's force and word
//! (`Particles::act` decodes actions), one step of the physics, rewards from the new state. An action therefore changes
//! a place only one env step later, while a word is heard in the observations of the very same env step. There are no
//! walls. Episodes end for all agents at once, by truncation (or by success, where that is switched on; the time limit
//! wins).
//!
//! Continuous actions ([`Particles::step_continuous`]) take five numbers from 0 to 1 for each agent that moves (nothing,
//! left, right, down, up) and then one for each word it can say; no algorithm uses them yet. [`Particles::place`] and
//! [`Particles::placement`] set and read all that a state holds.
//!
//! Words of the state: env steps, then goals. Numbers: places of agents, places of landmarks, velocities of agents, what
//! each agent says.

mod adversary;
mod assign;
mod lockstep;
pub mod physics;
mod push;
mod reference;
mod scene;
mod script;
mod speaker_listener;
mod spec;
mod spread;
mod tag;

use self::physics::{Integrator, Physics, contact_square, square_distance};
use self::scene::{Pen, Scene, View};
use crate::base::float::Real;
use crate::base::rng::{Draws, uniform};
use crate::base::wgsl::Constant;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Particle, StateMut, StateRef, StepOut, Tile, WgslRules, weighted,
};
use crate::env::script::{Program, Script, Uniform};

pub use self::spec::{AGENTS, Convention, GOOD, MAX_CYCLES, NEAREST, OBSTACLES, ParticleError, ParticleSpec, Scenario};

pub use crate::env::api::MAX_AGENTS;

/// Movements of a discrete action: none, left, right, down, up.
const MOVES: u32 = 5;
/// Their directions.
const PUSHES: [[f64; 2]; MOVES as usize] = [[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]];
/// Word of the env steps taken.
const TIME: usize = 0;
/// First word of the goals.
const GOALS: usize = 1;
/// Draw of the world for its goals; the landmarks' follow.
const GOAL_DRAW: u32 = 0;

/// The rules.
#[derive(Debug)]
pub struct Particles {
    spec: ParticleSpec,
    scene: Scene,
    physics: Physics,
    /// Words of whoever can say the most; 0 where nobody speaks.
    words: usize,
    info: EnvInfo,
}

/// All that a state holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Places of the agents `[n]`.
    pub positions: Vec<[f64; 2]>,
    /// Velocities of the agents `[n]`.
    pub velocities: Vec<[f64; 2]>,
    /// Places of the landmarks.
    pub landmarks: Vec<[f64; 2]>,
    /// What each agent says `[n, words]`; empty where nobody speaks.
    pub said: Vec<f64>,
    /// Landmarks that are goals: one in adversary, push and speaker-listener, one of each agent in reference, else none.
    pub goals: Vec<u32>,
}

/// What an agent does in an env step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Act {
    /// Direction and share of its full force.
    push: [f64; 2],
    /// The word it says, alone and in full.
    word: Option<u32>,
}

impl Particles {
    fn new(spec: ParticleSpec, scene: Scene) -> Self {
        let n = scene.role_of.len() as u32;
        let words = scene.means.iter().map(|means| means.words).max().unwrap_or(0);
        let landmarks = scene.bodies.len() as u32 - n;
        let obs_len = |agent: &u32| scene.roles[*agent as usize].obs.len() as u32;
        let info = EnvInfo {
            num_agents: n,
            num_actions: scene.roles.iter().map(|role| role.actions.len() as u32).max().unwrap_or(0),
            obs_len: scene.role_of.iter().map(obs_len).max().unwrap_or(0),
            state_len: scene.role_of.iter().map(obs_len).sum(),
            roles: scene.roles.clone(),
            role_of: scene.role_of.clone(),
            part_names: scene.parts.iter().map(|&(name, _)| name.to_owned()).collect(),
            part_weights: scene.parts.iter().map(|&(_, weight)| weight).collect(),
            mix: scene.mix,
            idle_action: scene.idle_action,
            max_steps: spec.max_cycles,
            fixed_length: !spec.terminate_on_success,
            common_reward: scene.common_reward,
            team_reward: scene.common_reward,
            in_turns: false,
            fixed_mask: true,
            // Others' velocities are hidden; who is alone sees the one landmark there is.
            obs_determines_state: n == 1,
            headline: scene.headline,
            enumerated_starts: 0,
            ints: GOALS as u32 + scene.goals,
            reals: 4 * n + 2 * landmarks + n * words,
            revision: 1,
        };
        let physics = Physics::new(&scene.bodies, n, scene.integrator);
        Self { spec, scene, physics, words: words as usize, info }
    }

    /// What it was made of.
    pub fn spec(&self) -> &ParticleSpec {
        &self.spec
    }

    /// Its laws of motion.
    pub fn physics(&self) -> &Physics {
        &self.physics
    }

    /// Numbers of a continuous action of `agent`: five if it moves, and one for each of its words.
    pub fn continuous_len(&self, agent: u32) -> u32 {
        let means = self.scene.means[agent as usize];
        if means.moves { MOVES + means.words } else { means.words }
    }

    /// Landmarks or words that a goal chooses from; 1 where there are no goals.
    pub fn goal_choices(&self) -> u32 {
        self.scene.goal_choices
    }

    /// Puts the state at the start of an episode with everything as `placement` says; lists that are too short leave
    /// zeros.
    pub fn place(&self, state: StateMut<'_>, placement: &Placement) {
        let StateMut { ints, reals } = state;
        ints.fill(0);
        reals.fill(0.0);
        for (word, &goal) in ints[GOALS..].iter_mut().zip(&placement.goals) {
            *word = goal.min(self.scene.goal_choices - 1) as i32;
        }
        let (pairs, said) = self.split_mut(reals);
        let (n, entities) = (self.n(), self.scene.bodies.len());
        pairs[..n].iter_mut().zip(&placement.positions).for_each(|(to, from)| *to = *from);
        pairs[n..entities].iter_mut().zip(&placement.landmarks).for_each(|(to, from)| *to = *from);
        pairs[entities..].iter_mut().zip(&placement.velocities).for_each(|(to, from)| *to = *from);
        said.iter_mut().zip(&placement.said).for_each(|(to, from)| *to = *from);
    }

    /// What a state holds; [`Particles::place`] puts it back.
    pub fn placement(&self, state: StateRef<'_>) -> Placement {
        let view = self.view(state);
        Placement {
            positions: view.p.to_vec(),
            velocities: view.v.to_vec(),
            landmarks: view.landmarks.to_vec(),
            said: view.said.to_vec(),
            goals: view.goals.iter().map(|&goal| goal as u32).collect(),
        }
    }

    /// An env step of continuous actions: those of every agent one after the other, [`Particles::continuous_len`] numbers
    /// each, clipped to 0 ..= 1. The two differences that are a push are formed in the actions' own precision, then
    /// widened. NaN counts as 0; the reference refuses it.
    ///
    /// # Panics
    ///
    /// If there are fewer numbers than all agents need; more are ignored.
    pub fn step_continuous<A: Real>(&self, state: StateMut<'_>, actions: &[A], out: &mut StepOut<'_>) -> Ended {
        let clipped = |number: A| Real::min(Real::max(number, A::ZERO), A::ONE);
        let mut force = [[0.0; 2]; MAX_AGENTS];
        let (_, said) = self.split_mut(state.reals);
        let mut rest = actions;
        for (agent, means) in self.scene.means.iter().enumerate() {
            if means.moves {
                let (own, after) = rest.split_at(MOVES as usize);
                let push = |more: usize, less: usize| (clipped(own[more]) - clipped(own[less])).to_f64();
                force[agent] = [push(2, 1), push(4, 3)].map(|push| push * self.scene.bodies[agent].accel);
                rest = after;
            }
            let (own, after) = rest.split_at(means.words as usize);
            let row = &mut said[agent * self.words..][..means.words as usize];
            row.iter_mut().zip(own).for_each(|(said, &number)| *said = clipped(number).to_f64());
            rest = after;
        }
        self.advance(state, &mut force, out)
    }

    /// What the state pays, into `out`: an env step pays by the state it ends in.
    pub fn pay(&self, state: StateRef<'_>, out: &mut StepOut<'_>) {
        self.scene.rules.parts(self.view(state), out.parts);
        let weights = &self.info.part_weights[..];
        for (reward, parts) in out.rewards.iter_mut().zip(out.parts.chunks_exact(weights.len())) {
            *reward = weighted(weights, parts);
        }
    }

    /// A discrete action: a movement, a word, or word·5 + movement. A word that the agent does not have is silence.
    fn act(&self, agent: usize, action: u32) -> Act {
        let means = self.scene.means[agent];
        let (movement, word) = if means.moves { (action % MOVES, action / MOVES) } else { (0, action) };
        Act { push: PUSHES[movement as usize], word: (word < means.words).then_some(word) }
    }

    /// Moves everything, counts the env step, pays.
    fn advance(&self, state: StateMut<'_>, force: &mut [[f64; 2]; MAX_AGENTS], out: &mut StepOut<'_>) -> Ended {
        let StateMut { ints, reals } = state;
        let (pairs, _) = self.split_mut(reals);
        let (p, v) = pairs.split_at_mut(self.scene.bodies.len());
        self.physics.step(p, v, force);
        ints[TIME] += 1;
        let truncated = ints[TIME] as u32 >= self.spec.max_cycles;
        let state = StateRef { ints, reals };
        self.pay(state, out);
        let ends_by_success = self.spec.terminate_on_success && !truncated;
        Ended { terminated: ends_by_success && self.scene.rules.succeeded(self.view(state)), truncated }
    }

    fn n(&self) -> usize {
        self.scene.means.len()
    }

    /// Pairs of numbers (places of agents and landmarks, velocities), and what is said.
    #[inline(always)]
    fn split_mut<'a>(&self, reals: &'a mut [f64]) -> (&'a mut [[f64; 2]], &'a mut [f64]) {
        let (pairs, said) = reals.split_at_mut(2 * (self.scene.bodies.len() + self.n()));
        (pairs.as_chunks_mut().0, said)
    }

    #[inline(always)]
    fn view<'a>(&self, state: StateRef<'a>) -> View<'a> {
        let (n, entities) = (self.n(), self.scene.bodies.len());
        let (pairs, said) = state.reals.split_at(2 * (entities + n));
        let (places, v) = pairs.as_chunks().0.split_at(entities);
        let (p, landmarks) = places.split_at(n);
        View { goals: &state.ints[GOALS..], p, landmarks, v, said }
    }
}

/// The agent nearest to a place, the first of equals, and the square of its distance.
#[inline(always)]
fn nearest_agent(agents: &[[f64; 2]], place: [f64; 2]) -> (u32, f64) {
    let mut nearest = (0, square_distance(agents[0], place));
    for (agent, &at) in (1..).zip(&agents[1..]) {
        let square = square_distance(at, place);
        if square < nearest.1 {
            nearest = (agent, square);
        }
    }
    nearest
}

impl Env for Particles {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    /// Goals and places are drawn uniformly; nobody moves or has said anything.
    fn reset(&self, state: StateMut<'_>, draws: &Draws) {
        let StateMut { ints, reals } = state;
        ints.fill(0);
        reals.fill(0.0);
        if self.scene.goals > 0 {
            let words = draws.words(Draws::WORLD, GOAL_DRAW);
            for (goal, &word) in ints[GOALS..].iter_mut().zip(&words) {
                *goal = crate::base::rng::below(word, self.scene.goal_choices) as i32;
            }
        }
        let (pairs, _) = self.split_mut(reals);
        let place = |words: [u32; 4], range: f64| [0, 1].map(|k| range * (2.0 * f64::from(uniform(words[k])) - 1.0));
        let (n, landmarks) = (self.n(), self.scene.bodies.len() - self.n());
        let agents = (0..n as u32).map(|agent| (agent, 0));
        draws.each(agents.chain((0..landmarks as u32).map(|landmark| (Draws::WORLD, 1 + landmark))), |k, words| {
            pairs[k] = place(words, if k < n { 1.0 } else { self.scene.landmark_range });
        });
    }

    fn reset_to(&self, _state: StateMut<'_>, _start: u32) -> bool {
        debug_assert!(false, "starts are drawn");
        false
    }

    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let mut force = [[0.0; 2]; MAX_AGENTS];
        let (_, said) = self.split_mut(state.reals);
        said.fill(0.0);
        for (agent, &action) in actions.iter().enumerate() {
            let act = self.act(agent, action);
            force[agent] = act.push.map(|push| push * self.scene.bodies[agent].accel);
            if let Some(word) = act.word {
                said[agent * self.words + word as usize] = 1.0;
            }
        }
        self.advance(state, &mut force, out)
    }

    fn step_tile(&self, tile: &mut Tile<'_>) -> bool {
        let lockstep = self.scene.rules.lockstep().filter(|_| !self.spec.terminate_on_success);
        lockstep.map(|lockstep| lockstep.step(self, tile)).is_some()
    }

    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        let (own, beyond) = obs.split_at_mut(self.info.role(agent).obs.len());
        self.scene.rules.observe(self.view(state), agent as usize, &mut Pen::new(own));
        beyond.fill(0.0);
    }

    /// All observations one after the other, as in the reference.
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        let view = self.view(state);
        let mut pen = Pen::new(out);
        (0..self.n()).for_each(|agent| self.scene.rules.observe(view, agent, &mut pen));
    }

    fn state_is_observations(&self) -> bool {
        true
    }

    fn legal(&self, _state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        let (own, beyond) = mask.split_at_mut(self.info.role(agent).actions.len());
        own.fill(1);
        beyond.fill(0);
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let view = self.view(state);
        let (n, bodies) = (self.n(), &self.scene.bodies);
        let tints = self.scene.rules.tints(view);
        let tint = |tints: &[Option<[f32; 3]>], index: usize| tints.get(index).copied().flatten();
        let particle = |index: usize, at: [f64; 2], velocity: [f64; 2]| Particle {
            at: at.map(|x| x as f32),
            velocity: velocity.map(|x| x as f32),
            radius: bodies[index].size as f32,
            collides: bodies[index].collides,
            is_goal: index >= n && view.goals.contains(&((index - n) as i32)),
            tint: if index < n { tint(&tints.agents, index) } else { tint(&tints.landmarks, index - n) },
        };
        let in_contact = |&(i, j): &(usize, usize)| {
            let reach = bodies[i].size + bodies[j].size;
            bodies[i].collides && bodies[j].collides && square_distance(view.p[i], view.p[j]) < contact_square(reach)
        };
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        Frame::Particles {
            agents: (0..n).map(|agent| particle(agent, view.p[agent], view.v[agent])).collect(),
            landmarks: view.landmarks.iter().enumerate().map(|(k, &at)| particle(n + k, at, [0.0; 2])).collect(),
            pairs: self.scene.rules.pairs(view),
            touching: pairs.filter(in_contact).map(|(i, j)| (i as u32, j as u32)).collect(),
            words: self.last_words(view),
        }
    }

    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }

    /// Where the scenario says what its shader is told: nobody speaks, everybody is seen.
    fn wgsl(&self) -> Option<WgslRules> {
        let own = self.scene.rules.wgsl().filter(|_| !self.spec.terminate_on_success)?;
        let body = &self.scene.bodies[0];
        let mut constants = vec![
            ("LANDMARKS", Constant::Word((self.scene.bodies.len() - self.n()) as u32)),
            ("MAX_CYCLES", Constant::Word(self.spec.max_cycles)),
            ("POSITION_FIRST", Constant::Word(u32::from(self.scene.integrator == Integrator::PositionFirst))),
            ("ACCEL", Constant::Real(body.accel as f32)),
            ("REACH", Constant::Real((body.size + body.size) as f32)),
            ("GLOBAL_WEIGHT", Constant::Real(self.info.part_weights[0] as f32)),
            ("LOCAL_WEIGHT", Constant::Real(self.info.part_weights[1] as f32)),
            ("IS_COMMON", Constant::Word(u32::from(self.info.common_reward))),
        ];
        constants.extend(own.constants);
        Some(WgslRules { source: own.source, constants })
    }

    fn scripts(&self) -> &'static [Script] {
        script::suiting(&self.spec)
    }

    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        match script {
            Script::Uniform => Some(Box::new(Uniform)),
            _ => script::program(&self.spec, script),
        }
    }
}

impl Particles {
    /// The word that each agent says loudest; none of who is silent.
    fn last_words(&self, view: View<'_>) -> Vec<Option<u32>> {
        if self.words == 0 {
            return Vec::new();
        }
        let loudest = |row: &[f64]| {
            let mut loudest = (None, 0.0);
            for (word, &volume) in (0..).zip(row) {
                if volume > loudest.1 {
                    loudest = (Some(word), volume);
                }
            }
            loudest.0
        };
        view.said.chunks_exact(self.words).map(loudest).collect()
    }
}
