//! The experiment menu: grouped, each entry with its agents, its algorithm and how long it usually trains.

use egui::{
    Align2, CornerRadius, Popup, PopupCloseBehavior, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};
use tandem_core::experiment::knobs::knob;
use tandem_core::experiment::presets::{Preset, PresetGroup, presets};
use tandem_core::experiment::world::num_agents;

use crate::app::ctx::PageCtx;
use crate::app::intent::Intent;
use crate::view::icons::{self, Icon};
use crate::view::widgets::{self, focus_ring, text_in};

/// Width of an open menu.
const WIDTH: f32 = 440.0;

/// The button with the experiment's name; a press opens the menu.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let title = title(ctx);
    let room = ui.available_width() - if ctx.view.compact { 3.0 * (theme.size.control + 8.0) + 24.0 } else { 340.0 };
    let font = theme.strong(theme.size.body);
    let natural = ui.painter().layout_no_wrap(title.clone(), font.clone(), theme.text).size().x + 44.0;
    let size = vec2(natural.min(room.max(120.0)), theme.size.control + 2.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Button, true, ctx.t("menu.name"));
        info.current_text_value = Some(title.clone());
        info
    });
    let fill = if response.hovered() { theme.field_hover } else { theme.field };
    let corner = CornerRadius::same(theme.size.radius_field);
    ui.painter().rect(rect, corner, fill, egui::Stroke::new(1.0, theme.line), egui::StrokeKind::Inside);
    let inside = Rect::from_min_max(rect.min + vec2(12.0, 0.0), rect.max - vec2(26.0, 0.0));
    text_in(ui, inside, Align2::LEFT_CENTER, &title, font, theme.text);
    let chevron = Rect::from_center_size(pos2(rect.right() - 15.0, rect.center().y), vec2(12.0, 12.0));
    icons::paint(ui.painter(), Icon::ChevronDown, chevron, 12.0, theme.text_dim);
    focus_ring(ui, theme, rect, &response);
    let response = response.on_hover_text(ctx.t("menu.tip"));
    Popup::menu(&response).close_behavior(PopupCloseBehavior::CloseOnClick).show(|ui| {
        let screen = ui.ctx().content_rect();
        ui.set_width(WIDTH.min(screen.width() - 24.0));
        let tallest = (screen.bottom() - rect.bottom() - 64.0).max(200.0);
        ScrollArea::vertical().max_height(tallest).min_scrolled_height(tallest).show(ui, |ui| {
            for group in PresetGroup::ALL {
                ui.add_space(4.0);
                ui.horizontal(|ui| {
                    ui.add_space(8.0);
                    widgets::heading(ui, theme, ctx.t(group.text_id()));
                });
                for preset in presets().iter().filter(|preset| preset.group == group) {
                    entry(ui, ctx, preset, out);
                }
            }
        });
    });
}

/// Name of the experiment on the page.
fn title(ctx: &PageCtx<'_>) -> String {
    match ctx.preset {
        Some(preset) if is_changed(ctx, preset) => ctx.texts().f("menu.changed", &[ctx.t(&preset.title_id())]),
        Some(preset) => ctx.t(&preset.title_id()).to_owned(),
        None => ctx.t("menu.own").to_owned(),
    }
}

/// Whether the settings are no longer the preset's, seed aside.
pub fn is_changed(ctx: &PageCtx<'_>, preset: &Preset) -> bool {
    let mut spec = preset.read().spec.clone();
    spec.seed = ctx.wanted.seed;
    spec != *ctx.wanted
}

fn entry(ui: &mut Ui, ctx: &PageCtx<'_>, preset: &'static Preset, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let title_id = preset.title_id();
    let title = ctx.t(&title_id);
    let facts = facts(ctx, preset);
    let width = ui.available_width() - 24.0;
    let wrapped = |id: String| ui.painter().layout(ctx.t(&id).to_owned(), theme.small(), theme.text_dim, width);
    let expected = preset.expected_id().map(wrapped);
    let lines = expected.as_ref().map_or(0.0, |galley| galley.size().y);
    let height = theme.size.body + theme.size.small + 19.0 + lines;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, true, title));
    let is_this = ctx.preset.is_some_and(|this| this.id == preset.id);
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, CornerRadius::same(theme.size.radius_field), theme.field_hover);
    }
    if is_this {
        let bar = Rect::from_min_size(rect.min + vec2(0.0, 6.0), vec2(3.0, rect.height() - 12.0));
        ui.painter().rect_filled(bar, 1.5, theme.accent);
    }
    let inside = rect.shrink2(vec2(12.0, 5.0));
    text_in(ui, inside, Align2::LEFT_TOP, title, theme.body(), theme.text);
    let above = inside.with_max_y(inside.bottom() - lines);
    if let Some(expected) = expected {
        ui.painter().galley(above.left_bottom(), expected, theme.text_dim);
    }
    text_in(ui, above, Align2::LEFT_BOTTOM, &facts, theme.small(), theme.text_dim);
    if response.clicked() {
        out.push(Intent::Preset(&preset.id));
    }
}

/// Agents, algorithm, usual training time.
fn facts(ctx: &PageCtx<'_>, preset: &Preset) -> String {
    let texts = ctx.texts();
    let spec = &preset.read().spec;
    let algo = knob("algo").map_or_else(String::new, |knob| texts.t(&knob.chosen_id(spec)).to_owned());
    let agents = num_agents(spec);
    let agents = texts.plural("tag.agents", agents, &[&agents.to_string()]);
    match preset.seconds {
        Some(seconds) if seconds >= 90 => texts.f("menu.facts.minutes", &[&agents, &algo, &(seconds / 60).to_string()]),
        Some(seconds) => texts.f("menu.facts.seconds", &[&agents, &algo, &seconds.to_string()]),
        None => texts.f("menu.facts", &[&agents, &algo, &crate::view::numbers::count(spec.budget)]),
    }
}
