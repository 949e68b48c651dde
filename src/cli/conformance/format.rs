//! The document: trajectories of a reference implementation in the format `marlgold/1`.
//!
//! What is the same everywhere is typed; parameters, start, simulator state and draws differ from world to world and are
//! read by the world's file. Nothing is trusted: whatever has another form than the format allows is a [`Malformed`].

use serde::Deserialize;
use serde_json::{Map, Value};

/// The version of the format that is read.
pub(super) const SCHEMA: &str = "marlgold/1";

/// A file.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) schema: String,
    pub(super) env: String,
    pub(super) episodes: Vec<Episode>,
}

/// An episode.
#[derive(Debug, Deserialize)]
pub(super) struct Episode {
    pub(super) id: String,
    pub(super) api: Api,
    #[serde(default)]
    pub(super) params: Map<String, Value>,
    /// The resolved settings, where a name stands for many.
    #[serde(default)]
    pub(super) effective: Map<String, Value>,
    pub(super) agents: Vec<String>,
    #[serde(default)]
    pub(super) action_dtype: Precision,
    #[serde(default)]
    pub(super) init: Value,
    #[serde(default)]
    pub(super) state: GlobalState,
    pub(super) reset: Option<Shown>,
    /// Read by [`JointStep`] or [`TurnStep`], as the API says.
    pub(super) steps: Vec<Value>,
    #[serde(default)]
    pub(super) analytic: Map<String, Value>,
}

/// How the reference was stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Api {
    Parallel,
    Aec,
    Gym,
}

/// Precision of the arrays of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Precision {
    #[default]
    Int,
    Float32,
    Float64,
}

/// What the global state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GlobalState {
    /// There is none.
    #[default]
    None,
    /// All observations, one after the other.
    Concat,
    /// Written down.
    Explicit,
    /// The first agent's observation.
    Obs0,
}

/// What is seen at a reset.
#[derive(Debug, Deserialize)]
pub(super) struct Shown {
    pub(super) obs: Vec<Value>,
    pub(super) mask: Option<Vec<Value>>,
    pub(super) state: Option<Value>,
}

/// A joint step.
#[derive(Debug, Deserialize)]
pub(super) struct JointStep {
    pub(super) actions: Vec<Value>,
    #[serde(flatten)]
    pub(super) shown: Shown,
    pub(super) rewards: Vec<Value>,
    pub(super) term: Value,
    pub(super) trunc: Value,
    pub(super) live: Option<u32>,
    pub(super) sim: Option<Map<String, Value>>,
    #[serde(default)]
    pub(super) rng: Map<String, Value>,
}

/// One agent's turn.
#[derive(Debug, Deserialize)]
pub(super) struct TurnStep {
    pub(super) agent: String,
    /// Cumulative reward, terminated, truncated.
    pub(super) last: (Value, bool, bool),
    pub(super) obs: Value,
    pub(super) mask: Option<Value>,
    #[serde(default)]
    pub(super) others: Map<String, Value>,
    pub(super) action: Value,
    pub(super) after: After,
    #[serde(default)]
    pub(super) rng: Map<String, Value>,
}

/// The books after a turn, by live agent.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    pub(super) agents: Vec<String>,
    pub(super) selection: String,
    pub(super) rewards: Map<String, Value>,
    pub(super) cumulative: Map<String, Value>,
    pub(super) term: Map<String, Value>,
    pub(super) trunc: Map<String, Value>,
    pub(super) sim: Option<Map<String, Value>>,
}

/// Something is not of the format: which episode or key, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) String);

impl Document {
    /// The document in `text`.
    pub(super) fn read(text: &str) -> Result<Self, Malformed> {
        let document: Self = serde_json::from_str(text).map_err(|error| Malformed(error.to_string()))?;
        if document.schema != SCHEMA {
            return Err(Malformed(format!("schema: {}", document.schema)));
        }
        // There is no verdict on nothing.
        if document.episodes.is_empty() {
            return Err(Malformed("episodes: []".to_owned()));
        }
        match document.episodes.iter().find(|episode| episode.steps.is_empty()) {
            Some(episode) => Err(Malformed(format!("{}, steps: []", episode.id))),
            None => Ok(document),
        }
    }
}

impl Episode {
    /// Its steps as the API has them.
    pub(super) fn steps_as<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, Malformed> {
        let step = |(at, step): (usize, &Value)| {
            let said = |error: serde_json::Error| Malformed(format!("{}, steps[{at}]: {error}", self.id));
            T::deserialize(step).map_err(said)
        };
        self.steps.iter().enumerate().map(step).collect()
    }
}

/// All numbers of `value` in order: nested lists, digit strings, `NaN` and the infinities, flags as 0 and 1.
pub(super) fn numbers(key: &str, value: &Value) -> Result<Vec<f64>, Malformed> {
    let mut all = Vec::new();
    collect(key, value, &mut all)?;
    Ok(all)
}

fn collect(key: &str, value: &Value, all: &mut Vec<f64>) -> Result<(), Malformed> {
    match value {
        Value::Array(items) => return items.iter().try_for_each(|item| collect(key, item, all)),
        Value::Number(number) => all.push(number.as_f64().ok_or_else(|| Malformed(format!("{key}: {number}")))?),
        Value::Bool(flag) => all.push(f64::from(u8::from(*flag))),
        Value::String(text) => match text.as_str() {
            "NaN" => all.push(f64::NAN),
            "Infinity" => all.push(f64::INFINITY),
            "-Infinity" => all.push(f64::NEG_INFINITY),
            digits => {
                let digit = |c: char| c.to_digit(10).map(f64::from);
                let digits: Option<Vec<f64>> = digits.chars().map(digit).collect();
                all.extend(digits.ok_or_else(|| Malformed(format!("{key}: {text:?}")))?);
            }
        },
        Value::Null | Value::Object(_) => return Err(Malformed(format!("{key}: {value}"))),
    }
    Ok(())
}

/// Rows of `N` whole numbers each.
pub(super) fn rows<const N: usize>(key: &str, value: &Value) -> Result<Vec<[i64; N]>, Malformed> {
    let wrong = || Malformed(format!("{key}: {value}"));
    let row = |row: &Value| {
        let whole: Option<Vec<i64>> = row.as_array().ok_or_else(wrong)?.iter().map(Value::as_i64).collect();
        whole.and_then(|row| row.try_into().ok()).ok_or_else(wrong)
    };
    value.as_array().ok_or_else(wrong)?.iter().map(row).collect()
}
