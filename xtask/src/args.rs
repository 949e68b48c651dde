//! Command-line words of one task, taken one by one.
//!
//! A task takes what it knows and then calls [`Args::finish`], so a misspelt option is an error and never ignored.

use std::str::FromStr;

use anyhow::{Context as _, bail};

/// The words behind the task's name that nobody has taken yet.
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Self {
        Self(words.collect())
    }

    /// Takes `--name`; true if it was there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes `--name VALUE` or `--name=VALUE`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> anyhow::Result<Option<T>>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let prefix = format!("{name}=");
        let Some(at) = self.0.iter().position(|word| word == name || word.starts_with(&prefix)) else {
            return Ok(None);
        };
        let word = self.0.remove(at);
        let text = match word.strip_prefix(&prefix) {
            Some(text) => text.to_owned(),
            None if self.0.get(at).is_some_and(|next| !next.starts_with("--")) => self.0.remove(at),
            None => bail!("`{name}` needs a value"),
        };
        let value = text.parse().with_context(|| format!("`{name}` cannot be `{text}`"))?;
        Ok(Some(value))
    }

    /// Takes every word that is no option; to be called after all options with a value were taken.
    pub(crate) fn words(&mut self) -> Vec<String> {
        self.0.extract_if(.., |word| !word.starts_with("--")).collect()
    }

    /// Refuses whatever is left.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.0.first() {
            Some(word) => bail!("`{word}` is not an option of this task; see `cargo xtask help`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Args;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn takes_flags_and_values_in_any_order() {
        let mut given = args("--port 81 --no-open --only=size");
        assert!(given.flag("--no-open"));
        assert_eq!(given.value::<u16>("--port").expect("81 is a port"), Some(81));
        assert_eq!(given.value::<String>("--only").expect("text"), Some("size".to_owned()));
        given.finish().expect("nothing is left");
    }

    #[test]
    fn takes_words_between_options() {
        let mut given = args("W1 --rounds 2 W5 --peers");
        assert_eq!(given.value::<u32>("--rounds").expect("2 is a number"), Some(2));
        assert_eq!(given.words(), ["W1", "W5"]);
        assert!(given.flag("--peers"));
        given.finish().expect("nothing is left");
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(args("--prot 81").finish().is_err());
        assert!(args("--port").value::<u16>("--port").is_err());
        assert!(args("--port x").value::<u16>("--port").is_err());
        assert!(args("--only --again").value::<String>("--only").is_err(), "an option is no value");
    }
}
