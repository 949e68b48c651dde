//! How strong a board's players are: matches of the newest evaluation, the greedy network against scripts, as first and
//! as second player side by side, and beside them snapshots against each other (`ladder.rs`).
//!
//! A mirror match says who begins and not who is strong, so there is no row for it.

use egui::{Grid, RichText, ScrollArea, Ui};
use tandem_core::experiment::snapshot::MatchResult;

use crate::view::api::ViewCtx;
use crate::view::widgets::note;
use crate::view::{ladder, parts};

/// Room that table and matrix need side by side, and the table's part of it.
const SIDE_BY_SIDE: f32 = 720.0;
const TABLE: f32 = 330.0;

/// Table and matrix, or why there is nothing yet.
pub fn ui(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    let matches = ctx.curve.last().map_or(&[][..], |point| &point.matches);
    let snapshots = ctx.snapshot.ladder.as_ref().filter(|ladder| ladder.env_steps.len() > 1);
    if matches.is_empty() && snapshots.is_none() {
        parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("matches.none"));
        return;
    }
    ScrollArea::vertical().id_salt("matches").auto_shrink(false).scroll_source(parts::scrolled_by(ctx.theme)).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            let Some(snapshots) = snapshots else { return table(ui, ctx, matches) };
            if matches.is_empty() {
                return ladder::ui(ui, ctx, snapshots);
            }
            if ui.available_width() < SIDE_BY_SIDE {
                table(ui, ctx, matches);
                ui.add_space(8.0);
                return ladder::ui(ui, ctx, snapshots);
            }
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    ui.set_width(TABLE);
                    table(ui, ctx, matches);
                });
                ui.add_space(24.0);
                ui.vertical(|ui| ladder::ui(ui, ctx, snapshots));
            });
        },
    );
}

fn table(ui: &mut Ui, ctx: &ViewCtx<'_>, matches: &[MatchResult]) {
    note(ui, ctx.theme, ctx.texts.t("matches.note"));
    let gap = if ctx.compact { 8.0 } else { 20.0 };
    ui.spacing_mut().interact_size.y = ctx.theme.size.body * 1.6;
    Grid::new("matches").spacing([gap, 3.0]).show(ui, |ui| rows(ui, ctx, matches));
}

fn rows(ui: &mut Ui, ctx: &ViewCtx<'_>, matches: &[MatchResult]) {
    let (theme, texts) = (ctx.theme, ctx.texts);
    for id in ["matches.opponent", "matches.first", "matches.second"] {
        ui.label(RichText::new(texts.t(id)).font(theme.small()).color(theme.text_dim));
    }
    ui.end_row();
    for seats in matches.chunk_by(|a, b| a.opponent == b.opponent) {
        let name = format!("choice.seats.{}", seats[0].opponent.info().id);
        ui.label(RichText::new(texts.t(&name)).font(theme.body()).color(theme.text));
        for seat in 0..ctx.facts.num_agents {
            let told = seats.iter().find(|result| result.seat == seat).map_or_else(|| "–".to_owned(), shares);
            ui.label(RichText::new(told).font(theme.body()).color(theme.text));
        }
        ui.end_row();
    }
}

/// Per cent won, drawn and lost.
fn shares(&MatchResult { won, drawn, lost, .. }: &MatchResult) -> String {
    let games = f64::from((won + drawn + lost).max(1));
    let [won, drawn, lost] = [won, drawn, lost].map(|count| 100.0 * f64::from(count) / games);
    format!("{won:.0} / {drawn:.0} / {lost:.0} %")
}
