//! Small pieces that several views share: messages in place of pictures, facts with tooltips, switches, colour bars.

use egui::containers::scroll_area::{DragScroll, ScrollSource};
use egui::style::ScrollAnimation;
use egui::{
    Align2, Color32, CornerRadius, Mesh, Painter, Popup, PopupAnchor, Rect, RectAlign, Response, ScrollArea, Sense,
    Shape,
};
use egui::{Stroke, StrokeKind, Tooltip, Ui, Vec2, pos2, vec2};

use crate::view::icons::{self, Icon};
use crate::view::theme::Theme;

/// Fills `size` with a sentence instead of a picture, so that nothing is ever an empty rectangle.
pub fn message(ui: &mut Ui, theme: &Theme, size: Vec2, text: &str) {
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let width = (rect.width() - 2.0 * theme.size.pad).clamp(40.0, 420.0);
    let galley = ui.painter().layout(text.to_owned(), theme.body(), theme.text_dim, width);
    let place = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
    ui.painter().galley(place.min, galley, theme.text_dim);
    let info = text.to_owned();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &info));
}

/// A row that may be longer than its room: then the wheel moves it, and an edge that fades
/// into the `ground`, with an arrow, says that there is more.
pub fn long_row(ui: &mut Ui, theme: &Theme, ground: Color32, id: &str, add_contents: impl FnOnce(&mut Ui)) {
    ui.scope(|ui| {
        ui.style_mut().always_scroll_the_only_direction = true;
        let row = ScrollArea::horizontal().id_salt(id).auto_shrink([false, true]).scroll_source(scrolled_by(theme));
        let shown = row.show(ui, |ui| ui.horizontal(add_contents));
        if let Some(row) = ui.ctx().read_response(shown.id.with("area")) {
            goes_across(ui, &row);
        }
        let (room, offset) = (shown.inner_rect, shown.state.clamped_offset().x);
        let room = Rect::from_min_size(room.min, vec2(room.width(), shown.content_size.y));
        let beyond = shown.content_size.x - room.width() - offset;
        for (is_more, edge, inward, icon) in [
            (offset > 1.0, room.left(), 1.0, Icon::ChevronLeft),
            (beyond > 1.0, room.right(), -1.0, Icon::ChevronRight),
        ] {
            if is_more {
                // The arrow has ground of its own: on a letter it would be read as one.
                let [inner, outer] =
                    [pos2(edge + inward * 40.0, room.bottom()), pos2(edge + inward * 16.0, room.top())];
                paint_fade(ui.painter(), Rect::from_two_pos(outer, inner), ground, inward > 0.0);
                let own = Rect::from_two_pos(outer, pos2(edge, room.bottom()));
                ui.painter().rect_filled(own, 0.0, ground);
                icons::paint(
                    ui.painter(),
                    icon,
                    Rect::from_center_size(own.center(), Vec2::splat(10.0)),
                    10.0,
                    theme.text_dim,
                );
            }
        }
    });
}

/// How contents are scrolled. Where fingers are expected they drag from the first touch on; by itself egui would let the
/// first one pass, to learn of the screen from it.
pub fn scrolled_by(theme: &Theme) -> ScrollSource {
    let drag = if theme.is_for_fingers() { DragScroll::Always } else { DragScroll::OnTouch };
    ScrollSource { drag, ..ScrollSource::default() }
}

/// Whether a finger that drags `response` moves it across. One that went up or down first scrolls what is around
/// `response` instead, as it would beside it.
pub fn goes_across(ui: &Ui, response: &Response) -> bool {
    /// Way after which it is decided, points: as far as a tap may slip.
    const SLIP: f32 = 6.0;
    let id = response.id.with("goes across");
    let (way, step, speed) = ui.input(|input| {
        let pointer = &input.pointer;
        let way = pointer.press_origin().zip(pointer.latest_pos()).map_or(Vec2::ZERO, |(from, to)| to - from);
        (way, pointer.delta().y, pointer.velocity().y)
    });
    let decided: Option<bool> = ui.data(|data| data.get_temp(id));
    if !response.dragged() {
        ui.data_mut(|data| data.remove_temp::<bool>(id));
        if response.drag_stopped() && decided == Some(false) {
            ui.scroll_with_delta(vec2(0.0, speed * 0.15));
        }
        return false;
    }
    let across = match decided {
        None if way.length() < SLIP => return false,
        None => way.x.abs() >= way.y.abs(),
        Some(across) => across,
    };
    ui.data_mut(|data| data.insert_temp(id, across));
    if !across {
        // The first of it catches up with the finger.
        let moved = if decided.is_none() { way.y } else { step };
        ui.scroll_with_delta_animation(vec2(0.0, moved), ScrollAnimation::none());
    }
    across
}

/// From `color` to nothing, to the right or to the left.
fn paint_fade(painter: &Painter, rect: Rect, color: Color32, to_the_right: bool) {
    let ends = if to_the_right { [color, Color32::TRANSPARENT] } else { [Color32::TRANSPARENT, color] };
    let mut mesh = Mesh::default();
    for (x, color) in [(rect.left(), ends[0]), (rect.right(), ends[1])] {
        mesh.colored_vertex(pos2(x, rect.top()), color);
        mesh.colored_vertex(pos2(x, rect.bottom()), color);
    }
    mesh.add_triangle(0, 1, 2);
    mesh.add_triangle(1, 2, 3);
    painter.add(mesh);
}

/// A tooltip at the pointer, at once: for painted things that have no widget of their own.
pub fn tip_now<R>(ui: &Ui, response: &Response, add_contents: impl FnOnce(&mut Ui) -> R) {
    tip(ui, response, PopupAnchor::Pointer, add_contents);
}

/// A tooltip above what is pointed at, at once: it covers neither that nor the buttons below.
pub fn tip_above<R>(ui: &Ui, response: &Response, add_contents: impl FnOnce(&mut Ui) -> R) {
    tip(ui, response, response.into(), add_contents);
}

fn tip<R>(ui: &Ui, response: &Response, anchor: PopupAnchor, add_contents: impl FnOnce(&mut Ui) -> R) {
    let id = response.id.with("tip now");
    let is_at_pointer = matches!(anchor, PopupAnchor::Pointer);
    let mut tooltip = Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, anchor);
    if is_at_pointer {
        tooltip = tooltip.gap(14.0);
    } else {
        let others = &[RectAlign::TOP_END, RectAlign::RIGHT_START, RectAlign::LEFT_START];
        tooltip.popup = tooltip.popup.align(RectAlign::TOP_START).align_alternatives(others);
    }
    tooltip.show(|ui| {
        ui.set_max_width(300.0);
        ui.spacing_mut().interact_size.y = 0.0;
        ui.spacing_mut().item_spacing.y = 2.0;
        add_contents(ui)
    });
}

/// Whether a menu or another popup is open, so that painted things keep their tooltips to themselves.
pub fn is_covered(ui: &Ui) -> bool {
    Popup::is_any_open(ui.ctx())
}

/// A quiet label and its value, with a tooltip that says what the number is.
pub fn fact(ui: &mut Ui, theme: &Theme, label: &str, value: &str, color: Color32, tip: &str) -> Response {
    let mut job = egui::text::LayoutJob::default();
    let format = |font, color| egui::text::TextFormat { font_id: font, color, ..Default::default() };
    job.append(label, 0.0, format(theme.small(), theme.text_dim));
    let gap = if label.is_empty() { 0.0 } else { 5.0 };
    job.append(value, gap, format(theme.small(), color));
    // Name and value stay on one line: as a whole it goes to the next one, or not at all.
    let galley = ui.painter().layout_job(job);
    if ui.layout().main_wrap() && galley.size().x > ui.available_size_before_wrap().x {
        ui.end_row();
    }
    ui.add(egui::Label::new(galley).sense(Sense::hover())).on_hover_text(tip)
}

/// A quiet button with a text of several colours, chosen or not. Plain ones are [`crate::view::widgets::Button`]s.
pub fn toggle(ui: &mut Ui, theme: &Theme, is_on: bool, text: egui::text::LayoutJob) -> Response {
    let label = text.text.clone();
    let fill = if is_on { theme.field } else { Color32::TRANSPARENT };
    let line = if is_on { theme.line_strong } else { Color32::TRANSPARENT };
    let button = egui::Button::new(text).fill(fill).stroke(Stroke::new(1.0, line));
    let response = ui.add(button.min_size(vec2(0.0, theme.size.control)));
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_on, &label));
    response
}

/// A dashed rectangle.
pub fn dashed_rect(painter: &Painter, rect: Rect, stroke: Stroke) {
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    painter.extend(Shape::dashed_line(&corners, stroke, 6.0, 4.0));
}

/// A bar of viridis: low at the bottom of a tall rectangle, at the left of a wide one.
pub fn color_bar(painter: &Painter, theme: &Theme, rect: Rect) {
    const STEPS: u32 = 24;
    let mut mesh = Mesh::default();
    let is_tall = rect.height() > rect.width();
    for step in 0..=STEPS {
        let t = step as f32 / STEPS as f32;
        let color = theme.viridis(t);
        let ends = if is_tall {
            let y = rect.bottom() - t * rect.height();
            [pos2(rect.left(), y), pos2(rect.right(), y)]
        } else {
            let x = rect.left() + t * rect.width();
            [pos2(x, rect.top()), pos2(x, rect.bottom())]
        };
        for end in ends {
            mesh.colored_vertex(end, color);
        }
        if step > 0 {
            let base = 2 * (step - 1);
            mesh.add_triangle(base, base + 1, base + 2);
            mesh.add_triangle(base + 1, base + 2, base + 3);
        }
    }
    painter.add(mesh);
    painter.rect_stroke(rect, CornerRadius::ZERO, Stroke::new(1.0, theme.line_strong), StrokeKind::Outside);
}

/// A small tag with a text, for marks inside cells; its rectangle.
pub fn tag(painter: &Painter, theme: &Theme, at: Rect, align: Align2, text: &str, color: Color32) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), theme.tiny(), color);
    let size = galley.size() + vec2(8.0, 2.0);
    let place = align.align_size_within_rect(size, at);
    painter.rect_filled(place, CornerRadius::same(4), theme.fade(color, 0.16));
    painter.galley(place.min + vec2(4.0, 1.0), galley, color);
    place
}
