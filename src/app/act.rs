//! Carrying out what panels and views asked for.

use tandem_core::experiment::command::{Command, LiveChange};
use tandem_core::experiment::knobs::normalise;
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::presets::{matching, next_after, preset};
use tandem_core::experiment::snapshot::{RunState, Sentence};
use tandem_core::experiment::spec::ExperimentSpec;

use super::desk::{Share, Tab, Undo};
use super::intent::Intent;
use super::run::Load;
use super::{Page, panels};
use crate::view::api::Action;

/// How long a confirmation stays, seconds.
pub(super) const TOAST_SECONDS: f64 = 4.0;
/// How long a restart edit can be taken back, seconds.
const UNDO_SECONDS: f64 = 10.0;
/// Edits closer together than this, seconds, are one gesture.
const GESTURE_SECONDS: f64 = 1.5;

impl Page {
    /// Carries `intent` out.
    pub(super) fn act(&mut self, intent: Intent) {
        match intent {
            Intent::View(action) => self.act_for_view(action),
            Intent::Preset(id) => self.start_preset(id),
            Intent::NextExperiment => {
                let next = self.desk.preset.map_or_else(|| next_after(""), next_after);
                self.start_preset(&next.id);
            }
            Intent::Edit(key, spec) => self.edit(key, *spec),
            Intent::Live(spec, change) => self.change_live(*spec, change),
            Intent::ToggleRun => self.toggle_run(),
            Intent::RestartTraining => {
                self.offer_undo();
                let spec = self.run.wanted.clone();
                self.load(Load { spec, run_to: 0, run: false });
            }
            Intent::NewSeed => {
                let seed = self.host.fresh_seed();
                self.edit("seed", ExperimentSpec { seed, ..self.run.wanted.clone() });
            }
            Intent::LowerLr => {
                let mut spec = self.run.wanted.clone();
                spec.learner.lr /= 10.0;
                spec.learner.lr_end = spec.learner.lr_end.min(spec.learner.lr);
                self.edit("lr", spec);
            }
            Intent::Undo => self.undo(),
            Intent::Lang(lang) => {
                self.desk.lang = lang;
                self.host.save("lang", lang.key());
                self.run.relabel(self.texts());
            }
            Intent::Theme(theme) => {
                self.desk.theme = theme;
                self.host.save("theme", theme.key());
            }
            Intent::Share => self.desk.share = Some(Share::default()),
            Intent::CopyLink => self.copy_link(),
            Intent::StagePlays(plays) => {
                self.desk.stage_plays = plays;
                self.session.send(Command::StagePlays(plays));
            }
            Intent::StageSpeed(speed) => {
                self.desk.stage_speed = speed;
                self.session.send(Command::StageSpeed(speed));
            }
            Intent::StageExplores(explores) => {
                self.desk.stage_explores = explores;
                self.session.send(Command::StageExplores(explores));
            }
            Intent::RestartSession => {
                self.desk.failure = None;
                self.session.restart();
                self.brief_session();
                let spec = self.run.wanted.clone();
                self.load(Load { spec, run_to: 0, run: false });
            }
        }
    }

    fn act_for_view(&mut self, action: Action) {
        match action {
            Action::Session(command) => self.session.send(command),
            Action::Open(id) => {
                self.desk.view = id;
                if matches!(self.desk.tab, Tab::View(_)) {
                    self.desk.tab = Tab::View(id);
                }
            }
            Action::SelectAgent(agent) => self.desk.agent = agent.min(self.run.facts.num_agents.saturating_sub(1)),
            Action::Watch(watch) => {
                self.desk.watch = watch.clone();
                self.session.send(Command::Watch(watch));
            }
            Action::EditSpec(spec) => self.edit("world", *spec),
            Action::OpenLink(link) => {
                self.host.show_link(&link);
                self.open(parse(&link));
            }
            Action::ClearKept => self.run.clear_kept(),
            Action::SetEdit(mode) => self.desk.edit = mode,
        }
    }

    fn start_preset(&mut self, id: &str) {
        let Some(preset) = preset(id) else { return };
        self.host.show_link(&preset.link);
        self.desk.notices.clear();
        self.open(preset.read());
        self.desk.preset = Some(&preset.id);
        self.desk.tab = Tab::Stage;
    }

    /// A restart edit: back to update 0 at once.
    fn edit(&mut self, key: &str, mut spec: ExperimentSpec) {
        let told = normalise(&mut spec);
        self.desk.field_note = told.into_iter().next_back().map(|sentence| (key.to_owned(), sentence));
        if spec == self.run.wanted {
            return;
        }
        self.offer_undo();
        if let Some(matched) = matching(&spec) {
            self.desk.preset = Some(&matched.id);
        } else if spec.env != self.run.wanted.env {
            self.desk.preset = None;
        }
        self.desk.closed_cover = None;
        self.load(Load { spec, run_to: 0, run: false });
    }

    fn offer_undo(&mut self) {
        let now = self.host.now();
        let until = now + UNDO_SECONDS;
        match &mut self.desk.undo {
            Some(undo) if now - undo.edited < GESTURE_SECONDS => (undo.until, undo.edited) = (until, now),
            undo => {
                // A run with live changes cannot be repeated: its settings can, from update 0.
                let snapshot = &self.run.snapshot;
                let update = if snapshot.changed_at.is_some() { 0 } else { snapshot.update };
                *undo = Some(Undo { spec: self.run.wanted.clone(), update, until, edited: now });
            }
        }
    }

    fn undo(&mut self) {
        if let Some(undo) = self.desk.undo.take() {
            self.desk.field_note = None;
            self.desk.preset = matching(&undo.spec).map(|preset| preset.id.as_str()).or(self.desk.preset);
            self.load(Load { spec: undo.spec, run_to: undo.update, run: false });
        }
    }

    fn change_live(&mut self, mut spec: ExperimentSpec, change: LiveChange) {
        if self.run.snapshot.update == 0 && self.run.snapshot.env_steps == 0 {
            // Nothing is trained yet, so the link can say it.
            let key = if matches!(change, LiveChange::Lr(_)) { "lr" } else { "eps" };
            self.edit(key, spec);
            return;
        }
        // From now on constant; a link written now says so.
        match change {
            LiveChange::Lr(lr) => (spec.learner.lr_end, spec.learner.lr_over) = (lr, 0),
            LiveChange::Epsilon(eps) => (spec.learner.eps_end, spec.learner.eps_over) = (eps, 0),
        }
        self.desk.field_note = None;
        self.run.spec = spec.clone();
        self.run.wanted = spec;
        self.session.send(Command::Live(change));
    }

    fn toggle_run(&mut self) {
        let command = match self.run.snapshot.state {
            RunState::Running | RunState::Seeking { .. } => Command::Pause,
            RunState::Paused => Command::Run,
            RunState::Finished => Command::Continue,
            RunState::Diverged { .. } => return,
        };
        self.session.send(command);
    }

    /// Must run while the click is handled: browsers allow the clipboard only then.
    fn copy_link(&mut self) {
        let Some(share) = &self.desk.share else { return };
        let fragment = write(&self.link(share));
        self.host.show_link(&fragment);
        self.host.copy(&format!("{}{fragment}", self.host.address()));
    }

    /// The link of what is on the page.
    pub(super) fn link(&self, share: &Share) -> Link {
        panels::share::link_of(&self.run.wanted, &self.run.unknown, &self.desk, &self.run.snapshot, share)
    }

    /// The session cannot build the experiment.
    pub(super) fn refused(&mut self, sentence: Sentence) {
        if self.run.facts.run == 0 {
            // Nothing else is on the page: say why and open the first experiment.
            self.desk.notices.push(sentence);
            let first = parse("");
            self.desk.preset = matching(&first.spec).map(|preset| preset.id.as_str());
            self.load(Load { spec: first.spec, run_to: 0, run: false });
            return;
        }
        let text = self.texts().sentence(&sentence);
        match &mut self.desk.field_note {
            Some((_, told)) => *told = sentence,
            note @ None => *note = Some(("world".to_owned(), sentence)),
        }
        self.toast(text);
    }

    /// What to say about a `view` key this release has no view for.
    pub(super) fn unknown_view(&self, given: &str) -> Sentence {
        let allowed: Vec<&str> = self.views.iter().map(|view| view.id().0).collect();
        Sentence::new("notice.view", &[given, &allowed.join(" | ")])
    }
}
