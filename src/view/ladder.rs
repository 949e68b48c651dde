//! Snapshots of a board's learner against each other, a cell for each pair: rows move first, columns second.
//!
//! Whether training goes up or round in circles is seen beneath the diagonal: later networks, moving first, should win
//! against earlier ones. Colours are those of the two seats, as on the board.

use egui::{Align2, Rect, RichText, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use tandem_core::experiment::ladder::{Score, Standings};

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::widgets::{dot, heading, note};

/// Widest a cell gets.
const WIDEST: f32 = 62.0;
/// The seats, and so their colours.
const FIRST: u32 = 0;
const SECOND: u32 = 1;

/// The matrix, in the width there is.
pub fn ui(ui: &mut Ui, ctx: &ViewCtx<'_>, ladder: &Standings) {
    let (theme, texts) = (ctx.theme, ctx.texts);
    heading(ui, theme, texts.t("ladder.title"));
    note(ui, theme, &texts.f("ladder.note", &[&ladder.games.to_string()]));
    matrix(ui, ctx, ladder);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        for (seat, text) in [(FIRST, "ladder.first_wins"), (SECOND, "ladder.second_wins")] {
            dot(ui, 5.0, theme.agent_color(seat));
            ui.label(RichText::new(texts.t(text)).font(theme.small()).color(theme.text_dim));
            ui.add_space(8.0);
        }
    });
}

fn matrix(ui: &mut Ui, ctx: &ViewCtx<'_>, ladder: &Standings) {
    let (theme, texts) = (ctx.theme, ctx.texts);
    let count = ladder.env_steps.len();
    let names = names(&ladder.env_steps);
    let wide = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme.small(), theme.text_dim).size().x;
    let corner = [texts.t("ladder.first"), texts.t("ladder.second")];
    let head = names.iter().map(|name| wide(name)).chain([wide(corner[0])]).fold(0.0, f32::max) + 8.0;
    let line = theme.size.small * 1.5;
    let cell = vec2(((ui.available_width() - head) / count as f32).min(WIDEST), theme.size.body * 2.1);
    let size = vec2(head + cell.x * count as f32, 2.0 * line + cell.y * count as f32);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let body = rect.min + vec2(head, 2.0 * line);
    let painter = ui.painter().clone();
    let write = |at, align, text: &str, color| painter.text(at, align, text, theme.small(), color);
    write(pos2(body.x + cell.x * count as f32 / 2.0, rect.top()), Align2::CENTER_TOP, corner[1], theme.text_dim);
    write(pos2(body.x - 8.0, body.y - 4.0), Align2::RIGHT_BOTTOM, corner[0], theme.text_dim);
    for (k, name) in names.iter().enumerate() {
        let along = Vec2::splat(k as f32 + 0.5) * cell;
        write(pos2(body.x + along.x, body.y - 4.0), Align2::CENTER_BOTTOM, name, theme.text);
        write(pos2(body.x - 8.0, body.y + along.y), Align2::RIGHT_CENTER, name, theme.text);
    }
    // Never so strong that some numbers would be black and some white.
    let strongest = if theme.dark { 0.6 } else { 0.85 };
    let digits = if cell.x < WIDEST { theme.small() } else { theme.body() };
    for (row, (first, scores)) in ladder.rows().enumerate() {
        for (column, (&second, score)) in ladder.env_steps.iter().zip(scores).enumerate() {
            let place = Rect::from_min_size(body + vec2(column as f32, row as f32) * cell, cell).shrink(1.0);
            let lead = lead(score);
            let seat = if lead < 0.0 { SECOND } else { FIRST };
            let fill = theme.mix(theme.cell, theme.agent_color(seat), strongest * lead.abs());
            painter.rect_filled(place, 3.0, fill);
            let told = numbers::signed(100.0 * lead, |lead| numbers::integer(lead.round() as i32));
            painter.text(place.center(), Align2::CENTER_CENTER, told, digits.clone(), theme.ink_on(fill));
            let Score { won, drawn, lost } = *score;
            let numbers = [first, second, won, drawn, lost].map(numbers::count);
            let tip = texts.f("ladder.cell", &numbers.each_ref().map(String::as_str));
            let response = ui.interact(place, ui.scope_id().with(("ladder", row, column)), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &tip));
            response.on_hover_text(tip);
        }
    }
}

/// Games won minus lost by who moves first, as a share of all.
fn lead(&Score { won, drawn, lost }: &Score) -> f32 {
    (won as f32 - lost as f32) / (won + drawn + lost).max(1) as f32
}

/// The snapshots' env steps, as short as they can be told apart.
fn names(env_steps: &[u32]) -> Vec<String> {
    let closest = env_steps.windows(2).map(|pair| pair[1].abs_diff(pair[0])).min().unwrap_or(1);
    let step = f64::from(10_u32.pow(closest.max(1).ilog10()));
    env_steps.iter().map(|&steps| numbers::tick_text(f64::from(steps), step)).collect()
}
