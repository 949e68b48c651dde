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
    let [mut more, mut fewer, mut odd] = std::array::from_fn(|_| document("pursuit_play"));
    draws(&mut more, &|list| list.push(json!(4)));
    draws(&mut fewer, &|list| drop(list.pop()));
    write(&folder, "fewer", &fewer);
    write(&folder, "more", &more);
    draws(&mut odd, &|list| list[0] = json!(9));
    write(&folder, "odd", &odd);
    let output = conformance(&folder);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(lines(&output).len(), 3);
    for line in lines(&output) {
        assert!(line.starts_with("FAIL ") && line.contains("rng"), "{line}");
    }
}

/// A golden file's first episode, cut to five steps, with another value at a place of it.
fn first_with(file: &str, place: &str, value: Value) -> Value {
    let mut document = document(file);
    let episodes = document["episodes"].as_array_mut().expect("episodes");
    episodes.truncate(1);
    episodes[0]["steps"].as_array_mut().expect("steps").truncate(5);
    let (parent, key) = place.rsplit_once('/').expect("a pointer");
    match episodes[0].pointer_mut(parent).expect("the place is there") {
        Value::Array(items) => items[key.parse::<usize>().expect("an index")] = value,
        entries => entries[key] = value,
    }
    document
}

/// Every document's line begins with the verdict and names what it should.
fn judged(name: &str, verdict: &str, code: i32, cases: &[(Value, &str)]) {
    let folder = folder(name);
    for (at, (document, _)) in cases.iter().enumerate() {
        write(&folder, &format!("{at:02}"), document);
    }
    let output = conformance(&folder);
    let lines = lines(&output);
    println!("{}", lines.join("\n"));
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(lines.len(), cases.len());
    for (line, (_, named)) in lines.iter().zip(cases) {
        assert!(line.starts_with(&format!("{verdict} ")) && line.contains(named), "{verdict}, {named}: {line}");
    }
}

/// The reference had the world: a bound of ours is no fault of anybody's.
#[test]
fn parameters_beyond_our_bounds_are_left_out_by_name() {
    let mut wide_layers = first_with("lbf_custom", "/params/grid_observation", json!(true));
    wide_layers["episodes"][0]["params"]["sight"] = json!(33);
    let cases = [
        (first_with("simple_spread_v3", "/params/wind", json!(3)), "wind = 3"),
        (first_with("simple_spread_v3", "/params/N", json!(0)), "N is 0"),
        (first_with("simple_spread_v3", "/params/N", json!(17)), "N is 17"),
        (first_with("simple_spread_v3", "/params/max_cycles", json!(-5)), "max_cycles is -5"),
        (first_with("simple_spread_v3", "/params/max_cycles", json!(10_001)), "max_cycles is 10001"),
        (first_with("simple_spread_v3", "/params/local_ratio", json!(1.5)), "local_ratio is 1.5"),
        (
            first_with("simple_spread_v3", "/params/num_agent_neighbors", json!(u32::MAX)),
            "num_agent_neighbors is 42949",
        ),
        (first_with("simple_tag_v3", "/params/num_obstacles", json!(17)), "num_obstacles is 17"),
        (first_with("pursuit_play", "/params/x_size", json!(40)), "x_size is 40"),
        (first_with("pursuit_play", "/params/n_pursuers", json!(17)), "n_pursuers is 17"),
        (first_with("lbf_custom", "/params/field_size", json!([33, 33])), "field_size is 33"),
        (first_with("lbf_custom", "/params/penalty", json!(-1)), "penalty is -1"),
        (wide_layers, "sight is 33"),
        (first_with("matrix_games", "/params/ep_length", json!(101)), "101"),
        (first_with("matrix_games", "/params/payoff/0/0/0", json!(4096)), "4096"),
    ];
    judged("conformance_bounds", "UNSUPPORTED", 0, &cases);
}

#[test]
fn parameters_that_change_nothing_are_no_obstacle() {
    let far_sighted = |sight: u32| {
        let mut document = first_with("lbf_registered", "/params/sight", json!(sight));
        document["episodes"][0]["effective"]["sight"] = json!(sight);
        document
    };
    let cases = [
        (far_sighted(20), "obs 0"),
        (far_sighted(1_000), "obs 0"),
        (first_with("simple_spread_v3", "/params/max_cycles", json!(1_001)), "rewards"),
        (first_with("simple_spread_v3", "/params/_seed", json!(7)), "rewards"),
        (first_with("simple_push_v3", "/params/_curriculum_stage", json!(1)), "rewards"),
        (first_with("connect_four_v3_misc", "/params/screen_scaling", json!(9)), "mask 0"),
        (first_with("tictactoe_v3", "/params/screen_height", json!(500)), "mask 0"),
    ];
    judged("conformance_harmless", "OK", 0, &cases);
}

#[test]
fn a_start_or_an_action_that_the_world_has_not_is_a_failure() {
    let cases = [
        (first_with("simple_spread_v3", "/params/N", json!(4)), "there must be 4"),
        (first_with("simple_reference_v3", "/init/goal/0", json!(3)), "goal 3: whole numbers from 0 to 2"),
        (first_with("simple_reference_v3", "/init/goal/1", json!(-1)), "goal -1"),
        (first_with("simple_push_v3", "/init/goal", json!("NaN")), "goal NaN"),
        (first_with("simple_push_v3", "/init/goal", json!(0.5)), "goal 0.5"),
        (first_with("simple_spread_v3", "/init/goal", json!(0)), "1 numbers or pairs in goal: there must be 0"),
        (first_with("simple_reference_v3", "/init/agent_comm", json!([0, 0, 0])), "in agent_comm: there must be 20"),
        (first_with("simple_spread_v3_continuous", "/steps/0/actions/1/2", json!("NaN")), "cannot take the action"),
        (first_with("simple_spread_v3_continuous", "/steps/0/actions/1", json!([0, 1])), "cannot take the action"),
    ];
    judged("conformance_starts", "FAIL", 1, &cases);
}

#[test]
fn a_failure_is_told_though_another_episode_is_not_of_the_format() {
    let folder = folder("conformance_half");
    let mut half = document("simple_spread_v3");
    half["episodes"][1]["steps"][0] = json!({});
    write(&folder, "fine_so_far", &half);
    change(half.pointer_mut("/episodes/0/steps/7/rewards/0").expect("a reward"));
    write(&folder, "fails_before", &half);
    let mut fails_after = document("simple_spread_v3");
    fails_after["episodes"][0]["init"]["agent_pos"] = json!([1, 2, 3, 4, 5]);
    change(fails_after.pointer_mut("/episodes/1/steps/7/rewards/0").expect("a reward"));
    write(&folder, "fails_behind", &fails_after);
    let output = conformance(&folder);
    assert_eq!(output.status.code(), Some(2));
    let lines = lines(&output);
    assert_eq!(lines.len(), 2, "a part of a file is no reason for an OK: {lines:?}");
    for (line, file) in lines.iter().zip(["fails_before", "fails_behind"]) {
        assert!(line.starts_with(&format!("FAIL {file}.json ")) && line.contains("rewards of agent_0"), "{line}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(said.contains("init.agent_pos: [1,2,3,4,5]"), "{said}");
}

#[test]
fn a_name_with_a_line_break_stays_on_its_line() {
    let mut failing = first_with("simple_spread_v3", "/id", json!("a\nOK b\u{2028}"));
    change(failing.pointer_mut("/episodes/0/steps/1/rewards/0").expect("a reward"));
    judged("conformance_break", "FAIL", 1, &[(failing, "a\\nOK b\\u{2028}, step 1")]);
    let mut unknown = first_with("simple_spread_v3", "/id", json!("a\r\nb"));
    unknown["env"] = json!("simple\nworld");
    judged("conformance_break", "UNSUPPORTED", 0, &[(unknown, "a\\r\\nb (the environment simple\\nworld")]);
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
    let no_step = first_with("lbf_registered", "/steps", json!([])).to_string();
    let broken: [(&str, &[u8]); 8] = [
        ("bytes", b"\xff\xfe\x00"),
        ("cut", &golden.as_bytes()[..golden.len() / 2]),
        ("empty", b""),
        ("no_episode", b"{\"schema\":\"marlgold/1\",\"env\":\"pursuit_v5\",\"episodes\":[]}"),
        ("no_step", no_step.as_bytes()),
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
    let files = [
        "tictactoe_v3",
        "connect_four_v3_misc",
        "lbf_custom",
        "pursuit_aec",
        "pursuit_play",
        "matrix_games",
        "simple_reference_v3",
        "simple_spread_v3_continuous",
    ];
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
    let told = [lines(&output).join("\n"), said.into_owned()].concat();
    for number in 0..written {
        assert!(told.contains(&format!("{number:04}_")), "file {number} is judged");
    }
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
