//! The whole page on an inline session: what a person can press, reach by keyboard, and see at the sizes people have.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use egui::{Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::window::{FakeHost, Mortal, Window, click, focused, press};

/// Roles of what can be pressed.
const PRESSABLE: [egui::Role; 8] = [
    egui::Role::Button,
    egui::Role::RadioButton,
    egui::Role::Tab,
    egui::Role::ComboBox,
    egui::Role::CheckBox,
    egui::Role::Slider,
    egui::Role::SpinButton,
    egui::Role::MenuItem,
];

#[test]
fn without_a_link_the_first_experiment_waits_at_update_0() {
    let window = Window::wide("");
    let status = window.status();
    assert_eq!(status["state"], "paused");
    assert_eq!(status["update"], 0);
    assert_eq!(status["link"], "#v=1&env=pellet&algo=qmix&seed=7&view=qtot");
    assert!(status["ready"].as_bool().is_some_and(|ready| ready), "the untrained world is on the stage: {status}");
    assert!(window.outside.borrow().shown.is_empty(), "opening writes nothing into the address bar");
}

#[test]
fn the_keyboard_runs_the_transport() {
    let mut window = Window::wide("");
    press(&mut window, egui::Key::Space);
    assert_eq!(window.status()["state"], "running");
    window.frames(30);
    press(&mut window, egui::Key::Space);
    window.frames(30);
    assert_eq!(window.status()["state"], "paused");
    let before = window.status()["update"].as_u64().expect("a number");
    assert!(before > 0, "training happened");
    press(&mut window, egui::Key::U);
    window.frames(10);
    assert_eq!(window.status()["update"].as_u64(), Some(before + 1));
    let env_steps = window.status()["envSteps"].as_u64();
    press(&mut window, egui::Key::S);
    window.frames(10);
    assert!(window.status()["envSteps"].as_u64() > env_steps);
    press(&mut window, egui::Key::R);
    window.frames(10);
    assert_eq!(window.status()["update"], 0);
}

#[test]
fn typing_into_a_field_is_not_a_command() {
    let mut window = Window::wide("");
    window.harness.get_by_role_and_label(egui::Role::Button, "Learning rate").click();
    window.frames(3);
    for text in ["5e-4", " "] {
        window.harness.event(egui::Event::Text(text.to_owned()));
    }
    window.harness.key_press(egui::Key::Space);
    window.frames(3);
    assert_eq!(window.status()["state"], "paused", "space went into the field");
    press(&mut window, egui::Key::Enter);
    window.frames(6);
    assert!(window.status()["link"].as_str().is_some_and(|link| link.contains("lr=5e-4")), "{}", window.status());
}

#[test]
fn every_control_is_reached_with_tab() {
    let mut window = Window::wide("");
    // What moves changes its name: a control is to be found again by the name it was reached by.
    click(&mut window, "Hold");
    let mut reached = BTreeSet::new();
    for _ in 0..120 {
        window.harness.key_press(egui::Key::Tab);
        window.frames(1);
        let name = focused(&window);
        // A stop that nothing marks would swallow the shortcuts unseen.
        assert!(name.as_ref().is_none_or(|name| pressable(&window).contains(name)), "{name:?} is no control");
        reached.extend(name);
    }
    let missed: Vec<String> = pressable(&window).into_iter().filter(|name| !reached.contains(name)).collect();
    assert!(missed.is_empty(), "not reached: {missed:?}");
}

/// Names of all that can be pressed now.
fn pressable(window: &Window) -> BTreeSet<String> {
    let nodes = window.harness.root().children_recursive();
    let enabled =
        nodes.filter(|node| PRESSABLE.contains(&node.accesskit_node().role()) && !node.accesskit_node().is_disabled());
    enabled.filter_map(|node| node.accesskit_node().label()).collect()
}

#[test]
fn a_restart_edit_can_be_taken_back_to_the_very_update() {
    let mut window = Window::wide("");
    press(&mut window, egui::Key::Space);
    window.frames(40);
    press(&mut window, egui::Key::Space);
    window.frames(5);
    // A pause may fall inside an update; a run is repeated to an update's end.
    press(&mut window, egui::Key::U);
    window.frames(10);
    let before = window.status();
    assert!(before["update"].as_u64() > Some(5));
    click(&mut window, "New seed");
    window.frames(10);
    assert_eq!(window.status()["update"], 0);
    assert_eq!(window.status()["seed"], "1");
    assert_eq!(window.status()["kept"], 1, "the earlier curve stays as a thin line");
    click(&mut window, "Undo");
    for _ in 0..100 {
        window.frames(5);
        if window.status()["update"] == before["update"] && window.status()["state"] == "paused" {
            break;
        }
    }
    assert_eq!(window.status()["traceHash"], before["traceHash"], "the same run, bit for bit");
}

#[test]
fn the_offer_to_undo_ends() {
    let mut window = Window::wide("");
    click(&mut window, "New seed");
    assert!(window.harness.query_by_label("Undo").is_some());
    window.outside.borrow_mut().seconds += 11.0;
    window.frames(2);
    assert!(window.harness.query_by_label("Undo").is_none());
}

#[test]
fn a_live_change_is_told_in_the_status_and_by_share() {
    let mut window = Window::wide("");
    press(&mut window, egui::Key::Space);
    window.frames(40);
    window.harness.get_by_role_and_label(egui::Role::Button, "Learning rate").click();
    window.frames(3);
    window.harness.event(egui::Event::Text("2e-4".to_owned()));
    window.frames(1);
    press(&mut window, egui::Key::Enter);
    window.frames(30);
    assert!(window.status()["update"].as_u64() > Some(0), "training goes on");
    assert!(window.harness.query_by_label_contains("changed at update").is_some());
    click(&mut window, "Share");
    assert!(window.harness.query_by_label_contains("will not repeat this run").is_some());
}

#[test]
fn share_copies_the_link_and_selects_it_where_copying_is_refused() {
    let mut window = Window::wide("#v=1&env=two_step&algo=vdn&seed=3&later=7");
    click(&mut window, "Share");
    click(&mut window, "Copy link");
    let link = "#v=1&env=two_step&algo=vdn&seed=3&view=qtot&later=7";
    assert_eq!(window.outside.borrow().copied, [format!("https://tandem.test/{link}")]);
    assert_eq!(window.outside.borrow().shown, [link.to_owned()], "and into the address bar, once");
    assert!(window.harness.query_by_label("Copied").is_some());
    window.outside.borrow_mut().can_copy = false;
    click(&mut window, "Copy link");
    window.frames(4);
    assert_eq!(focused(&window).as_deref(), Some("Link"));
    assert!(window.harness.query_by_label_contains("the link is selected").is_some());
}

#[test]
fn a_pasted_link_is_loaded_and_its_mistakes_are_told() {
    let mut window = Window::wide("");
    let link = "#v=1&env=matrix&algo=iql&gamma=7&lang=zh&view=nowhere";
    window.outside.borrow_mut().links.push(link.to_owned());
    window.frames(8);
    let status = window.status();
    assert_eq!(status["lang"], "zh");
    let notices: Vec<&str> = status["notices"].as_array().expect("a list").iter().filter_map(|n| n.as_str()).collect();
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices.iter().any(|notice| notice.contains("gamma") && notice.contains('7')));
    assert!(notices.iter().any(|notice| notice.contains("nowhere") && notice.contains("qtot")));
    assert!(!window.outside.borrow().stored.contains_key("lang"), "a link's language is not stored");
}

#[test]
fn choices_are_kept_and_never_override_a_link() {
    let mut window = Window::wide("");
    click(&mut window, "中文");
    assert_eq!(window.status()["lang"], "zh");
    assert_eq!(window.outside.borrow().stored["lang"], "zh");
    window.outside.borrow_mut().links.push("#v=1&env=pellet&lang=en".to_owned());
    window.frames(6);
    assert_eq!(window.status()["lang"], "en");
    assert_eq!(window.outside.borrow().stored["lang"], "zh");
}

#[test]
fn an_algorithm_that_cannot_learn_here_stays_in_the_list_with_the_reason() {
    let mut window = Window::wide("#v=1&env=pellet&reward=first&start=opposite&algo=iql&seed=7");
    window.harness.get_by_role_and_label(egui::Role::ComboBox, "Algorithm").click();
    window.frames(3);
    for name in ["VDN", "QMIX"] {
        let entry = window.harness.get_by_role_and_label(egui::Role::MenuItem, name);
        assert!(entry.accesskit_node().is_disabled(), "{name} can be pressed");
    }
    assert!(!window.harness.get_by_role_and_label(egui::Role::MenuItem, "IQL").accesskit_node().is_disabled());
}

#[test]
fn every_experiment_and_every_view_opens_in_both_languages() {
    use tandem_core::experiment::presets::presets;
    for language in ["en", "zh"] {
        for preset in presets() {
            let mut window = Window::open(&preset.link, vec2(1366.0, 640.0), egui::Theme::Light, language);
            assert_eq!(window.status()["notices"], serde_json::json!([]), "{}", preset.id);
            for view in tandem::view::registry::views() {
                let texts = tandem::view::text::Texts {
                    lang: tandem::view::text::Lang::from_tag(language).unwrap_or_default(),
                };
                window.harness.get_by_role_and_label(egui::Role::Tab, texts.t(view.title())).click();
                window.frames(4);
                assert_eq!(window.status()["view"], view.id().0);
                no_raw_ids(&window, &preset.id);
            }
        }
    }
}

/// A text without an entry shows its id.
fn no_raw_ids(window: &Window, place: &str) {
    for node in window.harness.root().children_recursive() {
        for text in [node.accesskit_node().label(), node.accesskit_node().value()].into_iter().flatten() {
            let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            let parts: Vec<&str> = text.split('.').collect();
            assert!(parts.len() < 2 || !parts.iter().all(|part| is_word(part)), "{place} shows the id {text}");
        }
    }
}

#[test]
fn in_the_smallest_windows_everything_is_whole() {
    let inside = |window: &Window, name: &str, size: Vec2| {
        let button = window.harness.query_by_role_and_label(egui::Role::Button, name);
        let rect = button.unwrap_or_else(|| window.harness.get_by_label_contains(name)).rect();
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size).expand(0.5);
        assert!(screen.contains_rect(rect), "{name} is at {rect:?} in {size}");
    };
    let size = vec2(1366.0, 640.0);
    let window = Window::open("", size, egui::Theme::Light, "en");
    for name in ["Run", "Env step", "Restart training", "New seed", "Hold", "Restart episode", "Grid world", "IGM"] {
        inside(&window, name, size);
    }
    inside(&window, "mean steps until the last pellet", size);

    let size = vec2(390.0, 844.0);
    let mut window = Window::open("", size, egui::Theme::Light, "en");
    for name in ["Run", "Env step", "Update", "Grid world"] {
        inside(&window, name, size);
    }
    for tab in ["Q_tot", "Returns", "Set-up"] {
        click(&mut window, tab);
        for name in ["Run", "Env step", "Update"] {
            inside(&window, name, size);
        }
    }
}

#[test]
fn on_a_phone_everything_to_press_is_large_enough_for_a_finger() {
    for link in ["", "#v=1&env=matrix&algo=iql", "#v=1&env=matrix&game=prisoners_dilemma&algo=iql", "#v=1&env=two_step"]
    {
        let mut window = Window::open(link, vec2(390.0, 844.0), egui::Theme::Light, "en");
        for tab in ["Set-up", "Q_tot", "Returns", "Stage"] {
            window.harness.get_by_role_and_label(egui::Role::Tab, tab).click_accesskit();
            window.frames(4);
            all_large_enough(&window, &format!("{link} {tab}"));
        }
        click(&mut window, "edit");
        all_large_enough(&window, &format!("{link} while editing"));
    }
}

fn all_large_enough(window: &Window, place: &str) {
    for node in window.harness.root().children_recursive() {
        let node = node.accesskit_node();
        let Some(rect) = node.bounding_box().filter(|_| PRESSABLE.contains(&node.role())) else { continue };
        // Layout rounds to pixels.
        let is_enough = rect.width() >= 43.9 && rect.height() >= 43.9;
        assert!(is_enough, "{place}: {:?} is only {} × {}", node.label(), rect.width(), rect.height());
    }
}

#[test]
fn a_dead_session_is_told_and_started_again() {
    let death = Rc::new(RefCell::new(None));
    let host = FakeHost::default();
    host.0.borrow_mut().links.push("#v=1&env=matrix&algo=vdn&seed=5".to_owned());
    let session = Mortal::new(&death);
    let mut window = Window::with_session(host, Box::new(session), vec2(1366.0, 640.0));
    press(&mut window, egui::Key::Space);
    window.frames(20);
    *death.borrow_mut() = Some("index out of bounds\nstack".to_owned());
    window.frames(3);
    assert!(window.harness.query_by_label_contains("index out of bounds").is_some(), "the reason is on the page");
    assert!(window.harness.query_by_label("stopped").is_some(), "and the status says so");
    click(&mut window, "Start again");
    window.frames(10);
    assert_eq!(window.status()["failure"], serde_json::Value::Null);
    assert_eq!(window.status()["seed"], "5", "the same experiment");
    press(&mut window, egui::Key::Space);
    window.frames(20);
    assert!(window.status()["update"].as_u64() > Some(0), "it trains");
}

#[test]
fn a_finished_run_shows_its_result_and_what_comes_next() {
    let mut window = Window::wide("#v=1&env=matrix&game=sanity&algo=vdn&seed=7&budget=1000");
    press(&mut window, egui::Key::Space);
    for _ in 0..40 {
        window.frames(5);
        if window.status()["state"] == "finished" {
            break;
        }
    }
    assert!(window.harness.query_by_label_contains("Finished after").is_some(), "{}", window.status());
    assert!(window.harness.query_by_label("Env step").is_none(), "the transport is covered, not the stage");
    click(&mut window, "Continue");
    window.frames(5);
    assert_eq!(window.status()["state"], "running");
    for _ in 0..40 {
        window.frames(5);
    }
    click(&mut window, "Next experiment");
    window.frames(5);
    assert_eq!(window.status()["update"], 0);
    assert_eq!(window.outside.borrow().shown.len(), 1, "the next experiment stands in the address bar");
}

#[test]
fn the_lesson_leaves_the_transport_to_use_and_keeps_its_answer_until_asked() {
    let mut window = Window::wide("");
    click(&mut window, "What to try");
    assert!(window.harness.query_by_label("Predict first").is_some());
    assert!(window.harness.query_by_label_contains("The optimum is 3.0").is_none(), "the answer waits");
    click(&mut window, "Show what happens");
    assert!(window.harness.query_by_label_contains("The optimum is 3.0").is_some());
    press(&mut window, egui::Key::Space);
    assert_eq!(window.status()["state"], "running");
    click(&mut window, "What to try");
    assert!(window.harness.query_by_label("Predict first").is_none());
}
