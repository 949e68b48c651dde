//! What a panel asks the page to do. Carried out in one place, once per frame.

use tandem_core::experiment::command::LiveChange;
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::spec::ExperimentSpec;

use super::desk::ThemeChoice;
use crate::view::api::Action;
use crate::view::text::Lang;

/// A field set to something else.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldEdit {
    /// The field's key.
    pub key: &'static str,
    /// The experiment with it.
    pub spec: Box<ExperimentSpec>,
    /// What had to be corrected about the value.
    pub told: Option<Sentence>,
}

/// What a panel asks the page to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// What a view may ask, too.
    View(Action),
    /// Start an experiment of the menu.
    Preset(&'static str),
    /// The experiment after this one.
    NextExperiment,
    /// A restart edit.
    Edit(FieldEdit),
    /// A live edit: the settings as they are now, and the change for the run.
    Live(FieldEdit, LiveChange),
    /// Run where paused, pause where running.
    ToggleRun,
    /// Back to update 0, same seed.
    RestartTraining,
    /// Back to update 0 with a fresh seed.
    NewSeed,
    /// After divergence: back to update 0 with a tenth of the learning rate.
    LowerLr,
    /// Take the last restart edit back.
    Undo,
    /// Speak this language.
    Lang(Lang),
    /// Wear this theme.
    Theme(ThemeChoice),
    /// Open the share dialog.
    Share,
    /// Copy the link of the share dialog.
    CopyLink,
    /// Begin the stage's next episode.
    RestartEpisode,
    /// Hold or play the stage.
    StagePlays(bool),
    /// Stage speed in env steps per second.
    StageSpeed(u32),
    /// Whether the stage explores.
    StageExplores(bool),
    /// A new session in place of the dead one.
    RestartSession,
}
