//! The words of one subcommand, taken one by one.
//!
//! A subcommand takes what it knows and then calls [`Args::finish`], so a misspelt option is refused and never ignored.

use tandem_core::experiment::snapshot::Sentence;

/// The words that nobody has taken yet.
#[derive(Debug)]
pub(super) struct Args(Vec<String>);

impl Args {
    pub(super) fn new(words: impl Iterator<Item = String>) -> Self {
        Self(words.collect())
    }

    /// Takes `name`; true if it was there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes `name VALUE` or `name=VALUE`; `allowed` completes the sentence about a missing value.
    pub(super) fn value(&mut self, name: &str, allowed: &str) -> Result<Option<String>, Sentence> {
        let prefix = format!("{name}=");
        let Some(at) = self.0.iter().position(|word| word == name || word.starts_with(&prefix)) else {
            return Ok(None);
        };
        let word = self.0.remove(at);
        match word.strip_prefix(&prefix) {
            Some(value) => Ok(Some(value.to_owned())),
            None if self.0.get(at).is_some_and(|next| !next.starts_with("--")) => Ok(Some(self.0.remove(at))),
            None => Err(Sentence::new("cli.no_value", &[name, allowed])),
        }
    }

    /// Takes the first word that is no option.
    pub(super) fn word(&mut self) -> Option<String> {
        let at = self.0.iter().position(|word| !word.starts_with("--"))?;
        Some(self.0.remove(at))
    }

    /// Refuses whatever is left; `allowed` are the words there might have been.
    pub(super) fn finish(self, allowed: &str) -> Result<(), Sentence> {
        match self.0.first() {
            Some(word) => Err(Sentence::new("cli.unknown_option", &[word, allowed])),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn takes_options_in_any_order_around_the_link() {
        let mut given = args("--json #seed=1 --seeds=1..4 --steps 900");
        assert!(given.flag("--json"));
        assert_eq!(given.value("--steps", "").expect("a value"), Some("900".to_owned()));
        assert_eq!(given.value("--seeds", "").expect("a value"), Some("1..4".to_owned()));
        assert_eq!(given.word(), Some("#seed=1".to_owned()));
        given.finish("").expect("nothing is left");
    }

    #[test]
    fn refuses_what_it_does_not_know_and_what_is_given_twice() {
        assert!(args("--stepps 9").finish("--steps N").is_err_and(|told| told.args == ["--stepps", "--steps N"]));
        assert!(args("--steps --json").value("--steps", "").is_err());
        assert!(args("--steps").value("--steps", "").is_err());
        let mut twice = args("--json --json");
        assert!(twice.flag("--json"));
        assert!(twice.finish("").is_err());
    }
}
