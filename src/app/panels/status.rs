//! The status bar: what training does, on which engine and why, how fast, and the numbers that name this moment.

use egui::{Align, Color32, Label, Layout, RichText, Ui, vec2};
use tandem_core::base::hash::hex;
use tandem_core::experiment::knobs::knob;
use tandem_core::experiment::snapshot::RunState;

use super::transport::state_text;
use crate::app::ctx::PageCtx;
use crate::platform::Origin;
use crate::view::numbers;
use crate::view::widgets::{dot, heading};

/// One figure: text, its colour, what it is.
struct Item {
    text: String,
    tip: String,
    color: Color32,
}

/// Draws the bar.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>) {
    let theme = ctx.theme();
    let area = ui.available_size();
    ui.allocate_ui_with_layout(area, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 16.0;
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            dot(ui, 4.0, state_color(ctx));
            let state = RichText::new(state_text(ctx)).font(theme.strong(theme.size.small)).color(state_color(ctx));
            ui.add(Label::new(state)).on_hover_text(ctx.t("status.state.tip"));
        });
        let version = concat!("v", env!("CARGO_PKG_VERSION"));
        for item in items(ctx) {
            let text = RichText::new(&item.text).font(theme.small()).color(item.color);
            let width = ui.painter().layout_no_wrap(item.text.clone(), theme.small(), item.color).size().x;
            if ui.available_width() < width + 60.0 {
                break;
            }
            ui.add(Label::new(text)).on_hover_text(&item.tip);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(RichText::new(version).font(theme.small()).color(theme.text_faint));
        });
    });
}

/// The same as lines, at the end of the phone's page.
pub fn block(ui: &mut Ui, ctx: &PageCtx<'_>) {
    let theme = ctx.theme();
    theme.card_frame().show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing = vec2(12.0, 6.0);
        heading(ui, theme, ctx.t("status.title"));
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(state_text(ctx)).font(theme.strong(theme.size.small)).color(state_color(ctx)));
            for item in items(ctx) {
                ui.label(RichText::new(item.text).font(theme.small()).color(item.color)).on_hover_text(item.tip);
            }
        });
    });
}

fn state_color(ctx: &PageCtx<'_>) -> Color32 {
    let theme = ctx.theme();
    match ctx.view.snapshot.state {
        _ if ctx.is_dead => theme.bad,
        RunState::Paused => theme.text_dim,
        RunState::Running | RunState::Seeking { .. } | RunState::Finished | RunState::Reached => theme.good,
        RunState::Diverged { .. } => theme.bad,
    }
}

/// The figures, the most telling first: a narrow bar leaves the last ones out.
fn items(ctx: &PageCtx<'_>) -> Vec<Item> {
    let theme = ctx.theme();
    let texts = ctx.texts();
    let snapshot = ctx.view.snapshot;
    let rate = |per_sec: f32| numbers::count(per_sec.round().max(0.0) as u32);
    let item = |id: &str, args: &[&str], color: Color32| Item {
        text: texts.f(id, args),
        tip: texts.t(&format!("{id}.tip")).to_owned(),
        color,
    };
    let mut items = vec![
        item("status.env_step", &[&numbers::count(snapshot.env_steps)], theme.text),
        item("status.update", &[&numbers::count(snapshot.update)], theme.text),
    ];
    if snapshot.updates_per_sec > 0.0 {
        let left = snapshot.budget.saturating_sub(snapshot.env_steps) as f32 / snapshot.env_steps_per_sec;
        items.push(item("status.to_go", &[&numbers::duration(left)], theme.text));
        items.push(item("status.env_rate", &[&rate(snapshot.env_steps_per_sec)], theme.text));
        items.push(item("status.update_rate", &[&rate(snapshot.updates_per_sec)], theme.text));
    }
    if let Some(update) = snapshot.weights_of {
        items.push(item("status.weights_of", &[&numbers::count(update)], theme.warn));
    } else if let Some(update) = snapshot.changed_at {
        items.push(item("status.changed", &[&numbers::count(update)], theme.warn));
    }
    let steps = snapshot.gradient_steps;
    items.push(Item {
        text: texts.plural("status.gradient_steps", steps, &[&numbers::count(steps)]),
        ..item("status.gradient_steps", &[], theme.text_dim)
    });
    // After divergence these are numbers of the weights put back, not of what went wrong.
    let has_diverged = matches!(snapshot.state, RunState::Diverged { .. });
    let told = |number: Option<f32>| number.filter(|_| !has_diverged);
    let (loss, norm) = (told(snapshot.loss), told(snapshot.grad_norm));
    if ctx.view.facts.is_policy_gradient {
        if let Some(stats) = &snapshot.policy {
            items.push(item("status.entropy", &[&numbers::value(stats.entropy)], theme.text_dim));
            if !ctx.view.spec.algo.info().is_counterfactual {
                items.push(item("status.kl", &[&numbers::value(stats.kl)], theme.text_dim));
            }
        }
    } else {
        items.extend(loss.map(|loss| item("status.loss", &[&numbers::value(loss)], theme.text_dim)));
    }
    if ctx.view.spec.algo.info().has_epsilon() {
        items.push(item("status.epsilon", &[&numbers::value(snapshot.epsilon)], theme.text_dim));
    }
    items.push(item("status.seed", &[&ctx.wanted.seed.to_string()], theme.text_dim));
    let hash = hex(snapshot.trace_hash);
    items.push(Item {
        text: texts.f("status.hash", &[&hash[..8]]),
        tip: texts.f("status.hash.tip", &[&hash, &numbers::count(snapshot.trace_at)]),
        color: theme.text_dim,
    });
    let engine = knob("engine").map_or_else(String::new, |knob| texts.t(&knob.chosen_id(ctx.view.spec)).to_owned());
    items.push(Item { text: engine, tip: engine_tip(ctx), color: theme.text_dim });
    items.push(item("status.lr", &[&numbers::rate(snapshot.lr)], theme.text_dim));
    let (filled, room) = snapshot.replay;
    if room > 0 {
        items.push(item("status.replay", &[&numbers::percent(filled as f32 / room as f32)], theme.text_dim));
    }
    items.extend(norm.map(|norm| item("status.grad_norm", &[&numbers::value(norm)], theme.text_dim)));
    let facts = ctx.view.facts;
    let parts = [facts.agent_parameters, facts.mixer_parameters, facts.critic_parameters];
    let [agents, mixer, critic] = parts.map(numbers::count);
    items.push(Item {
        text: texts.f("status.parameters", &[&numbers::count(parts.iter().sum())]),
        tip: texts.f("status.parameters.tip", &[&agents, &mixer, &critic]),
        color: theme.text_dim,
    });
    items
}

/// Which engine and why.
fn engine_tip(ctx: &PageCtx<'_>) -> String {
    let why = match ctx.origin {
        Origin::Desktop => "status.engine.desktop",
        Origin::Secure { webgpu: true } => "status.engine.webgpu",
        Origin::Secure { webgpu: false } => "status.engine.no_webgpu",
        Origin::Insecure => "status.engine.insecure",
    };
    format!("{}\n\n{}", ctx.t("status.engine.tip"), ctx.t(why))
}
