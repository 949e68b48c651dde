//! Who moves: the share of its recent env steps at which each agent chose to move, and its share of all moves.
//!
//! Where a move costs and everyone is paid for the pellet, this is what a free rider is known by.

use egui::{Align2, Rect, RichText, Sense, Ui, pos2, vec2};

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::widgets::text_in;

/// Share of env steps at which each agent moved; `None` where the world has no action that does nothing, or nobody has
/// acted yet.
pub fn shares(ctx: &ViewCtx<'_>) -> Option<Vec<f32>> {
    let idle = ctx.facts.idle_action? as usize;
    let rows = &ctx.snapshot.stage.frequencies;
    let has_acted = !rows.is_empty() && rows.iter().all(|row| row.iter().sum::<f32>() > 0.0);
    has_acted.then(|| rows.iter().map(|row| (1.0 - row.get(idle).copied().unwrap_or(0.0)).max(0.0)).collect())
}

/// Height that [`moves_ui`] takes.
pub fn height(ctx: &ViewCtx<'_>, width: f32) -> f32 {
    if ctx.facts.idle_action.is_none() {
        return 0.0;
    }
    let lines = ctx.facts.num_agents.div_ceil(per_line(ctx, width));
    ctx.theme.size.small * 1.5 + 4.0 + lines as f32 * line(ctx)
}

/// A bar per agent.
pub fn moves_ui(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    if ctx.facts.idle_action.is_none() {
        return;
    }
    let (texts, theme) = (ctx.texts, ctx.theme);
    let width = ui.available_width();
    ui.spacing_mut().interact_size.y = 0.0;
    ui.spacing_mut().item_spacing.y = 2.0;
    let title = RichText::new(texts.t("rewards.moves")).font(theme.small()).color(theme.text_dim);
    ui.add(egui::Label::new(title).truncate().sense(Sense::hover())).on_hover_text(texts.t("rewards.moves.tip"));
    let Some(shares) = shares(ctx) else {
        ui.label(RichText::new(texts.t("rewards.moves.none")).font(theme.small()).color(theme.text_faint));
        return;
    };
    let all: f32 = shares.iter().sum();
    let words = (0_u32..).zip(&shares).map(|(agent, share)| {
        let of_all = if all > 0.0 { share / all } else { 0.0 };
        let figures = texts.f("rewards.moves.share", &[&numbers::percent(*share), &numbers::percent(of_all)]);
        (texts.f("agent.name", &[&(agent + 1).to_string()]), figures)
    });
    let words: Vec<(String, String)> = words.collect();
    // All bars begin and end at the same places, or they could not be compared.
    let measure = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme.tiny(), theme.text).size().x + 8.0;
    let left = words.iter().map(|(name, _)| measure(name)).fold(0.0, f32::max);
    let right = words.iter().map(|(_, figures)| measure(figures)).fold(0.0, f32::max);
    let per_line = per_line(ctx, width);
    let lines = shares.len().div_ceil(per_line as usize) as f32;
    let (rect, _) = ui.allocate_exact_size(vec2(width, lines * line(ctx)), Sense::hover());
    let cell = vec2((width + 16.0) / per_line as f32, line(ctx));
    for (agent, (share, (name, figures))) in (0_u32..).zip(shares.iter().zip(&words)) {
        let at = rect.min + vec2((agent % per_line) as f32 * cell.x, (agent / per_line) as f32 * cell.y);
        let place = Rect::from_min_size(at, cell - vec2(16.0, 0.0));
        let track = if ctx.compact {
            let top = place.top() + theme.size.tiny * 1.5;
            Rect::from_min_max(pos2(place.left(), top), place.right_bottom() - vec2(0.0, 5.0))
        } else {
            let middle = place.shrink2(vec2(0.0, (place.height() - theme.size.tiny * 0.8) / 2.0));
            let end = (place.right() - right).max(place.left() + left + 8.0);
            Rect::from_x_y_ranges(place.left() + left..=end, middle.y_range())
        };
        bar(ui, ctx, agent, *share, [name, figures], [place, track]);
    }
}

fn bar(ui: &mut Ui, ctx: &ViewCtx<'_>, agent: u32, share: f32, words: [&str; 2], [place, track]: [Rect; 2]) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let [name, figures] = words;
    let response = ui.interact(place, ui.scope_id().with(("moves", agent)), Sense::hover());
    let told = format!("{name}: {figures}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &told));
    let (at_left, at_right) =
        if ctx.compact { (Align2::LEFT_TOP, Align2::RIGHT_TOP) } else { (Align2::LEFT_CENTER, Align2::RIGHT_CENTER) };
    text_in(ui, place, at_left, name, theme.tiny(), theme.agent_text(agent));
    text_in(ui, place, at_right, figures, theme.tiny(), theme.text_dim);
    ui.painter().rect_filled(track, 2.0, theme.field_hover);
    let filled = Rect::from_min_max(track.min, pos2(egui::lerp(track.x_range(), share.min(1.0)), track.bottom()));
    ui.painter().rect_filled(filled, 2.0, theme.agent_color(agent));
    response.on_hover_text(texts.t("rewards.moves.tip"));
}

/// Many agents stand side by side.
fn per_line(ctx: &ViewCtx<'_>, width: f32) -> u32 {
    if ctx.facts.num_agents > 2 && width > 440.0 { 2 } else { 1 }
}

/// Height of a bar; on a phone its words stand above it.
fn line(ctx: &ViewCtx<'_>) -> f32 {
    ctx.theme.size.tiny * if ctx.compact { 2.5 } else { 1.6 }
}
