//! simple_reference: two agents that move and speak; each knows only the landmark that the *other* must reach.
//!
//! Observation of agent i: own velocity; landmarks as seen from it; colour of the other's goal; the word the other just
//! said. An action is a movement and a word: word·5 + movement. l_i = −(distance of the *other* agent and its goal),
//! G = (l_0 + l_1)/2, reward_i = G·(1 − ρ) + l_i·ρ. Nothing collides.

use super::physics::{Body, Integrator, distance};
use super::scene::{Law, MOVES, Means, Pen, Rules, Scene, Tints, View, labels, slot_labels, word_labels};
use crate::env::api::{Headline, Label, Mix, Role};

const LANDMARKS: usize = 3;
/// Words to choose from: more than there are landmarks.
const WORDS: usize = 10;

#[derive(Debug)]
struct Reference;

pub(super) fn scene(local_ratio: f64) -> Scene {
    let act = |action: usize| Label::new(&format!("{}_say", MOVES[action % 5]), &[(action / 5) as i32 + 1]);
    let mut obs = [labels("own", &["vx", "vy"]), slot_labels("landmark", &["dx", "dy"], LANDMARKS as u32)].concat();
    obs.extend(labels("others_goal", &["red", "green", "blue"]));
    obs.extend(word_labels("partner", WORDS as u32));
    let role = Role { id: "role.agent".to_owned(), actions: (0..5 * WORDS).map(act).collect(), obs };
    Scene {
        bodies: [vec![Body::agent(0.05); 2], vec![Body::landmark(0.05); LANDMARKS]].concat(),
        integrator: Integrator::PositionFirst,
        roles: vec![role],
        role_of: vec![0; 2],
        means: vec![Means { moves: true, words: WORDS as u32 }; 2],
        landmark_range: 1.0,
        goals: 2,
        goal_choices: LANDMARKS as u32,
        parts: vec![("part.global", 1.0 - local_ratio), ("part.local", local_ratio)],
        mix: Some(Mix { team: 0, own: 1, names_own: true }),
        common_reward: local_ratio == 0.0,
        headline: Headline::Mean { first: 0, count: 2 },
        idle_action: Some(0),
        rules: Box::new(Reference),
    }
}

fn colour(landmark: usize) -> [f64; 3] {
    std::array::from_fn(|channel| if channel == landmark { 0.75 } else { 0.25 })
}

impl Law<f64> for Reference {
    fn parts(&self, view: View<'_>, parts: &mut [f64]) {
        let local: [f64; 2] = std::array::from_fn(|i| -distance(view.p[1 - i], view.landmarks[view.goal(i)]));
        let global = local.iter().sum::<f64>() / 2.0;
        parts.copy_from_slice(&[global, local[0], global, local[1]]);
    }
}

impl Rules for Reference {
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        let p = view.p[agent];
        obs.write(view.v[agent]);
        view.landmarks.iter().for_each(|&landmark| obs.offset(p, landmark));
        obs.write(colour(view.goal(agent)));
        obs.numbers(&view.said[(1 - agent) * WORDS..][..WORDS]);
    }

    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)> {
        vec![(1, view.goals[0] as u32), (0, view.goals[1] as u32)]
    }

    fn tints(&self, _view: View<'_>) -> Tints {
        let landmarks = (0..LANDMARKS).map(|landmark| Some(colour(landmark).map(|c| c as f32))).collect();
        Tints { agents: Vec::new(), landmarks }
    }
}
