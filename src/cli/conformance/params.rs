//! Arguments of a reference's constructor, taken one by one: what nobody takes is not supported.

use serde_json::{Map, Value};
use tandem_core::experiment::snapshot::Sentence;

use super::check::Stop;
use super::format::Malformed;

/// The arguments that nobody has taken yet.
#[derive(Debug)]
pub(super) struct Params(Map<String, Value>);

impl Params {
    pub(super) fn new(params: &Map<String, Value>) -> Self {
        // What only concerns pictures and measurements on the side changes nothing.
        let aside = ["render_mode", "dynamic_rescaling", "screen_scaling", "screen_height", "benchmark_data"];
        let kept = params.iter().filter(|(key, _)| !aside.contains(&key.as_str()));
        Self(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Takes `key`; null counts as not given.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a count into `field`, if it is given.
    pub(super) fn count(&mut self, key: &str, field: &mut u32) -> Result<(), Stop> {
        *field = self.optional_count(key)?.unwrap_or(*field);
        Ok(())
    }

    /// Takes a count that need not be given.
    pub(super) fn optional_count(&mut self, key: &str) -> Result<Option<u32>, Stop> {
        self.take(key).map(|value| count(key, &value)).transpose()
    }

    /// Takes a number.
    pub(super) fn number(&mut self, key: &str, field: &mut f64) -> Result<(), Stop> {
        match self.take(key) {
            None => Ok(()),
            Some(value) => {
                *field = value.as_f64().ok_or_else(|| wrong(key, &value))?;
                Ok(())
            }
        }
    }

    /// Takes a switch.
    pub(super) fn switch(&mut self, key: &str, field: &mut bool) -> Result<(), Stop> {
        match self.take(key) {
            None => Ok(()),
            Some(value) => {
                *field = value.as_bool().ok_or_else(|| wrong(key, &value))?;
                Ok(())
            }
        }
    }

    /// Takes one count for all, or a list of them.
    pub(super) fn counts(&mut self, key: &str, field: &mut Vec<u32>) -> Result<(), Stop> {
        let Some(value) = self.take(key) else { return Ok(()) };
        *field = match &value {
            Value::Array(items) => items.iter().map(|item| count(key, item)).collect::<Result<_, _>>()?,
            one => vec![count(key, one)?],
        };
        Ok(())
    }

    /// What is left is not supported; keys that begin with `_` are no arguments.
    pub(super) fn finish(self) -> Result<(), Stop> {
        match self.0.iter().find(|(key, _)| !key.starts_with('_')) {
            Some((key, value)) => Err(unsupported(key, value)),
            None => Ok(()),
        }
    }
}

/// A whole number; any other number is a value that the rules do not have, anything else no value at all.
fn count(key: &str, value: &Value) -> Result<u32, Stop> {
    if let Some(count) = value.as_u64().and_then(|count| u32::try_from(count).ok()) {
        return Ok(count);
    }
    if value.is_number() {
        return Err(Stop::Unsupported(Sentence::new("conformance.no_count", &[key, &value.to_string()])));
    }
    Err(wrong(key, value))
}

pub(super) fn wrong(key: &str, value: &Value) -> Stop {
    Stop::Malformed(Malformed(format!("params.{key}: {value}")))
}

pub(super) fn unsupported(key: &str, value: &Value) -> Stop {
    Stop::Unsupported(Sentence::new("conformance.unknown_param", &[key, &value.to_string()]))
}
