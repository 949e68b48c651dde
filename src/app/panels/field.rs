//! A value in Set-up: shown as links write it, changed by typing or by steps.

use egui::{
    Align2, CornerRadius, Id, Key, Rect, Role, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use crate::app::desk::Typing;
use crate::view::theme::Theme;
use crate::view::widgets::{focus_ring, text_in};

/// What was done to a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldReply {
    /// A text was typed.
    Typed(String),
    /// One step down.
    Down,
    /// One step up.
    Up,
}

/// A field `width` wide that shows `text`; typing begins with `raw`, as links write it. `typing` is the field being
/// typed into on the whole page.
pub fn field(
    ui: &mut Ui,
    theme: &Theme,
    (key, name): (&'static str, &str),
    (text, raw): (&str, &str),
    has_steps: bool,
    width: f32,
    typing: &mut Option<Typing>,
) -> Option<FieldReply> {
    let height = theme.size.control;
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let corner = CornerRadius::same(theme.size.radius_field);
    let mut reply = None;
    let mut middle = rect;
    ui.painter().rect(rect, corner, theme.field, Stroke::new(1.0, theme.line), StrokeKind::Inside);
    if has_steps {
        let step = if theme.is_for_fingers() { height } else { height * 0.86 };
        let [down, up] = [rect.left() + step, rect.right() - step];
        let left = Rect::from_min_max(rect.min, pos2(down, rect.bottom()));
        let right = Rect::from_min_max(pos2(up, rect.top()), rect.max);
        for (rect, sign, done) in [(left, "−", FieldReply::Down), (right, "+", FieldReply::Up)] {
            let id = ui.make_persistent_id((key, sign));
            let response = ui.interact(rect, id, Sense::click());
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name} {sign}")));
            if response.hovered() {
                ui.painter().rect_filled(rect.shrink(1.0), corner, theme.field_hover);
            }
            let ink = if response.hovered() { theme.text } else { theme.text_dim };
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, sign, theme.body(), ink);
            focus_ring(ui, theme, rect.shrink(2.0), &response);
            if response.clicked() {
                reply = Some(done);
            }
        }
        middle = Rect::from_x_y_ranges(left.right()..=right.left(), rect.y_range());
    }
    let id = ui.make_persistent_id((key, "value"));
    if typing.as_ref().is_some_and(|typing| typing.key == key) {
        return type_in(ui, theme, middle, id, name, typing).or(reply);
    }
    let response = ui.interact(middle, id, Sense::click());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Button, true, name);
        info.current_text_value = Some(text.to_owned());
        info
    });
    text_in(ui, middle.shrink2(vec2(4.0, 0.0)), Align2::CENTER_CENTER, text, theme.body(), theme.text);
    focus_ring(ui, theme, rect, &response);
    if response.on_hover_cursor(egui::CursorIcon::Text).clicked() {
        *typing = Some(Typing { key, text: raw.to_owned(), rect: middle });
    }
    reply
}

/// The text being typed; a reply when that has ended, unless it was given up.
fn type_in(
    ui: &mut Ui,
    theme: &Theme,
    rect: Rect,
    id: Id,
    name: &str,
    typing: &mut Option<Typing>,
) -> Option<FieldReply> {
    let Typing { text, rect: drawn, .. } = typing.as_mut()?;
    *drawn = rect;
    let edit_id = id.with("edit");
    let is_new = ui.memory(|memory| memory.focused() != Some(edit_id));
    let edit = TextEdit::singleline(text)
        .id(edit_id)
        .frame(egui::Frame::new())
        .margin(vec2(4.0, 3.0))
        .align(Align2::CENTER_CENTER)
        .font(theme.body());
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    let response = inside.add_sized(rect.size(), edit).accessible_name(name);
    ui.painter().rect_stroke(
        rect.expand(1.0),
        CornerRadius::same(theme.size.radius_field),
        Stroke::new(1.5, theme.accent),
        StrokeKind::Inside,
    );
    if response.lost_focus() {
        let text = typing.take()?.text;
        let is_given_up = ui.input(|input| input.key_pressed(Key::Escape));
        return (!is_given_up).then_some(FieldReply::Typed(text));
    }
    if is_new {
        response.request_focus();
        let mut state = egui::text_edit::TextEditState::load(ui.ctx(), edit_id).unwrap_or_default();
        let end = typing.as_ref().map_or(0, |typing| typing.text.chars().count());
        let all = egui::text::CCursorRange::two(egui::text::CCursor::new(0usize), egui::text::CCursor::new(end));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), edit_id);
    }
    None
}
