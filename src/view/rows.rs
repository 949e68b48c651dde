//! What each agent makes of its own observation, side by side: a bar per action, its Q of a value-based learner or its
//! probability under a policy.

use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Sense, Shape, Stroke, Ui, Vec2, pos2, vec2};
use tandem_core::base::float;

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::person::split;
use crate::view::stage::q_unit;
use crate::view::theme::Theme;

/// Policies over more actions than this are drawn in a scale of their own, or their bars could not be seen.
const MANY: usize = 8;

/// Draws a panel of bars per agent, together at most `height` high.
pub fn rows_ui(ui: &mut Ui, ctx: &ViewCtx<'_>, height: f32) {
    let theme = ctx.theme;
    let stage = &ctx.snapshot.stage;
    if stage.per_action.is_empty() {
        parts::message(ui, theme, vec2(ui.available_width(), height), ctx.texts.t("qtot.waiting"));
        return;
    }
    let agents = stage.per_action.len() as u32;
    let width = ui.available_width();
    let per_row = ((width / 220.0) as u32).clamp(1, agents.min(4));
    let gap = theme.size.gap;
    let lines = agents.div_ceil(per_row);
    let values = (0..agents).flat_map(|agent| values_of(ctx, agent)).copied();
    let is_many = (0..agents).any(|agent| values_of(ctx, agent).len() > MANY);
    let height = (height / lines as f32 - gap).clamp(if is_many { 150.0 } else { 110.0 }, 260.0);
    let size = vec2((width - gap * (per_row - 1) as f32) / per_row as f32, height);
    let ends = if ctx.facts.is_policy_gradient {
        (0.0, if is_many { round_above(values.fold(0.0, f32::max)) } else { 1.0 })
    } else {
        values.fold((0.0_f32, 0.0_f32), |(low, high), q| (low.min(q), high.max(q)))
    };
    for line in 0..lines {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for agent in line * per_row..((line + 1) * per_row).min(agents) {
                bars(ui, ctx, agent, size, ends);
            }
        });
    }
}

/// Entropy of a policy in nats: 0 where one action is certain, ln |A| where all are equally likely.
pub fn entropy(policy: &[f32]) -> f32 {
    let term = |p: f32| if p > 0.0 { -f64::from(p) * float::ln(f64::from(p)) } else { 0.0 };
    policy.iter().map(|&p| term(p)).sum::<f64>() as f32
}

/// The numbers of an agent's own actions: where agents differ in kind, some have fewer than there is room for.
fn values_of<'a>(ctx: &'a ViewCtx<'_>, agent: u32) -> &'a [f32] {
    let values = &ctx.snapshot.stage.per_action[agent as usize];
    let own = ctx.actions(agent).len();
    if own == 0 { values } else { &values[..own.min(values.len())] }
}

/// End of a scale of probabilities on which `largest` has some room: 1, 2 or 5 of a power of ten, at most 1.
fn round_above(largest: f32) -> f32 {
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|end| largest * 1.2 <= *end).unwrap_or(1.0)
}

/// Runs of actions that say the same word while they move: where each begins, and the word.
fn groups(ctx: &ViewCtx<'_>, agent: u32) -> Vec<(u32, i32)> {
    let mut groups: Vec<(u32, i32)> = Vec::new();
    for (action, name) in (0_u32..).zip(ctx.actions(agent)) {
        let (Some(_), Some(word)) = split(name) else { return Vec::new() };
        if groups.last().is_none_or(|(_, last)| *last != word) {
            groups.push((action, word));
        }
    }
    groups
}

fn bars(ui: &mut Ui, ctx: &ViewCtx<'_>, agent: u32, size: Vec2, (low, high): (f32, f32)) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let stage = &ctx.snapshot.stage;
    let values = values_of(ctx, agent);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, CornerRadius::same(theme.size.radius_field), theme.cell);
    let number = numbers::subscript(agent + 1);
    let is_policy = ctx.facts.is_policy_gradient;
    let title = texts.f(if is_policy { "policy.row" } else { "q.row" }, &[&number]);
    painter.text(rect.min + vec2(10.0, 8.0), Align2::LEFT_TOP, &title, theme.small(), theme.agent_text(agent));
    let waits = ctx.facts.in_turns && stage.to_move != Some(agent);
    if values.is_empty() || waits {
        let text = texts.t(if values.is_empty() { "q.row.script" } else { "q.row.waits" });
        painter.text(rect.center(), Align2::CENTER_CENTER, text, theme.small(), theme.text_dim);
        return;
    }
    let figures = if is_policy { figures(ctx, agent) } else { String::new() };
    let corner = rect.right_top() + vec2(-10.0, 8.0);
    painter.text(corner, Align2::RIGHT_TOP, &figures, theme.small(), theme.text_dim);
    let told = format!("{title} {figures}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &told));
    let line = theme.size.tiny * 1.4;
    let is_scaled = is_policy && high < 1.0;
    let groups = groups(ctx, agent);
    let left = if is_scaled || !groups.is_empty() { theme.size.tiny * 3.6 } else { 10.0 };
    let plot = Rect::from_min_max(
        rect.min + vec2(left, 12.0 + theme.size.small * 1.4 + line),
        rect.max - vec2(10.0, 6.0 + line + if low < 0.0 { line } else { 0.0 }),
    );
    let span = (high - low).max(1e-6);
    let y = |value: f32| plot.bottom() - (value - low) / span * plot.height();
    let step = plot.width() / values.len().max(1) as f32;
    painter.hline(plot.x_range(), y(0.0), Stroke::new(1.0, theme.line_strong));
    let greedy = stage.greedy.get(agent as usize).copied();
    let legal = stage.legal.get(agent as usize);
    let is_legal = |action: u32| legal.and_then(|legal| legal.get(action as usize).copied()).unwrap_or(true);
    let even = 1.0 / (0..values.len() as u32).filter(|action| is_legal(*action)).count().max(1) as f32;
    if is_scaled {
        let is_right = greedy.is_none_or(|greedy| (greedy as usize) < values.len() / 2);
        scale(&painter, theme, plot, y, (even, high), (texts.t("policy.row.even"), is_right));
    }
    // Where actions are many, only the greedy one has its words; the others say theirs when pointed at.
    let width_of = |text: String| painter.layout_no_wrap(text, theme.tiny(), theme.text).size().x;
    let fits =
        |text: &dyn Fn(u32) -> String| (0..values.len() as u32).all(|action| width_of(text(action)) <= step - 2.0);
    let name = |action: u32| ctx.action_name(agent, action);
    let figure = |action: u32, is_long: bool| match values[action as usize] {
        value if is_policy => numbers::percent(value),
        value if is_long => numbers::value(value),
        value => numbers::short(value),
    };
    let (has_names, has_long) = (fits(&name), fits(&|action| figure(action, true)));
    let has_figures = has_long || fits(&|action| figure(action, false));
    let write = |at: Pos2, anchor: Align2, text: String, ink: Color32| {
        let galley = painter.layout_no_wrap(text, theme.tiny(), ink);
        let mut place = anchor.anchor_size(at, galley.size());
        let least = if is_scaled { plot.left() } else { rect.left() + 4.0 };
        place = place.translate(vec2((least - place.left()).max(0.0), 0.0));
        place = place.translate(vec2((rect.right() - 4.0 - place.right()).min(0.0), 0.0));
        painter.galley(place.min, galley, ink);
    };
    for (action, value) in (0_u32..).zip(values) {
        let center = plot.left() + step * (action as f32 + 0.5);
        let is_greedy = greedy == Some(action);
        let opacity = if is_greedy { 1.0 } else { 0.38 };
        let color = theme.fade(theme.agent_color(agent), if is_legal(action) { opacity } else { 0.1 });
        let width = (step * if values.len() > MANY { 0.8 } else { 0.62 }).min(46.0);
        let bar = Rect::from_two_pos(pos2(center - width / 2.0, y(0.0)), pos2(center + width / 2.0, y(*value)));
        painter.rect_filled(bar, CornerRadius::same(2), color);
        let ink = if is_greedy { theme.text } else { theme.text_dim };
        let (anchor, edge) = if *value < 0.0 {
            (Align2::CENTER_TOP, bar.bottom() + 1.0)
        } else {
            (Align2::CENTER_BOTTOM, bar.top() - 1.0)
        };
        if has_figures || is_greedy {
            let figure = figure(action, has_long);
            let text = if groups.is_empty() { figure } else { format!("{}  {figure}", name(action)) };
            write(pos2(center, edge), anchor, text, ink);
        }
        if groups.is_empty() && (has_names || is_greedy) {
            write(pos2(center, rect.bottom() - 5.0), Align2::CENTER_BOTTOM, name(action), ink);
        }
    }
    if !groups.is_empty() {
        let at = pos2(plot.left() - 5.0, rect.bottom() - 5.0);
        painter.text(at, Align2::RIGHT_BOTTOM, texts.t("policy.row.say"), theme.tiny(), theme.text_dim);
    }
    for (index, &(first, word)) in groups.iter().enumerate() {
        let end = groups.get(index + 1).map_or(values.len() as u32, |(next, _)| *next);
        let [from, to] = [first, end].map(|action| plot.left() + step * action as f32);
        if index > 0 {
            painter.vline(from, plot.bottom()..=rect.bottom() - 6.0, Stroke::new(1.0, theme.line_strong));
        }
        let has_greedy = greedy.is_some_and(|greedy| (first..end).contains(&greedy));
        let ink = if has_greedy { theme.text } else { theme.text_dim };
        if width_of(word.to_string()) <= to - from - 2.0 || has_greedy {
            write(pos2(f32::midpoint(from, to), rect.bottom() - 5.0), Align2::CENTER_BOTTOM, word.to_string(), ink);
        }
    }
    let tip = if is_policy { "policy.row.tip" } else { "q.row.tip" };
    let mut tip = texts.f(tip, &[&(agent + 1).to_string(), texts.t(q_unit(ctx))]);
    if let Some(at) = response.hover_pos().filter(|at| plot.x_range().contains(at.x)) {
        let action = (((at.x - plot.left()) / step) as u32).min(values.len() as u32 - 1);
        tip = format!("{}: {}\n\n{tip}", name(action), figure(action, true));
    }
    response.on_hover_text(tip);
}

/// The scale of a policy over many actions: where it ends, and a dashed line with a `name` where all are equally likely.
fn scale(
    painter: &Painter,
    theme: &Theme,
    plot: Rect,
    y: impl Fn(f32) -> f32,
    (even, high): (f32, f32),
    (name, is_right): (&str, bool),
) {
    let figure = |value: f32| {
        let at = pos2(plot.left() - 5.0, y(value));
        painter.text(at, Align2::RIGHT_CENTER, numbers::percent(value), theme.tiny(), theme.text_faint);
    };
    painter.hline(plot.x_range(), y(high), Stroke::new(1.0, theme.line));
    figure(high);
    let dashed = |from: f32, to: f32, y: f32| {
        let stroke = Stroke::new(1.0, theme.text_dim);
        painter.extend(Shape::dashed_line(&[pos2(from, y), pos2(to, y)], stroke, 4.0, 3.0));
    };
    dashed(plot.left(), plot.right(), y(even));
    if y(even) - y(high) > theme.size.tiny {
        figure(even);
    }
    // What the line is stands above all bars, where the greedy action's words are not.
    let name = painter.layout_no_wrap(name.to_owned(), theme.tiny(), theme.text_dim);
    let left = if is_right { plot.right() - name.size().x } else { plot.left() + 24.0 };
    let place = pos2(left, y(high) + 2.0);
    dashed(left - 22.0, left - 4.0, place.y + name.size().y / 2.0);
    painter.galley(place, name, theme.text_dim);
}

/// Entropy of an agent's policy here, and its own value where the critic has one for each.
fn figures(ctx: &ViewCtx<'_>, agent: u32) -> String {
    let stage = &ctx.snapshot.stage;
    let entropy = numbers::short(entropy(&stage.per_action[agent as usize]));
    let value = stage.values.get(agent as usize).filter(|_| stage.values.len() > 1 || ctx.facts.num_agents == 1);
    match value {
        Some(value) => format!("H {entropy}  V {}", numbers::short(*value)),
        None => format!("H {entropy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{entropy, round_above};

    #[test]
    fn a_scale_of_probabilities_has_room_for_the_largest() {
        assert_eq!([0.02, 0.05, 0.4, 0.5, 1.0].map(round_above), [0.05, 0.1, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn entropy_is_that_of_the_actions_that_can_happen() {
        assert_eq!(entropy(&[0.0, 1.0, 0.0]), 0.0);
        assert!((entropy(&[0.25; 4]) - 2.0 * std::f32::consts::LN_2).abs() < 1e-6);
        assert!((entropy(&[0.5, 0.0, 0.5]) - std::f32::consts::LN_2).abs() < 1e-6);
    }
}
