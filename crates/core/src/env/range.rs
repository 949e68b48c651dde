//! A parameter outside its range: one check and one sentence for every world that is set up by number.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Why a number is no value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The parameter {name} is {given}: it must be from {least} to {most}.")]
pub struct OutOfRange {
    /// The parameter, by the reference's name.
    pub name: &'static str,
    /// What was asked for.
    pub given: String,
    /// Smallest allowed value.
    pub least: String,
    /// Largest allowed value.
    pub most: String,
}

/// Whether `given` is one of the parameter's values; NaN never is.
pub(super) fn within<T: PartialOrd + Display + Copy>(
    name: &'static str,
    given: T,
    range: &RangeInclusive<T>,
) -> Result<(), OutOfRange> {
    if range.contains(&given) {
        return Ok(());
    }
    let [given, least, most] = [given, *range.start(), *range.end()].map(|number| number.to_string());
    Err(OutOfRange { name, given, least, most })
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_range_has_its_ends_and_no_nan() {
        assert_eq!([0.0, 1.0].map(|x| within("x", x, &(0.0..=1.0))), [Ok(()), Ok(())]);
        let told = within("x", f64::NAN, &(0.0..=1.0)).map_err(|error| error.to_string());
        assert_eq!(told, Err("The parameter x is NaN: it must be from 0 to 1.".to_owned()));
    }
}
