//! `docs/links.md` says what the tables say.

use std::fmt::Write;

use tandem_core::experiment::knobs::{ALSO, Group, KNOBS, Kind, Knob};
use tandem_core::experiment::link::{MAX_LENGTH, MAX_STEP, VERSION};
use tandem_core::experiment::presets::{PresetGroup, presets};
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec};

use crate::texts::{Table, table};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/links.md");

const HEAD: &str = "\
# Experiment links

<!-- Written by `BLESS=1 cargo test -p tandem-core --test links document` from the knob table. Do not edit. -->

An experiment is the part of the page's address after `#`:

```text
#v=1&env=pellet&size=4x4&algo=qmix&lr=5e-4&seed=7&view=qtot
```

- Order does not matter, nor does case, except in the value of `world`. Signs may be percent-encoded. The page also
  takes a whole address.
- What is not given has the default of its environment and algorithm. Share writes `v`, `env`, `algo` and `seed` always,
  else only what differs from the defaults and has an effect.
- A number out of range is brought to the nearest allowed one, what cannot be read becomes the default, of a key given
  twice the last holds. The page says so each time, naming the key, what was given and what is allowed.
- A key that this release does not know is kept, reported, and written back when sharing.
- An algorithm that does not suit the world is replaced by IQL, with the reason.
- Links stay readable for ever: keys are never renamed, ranges never shrink, and once a version is released its defaults
  never change (other defaults need another `v`). `crates/core/tests/links_corpus.txt` holds links that must open.
";

const WORLD: &str = "\
`world` is one version byte (1) and a raw deflate stream of a [postcard](https://postcard.jamesmunns.com/wire-format)
value, in URL-safe base64 without padding. The value is one of:

| variant | content |
| --- | --- |
| 0 | pellet map: list of cells, row by row (0 free, 1 wall, 2 free but never a pellet); list of the agents' start cells, used where `start=placed` |
| 1 | payoff table of `game=custom`: rows, columns, list of cells (payoff of agent 1, payoff of agent 2), row by row |
| 2 | two-step game: four payoffs of state 2A, four of state 2B, row by row |

A world that cannot be unpacked, does not fit the size, or belongs to another environment is left out, and the page says
so.
";

/// `BLESS=1` rewrites the document.
#[test]
fn the_document_says_what_the_tables_say() {
    let expected = document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, &expected).expect("docs/links.md can be written");
    }
    let found = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(found == expected, "docs/links.md is out of date: BLESS=1 cargo test -p tandem-core --test links document");
}

fn document() -> String {
    let texts = table();
    let mut out = HEAD.to_owned();
    let line = |out: &mut String, text: &str| writeln!(out, "{text}").expect("strings grow");
    line(&mut out, "\n## Keys of the page\n");
    line(&mut out, "| key | values | |\n| --- | --- | --- |");
    line(&mut out, &format!("| `v` | `{VERSION}` | version of the link |"));
    line(&mut out, &format!("| `step` | 0 … {MAX_STEP} | runs to that update at full speed and pauses there |"));
    line(&mut out, "| `view` | id of a view | the view to open |");
    line(&mut out, "| `lang` | `en` `zh` | language of the page; written only if asked for |");
    line(&mut out, "| `world` | packed | an edited world, see below |");
    for group in Group::ALL {
        line(&mut out, &format!("\n## {}\n", english(&texts, group.text_id())));
        line(&mut out, "| key | name | values | default | |\n| --- | --- | --- | --- | --- |");
        for knob in KNOBS.iter().filter(|knob| knob.group == group) {
            line(&mut out, &row(&texts, knob));
        }
    }
    line(
        &mut out,
        &format!(
            "\n*live*: can be changed while training; such a run is no longer that of its link.\n\n## Edited worlds\n\n{WORLD}"
        ),
    );
    line(&mut out, "## Names used elsewhere\n");
    let pairs: Vec<String> = ALSO.iter().map(|(name, key)| format!("`{name}` is `{key}`")).collect();
    line(
        &mut out,
        &format!(
            "What reference implementations call a setting is read, too: `n` is `agents` (in adversary the good ones, so one less), {}.\n",
            pairs.join(", ")
        ),
    );
    line(
        &mut out,
        &format!("## Experiments of the menu\n\nA preset is a link, at most {MAX_LENGTH} characters long.\n"),
    );
    for group in PresetGroup::ALL {
        line(&mut out, &format!("**{}**\n", english(&texts, group.text_id())));
        for preset in presets().iter().filter(|preset| preset.group == group) {
            line(&mut out, &format!("- {}: `{}`", english(&texts, &preset.title_id()), preset.link));
        }
        line(&mut out, "");
    }
    format!("{}\n", out.trim_end())
}

fn row(texts: &Table, knob: &Knob) -> String {
    let name = english(texts, &knob.text_id());
    let values = match knob.kind {
        Kind::Choice { ids, .. } => {
            let name = |id: &&str| format!("`{id}` {}", english(texts, &knob.choice_id(id)));
            ids.iter().map(name).collect::<Vec<_>>().join("; ").replace('|', "\\|")
        }
        _ => knob.allowed().replace('|', "\\|"),
    };
    let live = if knob.live { "*live* " } else { "" };
    let tip = english(texts, &knob.tip_id());
    format!("| `{}` | {name} | {values} | {} | {live}{} |", knob.key, defaults(knob), tip.replace('|', "\\|"))
}

/// The defaults: of the first world that has the setting, then of those where it is another one; of value-based learners
/// and of policy gradients where a knob applies to both.
fn defaults(knob: &Knob) -> String {
    let of = |algo: AlgoChoice| {
        let applies = |env: &EnvChoice| (knob.applies)(&ExperimentSpec::defaults(*env, algo));
        let mut worlds = EnvChoice::ALL.into_iter().filter(applies);
        let first = knob.text(&ExperimentSpec::defaults(worlds.next()?, algo));
        let others = worlds.filter_map(|env| {
            let spec = ExperimentSpec::defaults(env, algo);
            let id = tandem_core::experiment::knobs::knob("env").expect("it is in the table").text(&spec);
            Some(knob.text(&spec))
                .filter(|text| *text != first && knob.key != "env")
                .map(|text| format!(", {id} {text}"))
        });
        Some(first.clone() + &others.collect::<String>())
    };
    match (of(AlgoChoice::Qmix), of(AlgoChoice::Mappo)) {
        (Some(values), Some(policies)) if values != policies && knob.key != "algo" => {
            format!("{values}; policy gradients: {policies}")
        }
        (Some(values), _) => values,
        (None, Some(policies)) => policies,
        (None, None) => knob.text(&ExperimentSpec::default()),
    }
}

fn english(texts: &Table, id: &str) -> String {
    texts.get(id).map_or_else(|| id.to_owned(), |(english, _)| english.clone())
}
