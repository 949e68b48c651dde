//! The two clocks: training (run, step, restart, speed) and the stage (play, restart episode, speed, greedy or
//! exploring). When training has stopped the card says why and offers what to do next.

use egui::{Align, FontId, Layout, Rect, RichText, Ui, vec2};
use tandem_core::experiment::command::{Command, TrainSpeed, Weights};
use tandem_core::experiment::snapshot::{Cause, RunState};

use crate::app::ctx::PageCtx;
use crate::app::desk::Desk;
use crate::app::intent::Intent;
use crate::app::layout::card as card_frame;
use crate::view::api::Action;
use crate::view::icons::Icon;
use crate::view::numbers;
use crate::view::returns;
use crate::view::widgets::{Button, Weight, heading, segmented};

/// Space between rows.
const ROW_GAP: f32 = 6.0;
/// Text ids of the step buttons and of what they do.
const ENV_STEP: (&str, &str) = ("transport.env_step", "transport.env_step.tip");
const UPDATE: (&str, &str) = ("transport.update", "transport.update.tip");
/// Width of the clocks' names.
const NAME: f32 = 50.0;

/// How the controls share rows, by the width inside the card.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Two: one per clock.
    Two,
    /// Three: restarting and speed below running.
    Three,
    /// Five: nothing beside buttons.
    Five,
}

impl Rows {
    fn of(width: f32) -> Self {
        match width {
            720.0.. => Self::Two,
            480.0.. => Self::Three,
            _ => Self::Five,
        }
    }

    fn count(self) -> f32 {
        match self {
            Self::Two => 2.0,
            Self::Three => 3.0,
            Self::Five => 5.0,
        }
    }
}

/// Height of the card in a column of `width`.
pub fn height(ctx: &PageCtx<'_>, width: f32) -> f32 {
    let size = ctx.theme().size;
    let rows = Rows::of(width - 2.0 * size.pad).count();
    rows * size.control + (rows - 1.0) * ROW_GAP + 2.0 * size.pad
}

/// The card in a column with a fixed height.
pub fn card(ui: &mut Ui, rect: Rect, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    card_frame(ui, rect, ctx.theme(), "transport", |ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, ROW_GAP);
        if cover(ui, ctx, desk, out) {
            return;
        }
        let rows = Rows::of(ui.available_width());
        row(ui, ctx, ctx.t("transport.training"), |ui| {
            training_buttons(ui, ctx, out);
            if rows == Rows::Two {
                restart_buttons(ui, ctx, out);
                at_right(ui, |ui| speed(ui, ctx, out));
            }
        });
        if rows != Rows::Two {
            row(ui, ctx, "", |ui| {
                restart_buttons(ui, ctx, out);
                if rows == Rows::Three {
                    at_right(ui, |ui| speed(ui, ctx, out));
                }
            });
        }
        if rows == Rows::Five {
            row(ui, ctx, "", |ui| speed(ui, ctx, out));
        }
        row(ui, ctx, ctx.t("transport.stage"), |ui| {
            stage_buttons(ui, ctx, out);
            if rows != Rows::Five {
                at_right(ui, |ui| {
                    stage_speed(ui, ctx, desk, out);
                    stage_policy(ui, ctx, desk, out);
                });
            }
        });
        if rows == Rows::Five {
            row(ui, ctx, "", |ui| {
                stage_policy(ui, ctx, desk, out);
                stage_speed(ui, ctx, desk, out);
            });
        }
    });
}

/// The same on a phone, as tall as it needs to be.
pub fn tall_card(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    theme.card_frame().show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(8.0, 8.0);
        if cover(ui, ctx, desk, out) {
            return;
        }
        // Run and the steps are in the bar below.
        heading(ui, theme, ctx.t("transport.training"));
        ui.horizontal_wrapped(|ui| restart_buttons(ui, ctx, out));
        ui.horizontal_wrapped(|ui| speed(ui, ctx, out));
        ui.add_space(4.0);
        heading(ui, theme, ctx.t("transport.stage"));
        ui.horizontal_wrapped(|ui| stage_buttons(ui, ctx, out));
        ui.horizontal_wrapped(|ui| {
            stage_policy(ui, ctx, desk, out);
            stage_speed(ui, ctx, desk, out);
        });
    });
}

/// The phone's bar at the bottom of every tab: run, step, the headline number.
pub fn bar(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let area = ui.available_size();
    ui.allocate_ui_with_layout(area, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        if desk.failure.is_some() {
            if Button::text(ctx.t("cover.failed.button")).weight(Weight::Primary).show(ui, theme).clicked() {
                out.push(Intent::RestartSession);
            }
            return;
        }
        run_button(ui, ctx, out);
        step_button(ui, ctx, Icon::Step, ENV_STEP, Command::StepEnv, out, true);
        step_button(ui, ctx, Icon::Skip, UPDATE, Command::StepUpdate, out, true);
        at_right(ui, |ui| {
            let value = ctx.view.curve.last().map_or_else(|| "–".to_owned(), |point| numbers::value(point.mean));
            let text = ctx.texts().f("headline.short", &[&value, ctx.t(returns::unit(&ctx.view))]);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                let fits = |font: &FontId| {
                    let galley = ui.painter().layout_no_wrap(text.clone(), font.clone(), theme.text);
                    galley.size().x <= ui.available_width()
                };
                let fonts = [theme.title(), theme.strong(theme.size.body)];
                let font = fonts.into_iter().find(fits).unwrap_or_else(|| theme.small());
                let state = RichText::new(state_text(ctx)).font(theme.small()).color(theme.text_dim);
                ui.with_layout(Layout::top_down(Align::Max), |ui| {
                    ui.add_space((area.y - theme.size.title - theme.size.small - 8.0).max(0.0) / 2.0);
                    ui.label(RichText::new(&text).font(font).color(theme.text));
                    ui.label(state);
                });
            });
        });
    });
}

/// One word for where training stands.
pub fn state_text(ctx: &PageCtx<'_>) -> String {
    if ctx.is_dead {
        return ctx.t("state.stopped").to_owned();
    }
    match &ctx.view.snapshot.state {
        RunState::Paused if ctx.view.snapshot.is_idle => ctx.t("state.idle").to_owned(),
        RunState::Paused => ctx.t("state.paused").to_owned(),
        RunState::Running if !ctx.view.learns() => ctx.t("state.playing").to_owned(),
        RunState::Running if ctx.view.snapshot.gradient_steps == 0 => ctx.t("state.gathering").to_owned(),
        RunState::Running => ctx.t("state.running").to_owned(),
        RunState::Seeking { to } => ctx.texts().f("state.seeking", &[&numbers::count(*to)]),
        RunState::Finished => ctx.t("state.finished").to_owned(),
        RunState::Reached => ctx.t("state.reached").to_owned(),
        RunState::Diverged { .. } => ctx.t("state.diverged").to_owned(),
    }
}

fn row(ui: &mut Ui, ctx: &PageCtx<'_>, name: &str, add: impl FnOnce(&mut Ui)) {
    let size = vec2(ui.available_width(), ctx.theme().size.control);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_height(size.y);
        let label = RichText::new(name).font(ctx.theme().strong(ctx.theme().size.small)).color(ctx.theme().text_dim);
        ui.allocate_ui_with_layout(vec2(NAME, size.y), Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(NAME);
            ui.label(label);
        });
        add(ui);
    });
}

fn at_right(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    ui.with_layout(Layout::right_to_left(Align::Center), add);
}

fn training_buttons(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    run_button(ui, ctx, out);
    step_button(ui, ctx, Icon::Step, ENV_STEP, Command::StepEnv, out, false);
    step_button(ui, ctx, Icon::Skip, UPDATE, Command::StepUpdate, out, false);
}

/// The one coloured button.
fn run_button(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    let is_running = matches!(ctx.view.snapshot.state, RunState::Running | RunState::Seeking { .. });
    let is_finished = matches!(ctx.view.snapshot.state, RunState::Finished | RunState::Reached);
    let (icon, id) = match (is_running, is_finished) {
        (true, _) => (Icon::Pause, "transport.pause"),
        (false, true) => (Icon::Play, "transport.continue"),
        (false, false) => (Icon::Play, "transport.run"),
    };
    let is_diverged = matches!(ctx.view.snapshot.state, RunState::Diverged { .. });
    // Both words take the same room, so that nothing moves when it is pressed.
    let button = Button::text(ctx.t(id)).with_icon(icon).weight(Weight::Primary).min_width(84.0).enabled(!is_diverged);
    if button.tip(ctx.t("transport.run.tip")).show(ui, ctx.theme()).clicked() {
        out.push(Intent::ToggleRun);
    }
}

fn step_button(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    icon: Icon,
    (id, tip): (&str, &str),
    command: Command,
    out: &mut Vec<Intent>,
    icon_only: bool,
) {
    let button = if icon_only { Button::icon(icon, ctx.t(id)) } else { Button::text(ctx.t(id)).with_icon(icon) };
    if button.tip(ctx.t(tip)).show(ui, ctx.theme()).clicked() {
        out.push(Intent::View(Action::Session(command)));
    }
}

fn restart_buttons(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let restart = Button::text(ctx.t("transport.restart")).with_icon(Icon::Restart).tip(ctx.t("transport.restart.tip"));
    if restart.show(ui, theme).clicked() {
        out.push(Intent::RestartTraining);
    }
    let dice = Button::text(ctx.t("transport.dice")).with_icon(Icon::Dice).tip(ctx.t("transport.dice.tip"));
    if dice.show(ui, theme).clicked() {
        out.push(Intent::NewSeed);
    }
}

fn speed(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    let options = [
        (TrainSpeed::One, "1/s", ctx.t("transport.speed.1")),
        (TrainSpeed::Ten, "10/s", ctx.t("transport.speed.10")),
        (TrainSpeed::Hundred, "100/s", ctx.t("transport.speed.100")),
        (TrainSpeed::Full, ctx.t("transport.full"), ctx.t("transport.speed.full")),
    ];
    if let Some(speed) = segmented(ui, ctx.theme(), &options, ctx.view.snapshot.speed) {
        out.push(Intent::View(Action::Session(Command::Speed(speed))));
    }
}

fn stage_buttons(ui: &mut Ui, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let is_own = !ctx.view.snapshot.stage.is_training_env;
    let plays = ctx.view.snapshot.stage.plays;
    let (icon, id) = if plays { (Icon::Pause, "stage.hold") } else { (Icon::Play, "stage.play") };
    let can_play = can_play(ctx);
    let tip = |own: &'static str| match (is_own, can_play) {
        (true, _) => own,
        (false, true) => "stage.plays_own.tip",
        (false, false) => "stage.shows_training.tip",
    };
    let play = Button::text(ctx.t(id)).with_icon(icon).min_width(74.0).enabled(can_play);
    if play.tip(ctx.t(tip("stage.play.tip"))).show(ui, theme).clicked() {
        out.push(Intent::StagePlays(!plays));
    }
    let again = Button::text(ctx.t("stage.restart")).enabled(can_play);
    let tip = ctx.t(tip("stage.restart.tip"));
    if again.tip(tip).show(ui, theme).clicked() {
        out.push(Intent::RestartEpisode);
    }
}

/// Whether the stage may play episodes of its own: while training moves it, it shows the training environment.
pub fn can_play(ctx: &PageCtx<'_>) -> bool {
    !ctx.view.snapshot.stage.is_training_env || ctx.view.snapshot.state == RunState::Paused
}

fn stage_speed(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, out: &mut Vec<Intent>) {
    let options =
        [(1, "1/s", ctx.t("stage.speed.1")), (4, "4/s", ctx.t("stage.speed.4")), (12, "12/s", ctx.t("stage.speed.12"))];
    let is_own = !ctx.view.snapshot.stage.is_training_env;
    let picked = ui.add_enabled_ui(is_own, |ui| segmented(ui, ctx.theme(), &options, desk.stage_speed)).inner;
    out.extend(picked.map(Intent::StageSpeed));
}

fn stage_policy(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, out: &mut Vec<Intent>) {
    let options = [
        (false, ctx.t("stage.policy.greedy"), ctx.t("stage.policy.greedy.tip")),
        (true, ctx.t("stage.policy.exploring"), ctx.t("stage.policy.exploring.tip")),
    ];
    // The training environment is the behaviour policy's, whatever the stage's own episodes follow.
    let is_own = !ctx.view.snapshot.stage.is_training_env;
    let explores = desk.stage_explores || !is_own;
    let picked = ui.add_enabled_ui(is_own, |ui| segmented(ui, ctx.theme(), &options, explores)).inner;
    out.extend(picked.map(Intent::StageExplores));
}

/// Whether the card says why training has stopped.
pub fn has_cover(ctx: &PageCtx<'_>, desk: &Desk) -> bool {
    let snapshot = ctx.view.snapshot;
    let is_closed = desk.closed_cover == Some((snapshot.run, snapshot.update));
    let has_ended = match snapshot.state {
        RunState::Diverged { .. } => true,
        RunState::Finished | RunState::Reached => !is_closed,
        _ => false,
    };
    desk.failure.is_some() || has_ended
}

/// Why training has stopped and what can be done; false where it has not, or where this was closed.
fn cover(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) -> bool {
    if !has_cover(ctx, desk) {
        return false;
    }
    let theme = ctx.theme();
    let texts = ctx.texts();
    let snapshot = ctx.view.snapshot;
    let this = (snapshot.run, snapshot.update);
    let offer = |id: &str, intent: Intent| (ctx.t(id).to_owned(), intent);
    let (text, color, icon, offers) = if let Some(failure) = &desk.failure {
        let first = failure.lines().next().unwrap_or_default();
        let offers = vec![offer("cover.failed.button", Intent::RestartSession)];
        (texts.f("cover.failed", &[texts.t(first)]), theme.bad, Icon::Warning, offers)
    } else {
        let take = |id: &str, update: u32, which: Weights| {
            let text = texts.f(id, &[&numbers::count(update)]);
            (text, Intent::View(Action::Session(Command::TakeWeights(which))))
        };
        match &snapshot.state {
            RunState::Finished | RunState::Reached => {
                let mut offers = vec![
                    offer("cover.continue", Intent::View(Action::Session(Command::Continue))),
                    offer("cover.next", Intent::NextExperiment),
                ];
                let mut text = finished_text(ctx, snapshot.state == RunState::Reached);
                if let Some(peak) = snapshot.peak {
                    text = texts.f("cover.past_peak", &[&text, &numbers::value(peak.mean)]);
                    offers.push(take("cover.take_best", peak.update, Weights::Best));
                }
                (text, theme.good, Icon::Check, offers)
            }
            RunState::Diverged { tensor, cause, update } => {
                let mut offers = Vec::new();
                if let Some((best, last)) = snapshot.kept {
                    offers.push(take("cover.take_last", last, Weights::Last));
                    offers.extend(best.map(|best| take("cover.take_best", best, Weights::Best)));
                }
                offers.push(offer("cover.lower_lr", Intent::LowerLr));
                offers.push(offer("transport.restart", Intent::RestartTraining));
                let id = match cause {
                    Cause::NotFinite => "cover.diverged.not_finite",
                    Cause::Gradient => "cover.diverged.gradient",
                    Cause::Weights => "cover.diverged.weights",
                };
                (texts.f(id, &[tensor, &numbers::count(*update)]), theme.bad, Icon::Warning, offers)
            }
            _ => return false,
        }
    };
    let rect = ui.available_rect_before_wrap();
    if !ctx.view.compact {
        ui.spacing_mut().item_spacing.y = 3.0; // two lines and two rows of offers in the card's height
    }
    ui.horizontal(|ui| {
        let (slot, _) = ui.allocate_exact_size(vec2(18.0, theme.size.control), egui::Sense::hover());
        crate::view::icons::paint(ui.painter(), icon, slot, 15.0, color);
        let room = (rect.width() - 18.0 - theme.size.control - 24.0).max(120.0);
        ui.allocate_ui(vec2(room, theme.size.control), |ui| {
            ui.set_min_width(room);
            ui.add_space(3.0);
            ui.add(egui::Label::new(RichText::new(&text).font(theme.body()).color(theme.text)).wrap());
        });
        // Until a diverged run has been given weights, nothing else can be done with it.
        let can_close = desk.failure.is_none() && !matches!(snapshot.state, RunState::Diverged { .. });
        if can_close {
            let close = Button::icon(Icon::Close, ctx.t("cover.close")).weight(Weight::Quiet);
            if close.tip(ctx.t("cover.close.tip")).show(ui, theme).clicked() {
                desk.closed_cover = Some(this);
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        for (index, (text, intent)) in offers.into_iter().enumerate() {
            let weight = if index == 0 { Weight::Primary } else { Weight::Normal };
            if Button::text(&text).weight(weight).show(ui, theme).clicked() {
                out.push(intent);
            }
        }
    });
    true
}

/// The result, beside the optimum where there was no other goal.
fn finished_text(ctx: &PageCtx<'_>, is_goal: bool) -> String {
    let texts = ctx.texts();
    let unit = ctx.t(returns::unit(&ctx.view));
    let steps = numbers::count(ctx.view.snapshot.env_steps);
    let result = ctx.view.curve.last().map_or_else(|| "–".to_owned(), |point| numbers::value(point.mean));
    match ctx.view.facts.optimum {
        _ if is_goal => texts.f("cover.reached", &[&steps, &result, unit]),
        Some(optimum) => {
            let id = if optimum.full_information { "cover.finished.full_information" } else { "cover.finished" };
            texts.f(id, &[&steps, &result, unit, &numbers::value(optimum.value)])
        }
        None => texts.f("cover.finished.plain", &[&steps, &result, unit]),
    }
}
