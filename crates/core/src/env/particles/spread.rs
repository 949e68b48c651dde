//! simple_spread: N agents cover N landmarks and should not touch.
//!
//! Observation of agent i: own velocity and place; landmarks and other agents as seen from it; what the others say,
//! which is nothing. G = −Σ over landmarks of the distance of the nearest agent, l_i = −(*other* agents in contact).
//! - *v3*: reward_i = G·(1 − ρ) + l_i·ρ, so rewards differ between agents that touch and agents that do not.
//! - *OpenAI*: every agent also collides with itself, its reward is G + l_i − 1, and all are handed the sum:
//!   N·G + Σ l − N.

use super::lockstep::Lockstep;
use super::nearest_agent;
use super::physics::{Body, Integrator, contact_square, square_distance};
use super::scene::{Law, MOVER, Pen, Rules, Scene, Sight, View, labels, mover, others};
use super::spec::{Convention, ParticleSpec};
use crate::base::lanes::Number;
use crate::base::wgsl::Constant;
use crate::env::api::{Headline, Mix, WgslRules};

/// Radius of an agent.
const SIZE: f64 = 0.15;
/// Words that an agent could say, if it said any.
const WORDS: usize = 2;
/// A landmark is covered by an agent nearer than this.
const COVERED: f64 = 0.1;

#[derive(Debug)]
struct Spread {
    landmarks: Sight,
    others: Sight,
    /// See [`contact_square`].
    contact: f64,
    /// Stage 0 of the curriculum charges nothing for collisions.
    charges: bool,
    convention: Convention,
}

pub(super) fn scene(spec: &ParticleSpec) -> Scene {
    let n = spec.agents;
    let agent = Body { collides: true, ..Body::agent(SIZE) };
    let landmarks = Sight::new(spec.near_landmarks, n);
    let others = Sight::new(spec.near_agents, n - 1);
    let mut obs = [labels("own", &["vx", "vy", "x", "y"]), landmarks.labels("landmark", &["dx", "dy"])].concat();
    obs.extend(others.labels_of_others(&["dx", "dy"]));
    obs.extend(others.labels_of_others(&["word_1", "word_2"]));
    let charges = spec.curriculum != Some(0);
    let rho = spec.local_ratio;
    let is_v3 = spec.convention == Convention::V3;
    Scene {
        bodies: [vec![agent; n as usize], vec![Body::landmark(0.05); n as usize]].concat(),
        integrator: if is_v3 { Integrator::PositionFirst } else { Integrator::VelocityFirst },
        roles: vec![mover("role.agent", obs)],
        role_of: vec![0; n as usize],
        means: vec![MOVER; n as usize],
        landmark_range: 1.0,
        goals: 0,
        goal_choices: 1,
        parts: if is_v3 {
            vec![("part.global", 1.0 - rho), ("part.local", rho)]
        } else {
            vec![("part.global", f64::from(n)), ("part.collisions", 1.0), ("part.self_collision", 1.0)]
        },
        mix: is_v3.then_some(Mix { team: 0, own: 1, names_own: true }),
        common_reward: !is_v3 || n == 1 || rho == 0.0 || !charges,
        headline: Headline::Mean { first: 0, count: n },
        idle_action: Some(0),
        rules: Box::new(Spread {
            landmarks,
            others,
            contact: contact_square(SIZE + SIZE),
            charges,
            convention: spec.convention,
        }),
    }
}

impl Spread {
    fn sees_all(&self) -> bool {
        self.landmarks.sees_all() && self.others.sees_all()
    }

    /// Places as seen by an agent that does not see all. The pen goes in and out, for the compiler keeps in memory what
    /// it lends to a call, and then also where nothing is called.
    #[inline(never)]
    fn observe_nearest<'a>(&self, p: &[[f64; 2]], landmarks: &[[f64; 2]], agent: usize, mut obs: Pen<'a>) -> Pen<'a> {
        obs.seen(self.landmarks, p[agent], landmarks, 0..landmarks.len());
        obs.seen(self.others, p[agent], p, others(agent, p.len()));
        obs
    }

    /// How many others `agent` is charged for touching.
    #[inline(always)]
    fn contacts<N: Number>(&self, p: &[[N; 2]], agent: usize) -> N {
        let mut contacts = N::of(0.0);
        for (other, &at) in p.iter().enumerate() {
            if other != agent && self.charges {
                contacts =
                    contacts + square_distance(p[agent], at).if_below(N::of(self.contact), N::of(1.0), N::of(0.0));
            }
        }
        contacts
    }
}

/// The least square of an agent's distance to `at`.
#[inline(always)]
fn least_square<N: Number>(agents: &[[N; 2]], at: [N; 2]) -> N {
    let mut least = square_distance(agents[0], at);
    for &agent in &agents[1..] {
        let square = square_distance(agent, at);
        least = square.if_below(least, square, least);
    }
    least
}

impl<N: Number> Law<N> for Spread {
    #[inline(always)]
    fn parts(&self, view: View<'_, N>, parts: &mut [N]) {
        let (n, none) = (view.p.len(), N::of(0.0));
        let mut global = none;
        for &at in view.landmarks {
            // The root of the least square is the least root.
            global = global - least_square(view.p, at).sqrt();
        }
        if self.convention == Convention::V3 {
            for (agent, parts) in parts.chunks_exact_mut(2).enumerate() {
                (parts[0], parts[1]) = (global, -self.contacts(view.p, agent));
            }
        } else {
            let mut all = none;
            for agent in 0..n {
                all = all + self.contacts(view.p, agent);
            }
            let themselves = N::of(if self.charges { n as f64 } else { 0.0 });
            for parts in parts.chunks_exact_mut(3) {
                parts.copy_from_slice(&[global, -all, -themselves]);
            }
        }
    }
}

impl Rules for Spread {
    #[inline(always)]
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        let (v, p) = (view.v[agent], view.p[agent]);
        obs.write([v[0], v[1], p[0], p[1]]);
        if self.sees_all() {
            obs.offsets(p, view.landmarks);
            obs.offsets(p, &view.p[..agent]);
            obs.offsets(p, &view.p[agent + 1..]);
            obs.zeros((view.p.len() - 1) * WORDS);
        } else {
            *obs = self.observe_nearest(view.p, view.landmarks, agent, obs.take());
            obs.zeros(self.others.slots() as usize * WORDS);
        }
    }

    fn wgsl(&self) -> Option<WgslRules> {
        let flag = |holds: bool| Constant::Word(u32::from(holds));
        self.sees_all().then(|| WgslRules {
            source: include_str!("../wgsl/spread.wgsl"),
            constants: vec![
                ("CONTACT", Constant::Real(self.contact as f32)),
                ("CHARGES", flag(self.charges)),
                ("IS_V3", flag(self.convention == Convention::V3)),
            ],
        })
    }

    fn lockstep(&self) -> Option<&dyn Lockstep> {
        self.sees_all().then_some(self)
    }

    fn succeeded(&self, view: View<'_>) -> bool {
        view.landmarks.iter().all(|&at| nearest_agent(view.p, at).1.sqrt() < COVERED)
    }

    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)> {
        (0..).zip(view.landmarks).map(|(landmark, &at)| (nearest_agent(view.p, at).0, landmark)).collect()
    }
}
