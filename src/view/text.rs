//! Every text a person can see, in English and Chinese.
//!
//! The table is `assets/text/*.ron`: each file maps an id to both languages side by side, so a text cannot exist in
//! one language alone. Arguments are written `{0}`, `{1}`, …. An id that is missing shows itself instead of failing.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tandem_core::env::api::Label;
use tandem_core::experiment::snapshot::Sentence;

/// The text files by domain, as embedded.
pub const FILES: [(&str, &str); 6] = [
    ("shell", include_str!("../../assets/text/shell.ron")),
    ("views", include_str!("../../assets/text/views.ron")),
    ("knobs", include_str!("../../assets/text/knobs.ron")),
    ("experiments", include_str!("../../assets/text/experiments.ron")),
    ("notices", include_str!("../../assets/text/notices.ron")),
    ("cli", include_str!("../../assets/text/cli.ron")),
];

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Lang {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// Value of the link key `lang`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Tag of the language, as documents name theirs.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-Hans",
        }
    }

    /// The language a tag such as `zh-CN` or `en_GB` asks for; `None` for languages the page does not speak.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }
}

/// The texts in one language. A copy of two words: pass it by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// Language spoken.
    pub lang: Lang,
}

impl Texts {
    /// The text of `id`, or `id` itself where there is none.
    #[must_use]
    pub fn t(self, id: &str) -> &str {
        self.get(id).unwrap_or(id)
    }

    /// The text of `id`, if there is one.
    #[must_use]
    pub fn get(self, id: &str) -> Option<&'static str> {
        let (en, zh) = table().get(id)?;
        Some(match self.lang {
            Lang::En => en,
            Lang::Zh => zh,
        })
    }

    /// The text of `id` with `{0}`, `{1}`, … replaced by `args`.
    #[must_use]
    pub fn f(self, id: &str, args: &[&str]) -> String {
        fill(self.t(id), args)
    }

    /// The text of `id` about `count` things, `id.one` about a single one, with its arguments.
    #[must_use]
    pub fn plural(self, id: &str, count: u32, args: &[&str]) -> String {
        if count == 1 { self.f(&format!("{id}.one"), args) } else { self.f(id, args) }
    }

    /// A sentence of the session or the link reader. Arguments that are text ids are spoken in the same language.
    #[must_use]
    pub fn sentence(self, sentence: &Sentence) -> String {
        let args: Vec<&str> = sentence.args.iter().map(|arg| self.t(arg)).collect();
        self.f(&sentence.id, &args)
    }

    /// A name with numbers in it.
    #[must_use]
    pub fn label(self, label: &Label) -> String {
        let args: Vec<String> = label.args.iter().map(|&number| super::numbers::integer(number)).collect();
        self.f(&label.id, &args.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// All ids with both texts, in order of id.
pub fn table() -> &'static BTreeMap<String, (String, String)> {
    static TABLE: OnceLock<BTreeMap<String, (String, String)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut all = BTreeMap::new();
        for (name, source) in FILES {
            match ron::from_str::<BTreeMap<String, (String, String)>>(source) {
                Ok(texts) => all.extend(texts),
                Err(error) => log::error!("assets/text/{name}.ron: {error}"),
            }
        }
        all
    })
}

fn fill(template: &str, args: &[&str]) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let tail = &rest[open..];
        let close = tail.find('}');
        let arg = close.and_then(|end| tail[1..end].parse::<u8>().ok()).and_then(|index| args.get(index as usize));
        if let (Some(end), Some(text)) = (close, arg) {
            out.push_str(text);
            rest = &tail[end + 1..];
        } else {
            out.push('{');
            rest = &tail[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_by_position() {
        assert_eq!(fill("{1} of {0}", &["a", "b"]), "b of a");
        assert_eq!(fill("{2} {x} {", &["a"]), "{2} {x} {");
    }

    #[test]
    fn files_parse_and_no_id_stands_twice() {
        let mut seen = BTreeMap::new();
        for (name, source) in FILES {
            let texts: Vec<(String, (String, String))> = ron_pairs(source);
            for (id, (en, zh)) in texts {
                assert!(!en.is_empty() && !zh.is_empty(), "{name}.ron: {id} is empty in one language");
                assert_eq!(seen.insert(id.clone(), name), None, "{id} stands twice");
            }
        }
    }

    #[test]
    fn both_languages_use_the_same_arguments() {
        for (id, (en, zh)) in table() {
            assert_eq!(arguments(en), arguments(zh), "{id}");
        }
    }

    fn arguments(text: &str) -> Vec<u8> {
        let mut found: Vec<u8> = text
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').and_then(|(inner, _)| inner.parse().ok()))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A map's entries with duplicates kept.
    fn ron_pairs(source: &str) -> Vec<(String, (String, String))> {
        struct Pairs(Vec<(String, (String, String))>);
        impl<'de> serde::Deserialize<'de> for Pairs {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = Pairs;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a map of texts")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                        let mut pairs = Vec::new();
                        while let Some(entry) = map.next_entry()? {
                            pairs.push(entry);
                        }
                        Ok(Pairs(pairs))
                    }
                }
                deserializer.deserialize_map(Visitor)
            }
        }
        ron::from_str::<Pairs>(source).expect("a text file is a RON map").0
    }
}
