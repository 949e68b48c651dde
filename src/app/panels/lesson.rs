//! One line above the stage that says what to try; unfolded, the question to predict, what to press, and, once the run
//! has ended or on request, what happened and why.

use egui::{Align2, Popup, PopupCloseBehavior, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use tandem_core::experiment::snapshot::RunState;
use tandem_core::experiment::spec::EnvChoice;

use super::menu::is_changed;
use crate::app::ctx::PageCtx;
use crate::app::desk::Desk;
use crate::view::icons::{self, Icon};
use crate::view::widgets::{Button, Weight, focus_ring, heading, note, text_in};

/// Draws the line, or the texts.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk) {
    let theme = ctx.theme();
    let is_done = matches!(ctx.view.snapshot.state, RunState::Finished | RunState::Reached);
    let line = line(ctx, is_done);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), theme.size.control.max(28.0)), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, desk.is_lesson_open, ctx.t("lesson.name")));
    let icon = if desk.is_lesson_open { Icon::ChevronDown } else { Icon::ChevronRight };
    let color = if response.hovered() { theme.text } else { theme.text_dim };
    icons::paint(ui.painter(), icon, icons::left_slot(rect, 12.0, 4.0), 12.0, color);
    let has_answer = is_done && ctx.preset.is_some_and(|preset| !is_changed(ctx, preset));
    let lead = ctx.t(if has_answer { "lesson.answer" } else { "lesson.try" });
    let inside = Rect::from_min_max(pos2(rect.left() + 24.0, rect.top()), rect.max);
    let used = text_in(ui, inside, Align2::LEFT_CENTER, lead, theme.strong(theme.size.body), theme.text);
    if !desk.is_lesson_open {
        let rest = Rect::from_min_max(pos2(inside.left() + used + 10.0, rect.top()), rect.max);
        text_in(ui, rest, Align2::LEFT_CENTER, &line, theme.body(), theme.text_dim);
    }
    focus_ring(ui, theme, rect, &response);
    if response.clicked() {
        desk.is_lesson_open ^= true;
    }
    // Laid over the stage: nothing moves, and Run stays where it was.
    let card = Popup::from_response(&response)
        .open(desk.is_lesson_open)
        .close_behavior(PopupCloseBehavior::IgnoreClicks)
        .frame(theme.card_frame().shadow(ui.visuals().popup_shadow))
        .gap(2.0);
    let room = ui.ctx().content_rect().bottom() - rect.bottom() - 110.0;
    card.show(|ui| {
        ui.set_width(rect.width() - 2.0 * theme.size.pad - 2.0);
        ScrollArea::vertical().max_height(room.max(160.0)).min_scrolled_height(room.max(160.0)).show(ui, |ui| {
            unfolded(ui, ctx, desk, is_done);
        });
    });
    if !desk.is_lesson_open {
        response.on_hover_text(ctx.t("lesson.tip"));
    }
}

/// What the folded line says.
fn line(ctx: &PageCtx<'_>, is_done: bool) -> String {
    match ctx.preset {
        Some(preset) if is_done && !is_changed(ctx, preset) => ctx.t(&preset.answer_id()).to_owned(),
        Some(preset) if is_changed(ctx, preset) => ctx.t("lesson.changed").to_owned(),
        Some(preset) => ctx.t(&preset.press_id()).to_owned(),
        None => ctx.t("lesson.own").to_owned(),
    }
}

fn unfolded(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, is_done: bool) {
    let theme = ctx.theme();
    let paragraph = |ui: &mut Ui, head: &str, text: &str| {
        heading(ui, theme, head);
        ui.add(egui::Label::new(RichText::new(text).font(theme.body()).color(theme.text)).wrap());
        ui.add_space(4.0);
    };
    let Some(preset) = ctx.preset else {
        paragraph(ui, ctx.t("lesson.press"), ctx.t("lesson.own"));
        return;
    };
    paragraph(ui, ctx.t("lesson.question"), ctx.t(&preset.question_id()));
    paragraph(ui, ctx.t("lesson.press"), ctx.t(&preset.press_id()));
    if is_done || desk.answer_of == Some(&preset.id) {
        paragraph(ui, ctx.t("lesson.answer"), ctx.t(&preset.answer_id()));
    } else {
        let button = Button::text(ctx.t("lesson.show_answer")).weight(Weight::Normal);
        if button.tip(ctx.t("lesson.show_answer.tip")).show(ui, theme).clicked() {
            desk.answer_of = Some(&preset.id);
        }
    }
    let has_sight = ctx.view.spec.env == EnvChoice::Pellet;
    if has_sight && ctx.view.facts.obs_determines_state && ctx.view.facts.num_agents > 1 {
        note(ui, theme, ctx.t("lesson.sees_all"));
    }
}
