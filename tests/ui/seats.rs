//! Who plays: the rows of Set-up, a person's turn on the stage, and what the link says of them.

use egui::{Key, Role, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::window::{Window, click, press};

/// High enough for all of Set-up.
const TALL: Vec2 = vec2(1366.0, 2400.0);

fn link(window: &Window) -> String {
    window.status()["link"].as_str().unwrap_or_default().to_owned()
}

fn choose(window: &mut Window, field: &str, entry: &str) {
    window.harness.get_by_role_and_label(Role::ComboBox, field).click();
    window.frames(3);
    window.harness.get_by_role_and_label(Role::MenuItem, entry).click();
    window.frames(8);
}

#[test]
fn a_seat_is_chosen_and_stands_in_the_link() {
    let mut window = Window::open("#env=pellet&algo=qmix&seed=7", TALL, egui::Theme::Dark, "en");
    window.frames(8);
    choose(&mut window, "Agent 2 is played by", "Idle (script)");
    assert!(link(&window).contains("seats=learner,idle"), "{}", link(&window));
    assert!(window.harness.query_all_by_label("scripted").next().is_some(), "it is labelled");
    choose(&mut window, "Agent 2 is played by", "Learner");
    assert!(!link(&window).contains("seats"), "{}", link(&window));
}

#[test]
fn one_press_lets_one_agent_learn() {
    let mut window = Window::open("#env=pellet&algo=iql&seed=7", TALL, egui::Theme::Light, "en");
    window.frames(8);
    window.harness.get_by_role_and_label(Role::Button, "Only agent 1 learns").click();
    window.frames(8);
    assert!(link(&window).contains("seats=learner,frozen"), "{}", link(&window));
    window.harness.get_by_role_and_label(Role::Button, "Only agent 1 learns").click();
    window.frames(8);
    assert!(!link(&window).contains("seats"), "pressed again, everyone learns: {}", link(&window));
    window.harness.get_by_role_and_label(Role::Button, "Only agent 1 learns").click();
    window.frames(8);
    // The last learner may be taken, too: then nothing is learned, and that is said.
    choose(&mut window, "Agent 1 is played by", "Frozen");
    assert!(link(&window).contains("seats=frozen,frozen"), "{}", link(&window));
    assert!(window.harness.query_all_by_label_contains("Nobody learns here").next().is_some());
}

#[test]
fn a_person_moves_with_keys_and_buttons() {
    let link = "#env=pellet&algo=qmix&seats=learner,human&seed=7";
    let mut window = Window::open(link, TALL, egui::Theme::Dark, "en");
    window.frames(8);
    assert!(window.harness.query_all_by_label_contains("agent 2 waits for you").next().is_some());
    let stands = |window: &Window| (window.status()["stageStep"].as_u64(), window.status()["envSteps"].as_u64());
    assert_eq!(stands(&window), (Some(0), Some(0)));
    press(&mut window, Key::S);
    window.frames(10);
    assert_eq!(stands(&window), (Some(1), Some(0)), "S is a move now, no env step of training");
    window.harness.get_by_role_and_label(Role::Button, "agent 2: stay").click();
    window.frames(12);
    assert_eq!(stands(&window), (Some(2), Some(0)));
}

/// Teams that have played all their episodes.
fn means(window: &Window) -> usize {
    let is_mean = |text: &String| text.split(" ± ").filter_map(|number| number.parse::<f32>().ok()).count() == 2;
    let texts = window.harness.query_all_by_label_contains(" ± ");
    texts.filter_map(|node| node.accesskit_node().value()).filter(is_mean).count()
}

/// The scripts play when someone looks, and show what `docs/scripts.md` has for that seed; learners wait for a press,
/// then stand beside them. What this world cannot have is named.
#[test]
fn the_teams_are_compared_over_the_same_thousand_episodes() {
    let link = "#env=pellet&algo=qmix&seed=0&budget=2000&view=teams";
    let mut window = Window::open(link, TALL, egui::Theme::Light, "en");
    let frames_until = |window: &mut Window, what: &str, holds: fn(&Window) -> bool| {
        for _ in 0..600 {
            if holds(window) {
                return;
            }
            window.frames(5);
        }
        panic!("never: {what}");
    };
    let count = |window: &Window, name: &str| window.harness.query_all_by_label_contains(name).count();
    frames_until(&mut window, "all scripts have played", |window| means(window) == 4);
    let document = include_str!("../../docs/scripts.md");
    for mean in ["5.88 ± 0.28", "3.42 ± 0.13", "3.33 ± 0.12", "3.68 ± 0.14", "3.00"] {
        assert!(document.contains(mean) && count(&window, mean) > 0, "{mean}");
    }
    assert!(count(&window, "written into the scripts") > 0);
    assert_eq!(count(&window, "not trained"), 3);
    click(&mut window, "Train and compare");
    frames_until(&mut window, "all learners have played", |window| means(window) == 7);
    assert_eq!(count(&window, "Train and compare"), 0, "there is nothing left to train");
}

/// On a board players meet, so the view shows matches: three scripts, from either seat.
#[test]
fn p51_matches_stand_side_by_side_for_both_seats() {
    let open = |games: u32| {
        let link = format!("#env=tictactoe&algo=ippo&seed=0&budget=2048&match_games={games}&view=teams");
        let mut window = Window::open(&link, TALL, egui::Theme::Light, "en");
        window.frames(8);
        window
    };
    let count = |window: &Window, name: &str| window.harness.query_all_by_label_contains(name).count();
    assert!(count(&open(0), "play their matches at each evaluation") > 0);
    let mut window = open(20);
    window.harness.get_by_role_and_label(Role::Button, "Run").click();
    let is_table = |window: &Window| {
        let texts = window.harness.query_all_by_label_contains(" / ");
        texts.filter_map(|node| node.accesskit_node().value()).filter(|text| text.ends_with(" %")).count() == 6
    };
    for _ in 0..600 {
        if is_table(&window) {
            break;
        }
        window.frames(5);
    }
    assert!(is_table(&window) && count(&window, "As second player") > 0);
    // Beside it snapshots play each other, from the untrained one on.
    for _ in 0..600 {
        if count(&window, " second: ") >= 4 {
            break;
        }
        window.frames(5);
    }
    assert!(count(&window, "Env step 0 first against env step") >= 2);
    assert!(count(&window, "Snapshots of this run against each other") > 0);
}
