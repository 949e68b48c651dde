//! A value in Set-up: shown as links write it, changed by typing, by steps or by a slider.

use egui::{
    Align2, CornerRadius, Id, Key, Rect, Role, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo, pos2, vec2,
};
use tandem_core::base::float;

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
    typing: &mut Option<(&'static str, String)>,
) -> Option<FieldReply> {
    let height = theme.size.control - 1.0;
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let corner = CornerRadius::same(theme.size.radius_field);
    let mut reply = None;
    let mut middle = rect;
    ui.painter().rect(rect, corner, theme.field, Stroke::new(1.0, theme.line), StrokeKind::Inside);
    if has_steps {
        let step = (height * 0.86).min(38.0);
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
    if typing.as_ref().is_some_and(|(typed, _)| *typed == key) {
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
        *typing = Some((key, raw.to_owned()));
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
    typing: &mut Option<(&'static str, String)>,
) -> Option<FieldReply> {
    let (_, text) = typing.as_mut()?;
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
        let (_, text) = typing.take()?;
        let is_given_up = ui.input(|input| input.key_pressed(Key::Escape));
        return (!is_given_up).then_some(FieldReply::Typed(text));
    }
    if is_new {
        response.request_focus();
        let mut state = egui::text_edit::TextEditState::load(ui.ctx(), edit_id).unwrap_or_default();
        let end = typing.as_ref().map_or(0, |(_, text)| text.chars().count());
        let all = egui::text::CCursorRange::two(egui::text::CCursor::new(0usize), egui::text::CCursor::new(end));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), edit_id);
    }
    None
}

/// A slider over `range`, logarithmic or not. Returns the new value while it is moved.
pub fn slider(ui: &mut Ui, theme: &Theme, name: &str, value: f32, range: (f32, f32), log: bool) -> Option<f32> {
    let height = if theme.size.control > 40.0 { 36.0 } else { 16.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::slider(true, f64::from(value), name));
    let scale = Scale::new(range, log);
    let radius = if theme.size.control > 40.0 { 10.0 } else { 6.0 };
    let rail = Rect::from_x_y_ranges(
        rect.left() + radius..=rect.right() - radius,
        rect.center().y - 2.0..=rect.center().y + 2.0,
    );
    let x = egui::lerp(rail.left()..=rail.right(), scale.part(value));
    ui.painter().rect_filled(rail, 2.0, theme.field_hover);
    ui.painter().rect_filled(Rect::from_min_max(rail.min, pos2(x, rail.bottom())), 2.0, theme.accent);
    let hot = response.hovered() || response.dragged();
    let knob = pos2(x, rail.center().y);
    ui.painter().circle(knob, radius, if hot { theme.on_accent } else { theme.card }, Stroke::new(2.0, theme.accent));
    focus_ring(ui, theme, rect, &response);
    let mut part = None;
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked()) {
        part = Some(egui::remap_clamp(pointer.x, rail.x_range(), 0.0..=1.0));
    }
    if response.has_focus() {
        let turned =
            ui.input(|input| input.num_presses(Key::ArrowRight) as f32 - input.num_presses(Key::ArrowLeft) as f32);
        ui.memory_mut(|memory| {
            let filter = egui::EventFilter { horizontal_arrows: true, ..egui::EventFilter::default() };
            memory.set_focus_lock_filter(response.id, filter);
        });
        if turned != 0.0 {
            part = Some((scale.part(value) + 0.02 * turned).clamp(0.0, 1.0));
        }
    }
    let moved = scale.value(part?);
    (moved != value).then_some(moved)
}

/// Value ↔ part of the rail.
struct Scale {
    low: f32,
    high: f32,
    log: bool,
}

impl Scale {
    /// Decades below the largest value where a logarithmic range begins at 0.
    const DECADES: f32 = 1e-6;

    fn new((low, high): (f32, f32), log: bool) -> Self {
        Self { low: if log { low.max(high * Self::DECADES) } else { low }, high, log }
    }

    fn part(&self, value: f32) -> f32 {
        if self.log {
            if value <= self.low { 0.0 } else { log10(value / self.low) / log10(self.high / self.low) }
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Rounded to what a person would type: two digits on a logarithmic scale, a hundredth of the range otherwise.
    fn value(&self, part: f32) -> f32 {
        if self.log {
            let value = self.low * pow10(part * log10(self.high / self.low));
            two_digits(value).clamp(self.low, self.high)
        } else {
            let step = (self.high - self.low) / 100.0;
            ((self.low + part * (self.high - self.low)) / step).round() * step
        }
    }
}

fn log10(x: f32) -> f32 {
    (float::ln(f64::from(x)) * std::f64::consts::LOG10_E) as f32
}

fn pow10(x: f32) -> f32 {
    float::pow(10.0, f64::from(x)) as f32
}

/// `value` rounded to two significant digits, as the nearest f32 to that decimal.
fn two_digits(value: f32) -> f32 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_slider_gives_round_numbers() {
        let scale = Scale::new((1e-6, 1.0), true);
        assert_eq!(scale.value(0.0), 1e-6);
        assert_eq!(scale.value(0.5), 1e-3);
        assert_eq!(scale.value(1.0), 1.0);
        assert!((scale.part(1e-3) - 0.5).abs() < 1e-4);
        for step in 0..100 {
            let value = scale.value(step as f32 / 100.0);
            assert_eq!(value, two_digits(value), "{value} has more than two digits");
        }
    }

    #[test]
    fn a_linear_slider_reaches_both_ends() {
        let scale = Scale::new((0.0, 1.0), false);
        assert_eq!((scale.value(0.0), scale.value(0.95), scale.value(1.0)), (0.0, 0.95, 1.0));
    }
}
