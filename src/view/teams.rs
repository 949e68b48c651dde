//! The course's scripted teams beside what was learned in this tab, on the same start cells.
//!
//! Scripts need no training, so the view plays their episodes itself, a slice per frame; learned rows are the greedy
//! evaluations that are there already. The gap between the scripts is written into them, and the view says so.

use egui::{Grid, RichText, ScrollArea, Ui};
use tandem_core::base::stats::summary;
use tandem_core::env::api::Env;
use tandem_core::env::script::{SCRIPTS, Script};
use tandem_core::experiment::snapshot::{EvalPoint, Sentence};
use tandem_core::experiment::spec::{EnvChoice, PelletSettings};
use tandem_core::experiment::trial::{EPISODES, ScriptedTeam, Trial};
use tandem_core::experiment::world;

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::numbers;
use crate::view::widgets::{note, tag};

/// Env steps of all agents together after which a frame's slice ends with its episode.
const SLICE: u32 = 4_000;

/// The view and the episodes played so far.
#[derive(Debug, Default)]
pub struct TeamsView {
    played: Option<Played>,
}

/// Episodes of one world and seed.
#[derive(Debug)]
struct Played {
    of: (PelletSettings, u64),
    env: Box<dyn Env>,
    trial: Trial,
    /// Env steps of the episodes played, per team.
    teams: Vec<(Script, ScriptedTeam, Vec<f64>)>,
}

impl Played {
    fn new(ctx: &ViewCtx<'_>) -> Option<Self> {
        let env = world::build(ctx.spec).ok()?;
        let scripts = SCRIPTS.iter().filter(|info| info.is_team).map(|info| info.script);
        let team = |script| Some((script, ScriptedTeam::new(&*env, script)?, Vec::new()));
        let teams: Vec<_> = scripts.filter_map(team).collect();
        Some(Self { of: (ctx.spec.pellet.clone(), ctx.spec.seed), trial: Trial::new(&*env, ctx.spec.seed), teams, env })
    }

    /// Plays on; whether there is more to play.
    fn slice(&mut self) -> bool {
        let agents = self.env.info().num_agents;
        let mut work = 0;
        while work < SLICE {
            // The team that is behind, so that all are shown over as many episodes.
            let Some((_, team, steps)) = self.teams.iter_mut().min_by_key(|(_, _, steps)| steps.len()) else {
                return false;
            };
            if steps.len() as u32 >= EPISODES {
                return false;
            }
            let taken = self.trial.play(&*self.env, steps.len() as u32, team);
            steps.push(f64::from(taken));
            work += (taken + 1) * agents;
        }
        true
    }
}

impl View for TeamsView {
    fn id(&self) -> ViewId {
        ViewId("teams")
    }

    fn title(&self) -> &'static str {
        "view.teams"
    }

    fn unavailable(&self, ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        (ctx.spec.env != EnvChoice::Pellet).then(|| (Sentence::new("teams.no_scripts", &[]), ViewId("returns")))
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, _actions: &mut Vec<Action>) {
        if self.unavailable(ctx).is_some() {
            return;
        }
        let is_current = |played: &Played| played.of.0 == ctx.spec.pellet && played.of.1 == ctx.spec.seed;
        if !self.played.as_ref().is_some_and(is_current) {
            self.played = Played::new(ctx);
        }
        let Some(played) = &mut self.played else { return };
        if played.slice() {
            ui.request_repaint();
        }
        ScrollArea::vertical().id_salt("teams").auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            note(ui, ctx.theme, ctx.texts.t("teams.written"));
            Grid::new("teams").spacing([18.0, 6.0]).show(ui, |ui| rows(ui, ctx, played));
            note(ui, ctx.theme, ctx.texts.t("teams.learned.note"));
        });
    }
}

fn rows(ui: &mut Ui, ctx: &ViewCtx<'_>, played: &Played) {
    let (theme, texts) = (ctx.theme, ctx.texts);
    let cell = |ui: &mut Ui, text: &str, color| {
        ui.label(RichText::new(text).font(theme.body()).color(color));
    };
    // What a mean is over has no room on a phone; the note above says it.
    let over = |ui: &mut Ui, text: &str| {
        if !ctx.compact {
            cell(ui, text, theme.text_dim);
        }
    };
    let heads = ["teams.team", "teams.mean", "teams.over"];
    for id in &heads[..if ctx.compact { 2 } else { 3 }] {
        ui.label(RichText::new(texts.t(id)).font(theme.small()).color(theme.text_dim));
    }
    ui.end_row();
    for (script, _, steps) in &played.teams {
        let name = format!("choice.seats.{}", script.info().id);
        ui.horizontal(|ui| {
            cell(ui, texts.t(&name), theme.text);
            tag(ui, theme, texts.t("seats.scripted"), theme.text_dim);
        });
        let mean = summary(steps).map_or_else(String::new, |all| format!("{:.2} ± {:.2}", all.mean, all.ci95));
        cell(ui, &mean, theme.text);
        over(ui, &texts.f("teams.episodes", &[&numbers::count(steps.len() as u32)]));
        ui.end_row();
    }
    let this = ctx.curve.last().map(|point| (ctx.spec.algo.info().name.to_owned(), point));
    let kept = ctx.kept.iter().filter_map(|kept| Some((kept.label.clone(), kept.points.last()?)));
    for (name, point) in this.into_iter().chain(kept) {
        cell(ui, &name, theme.text);
        cell(ui, &learned(point), theme.text);
        over(ui, &texts.f("teams.evaluation", &[&numbers::count(point.env_steps)]));
        ui.end_row();
    }
    if let Some(optimum) = ctx.facts.optimum {
        cell(ui, texts.t("teams.optimum"), theme.text_dim);
        cell(ui, &format!("{:.2}", optimum.value), theme.text_dim);
        ui.end_row();
    }
}

/// Mean of an evaluation; ± only where episodes were sampled.
fn learned(point: &EvalPoint) -> String {
    if point.ci95 > 0.0 { format!("{:.2} ± {:.2}", point.mean, point.ci95) } else { format!("{:.2}", point.mean) }
}
