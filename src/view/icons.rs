//! Icons as strokes and polygons: sharp at every size, and no font has to have them.

use std::f32::consts::TAU;

use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};

/// A picture on a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Run, play.
    Play,
    /// Pause, hold.
    Pause,
    /// One small step.
    Step,
    /// One large step.
    Skip,
    /// Back to the start.
    Restart,
    /// Draw a seed.
    Dice,
    /// Share a link.
    Link,
    /// Light theme.
    Sun,
    /// Dark theme.
    Moon,
    /// As the system does.
    Auto,
    /// Close.
    Close,
    /// More to the left.
    ChevronLeft,
    /// Folded.
    ChevronRight,
    /// Unfolded, a menu.
    ChevronDown,
    /// Keep on the page.
    Pin,
    /// Undo.
    Undo,
    /// Settings.
    Sliders,
    /// Done.
    Check,
    /// Something is wrong.
    Warning,
}

/// The arrow of a menu, in place of egui's own glyph.
pub fn unfold(ui: &egui::Ui, rect: Rect, visuals: &egui::style::WidgetVisuals, _is_open: bool) {
    paint(ui.painter(), Icon::ChevronDown, rect, 10.0, visuals.fg_stroke.color);
}

/// Paints `icon` into the middle of `rect`, `size` wide.
pub fn paint(painter: &Painter, icon: Icon, rect: Rect, size: f32, color: Color32) {
    let pen = Pen { painter, center: rect.center(), unit: size / 16.0, color };
    match icon {
        Icon::Play => pen.polygon(&[(-4.5, -6.0), (6.0, 0.0), (-4.5, 6.0)]),
        Icon::Pause => {
            pen.block((-5.0, -5.5), (-1.5, 5.5));
            pen.block((1.5, -5.5), (5.0, 5.5));
        }
        Icon::Step => {
            pen.polygon(&[(-5.5, -5.0), (2.5, 0.0), (-5.5, 5.0)]);
            pen.block((3.5, -5.0), (5.5, 5.0));
        }
        Icon::Skip => {
            pen.polygon(&[(-7.0, -5.0), (-0.8, 0.0), (-7.0, 5.0)]);
            pen.polygon(&[(-0.8, -5.0), (5.4, 0.0), (-0.8, 5.0)]);
            pen.block((5.4, -5.0), (7.2, 5.0));
        }
        Icon::Restart => {
            pen.polygon(&[(6.0, -5.5), (-3.0, 0.0), (6.0, 5.5)]);
            pen.block((-5.5, -5.5), (-3.4, 5.5));
        }
        Icon::Undo => pen.turn(0.38, 1.12),
        Icon::Dice => {
            pen.frame((-6.0, -6.0), (6.0, 6.0), 2.5);
            for (x, y) in [(-2.8, -2.8), (2.8, -2.8), (0.0, 0.0), (-2.8, 2.8), (2.8, 2.8)] {
                pen.dot(x, y, 1.25);
            }
        }
        Icon::Link => {
            pen.line(&[(-3.6, 1.2), (3.8, -3.4)]);
            pen.line(&[(-3.6, 1.2), (3.8, 4.8)]);
            pen.dot(-4.4, 0.8, 2.4);
            pen.dot(4.6, -4.0, 2.4);
            pen.dot(4.6, 5.2, 2.4);
        }
        Icon::Sun => {
            pen.dot(0.0, 0.0, 3.0);
            for ray in 0..8 {
                pen.line(&[polar(ray as f32 / 8.0, 5.0), polar(ray as f32 / 8.0, 7.0)]);
            }
        }
        Icon::Moon => {
            // The sickle between two circles.
            let outer = (0..=20).map(|i| polar(0.12 + 0.76 * i as f32 / 20.0, 6.2));
            let inner = (0..=20).rev().map(|i| polar(0.14 + 0.72 * i as f32 / 20.0, 5.0)).map(|(x, y)| (x + 2.4, y));
            let points: Vec<(f32, f32)> = outer.chain(inner).collect();
            pen.line(&[&points[..], &points[..1]].concat());
        }
        Icon::Auto => {
            pen.ring(6.0);
            let half: Vec<(f32, f32)> = (0..=16).map(|i| polar(0.25 + 0.5 * i as f32 / 16.0, 6.0)).collect();
            pen.polygon(&half);
        }
        Icon::Close => {
            pen.line(&[(-4.0, -4.0), (4.0, 4.0)]);
            pen.line(&[(-4.0, 4.0), (4.0, -4.0)]);
        }
        Icon::ChevronLeft => pen.line(&[(2.0, -4.0), (-2.0, 0.0), (2.0, 4.0)]),
        Icon::ChevronRight => pen.line(&[(-2.0, -4.0), (2.0, 0.0), (-2.0, 4.0)]),
        Icon::ChevronDown => pen.line(&[(-4.0, -2.0), (0.0, 2.0), (4.0, -2.0)]),
        Icon::Pin => {
            pen.line(&[(-4.5, 1.0), (4.5, 1.0)]);
            pen.line(&[(-3.0, -6.0), (3.0, -6.0)]);
            pen.line(&[(-2.0, -6.0), (-3.0, 1.0)]);
            pen.line(&[(2.0, -6.0), (3.0, 1.0)]);
            pen.line(&[(0.0, 1.0), (0.0, 7.0)]);
        }
        Icon::Sliders => {
            for (y, x) in [(-4.5, 2.0), (0.0, -3.0), (4.5, 3.5)] {
                pen.line(&[(-6.5, y), (6.5, y)]);
                pen.dot(x, y, 2.1);
            }
        }
        Icon::Check => pen.line(&[(-5.0, 0.5), (-1.5, 4.0), (5.5, -4.0)]),
        Icon::Warning => {
            pen.line(&[(0.0, -6.0), (6.8, 5.5), (-6.8, 5.5), (0.0, -6.0)]);
            pen.line(&[(0.0, -2.2), (0.0, 1.6)]);
            pen.dot(0.0, 3.6, 0.9);
        }
    }
}

/// Draws in sixteenths of the icon's size around its middle.
struct Pen<'a> {
    painter: &'a Painter,
    center: Pos2,
    unit: f32,
    color: Color32,
}

impl Pen<'_> {
    fn at(&self, (x, y): (f32, f32)) -> Pos2 {
        self.center + vec2(x, y) * self.unit
    }

    fn stroke(&self) -> Stroke {
        Stroke::new((1.5 * self.unit).max(1.2), self.color)
    }

    fn polygon(&self, points: &[(f32, f32)]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        self.painter.add(Shape::convex_polygon(points, self.color, Stroke::NONE));
    }

    fn line(&self, points: &[(f32, f32)]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        self.painter.add(Shape::line(points, self.stroke()));
    }

    fn block(&self, min: (f32, f32), max: (f32, f32)) {
        let rect = Rect::from_min_max(self.at(min), self.at(max));
        self.painter.rect_filled(rect, CornerRadius::same(1), self.color);
    }

    fn frame(&self, min: (f32, f32), max: (f32, f32), radius: f32) {
        let rect = Rect::from_min_max(self.at(min), self.at(max));
        self.painter.rect_stroke(rect, radius * self.unit, self.stroke(), StrokeKind::Middle);
    }

    fn dot(&self, x: f32, y: f32, radius: f32) {
        self.painter.circle_filled(self.at((x, y)), radius * self.unit, self.color);
    }

    fn ring(&self, radius: f32) {
        self.painter.circle_stroke(self.center, radius * self.unit, self.stroke());
    }

    /// An arc with an arrow head at its end, from `start` to `end` in turns (clockwise from the right).
    fn turn(&self, start: f32, end: f32) {
        let arc: Vec<(f32, f32)> = (0..=24).map(|i| polar(start + (end - start) * i as f32 / 24.0, 5.4)).collect();
        self.line(&arc);
        let (tip, back) = (start - 0.11, start + 0.03);
        self.polygon(&[polar(tip, 5.4), polar(back, 2.2), polar(back, 8.6)]);
    }
}

/// The point `r` from the middle, `turns` clockwise from the right.
fn polar(turns: f32, r: f32) -> (f32, f32) {
    let at = Vec2::angled(TAU * turns) * r;
    (at.x, at.y)
}

/// Room for an icon of `size` at the left of `rect`, `pad` from its edge.
pub fn left_slot(rect: Rect, size: f32, pad: f32) -> Rect {
    Rect::from_center_size(pos2(rect.left() + pad + size / 2.0, rect.center().y), vec2(size, size))
}
