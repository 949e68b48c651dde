//! The controls of the page: buttons, segments, tags, switches, headings. One look, an accessible name for each, a
//! ring where the keyboard is.

use egui::{
    Align2, Color32, CornerRadius, FontId, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use crate::view::icons::{self, Icon};
use crate::view::theme::Theme;

/// Room on either side of a button's text.
const PAD: f32 = 10.0;

/// How loud a button is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// The one thing to press next: filled with the accent.
    Primary,
    /// A field with a border.
    #[default]
    Normal,
    /// Text alone until the pointer is over it.
    Quiet,
}

/// A button to be.
#[must_use = "a button is there once it is shown"]
#[derive(Clone, Copy, Debug, Default)]
pub struct Button<'a> {
    /// Picture, before the text.
    pub icon: Option<Icon>,
    /// Text; empty for an icon alone, which then needs a `name`.
    pub text: &'a str,
    /// Accessible name where it is not the text.
    pub name: &'a str,
    /// What it does, on hover.
    pub tip: &'a str,
    /// How loud.
    pub weight: Weight,
    /// Drawn as chosen.
    pub selected: bool,
    /// Cannot be pressed; the tip should say why.
    pub disabled: bool,
    /// For how long it is pressed counts: a finger that moves stays on it.
    pub holds: bool,
    /// Least width.
    pub min_width: f32,
}

impl<'a> Button<'a> {
    /// A button with text.
    pub fn text(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }

    /// A button with an icon alone, called `name`.
    pub fn icon(icon: Icon, name: &'a str) -> Self {
        Self { icon: Some(icon), name, ..Self::default() }
    }

    /// With an icon before the text.
    pub fn with_icon(self, icon: Icon) -> Self {
        Self { icon: Some(icon), ..self }
    }

    /// With an explanation on hover.
    pub fn tip(self, tip: &'a str) -> Self {
        Self { tip, ..self }
    }

    /// With a weight.
    pub fn weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// Drawn as chosen.
    pub fn selected(self, selected: bool) -> Self {
        Self { selected, ..self }
    }

    /// Disabled unless `enabled`.
    pub fn enabled(self, enabled: bool) -> Self {
        Self { disabled: !enabled, ..self }
    }

    /// At least that wide.
    pub fn min_width(self, min_width: f32) -> Self {
        Self { min_width, ..self }
    }

    /// How wide a button with this text alone is.
    pub fn width_of(ui: &Ui, theme: &Theme, text: &str) -> f32 {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), theme.body(), Color32::PLACEHOLDER);
        (galley.size().x + 2.0 * PAD).max(theme.size.control)
    }

    /// Shows it.
    pub fn show(self, ui: &mut Ui, theme: &Theme) -> Response {
        let size = theme.size;
        let font = if self.weight == Weight::Primary { theme.strong(size.body) } else { theme.body() };
        let galley = ui.painter().layout_no_wrap(self.text.to_owned(), font, Color32::PLACEHOLDER);
        let icon_size = size.body + 2.0;
        let has_text = !self.text.is_empty();
        let pad = if has_text { PAD } else { (size.control - icon_size) / 2.0 };
        let icon_room = self.icon.map_or(0.0, |_| icon_size + if has_text { 6.0 } else { 0.0 });
        let width = (galley.size().x + icon_room + 2.0 * pad).max(self.min_width).max(size.control);
        let sense = match (self.disabled, self.holds) {
            (true, _) => Sense::hover(),
            (false, true) => Sense::click_and_drag(),
            (false, false) => Sense::click(),
        };
        let (rect, response) = ui.allocate_exact_size(vec2(width, size.control), sense);
        let name = if self.name.is_empty() { self.text } else { self.name };
        response.widget_info(|| {
            if self.selected {
                WidgetInfo::selected(Role::Button, !self.disabled, true, name)
            } else {
                WidgetInfo::labeled(Role::Button, !self.disabled, name)
            }
        });
        if ui.is_rect_visible(rect) {
            let ink = self.paint_ground(ui, theme, rect, &response);
            let content = galley.size().x + icon_room;
            let left = rect.center().x - content / 2.0;
            if let Some(icon) = self.icon {
                let slot =
                    Rect::from_center_size(pos2(left + icon_size / 2.0, rect.center().y), vec2(icon_size, icon_size));
                icons::paint(ui.painter(), icon, slot, icon_size, ink);
            }
            let at = pos2(left + icon_room, rect.center().y - galley.size().y / 2.0);
            ui.painter().galley(at, galley, ink);
        }
        if self.tip.is_empty() { response } else { response.on_hover_text(self.tip) }
    }

    /// Fills the button's ground and returns the colour to write on it.
    fn paint_ground(&self, ui: &Ui, theme: &Theme, rect: Rect, response: &Response) -> Color32 {
        let hot = response.hovered() || response.is_pointer_button_down_on();
        let (fill, line, ink) = match self.weight {
            _ if self.disabled => (theme.fade(theme.field, 0.5), theme.fade(theme.line, 0.6), theme.text_faint),
            Weight::Primary => {
                let fill = if hot { theme.accent_hover } else { theme.accent };
                (fill, fill, theme.on_accent)
            }
            Weight::Normal if self.selected => (theme.fade(theme.accent, 0.18), theme.accent, theme.text),
            Weight::Normal if hot => (theme.field_hover, theme.line_strong, theme.text),
            Weight::Normal => (theme.field, theme.line, theme.text),
            Weight::Quiet if self.selected => (theme.field, theme.line, theme.text),
            Weight::Quiet if hot => (theme.field, Color32::TRANSPARENT, theme.text),
            Weight::Quiet => (Color32::TRANSPARENT, Color32::TRANSPARENT, theme.text_dim),
        };
        let corner = CornerRadius::same(theme.size.radius_field);
        ui.painter().rect(rect, corner, fill, Stroke::new(1.0, line), StrokeKind::Inside);
        focus_ring(ui, theme, rect, response);
        ink
    }
}

/// A ring around what has the keyboard.
pub fn focus_ring(ui: &Ui, theme: &Theme, rect: Rect, response: &Response) {
    if response.has_focus() {
        let corner = CornerRadius::same(theme.size.radius_field + 2);
        let ring = Stroke::new(2.0, theme.accent_hover);
        ui.painter().rect_stroke(rect.expand(2.0), corner, ring, StrokeKind::Middle);
    }
}

/// One of several: `(value, text, accessible name and tip)`. Returns the value that was pressed.
pub fn segmented<T: Copy + PartialEq>(
    ui: &mut Ui,
    theme: &Theme,
    options: &[(T, &str, &str)],
    current: T,
) -> Option<T> {
    let mut pressed = None;
    let font = theme.small();
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let last = options.len().saturating_sub(1);
        let is_reversed = ui.layout().prefer_right_to_left();
        for place in 0..options.len() {
            let index = if is_reversed { last - place } else { place };
            let (value, text, tip) = options[index];
            let galley = ui.painter().layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER);
            let width = (galley.size().x + 13.0).max(theme.size.control);
            let (rect, response) = ui.allocate_exact_size(vec2(width, theme.size.control), Sense::click());
            let selected = value == current;
            response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, selected, tip));
            let r = theme.size.radius_field;
            let corner = CornerRadius {
                nw: if index == 0 { r } else { 0 },
                sw: if index == 0 { r } else { 0 },
                ne: if index == last { r } else { 0 },
                se: if index == last { r } else { 0 },
            };
            let fill = if selected {
                theme.mix(theme.field, theme.accent, 0.22)
            } else if response.hovered() {
                theme.field_hover
            } else {
                theme.field
            };
            let line = Stroke::new(1.0, theme.line);
            ui.painter().rect(rect, corner, fill, line, StrokeKind::Inside);
            let ink = if selected { theme.text } else { theme.text_dim };
            let at = rect.center() - galley.size() / 2.0;
            ui.painter().galley(at, galley, ink);
            focus_ring(ui, theme, rect, &response);
            if response.clicked() && !selected {
                pressed = Some(value);
            }
            response.on_hover_text(tip);
        }
    });
    pressed
}

/// A switch. Returns whether it was pressed.
pub fn switch(ui: &mut Ui, theme: &Theme, on: bool, name: &str) -> Response {
    let height = theme.size.control.min(30.0);
    let (rect, response) =
        ui.allocate_exact_size(vec2((height * 1.35).max(theme.size.control), theme.size.control), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, name));
    let how = ui.ctx().animate_bool_responsive(response.id, on);
    let track = Rect::from_center_size(rect.center(), vec2(height * 1.25, height * 0.66));
    let fill = theme.mix(theme.field_hover, theme.accent, how);
    ui.painter().rect(track, track.height() / 2.0, fill, Stroke::new(1.0, theme.line), StrokeKind::Inside);
    let r = track.height() / 2.0 - 2.5;
    let x = egui::lerp(track.left() + r + 2.5..=track.right() - r - 2.5, how);
    ui.painter().circle_filled(pos2(x, track.center().y), r, theme.mix(theme.text_dim, theme.on_accent, how));
    focus_ring(ui, theme, track, &response);
    response
}

/// A small rounded note, such as `2 agents`.
pub fn tag(ui: &mut Ui, theme: &Theme, text: &str, color: Color32) -> Response {
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme.tiny(), color);
    let size = vec2(galley.size().x + 14.0, galley.size().y + 5.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    let line = Stroke::new(1.0, theme.mix(theme.line, color, 0.25));
    ui.painter().rect(rect, rect.height() / 2.0, Color32::TRANSPARENT, line, StrokeKind::Inside);
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, color);
    response
}

/// The heading of a card.
pub fn heading(ui: &mut Ui, theme: &Theme, text: &str) -> Response {
    ui.add(egui::Label::new(egui::RichText::new(text).font(theme.strong(theme.size.small)).color(theme.text_dim)))
}

/// Secondary text that wraps.
pub fn note(ui: &mut Ui, theme: &Theme, text: &str) -> Response {
    ui.add(egui::Label::new(egui::RichText::new(text).font(theme.small()).color(theme.text_dim)).wrap())
}

/// A coloured dot, as before an agent's name or the run's state.
pub fn dot(ui: &mut Ui, radius: f32, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(2.0 * radius + 2.0, 2.0 * radius + 2.0), Sense::hover());
    ui.painter().circle_filled(rect.center(), radius, color);
}

/// Text cut with an ellipsis to `width`; returns the width used.
pub fn text_in(ui: &Ui, rect: Rect, align: Align2, text: &str, font: FontId, color: Color32) -> f32 {
    let mut job = egui::text::LayoutJob::single_section(text.to_owned(), egui::TextFormat::simple(font, color));
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width());
    let galley = ui.painter().layout_job(job);
    let at = align.align_size_within_rect(galley.size(), rect).min;
    let width = galley.size().x;
    ui.painter().galley(at, galley, color);
    width
}
