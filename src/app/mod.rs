//! The page: takes reports in, draws panels and views, carries out what they ask for.
//!
//! Everything that lasts is in [`Page`], outside the runner that draws it, so a lost drawing surface loses nothing.
//! Only this module changes anything; panels return [`Intent`]s, views `Action`s.

mod act;
pub mod ctx;
pub mod desk;
pub mod intent;
pub mod keys;
pub mod layout;
pub mod panels;
pub mod run;
pub mod status;

use std::cell::RefCell;
use std::rc::Rc;

use tandem_core::experiment::command::{Command, Watch};
use tandem_core::experiment::link::{Link, has_keys, parse, write};
use tandem_core::experiment::presets::{matching, preset, presets};
use tandem_core::experiment::spec::{Controller, ExperimentSpec};
use tandem_core::experiment::world::num_agents;

use self::act::TOAST_SECONDS;
use self::ctx::PageCtx;
use self::desk::{Desk, Share, Tab, ThemeChoice, Toast};
use self::intent::Intent;
use self::run::{Load, Run};
use crate::platform::{Host, Origin, SessionHandle};
use crate::view::api::{EditMode, View, ViewCtx, ViewId};
use crate::view::registry::views;
use crate::view::stage::StageView;
use crate::view::text::{Lang, Texts};
use crate::view::theme::Theme;
use crate::view::{observation, policy};

/// Views whose numbers the session computes only while they are shown.
const QTOT: ViewId = ViewId("qtot");
const TEAMS: ViewId = ViewId("teams");
/// Frame times kept for the median.
const TIMES: usize = 240;

/// The page and everything on it.
pub struct Page {
    host: Box<dyn Host>,
    session: Box<dyn SessionHandle>,
    run: Run,
    desk: Desk,
    views: Vec<Box<dyn View>>,
    stage: StageView,
    theme: Theme,
    /// What the theme was last made for; `None` before the first frame.
    theme_of: Option<(bool, bool)>,
    /// Frames drawn.
    frames: u32,
    /// What the session was told to compute.
    watched: Watch,
    /// What the surroundings were told last: language and experiment.
    told: (Option<Lang>, ExperimentSpec),
    /// When the session was last told that somebody is here.
    seen_at: Option<f64>,
    /// Where the page came from.
    origin: Origin,
    /// Its address without a fragment.
    address: String,
    /// Milliseconds spent on recent frames, a ring.
    times: Vec<f32>,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("run", &self.run).field("desk", &self.desk).finish_non_exhaustive()
    }
}

impl Page {
    /// A page in these surroundings, with that session. It opens its link with the first frame.
    pub fn new(host: Box<dyn Host>, session: Box<dyn SessionHandle>) -> Self {
        let saved = host.load("lang").and_then(|key| Lang::from_tag(&key));
        let lang = saved.or_else(|| Lang::from_tag(&host.language()?)).unwrap_or_default();
        let theme = host.load("theme").map(|key| ThemeChoice::from_key(&key)).unwrap_or_default();
        let views = views();
        let desk = Desk::new(lang, theme, first_view(&views));
        Self {
            origin: host.origin(),
            address: host.address(),
            host,
            session,
            run: Run::default(),
            desk,
            views,
            stage: StageView::default(),
            theme: Theme::new(true, false),
            theme_of: None,
            watched: Watch::default(),
            told: (None, ExperimentSpec::default()),
            seen_at: None,
            frames: 0,
            times: Vec::new(),
        }
    }

    /// Takes in what arrived: links, reports, failures. Needs no frame, so a hidden page may call it, too.
    pub fn logic(&mut self) {
        let now = self.host.now();
        if let Some(fragment) = self.host.take_link() {
            self.open_link(&fragment);
        }
        for report in self.session.poll() {
            let texts = self.texts();
            let reply = self.run.take(report, texts);
            if let Some(command) = reply.send {
                self.session.send(command);
            }
            if reply.started {
                self.desk.watch.agent = self.desk.watch.agent.min(self.run.facts.num_agents.saturating_sub(1));
                self.select_person();
            }
            if let Some(sentence) = reply.refused {
                self.refused(sentence);
            }
        }
        if let Some(failure) = self.session.take_failure() {
            self.run.stop();
            self.desk.failure = Some(failure);
        }
        if let Some(worked) = self.host.take_copied()
            && let Some(share) = &mut self.desk.share
        {
            share.copied = Some(worked);
            share.select = !worked;
        }
        self.desk.toasts.retain(|toast| toast.until > now);
        self.desk.undo.take_if(|undo| undo.until <= now);
    }

    /// Whoever plays looks at what is its own: where the selected agent is nobody's, a person's is selected.
    fn select_person(&mut self) {
        let seats = &self.run.wanted.learner.seats;
        let is_person = |&agent: &u32| matches!(seats.of(agent), Controller::Human(_));
        if !is_person(&self.desk.watch.agent) {
            self.desk.watch.agent = (0..self.run.facts.num_agents).find(is_person).unwrap_or(self.desk.watch.agent);
        }
    }

    /// Draws a frame.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        let begin = self.host.now();
        self.wear_theme(ui);
        let mut intents = self.end_typing(ui);
        self.draw(ui, &mut intents);
        for intent in intents {
            self.act(intent);
        }
        self.watch_what_is_shown();
        self.tell_presence(ui);
        self.tell_host();
        self.wake_for_expiry(ui.ctx());
        self.frames += 1;
        let millis = ((self.host.now() - begin) * 1e3) as f32;
        if self.times.len() < TIMES {
            self.times.push(millis);
        } else {
            self.times[self.frames as usize % TIMES] = millis;
        }
    }

    /// A press outside the field being typed into takes its value, wherever the press goes and whether or not the field
    /// is drawn again: a tab may have changed.
    fn end_typing(&mut self, ui: &egui::Ui) -> Vec<Intent> {
        let pressed_at = ui.input(|input| input.pointer.press_origin().filter(|_| input.pointer.any_pressed()));
        let ended = self.desk.typing.take_if(|typing| pressed_at.is_some_and(|at| !typing.rect.contains(at)));
        ended.and_then(|typing| panels::setup::typed(&typing, &self.run.wanted)).into_iter().collect()
    }

    /// Where everything stands, as JSON, for tests and measurements.
    pub fn status(&self) -> String {
        status::json(self)
    }

    /// The texts in the page's language.
    pub fn texts(&self) -> Texts {
        Texts { lang: self.desk.lang }
    }

    fn draw(&mut self, ui: &mut egui::Ui, intents: &mut Vec<Intent>) {
        let watch = self.desk.watch.clone();
        let ctx = PageCtx {
            view: ViewCtx {
                spec: &self.run.spec,
                wanted: &self.run.wanted,
                facts: &self.run.facts,
                snapshot: &self.run.snapshot,
                curve: &self.run.curve,
                kept: &self.run.shown,
                texts: Texts { lang: self.desk.lang },
                theme: &self.theme,
                selected_agent: watch.agent,
                watch: &watch,
                compact: is_compact(ui),
                edit: self.desk.edit,
            },
            wanted: &self.run.wanted,
            unknown: &self.run.unknown,
            preset: self.desk.preset.and_then(preset),
            origin: self.origin,
            address: &self.address,
            has_setup_column: layout::has_setup_column(ui),
            is_dead: self.desk.failure.is_some(),
            now: self.host.now(),
        };
        if self.desk.share.is_none() {
            let pressed = keys::pressed(ui.ctx(), &ctx.view).into_iter();
            intents.extend(
                pressed.filter(|intent| panels::transport::can_play(&ctx) || *intent != Intent::RestartEpisode),
            );
        }
        layout::page_ui(ui, &ctx, &mut self.desk, &mut self.views, &mut self.stage, intents);
    }

    fn wear_theme(&mut self, ui: &mut egui::Ui) {
        let dark = match self.desk.theme {
            ThemeChoice::Auto => ui.ctx().system_theme() != Some(egui::Theme::Light),
            ThemeChoice::Light => false,
            ThemeChoice::Dark => true,
        };
        let wanted = (dark, is_compact(ui));
        if self.theme_of != Some(wanted) {
            self.theme_of = Some(wanted);
            self.theme = Theme::new(wanted.0, wanted.1);
            self.theme.apply(ui.ctx());
            ui.ctx().request_repaint();
        }
        ui.reset_style();
    }

    /// A fresh canvas has a fresh context, which must be dressed again.
    pub fn forget_theme(&mut self) {
        self.theme_of = None;
    }

    /// Joint values and the comparison of teams cost time in the session; they are computed while someone looks.
    fn watch_what_is_shown(&mut self) {
        let is_compact = self.theme_of.is_some_and(|(_, compact)| compact);
        let is_shown = |id: ViewId| match self.desk.tab {
            tab if is_compact => tab == Tab::View(id),
            _ => self.desk.view == id || self.desk.pinned.contains(&id),
        };
        let (joint_values, teams) = (is_shown(QTOT), is_shown(TEAMS));
        (self.desk.watch.joint_values, self.desk.watch.teams) = (joint_values, teams);
        if self.watched != self.desk.watch {
            self.watched.clone_from(&self.desk.watch);
            self.session.send(Command::Watch(self.watched.clone()));
        }
    }

    /// Tells the session now and then that somebody is here, so that training does not pause.
    fn tell_presence(&mut self, ui: &egui::Ui) {
        let now = self.host.now();
        let is_here = ui.input(|input| !input.events.is_empty());
        if is_here && self.seen_at.is_none_or(|at| now - at >= SEEN_SECONDS) {
            self.seen_at = Some(now);
            self.session.send(Command::Seen);
        }
    }

    /// Tells the surroundings the page's language, and its link where edits have left the address bar behind.
    fn tell_host(&mut self) {
        if self.told.0 != Some(self.desk.lang) {
            self.told.0 = Some(self.desk.lang);
            self.host.speak(self.desk.lang.tag());
        }
        if self.told.1 != self.run.wanted {
            self.told.1.clone_from(&self.run.wanted);
            self.host.keep_link(&write(&self.link(&Share::default())));
        }
    }

    /// Toasts and the offer to undo must go even if nothing else happens.
    fn wake_for_expiry(&self, ctx: &egui::Context) {
        let toasts = self.desk.toasts.iter().map(|toast| toast.until);
        let next = toasts.chain(self.desk.undo.iter().map(|undo| undo.until)).fold(f64::INFINITY, f64::min);
        if next.is_finite() {
            let seconds = (next - self.host.now()).max(0.0) + 0.02;
            ctx.request_repaint_after(std::time::Duration::from_secs_f64(seconds));
        }
    }

    /// Opens a link: what the page was opened with, what was pasted, a preset, a kept curve.
    fn open_link(&mut self, fragment: &str) {
        let text = if has_keys(fragment) || fragment.trim_start_matches('#').trim().len() > 1 {
            fragment
        } else {
            presets()[0].link.as_str()
        };
        let link = parse(text);
        self.desk.view = opening_view(&link.spec, &self.views);
        self.open(link);
    }

    /// Opens a link, whatever it came from, in place of all that was said and chosen about the one before.
    fn open(&mut self, link: Link) {
        self.desk.notices = link.notices;
        self.desk.are_notices_unfolded = false;
        self.desk.tab = Tab::Stage;
        if let Some(lang) = link.lang.as_deref().and_then(Lang::from_tag) {
            self.desk.lang = lang;
        }
        if let Some(view) = link.view.as_deref() {
            let known = self.views.iter().map(|view| view.id()).find(|id| id.0 == view);
            match known {
                Some(id) => (self.desk.view, self.desk.tab) = (id, Tab::View(id)),
                None => self.desk.notices.push(self.unknown_view(view)),
            }
        }
        self.run.unknown = link.unknown;
        self.desk.preset = matching(&link.spec).map(|preset| preset.id.as_str());
        self.desk.edit = EditMode::None;
        self.desk.undo = None;
        self.desk.field_notes.clear();
        self.desk.answer_of = None;
        self.desk.closed_cover = None;
        self.told.1.clone_from(&link.spec);
        self.host.keep_link("");
        self.load(Load { spec: link.spec, run_to: link.step });
    }

    fn load(&mut self, load: Load) {
        self.desk.edit = self.desk.edit.within(&load.spec);
        if let Some(command) = self.run.load(load) {
            self.session.send(command);
        }
    }

    fn toast(&mut self, text: String) {
        let until = self.host.now() + TOAST_SECONDS;
        self.desk.toasts.push(Toast { text, until });
    }

    /// Tells a new session everything the old one knew about the page.
    fn brief_session(&mut self) {
        for command in [
            Command::Watch(self.watched.clone()),
            Command::Speed(self.run.snapshot.speed),
            Command::StageSpeed(self.desk.stage_speed),
            Command::StageExplores(self.desk.stage_explores),
        ] {
            self.session.send(command);
        }
    }
}

/// Seconds between two words that somebody is here.
const SEEN_SECONDS: f64 = 20.0;

/// Below this width the page is the phone's.
pub(crate) const COMPACT_BELOW: f32 = 760.0;

fn is_compact(ui: &egui::Ui) -> bool {
    ui.max_rect().width() < COMPACT_BELOW
}

/// The view of a link that names none: one with something in it.
fn opening_view(spec: &ExperimentSpec, views: &[Box<dyn View>]) -> ViewId {
    let learns = (0..num_agents(spec)).any(|agent| spec.learner.seats.of(agent).learns());
    match (learns, spec.algo.is_policy_gradient()) {
        (false, _) => observation::ID,
        (true, true) => policy::ID,
        (true, false) => first_view(views),
    }
}

fn first_view(views: &[Box<dyn View>]) -> ViewId {
    let ids: Vec<ViewId> = views.iter().map(|view| view.id()).collect();
    if ids.contains(&QTOT) { QTOT } else { ids.first().copied().unwrap_or(QTOT) }
}

/// What eframe runs: a page that outlives it.
#[derive(Debug)]
pub struct App(pub Rc<RefCell<Page>>);

impl eframe::App for App {
    fn logic(&mut self, _ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.0.borrow_mut().logic();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.0.borrow_mut().ui(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
