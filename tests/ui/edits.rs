//! Edits and what they leave behind: notes, undo, tools, half-typed values, links and the state of views.

use std::cell::RefCell;
use std::rc::Rc;

use egui::accesskit::Toggled;
use egui::{Event, Key, Modifiers, Pos2, Role, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::window::{FakeHost, Mortal, Window, click, press};

const PHONE: Vec2 = vec2(390.0, 844.0);

fn sized(link: &str, size: Vec2) -> Window {
    Window::open(link, size, egui::Theme::Dark, "en")
}

fn link(window: &Window) -> String {
    window.status()["link"].as_str().unwrap_or_default().to_owned()
}

/// Begins to type `text` into the field called `name`.
fn type_into(window: &mut Window, name: &str, text: &str) {
    window.harness.get_by_role_and_label(Role::Button, name).click();
    window.frames(3);
    window.harness.event(Event::Text(text.to_owned()));
    window.frames(1);
}

fn choose(window: &mut Window, field: &str, entry: &str) {
    window.harness.get_by_role_and_label(Role::ComboBox, field).click();
    window.frames(3);
    window.harness.get_by_role_and_label(Role::MenuItem, entry).click();
    window.frames(8);
}

fn has(window: &Window, name: &str) -> bool {
    window.harness.query_all_by_label_contains(name).next().is_some()
}

/// Presses `key` and holds it for some frames, in which the system repeats it.
fn hold(window: &mut Window, key: Key) {
    for pressed in [true, true, true, false] {
        let modifiers = Modifiers::NONE;
        window.harness.event(Event::Key { key, physical_key: None, pressed, repeat: false, modifiers });
        window.frames(1);
    }
}

#[test]
fn what_was_edited_while_the_session_was_dead_starts_again() {
    let death = Rc::new(RefCell::new(None));
    let host = FakeHost::default();
    host.0.borrow_mut().links.push("#v=1&env=matrix&game=sanity&algo=vdn&seed=5&budget=1000".to_owned());
    let session = Mortal::new(&death);
    let mut window = Window::with_session(host, Box::new(session), vec2(1366.0, 1600.0));
    click(&mut window, "Training speed: 100 updates per second");
    window.frames(30);
    *death.borrow_mut() = Some("index out of bounds".to_owned());
    window.frames(3);
    press(&mut window, Key::R);
    click(&mut window, "Roll the dice for a new seed");
    click(&mut window, "Start again");
    window.frames(10);
    let status = window.status();
    assert_eq!((&status["failure"], &status["seed"]), (&serde_json::Value::Null, &"1".into()), "{status}");
    assert_eq!(status["ready"], true, "the run was built");
    {
        let speed = window.harness.get_by_label("Training speed: 100 updates per second");
        assert_eq!(speed.accesskit_node().toggled(), Some(Toggled::True), "the speed chosen before");
    }
    press(&mut window, Key::Space);
    window.frames(20);
    assert!(window.status()["update"].as_u64() > Some(0), "it trains");
}

#[test]
fn what_is_wrong_with_a_typed_value_stays_under_its_field() {
    let mut window = sized("", vec2(1366.0, 1000.0));
    for (text, kept) in [("7", "1"), ("nonsense", "1")] {
        type_into(&mut window, "Learning rate", text);
        press(&mut window, Key::Enter);
        window.frames(30);
        assert!(link(&window).contains(&format!("lr={kept}")), "{}", link(&window));
        assert!(has(&window, "Allowed: 1e-6 … 1"), "the note on “{text}” is gone");
    }
    type_into(&mut window, "Discount γ", "3");
    press(&mut window, Key::Enter);
    window.frames(30);
    assert!(has(&window, "gamma: 3 is not allowed"));
}

#[test]
fn whatever_an_edit_changes_elsewhere_is_told() {
    let mut window = sized("#env=pellet&algo=ippo&envs=10&rollout=16&group=4&limit=20", vec2(1366.0, 2000.0));
    choose(&mut window, "Advantage", "Group-relative");
    assert!(has(&window, "rollout: this game's episodes are played whole; 16 became 20"));
    assert!(has(&window, "envs: environments come in whole groups; 10 became 8"));
}

#[test]
fn a_live_change_of_the_learning_rate_shows_what_it_does_to_the_critic() {
    let mut window = sized("#env=matrix&algo=ippo&lr=0.001&critic_lr=0.002&budget=64000", vec2(1366.0, 2000.0));
    press(&mut window, Key::Space);
    window.frames(5);
    press(&mut window, Key::Space);
    window.frames(5);
    assert!(window.status()["update"].as_u64() > Some(0), "it has trained");
    type_into(&mut window, "Learning rate", "0.01");
    press(&mut window, Key::Enter);
    window.frames(30);
    let link = link(&window);
    assert!(link.contains("&lr=0.01") && link.contains("critic_lr=0.02"), "{link}");
    assert!(window.status()["changedAt"].as_u64().is_some(), "it has not begun again");
}

#[test]
fn set_up_has_a_drawer_exactly_where_it_has_no_column() {
    for width in [800.0, 1180.0, 1230.0, 1280.0, 1320.0] {
        let window = sized("", vec2(width, 720.0));
        let has_drawer = window.harness.query_by_role_and_label(Role::Button, "Set-up").is_some();
        let has_column = window.harness.query_by_role_and_label(Role::Button, "Learning rate").is_some();
        assert_eq!((has_drawer, has_column), (width < 1200.0, width >= 1200.0), "at {width}");
    }
}

#[test]
fn a_tool_goes_with_the_world_it_edits() {
    let mut window = Window::wide("#v=1&env=pellet&agents=4&algo=iql");
    click(&mut window, "edit");
    choose(&mut window, "Environment", "Matrix game");
    assert!(window.harness.query_by_label("edit").is_some(), "walls are no tool for a payoff table");

    let mut window = Window::wide("#v=1&env=pellet&agents=4&algo=iql");
    click(&mut window, "edit");
    click(&mut window, "Choose an agent, then click the cell where it starts");
    window.harness.get_all_by_role_and_label(Role::Button, "agent 4").next().expect("a tool for agent 4").click();
    window.frames(3);
    click(&mut window, "Agents −");
    window.frames(8);
    let tools: Vec<_> = window.harness.get_all_by_role_and_label(Role::Button, "agent 3").collect();
    let is_on = |node: &egui_kittest::Node<'_>| node.accesskit_node().toggled() == Some(Toggled::True);
    assert!(tools.iter().any(is_on), "the tool of the last agent there is");
}

#[test]
fn a_half_typed_value_is_taken_wherever_the_next_press_is() {
    // Wide enough for all tabs at once.
    let mut window = sized("", vec2(740.0, 844.0));
    window.harness.get_by_role_and_label(Role::Tab, "Set-up").click();
    window.frames(3);
    type_into(&mut window, "Learning rate", "2e-3");
    window.harness.get_by_role_and_label(Role::Tab, "Stage").click();
    window.frames(8);
    assert!(link(&window).contains("lr=2e-3"), "the tab was changed: {}", link(&window));
    // The offer to undo lies over the field.
    window.outside.borrow_mut().seconds += 11.0;
    window.frames(2);
    window.harness.get_by_role_and_label(Role::Tab, "Set-up").click();
    window.frames(3);
    type_into(&mut window, "Learning rate", "6e-3");
    window.harness.get_by_role_and_label(Role::Button, "Run").click();
    window.frames(20);
    assert!(link(&window).contains("lr=6e-3"), "Run was pressed: {}", link(&window));
    assert!(window.status()["update"].as_u64() > Some(0), "and it runs: {}", window.status());

    let mut window = sized("", vec2(1000.0, 700.0));
    click(&mut window, "Set-up");
    type_into(&mut window, "Learning rate", "4e-3");
    click(&mut window, "Set-up");
    window.frames(8);
    assert!(link(&window).contains("lr=4e-3"), "the drawer was closed: {}", link(&window));
}

#[test]
fn the_stage_plays_or_is_held_as_its_button_says() {
    let mut window = Window::wide("");
    click(&mut window, "Hold");
    window.frames(30);
    assert!(window.harness.query_by_label("Play").is_some());
    press(&mut window, Key::E);
    window.frames(30);
    assert!(window.harness.query_by_label("Hold").is_some(), "a new episode plays");
    click(&mut window, "Hold");
    press(&mut window, Key::Space);
    window.frames(30);
    assert!(window.harness.query_by_label("Hold").is_some(), "training took the stage along");
    click(&mut window, "Training speed: 1 update per second");
    window.frames(10);
    assert!(window.harness.get_by_label("Restart episode").accesskit_node().is_disabled(), "training moves it");
    press(&mut window, Key::E);
    window.frames(10);
    assert!(window.harness.query_by_label_contains("Training environment").is_some(), "the key is as disabled");

    // Paused, the stage shows what was trained in, until it is asked to play what was learned.
    press(&mut window, Key::Space);
    window.frames(30);
    let stands = window.status()["envSteps"].clone();
    assert!(window.harness.query_by_label_contains("Training environment").is_some());
    click(&mut window, "Play");
    window.frames(30);
    assert!(window.harness.query_by_label_contains("Greedy episode").is_some());
    click(&mut window, "Hold");
    window.frames(10);
    assert!(window.harness.query_by_label_contains("Greedy episode").is_some(), "held where it is");
    assert_eq!(window.status()["envSteps"], stands, "nothing was trained");
    click(&mut window, "Env step");
    window.frames(10);
    assert!(window.harness.query_by_label_contains("Training environment").is_some());
}

#[test]
fn a_refused_edit_leaves_nothing_to_undo() {
    let mut window = Window::wide("#v=1&env=pellet&size=2x2&agents=1&start=random&algo=iql&seed=7");
    click(&mut window, "edit");
    let cell = |window: &Window, x: f32, y: f32| -> Pos2 {
        let scene = window.harness.get_by_label_contains("Grid world").rect();
        let side = ((scene.height() - 4.0) / 2.0).floor();
        scene.center() + side * vec2(x, y)
    };
    let paint = |window: &mut Window, x: f32, y: f32| {
        let at = cell(window, x, y);
        window.harness.hover_at(at);
        window.frames(1);
        window.harness.drag_at(at);
        window.frames(2);
        window.harness.drop_at(at);
        window.frames(8);
    };
    paint(&mut window, 0.5, -0.5);
    let before = link(&window);
    assert!(before.contains("world="), "one wall: {before}");
    window.outside.borrow_mut().seconds += 20.0;
    window.frames(3);
    paint(&mut window, -0.5, 0.5);
    assert_eq!(link(&window), before, "the wall that cuts the world was refused");
    assert!(has(&window, "Walls cut the world"), "{}", window.status());
    assert!(window.harness.query_by_label("Undo").is_none());
}

#[test]
fn a_finger_that_goes_up_over_a_slider_scrolls_and_one_that_goes_across_moves_it() {
    let mut window = sized("#v=1&env=spread&algo=mappo&seed=7", PHONE);
    window.harness.get_by_role_and_label(Role::Tab, "Set-up").click_accesskit();
    window.frames(8);
    let slider = |window: &Window| window.harness.get_by_role_and_label(Role::Slider, "Learning rate").rect();
    let swipe = |window: &mut Window, from: Pos2, way: Vec2| {
        window.harness.hover_at(from);
        window.frames(1);
        window.harness.drag_at(from);
        for part in 1..=8 {
            window.harness.hover_at(from + way * (part as f32 / 8.0));
            window.frames(1);
        }
        window.harness.drop_at(from + way);
        window.frames(8);
    };
    let (before, place) = (link(&window), slider(&window));
    swipe(&mut window, place.center() + vec2(60.0, 0.0), vec2(9.0, -200.0));
    assert_eq!(link(&window), before, "the learning rate is as it was");
    let moved = slider(&window).top() - place.top();
    assert!(moved < -150.0, "the page scrolled by {moved}");
    let from = slider(&window).center();
    swipe(&mut window, from, vec2(80.0, -9.0));
    assert_ne!(link(&window), before, "across it is a slider");
    assert!((slider(&window).center().y - from.y).abs() < 1.0, "and nothing scrolled");
}

#[test]
fn keys_held_down_count_once_and_two_presses_count_twice() {
    let mut window = Window::wide("");
    hold(&mut window, Key::Space);
    window.frames(10);
    assert_eq!(window.status()["state"], "running", "once, not thrice");
    hold(&mut window, Key::Space);
    window.frames(10);
    assert_eq!(window.status()["state"], "paused");
    press(&mut window, Key::Space);
    for _ in 0..2 {
        window.harness.key_press(Key::Space);
    }
    window.frames(1);
    assert_eq!(window.status()["state"], "running", "paused and run again");
}

#[test]
fn every_way_to_a_link_opens_all_of_it() {
    let mut window = sized("#v=1&env=pellet&algo=qmix&view=returns", PHONE);
    let is_open = |window: &Window, tab: &str| {
        let tab = window.harness.get_by_role_and_label(Role::Tab, tab);
        tab.accesskit_node().toggled() == Some(Toggled::True)
    };
    assert!(is_open(&window, "Returns"), "the view that the link names");
    window.outside.borrow_mut().links.push("#v=1&env=matrix&algo=iql".to_owned());
    window.frames(8);
    assert!(is_open(&window, "Stage"), "a link without a view");
    window.outside.borrow_mut().links.push("#v=1&env=matrix&algo=iql&gamma=7".to_owned());
    window.frames(8);
    assert_eq!(window.status()["notices"].as_array().map(Vec::len), Some(1));
    click(&mut window, "Experiments");
    window.harness.get_all_by_role(Role::MenuItem).next().expect("an experiment").click();
    window.frames(8);
    assert_eq!(window.status()["notices"].as_array().map(Vec::len), Some(0), "what was said of the link before");
}

#[test]
fn an_answer_is_shown_for_the_question_it_was_asked_for() {
    let mut window = Window::wide("");
    click(&mut window, "What to try");
    click(&mut window, "Show what happens");
    assert!(!has(&window, "Show what happens"));
    click(&mut window, "What to try");
    choose(&mut window, "Algorithm", "VDN");
    click(&mut window, "What to try");
    assert!(has(&window, "Show what happens"), "that is another experiment's answer");
}

#[test]
fn only_a_world_with_a_sight_is_told_to_lower_it() {
    for (link, expected) in [("", true), ("#v=1&env=matrix&algo=qmix", false), ("#v=1&env=two_step&algo=qmix", false)] {
        let mut window = Window::wide(link);
        click(&mut window, "What to try");
        assert_eq!(has(&window, "lower the sight to separate"), expected, "{link}");
    }
}
