//! A person at an agent: how it is held and let go, what fits on small screens, what a click on the stage opens.

use egui::accesskit::Toggled;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Role, TouchDeviceId, TouchId, TouchPhase, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::window::{Window, press};

const PHONE: Vec2 = vec2(390.0, 844.0);
const WIDE: Vec2 = vec2(1366.0, 768.0);

fn open(link: &str, size: Vec2) -> Window {
    let mut window = Window::open(link, size, egui::Theme::Light, "en");
    window.frames(10);
    window
}

fn rect(window: &Window, name: &str) -> Rect {
    window.harness.get_by_role_and_label(Role::Button, name).rect()
}

/// A mouse button goes down or up, or a finger, as browsers tell it.
fn pointer(window: &mut Window, at: Pos2, pressed: bool, is_finger: bool) {
    window.harness.hover_at(at);
    if is_finger {
        let phase = if pressed { TouchPhase::Start } else { TouchPhase::End };
        let (device_id, id) = (TouchDeviceId(0), TouchId(0));
        window.harness.event(Event::Touch { device_id, id, phase, pos: at, force: None });
    }
    let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
    window.harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
    window.frames(1);
}

fn click_at(window: &mut Window, at: Pos2) {
    pointer(window, at, true, false);
    pointer(window, at, false, false);
    window.frames(4);
}

fn is_chosen(window: &Window, name: &str) -> bool {
    let node = window.harness.get_by_role_and_label(Role::Button, name);
    node.accesskit_node().toggled() == Some(Toggled::True)
}

fn frames_until(window: &mut Window, what: &str, holds: impl Fn(&Window) -> bool) {
    for _ in 0..400 {
        if holds(window) {
            return;
        }
        window.frames(2);
    }
    panic!("never: {what}");
}

/// Beside the stage at once; a phone keeps the stage until the agent is tapped again.
#[test]
fn a_click_on_a_drawn_agent_shows_what_it_observes() {
    let mut window = open("#env=pellet&algo=qmix&start=opposite&seed=7&view=qtot", WIDE);
    let picture = {
        let mut nodes = window.harness.query_all_by_role(Role::Image);
        let node = nodes.find(|node| node.accesskit_node().label().is_some_and(|name| name.contains("(4, 4)")));
        node.expect("agent 2 stands in the lower right corner").rect()
    };
    let cell = (picture.width().min(picture.height()) - 4.0) / 4.0;
    let corner = picture.center() + Vec2::splat(1.5 * cell);
    click_at(&mut window, corner);
    assert_eq!(window.status()["view"], "observation", "of agent 2");
    assert!(window.harness.query_all_by_label_contains("agent 2").next().is_some());
}

/// A direction lasts as long as its button is pressed; one that is only tapped stays until another is chosen.
#[test]
fn a_held_button_is_a_held_direction() {
    for size in [WIDE, PHONE] {
        let mut window = open("#env=tag&algo=ippo&seats=expert,expert,expert,human&seed=7", size);
        let left = rect(&window, "agent 4: left").center();
        pointer(&mut window, left, true, size == PHONE);
        frames_until(&mut window, "left is held", |window| is_chosen(window, "agent 4: left"));
        window.frames(40);
        assert!(is_chosen(&window, "agent 4: left"), "it still is after two seconds");
        pointer(&mut window, left, false, size == PHONE);
        frames_until(&mut window, "it coasts", |window| is_chosen(window, "agent 4: coast"));
        let up = rect(&window, "agent 4: up").center();
        click_at(&mut window, up);
        frames_until(&mut window, "up was tapped", |window| is_chosen(window, "agent 4: up"));
        window.frames(40);
        assert!(is_chosen(&window, "agent 4: up"), "and stays");
    }
}

/// Where the world waits, a button is one move however long it is pressed.
#[test]
fn a_long_press_is_one_move_where_the_world_waits() {
    let mut window = open("#env=pellet&algo=qmix&seats=human,idle&seed=7", WIDE);
    let stay = rect(&window, "agent 1: stay").center();
    pointer(&mut window, stay, true, false);
    window.frames(40);
    assert_eq!(window.status()["stageStep"], 0, "it is made when the button is let go");
    pointer(&mut window, stay, false, false);
    frames_until(&mut window, "the move", |window| window.status()["stageStep"] == 1);
    window.frames(20);
    assert_eq!(window.status()["stageStep"], 1, "once");
}

/// Movements and words each have their lines, all on the screen, and every word a key.
#[test]
fn every_word_is_on_the_screen_and_has_a_key() {
    for size in [PHONE, WIDE, vec2(390.0, 664.0)] {
        let window = open("#env=reference&algo=ippo&seats=human,learner&seed=7", size);
        let names = ["coast", "left", "right", "down", "up"].map(str::to_owned);
        for name in names.into_iter().chain((1..=10).map(|word| format!("say {word}"))) {
            let place = rect(&window, &format!("agent 1: {name}"));
            assert!(place.left() >= 0.0 && place.right() <= size.x, "{name} at {place:?} of {size}");
            assert!(size.x > 760.0 || place.height() >= 44.0, "{name}: {place:?}");
        }
    }
    let mut window = open("#env=reference&algo=ippo&seats=human,learner&seed=7", WIDE);
    press(&mut window, Key::Num0);
    frames_until(&mut window, "word 10", |window| is_chosen(window, "agent 1: say 10"));
    assert!(window.harness.query_all_by_label_contains("0 is word 10").next().is_some(), "the hint names the keys");
}

/// On low pages a board is as large as a finger needs, and the column scrolls; a picture keeps its size.
#[test]
fn the_stage_keeps_its_size_on_low_pages() {
    let low = [vec2(390.0, 664.0), vec2(360.0, 640.0), vec2(1280.0, 600.0), vec2(844.0, 390.0), vec2(800.0, 600.0)];
    for size in low {
        let window = open("#env=connect_four&algo=ippo&seats=human,negamax2&seed=7", size);
        let width = rect(&window, "agent 1: column 1").width();
        // Seven columns of 44 px and their margins need 372.
        let least = if size.x < 372.0 {
            40.0
        } else if size.x < 760.0 {
            44.0
        } else {
            28.0
        };
        assert!(width >= least, "{size}: a column is {width} wide");
        let window = open("#env=pursuit&algo=ippo&seats=human&seed=7", size);
        let is_map = |name: String| name.contains("evaders");
        let nodes = window.harness.query_all_by_role(Role::Image);
        let map = nodes.into_iter().find(|node| node.accesskit_node().label().is_some_and(is_map));
        let height = map.expect("the stage has a picture").rect().height();
        let least = if size.x < 760.0 { 230.0 } else { 165.0 };
        assert!(height >= least, "{size}: the picture is {height} high");
    }
}

/// A world brings an algorithm that suits it, and says so.
#[test]
fn choosing_a_world_chooses_an_algorithm_that_suits_it() {
    let mut window = open("#env=pellet&algo=qmix&seed=7", vec2(1366.0, 2400.0));
    window.harness.get_by_role_and_label(Role::ComboBox, "Environment").click();
    window.frames(3);
    window.harness.get_by_role_and_label(Role::MenuItem, "Connect Four").click();
    window.frames(10);
    let link = window.status()["link"].as_str().unwrap_or_default().to_owned();
    assert!(link.contains("env=connect_four&algo=iql"), "{link}");
    let told = "QMIX needs one reward of the whole team";
    assert!(window.harness.query_all_by_label_contains(told).next().is_some());
}

/// What a person's keys are for lies beside L: in a game it opens nothing.
#[test]
fn sharing_does_not_interrupt_a_game() {
    let mut window = open("#env=connect_four&algo=ippo&seats=human,negamax2&seed=7", WIDE);
    press(&mut window, Key::L);
    assert!(window.harness.query_all_by_label_contains("Copy link").next().is_none());
}
