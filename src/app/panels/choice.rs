//! A field with words in it that opens a list of what may stand there instead.

use egui::{Popup, PopupCloseBehavior, Response, Role, Sense, Ui, WidgetInfo, vec2};

use crate::app::ctx::PageCtx;
use crate::view::icons::{self, Icon};
use crate::view::theme::Theme;
use crate::view::widgets::{focus_ring, text_in};

/// A field `width` wide called `name` that shows `text`; pressed, it opens what `entries` draws.
pub(super) fn menu(ui: &mut Ui, theme: &Theme, name: &str, text: &str, width: f32, entries: impl FnOnce(&mut Ui)) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, theme.size.control), Sense::click());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, name);
        info.current_text_value = Some(text.to_owned());
        info
    });
    let fill = if response.hovered() { theme.field_hover } else { theme.field };
    let corner = egui::CornerRadius::same(theme.size.radius_field);
    ui.painter().rect(rect, corner, fill, egui::Stroke::new(1.0, theme.line), egui::StrokeKind::Inside);
    let inside = egui::Rect::from_min_max(rect.min + vec2(9.0, 0.0), rect.max - vec2(20.0, 0.0));
    text_in(ui, inside, egui::Align2::LEFT_CENTER, text, theme.body(), theme.text);
    let chevron = egui::Rect::from_center_size(egui::pos2(rect.right() - 12.0, rect.center().y), vec2(9.0, 9.0));
    icons::paint(ui.painter(), Icon::ChevronDown, chevron, 10.0, theme.text_dim);
    focus_ring(ui, theme, rect, &response);
    Popup::menu(&response).close_behavior(PopupCloseBehavior::CloseOnClick).show(|ui| {
        ui.set_width(280.0);
        ui.spacing_mut().item_spacing.y = 2.0;
        entries(ui);
    });
}

/// An entry of such a list, with a note beneath; one that is not possible cannot be pressed, and the note says why.
pub(super) fn entry(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    text: &str,
    is_chosen: bool,
    is_possible: bool,
    note: Option<String>,
) -> Response {
    let theme = ctx.theme();
    let width = ui.available_width();
    let galley = note.map(|note| ui.painter().layout(note, theme.small(), theme.text_dim, (width - 34.0).max(80.0)));
    let height = theme.size.control + galley.as_ref().map_or(0.0, |galley| galley.size().y + 4.0);
    let sense = if is_possible { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), sense);
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, is_possible, is_chosen, text));
    if is_possible && (response.hovered() || response.has_focus()) {
        ui.painter().rect_filled(rect, f32::from(theme.size.radius_field), theme.field_hover);
    }
    let line = egui::Rect::from_min_size(rect.min, vec2(rect.width(), theme.size.control));
    let ink = if is_possible { theme.text } else { theme.text_faint };
    let inside = egui::Rect::from_min_max(line.min + vec2(26.0, 0.0), line.max);
    text_in(ui, inside, egui::Align2::LEFT_CENTER, text, theme.body(), ink);
    if is_chosen {
        icons::paint(ui.painter(), Icon::Check, icons::left_slot(line, 12.0, 7.0), 12.0, theme.accent);
    }
    if let Some(galley) = galley {
        ui.painter().galley(egui::pos2(rect.left() + 26.0, line.bottom()), galley, theme.text_dim);
    }
    response
}
