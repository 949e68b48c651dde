//! What the surface and the contour have in common: their subject, the dots, the colour bar, labels in a strip above.

use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Stroke, Ui, pos2, vec2};
use tandem_core::experiment::snapshot::Mixed;

use crate::view::api::ViewCtx;
use crate::view::numbers::{self, tick_text, ticks};
use crate::view::parts;
use crate::view::qtot::axes::{Ranges, unit};

/// Height of a row of labels, in sizes of their type.
const LABEL_ROW: f32 = 1.45;

/// A joint value function to draw, with the ranges its axes have now.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The values.
    pub mixed: &'a Mixed,
    /// The pair of agents on the axes.
    pub pair: (u32, u32),
    /// The axes.
    pub ranges: Ranges,
    /// A joint action pointed at elsewhere.
    pub marked: Option<(u32, u32)>,
}

/// A joint action's dot on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    /// Joint action of the pair.
    pub action: (u32, u32),
    /// Where.
    pub at: Pos2,
    /// Behind the sheet.
    pub is_hidden: bool,
}

impl Picture<'_> {
    /// Joint actions of the pair with their values (Q_i, Q_j, Q_tot); illegal ones are left out.
    pub fn joint_actions(&self) -> impl Iterator<Item = ((u32, u32), [f32; 3])> + '_ {
        let (rows, columns) = (&self.mixed.utilities.0, &self.mixed.utilities.1);
        let width = columns.len();
        (0..rows.len() * width).filter_map(move |index| {
            let is_legal = self.mixed.legal.get(index).copied().unwrap_or(true);
            let total = *self.mixed.table.get(index).filter(|_| is_legal)?;
            let (row, column) = (index / width, index % width);
            Some(((row as u32, column as u32), [rows[row], columns[column], total]))
        })
    }

    /// Paints the dots, hidden ones dimmed, the greedy one on top.
    pub fn paint_dots(&self, painter: &Painter, ctx: &ViewCtx<'_>, dots: &[Dot], hovered: Option<(u32, u32)>) {
        let theme = ctx.theme;
        let (fill, edge) = (theme.dot(), theme.on_agent());
        for dot in dots {
            let opacity = if dot.is_hidden { 0.35 } else { 1.0 };
            let is_pointed_at = hovered == Some(dot.action) || self.marked == Some(dot.action);
            let radius = if is_pointed_at { 5.0 } else { 2.6 };
            let stroke = Stroke::new(1.2, theme.fade(edge, opacity));
            painter.circle(dot.at, radius, theme.fade(fill, opacity), stroke);
        }
        let find = |action| dots.iter().find(|dot| dot.action == action);
        if self.is_split()
            && let Some(dot) = find(self.mixed.best)
        {
            painter.circle(dot.at, 5.5, theme.fade(fill, 0.9), Stroke::new(2.0, theme.bad));
        }
        if let Some(dot) = find(self.mixed.greedy) {
            painter.circle_stroke(dot.at, 8.0, Stroke::new(1.0, theme.fade(edge, 0.6)));
            painter.circle(dot.at, 6.0, fill, Stroke::new(2.2, theme.accent));
        }
    }

    /// The greedy joint action by name in the strip above the picture, with a thin line down to its dot; the best one
    /// too where they differ.
    pub fn paint_labels(&self, painter: &Painter, ctx: &ViewCtx<'_>, strip: Rect, dots: &[Dot]) {
        let theme = ctx.theme;
        let label = |id: &str, action: (u32, u32)| {
            let dot = dots.iter().find(|dot| dot.action == action)?;
            let index = action.0 as usize * self.mixed.utilities.1.len() + action.1 as usize;
            let total = numbers::value(*self.mixed.table.get(index)?);
            Some((dot.at, ctx.texts.f(id, &[&joint_name(ctx, action), &total])))
        };
        let greedy = label("qtot.greedy", self.mixed.greedy);
        let best = label("qtot.best", self.mixed.best).filter(|_| self.is_split());
        let row = theme.size.small * LABEL_ROW;
        // Two labels have a row each; lines first, so that no line crosses a text.
        let labels = [(best, theme.bad, 0.0), (greedy, theme.text, if self.is_split() { row } else { 0.0 })];
        let mut galleys = Vec::new();
        for (label, color, down) in labels {
            let Some((at, text)) = label else { continue };
            let galley = painter.layout_no_wrap(text, theme.small(), color);
            let right = (strip.right() - galley.size().x).max(strip.left());
            let left = (at.x - galley.size().x / 2.0).clamp(strip.left(), right);
            let place = Rect::from_min_size(pos2(left, strip.top() + down), galley.size());
            let foot = pos2(at.x.clamp(place.left() + 3.0, place.right() - 3.0), place.bottom() + 1.0);
            painter.line_segment([foot, at - vec2(0.0, 8.0)], Stroke::new(1.0, theme.fade(color, 0.55)));
            galleys.push((place, galley, color));
        }
        for (place, galley, color) in galleys {
            painter.rect_filled(place.expand2(vec2(3.0, 0.0)), CornerRadius::same(3), theme.fade(theme.card, 0.8));
            painter.galley(place.min, galley, color);
        }
    }

    /// Whether the agents' own choices miss the best joint action: what ties with it is as good.
    pub fn is_split(&self) -> bool {
        !self.mixed.igm && self.mixed.best != self.mixed.greedy
    }

    /// Cuts the room for labels (above) and the colour bar (below) from a rectangle: (labels, bar, picture).
    pub fn cut(&self, ctx: &ViewCtx<'_>, rect: Rect) -> (Rect, Rect, Rect) {
        let rows = if self.is_split() { 2.0 } else { 1.0 };
        let label_height = ctx.theme.size.small * LABEL_ROW * rows + 2.0;
        let bar_height = 15.0 + ctx.theme.size.tiny * 1.4;
        let labels = Rect::from_min_size(rect.min, vec2(rect.width(), label_height));
        let bar = Rect::from_min_max(pos2(rect.left(), rect.bottom() - bar_height), rect.max);
        let picture = Rect::from_min_max(labels.left_bottom(), bar.right_top());
        (labels, bar, picture)
    }

    /// Values of a joint action at the pointer.
    pub fn tip(&self, ui: &Ui, ctx: &ViewCtx<'_>, response: &egui::Response, action: (u32, u32)) {
        let Some((_, [one, two, total])) = self.joint_actions().find(|(joint, _)| *joint == action) else { return };
        parts::tip_now(ui, response, |ui| {
            ui.label(joint_name(ctx, action));
            let q = |agent: u32| ctx.texts.f("q.of", &[&numbers::subscript(agent + 1)]);
            let line = |ui: &mut Ui, name: &str, value: f32, color| {
                ui.horizontal(|ui| {
                    ui.colored_label(color, name);
                    ui.label(numbers::value(value));
                });
            };
            line(ui, &q(self.pair.0), one, ctx.theme.agent_text(self.pair.0));
            line(ui, &q(self.pair.1), two, ctx.theme.agent_text(self.pair.1));
            line(ui, "Q_tot", total, ctx.theme.text);
            let unit = egui::RichText::new(ctx.texts.t("qtot.tip.unit")).color(ctx.theme.text_dim).small();
            ui.label(unit);
            if action == self.mixed.greedy {
                ui.label(egui::RichText::new(ctx.texts.t("qtot.greedy.tip")).color(ctx.theme.text_dim).small());
            }
        });
    }

    /// Colour of a Q_tot value.
    pub fn color(&self, ctx: &ViewCtx<'_>, total: f32) -> Color32 {
        ctx.theme.viridis(unit(total, self.ranges.z))
    }

    /// The colour bar of Q_tot with its tick numbers, lying in a strip at the bottom.
    pub fn paint_bar(&self, painter: &Painter, ctx: &ViewCtx<'_>, strip: Rect) {
        let theme = ctx.theme;
        let title = painter.layout_no_wrap("Q_tot".to_owned(), theme.small(), theme.text_dim);
        let left = strip.left() + title.size().x + 10.0;
        let bar = Rect::from_min_max(pos2(left, strip.top() + 4.0), pos2(strip.right() - 14.0, strip.top() + 11.0));
        if bar.width() < 40.0 {
            return;
        }
        painter.galley(strip.min - vec2(0.0, 1.0), title, theme.text_dim);
        parts::color_bar(painter, theme, bar);
        let range = (f64::from(self.ranges.z.0), f64::from(self.ranges.z.1));
        let (marks, step) = ticks(range, ((bar.width() / 40.0) as u32).clamp(2, 8));
        for mark in marks {
            let x = bar.left() + unit(mark as f32, self.ranges.z) * bar.width();
            painter.vline(x, bar.bottom()..=bar.bottom() + 3.0, Stroke::new(1.0, theme.line_strong));
            let at = pos2(x, bar.bottom() + 4.0);
            painter.text(at, Align2::CENTER_TOP, tick_text(mark, step), theme.tiny(), theme.text_faint);
        }
        if let Some((_, [_, _, total])) = self.joint_actions().find(|(joint, _)| *joint == self.mixed.greedy) {
            let x = bar.left() + unit(total, self.ranges.z).clamp(0.0, 1.0) * bar.width();
            let mark = Rect::from_center_size(pos2(x, bar.center().y), vec2(3.0, bar.height() + 5.0));
            painter.rect_filled(mark, CornerRadius::same(1), theme.accent);
        }
    }

    /// Name of the axis of the pair's first (0) or second agent, in its colour.
    pub fn axis_name(&self, ctx: &ViewCtx<'_>, which: u32) -> (String, Color32) {
        let agent = if which == 0 { self.pair.0 } else { self.pair.1 };
        (ctx.texts.f("q.of", &[&numbers::subscript(agent + 1)]), ctx.theme.agent_text(agent))
    }
}

/// Text of a joint action of a pair: `(right, up)`.
pub fn joint_name(ctx: &ViewCtx<'_>, action: (u32, u32)) -> String {
    let (first, second) = ctx.snapshot.joint.as_ref().map_or((0, 1), |joint| joint.pair);
    format!("({}, {})", ctx.action_name(first, action.0), ctx.action_name(second, action.1))
}

/// The joint action whose dot is nearest to the pointer, within reach.
pub fn dot_under(ctx: &ViewCtx<'_>, dots: &[Dot], pointer: Option<Pos2>) -> Option<(u32, u32)> {
    let pointer = pointer?;
    let reach = if ctx.compact { 24.0 } else { 13.0 };
    let near = |dot: &&Dot| (dot.at - pointer).length();
    let nearest = dots.iter().min_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(&nearest) < reach).then_some(nearest.action)
}
