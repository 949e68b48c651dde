//! The camera that circles a scene: parallel projection, turned by drag or one finger, zoomed by wheel or pinch.
//!
//! World axes: x and y span the floor, z is up; the scene fills [−1, 1]² × [−h, h]. Parallel projection keeps equal
//! steps of an axis equal on screen, so heights can be compared by eye, and it makes the order in which a height field
//! must be painted a matter of the sign of two numbers ([`Projection::toward`]).

use egui::{Pos2, Rect, Response, Ui, Vec2, pos2, vec2};

/// A point or direction of the scene.
pub type Point = [f32; 3];

/// Where the eye is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Angle of the eye around the vertical, radians; 0 looks along −x.
    pub yaw: f32,
    /// Height of the eye above the floor, radians.
    pub pitch: f32,
    /// Magnification; 1 fits the scene into its rectangle.
    pub zoom: f32,
}

/// An [`Orbit`] at a rectangle: where points of the scene fall on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    right: Point,
    up: Point,
    /// Direction from the scene to the eye, unit length.
    pub toward: Point,
    center: Pos2,
    /// Screen points per unit of the scene.
    pub scale: f32,
}

impl Default for Orbit {
    /// From above the corner of both lowest values, a little to one side so that the axes are not mirror images.
    fn default() -> Self {
        Self { yaw: 3.82, pitch: 0.5, zoom: 1.0 }
    }
}

impl Orbit {
    /// Turns and zooms by what happened over `response`; true when anything changed.
    ///
    /// The wheel zooms this view only and is then taken from the page, so that nothing behind it scrolls.
    pub fn interact(&mut self, ui: &Ui, response: &Response) -> bool {
        let before = *self;
        if response.double_clicked() {
            *self = Self::default();
        }
        if response.dragged() {
            self.turn(response.drag_delta());
        }
        if response.contains_pointer() {
            let zoom = ui.input_mut(|input| {
                let pinch = input.zoom_delta();
                let wheel = input.smooth_scroll_delta().y;
                if wheel != 0.0 {
                    input.smooth_scroll_delta.y = 0.0;
                }
                pinch * (1.0 + wheel * 0.003)
            });
            self.zoom = (self.zoom * zoom).clamp(0.6, 4.0);
        }
        *self != before
    }

    /// Turns by a movement of the pointer in screen points: the scene follows the finger.
    pub fn turn(&mut self, delta: Vec2) {
        use std::f32::consts::TAU;
        self.yaw = (self.yaw - delta.x * 0.009).rem_euclid(TAU);
        self.pitch = (self.pitch + delta.y * 0.007).clamp(0.06, 1.5);
    }

    /// Projects a scene of half height `half_height` into `rect`. The fit does not depend on the yaw, so that turning
    /// does not make the scene swell and shrink.
    pub fn project(&self, rect: Rect, half_height: f32) -> Projection {
        // `angled` is (cos, sin): the drawing needs no other trigonometry.
        let yaw = Vec2::angled(self.yaw);
        let pitch = Vec2::angled(self.pitch);
        let radius = std::f32::consts::SQRT_2;
        let half = vec2(radius, radius * pitch.y + half_height * pitch.x);
        let fit = (rect.width() / (2.0 * half.x)).min(rect.height() / (2.0 * half.y));
        Projection {
            right: [-yaw.y, yaw.x, 0.0],
            up: [-pitch.y * yaw.x, -pitch.y * yaw.y, pitch.x],
            toward: [pitch.x * yaw.x, pitch.x * yaw.y, pitch.y],
            center: rect.center(),
            scale: fit.max(1.0) * self.zoom,
        }
    }
}

impl Projection {
    /// Where `point` falls on the screen.
    pub fn screen(&self, point: Point) -> Pos2 {
        pos2(self.center.x + self.scale * dot(point, self.right), self.center.y - self.scale * dot(point, self.up))
    }

    /// Nearness to the eye: larger is nearer.
    pub fn nearness(&self, point: Point) -> f32 {
        dot(point, self.toward)
    }
}

fn dot(a: Point, b: Point) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECT: Rect = Rect { min: Pos2::ZERO, max: Pos2 { x: 400.0, y: 300.0 } };

    #[test]
    fn every_corner_of_the_scene_stays_inside_at_any_angle() {
        for step in 0..64 {
            for pitch in [0.06, 0.4, 0.9, 1.5] {
                let projection = Orbit { yaw: step as f32 * 0.1, pitch, zoom: 1.0 }.project(RECT, 0.6);
                for corner in 0..8 {
                    let sign = |bit: u32| if corner & bit == 0 { -1.0 } else { 1.0 };
                    let at = projection.screen([sign(1), sign(2), 0.6 * sign(4)]);
                    assert!(RECT.expand(0.01).contains(at), "{at:?} at {step}, {pitch}");
                }
            }
        }
    }

    #[test]
    fn higher_points_are_drawn_higher_and_the_near_corner_is_nearest() {
        let projection = Orbit::default().project(RECT, 0.6);
        assert!(projection.screen([0.0, 0.0, 0.5]).y < projection.screen([0.0, 0.0, -0.5]).y);
        let near = projection.nearness([-1.0, -1.0, 0.0]);
        for other in [[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]] {
            assert!(near > projection.nearness(other));
        }
    }

    #[test]
    fn the_scene_follows_the_finger() {
        let mut orbit = Orbit::default();
        let near = [-1.0, -1.0, 0.0];
        let before = orbit.project(RECT, 0.6).screen(near);
        orbit.turn(vec2(10.0, 0.0));
        assert!(orbit.project(RECT, 0.6).screen(near).x > before.x);
    }
}
