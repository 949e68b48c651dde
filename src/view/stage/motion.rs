//! Where agents are drawn: side by side when they share a cell, gliding from one env step to the next.
//!
//! A movement lasts a fraction of a second and then nothing moves: the page may go idle.

use egui::{Vec2, emath::easing, vec2};

/// Longest movement between two env steps, seconds.
const GLIDE_SECS: f64 = 0.2;
/// How long an arrival at a pellet is shown, seconds.
const PULSE_SECS: f64 = 0.6;

/// A disc, in cells: centre from the top left of the grid, and radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Centre.
    pub at: Vec2,
    /// Radius.
    pub radius: f32,
}

/// The moment a picture shows. A picture of the next env step of the same episode is glided to, any other jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Run, kind of stage and number of its episode.
    pub episode: (u32, bool, u32, u32),
    /// Env step in it.
    pub step: u32,
}

/// Discs under way.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    moment: Option<Moment>,
    from: Vec<Disc>,
    to: Vec<Disc>,
    started: f64,
    secs: f64,
    /// Agents that reached a pellet in the env step shown.
    arrived: Vec<bool>,
}

/// A disc for each agent at its cell of a grid `width` cells wide; agents that share a cell stand side by side.
pub fn discs(cells: &[u32], width: u32) -> Vec<Disc> {
    (0..)
        .zip(cells)
        .map(|(agent, cell)| {
            let sharing = cells.iter().filter(|other| *other == cell).count() as u32;
            let place = cells[..agent].iter().filter(|other| *other == cell).count() as u32;
            let (offset, radius) = slot(place, sharing);
            let corner = vec2((cell % width) as f32, (cell / width) as f32);
            Disc { at: corner + vec2(0.5, 0.5) + offset, radius }
        })
        .collect()
}

impl Motion {
    /// Takes up the newest picture at time `now`.
    pub fn follow(&mut self, now: f64, moment: Moment, discs: Vec<Disc>, arrived: &[bool]) {
        if self.moment == Some(moment) && self.to == discs {
            return;
        }
        let is_next = self.moment.is_some_and(|before| {
            before.episode == moment.episode && before.step + 1 == moment.step && self.to.len() == discs.len()
        });
        if is_next {
            // A fast stage glides faster, so that each env step is seen to arrive.
            self.secs = (0.7 * (now - self.started)).clamp(0.04, GLIDE_SECS);
            self.from = self.discs_at(now);
        } else {
            self.secs = 0.0;
            self.from.clone_from(&discs);
        }
        self.to = discs;
        self.started = now;
        self.moment = Some(moment);
        self.arrived = arrived.to_vec();
    }

    /// The discs at time `now`.
    pub fn discs_at(&self, now: f64) -> Vec<Disc> {
        let t = if self.secs > 0.0 { ((now - self.started) / self.secs).clamp(0.0, 1.0) as f32 } else { 1.0 };
        let t = easing::cubic_in_out(t);
        let between = |(from, to): (&Disc, &Disc)| Disc {
            at: from.at + (to.at - from.at) * t,
            radius: from.radius + (to.radius - from.radius) * t,
        };
        self.from.iter().zip(&self.to).map(between).collect()
    }

    /// How far an arrival of `agent` has been shown, 0 to 1; `None` when there is nothing to show.
    pub fn pulse(&self, agent: usize, now: f64) -> Option<f32> {
        let has_arrived = self.arrived.get(agent).copied().unwrap_or(false);
        let t = (now - self.started - self.secs) / PULSE_SECS;
        (has_arrived && (0.0..1.0).contains(&t)).then_some(t as f32)
    }

    /// Whether the next frame differs from this one.
    pub fn is_moving(&self, now: f64) -> bool {
        let rest = if self.arrived.contains(&true) { PULSE_SECS } else { 0.0 };
        now < self.started + self.secs + rest
    }
}

/// Offset from the cell's centre and radius of the `place`-th of `sharing` discs in one cell.
fn slot(place: u32, sharing: u32) -> (Vec2, f32) {
    match sharing {
        0 | 1 => (Vec2::ZERO, 0.27),
        2 => (vec2(if place == 0 { -0.22 } else { 0.22 }, 0.0), 0.2),
        _ => {
            let side = if sharing <= 4 { 2 } else { 3 };
            let step = 0.84 / side as f32;
            let along = |k: u32| (k as f32 - (side - 1) as f32 / 2.0) * step;
            (vec2(along(place % side), along(place / side)), 0.4 * step)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(step: u32) -> Moment {
        Moment { episode: (1, false, 0, 3), step }
    }

    #[test]
    fn agents_in_one_cell_stand_apart_and_inside_it() {
        for sharing in 1..=8_u32 {
            let discs = discs(&vec![5; sharing as usize], 4);
            for (a, disc) in discs.iter().enumerate() {
                let from_center = (disc.at - vec2(1.5, 1.5)).abs();
                assert!(from_center.max_elem() + disc.radius <= 0.5, "{sharing} agents: {disc:?}");
                for other in &discs[..a] {
                    assert!((disc.at - other.at).length() >= disc.radius + other.radius, "{sharing} agents overlap");
                }
            }
        }
    }

    #[test]
    fn the_next_env_step_is_glided_to_and_then_nothing_moves() {
        let mut motion = Motion::default();
        motion.follow(10.0, moment(0), discs(&[0], 4), &[false]);
        assert!(!motion.is_moving(10.0));
        motion.follow(10.25, moment(1), discs(&[1], 4), &[false]);
        assert_eq!(motion.discs_at(10.25)[0].at.x, 0.5);
        let middle = motion.discs_at(10.33)[0].at.x;
        assert!(middle > 0.5 && middle < 1.5);
        assert!(motion.is_moving(10.33));
        assert_eq!(motion.discs_at(11.0)[0].at.x, 1.5);
        assert!(!motion.is_moving(11.0));
    }

    #[test]
    fn another_episode_is_jumped_to() {
        let mut motion = Motion::default();
        motion.follow(0.0, moment(4), discs(&[15], 4), &[false]);
        motion.follow(0.3, Moment { episode: (1, false, 0, 4), step: 0 }, discs(&[0], 4), &[false]);
        assert_eq!(motion.discs_at(0.3)[0].at, vec2(0.5, 0.5));
        assert!(!motion.is_moving(0.3));
    }

    #[test]
    fn an_arrival_pulses_once() {
        let mut motion = Motion::default();
        motion.follow(0.0, moment(0), discs(&[0, 1], 4), &[false, false]);
        motion.follow(1.0, moment(1), discs(&[1, 2], 4), &[true, false]);
        assert!(motion.pulse(0, 1.3).is_some());
        assert_eq!(motion.pulse(1, 1.3), None);
        assert_eq!(motion.pulse(0, 2.0), None);
    }
}
