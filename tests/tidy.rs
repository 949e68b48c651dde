//! House rules that matter, as tests: they read the source as text and name the line that breaks one.
//!
//! The compiler keeps the core crate apart from the page; everything here is what it cannot see: layers inside a crate,
//! who may know the browser, headers, and that `docs/pitfalls.md` names tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Folder or file of a layer below its crate's `src/`, and the layers it may name.
const CORE: &[(&str, &[&str])] = &[
    ("base", &["base"]),
    ("env", &["base", "env"]),
    ("nn", &["base", "nn"]),
    ("marl", &["base", "env", "nn", "marl"]),
    ("experiment", &["base", "env", "nn", "marl", "experiment"]),
];
const PAGE: &[(&str, &[&str])] = &[
    ("platform", &["platform"]),
    ("view", &["platform", "view"]),
    ("app", &["platform", "view", "app"]),
    ("cli", &["platform", "view", "cli"]),
    // The doors: what starts a page, a window, a program.
    ("page", &["platform", "view", "app", "page"]),
    ("desktop", &["platform", "view", "app", "desktop"]),
];

/// Lines a file may have; at half of it one should look for the second idea.
const LONGEST: usize = 500;

/// A text file of the repository.
struct Source {
    /// Path from the root, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// Whether the path lies below one of these, or is one of them.
    fn below(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path == *place || self.path.starts_with(&format!("{place}/")))
    }

    /// Lines without their comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| {
            let code = if line.trim_start().starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) };
            (at + 1, code)
        })
    }

    /// `path:line` of every line of code in which one of the words stands as a word.
    fn lines_with(&self, words: &[&str]) -> Vec<String> {
        self.code()
            .filter(|(_, line)| words.iter().any(|word| has_word(line, word)))
            .map(|(at, line)| format!("{}:{at}: {}", self.path, line.trim()))
            .collect()
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word)
        .any(|(at, _)| !inner(line[..at].chars().next_back()) && !inner(line[at + word.len()..].chars().next()))
}

/// Whether a file of a crate belongs to that layer.
fn is_in(file: &str, layer: &str) -> bool {
    file.strip_prefix(layer).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All text files a person writes with one of these endings.
fn sources(endings: &[&str]) -> Vec<Source> {
    let mut paths = Vec::new();
    for place in ["src", "crates", "xtask", "tests", "web", "docs", "assets", ".ci", ".cargo"] {
        walk(&root().join(place), &mut paths);
    }
    let top = fs::read_dir(root()).expect("the root can be read");
    paths.extend(top.map(|entry| entry.expect("the root can be read").path()).filter(|path| path.is_file()));
    let mut sources: Vec<Source> = paths
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            endings.iter().any(|ending| name.ends_with(ending))
        })
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let path = path.strip_prefix(root()).expect("walked from the root").to_string_lossy().replace('\\', "/");
            Some(Source { path, text })
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder of the repository can be read").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != "target" && name != "node_modules" {
                walk(&path, paths);
            }
        } else {
            paths.push(path);
        }
    }
}

fn rust() -> Vec<Source> {
    sources(&[".rs"])
}

/// Fails with all offending lines, not only the first.
fn none(rule: &str, offences: impl IntoIterator<Item = String>) {
    let offences: Vec<String> = offences.into_iter().collect();
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

#[test]
fn the_walk_sees_the_repository() {
    let files = rust();
    for known in ["src/main.rs", "crates/core/src/lib.rs", "xtask/src/main.rs", "tests/tidy.rs"] {
        assert!(files.iter().any(|file| file.path == known), "{known} was not read");
    }
}

#[test]
fn layers_know_only_lower_layers() {
    let mut offences = Vec::new();
    for (base, layers) in [("crates/core/src", CORE), ("src", PAGE)] {
        for file in rust() {
            let Some(rest) = file.path.strip_prefix(&format!("{base}/")) else { continue };
            let Some((_, allowed)) = layers.iter().find(|(name, _)| is_in(rest, name)) else {
                continue;
            };
            for (at, line) in file.code() {
                for piece in line.split("crate::").skip(1) {
                    let named: Vec<&str> = match piece.strip_prefix('{') {
                        Some(list) => {
                            list.split(',').map(|item| item.trim().split("::").next().unwrap_or_default()).collect()
                        }
                        None => {
                            vec![piece.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()]
                        }
                    };
                    for layer in named {
                        let is_layer = layers.iter().any(|(name, _)| *name == layer);
                        if is_layer && !allowed.contains(&layer) {
                            offences.push(format!("{}:{at}: {}", file.path, line.trim()));
                        }
                    }
                }
            }
        }
    }
    none("a lower layer names an upper one", offences);
}

#[test]
fn every_folder_of_a_crate_is_a_known_layer() {
    for (base, layers) in [("crates/core/src", CORE), ("src", PAGE)] {
        let entries = fs::read_dir(root().join(base)).expect("the crate can be read");
        let folders = entries.map(|entry| entry.expect("the crate can be read").path()).filter(|path| path.is_dir());
        let unknown = folders
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .filter(|name| layers.iter().all(|(layer, _)| layer != name));
        none("a folder without a line in the table of layers", unknown.map(|name| format!("{base}/{name}")));
    }
}

#[test]
fn only_the_platform_knows_the_browser() {
    let allowed = ["src/platform", "src/page.rs", "src/main.rs", "xtask", "tests/tidy.rs"];
    let files = rust().into_iter().filter(|file| !file.below(&allowed));
    let words = ["web_sys", "js_sys", "wasm_bindgen", "wasm_bindgen_futures"];
    none(
        "the browser is known outside src/platform, page.rs and main.rs",
        files.flat_map(|file| file.lines_with(&words)),
    );
}

#[test]
fn few_places_know_the_target() {
    let allowed = [
        "crates/core/src/base/lanes.rs",
        "crates/core/src/base/word.rs",
        "src/platform",
        "src/lib.rs",
        "src/main.rs",
        "tests/tidy.rs",
    ];
    let files = rust().into_iter().filter(|file| !file.below(&allowed));
    none("code depends on the target", files.flat_map(|file| file.lines_with(&["target_arch", "target_family"])));
}

#[test]
fn only_experiments_frames_and_settings_travel() {
    // A frame goes to the page as it is; an algorithm's settings and a script's name are parts of the experiment that a
    // link describes.
    let allowed = [
        "crates/core/src/experiment",
        "crates/core/src/env/api.rs",
        "crates/core/src/env/foraging/spec.rs",
        "crates/core/src/env/board/spec.rs",
        "crates/core/src/env/frame.rs",
        "crates/core/src/env/particles/spec.rs",
        "crates/core/src/env/pursuit/spec.rs",
        "crates/core/src/env/script.rs",
        "crates/core/src/marl/seats.rs",
        "crates/core/src/marl/settings.rs",
    ];
    let files = rust().into_iter().filter(|file| file.below(&["crates/core/src"]) && !file.below(&allowed));
    none("serde outside experiment", files.flat_map(|file| file.lines_with(&["serde", "Serialize", "Deserialize"])));
}

#[test]
fn no_algorithm_names_an_engine() {
    let algorithms = rust().into_iter().filter(|file| {
        let rest = file.path.strip_prefix("crates/core/src/marl/").unwrap_or_default();
        ["iql.rs", "vdn.rs", "qmix.rs", "ippo.rs", "mappo.rs", "coma.rs"].contains(&rest)
    });
    let files: Vec<Source> = algorithms.collect();
    assert_eq!(files.len(), 6);
    let words = ["cpu", "gpu", "wgpu", "webgpu", "engine", "Engine", "CpuEngine", "GpuEngine"];
    none("an algorithm names an engine", files.iter().flat_map(|file| file.lines_with(&words)));
}

#[test]
fn one_file_knows_a_device() {
    let knows = |file: &Source| file.below(&["tests"]) || file.path == "crates/core/src/nn/gpu.rs";
    let files = rust().into_iter().filter(|file| !knows(file));
    none("wgpu outside the engine of devices", files.flat_map(|file| file.lines_with(&["wgpu"])));
}

#[test]
fn every_file_says_what_it_holds() {
    none("no `//!` at the top", rust().into_iter().filter(|file| !file.text.starts_with("//!")).map(|file| file.path));
}

#[test]
fn no_file_holds_two_ideas() {
    let long =
        rust().into_iter().map(|file| (file.text.lines().count(), file.path)).filter(|(lines, _)| *lines > LONGEST);
    none(&format!("longer than {LONGEST} lines"), long.map(|(lines, path)| format!("{path}: {lines}")));
}

#[test]
fn nothing_is_left_for_later() {
    let files = sources(&[".rs", ".mjs", ".js", ".css", ".html", ".toml", ".wgsl"]);
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.path != "tests/tidy.rs") {
        for (at, line) in file.text.lines().enumerate() {
            let marked =
                ["TODO", "FIXME", "XXX", "todo!", "unimplemented!", "#[ignore", "test.skip", "test.todo", "test.only"]
                    .iter()
                    .any(|mark| line.contains(mark));
            // clippy's own lint is called so.
            if marked && !(file.path == "Cargo.toml" && line.starts_with("todo =")) {
                offences.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    none("unfinished", offences);
}

#[test]
fn the_repository_speaks_of_itself_alone() {
    let endings = [".rs", ".mjs", ".js", ".css", ".html", ".toml", ".md", ".ron", ".json", ".wgsl", "run"];
    let outside = [concat!("../", "shared"), concat!("/work", "/"), concat!("/tmp/", "wt")];
    let files = sources(&endings);
    let lines = files.iter().flat_map(|file| {
        let named = file.text.lines().enumerate().filter(|(_, line)| outside.iter().any(|place| line.contains(place)));
        named.map(|(at, line)| format!("{}:{}: {}", file.path, at + 1, line.trim()))
    });
    none("a path outside the repository", lines);
}

#[test]
fn the_boot_page_speaks_both_languages() {
    let boot = fs::read_to_string(root().join("web/boot.js")).expect("the boot script is there");
    let keys = |language: &str| -> Vec<String> {
        let table = boot.split(&format!("\n  {language}: {{\n")).nth(1).expect("the language has a table");
        let lines = table.lines().take_while(|line| *line != "  },");
        lines.filter_map(|line| Some(line.trim().split_once(": ")?.0.to_owned())).collect()
    };
    let english = keys("en");
    assert!(english.len() > 10, "the table was read: {english:?}");
    assert_eq!(english, keys("zh"));
}

#[test]
fn the_boot_page_wears_the_themes() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a file of the page");
    let (style, index) = (read("web/style.css"), read("index.html"));
    for (theme, start, scheme) in [("light", ":root {", "light"), ("dark", ":root.dark {", "dark")] {
        let ron = read(&format!("assets/theme/{theme}.ron"));
        let colours = |key: &str| -> Vec<String> {
            let line = ron.lines().find(|line| line.trim().starts_with(&format!("{key}:"))).expect("a colour");
            line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let block = style.split(start).nth(1).and_then(|rest| rest.split('}').next()).expect("a block of colours");
        let pairs = [
            ("ground", "page", 0),
            ("card", "card", 0),
            ("line", "line", 0),
            ("text", "text", 0),
            ("quiet", "text_dim", 0),
            ("accent", "accent", 0),
            ("on-accent", "on_accent", 0),
            ("agent-one", "agents", 0),
            ("agent-two", "agents", 1),
            ("pellet", "pellet", 0),
        ];
        for (property, key, index) in pairs {
            let wanted = format!("--{property}: {};", colours(key)[index]);
            assert!(block.contains(&wanted), "{theme}: web/style.css lacks `{wanted}`");
        }
        let meta = format!("(prefers-color-scheme: {scheme})\" content=\"{}\"", colours("page")[0]);
        assert!(index.contains(&meta), "index.html lacks `{meta}`");
    }
}

#[test]
fn pitfalls_name_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/pitfalls.md")).expect("docs/pitfalls.md lists pitfall → test");
    let sources = sources(&[".rs", ".mjs"]);
    // A browser test may go on with the case it is run for.
    let marks = |name: &str| [format!("fn {name}("), format!("test('{name}"), format!("test(`{name}")];
    let exists = |name: &str| sources.iter().any(|file| marks(name).iter().any(|mark| file.text.contains(mark)));
    let mut offences = Vec::new();
    let mut rows = 0;
    for line in text.lines().filter(|line| line.starts_with("| P")) {
        rows += 1;
        let cell = line.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            offences.push(format!("no test: {line}"));
        }
        offences
            .extend(names.iter().filter(|name| !exists(name)).map(|name| format!("`{name}` does not exist: {line}")));
    }
    none("docs/pitfalls.md", offences);
    assert!(rows > 0, "rows start with `| P`");
}
