//! How far the policy has moved from the one that gathered the data: ratios r = π(a|o) / π_old(a|o) of the newest pass
//! over a rollout, with the band in which PPO still pushes.

use egui::{Align2, Rect, Sense, Stroke, Ui, Vec2, pos2, vec2};
use tandem_core::experiment::snapshot::PolicyStats;

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::parts;
use crate::view::widgets::text_in;

/// First and last ratio of the histogram.
const ENDS: (f32, f32) = (0.5, 1.5);

/// Draws it over `size`.
pub fn histogram_ui(ui: &mut Ui, ctx: &ViewCtx<'_>, stats: &PolicyStats, size: Vec2) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let title = texts.t("policy.ratios");
    let told = texts.f("policy.ratios.described", &[&numbers::percent(stats.clip_fraction)]);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &told));
    text_in(ui, rect, Align2::LEFT_TOP, title, theme.small(), theme.text_dim);
    let head = theme.size.small * 1.35 + 6.0;
    let foot = theme.size.tiny * 1.35 + 5.0;
    let plot = Rect::from_min_max(rect.min + vec2(2.0, head), rect.max - vec2(2.0, foot));
    let painter = ui.painter_at(rect.expand(2.0));
    let x = |ratio: f32| egui::remap_clamp(ratio, ENDS.0..=ENDS.1, plot.left()..=plot.right());
    let band = Rect::from_x_y_ranges(x(1.0 - stats.clip)..=x(1.0 + stats.clip), plot.y_range());
    painter.rect_filled(band, 0.0, theme.fade(theme.accent, 0.13));
    for edge in [band.left(), band.right()] {
        painter.vline(edge, plot.y_range(), Stroke::new(1.0, theme.fade(theme.accent, 0.7)));
    }
    let bins = stats.histogram.len().max(1) as f32;
    let most = stats.histogram.iter().copied().max().unwrap_or(0).max(1) as f32;
    let all: u32 = stats.histogram.iter().sum();
    let step = plot.width() / bins;
    for (index, &count) in (0_u32..).zip(&stats.histogram) {
        let left = plot.left() + index as f32 * step;
        let middle = ENDS.0 + (index as f32 + 0.5) / bins * (ENDS.1 - ENDS.0);
        let is_inside = (middle - 1.0).abs() <= stats.clip;
        let color = if is_inside { theme.accent } else { theme.warn };
        let high = count as f32 / most * plot.height();
        // The rarest ratios are the ones to see.
        let high = if count > 0 { high.max(1.5) } else { 0.0 };
        let bar = Rect::from_min_max(pos2(left + 0.5, plot.bottom() - high), pos2(left + step - 0.5, plot.bottom()));
        painter.rect_filled(bar, 0.0, color);
    }
    painter.hline(plot.x_range(), plot.bottom(), Stroke::new(1.0, theme.line_strong));
    for ratio in [0.5, 0.75, 1.0, 1.25, 1.5] {
        let (anchor, text) = match ratio {
            r if r == ENDS.0 => (Align2::LEFT_TOP, format!("≤ {r}")),
            r if r == ENDS.1 => (Align2::RIGHT_TOP, format!("≥ {r}")),
            r => (Align2::CENTER_TOP, format!("{r}")),
        };
        painter.text(pos2(x(ratio), plot.bottom() + 4.0), anchor, text, theme.tiny(), theme.text_faint);
    }
    let Some(at) = response.hover_pos().filter(|_| !parts::is_covered(ui)) else { return };
    if !plot.contains(at) {
        parts::tip_now(ui, &response, |ui| ui.label(texts.t("policy.ratios.tip")));
        return;
    }
    let bin = (((at.x - plot.left()) / step) as usize).min(stats.histogram.len().saturating_sub(1));
    let edge = |index: usize| ENDS.0 + index as f32 / bins * (ENDS.1 - ENDS.0);
    let count = stats.histogram.get(bin).copied().unwrap_or(0);
    let words = [numbers::count(count), numbers::count(all), numbers::value(edge(bin)), numbers::value(edge(bin + 1))];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    parts::tip_now(ui, &response, |ui| {
        ui.label(texts.f("policy.ratios.bin", &words));
        ui.label(egui::RichText::new(texts.t("policy.ratios.tip")).font(theme.small()).color(theme.text_dim));
    });
}
