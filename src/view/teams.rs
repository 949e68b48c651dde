//! The course's scripted teams beside learned ones, over the same episodes.
//!
//! The session plays and trains them; the view draws a row each, with the mean's 95 % interval on a common scale. The
//! gap between the scripts is written into them, and the view says so. On boards, where players meet, the newest evaluation's
//! matches stand here instead (`matches.rs`).

use egui::{Grid, Rect, RichText, ScrollArea, Sense, Shape, Stroke, Ui, pos2, vec2};
use tandem_core::experiment::command::Command;
use tandem_core::experiment::snapshot::{Sentence, TeamName, TeamRow, TeamStands};
use tandem_core::experiment::spec::EnvChoice;
use tandem_core::experiment::trial::EPISODES;

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::widgets::{Button, note, tag};
use crate::view::{matches, parts};

/// Width of the columns before the chart, and the chart's least and largest.
const COLUMNS: f32 = 278.0;
const CHART: (f32, f32) = (48.0, 360.0);

/// The view; it keeps nothing.
#[derive(Debug)]
pub struct TeamsView;

impl View for TeamsView {
    fn id(&self) -> ViewId {
        ViewId("teams")
    }

    fn title(&self) -> &'static str {
        "view.teams"
    }

    fn unavailable(&self, ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        (!matches!(ctx.spec.env, EnvChoice::Pellet | EnvChoice::Board(_)))
            .then(|| (Sentence::new("teams.no_scripts", &[]), ViewId("returns")))
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        if self.unavailable(ctx).is_some() {
            return;
        }
        if matches!(ctx.spec.env, EnvChoice::Board(_)) {
            matches::ui(ui, ctx);
            return;
        }
        let teams = &ctx.snapshot.teams;
        if teams.is_empty() {
            parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("teams.none"));
            return;
        }
        ScrollArea::vertical().id_salt("teams").auto_shrink(false).scroll_source(parts::scrolled_by(ctx.theme)).show(
            ui,
            |ui| {
                ui.spacing_mut().item_spacing.y = 8.0;
                note(ui, ctx.theme, ctx.texts.t("teams.written"));
                train_button(ui, ctx, teams, actions);
                let gap = if ctx.compact { 8.0 } else { 14.0 };
                let chart = (ui.available_width() - COLUMNS - 2.0 * gap).clamp(CHART.0, CHART.1);
                ui.spacing_mut().interact_size.y = ctx.theme.size.body * 1.6;
                Grid::new("teams").spacing([gap, 3.0]).show(ui, |ui| rows(ui, ctx, teams, chart));
                note(ui, ctx.theme, ctx.texts.t("teams.learned.note"));
            },
        );
    }
}

fn train_button(ui: &mut Ui, ctx: &ViewCtx<'_>, teams: &[TeamRow], actions: &mut Vec<Action>) {
    let any = |is: fn(&TeamStands) -> bool| teams.iter().any(|team| is(&team.stands));
    let trains = any(|stands| matches!(stands, TeamStands::Waiting | TeamStands::Training { .. }));
    let (text, tip) = if trains { ("teams.stop", "teams.stop.tip") } else { ("teams.train", "teams.train.tip") };
    let is_wanted = trains || any(|stands| *stands == TeamStands::Untrained);
    let button = Button::text(ctx.texts.t(text)).tip(ctx.texts.t(tip));
    if is_wanted && button.show(ui, ctx.theme).clicked() {
        actions.push(Action::Session(Command::TrainTeams(!trains)));
    }
}

fn rows(ui: &mut Ui, ctx: &ViewCtx<'_>, teams: &[TeamRow], chart: f32) {
    let (theme, texts) = (ctx.theme, ctx.texts);
    let optimum = ctx.facts.optimum.map(|optimum| optimum.value);
    let optimum_text = optimum.map(|optimum| texts.f("teams.optimum", &[&format!("{optimum:.2}")]));
    // Narrow, the third column has no room for words.
    let (mean, beside) = if ctx.compact { ("teams.mean.short", None) } else { ("teams.mean", optimum_text.as_ref()) };
    for text in [texts.t("teams.team"), texts.t(mean), beside.map_or("", String::as_str)] {
        ui.label(RichText::new(text).font(theme.small()).color(theme.text_dim));
    }
    ui.end_row();
    let largest = teams.iter().filter_map(|team| match team.stands {
        TeamStands::Played { mean, ci95, .. } => Some(mean + ci95),
        _ => None,
    });
    let scale = largest.chain(optimum).fold(1.0, f32::max);
    for team in teams {
        let (name, kind) = match team.name {
            TeamName::Script(script) => (format!("choice.seats.{}", script.info().id), "seats.scripted"),
            TeamName::Learner(algo) => (format!("choice.algo.{}", algo.info().id), "teams.learned"),
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new(texts.t(&name)).font(theme.body()).color(theme.text));
            tag(ui, theme, texts.t(kind), theme.text_dim);
        });
        let (text, ink) = match &team.stands {
            TeamStands::Played { episodes, mean, ci95 } => {
                let mean = format!("{mean:.2} ± {ci95:.2}");
                if *episodes < EPISODES {
                    (texts.f("teams.partly", &[&mean]), theme.text_dim)
                } else {
                    (mean, theme.text)
                }
            }
            TeamStands::Training { env_steps, budget } => {
                let share = u64::from(*env_steps) * 100 / u64::from((*budget).max(1));
                (texts.f("teams.training", &[&share.min(100).to_string()]), theme.text_dim)
            }
            TeamStands::Waiting => (texts.t("teams.waiting").to_owned(), theme.text_faint),
            TeamStands::Untrained => (texts.t("teams.untrained").to_owned(), theme.text_faint),
            TeamStands::Refused(_) => (texts.t("teams.refused").to_owned(), theme.text_faint),
        };
        let cell = ui.label(RichText::new(text).font(theme.body()).color(ink));
        if let TeamStands::Refused(reason) = &team.stands {
            cell.on_hover_text(texts.sentence(reason));
        }
        interval(ui, ctx, team, chart, scale, optimum);
        ui.end_row();
    }
    if let Some(optimum) = optimum_text.filter(|_| ctx.compact) {
        ui.label(RichText::new(optimum).font(theme.small()).color(theme.text_dim));
        ui.end_row();
    }
}

/// The mean as a bar from 0 to `scale`, its interval across the bar's end, the optimum as a line.
fn interval(ui: &mut Ui, ctx: &ViewCtx<'_>, team: &TeamRow, width: f32, scale: f32, optimum: Option<f32>) {
    let theme = ctx.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(width, theme.size.body * 1.3), Sense::hover());
    let x = |steps: f32| rect.left() + rect.width() * steps / scale;
    let painter = ui.painter();
    if let TeamStands::Played { mean, ci95, .. } = team.stands {
        let color = match team.name {
            TeamName::Script(_) => theme.line_strong,
            TeamName::Learner(_) => theme.accent,
        };
        let bar = Rect::from_x_y_ranges(rect.left()..=x(mean), rect.center().y - 4.0..=rect.center().y + 4.0);
        painter.rect_filled(bar, 2.0, color);
        let whisker = Stroke::new(1.5, theme.text);
        painter.hline(x((mean - ci95).max(0.0))..=x(mean + ci95), rect.center().y, whisker);
        for end in [mean - ci95, mean + ci95] {
            painter.vline(x(end.max(0.0)), rect.center().y - 4.0..=rect.center().y + 4.0, whisker);
        }
    }
    if let Some(optimum) = optimum {
        let ends = [pos2(x(optimum), rect.top()), pos2(x(optimum), rect.bottom())];
        painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, theme.text_dim), 3.0, 3.0));
    }
    response.on_hover_text(ctx.texts.t("teams.bar.tip"));
}
