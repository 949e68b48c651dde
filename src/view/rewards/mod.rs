//! Rewards by part: what each env step of the episode on stage paid each agent, and what an episode paid on average as
//! training went on; both at any α, because the parts are raw and α only weighs them.

pub mod conventions;
pub mod moves;
pub mod strips;

use egui::{Mesh, Rect, RichText, ScrollArea, Sense, Stroke, Ui, Vec2, vec2};
use tandem_core::env::api::{remixed, weighted};
use tandem_core::experiment::snapshot::{EvalPoint, Sentence};
use tandem_core::experiment::spec::EnvChoice;

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::rewards::strips::{Column, Pattern, Strips, StripsReply, extent};
use crate::view::slider::slider;
use crate::view::widgets::{Button, Weight};
use crate::view::{numbers, parts};

/// Lowest strip that can be read.
const LEAST_STRIP: f32 = 54.0;
/// Width from which both charts stand side by side.
const SIDE_BY_SIDE: f32 = 420.0;

/// The view and what of it outlives a frame.
#[derive(Debug, Default)]
pub struct RewardsView {
    /// The world and the α that the view reckons with, while it is not that world's own.
    recomputed: Option<(OfWorld, f32)>,
    /// The run and the ends of the episode chart's scale: an episode that pays nothing keeps it.
    scale: Option<(u32, f32, f32)>,
}

/// Which world's weights were asked about.
type OfWorld = (EnvChoice, Vec<f32>);

impl View for RewardsView {
    fn id(&self) -> ViewId {
        ViewId("rewards")
    }

    fn title(&self) -> &'static str {
        "view.rewards"
    }

    fn unavailable(&self, _ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        None
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, _actions: &mut Vec<Action>) {
        if ctx.facts.part_names.is_empty() || ctx.snapshot.stage.frame.is_none() {
            parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("rewards.waiting"));
            return;
        }
        ui.spacing_mut().item_spacing.y = 6.0;
        formula(ui, ctx);
        let weights = self.alpha_ui(ui, ctx);
        let width = ui.available_width();
        let moves = moves::height(ctx, width);
        let agents = ctx.facts.num_agents as f32;
        let is_beside = width >= SIDE_BY_SIDE;
        let rows = if is_beside { agents } else { 2.0 * agents };
        let room = ui.available_height() - moves - 12.0;
        let heads = (ctx.theme.size.small + ctx.theme.size.tiny) * 1.35 + 9.0;
        let least = rows * LEAST_STRIP + if is_beside { heads } else { 2.0 * heads + 6.0 };
        ScrollArea::vertical().id_salt("rewards").auto_shrink(false).scroll_source(parts::scrolled_by(ctx.theme)).show(
            ui,
            |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                let height = room.max(least);
                if is_beside {
                    ui.horizontal_top(|ui| {
                        ui.spacing_mut().item_spacing.x = 12.0;
                        let size = vec2((width - 12.0) / 2.0, height);
                        self.episode(ui, ctx, &weights, size);
                        training(ui, ctx, &weights, size);
                    });
                } else {
                    let size = vec2(width, (height - 6.0) / 2.0);
                    self.episode(ui, ctx, &weights, size);
                    training(ui, ctx, &weights, size);
                }
                moves::moves_ui(ui, ctx);
                conventions::conventions_ui(ui, ctx);
            },
        );
    }
}

impl RewardsView {
    /// The α to reckon with, where the world mixes; the weights that follow from it.
    fn alpha_ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>) -> Vec<f32> {
        let weights = &ctx.facts.part_weights;
        let Some(mix) = ctx.facts.mix else { return weights.clone() };
        let (texts, theme) = (ctx.texts, ctx.theme);
        // The user's number: α, or the weight of the own part where the world calls that by name.
        let (of, symbol) = if mix.names_own { (mix.own, "ρ (local_ratio)") } else { (mix.team, "α") };
        let own = weights[of as usize];
        // In another world the old question is void.
        let world: OfWorld = (ctx.spec.env, weights.clone());
        self.recomputed = self.recomputed.take().filter(|(of, _)| *of == world);
        let alpha = self.recomputed.as_ref().map_or(own, |(_, alpha)| *alpha);
        let name = texts.f("rewards.alpha", &[&numbers::payoff(alpha), symbol]);
        let mut chosen = None;
        let add_slider = |ui: &mut Ui| {
            slider(ui, theme, &texts.f("rewards.alpha.name", &[symbol]), alpha, (0.0, 1.0), false, Some(own))
        };
        let reset_text = texts.f("rewards.alpha.reset", &[&numbers::payoff(own), symbol]);
        let reset_tip = texts.f("rewards.alpha.reset.tip", &[symbol]);
        let reset = Button::text(&reset_text).tip(&reset_tip).weight(Weight::Quiet);
        let label = |ui: &mut Ui| {
            let text = RichText::new(&name).font(theme.small()).color(theme.text);
            ui.add(egui::Label::new(text).sense(Sense::hover())).on_hover_text(texts.t(if mix.names_own {
                "rewards.ratio.tip"
            } else {
                "rewards.alpha.tip"
            }))
        };
        if ctx.compact {
            ui.horizontal(|ui| {
                ui.set_min_height(theme.size.control);
                label(ui);
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if alpha != own && reset.show(ui, theme).clicked() {
                        chosen = Some(own);
                    }
                });
            });
            chosen = chosen.or(add_slider(ui));
        } else {
            ui.horizontal(|ui| {
                let text = ui.painter().layout_no_wrap(reset_text.clone(), theme.body(), theme.text).size().x + 20.0;
                label(ui);
                let room = (ui.available_width() - text - 2.0 * ui.spacing().item_spacing.x).clamp(60.0, 240.0);
                ui.allocate_ui(vec2(room, theme.size.control), |ui| {
                    ui.set_width(room);
                    chosen = add_slider(ui);
                });
                if alpha != own && reset.show(ui, theme).clicked() {
                    chosen = Some(own);
                }
            });
        }
        if let Some(chosen) = chosen {
            self.recomputed = (chosen != own).then_some((world, chosen));
            ui.request_repaint();
        }
        let (note, ink) = if alpha == own {
            (texts.f("rewards.alpha.note", &[symbol]), theme.text_faint)
        } else {
            (texts.f("rewards.alpha.differs", &[&numbers::payoff(own), symbol]), theme.warn)
        };
        let note = egui::Label::new(RichText::new(note).font(theme.small()).color(ink));
        ui.scope(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            ui.add(if ctx.compact { note.wrap() } else { note.truncate() });
        });
        remixed(weights, mix, if mix.names_own { 1.0 - alpha } else { alpha })
    }

    /// What each env step of the episode on stage paid.
    fn episode(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, weights: &[f32], size: Vec2) {
        let (texts, theme) = (ctx.texts, ctx.theme);
        let paid = &ctx.snapshot.stage.paid;
        let rows: Vec<&[f32]> = paid.parts.chunks_exact(row_len(ctx)).collect();
        if rows.is_empty() {
            parts::message(ui, theme, size, texts.t("rewards.episode.none"));
            return;
        }
        let (low, high) = self.scale(ctx, &rows);
        let number = |index: u32| paid.from + index + 1;
        let columns = (0_u32..).zip(&rows).map(|(index, parts)| {
            let x = f64::from(number(index));
            Column { span: (x - 0.5, x + 0.5), parts }
        });
        let name_and_sum = |agent: u32| {
            let sum: f32 = rows.iter().map(|row| weighted(weights, of_agent(ctx, row, agent))).sum();
            (agent_name(ctx, agent), texts.f("rewards.sum", &[&numbers::value(sum)]))
        };
        let id = if paid.ended { "rewards.episode.over" } else { "rewards.episode" };
        let strips = Strips {
            title: texts.f(id, &[&numbers::count(paid.episode)]),
            x_title: texts.t("axis.env_step").to_owned(),
            names: (0..ctx.facts.num_agents).map(name_and_sum).collect(),
            weights,
            columns: columns.collect(),
            // Steps of its own, so that the bars of a growing episode do not move at every env step.
            x: (
                f64::from(paid.from) + 0.5,
                f64::from(paid.from + (rows.len() as u32).next_power_of_two().max(8)) + 0.5,
            ),
            y: padded(low, high),
            gap: 0.3,
        };
        let reply = strips.ui(ui, theme, size);
        if let Some((column, agent)) = reply.hovered {
            let at = texts.f("rewards.at.step", &[&numbers::count(number(column)), &numbers::count(paid.episode)]);
            tip(ui, ctx, &reply, weights, &at, rows[column as usize], agent);
        }
    }

    /// Ends of the episode chart's scale: everything the run has shown so far, at every α, so that neither an episode
    /// without rewards nor the slider moves the axis.
    fn scale(&mut self, ctx: &ViewCtx<'_>, rows: &[&[f32]]) -> (f32, f32) {
        let run = ctx.snapshot.run;
        let (low, high) = at_every_alpha(ctx, rows);
        let (_, lowest, highest) = self.scale.filter(|(of, ..)| *of == run).unwrap_or((run, 0.0, 0.0));
        let scale = (lowest.min(low), highest.max(high));
        self.scale = Some((run, scale.0, scale.1));
        scale
    }
}

/// What an episode paid on average, evaluation by evaluation.
fn training(ui: &mut Ui, ctx: &ViewCtx<'_>, weights: &[f32], size: Vec2) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let len = row_len(ctx);
    let points: Vec<&EvalPoint> = ctx.curve.iter().filter(|point| point.parts.len() == len).collect();
    let Some(newest) = points.last() else {
        parts::message(ui, theme, size, &texts.f("rewards.training.none", &[&numbers::count(ctx.spec.eval_every)]));
        return;
    };
    let at = |index: usize| points.get(index).map(|point| f64::from(point.env_steps));
    let every = f64::from(ctx.spec.eval_every.max(1));
    let columns = points.iter().enumerate().map(|(index, point)| {
        let x = f64::from(point.env_steps);
        let before = index.checked_sub(1).and_then(at).unwrap_or(x - every);
        let after = at(index + 1).unwrap_or(x + every);
        Column { span: (f64::midpoint(before, x).max(0.0), f64::midpoint(x, after)), parts: &point.parts }
    });
    let name_and_newest =
        |agent: u32| (agent_name(ctx, agent), numbers::value(weighted(weights, of_agent(ctx, &newest.parts, agent))));
    let rows: Vec<&[f32]> = points.iter().map(|point| &point.parts[..]).collect();
    let (low, high) = at_every_alpha(ctx, &rows);
    let strips = Strips {
        title: texts.t("rewards.training").to_owned(),
        x_title: texts.t("axis.env_steps").to_owned(),
        names: (0..ctx.facts.num_agents).map(name_and_newest).collect(),
        weights,
        x: (0.0, f64::from(newest.env_steps.max(ctx.snapshot.budget)) + every / 2.0),
        columns: columns.collect(),
        y: padded(low, high),
        gap: 0.0,
    };
    let reply = strips.ui(ui, theme, size);
    if let Some((column, agent)) = reply.hovered {
        let point = points[column as usize];
        let at = texts.f("headline.at", &[&numbers::count(point.env_steps), &numbers::count(point.update)]);
        tip(ui, ctx, &reply, weights, &at, &point.parts, agent);
    }
}

/// What the reward is made of, with the patterns of its parts.
fn formula(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    ui.spacing_mut().interact_size.y = 0.0;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 3.0);
        let word = |ui: &mut Ui, text: &str| ui.label(RichText::new(text).font(theme.small()).color(theme.text_dim));
        word(ui, texts.t("rewards.formula"));
        for (index, name) in (0_u32..).zip(&ctx.facts.part_names) {
            let term = match ctx.facts.mix {
                Some(mix) if mix.team == index => {
                    format!("{} · {}", if mix.names_own { "(1 − ρ)" } else { "α" }, texts.t(name))
                }
                Some(mix) if mix.own == index => {
                    format!("{} · {}", if mix.names_own { "ρ" } else { "(1 − α)" }, texts.t(name))
                }
                _ => texts.t(name).to_owned(),
            };
            if index > 0 {
                word(ui, "+");
            }
            let tip = texts.get(&format!("{name}.tip")).unwrap_or_default();
            legend(ui, ctx, &term, |ui, rect| fill(ui, ctx, rect, index)).on_hover_text(tip);
        }
        if ctx.facts.part_names.len() > 1 {
            let line = |ui: &Ui, rect: Rect| {
                ui.painter().hline(rect.x_range(), rect.center().y, Stroke::new(1.5, theme.text));
            };
            legend(ui, ctx, texts.t("rewards.net"), line).on_hover_text(texts.t("rewards.net.tip"));
        }
    });
    ui.spacing_mut().interact_size.y = theme.size.control;
}

/// A sample of what is drawn and its name, never on two lines.
fn legend(ui: &mut Ui, ctx: &ViewCtx<'_>, name: &str, sample: impl FnOnce(&Ui, Rect)) -> egui::Response {
    let theme = ctx.theme;
    let galley = ui.painter().layout_no_wrap(name.to_owned(), theme.small(), theme.text);
    let size = vec2(SAMPLE.x + 5.0 + galley.size().x, galley.size().y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
    sample(ui, egui::Align2::LEFT_CENTER.align_size_within_rect(SAMPLE, rect));
    ui.painter().galley(rect.min + vec2(SAMPLE.x + 5.0, 0.0), galley, theme.text);
    response
}

/// Size of a sample.
const SAMPLE: Vec2 = vec2(16.0, 10.0);

/// The pattern of a part, in no agent's colour.
fn fill(ui: &Ui, ctx: &ViewCtx<'_>, rect: Rect, part: u32) {
    let mut mesh = Mesh::default();
    Pattern::of(part).fill(&mut mesh, ctx.theme, rect, ctx.theme.text_dim, false);
    ui.painter().add(mesh);
}

/// Exact numbers of a column, with the weights that made them: the agent pointed at in full, the others in sum.
fn tip(ui: &Ui, ctx: &ViewCtx<'_>, reply: &StripsReply, weights: &[f32], at: &str, row: &[f32], agent: u32) {
    if parts::is_covered(ui) {
        return;
    }
    let (texts, theme) = (ctx.texts, ctx.theme);
    parts::tip_now(ui, &reply.response, |ui| {
        ui.strong(at);
        let own = of_agent(ctx, row, agent);
        let sum = texts.f("rewards.tip.sum", &[&agent_name(ctx, agent), &exact(weighted(weights, own))]);
        ui.colored_label(theme.agent_text(agent), sum);
        for (index, name) in (0_u32..).zip(&ctx.facts.part_names) {
            let (weight, part) = (weights[index as usize], own[index as usize]);
            let product = format!("{} · {} = {}", numbers::payoff(weight), exact(part), exact(weight * part));
            let text = format!("{}  {product}", texts.t(name));
            legend(ui, ctx, &text, |ui, rect| fill(ui, ctx, rect, index));
        }
        for other in (0..ctx.facts.num_agents).filter(|other| *other != agent) {
            let sum = exact(weighted(weights, of_agent(ctx, row, other)));
            let text = texts.f("rewards.tip.sum", &[&agent_name(ctx, other), &sum]);
            ui.label(RichText::new(text).font(theme.small()).color(theme.agent_text(other)));
        }
    });
}

/// Numbers of a row `[n, parts]`.
fn row_len(ctx: &ViewCtx<'_>) -> usize {
    (ctx.facts.num_agents as usize * ctx.facts.part_names.len()).max(1)
}

fn of_agent<'a>(ctx: &ViewCtx<'_>, row: &'a [f32], agent: u32) -> &'a [f32] {
    row.chunks_exact(ctx.facts.part_names.len()).nth(agent as usize).unwrap_or_default()
}

fn agent_name(ctx: &ViewCtx<'_>, agent: u32) -> String {
    ctx.texts.f("agent.name", &[&(agent + 1).to_string()])
}

/// Ends of the stacks whatever α is: the weights are straight lines in α, so its two ends tell.
fn at_every_alpha(ctx: &ViewCtx<'_>, rows: &[&[f32]]) -> (f32, f32) {
    let weights = &ctx.facts.part_weights;
    let ends = |weights: &[f32]| extent(rows.iter().copied(), weights);
    let Some(mix) = ctx.facts.mix else { return ends(weights) };
    let [none, all] = [0.0, 1.0].map(|alpha| ends(&remixed(weights, mix, alpha)));
    (none.0.min(all.0), none.1.max(all.1))
}

/// A scale around these ends and 0, never empty.
fn padded(low: f32, high: f32) -> (f32, f32) {
    let (low, high) = if low < high { (low.min(0.0), high.max(0.0)) } else { (0.0, 1.0) };
    let pad = 0.08 * (high - low);
    (if low < 0.0 { low - pad } else { 0.0 }, if high > 0.0 { high + pad } else { 0.0 })
}

/// A reward to four decimals, as short as it can be written.
fn exact(value: f32) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        _ => text.replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_never_empty_and_holds_zero() {
        for (low, high) in [(0.0, 0.0), (0.0, 1.0), (-0.05, 0.0), (-30.0, 11.0)] {
            let (bottom, top) = padded(low, high);
            assert!(bottom <= low && top >= high && bottom < top && bottom <= 0.0 && top >= 0.0, "{low} {high}");
        }
    }

    #[test]
    fn rewards_are_written_exactly_and_briefly() {
        assert_eq!([1.0, -0.05, 0.25, -0.0, 0.33333].map(exact), ["1", "−0.05", "0.25", "0", "0.3333"]);
    }
}
