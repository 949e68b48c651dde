//! Q_tot at the state on stage: a surface or a contour over the utilities of a pair of agents, the table of their joint
//! actions, how far the surface is from a plane, and whether the agents' own choices agree with it (IGM).
//!
//! Sources: Sunehag et al. 2017 (VDN), Rashid et al. 2018 (QMIX, eq. 4–6), Son et al. 2019 (the name IGM).

pub mod axes;
pub mod contour;
pub mod flat;
pub mod mesh;
pub mod picture;
pub mod surface;
pub mod table;

use egui::{RichText, Ui, vec2};
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::snapshot::{JointValues, Mixed, Sentence};
use tandem_core::experiment::spec::{AlgoChoice, PositivityChoice};

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::orbit::Orbit;
use crate::view::qtot::axes::{Axes, Ranges, Subject};
use crate::view::qtot::picture::Picture;
use crate::view::qtot::table::Shown;
use crate::view::rows::rows_ui;
use crate::view::widgets::{Button, segmented, switch};
use crate::view::{icons, numbers, parts, policy, returns, stage};

/// Which picture of the joint value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Surface,
    Contour,
    /// The table alone, in a column too narrow for a picture beside it.
    Table,
}

/// The view and what of it outlives a frame.
#[derive(Debug, Default)]
pub struct QtotView {
    orbit: Orbit,
    axes: Axes,
    /// `None` until chosen: a surface on a wide page, a contour on a phone.
    kind: Option<Kind>,
    shown: Shown,
    /// The run for which the state is shown where the mixer without |·| breaks.
    at_break: Option<u32>,
    /// The joint action pointed at in the last frame, marked in the other picture.
    marked: Option<(u32, u32)>,
    /// Height of what stands beneath the pictures, as it was last drawn: lines wrap as languages and windows have it.
    foot: Option<f32>,
}

impl View for QtotView {
    fn id(&self) -> ViewId {
        ViewId("qtot")
    }

    fn title(&self) -> &'static str {
        "view.qtot"
    }

    fn unavailable(&self, ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        let id = match ctx.spec.algo {
            AlgoChoice::Iql => "qtot.iql",
            AlgoChoice::Ippo => return Some((Sentence::new("qtot.ippo", &[]), policy::ID)),
            AlgoChoice::Coma => return Some((Sentence::new("qtot.coma", &[]), policy::ID)),
            AlgoChoice::Mappo => {
                let sentence = match ctx.snapshot.stage.values[..] {
                    [value] => Sentence::new("qtot.mappo", &[&numbers::short(value)]),
                    _ => Sentence::new("qtot.mappo.heads", &[]),
                };
                return Some((sentence, policy::ID));
            }
            _ if ctx.facts.num_agents < 2 => "qtot.single",
            _ if networked(ctx) < 2 => "qtot.seats",
            AlgoChoice::Vdn | AlgoChoice::Qmix => return None,
        };
        Some((Sentence::new(id, &[]), returns::ID))
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        if self.unavailable(ctx).is_some() {
            let note = if ctx.facts.is_policy_gradient { "policy.rows.note" } else { "qtot.rows.note" };
            let height = ui.available_height() - ctx.theme.size.small * 3.0;
            rows_ui(ui, ctx, height);
            let learners = (0..ctx.facts.num_agents).filter(|&agent| ctx.spec.learner.seats.of(agent).learns());
            if learners.count() > 1 {
                ui.label(RichText::new(ctx.texts.t(note)).font(ctx.theme.small()).color(ctx.theme.text_dim));
            }
            return;
        }
        let Some(joint) = &ctx.snapshot.joint else {
            parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("qtot.waiting"));
            return;
        };
        ui.spacing_mut().item_spacing.y = 6.0;
        self.header(ui, ctx, joint, actions);
        let (mixed, reading) = self.reading(ctx, joint);
        if mixed.points < 2 || mixed.surface.len() != (mixed.points * mixed.points) as usize {
            parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("qtot.waiting"));
            return;
        }
        let (now, frame_secs) = ui.input(|input| (input.time, f64::from(input.unstable_dt)));
        self.axes.follow(now, frame_secs, subject(ctx, joint, reading), Ranges::of(mixed));
        if self.axes.is_moving(now) {
            ui.request_repaint();
        }
        let ranges = self.axes.at(now);
        let picture = Picture { mixed, pair: joint.pair, ranges, marked: self.marked };
        self.pictures(ui, ctx, joint, &picture);
        let above = ui.cursor().top();
        ui.scope(|ui| {
            // Text, not controls: rows as low as their type.
            ui.spacing_mut().interact_size.y = 0.0;
            self.facts(ui, ctx, joint, mixed);
        });
        if !has_controls_above(ui, ctx, joint) {
            ui.horizontal_wrapped(|ui| self.controls(ui, ctx, joint, actions));
        }
        let foot = ui.min_rect().bottom() - above + ui.spacing().item_spacing.y;
        if self.foot.is_none_or(|before| (before - foot).abs() > 0.5) {
            self.foot = Some(foot);
            ui.request_repaint();
        }
    }
}

/// Agents that have a utility: scripts and people have none.
fn networked(ctx: &ViewCtx<'_>) -> usize {
    (0..ctx.facts.num_agents).filter(|&agent| ctx.spec.learner.seats.of(agent).has_network()).count()
}

impl QtotView {
    /// The values to show and a number for which reading they are.
    fn reading<'a>(&self, ctx: &ViewCtx<'_>, joint: &'a JointValues) -> (&'a Mixed, u32) {
        match (&joint.without_abs, &joint.counterexample) {
            (Some(_), Some((_, broken))) if ctx.watch.without_abs && self.at_break == Some(ctx.snapshot.run) => {
                (broken, 2)
            }
            (Some(raw), _) if ctx.watch.without_abs => (raw, 1),
            _ => (&joint.learned, 0),
        }
    }

    /// Exact values of the state that is shown, where they are known.
    fn exact<'a>(&self, ctx: &ViewCtx<'_>, joint: &'a JointValues) -> Option<&'a [f32]> {
        joint.exact.as_deref().filter(|_| self.reading(ctx, joint).1 != 2)
    }

    fn header(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, joint: &JointValues, actions: &mut Vec<Action>) {
        let texts = ctx.texts;
        ui.horizontal_wrapped(|ui| {
            let options = [
                (Kind::Surface, texts.t("qtot.surface"), texts.t("qtot.surface.tip")),
                (Kind::Contour, texts.t("qtot.contour"), texts.t("qtot.contour.tip")),
                (Kind::Table, texts.t("qtot.table"), texts.t("qtot.table.tip")),
            ];
            let options = if is_narrow(ui, ctx) { &options[..] } else { &options[..2] };
            if let Some(kind) = segmented(ui, ctx.theme, options, self.kind(ui, ctx)) {
                self.kind = Some(kind);
            }
            if self.exact(ctx, joint).is_some() {
                let options = [
                    (Shown::Learned, texts.t("qtot.learned"), texts.t("qtot.learned.tip")),
                    (Shown::Exact, texts.t("qtot.exact"), texts.t("qtot.exact.tip")),
                    (Shown::Difference, texts.t("qtot.difference"), texts.t("qtot.difference.tip")),
                ];
                ui.add_space(8.0);
                if let Some(shown) = segmented(ui, ctx.theme, &options, self.shown) {
                    self.shown = shown;
                }
            }
            if ctx.facts.num_agents > 2 {
                pair_picker(ui, ctx, joint.pair, actions);
            }
            if has_controls_above(ui, ctx, joint) {
                ui.add_space(8.0);
                self.controls(ui, ctx, joint, actions);
            }
        });
    }

    fn kind(&self, ui: &Ui, ctx: &ViewCtx<'_>) -> Kind {
        let first = if ctx.compact { Kind::Contour } else { Kind::Surface };
        self.kind.filter(|kind| *kind != Kind::Table || is_narrow(ui, ctx)).unwrap_or(first)
    }

    /// Surface or contour beside the table, or above it where the page is narrow.
    fn pictures(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, joint: &JointValues, picture: &Picture<'_>) {
        let kind = self.kind(ui, ctx);
        let actions = picture.mixed.utilities.1.len() as f32;
        let rows = picture.mixed.utilities.0.len() as f32;
        let width = ui.available_width();
        // Room for the facts and the controls beneath.
        let foot = self.foot.unwrap_or(ctx.theme.size.control);
        let height = (ui.available_height() - foot).clamp(190.0, 760.0);
        let table_width = (48.0 + actions * 37.0).max((width * 0.3).min(48.0 + actions * 56.0)).min(width * 0.46);
        let exact = self.exact(ctx, joint);
        let shown = if exact.is_some() { self.shown } else { Shown::Learned };
        let mut pointed_at = None;
        let orbit = &mut self.orbit;
        let mut plot = |ui: &mut Ui, size| match kind {
            Kind::Surface => surface::surface_ui(ui, ctx, picture, orbit, size),
            Kind::Contour => flat::flat_ui(ui, ctx, picture, size),
            Kind::Table => table::table_ui(ui, ctx, picture, exact, shown, size),
        };
        let line = ctx.theme.size.tiny * 1.35;
        if is_narrow(ui, ctx) {
            pointed_at = plot(ui, vec2(width, height));
        } else if !ctx.compact {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 10.0;
                pointed_at = plot(ui, vec2(width - table_width - 10.0, height));
                ui.vertical(|ui| {
                    // As high as its rows want, in the middle of the picture's height.
                    let wanted = (46.0 + rows * if width > 640.0 { 46.0 } else { 38.0 }).min(height);
                    ui.add_space((height - wanted) * 0.35);
                    pointed_at =
                        pointed_at.or(table::table_ui(ui, ctx, picture, exact, shown, vec2(table_width, wanted)));
                });
            });
        } else {
            pointed_at = plot(ui, vec2(width, (width * 0.85).clamp(240.0, 460.0)));
            let size = vec2(width, 2.0 * line + 8.0 + rows * (2.0 * line + 6.0));
            pointed_at = pointed_at.or(table::table_ui(ui, ctx, picture, exact, shown, size));
        }
        if pointed_at != self.marked {
            self.marked = pointed_at;
            ui.request_repaint();
        }
    }

    /// Bend, verdict and what kind of number this is.
    fn facts(&self, ui: &mut Ui, ctx: &ViewCtx<'_>, joint: &JointValues, mixed: &Mixed) {
        let (texts, theme) = (ctx.texts, ctx.theme);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 14.0;
            let bend = format!("{:.1} %", mixed.bend);
            parts::fact(ui, theme, texts.t("qtot.bend"), &bend, theme.text, texts.t("qtot.bend.tip"));
            if joint.is_sum {
                let plane = texts.t("qtot.plane");
                parts::fact(ui, theme, "", plane, theme.text_dim, texts.t("qtot.plane.tip"));
            }
            let (verdict, color) =
                if mixed.igm { ("qtot.igm.holds", theme.good) } else { ("qtot.igm.broken", theme.bad) };
            let enumerated = numbers::count(mixed.enumerated);
            let scope = if mixed.complete { "qtot.igm.all" } else { "qtot.igm.pair" };
            let tip = format!("{}\n\n{}", texts.t("qtot.igm.tip"), texts.f(scope, &[&enumerated]));
            parts::fact(ui, theme, "IGM", texts.t(verdict), color, &tip);
            let (share, states) = joint.igm_share;
            // Of a training episode only the state it stands at is looked at: no share.
            if states > 0 && !ctx.snapshot.stage.is_training_env && self.reading(ctx, joint).1 == 0 {
                let text = texts.f("qtot.igm.share", &[&numbers::percent(share), &numbers::count(states)]);
                parts::fact(ui, theme, "", &text, theme.text_dim, texts.t("qtot.igm.share.tip"));
            }
            if let (2, Some((frame, _))) = (self.reading(ctx, joint).1, &joint.counterexample) {
                let (rect, _) = ui.allocate_exact_size(vec2(34.0, 30.0), egui::Sense::hover());
                stage::thumbnail(ui.painter(), ctx, rect, frame);
                ui.label(RichText::new(texts.t("qtot.break.here")).font(theme.small()).color(theme.bad));
                return;
            }
            parts::fact(ui, theme, "", texts.t("qtot.utility"), theme.text_faint, texts.t("qtot.utility.tip"));
        });
    }

    /// The mixer without its constraint, and a state at which it breaks: pieces of a row.
    fn controls(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, joint: &JointValues, actions: &mut Vec<Action>) {
        let (texts, theme) = (ctx.texts, ctx.theme);
        let constraint = match ctx.spec.learner.positivity {
            PositivityChoice::Abs => "|·|",
            PositivityChoice::Softplus => "softplus",
        };
        if joint.is_sum {
            return;
        }
        if !ctx.spec.learner.monotone {
            let text = RichText::new(texts.t("qtot.not_monotone")).font(theme.small()).color(theme.warn);
            ui.label(text).on_hover_text(texts.t("qtot.not_monotone.tip"));
            return;
        }
        let name = texts.f("qtot.without", &[constraint]);
        if switch(ui, theme, ctx.watch.without_abs, &name).on_hover_text(texts.t("qtot.without.tip")).clicked() {
            self.at_break = None;
            actions.push(Action::Watch(Watch { without_abs: !ctx.watch.without_abs, ..ctx.watch.clone() }));
        }
        ui.label(RichText::new(name).font(theme.small())).on_hover_text(texts.t("qtot.without.tip"));
        if !ctx.watch.without_abs || joint.without_abs.is_none() {
            return;
        }
        if joint.counterexample.is_none() {
            let text = RichText::new(texts.t("qtot.break.none")).font(theme.small()).color(theme.text_dim);
            ui.add(egui::Label::new(text).truncate());
            return;
        }
        let is_there = self.reading(ctx, joint).1 == 2;
        let label = if is_there { "qtot.break.back" } else { "qtot.break.find" };
        let button = Button::text(texts.t(label)).tip(texts.t("qtot.break.tip")).selected(is_there);
        if button.show(ui, theme).clicked() {
            self.at_break = (!is_there).then_some(ctx.snapshot.run);
        }
    }
}

/// Whether the controls of the constraint stand in the row above the picture, where there is room: the picture is then
/// higher by a row.
fn has_controls_above(ui: &Ui, ctx: &ViewCtx<'_>, joint: &JointValues) -> bool {
    joint.exact.is_none() && ctx.facts.num_agents == 2 && !ctx.compact && ui.max_rect().width() >= 490.0
}

/// A column without room for a table beside the picture; on a phone they stand one below the other.
fn is_narrow(ui: &Ui, ctx: &ViewCtx<'_>) -> bool {
    !ctx.compact && ui.max_rect().width() < 440.0
}

fn subject(ctx: &ViewCtx<'_>, joint: &JointValues, reading: u32) -> Subject {
    let stage = &ctx.snapshot.stage;
    let place = if stage.is_training_env { stage.env_index } else { stage.episode };
    Subject {
        moment: (ctx.snapshot.run, stage.is_training_env, place, stage.episode, stage.step),
        pair: joint.pair,
        reading,
    }
}

/// Which two agents, where there are more.
fn pair_picker(ui: &mut Ui, ctx: &ViewCtx<'_>, shown: (u32, u32), actions: &mut Vec<Action>) {
    let texts = ctx.texts;
    let mut pair = shown;
    let small = |text: &str| RichText::new(text.to_owned()).font(ctx.theme.small());
    ui.label(small(texts.t("qtot.pair")).color(ctx.theme.text_dim));
    for which in 0..2_u32 {
        let (chosen, other) = if which == 0 { (pair.0, pair.1) } else { (pair.1, pair.0) };
        let text = small(&(chosen + 1).to_string()).color(ctx.theme.agent_text(chosen));
        let menu = egui::ComboBox::from_id_salt(("pair", which)).icon(icons::unfold).width(44.0).selected_text(text);
        let menu = menu.show_ui(ui, |ui| {
            for agent in (0..ctx.facts.num_agents).filter(|agent| *agent != other) {
                let name = texts.f("agent.name", &[&(agent + 1).to_string()]);
                let text = RichText::new(name).color(ctx.theme.agent_text(agent));
                if ui.selectable_label(agent == chosen, text).clicked() {
                    if which == 0 { pair.0 = agent } else { pair.1 = agent }
                }
            }
        });
        menu.response.accessible_name(texts.t("qtot.pair"));
    }
    ui.label(small(texts.t("qtot.pair.others")).color(ctx.theme.text_dim)).on_hover_text(texts.t("qtot.pair.tip"));
    if pair != shown {
        actions.push(Action::Watch(Watch { pair, ..ctx.watch.clone() }));
    }
}
