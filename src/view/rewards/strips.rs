//! Stacked bars over a common x axis, a strip for each agent: the parts of its reward at each moment, positive ones
//! upwards and negative ones downwards, all strips in one scale.
//!
//! Parts keep the agent's colour and differ in their pattern, so that they are told apart without seeing colours.

use egui::{Align2, Color32, Mesh, Painter, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2, pos2, vec2};

use crate::view::numbers::{tick_text, ticks};
use crate::view::theme::Theme;
use crate::view::widgets::text_in;

/// A moment.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Left and right end on the x axis.
    pub span: (f64, f64),
    /// Raw reward parts `[n, parts]`.
    pub parts: &'a [f32],
}

/// What to draw.
#[derive(Debug)]
pub struct Strips<'a> {
    /// Above the strips: what y is, with its unit.
    pub title: String,
    /// At the right end of the x axis.
    pub x_title: String,
    /// Name of each agent and its newest figure.
    pub names: Vec<(String, String)>,
    /// Weight of each part.
    pub weights: &'a [f32],
    /// Moments, x rising.
    pub columns: Vec<Column<'a>>,
    /// Ends of the x axis.
    pub x: (f64, f64),
    /// Ends of the y axis.
    pub y: (f32, f32),
    /// Share of a column's width left free.
    pub gap: f32,
}

/// What the pointer is on.
#[derive(Debug)]
pub struct StripsReply {
    /// The whole picture.
    pub response: Response,
    /// Column and agent.
    pub hovered: Option<(u32, u32)>,
}

/// How a part is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In full colour.
    Solid,
    /// Striped.
    Stripes,
    /// Pale, with an edge.
    Pale,
}

impl Pattern {
    /// That of the part number `part`.
    pub fn of(part: u32) -> Self {
        match part % 3 {
            0 => Self::Solid,
            1 => Self::Stripes,
            _ => Self::Pale,
        }
    }

    /// Fills `rect`; a part that counts downwards has its edge below.
    pub fn fill(self, mesh: &mut Mesh, theme: &Theme, rect: Rect, color: Color32, is_negative: bool) {
        match self {
            Self::Solid => mesh.add_colored_rect(rect, color),
            Self::Stripes => {
                mesh.add_colored_rect(rect, theme.mix(theme.card, color, 0.34));
                // Stripes lie at the same heights everywhere, so that neighbouring bars join.
                let mut y = (rect.top() / STRIPE).floor() * STRIPE;
                while y < rect.bottom() {
                    let stripe = Rect::from_x_y_ranges(rect.x_range(), y..=y + STRIPE * 0.45).intersect(rect);
                    if stripe.is_positive() {
                        mesh.add_colored_rect(stripe, color);
                    }
                    y += STRIPE;
                }
            }
            Self::Pale => {
                mesh.add_colored_rect(rect, theme.mix(theme.card, color, 0.38));
                let y = if is_negative { rect.bottom() - EDGE..=rect.bottom() } else { rect.top()..=rect.top() + EDGE };
                mesh.add_colored_rect(Rect::from_x_y_ranges(rect.x_range(), y).intersect(rect), color);
            }
        }
    }
}

/// Height of a stripe and the space after it.
const STRIPE: f32 = 4.0;
/// Height of a pale part's edge.
const EDGE: f32 = 1.5;

/// Lowest and highest end of the stacks that `rows` `[n, parts]` make.
pub fn extent<'a>(rows: impl Iterator<Item = &'a [f32]>, weights: &[f32]) -> (f32, f32) {
    let mut ends = (0.0_f32, 0.0_f32);
    for agent in rows.flat_map(|row| row.chunks_exact(weights.len().max(1))) {
        let (low, high) =
            stack(agent, weights).fold((0.0, 0.0), |(low, high), part| (low + part.min(0.0), high + part.max(0.0)));
        ends = (ends.0.min(low), ends.1.max(high));
    }
    ends
}

/// The parts of one agent's reward, weighted.
fn stack<'a>(parts: &'a [f32], weights: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
    parts.iter().zip(weights).map(|(part, weight)| part * weight)
}

/// About `most` tick marks, at least two where the range has an extent: one figure is no scale. Marks of which two would
/// come closer than `least` are 0 and the one farthest from it.
fn marks(range: (f64, f64), most: u32, least: f64) -> (Vec<f64>, f64) {
    let mut finer = (most..=4 * most).map(|most| ticks(range, most));
    let (mut marks, step) = finer.find(|(marks, _)| marks.len() > 1).unwrap_or_else(|| ticks(range, most));
    let farthest = marks.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
    if step < least {
        marks.retain(|&mark| mark == 0.0 || Some(mark) == farthest);
    }
    (marks, step)
}

impl Strips<'_> {
    /// Draws the strips over `size`.
    pub fn ui(&self, ui: &mut Ui, theme: &Theme, size: Vec2) -> StripsReply {
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let figures: Vec<String> = self.names.iter().map(|(name, figure)| format!("{name} {figure}")).collect();
        let told = format!("{}: {}", self.title, figures.join(", "));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &told));
        let painter = ui.painter_at(rect.expand(2.0));
        let plots = self.plots(ui, theme, rect);
        text_in(ui, rect, Align2::LEFT_TOP, &self.title, theme.small(), theme.text_dim);
        for (agent, plot) in (0_u32..).zip(&plots) {
            self.strip(&painter, theme, *plot, agent);
        }
        if let Some(last) = plots.last() {
            self.x_axis(&painter, theme, rect, *last);
        }
        let hovered = response.hover_pos().and_then(|at| self.under(&plots, at));
        if let (Some((column, _)), Some(first), Some(last)) = (hovered, plots.first(), plots.last()) {
            let span = self.columns[column as usize].span;
            let middle = self.x_at(*first, f64::midpoint(span.0, span.1));
            painter.vline(middle, first.top()..=last.bottom(), Stroke::new(1.0, theme.text_dim));
        }
        StripsReply { response, hovered }
    }

    /// Where each agent's bars are drawn.
    fn plots(&self, ui: &Ui, theme: &Theme, rect: Rect) -> Vec<Rect> {
        let width = |text: String| ui.painter().layout_no_wrap(text, theme.tiny(), theme.text).size().x;
        let head = theme.size.small * 1.35 + 4.0;
        let foot = theme.size.tiny * 1.35 + 5.0;
        let strip = (rect.height() - head - foot) / self.names.len().max(1) as f32;
        let name = theme.size.tiny * 1.35 + 3.0;
        let (marks, step) = self.y_ticks(theme, strip - name - 4.0);
        let left = marks.iter().map(|&y| width(tick_text(y, step))).fold(10.0, f32::max) + 7.0;
        (0..self.names.len())
            .map(|agent| {
                let top = rect.top() + head + agent as f32 * strip + name;
                let bottom = rect.top() + head + (agent + 1) as f32 * strip - 4.0;
                Rect::from_min_max(pos2(rect.left() + left, top), pos2(rect.right() - 6.0, bottom))
            })
            .collect()
    }

    fn strip(&self, painter: &Painter, theme: &Theme, plot: Rect, agent: u32) {
        let (name, figure) = &self.names[agent as usize];
        let above = plot.top() - 2.0;
        let ink = theme.agent_text(agent);
        painter.text(pos2(plot.left(), above), Align2::LEFT_BOTTOM, name, theme.tiny(), ink);
        painter.text(pos2(plot.right(), above), Align2::RIGHT_BOTTOM, figure, theme.tiny(), ink);
        let (marks, step) = self.y_ticks(theme, plot.height());
        for y in marks {
            let at = self.y_at(plot, y as f32);
            let line = if y == 0.0 { theme.line_strong } else { theme.line };
            painter.hline(plot.x_range(), at, Stroke::new(1.0, line));
            let text = tick_text(y, step);
            painter.text(pos2(plot.left() - 5.0, at), Align2::RIGHT_CENTER, text, theme.tiny(), theme.text_faint);
        }
        let mut mesh = Mesh::default();
        let color = theme.agent_color(agent);
        let width = self.weights.len();
        let pixel = 1.0 / painter.ctx().pixels_per_point();
        let crisp = |y: f32| (y / pixel).round() * pixel;
        let zero = crisp(self.y_at(plot, 0.0));
        for column in &self.columns {
            let Some(parts) = column.parts.chunks_exact(width.max(1)).nth(agent as usize) else { continue };
            let (left, right) = (self.x_at(plot, column.span.0), self.x_at(plot, column.span.1));
            let free = (right - left) * self.gap / 2.0;
            // A bar is at least a pixel wide, or many evaluations would fade away.
            let x = left + free..=(right - free).max(left + free + pixel);
            let (mut below, mut above) = (0.0_f32, 0.0_f32);
            for (index, part) in (0_u32..).zip(stack(parts, self.weights)) {
                let is_negative = part < 0.0;
                let from = if is_negative { &mut below } else { &mut above };
                let ends = [crisp(self.y_at(plot, *from)), crisp(self.y_at(plot, *from + part))];
                *from += part;
                if ends[0] != ends[1] {
                    let y = ends[0].min(ends[1])..=ends[0].max(ends[1]);
                    let bar = Rect::from_x_y_ranges(x.clone(), y);
                    Pattern::of(index).fill(&mut mesh, theme, bar, color, is_negative);
                }
            }
            if below < 0.0 && above > 0.0 {
                // What is left of what was paid.
                let y = crisp(self.y_at(plot, below + above));
                mesh.add_colored_rect(Rect::from_x_y_ranges(x, y - 0.75..=y + 0.75), theme.text);
            }
        }
        if !mesh.is_empty() {
            painter.with_clip_rect(plot.expand(1.0)).add(mesh);
        }
        painter.hline(plot.x_range(), zero, Stroke::new(1.0, theme.line_strong));
    }

    fn x_axis(&self, painter: &Painter, theme: &Theme, rect: Rect, plot: Rect) {
        let y = plot.bottom() + 4.0;
        let title = painter.layout_no_wrap(self.x_title.clone(), theme.tiny(), theme.text_faint);
        let title_left = plot.right() - title.size().x;
        painter.galley(pos2(title_left, y), title, theme.text_faint);
        let (marks, step) = ticks(self.x, ((plot.width() / 48.0) as u32).clamp(2, 8));
        for x in marks {
            let number = painter.layout_no_wrap(tick_text(x, step), theme.tiny(), theme.text_faint);
            let left = (self.x_at(plot, x) - number.size().x / 2.0).max(rect.left());
            if left + number.size().x + 6.0 < title_left {
                painter.galley(pos2(left, y), number, theme.text_faint);
            }
        }
    }

    /// The column and the agent at a place.
    fn under(&self, plots: &[Rect], at: Pos2) -> Option<(u32, u32)> {
        let strip = (0_u32..).zip(plots).find(|(_, plot)| plot.expand2(vec2(4.0, 12.0)).contains(at));
        let (agent, plot) = strip?;
        let distance =
            |column: &Column<'_>| (self.x_at(*plot, f64::midpoint(column.span.0, column.span.1)) - at.x).abs();
        let nearest = (0_u32..).zip(&self.columns).min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        // Beyond the last bar there is nothing yet.
        let reach = (self.x_at(*plot, nearest.1.span.1) - self.x_at(*plot, nearest.1.span.0)).max(12.0);
        (distance(nearest.1) <= reach).then_some((nearest.0, agent))
    }

    fn y_ticks(&self, theme: &Theme, height: f32) -> (Vec<f64>, f64) {
        let (low, high) = (f64::from(self.y.0), f64::from(self.y.1));
        let line = theme.size.tiny * 1.15;
        marks((low, high), ((height / 26.0) as u32).clamp(2, 4), f64::from(line / height.max(1.0)) * (high - low))
    }

    fn x_at(&self, plot: Rect, x: f64) -> f32 {
        plot.left() + ((x - self.x.0) / (self.x.1 - self.x.0)) as f32 * plot.width()
    }

    fn y_at(&self, plot: Rect, y: f32) -> f32 {
        plot.bottom() - (y - self.y.0) / (self.y.1 - self.y.0) * plot.height()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_parts_stack_downwards() {
        let rows: [&[f32]; 2] = [&[1.0, 0.5, -0.25, 0.0, 0.0, -0.25], &[2.0, 0.0, 0.0, 1.0, 1.0, 0.0]];
        assert_eq!(extent(rows.into_iter(), &[0.5, 0.5, 1.0]), (-0.25, 1.0));
        assert_eq!(extent(rows.into_iter(), &[1.0, 0.0, 1.0]), (-0.25, 2.0));
        assert_eq!(extent(std::iter::empty(), &[1.0]), (0.0, 0.0));
    }

    #[test]
    fn an_axis_has_two_figures_or_more() {
        for (low, high) in [(-10.8, 10.8), (0.0, 43.2), (-4.9, 4.9), (-0.3, 1.08), (-86.0, 4.0), (-1e-3, 0.0)] {
            let least = (high - low) / 3.0;
            let (marks, _) = marks((low, high), 2, least);
            assert!((2..=4).contains(&marks.len()), "{low} to {high}: {marks:?}");
            assert!(marks.windows(2).all(|pair| pair[1] - pair[0] > 0.8 * least), "{low} to {high}: {marks:?}");
        }
    }

    #[test]
    fn neighbouring_parts_never_have_the_same_pattern() {
        assert!((0..8).all(|part| Pattern::of(part) != Pattern::of(part + 1)));
    }
}
