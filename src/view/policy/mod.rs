//! The policies: π_i(·|o_i) of each agent at the state on stage, what the critic says of it, and how far the newest update
//! moved them (Schulman et al. 2017).

pub mod histogram;

use egui::{RichText, ScrollArea, Ui, Vec2, vec2};
use tandem_core::experiment::snapshot::{PolicyStats, Sentence};
use tandem_core::experiment::spec::AdvantageChoice;
use tandem_core::marl::parts::critic::CriticView;

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::badges::badges_ui;
use crate::view::plots::{Chart, Series};
use crate::view::rows::rows_ui;
use crate::view::widgets::segmented;
use crate::view::{numbers, parts};

/// The view's name.
pub const ID: ViewId = ViewId("policy");

/// Which figure is drawn over training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Curve {
    #[default]
    Kl,
    Clipped,
    Entropy,
    Explained,
}

/// The view and what of it outlives a frame.
#[derive(Debug, Default)]
pub struct PolicyView {
    curve: Curve,
}

impl View for PolicyView {
    fn id(&self) -> ViewId {
        ID
    }

    fn title(&self) -> &'static str {
        "view.policy"
    }

    fn unavailable(&self, ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        let algo = ctx.spec.algo;
        (!algo.is_policy_gradient()).then(|| (Sentence::new("policy.value_based", &[algo.info().name]), ViewId("qtot")))
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, _actions: &mut Vec<Action>) {
        if self.unavailable(ctx).is_some() {
            let height = ui.available_height();
            rows_ui(ui, ctx, height);
            return;
        }
        ui.spacing_mut().item_spacing.y = 6.0;
        badges_ui(ui, ctx.theme, ctx.texts, ctx.spec);
        ScrollArea::vertical().id_salt("policy").auto_shrink(false).scroll_source(parts::scrolled_by(ctx.theme)).show(
            ui,
            |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                self.pictures(ui, ctx);
            },
        );
    }
}

impl PolicyView {
    fn pictures(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>) {
        let (texts, theme) = (ctx.texts, ctx.theme);
        let width = ui.available_width();
        let lines = if ctx.compact { 4.0 } else { 2.0 };
        let room = ui.available_height() - theme.size.small * 1.5 * lines - 18.0;
        let is_beside = width >= 420.0;
        rows_ui(ui, ctx, if is_beside { room * 0.48 } else { room * 0.36 });
        ui.scope(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            ui.horizontal_wrapped(|ui| facts(ui, ctx));
        });
        let Some(stats) = &ctx.snapshot.policy else {
            parts::message(
                ui,
                theme,
                vec2(width, (room * 0.5).max(60.0)),
                texts.t(if ctx.learns() { "policy.no_update" } else { "policy.nobody_learns" }),
            );
            return;
        };
        if ctx.spec.algo.info().is_counterfactual {
            // A step on fresh data has no ratio to an older policy.
            self.over_training(ui, ctx, vec2(width, (room * 0.52).max(110.0)));
        } else if is_beside {
            let size = vec2((width - 14.0) / 2.0, (room * 0.52).max(110.0));
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                histogram::histogram_ui(ui, ctx, stats, size);
                ui.vertical(|ui| self.over_training(ui, ctx, size));
            });
        } else {
            let size = vec2(width, (room * 0.3).max(150.0));
            histogram::histogram_ui(ui, ctx, stats, size);
            self.over_training(ui, ctx, size);
        }
    }

    /// One figure of the updates, evaluation by evaluation.
    fn over_training(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, size: Vec2) {
        let (texts, theme) = (ctx.texts, ctx.theme);
        let options = [
            (Curve::Kl, "KL", texts.t("policy.kl.tip")),
            (Curve::Clipped, texts.t("policy.clipped"), texts.t("policy.clipped.tip")),
            (Curve::Entropy, texts.t("policy.entropy"), texts.t("policy.entropy.tip")),
            (Curve::Explained, texts.t("policy.explained.short"), texts.t("policy.explained.tip")),
        ];
        // Without ratios there is neither KL nor clipping.
        let options = if ctx.spec.algo.info().is_counterfactual { &options[2..] } else { &options[..] };
        if !options.iter().any(|&(curve, ..)| curve == self.curve) {
            self.curve = options[0].0;
        }
        if let Some(chosen) = ui.horizontal(|ui| segmented(ui, theme, options, self.curve)).inner {
            self.curve = chosen;
        }
        let size = vec2(size.x, (size.y - theme.size.control - 6.0).max(80.0));
        let title = match self.curve {
            Curve::Kl => "policy.kl.over",
            Curve::Clipped => "policy.clipped.over",
            Curve::Entropy => "policy.entropy.over",
            Curve::Explained => "policy.explained.over",
        };
        let points: Vec<(f64, f64)> = ctx
            .curve
            .iter()
            .filter_map(|point| Some((f64::from(point.env_steps), f64::from(self.figure(point.policy.as_ref()?)?))))
            .collect();
        if points.is_empty() {
            let has_critic = ctx.spec.learner.advantage != AdvantageChoice::Group;
            let why =
                if self.curve == Curve::Explained && !has_critic { "policy.no_critic" } else { "policy.curve.none" };
            parts::message(ui, theme, size, texts.t(why));
            return;
        }
        let series = Series { label: String::new(), color: theme.accent, width: 1.8, points, band: Vec::new() };
        let chart = Chart {
            title: texts.t(title).to_owned(),
            x_title: texts.t("axis.env_steps").to_owned(),
            series: vec![series],
            x_least: f64::from(ctx.snapshot.budget),
            y_include: vec![0.0],
            ..Chart::default()
        };
        let reply = chart.ui(ui, theme, size);
        let Some(&(x, y)) = reply.hovered.and_then(|index| chart.series[0].points.get(index as usize)) else { return };
        if !parts::is_covered(ui) {
            let words = [numbers::count(x as u32), numbers::value(y as f32)];
            parts::tip_now(ui, &reply.response, |ui| ui.label(texts.f("policy.curve.at", &[&words[0], &words[1]])));
        }
    }

    fn figure(&self, stats: &PolicyStats) -> Option<f32> {
        match self.curve {
            Curve::Kl => Some(stats.kl),
            Curve::Clipped => Some(stats.clip_fraction),
            Curve::Entropy => Some(stats.entropy),
            Curve::Explained => stats.explained_variance,
        }
    }
}

/// What the critic says of this state, and the newest update in figures.
fn facts(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    ui.spacing_mut().item_spacing.x = 14.0;
    let critic = ctx.spec.algo.info().critic;
    let values = &ctx.snapshot.stage.values;
    let name = ctx.spec.algo.info().name;
    let told = match (critic, &values[..]) {
        _ if ctx.spec.algo.info().is_counterfactual => {
            let (inputs, others) = (ctx.facts.critic_inputs.to_string(), (ctx.facts.num_agents - 1).to_string());
            texts.f("policy.value.actions", &[name, &inputs, &others])
        }
        (_, []) => texts.t("policy.no_critic").to_owned(),
        (Some(CriticView::Central), [value]) => texts.f("policy.value.central", &[name, &numbers::short(*value)]),
        (Some(CriticView::Central), _) => texts.f("policy.value.heads", &[name]),
        _ => texts.f("policy.value.local", &[name]),
    };
    let told = egui::Label::new(RichText::new(told).font(theme.small()).color(theme.text));
    let is_counterfactual = ctx.spec.algo.info().is_counterfactual;
    let tip = if is_counterfactual { "policy.value.actions.tip" } else { "policy.value.tip" };
    ui.add(told).on_hover_text(texts.t(tip));
    let Some(stats) = &ctx.snapshot.policy else { return };
    let mut add = |id: &str, value: String| {
        let tip = texts.get(&format!("{id}.tip")).unwrap_or_default();
        parts::fact(ui, theme, texts.t(id), &value, theme.text, tip);
    };
    if !is_counterfactual {
        add("policy.clipped", numbers::percent(stats.clip_fraction));
        add("policy.kl", numbers::value(stats.kl));
    }
    add("policy.entropy", numbers::short(stats.entropy));
    if let Some(explained) = stats.explained_variance {
        add("policy.explained", numbers::short(explained));
    }
}
