//! The joint value as a heat map with level lines: the same picture from straight above, easier to read on a phone.

use egui::{Align2, Mesh, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use crate::view::api::ViewCtx;
use crate::view::numbers::{tick_text, ticks};
use crate::view::parts;
use crate::view::qtot::axes::unit;
use crate::view::qtot::contour::level_lines;
use crate::view::qtot::mesh::push_line;
use crate::view::qtot::picture::{Dot, Picture, dot_under};

/// Draws the contour plot over `size`; the joint action under the pointer.
pub fn flat_ui(ui: &mut Ui, ctx: &ViewCtx<'_>, picture: &Picture<'_>, size: Vec2) -> Option<(u32, u32)> {
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let theme = ctx.theme;
    let (labels, bar, room) = picture.cut(ctx, rect);
    let tick_width = theme.size.tiny * 3.2;
    let foot = theme.size.tiny * 1.4 + theme.size.small * 1.4 + 6.0;
    let plot =
        Rect::from_min_max(room.min + vec2(tick_width + theme.size.small * 1.4, 6.0), room.max - vec2(8.0, foot));
    if !plot.is_positive() {
        return None;
    }
    let painter = ui.painter_at(rect);
    let ranges = &picture.ranges;
    let at = |one: f32, two: f32| {
        pos2(plot.left() + unit(one, ranges.x) * plot.width(), plot.bottom() - unit(two, ranges.y) * plot.height())
    };
    painter.rect_filled(plot, 0.0, theme.cell);
    ui.painter_at(plot).add(heat(ctx, picture, at));
    painter.rect_stroke(plot, 0.0, Stroke::new(1.0, theme.line_strong), StrokeKind::Outside);

    let count = |length: f32| (length / 56.0).clamp(2.0, 7.0) as u32;
    let (marks, step) = ticks((f64::from(ranges.x.0), f64::from(ranges.x.1)), count(plot.width()));
    for mark in marks {
        let x = at(mark as f32, ranges.y.0).x;
        painter.vline(x, plot.bottom()..=plot.bottom() + 3.0, Stroke::new(1.0, theme.line_strong));
        let place = pos2(x, plot.bottom() + 5.0);
        painter.text(place, Align2::CENTER_TOP, tick_text(mark, step), theme.tiny(), theme.text_faint);
    }
    let (marks, step) = ticks((f64::from(ranges.y.0), f64::from(ranges.y.1)), count(plot.height()));
    for mark in marks {
        let y = at(ranges.x.0, mark as f32).y;
        painter.hline(plot.left() - 3.0..=plot.left(), y, Stroke::new(1.0, theme.line_strong));
        let place = pos2(plot.left() - 6.0, y);
        painter.text(place, Align2::RIGHT_CENTER, tick_text(mark, step), theme.tiny(), theme.text_faint);
    }
    let (name, color) = picture.axis_name(ctx, 0);
    let below = pos2(plot.center().x, room.bottom());
    painter.text(below, Align2::CENTER_BOTTOM, format!("{name} →"), theme.small(), color);
    let (name, color) = picture.axis_name(ctx, 1);
    let beside = pos2(rect.left(), plot.top());
    painter.text(beside, Align2::LEFT_TOP, name, theme.small(), color);
    painter.text(beside + vec2(0.0, theme.size.small * 1.3), Align2::LEFT_TOP, "↑", theme.small(), color);

    let dots: Vec<Dot> = picture
        .joint_actions()
        .map(|(action, [one, two, _])| Dot { action, at: at(one, two), is_hidden: false })
        .collect();
    let hovered = dot_under(ctx, &dots, response.hover_pos().filter(|_| !parts::is_covered(ui)));
    picture.paint_dots(&ui.painter_at(plot.expand(8.0)), ctx, &dots, hovered);
    picture.paint_labels(&painter, ctx, labels, &dots);
    picture.paint_bar(&painter, ctx, bar);
    if let Some(action) = hovered {
        picture.tip(ui, ctx, &response, action);
    }
    let text = ctx.texts.t("qtot.contour.described").to_owned();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
    hovered
}

/// Colours and level lines as one mesh. `at` maps utilities to the screen.
fn heat(ctx: &ViewCtx<'_>, picture: &Picture<'_>, at: impl Fn(f32, f32) -> egui::Pos2) -> Mesh {
    let mixed = picture.mixed;
    let n = mixed.points;
    let cells = (n - 1) as f32;
    let along = |k: f32, (low, high): (f32, f32)| low + (high - low) * k / cells;
    let mut mesh = Mesh::default();
    for j in 0..n {
        for i in 0..n {
            let total = mixed.surface[(j * n + i) as usize];
            let place = at(along(i as f32, mixed.x), along(j as f32, mixed.y));
            mesh.colored_vertex(place, picture.color(ctx, total));
        }
    }
    for j in 0..n - 1 {
        for i in 0..n - 1 {
            let [a, b] = [j * n + i, (j + 1) * n + i];
            mesh.add_triangle(a, a + 1, b + 1);
            mesh.add_triangle(a, b + 1, b);
        }
    }
    let range = (f64::from(picture.ranges.z.0), f64::from(picture.ranges.z.1));
    for level in ticks(range, 9).0 {
        // Dark lines on the bright half of the scale, bright ones on the dark half.
        let ink = ctx.theme.ink_on(picture.color(ctx, level as f32));
        for [from, to] in level_lines(n, &mixed.surface, level as f32) {
            let place = |p: Vec2| at(along(p.x, mixed.x), along(p.y, mixed.y));
            push_line(&mut mesh, place(from), place(to), ctx.theme.fade(ink, 0.55), 1.1);
        }
    }
    mesh
}
