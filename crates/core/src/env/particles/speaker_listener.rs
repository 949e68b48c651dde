//! simple_speaker_listener: the speaker sees the goal's colour and cannot move, the listener moves and does not know
//! the goal; nothing collides.
//!
//! Observation of the speaker: the colour. Of the listener: own velocity, landmarks as seen from it, the word just
//! said. Both are paid −(*squared* distance of listener and goal). Where the speaker stands matters for nothing.

use super::physics::{Body, Integrator, square_distance};
use super::scene::{Law, MOVER, Means, Pen, Rules, Scene, Tints, View, labels, mover, slot_labels, word_labels};
use crate::env::api::{Headline, Label, Role};

/// Landmarks, colours and words.
const LANDMARKS: usize = 3;
const SPEAKER: usize = 0;
const LISTENER: usize = 1;

#[derive(Debug)]
struct SpeakerListener;

pub(super) fn scene() -> Scene {
    let speaker = Body { moves: false, ..Body::agent(0.075) };
    let words = LANDMARKS as u32;
    let says = (1..=words as i32).map(|word| Label::new("action.say", &[word])).collect();
    let mut heard = [labels("own", &["vx", "vy"]), slot_labels("landmark", &["dx", "dy"], words)].concat();
    heard.extend(word_labels("speaker", words));
    Scene {
        bodies: [vec![speaker, Body::agent(0.075)], vec![Body::landmark(0.04); LANDMARKS]].concat(),
        integrator: Integrator::PositionFirst,
        roles: vec![
            Role { id: "role.speaker".to_owned(), actions: says, obs: labels("goal", &["red", "green", "blue"]) },
            mover("role.listener", heard),
        ],
        role_of: vec![0, 1],
        means: vec![Means { moves: false, words }, MOVER],
        landmark_range: 1.0,
        goals: 1,
        goal_choices: words,
        parts: vec![("part.goal_square", 1.0)],
        mix: None,
        common_reward: true,
        headline: Headline::Mean { first: 0, count: 2 },
        // An action of the speaker's is always a word.
        idle_action: None,
        rules: Box::new(SpeakerListener),
    }
}

/// Mostly its own channel.
fn colour(landmark: usize) -> [f64; 3] {
    std::array::from_fn(|channel| if channel == landmark { 0.65 } else { 0.15 })
}

impl Law<f64> for SpeakerListener {
    fn parts(&self, view: View<'_>, parts: &mut [f64]) {
        parts.fill(-square_distance(view.p[LISTENER], view.landmarks[view.goal(0)]));
    }
}

impl Rules for SpeakerListener {
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>) {
        if agent == SPEAKER {
            obs.write(colour(view.goal(0)));
            return;
        }
        let p = view.p[LISTENER];
        obs.write(view.v[LISTENER]);
        view.landmarks.iter().for_each(|&landmark| obs.offset(p, landmark));
        obs.numbers(&view.said[..LANDMARKS]);
    }

    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)> {
        vec![(LISTENER as u32, view.goals[0] as u32)]
    }

    fn tints(&self, _view: View<'_>) -> Tints {
        let landmarks = (0..LANDMARKS).map(|landmark| Some(colour(landmark).map(|c| c as f32))).collect();
        Tints { agents: Vec::new(), landmarks }
    }
}
