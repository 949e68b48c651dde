//! Every tunable of an experiment, named once: the Set-up panel, links, presets, documents and tests iterate [`KNOBS`].
//!
//! A knob knows its permanent link key, its range, when it applies and how to reach its field. Whatever a person types
//! and whatever a link says goes through [`Knob::read`], so both are judged alike. The texts are `knob.KEY` (name) and
//! `knob.KEY.tip`, for a choice also `choice.KEY.ID`.

mod names;
mod rules;
mod seats;
mod shared;
mod table;
mod values;

pub use names::ALSO;
pub use rules::{
    forget_unused, gradient_steps_per_env_step, gradient_steps_per_update, normalise, remarks, scale_lr, segment_steps,
    suit_algo, switch_algo, switch_env, why_not,
};
pub use table::KNOBS;

pub use seats::{can_reseat, letter, word as seat_word};

use super::snapshot::Sentence;
use super::spec::{ExperimentSpec, Seats};
use values::Reading;
pub(super) use values::shortened;

/// Part of the Set-up panel a knob stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The environment and its rules.
    World,
    /// Who moves each agent.
    Seats,
    /// The algorithm and its loss.
    Algorithm,
    /// Sizes and shapes of the networks.
    Networks,
    /// How data is gathered.
    Exploration,
    /// Replay, training ratio, target networks.
    Replay,
    /// Seed, budget, evaluation.
    Run,
}

impl Group {
    /// In the order of the panel.
    pub const ALL: [Self; 7] =
        [Self::World, Self::Algorithm, Self::Seats, Self::Networks, Self::Exploration, Self::Replay, Self::Run];

    /// Text id of its heading.
    pub fn text_id(self) -> &'static str {
        match self {
            Self::World => "group.world",
            Self::Seats => "group.seats",
            Self::Algorithm => "group.algorithm",
            Self::Networks => "group.networks",
            Self::Exploration => "group.exploration",
            Self::Replay => "group.replay",
            Self::Run => "group.run",
        }
    }
}

/// What values a knob takes and where they are kept.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number `min + k·step`.
    Int {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
        /// Distance between allowed values.
        step: u32,
        /// Reads the field.
        get: fn(&ExperimentSpec) -> u32,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, u32),
    },
    /// A number.
    Float {
        /// Smallest.
        min: f32,
        /// Largest.
        max: f32,
        /// A slider should be logarithmic.
        log: bool,
        /// Reads the field.
        get: fn(&ExperimentSpec) -> f32,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, f32),
    },
    /// One of a list of ids.
    Choice {
        /// The ids, as written in links.
        ids: &'static [&'static str],
        /// Reads the field.
        get: fn(&ExperimentSpec) -> &'static str,
        /// Writes the field; an id not in the list changes nothing.
        set: fn(&mut ExperimentSpec, &str),
    },
    /// On or off.
    Bool {
        /// Reads the field.
        get: fn(&ExperimentSpec) -> bool,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, bool),
    },
    /// Width and height of a grid, written `4x4`.
    Size {
        /// Smallest side.
        min: u32,
        /// Largest side.
        max: u32,
        /// Reads the fields.
        get: fn(&ExperimentSpec) -> (u32, u32),
        /// Writes the fields.
        set: fn(&mut ExperimentSpec, (u32, u32)),
    },
    /// A whole number or unlimited, written `inf`.
    OptionalInt {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
        /// Reads the field.
        get: fn(&ExperimentSpec) -> Option<u32>,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, Option<u32>),
    },
    /// Who moves each agent: words in the order of the agents, `learner,idle`.
    Seats {
        /// Reads the field.
        get: fn(&ExperimentSpec) -> &Seats,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, Seats),
    },
    /// A seed: any 64-bit number.
    Seed {
        /// Reads the field.
        get: fn(&ExperimentSpec) -> u64,
        /// Writes the field.
        set: fn(&mut ExperimentSpec, u64),
    },
}

/// One tunable.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Key in links. Permanent: a released key is never renamed and never means something else.
    pub key: &'static str,
    /// Where it stands in the panel.
    pub group: Group,
    /// Its values.
    pub kind: Kind,
    /// Can be changed while training (else a change starts again from update 0).
    pub live: bool,
    /// Shown to beginners; the others are folded.
    pub beginner: bool,
    unit: &'static str,
    /// Whether it has any effect in this experiment.
    pub applies: fn(&ExperimentSpec) -> bool,
}

impl Knob {
    /// Text id of its name.
    pub fn text_id(&self) -> String {
        format!("knob.{}", self.key)
    }

    /// Text id of its tooltip.
    pub fn tip_id(&self) -> String {
        format!("knob.{}.tip", self.key)
    }

    /// Text id of one of its choices.
    pub fn choice_id(&self, id: &str) -> String {
        format!("choice.{}.{id}", self.key)
    }

    /// Text id of the choice made.
    pub fn chosen_id(&self, spec: &ExperimentSpec) -> String {
        self.choice_id(&self.text(spec))
    }

    /// Whether there is anything to choose.
    pub fn has_alternatives(&self) -> bool {
        !matches!(self.kind, Kind::Choice { ids: [_], .. })
    }

    /// Text id of its unit, if it has one. Replay counts whole episodes where their length is fixed, else env steps.
    pub fn unit_id(&self, spec: &ExperimentSpec) -> Option<&'static str> {
        match self.unit {
            "" => None,
            table::SEGMENTS if segment_steps(spec) > 1 => Some("unit.episodes"),
            table::SEGMENTS => Some("unit.env_steps"),
            unit => Some(unit),
        }
    }

    /// The value as links write it: `5e-4`, `on`, `4x4`, `inf`. Reading it back gives the same bits.
    pub fn text(&self, spec: &ExperimentSpec) -> String {
        match self.kind {
            Kind::Int { get, .. } => get(spec).to_string(),
            Kind::Float { get, .. } => values::write_float(get(spec)),
            Kind::Choice { get, .. } => get(spec).to_owned(),
            Kind::Bool { get, .. } => values::write_bool(get(spec)).to_owned(),
            Kind::Size { get, .. } => values::write_size(get(spec)),
            Kind::OptionalInt { get, .. } => values::write_optional(get(spec)),
            Kind::Seats { get, .. } => seats::write(get(spec)),
            Kind::Seed { get, .. } => get(spec).to_string(),
        }
    }

    /// Reads what a person typed or a link says. A value out of range is brought to the nearest allowed one, a value
    /// that cannot be read changes nothing; either is told by the returned sentence.
    #[must_use]
    pub fn read(&self, spec: &mut ExperimentSpec, given: &str) -> Option<Sentence> {
        let text = values::plain(given);
        let in_range = match self.kind {
            Kind::Int { min, max, step, set, .. } => {
                let (min, max) = self.bounds(spec, (min, max));
                apply(spec, values::read_int(&text, min, max, step), set)
            }
            Kind::Float { min, max, set, .. } => apply(spec, values::read_float(&text, min, max), set),
            Kind::Choice { ids, set, .. } => apply(spec, values::read_choice(&text, ids), set),
            Kind::Bool { set, .. } => apply(spec, values::read_bool(&text), set),
            Kind::Size { min, max, set, .. } => {
                let (min, max) = self.bounds(spec, (min, max));
                apply(spec, values::read_size(&text, min, max), set)
            }
            Kind::OptionalInt { min, max, set, .. } => apply(spec, values::read_optional(&text, min, max), set),
            Kind::Seats { set, .. } => match seats::read(&text) {
                Ok(seats) => {
                    set(spec, seats);
                    Some(true)
                }
                Err(word) => {
                    let said = [self.key, &values::shortened(&word), &self.allowed_in(spec), &self.text(spec)];
                    return Some(Sentence::new("notice.unreadable", &said));
                }
            },
            Kind::Seed { set, .. } => apply(spec, values::read_seed(&text), set),
        };
        let id = match in_range {
            Some(true) => return None,
            Some(false) if self.is_whole() && values::is_fraction(&text) => "notice.whole",
            Some(false) => "notice.clamped",
            None => "notice.unreadable",
        };
        Some(Sentence::new(id, &[self.key, &values::shortened(given.trim()), &self.allowed_in(spec), &self.text(spec)]))
    }

    /// What is allowed in any world, in signs that need no translation: `1 … 1024`, `on | off`.
    pub fn allowed(&self) -> String {
        self.kind.allowed()
    }

    /// What is allowed in the world of `spec`, which may have less room than others.
    pub fn allowed_in(&self, spec: &ExperimentSpec) -> String {
        if matches!(self.kind, Kind::Seats { .. }) {
            return seats::allowed_in(spec);
        }
        let mut kind = self.kind;
        if let Kind::Int { min, max, .. } | Kind::Size { min, max, .. } = &mut kind {
            (*min, *max) = self.bounds(spec, (*min, *max));
        }
        kind.allowed()
    }

    /// The part of a range that the world of `spec` has room for.
    fn bounds(&self, spec: &ExperimentSpec, (min, max): (u32, u32)) -> (u32, u32) {
        shared::bounds(self.key, spec).map_or((min, max), |bounds| (min.max(*bounds.start()), max.min(*bounds.end())))
    }

    /// Whether its values are whole numbers.
    fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Int { .. } | Kind::OptionalInt { .. } | Kind::Size { .. } | Kind::Seed { .. })
    }

    /// Brings the field into its range; a number that is none becomes the default.
    fn clamp(&self, spec: &mut ExperimentSpec) -> Option<Sentence> {
        if let Kind::Float { get, set, .. } = self.kind
            && !get(spec).is_finite()
        {
            let given = get(spec).to_string();
            set(spec, get(&ExperimentSpec::defaults(spec.env, spec.algo)));
            let said = [self.key, &given, &self.allowed_in(spec), &self.text(spec)];
            return Some(Sentence::new("notice.unreadable", &said));
        }
        let text = self.text(spec);
        match self.kind {
            // Their fields cannot leave the range, or do so together with others.
            Kind::Choice { .. } | Kind::Bool { .. } | Kind::Seats { .. } | Kind::Seed { .. } => None,
            _ => self.read(spec, &text),
        }
    }

    /// Makes the field the same as in `from`.
    fn copy(&self, from: &ExperimentSpec, to: &mut ExperimentSpec) {
        match self.kind {
            Kind::Int { get, set, .. } => set(to, get(from)),
            Kind::Float { get, set, .. } => set(to, get(from)),
            Kind::Choice { get, set, .. } => set(to, get(from)),
            Kind::Bool { get, set } => set(to, get(from)),
            Kind::Size { get, set, .. } => set(to, get(from)),
            Kind::OptionalInt { get, set, .. } => set(to, get(from)),
            Kind::Seats { get, set } => set(to, get(from).clone()),
            Kind::Seed { get, set } => set(to, get(from)),
        }
    }
}

impl Kind {
    /// What is allowed, in signs that need no translation.
    fn allowed(&self) -> String {
        match *self {
            Self::Int { min, max, step: 1, .. } => format!("{min} … {max}"),
            Self::Int { min, max, step, .. } => format!("{min}, {}, … {max}", min + step),
            Self::Float { min, max, .. } => format!("{} … {}", values::write_float(min), values::write_float(max)),
            Self::Choice { ids, .. } => ids.join(" | "),
            Self::Bool { .. } => "on | off".to_owned(),
            Self::Size { min, max, .. } => format!("{min}x{min} … {max}x{max}"),
            Self::OptionalInt { min, max, .. } => format!("inf | {min} … {max}"),
            Self::Seats { .. } => seats::allowed(),
            Self::Seed { .. } => format!("0 … {}", u64::MAX),
        }
    }
}

/// The knob with that key, or with that name elsewhere.
pub fn knob(key: &str) -> Option<&'static Knob> {
    let key = ALSO.iter().find(|(name, _)| *name == key).map_or(key, |(_, key)| key);
    KNOBS.iter().find(|knob| knob.key == key)
}

/// A whole number a link gives for something that is no knob: `Err` with the nearest allowed one, or with nothing.
pub(super) fn read_whole_number(text: &str, min: u32, max: u32) -> Result<u32, Option<u32>> {
    match values::read_int(&values::plain(text), min, max, 1) {
        Reading::Fine(value) => Ok(value),
        Reading::Clamped(value) => Err(Some(value)),
        Reading::Unreadable => Err(None),
    }
}

/// Where two experiments differ: the knob and `to`'s value, for those that apply to `to`. Edited worlds are not listed.
pub fn differences(from: &ExperimentSpec, to: &ExperimentSpec) -> Vec<(&'static Knob, String)> {
    let differing = |knob: &&Knob| (knob.applies)(to) && knob.text(from) != knob.text(to);
    KNOBS.iter().filter(differing).map(|knob| (knob, knob.text(to))).collect()
}

/// Stores a reading; whether it was in range, `None` where there was nothing to store.
fn apply<T>(spec: &mut ExperimentSpec, reading: Reading<T>, set: impl Fn(&mut ExperimentSpec, T)) -> Option<bool> {
    match reading {
        Reading::Fine(value) => {
            set(spec, value);
            Some(true)
        }
        Reading::Clamped(value) => {
            set(spec, value);
            Some(false)
        }
        Reading::Unreadable => None,
    }
}
