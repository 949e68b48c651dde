//! Which part of the plane is shown: all of it that matters, or the surroundings of one body.
//!
//! The camera eases to what it is asked for and then rests. Whatever must be seen is inside at every moment: it grows
//! with what leaves at once, and only shrinks slowly.

use egui::{Pos2, Rect, Vec2, pos2};

use crate::view::stage::motion::Moment;

/// Share of the way that is left which the camera goes in a second, to first order.
const HASTE: f64 = 10.0;
/// A frame's time where none was drawn just before, seconds.
const FRAME: f64 = 1.0 / 60.0;
/// Longest time that one frame may ease over, seconds.
const LONGEST_FRAME: f64 = 0.05;

/// What the camera is to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything.
    #[default]
    Fit,
    /// The selected agent and what is around it.
    Follow,
}

/// A camera over a plane whose y axis points up.
#[derive(Debug, Default)]
pub struct Camera {
    /// What it is to show.
    pub mode: Mode,
    shown: Option<Rect>,
    episode: Option<(u32, bool, u32, u32)>,
    drawn: f64,
    is_moving: bool,
}

/// How the plane lies on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    from: Pos2,
    to: Pos2,
    /// Points per unit of length.
    pub scale: f32,
}

impl Camera {
    /// Eases to `wanted` at time `now`; `needed` is inside already. Another episode is jumped to.
    pub fn follow(&mut self, now: f64, moment: Moment, wanted: Rect, needed: Rect) {
        let is_same = self.episode == Some(moment.episode);
        let since = if self.is_moving { (now - self.drawn).clamp(0.0, LONGEST_FRAME) } else { FRAME };
        let t = (since * HASTE).min(1.0) as f32;
        let shown = match self.shown.filter(|_| is_same) {
            Some(shown) => shown.lerp_towards(&wanted, t).union(needed),
            None => wanted.union(needed),
        };
        let goal = wanted.union(needed);
        let left = (shown.min - goal.min).abs().max_elem().max((shown.max - goal.max).abs().max_elem());
        self.is_moving = left > 2e-3 * goal.width().max(goal.height());
        self.shown = Some(if self.is_moving { shown } else { goal });
        self.episode = Some(moment.episode);
        self.drawn = now;
    }

    /// Whether the next frame differs from this one.
    pub fn is_moving(&self) -> bool {
        self.is_moving
    }

    /// The part that is shown, in the middle of `screen`.
    pub fn onto(&self, screen: Rect) -> Projection {
        Projection::of(self.shown.unwrap_or(UNIT), screen)
    }
}

/// The square in which particles start.
pub const UNIT: Rect = Rect { min: pos2(-1.0, -1.0), max: pos2(1.0, 1.0) };

impl Projection {
    /// `part` of the plane, as large as fits into `screen`, in its middle.
    pub fn of(part: Rect, screen: Rect) -> Self {
        let scale = (screen.width() / part.width()).min(screen.height() / part.height());
        Self { from: part.center(), to: screen.center(), scale }
    }

    /// A place on the screen.
    pub fn place(&self, at: Vec2) -> Pos2 {
        self.to + self.along(at - self.from.to_vec2())
    }

    /// A direction on the screen.
    pub fn along(&self, step: Vec2) -> Vec2 {
        Vec2::new(step.x, -step.y) * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(step: u32) -> Moment {
        Moment { episode: (1, false, 0, 3), step }
    }

    fn part(x: f32) -> Rect {
        UNIT.union(Rect::from_center_size(pos2(x, 0.0), Vec2::splat(0.3)))
    }

    #[test]
    fn what_must_be_seen_is_inside_while_the_camera_is_under_way() {
        let mut camera = Camera::default();
        let screen = Rect::from_min_size(pos2(10.0, 20.0), Vec2::new(400.0, 300.0));
        camera.follow(0.0, moment(0), UNIT, UNIT);
        for frame in 1..200_u32 {
            let x = if frame < 100 { 0.1 * frame as f32 } else { 10.0 };
            camera.follow(f64::from(frame) / 60.0, moment(frame), part(x), part(x));
            let at = camera.onto(screen).place(Vec2::new(x, 0.0));
            assert!(screen.contains(at), "frame {frame}: {at:?}");
        }
        assert!(!camera.is_moving(), "it rests once it has arrived");
    }

    #[test]
    fn it_comes_back_slowly_and_then_rests() {
        let mut camera = Camera::default();
        let screen = Rect::from_min_size(Pos2::ZERO, Vec2::splat(300.0));
        camera.follow(0.0, moment(0), part(8.0), part(8.0));
        let far = camera.onto(screen).scale;
        camera.follow(1.0, moment(1), UNIT, UNIT);
        assert!(camera.is_moving() && camera.onto(screen).scale < 150.0);
        let mut frames = 0;
        while camera.is_moving() {
            frames += 1;
            camera.follow(1.0 + f64::from(frames) / 60.0, moment(1), UNIT, UNIT);
            assert!(frames < 120, "it never rests");
        }
        assert!(far < 40.0 && camera.onto(screen).scale == 150.0);
    }

    #[test]
    fn another_episode_is_jumped_to_and_up_is_up() {
        let mut camera = Camera::default();
        camera.follow(0.0, moment(0), part(8.0), part(8.0));
        camera.follow(0.1, Moment { episode: (1, false, 0, 4), step: 0 }, UNIT, UNIT);
        assert!(!camera.is_moving());
        let shot = camera.onto(Rect::from_min_size(Pos2::ZERO, Vec2::splat(300.0)));
        assert_eq!(shot.place(Vec2::new(1.0, 1.0)), pos2(300.0, 0.0));
    }
}
