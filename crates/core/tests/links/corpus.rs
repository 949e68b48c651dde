//! Links of released versions, which open for ever, and nasty ones (`links_corpus.txt`).

use tandem_core::experiment::link::{parse, write};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links_corpus.txt");

pub(crate) struct Entry {
    pub(crate) link: String,
    /// Its canonical form.
    pub(crate) canonical: String,
    /// Ids of the sentences about it, in order.
    pub(crate) notices: String,
}

/// Three lines each: the link, `= ` and its canonical form, `! ` and the sentences' ids. `# ` begins a comment.
pub(crate) fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(FILE).expect("the corpus is in the repository");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    let strip = |line: &str, mark: &str| line.strip_prefix(mark).unwrap_or("").trim().to_owned();
    lines
        .chunks(3)
        .map(|lines| match lines {
            [link, canonical, notices] => {
                Entry { link: (*link).to_owned(), canonical: strip(canonical, "="), notices: strip(notices, "!") }
            }
            _ => panic!("an entry of the corpus has three lines: {lines:?}"),
        })
        .collect()
}

/// `BLESS=1` rewrites what is expected, which only a release that breaks links on purpose may do.
#[test]
fn p87_released_links_open() {
    if std::env::var_os("BLESS").is_some() {
        bless();
    }
    for entry in entries() {
        let link = parse(&entry.link);
        assert_eq!(unpacked(&write(&link)), unpacked(&entry.canonical), "canonical form of {}", entry.link);
        assert_eq!(notice_ids(&entry.link), entry.notices, "sentences about {}", entry.link);
        assert_eq!(parse(&entry.canonical).spec, link.spec, "{}", entry.link);
    }
}

/// A link without its packed world, whose compression may change (what it unpacks to may not).
fn unpacked(link: &str) -> Vec<&str> {
    link.split('&').map(|piece| if piece.starts_with("world=") { "world" } else { piece }).collect()
}

fn notice_ids(link: &str) -> String {
    let ids: Vec<String> = parse(link).notices.into_iter().map(|notice| notice.id).collect();
    ids.join(" ")
}

fn bless() {
    let text = std::fs::read_to_string(FILE).expect("the corpus is in the repository");
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("= ") && *line != "=" && !line.starts_with('!')) {
        out.push_str(line);
        out.push('\n');
        if !line.is_empty() && !line.starts_with("# ") {
            let expected = format!("= {}\n! {}", write(&parse(line)), notice_ids(line));
            out.push_str(expected.trim_end());
            out.push('\n');
        }
    }
    std::fs::write(FILE, out).expect("the corpus can be written");
}
