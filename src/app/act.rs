//! Carrying out what panels and views asked for.

use tandem_core::experiment::command::{Command, LiveChange};
use tandem_core::experiment::knobs::{normalise, scale_lr, suit_algo};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::presets::{matching, next_after, preset};
use tandem_core::experiment::snapshot::{RunState, Sentence};
use tandem_core::experiment::spec::ExperimentSpec;

use super::desk::{Share, Tab, Undo};
use super::intent::{FieldEdit, Intent};
use super::run::Load;
use super::{Page, opening_view, panels};
use crate::view::api::Action;
use crate::view::observation;

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
            Intent::Edit(FieldEdit { key, spec, told }) => self.edit(key, *spec, told),
            Intent::Live(edit, change) => self.change_live(edit, change),
            Intent::ToggleRun => self.toggle_run(),
            Intent::RestartTraining => {
                self.offer_undo();
                let spec = self.run.wanted.clone();
                self.load(Load { spec, run_to: 0 });
            }
            Intent::NewSeed => {
                let seed = self.host.fresh_seed();
                self.edit("seed", ExperimentSpec { seed, ..self.run.wanted.clone() }, None);
            }
            Intent::LowerLr => {
                let mut spec = self.run.wanted.clone();
                scale_lr(&mut spec, 0.1);
                self.edit("lr", spec, None);
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
            Intent::RestartEpisode => self.session.send(Command::RestartEpisode),
            Intent::StagePlays(plays) => self.session.send(Command::StagePlays(plays)),
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
                self.desk.closed_cover = None;
                self.session.restart();
                // Whatever was loaded since it died went nowhere.
                self.run.stop();
                self.brief_session();
                let spec = self.run.wanted.clone();
                self.load(Load { spec, run_to: 0 });
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
            // Whoever is selected already is asked what it observes; a phone then leaves the stage.
            Action::SelectAgent(agent) | Action::Observe(agent) if agent == self.desk.watch.agent => {
                self.desk.view = observation::ID;
                self.desk.tab = Tab::View(observation::ID);
            }
            Action::SelectAgent(agent) | Action::Observe(agent) => {
                self.desk.watch.agent = agent.min(self.run.facts.num_agents.saturating_sub(1));
                if matches!(action, Action::Observe(_)) {
                    self.desk.view = observation::ID;
                }
            }
            Action::Watch(watch) => self.desk.watch = watch,
            Action::EditSpec(spec) => self.edit("world", *spec, None),
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
        // An experiment has its view, but a phone shows its world first.
        let link = preset.read().clone();
        self.desk.view = opening_view(&link.spec, &self.views);
        self.open(link);
        self.desk.tab = Tab::Stage;
    }

    /// A restart edit of the field `key`: back to update 0 at once. `told` is what was wrong with the value given.
    fn edit(&mut self, key: &'static str, mut spec: ExperimentSpec, told: Option<Sentence>) {
        let mut told: Vec<Sentence> = told.into_iter().chain(normalise(&mut spec)).collect();
        // Who chooses a world has not asked for the algorithm of the one before.
        let refused = spec.algo.info().name;
        if key == "env" && suit_algo(&mut spec).is_some() {
            told.push(Sentence::new("setup.algo_follows", &["algo", spec.algo.info().name, refused]));
            told.extend(normalise(&mut spec));
        }
        self.desk.field_notes = told.into_iter().map(|sentence| (key, sentence)).collect();
        if spec == self.run.wanted {
            return;
        }
        self.offer_undo();
        self.desk.preset = self.preset_of(&spec);
        self.desk.closed_cover = None;
        self.load(Load { spec, run_to: 0 });
    }

    /// The experiment of the menu that `spec` is, or from which it was changed.
    fn preset_of(&self, spec: &ExperimentSpec) -> Option<&'static str> {
        let this = matching(spec).map(|preset| preset.id.as_str());
        let changed = self.desk.preset.filter(|_| spec.env == self.run.wanted.env);
        this.or(changed)
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
                let (spec, preset) = (self.run.wanted.clone(), self.desk.preset);
                *undo = Some(Undo { spec, update, preset, until, edited: now });
            }
        }
    }

    fn undo(&mut self) {
        if let Some(undo) = self.desk.undo.take() {
            self.desk.field_notes.clear();
            self.desk.preset = undo.preset;
            self.load(Load { spec: undo.spec, run_to: undo.update });
        }
    }

    fn change_live(&mut self, FieldEdit { key, spec, told }: FieldEdit, change: LiveChange) {
        if self.run.snapshot.update == 0 && self.run.snapshot.env_steps == 0 {
            // Nothing is trained yet, so the link can say it.
            self.edit(key, *spec, told);
            return;
        }
        self.desk.field_notes = told.map(|sentence| (key, sentence)).into_iter().collect();
        // A link written now says what the run goes on with.
        change.apply(&mut self.run.wanted);
        self.run.spec.clone_from(&self.run.wanted);
        if matches!(change, LiveChange::Seats(_)) {
            self.select_person();
        }
        self.session.send(Command::Live(change));
    }

    fn toggle_run(&mut self) {
        let (command, then) = match self.run.snapshot.state {
            RunState::Running | RunState::Seeking { .. } => (Command::Pause, RunState::Paused),
            RunState::Paused => (Command::Run, RunState::Running),
            RunState::Finished | RunState::Reached => (Command::Continue, RunState::Running),
            RunState::Diverged { .. } => return,
        };
        self.session.send(command);
        // A second press comes before the next snapshot at times and means the opposite.
        self.run.snapshot.state = then;
    }

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
            self.load(Load { spec: first.spec, run_to: 0 });
            return;
        }
        let undone = self.desk.undo.take_if(|undo| undo.spec == self.run.wanted);
        self.desk.preset = undone.map_or_else(|| self.preset_of(&self.run.wanted), |undo| undo.preset);
        let text = self.texts().sentence(&sentence);
        let key = self.desk.field_notes.first().map_or("world", |(key, _)| *key);
        self.desk.field_notes = vec![(key, sentence)];
        self.toast(text);
    }

    /// What to say about a `view` key this release has no view for.
    pub(super) fn unknown_view(&self, given: &str) -> Sentence {
        let allowed: Vec<&str> = self.views.iter().map(|view| view.id().0).collect();
        Sentence::new("notice.view", &[given, &allowed.join(" | ")])
    }
}
