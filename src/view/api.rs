//! The contract between the app and its views.
//!
//! A view is a function of what it reads: everything it may look at is in [`ViewCtx`], everything it may ask for is
//! an [`Action`]. A view keeps only what can be thrown away (a camera angle, an open row).

use tandem_core::env::api::Label;
use tandem_core::experiment::command::{Command, Watch};
use tandem_core::experiment::snapshot::{EvalPoint, Facts, Sentence, Snapshot};
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec};

use crate::view::text::Texts;
use crate::view::theme::Theme;

/// A view's name: the value of the link key `view`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewId(pub &'static str);

/// What a view may read.
#[derive(Debug)]
pub struct ViewCtx<'a> {
    /// The experiment that facts and snapshot are about.
    pub spec: &'a ExperimentSpec,
    /// The experiment as Set-up shows it, from which edits go on; the run may not have caught up with it yet.
    pub wanted: &'a ExperimentSpec,
    /// Fixed facts of the run.
    pub facts: &'a Facts,
    /// The newest state of affairs.
    pub snapshot: &'a Snapshot,
    /// All evaluation points of this run, oldest first.
    pub curve: &'a [EvalPoint],
    /// Earlier runs of this tab on the same environment, oldest first, at most six.
    pub kept: &'a [KeptCurve],
    /// Texts in the language of the page.
    pub texts: Texts,
    /// Colours, sizes, spacing.
    pub theme: &'a Theme,
    /// Agent selected on the stage, below `facts.num_agents`.
    pub selected_agent: u32,
    /// What the session computes for the page.
    pub watch: &'a Watch,
    /// Phone layout: touch targets of at least 44 px, text of at least 14 px.
    pub compact: bool,
    /// What a click on the stage edits.
    pub edit: EditMode,
}

impl ViewCtx<'_> {
    /// Names of an agent's actions.
    pub fn actions(&self, agent: u32) -> &[Label] {
        self.facts.role(agent).map_or(&[], |role| &role.actions)
    }

    /// Whether anybody learns here.
    pub fn learns(&self) -> bool {
        (0..self.facts.num_agents).any(|agent| self.spec.learner.seats.of(agent).learns())
    }

    /// Name of an agent's action.
    pub fn action_name(&self, agent: u32, action: u32) -> String {
        self.facts.action(agent, action).map_or_else(String::new, |name| self.texts.label(name))
    }
}

/// The evaluation curve of an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptCurve {
    /// What differs from the run on the page (`IQL`, `seed 8`).
    pub label: String,
    /// Link of that experiment; none where a change while training makes it another run.
    pub link: Option<String>,
    /// Its evaluation points.
    pub points: Vec<EvalPoint>,
    /// Index for [`Theme::kept_color`].
    pub color_index: u32,
}

/// What a click on the stage edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditMode {
    /// Nothing: a click selects an agent.
    #[default]
    None,
    /// Walls.
    Walls,
    /// Cells where pellets may start.
    Pellets,
    /// The start cell of an agent.
    Start(u32),
    /// Payoffs of a matrix game or of the two-step game.
    Payoffs,
}

impl EditMode {
    /// This tool, as far as the world of `spec` has it.
    #[must_use]
    pub fn within(self, spec: &ExperimentSpec) -> Self {
        let is_grid = spec.env == EnvChoice::Pellet;
        match self {
            Self::Start(agent) if is_grid => Self::Start(agent.min(spec.pellet.agents.saturating_sub(1))),
            Self::Walls | Self::Pellets if is_grid => self,
            Self::Payoffs if spec.env.is_short_game() => self,
            _ => Self::None,
        }
    }
}

/// What a view asks the app to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Tell the session.
    Session(Command),
    /// Open another view.
    Open(ViewId),
    /// Select an agent everywhere.
    SelectAgent(u32),
    /// The agent's picture was clicked: what does it observe?
    Observe(u32),
    /// Ask the session to compute something else from now on.
    Watch(Watch),
    /// A restart edit (a cell clicked, a payoff typed): back to update 0 at once, with undo.
    EditSpec(Box<ExperimentSpec>),
    /// Load an experiment link (a kept curve clicked).
    OpenLink(String),
    /// Forget the kept curves.
    ClearKept,
    /// Change what a click on the stage edits.
    SetEdit(EditMode),
}

/// One large picture of the run, chosen by a tab.
pub trait View {
    /// Name in links.
    fn id(&self) -> ViewId;

    /// Text id of the tab's title.
    fn title(&self) -> &'static str;

    /// Why the view has nothing to show for this run and which view to open instead; `None` when it applies.
    fn unavailable(&self, ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)>;

    /// Fills the space that `ui` has; where the view is unavailable, with what can be shown beneath that sentence.
    fn ui(&mut self, ui: &mut egui::Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>);
}
