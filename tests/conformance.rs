//! `tandem conformance` on the trajectories of the reference implementations: every file's verdict, that it sees a single
//! changed digit of every quantity, and what it says of files that are none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/core/tests/golden");

/// One changed number each: file, pointer, and the word that the failure names.
const CHANGES: &[(&str, &str, &str)] = &[
    ("connect_four_v3_misc", "/episodes/0/steps/5/obs", "obs of"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/mask", "mask of"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/others/player_0/obs", "obs of player_0"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/others/player_0/mask", "mask of player_0"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/last/0", "last"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/last/1", "flags"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/agent", "selection"),
    ("connect_four_v3_misc", "/episodes/0/steps/5/action", "step"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/rewards/player_0", "after.rewards of player_0"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/cumulative/player_0", "after.cumulative of player_0"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/term/player_1", "after.term of player_1"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/trunc/player_1", "after.trunc of player_1"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/selection", "selection"),
    ("connect_four_v3_misc", "/episodes/4/steps/6/after/agents/1", "agents"),
    ("connect_four_v3_misc", "/episodes/4/agents/0", "agents"),
    ("tictactoe_v3", "/episodes/3/steps/2/obs", "obs of"),
    ("tictactoe_v3", "/episodes/3/steps/2/after/rewards/player_2", "after.rewards of player_2"),
    ("lbf_registered", "/episodes/0/reset/obs/0/2", "obs of player_0"),
    ("lbf_registered", "/episodes/0/reset/mask/1", "mask of player_1"),
    ("lbf_registered", "/episodes/0/effective/sight", "effective.sight"),
    ("lbf_registered", "/episodes/0/init/players/0/2", "obs of"),
    ("lbf_registered", "/episodes/0/steps/3/obs/1/4", "obs of player_1"),
    ("lbf_registered", "/episodes/0/steps/3/mask/0", "mask of player_0"),
    ("lbf_registered", "/episodes/0/steps/5/rewards/0", "rewards of player_0"),
    ("lbf_registered", "/episodes/0/steps/5/term", "term"),
    ("lbf_registered", "/episodes/0/steps/5/trunc", "trunc"),
    ("lbf_registered", "/episodes/0/steps/3/sim/players/0/1", "sim.players"),
    ("lbf_registered", "/episodes/0/steps/3/sim/food/0/2", "sim.food"),
    ("lbf_custom", "/episodes/13/steps/1/obs/0/1", "obs of player_0"),
    ("pursuit_play", "/episodes/2/reset/obs/1", "obs of pursuer_1"),
    ("pursuit_play", "/episodes/2/reset/state", "state"),
    ("pursuit_play", "/episodes/2/steps/3/obs/1", "obs of pursuer_1"),
    ("pursuit_play", "/episodes/2/steps/3/state", "state"),
    ("pursuit_play", "/episodes/2/steps/3/rewards/2", "rewards of pursuer_2"),
    ("pursuit_play", "/episodes/2/steps/3/live", "live"),
    ("pursuit_play", "/episodes/2/steps/3/term", "term"),
    ("pursuit_play", "/episodes/2/steps/3/sim/pursuers/1/0", "sim.pursuers"),
    ("pursuit_play", "/episodes/2/steps/3/sim/evaders/0/1", "sim.evaders"),
    ("pursuit_play", "/episodes/2/steps/3/sim/gone", "sim.gone"),
    ("pursuit_play", "/episodes/2/init/map", "map"),
    ("pursuit_aec", "/episodes/0/steps/2/after/sim/evaders/0/0", "sim.evaders"),
    ("pursuit_aec", "/episodes/0/steps/2/after/rewards/pursuer_1", "after.rewards of pursuer_1"),
    ("pursuit_aec", "/episodes/0/steps/3/last/0", "last"),
    ("matrix_games", "/episodes/0/steps/1/rewards/1", "rewards of agent_1"),
    ("matrix_games", "/episodes/0/steps/1/obs/1/0", "obs of agent_1"),
    ("matrix_games", "/episodes/0/analytic/vdn_ls_fit/1/1", "vdn_ls_fit"),
    ("matrix_games", "/episodes/0/analytic/max_payoff", "max_payoff"),
    ("matrix_games", "/episodes/9/analytic/true_Q/2B/1/1", "true_Q"),
    ("matrix_games", "/episodes/9/steps/0/obs/0/1", "obs of agent_0"),
    ("simple_spread_v3", "/episodes/0/steps/7/obs/2/9", "obs of agent_2"),
    ("simple_spread_v3", "/episodes/0/steps/7/rewards/1", "rewards of agent_1"),
    ("simple_spread_v3", "/episodes/0/steps/7/sim/pos/1/0", "sim.pos"),
    ("simple_spread_v3", "/episodes/0/steps/7/sim/vel/2/1", "sim.vel"),
    ("simple_spread_v3", "/episodes/0/init/landmark_pos/1/0", "obs of"),
    ("simple_spread_v3", "/episodes/0/steps/24/trunc", "trunc"),
    ("simple_reference_v3", "/episodes/0/steps/3/sim/comm/0/4", "sim.comm"),
    ("simple_tag_v3", "/episodes/0/steps/9/rewards/3", "rewards of agent_0"),
    ("simple_adversary_v3", "/episodes/0/steps/9/obs/0/2", "obs of adversary_0"),
    ("simple_push_v3", "/episodes/0/steps/9/obs/1/5", "obs of agent_0"),
    ("simple_speaker_listener_v4", "/episodes/0/steps/2/obs/1/9", "obs of listener_0"),
    ("simple_spread_v3_aec", "/episodes/1/steps/4/obs/0", "obs of"),
    ("simple_spread_v3_continuous", "/episodes/0/steps/3/actions/0/1", "obs of"),
];

fn conformance(folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.arg("conformance").arg(folder).env("LC_ALL", "C").stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for files");
    folder
}

fn document(file: &str) -> Value {
    let text = fs::read_to_string(format!("{GOLDEN}/{file}.json")).expect("a golden file");
    serde_json::from_str(&text).expect("golden files are JSON")
}

fn write(folder: &Path, name: &str, document: &Value) {
    fs::write(folder.join(format!("{name}.json")), document.to_string()).expect("the file is written");
}

/// One digit, flag or name is another.
fn change(value: &mut Value) {
    let digit = |digit: char| char::from_digit((digit.to_digit(10).expect("a digit") + 1) % 10, 10).expect("a digit");
    *value = match value {
        Value::Bool(flag) => json!(!*flag),
        Value::Number(number) => {
            // The third digit, or the last; a 9 after a 1 stays far from what was there.
            let text = number.to_string();
            let end = text.find('e').unwrap_or(text.len());
            let digits: Vec<usize> =
                text[..end].match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = digits[digits.len().min(3) - 1];
            let mut chars: Vec<char> = text.chars().collect();
            chars[at] = digit(chars[at]);
            serde_json::from_str(&chars.into_iter().collect::<String>()).expect("still a number")
        }
        Value::String(text) if text.chars().all(|c| c.is_ascii_digit()) => {
            let at = text.len() / 2;
            let flipped = |(index, c): (usize, char)| if index == at { digit(c) } else { c };
            json!(text.chars().enumerate().map(flipped).collect::<String>())
        }
        Value::String(text) => json!(format!("{text}0")),
        other => panic!("{other} has no digit"),
    };
}

#[test]
fn the_references_trajectories_are_replayed() {
    let output = conformance(Path::new(GOLDEN));
    let lines = lines(&output);
    println!("{}", lines.join("\n"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files: Vec<String> = fs::read_dir(GOLDEN)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .filter(|name| name.rsplit('.').next() == Some("json"))
        .collect();
    files.sort();
    assert_eq!(lines.len(), files.len());
    for (line, file) in lines.iter().zip(&files) {
        let verdict = if file.starts_with("waterworld") { "UNSUPPORTED" } else { "OK" };
        assert!(line.starts_with(&format!("{verdict} {file} ")), "{line}");
        let is_named = line.contains("left out");
        assert_eq!(is_named, verdict == "UNSUPPORTED", "nothing that is played is left out: {line}");
    }
}

#[test]
fn a_single_changed_digit_of_any_quantity_is_a_failure() {
    let folder = folder("conformance_changes");
    for (at, &(file, pointer, _)) in CHANGES.iter().enumerate() {
        let mut document = document(file);
        change(document.pointer_mut(pointer).unwrap_or_else(|| panic!("{file} has no {pointer}")));
        write(&folder, &format!("{at:02}_{file}"), &document);
    }
    let output = conformance(&folder);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    assert_eq!(lines.len(), CHANGES.len());
    for (line, (file, pointer, named)) in lines.iter().zip(CHANGES) {
        assert!(line.starts_with("FAIL "), "{file}{pointer}: {line}");
        assert!(line.contains(named), "{file}{pointer} is about {named}: {line}");
    }
}

#[test]
fn draws_must_be_consumed_to_the_last() {
    let folder = folder("conformance_draws");
    let draws = |document: &mut Value, change: &dyn Fn(&mut Vec<Value>)| {
        let list = document.pointer_mut("/episodes/0/steps/0/rng/evader_actions").and_then(Value::as_array_mut);
        change(list.expect("evaders draw"));
    };
    let (mut more, mut fewer) = (document("pursuit_play"), document("pursuit_play"));
    draws(&mut more, &|list| list.push(json!(4)));
    draws(&mut fewer, &|list| drop(list.pop()));
    write(&folder, "fewer", &fewer);
    write(&folder, "more", &more);
    let output = conformance(&folder);
    assert_eq!(output.status.code(), Some(1));
    for line in lines(&output) {
        assert!(line.starts_with("FAIL ") && line.contains("rng"), "{line}");
    }
}

#[test]
fn what_is_not_known_is_left_out_by_name_and_what_cannot_be_is_refused() {
    let with = |key: &str, value: Value| {
        let mut document = document("simple_spread_v3");
        document["episodes"].as_array_mut().expect("episodes").truncate(1);
        document["episodes"][0]["params"][key] = value;
        document
    };
    let cases = [
        ("0_wind", with("wind", json!(3)), "UNSUPPORTED ", "wind = 3"),
        ("1_none", with("N", json!(0)), "FAIL ", "N is 0"),
        ("2_negative", with("max_cycles", json!(-5)), "FAIL ", "max_cycles is -5"),
        ("3_ratio", with("local_ratio", json!(1.5)), "FAIL ", "local_ratio is 1.5"),
        ("4_more", with("N", json!(4)), "FAIL ", "there must be 4"),
    ];
    let folder = folder("conformance_params");
    for (name, document, ..) in &cases {
        write(&folder, name, document);
    }
    let output = conformance(&folder);
    assert_eq!(output.status.code(), Some(1));
    for (line, (_, _, verdict, named)) in lines(&output).iter().zip(&cases) {
        assert!(line.starts_with(verdict) && line.contains(named), "{named}: {line}");
    }
}

#[test]
fn a_file_or_folder_that_cannot_be_read_is_named() {
    let folder = folder("conformance_broken");
    let told = |folder: &Path| {
        let output = conformance(folder);
        (output.status.code(), lines(&output).len(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, _, said) = told(&folder.join("nowhere"));
    assert!(code == Some(2) && said.contains("nowhere"), "{said}");
    let (code, _, said) = told(&folder);
    assert!(code == Some(2) && said.contains("conformance_broken"), "{said}");

    let golden = fs::read_to_string(format!("{GOLDEN}/lbf_registered.json")).expect("a golden file");
    let broken: [(&str, &[u8]); 6] = [
        ("bytes", b"\xff\xfe\x00"),
        ("cut", &golden.as_bytes()[..golden.len() / 2]),
        ("empty", b""),
        ("other", b"{\"schema\":\"marlgold/2\",\"env\":\"pursuit_v5\",\"episodes\":[]}"),
        ("shape", b"{\"schema\":\"marlgold/1\",\"env\":\"pursuit_v5\",\"episodes\":[{\"id\":\"a\"}]}"),
        ("word", b"\"marlgold/1\""),
    ];
    for (name, bytes) in broken {
        fs::write(folder.join(format!("{name}.json")), bytes).expect("the file is written");
    }
    fs::copy(format!("{GOLDEN}/tictactoe_v3.json"), folder.join("good.json")).expect("the file is copied");
    let (code, judged, said) = told(&folder);
    assert_eq!((code, judged), (Some(2), 1), "the others are judged all the same: {said}");
    for (name, _) in broken {
        assert!(said.contains(&format!("{name}.json")), "{name}: {said}");
    }
}

/// Values in the wrong places are never a panic.
#[test]
fn any_value_anywhere_is_a_verdict_or_a_sentence() {
    let odd = [json!(null), json!(-1), json!("x"), json!([]), json!({}), json!(1e300), json!([[[7]]])];
    let folder = folder("conformance_odd");
    let files = ["tictactoe_v3", "lbf_custom", "pursuit_aec", "pursuit_play", "matrix_games", "simple_reference_v3"];
    let mut written = 0;
    for file in files {
        let mut whole = document(file);
        for episode in whole["episodes"].as_array_mut().expect("episodes") {
            episode["steps"].as_array_mut().expect("steps").truncate(2);
        }
        let mut places = Vec::new();
        pointers(&whole, String::new(), &mut places);
        for (at, pointer) in places.iter().enumerate().step_by(places.len() / 150 + 1) {
            let mut document = whole.clone();
            *document.pointer_mut(pointer).expect("it was just found") = odd[at % odd.len()].clone();
            write(&folder, &format!("{written:04}_{file}"), &document);
            written += 1;
        }
    }
    let output = conformance(&folder);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}: {said}", output.status);
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(lines(&output).len() + said.lines().count(), written, "every file has its line");
}

/// Every place of a document.
fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, format!("{at}/{index}"), all));
        }
        Value::Object(entries) => entries.iter().for_each(|(key, entry)| pointers(entry, format!("{at}/{key}"), all)),
        _ => {}
    }
    all.push(at);
}
