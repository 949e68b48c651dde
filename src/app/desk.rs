//! What the page remembers besides the run: what is open, chosen, folded. None of it decides a run, so none of it is
//! in a link except the view and, if ticked, the language.

use egui::Rect;
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::knobs::Group;
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::spec::ExperimentSpec;

use crate::view::api::{EditMode, ViewId};
use crate::view::text::Lang;

/// Which theme the reader chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// As the system does.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl ThemeChoice {
    /// As stored.
    pub fn key(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// From storage.
    pub fn from_key(key: &str) -> Self {
        match key {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::Auto,
        }
    }

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Auto => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::Auto,
        }
    }
}

/// A tab of the phone's layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// The world and the transport.
    #[default]
    Stage,
    /// The chosen view.
    View(ViewId),
    /// Set-up.
    Setup,
}

/// A restart edit that can be taken back.
#[derive(Clone, Debug)]
pub struct Undo {
    /// The experiment before the edit.
    pub spec: ExperimentSpec,
    /// Update it stood at; undoing runs there again.
    pub update: u32,
    /// The experiment of the menu that it was.
    pub preset: Option<&'static str>,
    /// Last moment it is offered.
    pub until: f64,
    /// When the last edit came; edits of one gesture are undone together.
    pub edited: f64,
}

/// The share dialog.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// Write the language into the link.
    pub with_lang: bool,
    /// Open at the present update.
    pub with_step: bool,
    /// Whether the copy worked, once known.
    pub copied: Option<bool>,
    /// The text box should take the keyboard and select everything.
    pub select: bool,
}

/// A value being typed.
#[derive(Clone, Debug)]
pub struct Typing {
    /// Key of its field.
    pub key: &'static str,
    /// What stands there.
    pub text: String,
    /// Where it was drawn last: a press anywhere else ends it.
    pub rect: Rect,
}

/// A confirmation that goes away by itself.
#[derive(Clone, Debug)]
pub struct Toast {
    /// What happened.
    pub text: String,
    /// When it goes.
    pub until: f64,
}

/// What the page remembers besides the run.
#[derive(Clone, Debug)]
pub struct Desk {
    /// Language of the page.
    pub lang: Lang,
    /// Theme.
    pub theme: ThemeChoice,
    /// The large view.
    pub view: ViewId,
    /// Further views under it.
    pub pinned: Vec<ViewId>,
    /// The phone's tab.
    pub tab: Tab,
    /// The Set-up drawer of the two-column layout.
    pub is_setup_open: bool,
    /// Groups of Set-up that show all their fields.
    pub unfolded: [bool; Group::ALL.len()],
    /// The lesson shows all three texts.
    pub is_lesson_open: bool,
    /// Id of the experiment whose answer the reader asked for.
    pub answer_of: Option<&'static str>,
    /// Id of the experiment chosen in the menu.
    pub preset: Option<&'static str>,
    /// What the page shows and the session computes for it, with the agent selected on the stage.
    pub watch: Watch,
    /// What a click on the stage edits.
    pub edit: EditMode,
    /// Env steps per second of the stage.
    pub stage_speed: u32,
    /// Whether the stage explores.
    pub stage_explores: bool,
    /// Messages about the link, until closed.
    pub notices: Vec<Sentence>,
    /// All of them are shown.
    pub are_notices_unfolded: bool,
    /// Confirmations.
    pub toasts: Vec<Toast>,
    /// The last restart edit.
    pub undo: Option<Undo>,
    /// The share dialog, when open.
    pub share: Option<Share>,
    /// The field being typed into.
    pub typing: Option<Typing>,
    /// Sentences under a field: its key and what was changed because of its value.
    pub field_notes: Vec<(&'static str, Sentence)>,
    /// The end of a run (its number and update) whose cover was closed.
    pub closed_cover: Option<(u32, u32)>,
    /// Why the session died.
    pub failure: Option<String>,
}

impl Desk {
    /// A fresh page that opens `view`.
    pub fn new(lang: Lang, theme: ThemeChoice, view: ViewId) -> Self {
        Self {
            lang,
            theme,
            view,
            pinned: Vec::new(),
            tab: Tab::Stage,
            is_setup_open: false,
            unfolded: [false; Group::ALL.len()],
            is_lesson_open: false,
            answer_of: None,
            preset: None,
            watch: Watch::default(),
            edit: EditMode::None,
            stage_speed: 4,
            stage_explores: false,
            notices: Vec::new(),
            are_notices_unfolded: false,
            toasts: Vec::new(),
            undo: None,
            share: None,
            typing: None,
            field_notes: Vec::new(),
            closed_cover: None,
            failure: None,
        }
    }
}
