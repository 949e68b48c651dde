//! What a scenario is made of: bodies, roles, reward parts, and [`Rules`] that read a [`View`] of the state.
//!
//! A scenario never touches the physics and the physics knows no scenario. Vectors are written in f64 and rounded to
//! f32 last, as the reference does.

use std::ops::RangeInclusive;

use super::MAX_AGENTS;
use super::lockstep::Lockstep;
use super::physics::{Body, Integrator, distance};
use crate::base::lanes::Number;
use crate::env::api::{Headline, Label, Mix, Others, Role, WgslRules};

/// A scenario, prepared.
#[derive(Debug)]
pub(super) struct Scene {
    /// Agents, then landmarks.
    pub(super) bodies: Vec<Body>,
    pub(super) integrator: Integrator,
    pub(super) roles: Vec<Role>,
    /// Each agent's role `[n]`.
    pub(super) role_of: Vec<u32>,
    /// What each agent may do `[n]`.
    pub(super) means: Vec<Means>,
    /// Landmarks start within ±this.
    pub(super) landmark_range: f64,
    /// Goals drawn at a reset, each below `goal_choices`.
    pub(super) goals: u32,
    pub(super) goal_choices: u32,
    pub(super) parts: Vec<(&'static str, f64)>,
    pub(super) mix: Option<Mix>,
    pub(super) common_reward: bool,
    pub(super) headline: Headline,
    /// The action that does nothing, where it is the same for all.
    pub(super) idle_action: Option<u32>,
    pub(super) rules: Box<dyn Rules>,
}

/// What an agent does with its actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Means {
    pub(super) moves: bool,
    /// Words it can say; 0: it is silent.
    pub(super) words: u32,
}

/// A state, by meaning; or eight, in lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a, N = f64> {
    /// Landmark numbers.
    pub(super) goals: &'a [i32],
    /// Places of the agents `[n]`.
    pub(super) p: &'a [[N; 2]],
    /// Places of the landmarks.
    pub(super) landmarks: &'a [[N; 2]],
    /// Velocities of the agents `[n]`.
    pub(super) v: &'a [[N; 2]],
    /// What each says `[n, words]`.
    pub(super) said: &'a [N],
}

/// What a scenario pays; in lanes where it is written for any number.
pub(super) trait Law<N: Number>: std::fmt::Debug + Send + Sync {
    /// Raw reward parts of every agent `[n, parts]`. Weighted and summed in their order they are the reference's
    /// reward, bit by bit.
    fn parts(&self, view: View<'_, N>, parts: &mut [N]);
}

/// What a scenario says about a state.
pub(super) trait Rules: Law<f64> {
    /// The observation of `agent`, exactly as long as its role says.
    fn observe(&self, view: View<'_>, agent: usize, obs: &mut Pen<'_>);

    /// The same in lanes, if it is written so.
    fn lockstep(&self) -> Option<&dyn Lockstep> {
        None
    }

    /// What a shader is told besides what all scenarios have, if there is one.
    fn wgsl(&self) -> Option<WgslRules> {
        None
    }

    /// Whether the episode has come to its end by success.
    fn succeeded(&self, _view: View<'_>) -> bool {
        false
    }

    /// Agent and landmark whose distance is paid for, for the picture.
    fn pairs(&self, view: View<'_>) -> Vec<(u32, u32)>;

    /// Colours that are part of the rules: of an agent, of a landmark.
    fn tints(&self, _view: View<'_>) -> Tints {
        Tints::default()
    }
}

/// Colours of agents and landmarks; empty where they have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Tints {
    pub(super) agents: Vec<Option<[f32; 3]>>,
    pub(super) landmarks: Vec<Option<[f32; 3]>>,
}

impl View<'_> {
    pub(super) fn goal(&self, index: usize) -> usize {
        self.goals[index] as usize
    }
}

/// Writes a vector from its beginning, rounding to f32.
#[derive(Debug)]
pub(super) struct Pen<'a> {
    rest: &'a mut [f32],
}

impl<'a> Pen<'a> {
    pub(super) fn new(vector: &'a mut [f32]) -> Self {
        Self { rest: vector }
    }

    /// What is left to write, taken out of this one.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Self {
        Self { rest: std::mem::take(&mut self.rest) }
    }

    #[inline(always)]
    pub(super) fn write<const K: usize>(&mut self, numbers: [f64; K]) {
        let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(K);
        for (slot, number) in head.iter_mut().zip(numbers) {
            *slot = number as f32;
        }
        self.rest = rest;
    }

    pub(super) fn numbers(&mut self, numbers: &[f64]) {
        for &number in numbers {
            self.write([number]);
        }
    }

    /// `to` as seen from `from`.
    #[inline(always)]
    pub(super) fn offset(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.write([to[0] - from[0], to[1] - from[1]]);
    }

    /// All of `to` as seen from `from`.
    #[inline(always)]
    pub(super) fn offsets(&mut self, from: [f64; 2], to: &[[f64; 2]]) {
        let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(2 * to.len());
        for (slot, to) in head.as_chunks_mut().0.iter_mut().zip(to) {
            *slot = [(to[0] - from[0]) as f32, (to[1] - from[1]) as f32];
        }
        self.rest = rest;
    }

    /// The places of a sight as seen from `from`, zeros in slots without one; `indices` as in [`Sight::each`].
    #[inline(always)]
    pub(super) fn seen(
        &mut self,
        sight: Sight,
        from: [f64; 2],
        places: &[[f64; 2]],
        indices: impl Iterator<Item = usize>,
    ) {
        sight.each(from, places, indices, |seen| match seen {
            Some(index) => self.offset(from, places[index]),
            None => self.zeros(2),
        });
    }

    #[inline(always)]
    pub(super) fn zeros(&mut self, count: usize) {
        let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(count);
        head.fill(0.0);
        self.rest = rest;
    }
}

/// Which of several places an agent sees: all in their order, or the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    nearest: Option<u32>,
    count: u32,
}

impl Sight {
    /// Of `count` places, `nearest` are seen, or all.
    pub(super) fn new(nearest: Option<u32>, count: u32) -> Self {
        Self { nearest, count }
    }

    /// Places in an observation.
    pub(super) fn slots(self) -> u32 {
        self.nearest.unwrap_or(self.count)
    }

    /// Whether all places are seen, in their order.
    pub(super) fn sees_all(self) -> bool {
        self.nearest.is_none()
    }

    /// Calls `show` for every slot with the index of the place in it, `None` in slots without one. `indices` are those
    /// of the places there are. Equally near ones come in their order.
    #[inline(always)]
    pub(super) fn each(
        self,
        from: [f64; 2],
        places: &[[f64; 2]],
        indices: impl Iterator<Item = usize>,
        mut show: impl FnMut(Option<usize>),
    ) {
        if self.sees_all() {
            indices.for_each(|index| show(Some(index)));
            return;
        }
        let mut order = [(0.0, 0); MAX_AGENTS];
        let mut count = 0;
        for index in indices {
            let entry = (distance(places[index], from), index);
            let at = order[..count].iter().position(|other: &(f64, usize)| entry.0 < other.0).unwrap_or(count);
            order.copy_within(at..count, at + 1);
            order[at] = entry;
            count += 1;
        }
        let near = order[..count].iter().map(|&(_, index)| Some(index));
        near.chain(std::iter::repeat(None)).take(self.slots() as usize).for_each(show);
    }

    /// `ids` once for every slot, numbered from 1; ids of nearest ones begin with `near_`.
    pub(super) fn labels(self, what: &str, quantities: &[&str]) -> Vec<Label> {
        let near = if self.nearest.is_some() { "near_" } else { "" };
        slot_labels(&format!("{near}{what}"), quantities, self.slots())
    }

    /// The same of other agents, who are named by their own numbers where all are seen.
    pub(super) fn labels_of_others(self, quantities: &[&str]) -> Vec<Label> {
        match self.nearest {
            Some(_) => self.labels("other", quantities),
            None => other_labels("other", quantities, 1..=self.count),
        }
    }
}

/// The agents but `agent`, of `n`.
#[inline(always)]
pub(super) fn others(agent: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..agent).chain(agent + 1..n)
}

/// Labels without numbers: `obs.own.vx` and so on.
pub(super) fn labels(what: &str, quantities: &[&str]) -> Vec<Label> {
    quantities.iter().map(|quantity| Label::new(&format!("obs.{what}.{quantity}"), &[])).collect()
}

/// The same for each of `count` things, numbered from 1.
pub(super) fn slot_labels(what: &str, quantities: &[&str], count: u32) -> Vec<Label> {
    let of = |slot: u32| {
        quantities.iter().map(move |quantity| Label::new(&format!("obs.{what}.{quantity}"), &[slot as i32]))
    };
    (1..=count).flat_map(of).collect()
}

/// The same for each of the other agents at `places` of all others in their order, from 1.
pub(super) fn other_labels(what: &str, quantities: &[&str], places: RangeInclusive<u32>) -> Vec<Label> {
    let of = |place: u32| {
        let id = |quantity: &&str| format!("obs.{what}.{quantity}");
        let label = move |quantity| Label::of_other(&id(quantity), &[place as i32], Others::Ascending);
        quantities.iter().map(label)
    };
    places.flat_map(of).collect()
}

/// The words of one thing, numbered from 1.
pub(super) fn word_labels(what: &str, words: u32) -> Vec<Label> {
    let id = format!("obs.{what}.word");
    (1..=words as i32).map(|word| Label::new(&id, &[word])).collect()
}

/// Names of the movements.
pub(super) const MOVES: [&str; 5] = ["action.coast", "action.left", "action.right", "action.down", "action.up"];

/// An agent that moves and says nothing.
pub(super) const MOVER: Means = Means { moves: true, words: 0 };

/// A role of movers.
pub(super) fn mover(id: &str, obs: Vec<Label>) -> Role {
    Role { id: id.to_owned(), actions: MOVES.map(|id| Label::new(id, &[])).to_vec(), obs }
}
