//! What a measured program says of a work: one line of JSON, the same from Tandem and from every peer.

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::contest::Work;

/// A line as `tandem bench --json` writes it; what is not asked for here is left out.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    work: String,
    /// Median over the program's own repetitions.
    pub(super) rate: f64,
    pub(super) unit: String,
    checks: Vec<Number>,
    /// Tandem's own verdict, which may be stricter.
    holds: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Number {
    name: String,
    value: f64,
}

/// Finds the line among whatever else a program prints and holds its numbers against what they should be.
pub(super) fn read(output: &str, work: &Work) -> anyhow::Result<Line> {
    let text = output.lines().rfind(|line| line.starts_with('{')).context("it printed no result")?;
    let line: Line = serde_json::from_str(text).with_context(|| format!("it printed `{text}`"))?;
    ensure!(line.work == work.id, "it did {} instead of {}", line.work, work.id);
    for (name, expected, tolerance) in work.checks {
        let number = line.checks.iter().find(|number| number.name == *name);
        let value = number.with_context(|| format!("it does not tell its {name}"))?.value;
        ensure!(
            (value - expected).abs() <= *tolerance,
            "it did other work: its {name} is {value}, which should be {expected} ± {tolerance}"
        );
    }
    ensure!(line.holds != Some(false), "it says itself that its numbers are off: {text}");
    ensure!(line.rate > 0.0, "its rate is {}", line.rate);
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::super::contest::WORKS;
    use super::read;

    const GOOD: &str = r#"{"work":"W1","rate":94.5,"unit":"updates/s","range":[77.9,118.4],"seconds":3.0,
        "checks":[{"name":"first_loss","value":1.811299443},{"name":"loss31","value":0.6304411}]}"#;

    fn failure(output: &str) -> String {
        let error = read(&output.replace('\n', ""), &WORKS[0]).expect_err("it is wrong");
        format!("{error:#}")
    }

    #[test]
    fn reads_a_line_among_others() {
        let output = format!("Importing …\n{}\n", GOOD.replace('\n', ""));
        let line = read(&output, &WORKS[0]).expect("a good line");
        assert_eq!((line.rate, &*line.unit), (94.5, "updates/s"));
    }

    #[test]
    fn a_wrong_number_is_no_result() {
        assert!(failure(&GOOD.replace("0.6304411", "0.6305")).contains("loss31 is 0.6305"));
        assert!(failure(&GOOD.replace("loss31", "loss30")).contains("does not tell its loss31"));
        assert!(failure(&GOOD.replace("1.811299443", "null")).contains("it printed `{"));
        assert!(failure(&GOOD.replace("W1", "W5")).contains("W5 instead of W1"));
        assert!(failure(&GOOD.replace("\"checks\"", "\"holds\":false,\"checks\"")).contains("says itself"));
        assert!(failure("Killed").contains("no result"));
    }
}
