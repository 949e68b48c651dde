//! The joint value as a sheet over the plane of both agents' utilities.

use egui::{Align2, Painter, Rect, Sense, Shape, Stroke, Ui, Vec2, vec2};

use crate::view::api::ViewCtx;
use crate::view::numbers::{tick_text, ticks};
use crate::view::orbit::{Orbit, Point, Projection};
use crate::view::parts;
use crate::view::qtot::axes::unit;
use crate::view::qtot::mesh::{Lines, Sheet, sheet_mesh};
use crate::view::qtot::picture::{Dot, Picture, dot_under};

/// Half heights of the scene: as high as its rectangle allows, never so high that sheets become walls.
const HALF_HEIGHTS: std::ops::RangeInclusive<f32> = 0.4..=0.9;

/// Draws the sheet over `size`; the joint action under the pointer.
pub fn surface_ui(
    ui: &mut Ui,
    ctx: &ViewCtx<'_>,
    picture: &Picture<'_>,
    orbit: &mut Orbit,
    size: Vec2,
) -> Option<(u32, u32)> {
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK | Sense::DRAG);
    if orbit.interact(ui, &response) {
        ui.request_repaint();
    }
    let (labels, bar, room) = picture.cut(ctx, rect);
    // Room for the numbers and names outside the near edges of the floor.
    let margin = ctx.theme.size.tiny;
    let inner = room.shrink2(vec2(margin * 1.6, margin * 1.1));
    let height = half_height(inner);
    let view = orbit.project(inner, height);
    let painter = ui.painter_at(room);
    paint_box(&painter, ctx, picture, &view, height);
    let sheet = sheet_of(picture, height);
    let theme = ctx.theme;
    let ink = theme.on_agent();
    // Lines about a dozen points apart, whatever the number of points.
    let most = (view.scale / 12.0 * 2.0).clamp(6.0, 32.0) as u32;
    let stride = sheet.points.div_ceil(most).max(1);
    let lines = Lines { stride, inner: theme.fade(ink, 0.28), border: theme.fade(ink, 0.75) };
    let color = |z: f32| theme.viridis(f32::midpoint(z / height, 1.0));
    painter.add(sheet_mesh(&sheet, &view, color, Some(lines)));

    let mut dots: Vec<(f32, Dot)> = picture
        .joint_actions()
        .map(|(action, values)| {
            let point = scene_point(picture, values, height);
            let dot = Dot { action, at: view.screen(point), is_hidden: sheet.hides(point, view.toward) };
            (view.nearness(point), dot)
        })
        .collect();
    dots.sort_by(|a, b| a.0.total_cmp(&b.0));
    let dots: Vec<Dot> = dots.into_iter().map(|(_, dot)| dot).collect();
    let pointer = response.hover_pos().filter(|_| !response.dragged() && !parts::is_covered(ui));
    let hovered = dot_under(ctx, &dots, pointer);
    picture.paint_dots(&painter, ctx, &dots, hovered);
    let over = ui.painter_at(rect);
    picture.paint_labels(&over, ctx, labels, &dots);
    picture.paint_bar(&over, ctx, bar);
    if let Some(action) = hovered {
        picture.tip(ui, ctx, &response, action);
    }
    let text = ctx.texts.t("qtot.surface.described").to_owned();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
    hovered
}

/// Half height at which the scene, seen from its usual angle, fills `rect` both ways.
fn half_height(rect: Rect) -> f32 {
    let pitch = Vec2::angled(Orbit::default().pitch);
    let wanted = std::f32::consts::SQRT_2 * (rect.height() / rect.width().max(1.0) - pitch.y) / pitch.x;
    wanted.clamp(*HALF_HEIGHTS.start(), *HALF_HEIGHTS.end())
}

/// The sheet in scene coordinates.
fn sheet_of(picture: &Picture<'_>, height: f32) -> Sheet {
    let mixed = picture.mixed;
    let place = |value: f32, range: (f32, f32)| 2.0 * unit(value, range) - 1.0;
    let x = (place(mixed.x.0, picture.ranges.x), place(mixed.x.1, picture.ranges.x));
    let y = (place(mixed.y.0, picture.ranges.y), place(mixed.y.1, picture.ranges.y));
    let z = mixed.surface.iter().map(|&total| height * place(total, picture.ranges.z)).collect();
    Sheet { points: mixed.points, x, y, z }
}

fn scene_point(picture: &Picture<'_>, [one, two, total]: [f32; 3], height: f32) -> Point {
    let place = |value: f32, range: (f32, f32)| 2.0 * unit(value, range) - 1.0;
    let ranges = &picture.ranges;
    [place(one, ranges.x), place(two, ranges.y), height * place(total, ranges.z)]
}

/// Floor and back walls with their tick lines, numbers and names on the near edges of the floor.
fn paint_box(painter: &Painter, ctx: &ViewCtx<'_>, picture: &Picture<'_>, view: &Projection, height: f32) {
    let theme = ctx.theme;
    let quiet = Stroke::new(1.0, theme.line);
    let strong = Stroke::new(1.0, theme.line_strong);
    let line = |a: Point, b: Point, stroke: Stroke| {
        painter.line_segment([view.screen(a), view.screen(b)], stroke);
    };
    // A place `points` beyond an edge of the floor: as far at every size of the scene.
    let outside = |edge: Point, beyond: Point, points: f32| {
        let edge = view.screen(edge);
        edge + (view.screen(beyond) - edge).normalized() * points
    };
    // The far sides are where the eye is not.
    let far = [-view.toward[0].signum(), -view.toward[1].signum()];
    let near = [-far[0], -far[1]];
    let floor = -height;
    let count = (view.scale / 30.0).clamp(2.0, 6.0) as u32;
    for axis in 0..2_u32 {
        let range = if axis == 0 { picture.ranges.x } else { picture.ranges.y };
        // A point at `along` this axis and `across` the other.
        let point = |along: f32, across: f32, z: f32| if axis == 0 { [along, across, z] } else { [across, along, z] };
        let (far_side, near_side) = if axis == 0 { (far[1], near[1]) } else { (far[0], near[0]) };
        let (marks, step) = ticks((f64::from(range.0), f64::from(range.1)), count);
        for mark in marks {
            let along = 2.0 * unit(mark as f32, range) - 1.0;
            line(point(along, -1.0, floor), point(along, 1.0, floor), quiet);
            line(point(along, far_side, floor), point(along, far_side, height), quiet);
            line(point(along, near_side, floor), point(along, near_side * 1.03, floor), strong);
            let own_near = near[axis as usize];
            if along * own_near > 0.86 {
                // Both axes meet at the near corner: no number belongs to it alone.
                continue;
            }
            let text = tick_text(mark, step);
            let at =
                outside(point(along, near_side, floor), point(along, near_side * 1.5, floor), theme.size.tiny * 1.15);
            painter.text(at, Align2::CENTER_CENTER, text, theme.tiny(), theme.text_faint);
        }
        line(point(-1.0, near_side, floor), point(1.0, near_side, floor), strong);
        line(point(-1.0, far_side, floor), point(1.0, far_side, floor), strong);
        let (name, color) = picture.axis_name(ctx, axis);
        let at = outside(point(0.0, near_side, floor), point(0.0, near_side * 1.5, floor), theme.size.tiny * 3.3);
        painter.text(at, Align2::CENTER_CENTER, format!("{name} →"), theme.small(), color);
    }
    let heights = ticks((f64::from(picture.ranges.z.0), f64::from(picture.ranges.z.1)), 4).0;
    for mark in heights {
        let z = height * (2.0 * unit(mark as f32, picture.ranges.z) - 1.0);
        let corners = [[near[0], far[1], z], [far[0], far[1], z], [far[0], near[1], z]];
        painter.add(Shape::line(corners.map(|corner| view.screen(corner)).to_vec(), quiet));
    }
    for corner in [[near[0], far[1]], [far[0], far[1]], [far[0], near[1]]] {
        line([corner[0], corner[1], floor], [corner[0], corner[1], height], strong);
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;
    use tandem_core::experiment::snapshot::Mixed;

    use super::*;
    use crate::view::qtot::axes::Ranges;

    #[test]
    fn dots_lie_on_the_sheet_of_a_sum() {
        let utilities = (vec![0.0, 0.5, 1.0], vec![-1.0, 0.0, 1.0]);
        let table = utilities.0.iter().flat_map(|a| utilities.1.iter().map(move |b| a + b)).collect();
        let points = 9_u32;
        let at = |k: u32, low: f32, high: f32| low + (high - low) * k as f32 / (points - 1) as f32;
        let surface = (0..points * points).map(|k| at(k % points, 0.0, 1.0) + at(k / points, -1.0, 1.0)).collect();
        let mixed = Mixed {
            table,
            legal: vec![true; 9],
            utilities,
            x: (0.0, 1.0),
            y: (-1.0, 1.0),
            points,
            surface,
            ..Mixed::default()
        };
        let picture = Picture { mixed: &mixed, pair: (0, 1), ranges: Ranges::of(&mixed), marked: None };
        let sheet = sheet_of(&picture, 0.6);
        for (action, values) in picture.joint_actions() {
            let point = scene_point(&picture, values, 0.6);
            let height = sheet.height(point[0], point[1]).expect("a dot lies over the sheet");
            assert!((height - point[2]).abs() < 1e-5, "{action:?}");
        }
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(300.0, 200.0));
        let view = Orbit::default().project(rect, 0.6);
        assert!(!picture.joint_actions().any(|(_, v)| sheet.hides(scene_point(&picture, v, 0.6), view.toward)));
    }
}
