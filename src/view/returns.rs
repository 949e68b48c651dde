//! The evaluation curves: the environment's headline measure with its band and optimum, and the raw returns.
//!
//! The two never share an axis: a return of 1 and 3 env steps are different units. The band is over the evaluation
//! episodes of this one run, not over seeds, and says so.

use egui::{RichText, Sense, Ui, Vec2, vec2};
use tandem_core::env::api::Headline;
use tandem_core::experiment::snapshot::{EvalPoint, Sentence};

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::numbers;
use crate::view::parts;
use crate::view::plots::{Chart, Reference, Series};
use crate::view::widgets::{Button, Weight};

/// The view's name.
pub const ID: ViewId = ViewId("returns");

/// The view; it remembers nothing.
#[derive(Debug, Default)]
pub struct ReturnsView;

impl View for ReturnsView {
    fn id(&self) -> ViewId {
        ID
    }

    fn title(&self) -> &'static str {
        "view.returns"
    }

    fn unavailable(&self, _ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        None
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        ui.spacing_mut().item_spacing.y = 6.0;
        let width = ui.available_width();
        let button = if ctx.kept.is_empty() { 0.0 } else { ctx.theme.size.control + 6.0 };
        let foot = ctx.theme.size.small * 1.6 * 2.0 + button + 12.0;
        let height = if ctx.compact { 560.0 } else { (ui.available_height() - foot).max(260.0) };
        headline_ui(ui, ctx, vec2(width, height * 0.56), false, actions);
        notes(ui, ctx, actions);
        returns_ui(ui, ctx, vec2(width, height * 0.44));
    }
}

/// The headline measure as a small curve: always beneath the chosen view.
pub fn headline_curve(ui: &mut Ui, ctx: &ViewCtx<'_>, size: Vec2, actions: &mut Vec<Action>) {
    headline_ui(ui, ctx, size, true, actions);
}

/// The headline measure in one line: a curve without axes, the newest value beside it.
pub fn sparkline(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    let theme = ctx.theme;
    ui.horizontal(|ui| {
        let value = ctx.curve.last().map_or_else(|| "–".to_owned(), |point| numbers::value(point.mean));
        let text = ctx.texts.f("headline.short", &[&value, ctx.texts.t(unit(ctx))]);
        let galley = ui.painter().layout_no_wrap(text.clone(), theme.small(), theme.text);
        let width = (ui.available_width() - galley.size().x - 12.0).max(40.0);
        let size = vec2(width, theme.size.small * 2.0);
        if ctx.curve.is_empty() {
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            ui.painter().hline(rect.x_range(), rect.center().y, egui::Stroke::new(1.0, theme.line_strong));
        } else {
            let chart = Chart {
                series: vec![own_series(ctx, String::new())],
                references: optimum(ctx),
                x_least: f64::from(ctx.snapshot.budget),
                bare: true,
                ..Chart::default()
            };
            chart.ui(ui, theme, size);
        }
        ui.label(RichText::new(text).font(theme.small()));
    });
}

/// Text id of the headline's unit.
pub fn unit(ctx: &ViewCtx<'_>) -> &'static str {
    if ctx.facts.lower_is_better { "headline.steps.unit" } else { "headline.return.unit" }
}

/// Name of the headline measure: whose return it is, where it is not everybody's.
fn measure(ctx: &ViewCtx<'_>) -> String {
    let (texts, n) = (ctx.texts, ctx.facts.num_agents);
    match ctx.facts.headline {
        _ if ctx.facts.lower_is_better => texts.t("headline.steps").to_owned(),
        Headline::Mean { first, count: 1 } if n > 1 => texts.f("headline.return.agent", &[&(first + 1).to_string()]),
        Headline::Mean { first, count } if count < n => {
            texts.f("headline.return.agents", &[&(first + 1).to_string(), &(first + count).to_string()])
        }
        Headline::Sum => texts.t("headline.return.team").to_owned(),
        Headline::Mean { .. } | Headline::Steps => texts.t("headline.return").to_owned(),
    }
}

fn headline_ui(ui: &mut Ui, ctx: &ViewCtx<'_>, size: Vec2, is_small: bool, actions: &mut Vec<Action>) {
    let texts = ctx.texts;
    let measure = &measure(ctx);
    let has_points = !ctx.curve.is_empty() || ctx.kept.iter().any(|kept| !kept.points.is_empty());
    if !has_points {
        let first = numbers::count(ctx.spec.eval_every);
        parts::message(ui, ctx.theme, size, &texts.f("headline.none", &[measure, &first]));
        return;
    }
    let mut series: Vec<Series> = ctx
        .kept
        .iter()
        .map(|kept| Series {
            label: kept.label.clone(),
            color: ctx.theme.kept_color(kept.color_index),
            width: 1.2,
            points: points(&kept.points, |point| point.mean),
            band: Vec::new(),
        })
        .collect();
    let own_label = if ctx.kept.is_empty() { String::new() } else { texts.t("headline.this").to_owned() };
    series.push(own_series(ctx, own_label));
    let better = texts.t(if ctx.facts.lower_is_better { "headline.lower" } else { "headline.higher" });
    let chart = Chart {
        title: format!("{measure} · {better}"),
        x_title: texts.t("axis.env_steps").to_owned(),
        series,
        references: optimum(ctx),
        x_least: f64::from(ctx.snapshot.budget),
        y_include: Vec::new(),
        bare: false,
    };
    let reply = chart.ui(ui, ctx.theme, size);
    if parts::is_covered(ui) {
        return;
    }
    if reply.on_title || reply.hovered_reference.is_some() {
        let id = match (reply.on_title, ctx.facts.lower_is_better) {
            (true, true) => "headline.steps.tip",
            (true, false) => "headline.return.tip",
            (false, _) => "optimum.tip",
        };
        let text = texts.f(id, &[&numbers::count(ctx.facts.max_steps)]);
        parts::tip_now(ui, &reply.response, |ui| ui.label(text));
        return;
    }
    let own_index = chart.series.len() as u32 - 1;
    let kept = reply.hovered_series.filter(|index| *index != own_index);
    if let Some(kept) = kept.and_then(|index| ctx.kept.get(index as usize)) {
        if let Some(link) = &kept.link {
            ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
            if reply.response.clicked() {
                actions.push(Action::OpenLink(link.clone()));
            }
        }
        parts::tip_now(ui, &reply.response, |ui| {
            ui.colored_label(ctx.theme.kept_color(kept.color_index), &kept.label);
            if let Some(last) = kept.points.last() {
                ui.label(point_text(ctx, last));
            }
            let tip = if kept.link.is_some() { "headline.kept.tip" } else { "headline.kept.changed.tip" };
            ui.label(RichText::new(texts.t(tip)).color(ctx.theme.text_dim).small());
        });
        return;
    }
    if let Some(point) = reply.hovered.and_then(|index| ctx.curve.get(index as usize)) {
        parts::tip_now(ui, &reply.response, |ui| {
            let at = [numbers::count(point.env_steps), numbers::count(point.update)];
            ui.strong(texts.f("headline.at", &[&at[0], &at[1]]));
            ui.label(point_text(ctx, point));
            if !is_small {
                ui.label(RichText::new(spread_text(ctx, point)).color(ctx.theme.text_dim).small());
                let solved = [numbers::percent(point.solved), numbers::count(point.episodes)];
                let solved = texts.f("headline.solved", &[&solved[0], &solved[1]]);
                ui.label(RichText::new(solved).color(ctx.theme.text_dim).small());
            }
        });
    }
}

/// What the band is, and for the kept curves a button each that opens its link and one that forgets them all.
fn notes(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    let theme = ctx.theme;
    let note = ctx.texts.f(band_note(ctx), &[&numbers::count(ctx.facts.exhausted_starts)]);
    ui.label(RichText::new(note).font(theme.small()).color(theme.text_faint));
    if ctx.kept.is_empty() {
        return;
    }
    egui::ScrollArea::horizontal().id_salt("kept").auto_shrink([false, true]).show(ui, |ui| {
        ui.horizontal(|ui| {
            let button = Button::text(ctx.texts.t("headline.clear")).tip(ctx.texts.t("headline.clear.tip"));
            if button.weight(Weight::Quiet).show(ui, theme).clicked() {
                actions.push(Action::ClearKept);
            }
            for kept in ctx.kept {
                let Some(link) = &kept.link else { continue };
                let button = Button::text(&kept.label).tip(ctx.texts.t("headline.kept.button.tip"));
                if button.show(ui, theme).clicked() {
                    actions.push(Action::OpenLink(link.clone()));
                }
            }
        });
    });
}

/// Raw undiscounted returns: one line per agent, the team's over them.
fn returns_ui(ui: &mut Ui, ctx: &ViewCtx<'_>, size: Vec2) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    if ctx.curve.is_empty() {
        parts::message(ui, theme, size, texts.t("returns.none"));
        return;
    }
    let agents = ctx.facts.num_agents;
    let of = |agent: u32| move |point: &EvalPoint| point.returns.get(agent as usize).copied().unwrap_or(0.0);
    // With one reward for all, the agents' lines are the same line: one of them says so.
    let is_common = ctx.curve.iter().all(|point| point.returns.windows(2).all(|pair| pair[0] == pair[1]));
    let mut series = Vec::new();
    if is_common {
        series.push(Series {
            label: texts.t("returns.each").to_owned(),
            color: theme.accent,
            width: 2.0,
            points: points(ctx.curve, of(0)),
            band: Vec::new(),
        });
    } else {
        for agent in 0..agents {
            series.push(Series {
                label: texts.f("agent.name", &[&(agent + 1).to_string()]),
                color: theme.agent_text(agent),
                width: 1.8,
                points: points(ctx.curve, of(agent)),
                band: Vec::new(),
            });
        }
        series.push(Series {
            label: texts.t("returns.team").to_owned(),
            color: theme.text_dim,
            width: 1.4,
            points: points(ctx.curve, team),
            band: Vec::new(),
        });
    }
    let chart = Chart {
        title: texts.t("returns.title").to_owned(),
        x_title: texts.t("axis.env_steps").to_owned(),
        series,
        references: Vec::new(),
        x_least: f64::from(ctx.snapshot.budget),
        y_include: Vec::new(),
        bare: false,
    };
    let reply = chart.ui(ui, theme, size);
    if reply.on_title && !parts::is_covered(ui) {
        parts::tip_now(ui, &reply.response, |ui| ui.label(texts.t("returns.tip")));
    }
    let Some(point) = reply.hovered.and_then(|index| ctx.curve.get(index as usize)).filter(|_| !parts::is_covered(ui))
    else {
        return;
    };
    parts::tip_now(ui, &reply.response, |ui| {
        let at = [numbers::count(point.env_steps), numbers::count(point.update)];
        ui.strong(texts.f("headline.at", &[&at[0], &at[1]]));
        for (agent, value) in (0_u32..).zip(&point.returns) {
            let name = texts.f("agent.name", &[&(agent + 1).to_string()]);
            ui.colored_label(theme.agent_text(agent), format!("{name}  {}", numbers::value(*value)));
        }
        if !is_common {
            ui.label(texts.f("returns.team.value", &[&numbers::value(team(point))]));
        }
        ui.label(RichText::new(texts.t("returns.tip")).color(theme.text_dim).small());
    });
}

/// Sum of the agents' returns.
fn team(point: &EvalPoint) -> f32 {
    point.returns.iter().sum()
}

fn own_series(ctx: &ViewCtx<'_>, label: String) -> Series {
    let band = |point: &EvalPoint| {
        if ctx.facts.exhausted_starts > 0 {
            (f64::from(point.min), f64::from(point.max))
        } else {
            (f64::from(point.mean - point.ci95), f64::from(point.mean + point.ci95))
        }
    };
    Series {
        label,
        color: ctx.theme.accent,
        width: 2.0,
        points: points(ctx.curve, |point| point.mean),
        band: ctx.curve.iter().map(band).collect(),
    }
}

fn points(curve: &[EvalPoint], value: impl Fn(&EvalPoint) -> f32) -> Vec<(f64, f64)> {
    curve.iter().map(|point| (f64::from(point.env_steps), f64::from(value(point)))).collect()
}

fn optimum(ctx: &ViewCtx<'_>) -> Vec<Reference> {
    let Some(optimum) = ctx.facts.optimum else { return Vec::new() };
    let id = match (optimum.full_information, optimum.exact) {
        (false, true) => "optimum.exact",
        (false, false) => "optimum.sampled",
        (true, true) => "optimum.full_information",
        (true, false) => "optimum.full_information_sampled",
    };
    let label = ctx.texts.f(id, &[&numbers::value(optimum.value)]);
    vec![Reference { value: f64::from(optimum.value), label }]
}

fn point_text(ctx: &ViewCtx<'_>, point: &EvalPoint) -> String {
    ctx.texts.f("headline.short", &[&numbers::value(point.mean), ctx.texts.t(unit(ctx))])
}

/// Text id of what the band is.
fn band_note(ctx: &ViewCtx<'_>) -> &'static str {
    match ctx.facts.exhausted_starts {
        0 => "headline.band.sampled",
        1 => "headline.band.one",
        _ => "headline.band.enumerated",
    }
}

fn spread_text(ctx: &ViewCtx<'_>, point: &EvalPoint) -> String {
    if ctx.facts.exhausted_starts > 0 {
        ctx.texts.f("headline.range", &[&numbers::value(point.min), &numbers::value(point.max)])
    } else {
        ctx.texts.f("headline.ci", &[&numbers::value(point.ci95)])
    }
}
