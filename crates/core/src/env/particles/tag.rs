//! simple_tag: slow hunters ("adversaries") chase fast prey among obstacles; everything collides.
//!
//! Observation: own velocity and place; obstacles and other agents as seen from it; velocities of the *other prey*. A
//! contact of hunter and prey pays every hunter 10 and costs that prey 10; prey that leaves the arena is charged more
//! the farther it goes. Where agents see only the nearest others, each slot has a velocity, zeros for hunters.

use super::physics::{Body, Integrator, contact_square, square_distance};
use super::scene::{Law, MOVER, Pen, Rules, Scene, Sight, View, labels, mover, other_labels, others};
use super::spec::ParticleSpec;
use crate::base::float::Real;
use crate::env::api::{Headline, Label};

/// Radius of a hunter.
const HUNTER: f64 = 0.075;
/// Radius of prey.
const PREY: f64 = 0.05;
/// What a contact pays and costs.
const CONTACT: f64 = 10.0;
/// Speed and strength of the prey in the stages of the curriculum.
const STAGES: [f64; 3] = [0.5, 0.75, 1.0];

#[derive(Debug)]
struct Tag {
    hunters: usize,
    obstacles: Sight,
    others: Sight,
    /// Slots of velocities where all others are seen.
    sees_all: bool,
    /// See [`contact_square`].
    contact: f64,
}

pub(super) fn scene(spec: &ParticleSpec) -> Scene {
    let (hunters, prey) = (spec.adversaries, spec.good);
    let n = hunters + prey;
    let factor = spec.curriculum.map_or(1.0, |stage| STAGES[(stage as usize).min(STAGES.len() - 1)]);
    let hunter = Body { collides: true, accel: 3.0, max_speed: 1.0, ..Body::agent(HUNTER) };
    let fast = Body { collides: true, accel: 4.0 * factor, max_speed: 1.3 * factor, ..Body::agent(PREY) };
    let obstacle = Body { collides: true, ..Body::landmark(0.2) };
    let mut bodies = vec![hunter; hunters as usize];
    bodies.resize(n as usize, fast);
    bodies.resize((n + spec.obstacles) as usize, obstacle);
    let obstacles = Sight::new(spec.near_landmarks, spec.obstacles);
    let others = Sight::new(spec.near_agents, n - 1);
    let sees_all = spec.near_agents.is_none();
    let seen = |other_hunters: u32| -> Vec<Label> {
        let mut obs = labels("own", &["vx", "vy", "x", "y"]);
        obs.extend(obstacles.labels("obstacle", &["dx", "dy"]));
        if sees_all {
            obs.extend(other_labels("hunter", &["dx", "dy"], 1..=other_hunters));
            obs.extend(other_labels("prey", &["dx", "dy"], other_hunters + 1..=n - 1));
            obs.extend(other_labels("prey", &["vx", "vy"], other_hunters + 1..=n - 1));
        } else {
            obs.extend(others.labels_of_others(&["dx", "dy"]));
            obs.extend(others.labels_of_others(&["vx", "vy"]));
        }
        obs
    };
    let roles = vec![mover("role.hunter", seen(hunters - 1)), mover("role.prey", seen(hunters))];
    Scene {
        bodies,
        integrator: Integrator::PositionFirst,
        roles,
        role_of: (0..n).map(|agent| u32::from(agent >= hunters)).collect(),
        means: vec![MOVER; n as usize],
        landmark_range: 0.9,
        goals: 0,
        goal_choices: 1,
        parts: vec![("part.contact", 1.0), ("part.bound_x", 1.0), ("part.bound_y", 1.0)],
        mix: None,
        common_reward: false,
        headline: Headline::Mean { first: 0, count: hunters },
        idle_action: Some(0),
        rules: Box::new(Tag {
            hunters: hunters as usize,
            obstacles,
            others,
            sees_all,
            contact: contact_square(HUNTER + PREY),
        }),
    }
}

/// What being at coordinate ±z costs.
fn bound(z: f64) -> f64 {
    if z < 0.9 {
        0.0
    } else if z < 1.0 {
        (z - 0.9) * 10.0
    } else {
        Real::min(Real::exp(2.0 * z - 2.0), 10.0)
    }
}

impl Tag {
    /// Hunters in contact with the prey at `prey`.
    fn hunters_at(&self, view: View<'_>, prey: [f64; 2]) -> usize {
        view.p[..self.hunters].iter().filter(|&&hunter| square_distance(hunter, prey) < self.contact).count()
    }
}

impl Law<f64> for Tag {
    fn parts(&self, view: View<'_>, parts: &mut [f64]) {
        let (of_hunters, of_prey) = parts.split_at_mut(3 * self.hunters);
        let mut contacts = 0;
        for (parts, &prey) in of_prey.chunks_exact_mut(3).zip(&view.p[self.hunters..]) {
            let caught = self.hunters_at(view, prey);
            contacts += caught;
            parts.copy_from_slice(&[0.0 - CONTACT * caught as f64, -bound(prey[0].abs()), -bound(prey[1].abs())]);
        }
        for parts in of_hunters.chunks_exact_mut(3) {
            parts.copy_from_slice(&[CONTACT * contacts as f64, 0.0, 0.0]);
        }
    }
}

impl Rules for Tag {
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        let (v, p) = (view.v[agent], view.p[agent]);
        obs.write([v[0], v[1], p[0], p[1]]);
        obs.seen(self.obstacles, p, view.landmarks, 0..view.landmarks.len());
        let n = view.p.len();
        obs.seen(self.others, p, view.p, others(agent, n));
        if self.sees_all {
            others(agent, n).filter(|&other| other >= self.hunters).for_each(|other| obs.write(view.v[other]));
        } else {
            self.others.each(p, view.p, others(agent, n), |seen| match seen {
                Some(other) if other >= self.hunters => obs.write(view.v[other]),
                _ => obs.zeros(2),
            });
        }
    }

    fn succeeded(&self, view: View<'_>) -> bool {
        view.p[self.hunters..].iter().all(|&prey| self.hunters_at(view, prey) > 0)
    }

    fn pairs(&self, _view: View<'_>) -> Vec<(u32, u32)> {
        Vec::new()
    }
}
