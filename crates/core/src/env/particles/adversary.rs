//! simple_adversary: good agents know which landmark is the goal, one adversary does not; nothing collides.
//!
//! Nobody sees velocities or its own place. Observation of a good agent: the goal, all landmarks, all other agents, as
//! seen from it; of the adversary: landmarks and good agents. The adversary is paid −(its distance to the goal), every
//! good agent −(distance of the nearest good agent) + (distance of the adversary).

use super::nearest_agent;
use super::physics::{Body, Integrator, distance};
use super::scene::{Law, MOVER, Pen, Rules, Scene, Sight, View, labels, mover, other_labels, others};
use super::spec::ParticleSpec;
use crate::env::api::Headline;

#[derive(Debug)]
struct Adversary {
    landmarks: Sight,
    others: Sight,
}

pub(super) fn scene(spec: &ParticleSpec) -> Scene {
    let n = spec.agents;
    let landmarks = Sight::new(spec.near_landmarks, n);
    let others = Sight::new(spec.near_agents, n);
    let seen = landmarks.labels("landmark", &["dx", "dy"]);
    let offset = ["dx", "dy"];
    let (of_adversary, of_good) = if spec.near_agents.is_some() {
        (others.labels_of_others(&offset), others.labels_of_others(&offset))
    } else {
        let of_good = [other_labels("adversary", &offset, 1..=1), other_labels("good", &offset, 2..=n)].concat();
        (other_labels("good", &offset, 1..=n), of_good)
    };
    let roles = vec![
        mover("role.adversary", [seen.clone(), of_adversary].concat()),
        mover("role.good", [labels("goal", &offset), seen, of_good].concat()),
    ];
    Scene {
        bodies: [vec![Body::agent(0.15); n as usize + 1], vec![Body::landmark(0.08); n as usize]].concat(),
        integrator: Integrator::PositionFirst,
        roles,
        role_of: (0..=n).map(|agent| u32::from(agent > 0)).collect(),
        means: vec![MOVER; n as usize + 1],
        landmark_range: 1.0,
        goals: 1,
        goal_choices: n,
        parts: vec![("part.goal_distance", 1.0), ("part.opponent_distance", 1.0)],
        mix: None,
        common_reward: false,
        headline: Headline::Mean { first: 1, count: n },
        idle_action: Some(0),
        rules: Box::new(Adversary { landmarks, others }),
    }
}

impl Law<f64> for Adversary {
    fn parts(&self, view: View<'_>, parts: &mut [f64]) {
        let goal = view.landmarks[view.goal(0)];
        let away = distance(view.p[0], goal);
        let nearest = nearest_agent(&view.p[1..], goal).1.sqrt();
        for (agent, parts) in parts.chunks_exact_mut(2).enumerate() {
            parts.copy_from_slice(&if agent == 0 { [-away, 0.0] } else { [-nearest, away] });
        }
    }
}

impl Rules for Adversary {
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        let p = view.p[agent];
        if agent > 0 {
            obs.offset(p, view.landmarks[view.goal(0)]);
        }
        obs.seen(self.landmarks, p, view.landmarks, 0..view.landmarks.len());
        obs.seen(self.others, p, view.p, others(agent, view.p.len()));
    }

    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)> {
        let goal = view.goal(0);
        vec![(0, goal as u32), (1 + nearest_agent(&view.p[1..], view.landmarks[goal]).0, goal as u32)]
    }
}
