//! Numbers as text: ticks, counts and values, the same in both languages.

/// Round positions for about `most` tick marks inside `range`, and their distance (1, 2 or 5 times a power of ten).
///
/// An empty or infinite range has no ticks.
pub fn ticks(range: (f64, f64), most: u32) -> (Vec<f64>, f64) {
    let span = range.1 - range.0;
    if !span.is_finite() || span <= 0.0 {
        return (Vec::new(), 1.0);
    }
    let rough = span / f64::from(most.max(1));
    let mut step = power_of_ten_below(rough);
    for factor in [1.0, 2.0, 5.0, 10.0] {
        if step * factor >= rough * 0.999 {
            step *= factor;
            break;
        }
    }
    let (first, last) = ((range.0 / step - 1e-9).ceil() as i64, (range.1 / step + 1e-9).floor() as i64);
    ((first..=last).map(|k| k as f64 * step).collect(), step)
}

/// A tick's number with just the decimals its distance `step` needs; thousands as `k`, millions as `M`.
pub fn tick_text(value: f64, step: f64) -> String {
    let (value, step, suffix) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, step / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, step / 1e3, "k"),
        _ => (value, step, ""),
    };
    let mut decimals = 0;
    let mut unit = 1.0;
    while decimals < 6 && (step / unit - (step / unit).round()).abs() > 1e-6 {
        decimals += 1;
        unit /= 10.0;
    }
    if decimals == 0 && value.round() == 0.0 {
        return "0".to_owned();
    }
    minus(format!("{value:.decimals$}")) + suffix
}

/// A count with its thousands apart: `4,631`.
pub fn count(value: u32) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A whole number with a real minus sign.
pub fn integer(value: i32) -> String {
    minus(value.to_string())
}

/// A measured value to about three significant digits, with a real minus sign.
pub fn value(v: f32) -> String {
    let size = v.abs();
    minus(match size {
        _ if size >= 1e6 || (size > 0.0 && size < 5e-4) => format!("{v:.1e}"),
        _ if size >= 100.0 => format!("{v:.0}"),
        _ if size >= 10.0 => format!("{v:.1}"),
        _ if size >= 1.0 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
    })
}

/// Things per second: at least three significant digits, thousands apart, millions as `M`.
pub fn speed(v: f64) -> String {
    match v {
        _ if v >= 1e6 => format!("{:.2} M", v / 1e6),
        _ if v >= 1e3 => count(v.round() as u32),
        _ => format!("{v:.1}"),
    }
}

/// A number with this many decimals and a real minus sign.
pub fn decimals(v: f64, decimals: usize) -> String {
    minus(format!("{v:.decimals$}"))
}

/// A measured value to two decimals, for tight places.
pub fn short(v: f32) -> String {
    let size = v.abs();
    minus(match size {
        _ if size >= 100.0 => format!("{v:.0}"),
        _ if size >= 10.0 => format!("{v:.1}"),
        _ => format!("{v:.2}"),
    })
}

/// A small number as an index below the line: `Q₁`.
pub fn subscript(number: u32) -> String {
    const DIGITS: [char; 10] = ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// A payoff as a person would write it: no more decimals than it has.
pub fn payoff(v: f32) -> String {
    let text = format!("{v:.2}");
    minus(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A learning rate as people write it: `7e-4`.
pub fn rate(v: f32) -> String {
    if v >= 0.1 || v == 0.0 { payoff(v) } else { format!("{v:.1e}").replace(".0e", "e") }
}

/// A difference, with its sign.
pub fn signed(v: f32, text: impl Fn(f32) -> String) -> String {
    if v > 0.0 { format!("+{}", text(v)) } else { text(v) }
}

/// Seconds as `12 s`, `3:05` minutes or `2:03:05` hours; a dash where there is no telling.
pub fn duration(seconds: f32) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    let whole = seconds.max(0.0).round() as u32;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// A share as a percentage.
pub fn percent(share: f32) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

fn power_of_ten_below(x: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= x {
        power *= 10.0;
    }
    while power > x {
        power /= 10.0;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let (marks, step) = ticks((0.0, 100_000.0), 5);
        assert_eq!(step, 20_000.0);
        assert_eq!(marks.first(), Some(&0.0));
        assert_eq!(marks.last(), Some(&100_000.0));
        let (marks, step) = ticks((-0.13, 0.42), 4);
        assert!((step - 0.2).abs() < 1e-12);
        assert_eq!(marks.len(), 3);
        assert!(ticks((1.0, 1.0), 5).0.is_empty());
        assert!(ticks((0.0, f64::NAN), 5).0.is_empty());
    }

    #[test]
    fn numbers_read_like_a_person_writes_them() {
        assert_eq!(tick_text(20_000.0, 20_000.0), "20k");
        assert_eq!(tick_text(2_500.0, 500.0), "2500");
        assert_eq!(tick_text(12_500.0, 2_500.0), "12.5k");
        assert_eq!(tick_text(-0.2, 0.1), "−0.2");
        assert_eq!(tick_text(-1e-17, 0.1), "0.0");
        assert_eq!(tick_text(0.25, 0.25), "0.25");
        assert_eq!(count(4_631), "4,631");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(value(0.9412), "0.941");
        assert_eq!(value(-12.34), "−12.3");
        assert_eq!(value(-0.0), "0.000");
        assert_eq!([27.96, 9_089.4, 2_064_000.0].map(speed), ["28.0", "9,089", "2.06 M"]);
        assert_eq!(decimals(-21.548, 2), "−21.55");
        assert_eq!(short(-0.2467), "−0.25");
        assert_eq!(subscript(12), "₁₂");
        assert_eq!(payoff(-30.0), "−30");
        assert_eq!(payoff(0.5), "0.5");
        assert_eq!(signed(3.0, payoff), "+3");
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(percent(1.0), "100 %");
    }
}
