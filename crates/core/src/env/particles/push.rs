//! simple_push: an agent wants to reach its goal, an adversary that does not know which it is keeps it away; agents
//! collide.
//!
//! Observation of the agent: own velocity; the goal as seen from it; its own colour, which tells the goal; landmarks;
//! their colours; the adversary. Of the adversary: own velocity, landmarks, the agent. The agent is paid −(its distance
//! to the goal), the adversary −(its own) + (the agent's).

use super::physics::{Body, Integrator, distance};
use super::scene::{Law, MOVER, Pen, Rules, Scene, Tints, View, labels, mover, other_labels, slot_labels};
use crate::env::api::Headline;

const LANDMARKS: u32 = 2;
const ADVERSARY: usize = 0;
const AGENT: usize = 1;

#[derive(Debug)]
struct Push;

pub(super) fn scene() -> Scene {
    let agent = Body { collides: true, ..Body::agent(0.05) };
    let (offset, channels) = (["dx", "dy"], ["red", "green", "blue"]);
    let (velocity, landmarks) = (labels("own", &["vx", "vy"]), slot_labels("landmark", &offset, LANDMARKS));
    let of_agent = [
        velocity.clone(),
        labels("goal", &offset),
        labels("own", &channels),
        landmarks.clone(),
        slot_labels("landmark", &channels, LANDMARKS),
        other_labels("adversary", &offset, 1..=1),
    ];
    Scene {
        bodies: [vec![agent; 2], vec![Body::landmark(0.05); LANDMARKS as usize]].concat(),
        integrator: Integrator::PositionFirst,
        roles: vec![
            mover("role.adversary", [velocity, landmarks, other_labels("good", &offset, 1..=1)].concat()),
            mover("role.good", of_agent.concat()),
        ],
        role_of: vec![0, 1],
        means: vec![MOVER; 2],
        landmark_range: 1.0,
        goals: 1,
        goal_choices: LANDMARKS,
        parts: vec![("part.goal_distance", 1.0), ("part.opponent_distance", 1.0)],
        mix: None,
        common_reward: false,
        headline: Headline::Mean { first: AGENT as u32, count: 1 },
        idle_action: Some(0),
        rules: Box::new(Push),
    }
}

/// Landmark k is bright in channel k + 1.
fn landmark_colour(landmark: usize) -> [f64; 3] {
    std::array::from_fn(|channel| if channel == landmark + 1 { 0.9 } else { 0.1 })
}

fn agent_colour(goal: usize) -> [f64; 3] {
    std::array::from_fn(|channel| if channel == goal + 1 { 0.75 } else { 0.25 })
}

impl Law<f64> for Push {
    fn parts(&self, view: View<'_>, parts: &mut [f64]) {
        let goal = view.landmarks[view.goal(0)];
        let [adversary, agent] = [ADVERSARY, AGENT].map(|agent| distance(view.p[agent], goal));
        parts.copy_from_slice(&[-adversary, agent, -agent, 0.0]);
    }
}

impl Rules for Push {
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        let p = view.p[agent];
        obs.write(view.v[agent]);
        if agent == AGENT {
            obs.offset(p, view.landmarks[view.goal(0)]);
            obs.write(agent_colour(view.goal(0)));
        }
        view.landmarks.iter().for_each(|&landmark| obs.offset(p, landmark));
        if agent == AGENT {
            (0..LANDMARKS as usize).for_each(|landmark| obs.write(landmark_colour(landmark)));
        }
        obs.offset(p, view.p[1 - agent]);
    }

    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)> {
        let goal = view.goals[0] as u32;
        vec![(ADVERSARY as u32, goal), (AGENT as u32, goal)]
    }

    fn tints(&self, view: View<'_>) -> Tints {
        let f32s = |colour: [f64; 3]| Some(colour.map(|c| c as f32));
        Tints {
            agents: vec![None, f32s(agent_colour(view.goal(0)))],
            landmarks: (0..LANDMARKS as usize).map(|landmark| f32s(landmark_colour(landmark))).collect(),
        }
    }
}
