//! Values as text: what links write and what people type.
//!
//! Writing is exact (reading gives the same bits back) and as short as it can be. Reading is generous about form
//! (`2e4`, `20,000`, full-width digits) and strict about meaning: NaN and infinity are not numbers here.

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading<T> {
    /// Allowed as it stands.
    Fine(T),
    /// A value, but not an allowed one: the nearest that is.
    Clamped(T),
    /// No value.
    Unreadable,
}

impl<T> Reading<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Fine(value) => Reading::Fine(f(value)),
            Self::Clamped(value) => Reading::Clamped(f(value)),
            Self::Unreadable => Reading::Unreadable,
        }
    }
}

/// Trimmed, in lower case, full-width characters (a Chinese keyboard's) made narrow, no longer than a value can be.
pub(super) fn plain(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '\u{2212}' => '-',
        '×' => 'x',
        '∞' => 'i',
        c => c.to_ascii_lowercase(),
    };
    text.trim().chars().take(LONGEST).map(narrow).collect()
}

/// Longest value looked at, in characters: eight seats are longer than any number.
const LONGEST: usize = 256;

/// For quoting in a sentence.
pub(in crate::experiment) fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(39).chain(['…']).collect() }
}

/// The shortest decimal that reads back to the same bits, in powers of ten where that is shorter.
pub(super) fn write_float(value: f32) -> String {
    let (decimal, power) = (value.to_string(), format!("{value:e}"));
    if power.len() < decimal.len() { power } else { decimal }
}

/// The value nearest to the first six decimal digits of `value`: what is left of a product of short decimals when
/// rounding in binary is taken away.
pub(super) fn six_digits(value: f64) -> f32 {
    format!("{value:.5e}").parse().expect("a number in the form of numbers")
}

/// The shortest decimal of `value` in f64: 0.1 for the f32 that `0.1` reads as.
pub(super) fn decimal(value: f32) -> f64 {
    value.to_string().parse().expect("a number in the form of numbers")
}

pub(super) fn write_bool(value: bool) -> &'static str {
    if value { "on" } else { "off" }
}

pub(super) fn write_size((width, height): (u32, u32)) -> String {
    format!("{width}x{height}")
}

pub(super) fn write_optional(value: Option<u32>) -> String {
    value.map_or_else(|| "inf".to_owned(), |value| value.to_string())
}

pub(super) fn read_float(text: &str, min: f32, max: f32) -> Reading<f32> {
    match text.parse::<f32>() {
        // `inf` and `nan` are words, not numbers; 1e99 is a number, only a large one.
        Ok(_) if !text.contains(|c: char| c.is_ascii_digit()) => Reading::Unreadable,
        // Adding zero makes −0 into 0.
        Ok(value) if (min..=max).contains(&value) => Reading::Fine(value + 0.0),
        Ok(value) => Reading::Clamped(value.clamp(min, max)),
        Err(_) => Reading::Unreadable,
    }
}

/// A whole number of any size; `Clamped` where it had to be rounded.
fn read_whole(text: &str) -> Reading<i128> {
    let grouped = text.split([',', '_', ' ', '\u{202F}', '\u{A0}']).collect::<Vec<_>>();
    // Groups of three only: 0,5 is not 5.
    let digits = if grouped[1..].iter().all(|group| group.len() == 3) { grouped.concat() } else { text.to_owned() };
    if let Ok(value) = digits.parse::<i128>() {
        return Reading::Fine(value);
    }
    match digits.parse::<f64>() {
        Ok(value) if !digits.contains(|c: char| c.is_ascii_digit()) || value.is_nan() => Reading::Unreadable,
        Ok(value) if value.fract() == 0.0 => Reading::Fine(value as i128),
        Ok(value) => Reading::Clamped(value.round() as i128),
        Err(_) => Reading::Unreadable,
    }
}

/// Whether a text is a number between whole ones.
pub(super) fn is_fraction(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|value| value.is_finite() && value.fract() != 0.0)
}

pub(super) fn read_int(text: &str, min: u32, max: u32, step: u32) -> Reading<u32> {
    let allowed = |value: i128| {
        let above = value.clamp(i128::from(min), i128::from(max)) as u32 - min;
        min + (above + step / 2) / step * step
    };
    match read_whole(text) {
        Reading::Fine(value) if i128::from(allowed(value)) == value => Reading::Fine(allowed(value)),
        Reading::Fine(value) | Reading::Clamped(value) => Reading::Clamped(allowed(value)),
        Reading::Unreadable => Reading::Unreadable,
    }
}

pub(super) fn read_seed(text: &str) -> Reading<u64> {
    match read_whole(text) {
        Reading::Fine(value) => match u64::try_from(value) {
            Ok(seed) => Reading::Fine(seed),
            Err(_) => Reading::Clamped(if value < 0 { 0 } else { u64::MAX }),
        },
        Reading::Clamped(value) => Reading::Clamped(value.clamp(0, i128::from(u64::MAX)) as u64),
        Reading::Unreadable => Reading::Unreadable,
    }
}

pub(super) fn read_optional(text: &str, min: u32, max: u32) -> Reading<Option<u32>> {
    // A lone `i` is what `plain` makes of ∞.
    if matches!(text, "inf" | "infinity" | "i" | "none" | "all") {
        return Reading::Fine(None);
    }
    read_int(text, min, max, 1).map(Some)
}

pub(super) fn read_bool(text: &str) -> Reading<bool> {
    match text {
        "on" | "1" | "true" | "yes" => Reading::Fine(true),
        "off" | "0" | "false" | "no" => Reading::Fine(false),
        _ => Reading::Unreadable,
    }
}

pub(super) fn read_choice(text: &str, ids: &'static [&'static str]) -> Reading<&'static str> {
    ids.iter().find(|&&id| id == text).map_or(Reading::Unreadable, |&id| Reading::Fine(id))
}

pub(super) fn read_size(text: &str, min: u32, max: u32) -> Reading<(u32, u32)> {
    // One number is a square.
    let (width, height) = text.split_once('x').unwrap_or((text, text));
    match (read_int(width.trim(), min, max, 1), read_int(height.trim(), min, max, 1)) {
        (Reading::Fine(width), Reading::Fine(height)) => Reading::Fine((width, height)),
        (Reading::Fine(width) | Reading::Clamped(width), Reading::Fine(height) | Reading::Clamped(height)) => {
            Reading::Clamped((width, height))
        }
        _ => Reading::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_exact() {
        for (value, text) in [(5e-4, "5e-4"), (0.95, "0.95"), (0.01, "0.01"), (10.0, "10"), (0.0, "0"), (1e-3, "1e-3")]
        {
            assert_eq!(write_float(value), text);
        }
        // Every 65,537th bit pattern.
        for bits in (0..u32::MAX).step_by(65_537) {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                let read = read_float(&write_float(value), f32::MIN, f32::MAX);
                assert!(matches!(read, Reading::Fine(r) if r.to_bits() == (value + 0.0).to_bits()), "{value}");
            }
        }
    }

    #[test]
    fn words_are_not_numbers_and_large_numbers_are() {
        for word in ["nan", "inf", "-inf", "infinity", "", "-", "x", "0,5", "1e"] {
            assert_eq!(read_float(word, 0.0, 1.0), Reading::Unreadable, "{word}");
            assert_eq!(read_int(word, 0, 9, 1), Reading::Unreadable, "{word}");
        }
        assert_eq!(read_float("1e99", 0.0, 1.0), Reading::Clamped(1.0));
        assert_eq!(read_int("1e999", 0, 9, 1), Reading::Clamped(9));
        assert_eq!(read_int("-3", 1, 9, 1), Reading::Clamped(1));
        assert_eq!(read_seed("99999999999999999999999"), Reading::Clamped(u64::MAX));
        assert_eq!(read_seed(&u64::MAX.to_string()), Reading::Fine(u64::MAX));
    }

    #[test]
    fn people_may_write_numbers_their_way() {
        for text in ["20000", "2e4", "20,000", "20_000", "20 000", "20000.0"] {
            assert_eq!(read_int(text, 1, 50_000, 1), Reading::Fine(20_000), "{text}");
        }
        assert_eq!(plain(" ４×４ "), "4x4");
        assert_eq!(plain("－３．５"), "-3.5");
        assert_eq!(read_size("6", 2, 16), Reading::Fine((6, 6)));
        assert_eq!(read_size("3x99", 2, 16), Reading::Clamped((3, 16)));
        assert_eq!(read_optional(&plain("∞"), 1, 16), Reading::Fine(None));
    }

    #[test]
    fn whole_numbers_round_to_the_nearest_step() {
        assert_eq!(read_int("16", 8, 128, 8), Reading::Fine(16));
        assert_eq!(read_int("20", 8, 128, 8), Reading::Clamped(24));
        assert_eq!(read_int("127", 8, 128, 8), Reading::Clamped(128));
        assert_eq!(read_int("2.6", 1, 9, 1), Reading::Clamped(3));
    }

    #[test]
    fn long_values_are_quoted_in_part() {
        assert_eq!(shortened("abc"), "abc");
        assert_eq!(shortened(&"x".repeat(1000)).chars().count(), 40);
    }
}
