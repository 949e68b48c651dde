//! How pictures follow one another: bodies glide from one env step to the next, and stand side by side in a shared cell.
//!
//! A movement lasts a fraction of a second and then nothing moves: the page may go idle.

use egui::{Vec2, emath::easing, vec2};

/// Longest movement between two env steps, seconds.
const GLIDE_SECS: f64 = 0.2;
/// How long an arrival is shown, seconds.
const PULSE_SECS: f64 = 0.6;

/// A body that glides. Lengths are the world's: cells from the top left of a grid, or those of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// The same body has the same one from env step to env step.
    pub key: u32,
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

/// The time of a movement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glide {
    moment: Option<Moment>,
    started: f64,
    secs: f64,
}

impl Glide {
    /// Takes up the picture of `moment` at time `now`. Returns whether it is the next env step: then a movement of at
    /// most `longest` seconds begins.
    pub fn follow(&mut self, now: f64, moment: Moment, longest: f64) -> bool {
        let is_next =
            self.moment.is_some_and(|before| before.episode == moment.episode && before.step + 1 == moment.step);
        // A fast stage glides faster, so that each env step is seen to arrive.
        self.secs = if is_next { (0.7 * (now - self.started)).clamp(0.04, longest) } else { 0.0 };
        self.started = now;
        self.moment = Some(moment);
        is_next
    }

    /// Whether this moment's picture has been taken up.
    pub fn shows(&self, moment: Moment) -> bool {
        self.moment == Some(moment)
    }

    /// Share of the movement's time that has passed at `now`, 0 to 1.
    pub fn share(&self, now: f64) -> f32 {
        if self.secs > 0.0 { ((now - self.started) / self.secs).clamp(0.0, 1.0) as f32 } else { 1.0 }
    }

    /// Whether the movement goes on at `now`.
    pub fn is_moving(&self, now: f64) -> bool {
        now < self.ends()
    }

    fn ends(&self) -> f64 {
        self.started + self.secs
    }
}

/// Bodies under way.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    glide: Glide,
    from: Vec<Disc>,
    to: Vec<Disc>,
    /// The first bodies' arrivals in the env step shown: at a pellet, at each other.
    arrived: Vec<bool>,
}

/// A disc for each of the `cells` of a grid `width` cells wide, keyed by its place in the list; those that share a cell
/// stand side by side, one alone has radius `alone`.
pub fn discs(cells: &[u32], width: u32, alone: f32) -> Vec<Disc> {
    (0_u32..)
        .zip(cells)
        .map(|(key, cell)| {
            let sharing = cells.iter().filter(|other| *other == cell).count() as u32;
            let place = cells[..key as usize].iter().filter(|other| *other == cell).count() as u32;
            let (offset, radius) = slot(place, sharing, alone);
            let corner = vec2((cell % width) as f32, (cell / width) as f32);
            Disc { key, at: corner + vec2(0.5, 0.5) + offset, radius }
        })
        .collect()
}

impl Motion {
    /// Takes up the newest picture at time `now`. A body that was not there before appears where it is.
    pub fn follow(&mut self, now: f64, moment: Moment, discs: Vec<Disc>, arrived: &[bool]) {
        if self.glide.shows(moment) && self.to == discs {
            return;
        }
        let before = self.discs_at(now);
        self.from.clone_from(&discs);
        if self.glide.follow(now, moment, GLIDE_SECS) {
            for disc in &mut self.from {
                *disc = before.iter().find(|known| known.key == disc.key).copied().unwrap_or(*disc);
            }
        }
        self.to = discs;
        self.arrived = arrived.to_vec();
    }

    /// The bodies at time `now`, in the order of the picture.
    pub fn discs_at(&self, now: f64) -> Vec<Disc> {
        let t = easing::cubic_in_out(self.glide.share(now));
        let between = |(from, to): (&Disc, &Disc)| Disc {
            key: to.key,
            at: from.at + (to.at - from.at) * t,
            radius: from.radius + (to.radius - from.radius) * t,
        };
        self.from.iter().zip(&self.to).map(between).collect()
    }

    /// How far an arrival of `agent` has been shown, 0 to 1; `None` when there is nothing to show.
    pub fn pulse(&self, agent: usize, now: f64) -> Option<f32> {
        let has_arrived = self.arrived.get(agent).copied().unwrap_or(false);
        let t = (now - self.glide.ends()) / PULSE_SECS;
        (has_arrived && (0.0..1.0).contains(&t)).then_some(t as f32)
    }

    /// Whether the next frame differs from this one.
    pub fn is_moving(&self, now: f64) -> bool {
        let rest = if self.arrived.contains(&true) { PULSE_SECS } else { 0.0 };
        now < self.glide.ends() + rest
    }
}

/// Offset from the cell's centre and radius of the `place`-th of `sharing` discs in one cell.
fn slot(place: u32, sharing: u32, alone: f32) -> (Vec2, f32) {
    match sharing {
        0 | 1 => (Vec2::ZERO, alone),
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
            let discs = discs(&vec![5; sharing as usize], 4, 0.27);
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
        motion.follow(10.0, moment(0), discs(&[0], 4, 0.27), &[false]);
        assert!(!motion.is_moving(10.0));
        motion.follow(10.25, moment(1), discs(&[1], 4, 0.27), &[false]);
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
        motion.follow(0.0, moment(4), discs(&[15], 4, 0.27), &[false]);
        motion.follow(0.3, Moment { episode: (1, false, 0, 4), step: 0 }, discs(&[0], 4, 0.27), &[false]);
        assert_eq!(motion.discs_at(0.3)[0].at, vec2(0.5, 0.5));
        assert!(!motion.is_moving(0.3));
    }

    #[test]
    fn an_arrival_pulses_once() {
        let mut motion = Motion::default();
        motion.follow(0.0, moment(0), discs(&[0, 1], 4, 0.27), &[false, false]);
        motion.follow(1.0, moment(1), discs(&[1, 2], 4, 0.27), &[true, false]);
        assert!(motion.pulse(0, 1.3).is_some());
        assert_eq!(motion.pulse(1, 1.3), None);
        assert_eq!(motion.pulse(0, 2.0), None);
    }

    #[test]
    fn bodies_keep_their_key_when_another_leaves() {
        let mut motion = Motion::default();
        let body = |key, x| Disc { key, at: vec2(x, 0.0), radius: 0.2 };
        motion.follow(0.0, moment(0), vec![body(0, 0.0), body(7, 5.0), body(9, 8.0)], &[]);
        motion.follow(1.0, moment(1), vec![body(0, 0.0), body(9, 9.0), body(11, 3.0)], &[]);
        let shown = motion.discs_at(1.1);
        assert!(shown[1].key == 9 && shown[1].at.x > 8.0 && shown[1].at.x < 9.0, "{shown:?}");
        assert_eq!(shown[2].at.x, 3.0, "a new body appears where it is");
    }
}
