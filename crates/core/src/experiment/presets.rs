//! The experiments of the menu. A preset is a link with a name: whatever it sets up, a person could have shared.
//!
//! The list is `assets/presets.ron`; texts stand beside it under the preset's id, in both languages.

use std::sync::OnceLock;

use serde::Deserialize;

use super::link::{Link, parse};
use super::spec::ExperimentSpec;

/// Heading a preset stands under in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum PresetGroup {
    /// First steps.
    First,
    /// Credit and mixing.
    Credit,
    /// Conflict.
    Conflict,
    /// Partial sight.
    Sight,
    /// Worlds of the field's benchmarks.
    Worlds,
}

impl PresetGroup {
    /// In the order of the menu.
    pub const ALL: [Self; 5] = [Self::First, Self::Credit, Self::Conflict, Self::Sight, Self::Worlds];

    /// Text id of the heading.
    pub fn text_id(self) -> &'static str {
        match self {
            Self::First => "exp.group.first",
            Self::Credit => "exp.group.credit",
            Self::Conflict => "exp.group.conflict",
            Self::Sight => "exp.group.sight",
            Self::Worlds => "exp.group.worlds",
        }
    }
}

/// One experiment of the menu.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Preset {
    /// Permanent id; ends its text ids.
    pub id: String,
    /// Heading.
    pub group: PresetGroup,
    /// The experiment.
    pub link: String,
    /// Usual training time to the end of the budget on an ordinary laptop, where it was measured.
    pub seconds: Option<u32>,
    /// Measured over three seeds: the menu says what it reaches.
    #[serde(default)]
    pub measured: bool,
    #[serde(skip)]
    read: OnceLock<Link>,
}

impl Preset {
    /// The experiment, read.
    pub fn read(&self) -> &Link {
        self.read.get_or_init(|| parse(&self.link))
    }

    /// Text id of its name.
    pub fn title_id(&self) -> String {
        format!("exp.{}.title", self.id)
    }

    /// Text id of what to expect of a measured one: env steps, seeds and what they reach.
    pub fn expected_id(&self) -> Option<String> {
        self.measured.then(|| format!("exp.{}.expected", self.id))
    }

    /// Text id of the question to predict.
    pub fn question_id(&self) -> String {
        format!("exp.{}.question", self.id)
    }

    /// Text id of what to press.
    pub fn press_id(&self) -> String {
        format!("exp.{}.press", self.id)
    }

    /// Text id of what happened and why.
    pub fn answer_id(&self) -> String {
        format!("exp.{}.answer", self.id)
    }
}

/// All presets, in the order of the menu; the first is what the page opens with.
pub fn presets() -> &'static [Preset] {
    static PRESETS: OnceLock<Vec<Preset>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        let source = include_str!("../../../../assets/presets.ron");
        ron::from_str(source).expect("the embedded list was parsed by a test")
    })
}

/// The preset that sets up exactly this experiment, whatever its seed.
pub fn matching(spec: &ExperimentSpec) -> Option<&'static Preset> {
    let same = |preset: &&Preset| ExperimentSpec { seed: spec.seed, ..preset.read().spec.clone() } == *spec;
    presets().iter().find(same)
}

/// The preset of that id.
pub fn preset(id: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.id == id)
}

/// The preset after the one of that id, for *next experiment*; the first after the last and for an unknown id.
pub fn next_after(id: &str) -> &'static Preset {
    let at = presets().iter().position(|preset| preset.id == id);
    let next = at.map_or(0, |at| (at + 1) % presets().len());
    &presets()[next]
}
