//! A slider, drawn like everything else, with a mark where a value is to be found again.

use egui::{Key, Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use tandem_core::base::float;

use crate::view::parts::goes_across;
use crate::view::theme::Theme;
use crate::view::widgets::focus_ring;

/// A slider over `range`, logarithmic or not, with a mark at one value. Returns the new value while it is moved.
pub fn slider(
    ui: &mut Ui,
    theme: &Theme,
    name: &str,
    value: f32,
    range: (f32, f32),
    log: bool,
    mark: Option<f32>,
) -> Option<f32> {
    let height = if theme.is_for_fingers() { theme.size.control } else { 16.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::slider(true, f64::from(value), name));
    let scale = Scale::new(range, log);
    let radius = if theme.is_for_fingers() { 10.0 } else { 6.0 };
    let rail = Rect::from_x_y_ranges(
        rect.left() + radius..=rect.right() - radius,
        rect.center().y - 2.0..=rect.center().y + 2.0,
    );
    let x = egui::lerp(rail.left()..=rail.right(), scale.part(value));
    ui.painter().rect_filled(rail, 2.0, theme.field_hover);
    ui.painter().rect_filled(Rect::from_min_max(rail.min, pos2(x, rail.bottom())), 2.0, theme.accent);
    if let Some(mark) = mark {
        let at = egui::lerp(rail.left()..=rail.right(), scale.part(mark));
        ui.painter().vline(at, rail.center().y - radius..=rail.center().y + radius, Stroke::new(2.0, theme.text_dim));
    }
    let hot = response.hovered() || response.dragged();
    let knob = pos2(x, rail.center().y);
    ui.painter().circle(knob, radius, if hot { theme.on_accent } else { theme.card }, Stroke::new(2.0, theme.accent));
    focus_ring(ui, theme, rect, &response);
    // A finger that goes up or down scrolls; a mouse means the slider.
    let is_moved = if theme.is_for_fingers() { goes_across(ui, &response) } else { response.dragged() };
    let mut part = None;
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| is_moved || response.clicked()) {
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
