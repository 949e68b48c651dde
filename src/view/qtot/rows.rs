//! Without a mixer: every agent's Qs side by side, each on its own, because nothing joins them.

use egui::{Align2, CornerRadius, Rect, RichText, Sense, Ui, Vec2, pos2, vec2};

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::q_unit;

/// Draws a panel of bars per agent over the space of `ui`.
pub fn rows_ui(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    let theme = ctx.theme;
    let stage = &ctx.snapshot.stage;
    if stage.per_action.is_empty() {
        parts::message(ui, theme, ui.available_size(), ctx.texts.t("qtot.waiting"));
        return;
    }
    let agents = stage.per_action.len() as u32;
    let width = ui.available_width();
    let per_row = ((width / 220.0) as u32).clamp(1, agents.min(4));
    let gap = theme.size.gap;
    let lines = agents.div_ceil(per_row);
    let note_height = theme.size.small * 3.0;
    let height = ((ui.available_height() - note_height) / lines as f32 - gap).clamp(120.0, 260.0);
    let size = vec2((width - gap * (per_row - 1) as f32) / per_row as f32, height);
    let values = stage.per_action.iter().flatten().copied();
    let (low, high) = values.fold((0.0_f32, 0.0_f32), |(low, high), q| (low.min(q), high.max(q)));
    for line in 0..lines {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for agent in line * per_row..((line + 1) * per_row).min(agents) {
                bars(ui, ctx, agent, size, (low, high));
            }
        });
    }
    if agents > 1 {
        ui.label(RichText::new(ctx.texts.t("qtot.rows.note")).font(theme.small()).color(theme.text_dim));
    }
}

fn bars(ui: &mut Ui, ctx: &ViewCtx<'_>, agent: u32, size: Vec2, (low, high): (f32, f32)) {
    let theme = ctx.theme;
    let stage = &ctx.snapshot.stage;
    let q = &stage.per_action[agent as usize];
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, CornerRadius::same(theme.size.radius_field), theme.cell);
    let title = ctx.texts.f("q.row", &[&numbers::subscript(agent + 1)]);
    painter.text(rect.min + vec2(10.0, 8.0), Align2::LEFT_TOP, title, theme.small(), theme.agent_text(agent));
    let line = theme.size.tiny * 1.4;
    let plot = Rect::from_min_max(
        rect.min + vec2(10.0, 12.0 + theme.size.small * 1.4 + line),
        rect.max - vec2(10.0, 6.0 + line + if low < 0.0 { line } else { 0.0 }),
    );
    let span = (high - low).max(1e-6);
    let y = |value: f32| plot.bottom() - (value - low) / span * plot.height();
    let step = plot.width() / q.len() as f32;
    painter.hline(plot.x_range(), y(0.0), egui::Stroke::new(1.0, theme.line_strong));
    let greedy = stage.greedy.get(agent as usize).copied();
    let legal = stage.legal.get(agent as usize);
    for (action, value) in (0_u32..).zip(q) {
        let center = plot.left() + step * (action as f32 + 0.5);
        let is_legal = legal.and_then(|legal| legal.get(action as usize).copied()).unwrap_or(true);
        let is_greedy = greedy == Some(action);
        let opacity = if is_greedy { 1.0 } else { 0.38 };
        let color = theme.fade(theme.agent_color(agent), if is_legal { opacity } else { 0.1 });
        let width = (step * 0.62).min(46.0);
        let bar = Rect::from_two_pos(pos2(center - width / 2.0, y(0.0)), pos2(center + width / 2.0, y(*value)));
        painter.rect_filled(bar, CornerRadius::same(2), color);
        let ink = if is_greedy { theme.text } else { theme.text_dim };
        let (anchor, edge) = if *value < 0.0 {
            (Align2::CENTER_TOP, bar.bottom() + 1.0)
        } else {
            (Align2::CENTER_BOTTOM, bar.top() - 1.0)
        };
        painter.text(pos2(center, edge), anchor, numbers::value(*value), theme.tiny(), ink);
        let name = ctx.facts.action_names.get(action as usize).map_or("", |name| ctx.texts.t(name));
        painter.text(pos2(center, rect.bottom() - 5.0), Align2::CENTER_BOTTOM, name, theme.tiny(), ink);
    }
    response.on_hover_text(ctx.texts.f("q.row.tip", &[&(agent + 1).to_string(), ctx.texts.t(q_unit(ctx))]));
}
