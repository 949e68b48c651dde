//! Line charts: curves with bands over a common x axis, reference lines, direct labels, hover values.
//!
//! Drawn by hand rather than by a plotting crate: few shapes (a band is one mesh, a curve one line), quiet axes, and
//! labels that move apart instead of lying over each other.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, FontId, Mesh, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2, pos2, vec2};

use crate::view::numbers::{tick_text, ticks};
use crate::view::theme::Theme;

/// A curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// Label at its right end; empty for none.
    pub label: String,
    /// Colour of the line and its label.
    pub color: Color32,
    /// Width of the line in points.
    pub width: f32,
    /// (x, y), x rising.
    pub points: Vec<(f64, f64)>,
    /// (low, high) at each point, or empty for no band.
    pub band: Vec<(f64, f64)>,
}

/// A horizontal line at a known value.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Where.
    pub value: f64,
    /// What it is.
    pub label: String,
}

/// What to draw.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Above the plot: what y is, with its unit.
    pub title: String,
    /// At the right end of the x axis.
    pub x_title: String,
    /// Curves, the most important last (drawn on top).
    pub series: Vec<Series>,
    /// Known values.
    pub references: Vec<Reference>,
    /// Right end of the x axis at least.
    pub x_least: f64,
    /// Values the y axis must include.
    pub y_include: Vec<f64>,
    /// Without tick numbers and titles, for tight places.
    pub bare: bool,
}

/// What the pointer does over a chart.
#[derive(Debug)]
pub struct ChartReply {
    /// The chart's rectangle.
    pub response: Response,
    /// Nearest point of the last series to the pointer: its index.
    pub hovered: Option<u32>,
    /// The series whose label or line the pointer is on.
    pub hovered_series: Option<u32>,
    /// The pointer is on the title.
    pub on_title: bool,
    /// The reference whose name the pointer is on.
    pub hovered_reference: Option<u32>,
}

/// The value-to-screen map of one chart.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Where the curves are drawn.
    pub plot: Rect,
    x: (f64, f64),
    y: (f64, f64),
}

impl Scale {
    /// Screen position of a value.
    pub fn at(&self, x: f64, y: f64) -> Pos2 {
        pos2(self.x_at(x), self.y_at(y))
    }

    fn x_at(&self, x: f64) -> f32 {
        self.plot.left() + ((x - self.x.0) / (self.x.1 - self.x.0)) as f32 * self.plot.width()
    }

    fn y_at(&self, y: f64) -> f32 {
        self.plot.bottom() - ((y - self.y.0) / (self.y.1 - self.y.0)) as f32 * self.plot.height()
    }
}

impl Chart {
    /// Draws the chart over `size`.
    pub fn ui(&self, ui: &mut Ui, theme: &Theme, size: Vec2) -> ChartReply {
        let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &self.title));
        let scale = self.scale(rect, theme, ui);
        let painter = ui.painter_at(rect.expand(2.0));
        if !self.bare {
            self.axes(&painter, theme, rect, &scale);
        }
        let lines = painter.with_clip_rect(scale.plot.expand(1.5));
        for series in &self.series {
            // A strip needs two points; an empty mesh stops some painters.
            if series.band.len() >= 2 {
                lines.add(band(series, &scale, theme.fade(series.color, 0.16)));
            }
        }
        self.reference_lines(&painter, theme, &scale);
        let mut names = Vec::new();
        if !self.bare {
            names = self.reference_labels(&painter, theme, rect, &scale);
        }
        for series in &self.series {
            lines.add(Shape::line(
                series.points.iter().map(|&(x, y)| scale.at(x, y)).collect(),
                Stroke::new(series.width, series.color),
            ));
            // A single point is not a line yet; the newest point is where the run stands.
            if let Some(&(x, y)) = series.points.last() {
                painter.circle_filled(scale.at(x, y), series.width + 0.6, series.color);
            }
        }
        let pointer = response.hover_pos();
        let hovered_series = self.labels(&painter, theme, &scale, rect.right(), pointer);
        let is_at = |place: &Rect| pointer.is_some_and(|at| place.expand(2.0).contains(at));
        let hovered_reference = (0..).zip(&names).find(|(_, place)| is_at(place)).map(|(index, _)| index);
        let title = Rect::from_min_max(rect.min, pos2(rect.right(), scale.plot.top() - 2.0));
        let on_title = !self.bare && hovered_reference.is_none() && is_at(&title);
        let hovered = if on_title { None } else { self.hover(&lines, theme, &scale, pointer) };
        ChartReply { response, hovered, hovered_series, on_title, hovered_reference }
    }

    fn scale(&self, rect: Rect, theme: &Theme, ui: &Ui) -> Scale {
        let x_last = self.series.iter().filter_map(|s| s.points.last()).map(|p| p.0).fold(self.x_least, f64::max);
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
        let bands = self.series.iter().flat_map(|s| s.band.iter().flat_map(|&(low, high)| [low, high]));
        let fixed = self.references.iter().map(|r| r.value).chain(self.y_include.iter().copied());
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for y in points.chain(bands).chain(fixed).filter(|y| y.is_finite()) {
            low = low.min(y);
            high = high.max(y);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A flat curve still has a readable axis around it.
        let pad = ((high - low) * 0.06).max(if high > low { 0.0 } else { (high.abs() * 0.1).max(0.5) });
        let y = (low - pad, high + pad);
        let x = (0.0, x_last.max(1.0));
        if self.bare {
            return Scale { plot: rect.shrink2(vec2(3.0, 3.0)), x, y };
        }
        let font = theme.tiny();
        let width =
            |text: &str, font: &FontId| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), theme.text).size().x;
        let (marks, step) = ticks(y, y_tick_count(rect));
        let left = marks.iter().map(|&v| width(&tick_text(v, step), &font)).fold(12.0, f32::max) + 8.0;
        let right = self.series.iter().map(|s| width(&s.label, &font)).fold(0.0, f32::max);
        let right = if right > 0.0 { (right + 10.0).min(rect.width() * 0.34) } else { 8.0 };
        let top = theme.size.small * 1.35 + 6.0;
        let bottom = theme.size.tiny * 1.35 + 5.0;
        let plot = Rect::from_min_max(rect.min + vec2(left, top), rect.max - vec2(right, bottom));
        Scale { plot, x, y }
    }

    fn axes(&self, painter: &egui::Painter, theme: &Theme, rect: Rect, scale: &Scale) {
        let plot = scale.plot;
        painter.text(rect.min + vec2(0.0, 0.0), Align2::LEFT_TOP, &self.title, theme.small(), theme.text_dim);
        let (marks, step) = ticks(scale.y, y_tick_count(rect));
        for y in marks {
            let at = scale.y_at(y);
            painter.hline(plot.x_range(), at, Stroke::new(1.0, theme.line));
            let text_at = pos2(plot.left() - 6.0, at);
            painter.text(text_at, Align2::RIGHT_CENTER, tick_text(y, step), theme.tiny(), theme.text_faint);
        }
        painter.hline(plot.x_range(), plot.bottom(), Stroke::new(1.0, theme.line_strong));
        let title = painter.layout_no_wrap(self.x_title.clone(), theme.tiny(), theme.text_faint);
        let title_left = rect.right() - title.size().x;
        painter.galley(pos2(title_left, plot.bottom() + 5.0), title, theme.text_faint);
        let (marks, step) = ticks(scale.x, ((plot.width() / 85.0) as u32).clamp(2, 8));
        for x in marks {
            let at = scale.x_at(x);
            let number = painter.layout_no_wrap(tick_text(x, step), theme.tiny(), theme.text_faint);
            let left = at - number.size().x / 2.0;
            painter.vline(at, plot.bottom()..=plot.bottom() + 3.0, Stroke::new(1.0, theme.line_strong));
            if left + number.size().x + 8.0 < title_left {
                painter.galley(pos2(left.max(rect.left()), plot.bottom() + 5.0), number, theme.text_faint);
            }
        }
    }

    fn reference_lines(&self, painter: &egui::Painter, theme: &Theme, scale: &Scale) {
        for reference in &self.references {
            let y = scale.y_at(reference.value);
            let ends = [pos2(scale.plot.left(), y), pos2(scale.plot.right(), y)];
            painter.extend(Shape::dashed_line(&ends, Stroke::new(1.2, theme.text_dim), 5.0, 4.0));
        }
    }

    /// Names of the reference lines: in the title's row where there is room, else at the left ends of their lines,
    /// where the curves are still far away. Where each name stands.
    fn reference_labels(&self, painter: &egui::Painter, theme: &Theme, rect: Rect, scale: &Scale) -> Vec<Rect> {
        let mut places = Vec::new();
        let title = painter.layout_no_wrap(self.title.clone(), theme.small(), theme.text_dim);
        let mut right = rect.right();
        for reference in &self.references {
            let galley = painter.layout_no_wrap(reference.label.clone(), theme.tiny(), theme.text_dim);
            let left = right - galley.size().x;
            if left - 34.0 > rect.left() + title.size().x {
                let dash = [pos2(left - 22.0, rect.top() + 8.0), pos2(left - 5.0, rect.top() + 8.0)];
                painter.extend(Shape::dashed_line(&dash, Stroke::new(1.2, theme.text_dim), 5.0, 4.0));
                places.push(Rect::from_min_size(pos2(left, rect.top() + 1.0), galley.size()));
                painter.galley(pos2(left, rect.top() + 1.0), galley, theme.text_dim);
                right = left - 40.0;
                continue;
            }
            let y = scale.y_at(reference.value);
            let fits_below = y + theme.size.tiny * 1.4 + 2.0 < scale.plot.bottom();
            let (anchor, dy) = if fits_below { (Align2::LEFT_TOP, 2.0) } else { (Align2::LEFT_BOTTOM, -2.0) };
            let place = anchor.anchor_size(pos2(scale.plot.left() + 6.0, y + dy), galley.size());
            painter.rect_filled(place.expand(1.0), 2.0, theme.fade(theme.card, 0.75));
            painter.galley(place.min, galley, theme.text_dim);
            places.push(place);
        }
        places
    }

    /// Labels at the right ends, moved apart; the series whose label or line is under the pointer.
    fn labels(
        &self,
        painter: &egui::Painter,
        theme: &Theme,
        scale: &Scale,
        right: f32,
        pointer: Option<Pos2>,
    ) -> Option<u32> {
        let mut hovered = pointer.and_then(|at| self.line_near(scale, at));
        if self.bare {
            return hovered;
        }
        let height = theme.size.tiny * 1.35;
        let mut ends: Vec<(u32, f32)> = (0..)
            .zip(&self.series)
            .filter(|(_, series)| !series.label.is_empty())
            .filter_map(|(index, series)| series.points.last().map(|&(_, y)| (index, scale.y_at(y))))
            .collect();
        // Where the plot is too low for all, the last series, the most important, keep theirs.
        let room = (scale.plot.height() / height) as usize;
        ends.drain(..ends.len().saturating_sub(room));
        let mut places: Vec<f32> = ends.iter().map(|end| end.1).collect();
        let half = height / 2.0;
        spread(&mut ends, &mut places, height, scale.plot.top() + half..=scale.plot.bottom() - half);
        for ((index, _), y) in ends.iter().zip(places) {
            let series = &self.series[*index as usize];
            let at = pos2(scale.plot.right() + 6.0, y);
            let mut job = LayoutJob::simple_singleline(series.label.clone(), theme.tiny(), series.color);
            job.wrap = TextWrapping::truncate_at_width(right - at.x);
            let galley = painter.layout_job(job);
            let place = Align2::LEFT_CENTER.anchor_size(at, galley.size());
            if pointer.is_some_and(|pointer| place.expand(3.0).contains(pointer)) {
                hovered = Some(*index);
            }
            painter.galley(place.min, galley, series.color);
        }
        hovered
    }

    fn line_near(&self, scale: &Scale, pointer: Pos2) -> Option<u32> {
        let distance = |series: &Series| {
            let points = series.points.windows(2);
            points
                .map(|pair| {
                    let [a, b] = [scale.at(pair[0].0, pair[0].1), scale.at(pair[1].0, pair[1].1)];
                    distance_to_segment(pointer, a, b)
                })
                .fold(f32::INFINITY, f32::min)
        };
        let nearest = (0..).zip(&self.series).map(|(index, series)| (index, distance(series)));
        nearest.filter(|(_, d)| *d < 6.0).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    }

    fn hover(&self, painter: &egui::Painter, theme: &Theme, scale: &Scale, pointer: Option<Pos2>) -> Option<u32> {
        let pointer = pointer.filter(|at| scale.plot.expand(8.0).contains(*at))?;
        let series = self.series.last()?;
        let near = |point: &(f64, f64)| (scale.x_at(point.0) - pointer.x).abs();
        let (index, &(x, y)) = (0_u32..).zip(&series.points).min_by(|a, b| near(a.1).total_cmp(&near(b.1)))?;
        let at = scale.at(x, y);
        painter.vline(at.x, scale.plot.y_range(), Stroke::new(1.0, theme.line_strong));
        painter.circle(at, 4.0, series.color, Stroke::new(1.5, theme.card));
        Some(index)
    }
}

/// Moves `places` (sorted together with `ends`) apart to at least `height`, staying inside `range` where possible.
fn spread(ends: &mut [(u32, f32)], places: &mut [f32], height: f32, range: std::ops::RangeInclusive<f32>) {
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (place, end) in places.iter_mut().zip(ends.iter()) {
        *place = end.1;
    }
    // Down from the top, then back up from the bottom.
    let mut least = *range.start();
    for place in places.iter_mut() {
        *place = place.max(least);
        least = *place + height;
    }
    let mut most = *range.end();
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - height;
    }
}

fn y_tick_count(rect: Rect) -> u32 {
    ((rect.height() / 36.0) as u32).clamp(2, 6)
}

fn band(series: &Series, scale: &Scale, color: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    for (index, (&(x, _), &(low, high))) in (0_u32..).zip(series.points.iter().zip(&series.band)) {
        mesh.colored_vertex(scale.at(x, low), color);
        mesh.colored_vertex(scale.at(x, high), color);
        if index > 0 {
            let base = 2 * (index - 1);
            mesh.add_triangle(base, base + 1, base + 2);
            mesh.add_triangle(base + 1, base + 2, base + 3);
        }
    }
    mesh
}

fn distance_to_segment(p: Pos2, a: Pos2, b: Pos2) -> f32 {
    let along = b - a;
    let t = if along.length_sq() > 0.0 { ((p - a).dot(along) / along.length_sq()).clamp(0.0, 1.0) } else { 0.0 };
    (p - (a + along * t)).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_apart_and_keep_their_order() {
        let mut ends = vec![(0, 50.0), (1, 52.0), (2, 10.0), (3, 99.0), (4, 99.0)];
        let mut places = vec![0.0; 5];
        spread(&mut ends, &mut places, 12.0, 0.0..=100.0);
        let order: Vec<u32> = ends.iter().map(|end| end.0).collect();
        assert_eq!(order[0], 2);
        for pair in places.windows(2) {
            assert!(pair[1] - pair[0] >= 12.0 - 1e-3, "{places:?}");
        }
        assert!(places.iter().all(|y| (0.0..=100.0).contains(y)));
    }

    #[test]
    fn a_band_is_one_strip_around_its_curve() {
        let scale = Scale { plot: Rect::from_min_size(Pos2::ZERO, vec2(100.0, 100.0)), x: (0.0, 2.0), y: (0.0, 1.0) };
        let series = Series {
            label: String::new(),
            color: Color32::WHITE,
            width: 1.0,
            points: vec![(0.0, 0.5), (1.0, 0.6), (2.0, 0.7)],
            band: vec![(0.4, 0.6), (0.5, 0.7), (0.6, 0.8)],
        };
        let mesh = band(&series, &scale, Color32::WHITE);
        assert!(mesh.is_valid());
        assert_eq!((mesh.vertices.len(), mesh.indices.len()), (6, 12));
        assert!((mesh.vertices[4].pos - pos2(100.0, 40.0)).length() < 1e-3);
    }
}
