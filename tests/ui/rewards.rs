//! The rewards view: both charts, another α, and who moves.

use egui::accesskit::Role;
use egui::{Vec2, vec2};
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tandem::view::api::View as _;
use tandem::view::rewards::RewardsView;
use tandem::view::text::Lang;
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, RewardChoice};

use super::fixture::{self, Page};
use super::views::Shown;

fn shown(page: Page, size: Vec2) -> Shown {
    let mut view = RewardsView::default();
    Shown::new(page, size, Box::new(move |ui, ctx, actions| view.ui(ui, ctx, actions)))
}

/// What the picture of that beginning tells a screen reader.
fn told(shown: &Shown, beginning: &str) -> String {
    let picture = shown.harness.get_by_label_contains(beginning);
    picture.accesskit_node().label().unwrap_or_default()
}

#[test]
fn both_charts_follow_the_slider_and_nothing_is_asked_of_the_session() {
    let mut shown = shown(fixture::free_rider(), vec2(520.0, 360.0));
    assert_eq!(
        told(&shown, "reward per env step"),
        "reward per env step · episode 9: agent 1 Σ 0.800, agent 2 Σ 0.450"
    );
    let training = told(&shown, "over training");
    let slider = shown.harness.get_by_role_and_label(Role::Slider, "α to recompute rewards for");
    let left = slider.rect().left_center() + vec2(6.0, 0.0);
    shown.harness.hover_at(left);
    shown.harness.run();
    shown.harness.drag_at(left);
    shown.harness.run();
    shown.harness.drop_at(left);
    shown.harness.run();
    shown.harness.get_by_label("recomputed for α = 0");
    shown.harness.get_by_label_contains("trained with α = 0.5");
    assert_eq!(
        told(&shown, "reward per env step"),
        "reward per env step · episode 9: agent 1 Σ 0.800, agent 2 Σ −0.050"
    );
    assert_ne!(told(&shown, "over training"), training);
    assert_eq!(shown.actions.borrow().len(), 0, "recomputed here, from the parts");
    shown.harness.get_by_label("back to α = 0.5").click();
    shown.harness.run();
    assert_eq!(told(&shown, "over training"), training);
}

#[test]
fn the_pointer_tells_parts_with_their_weights() {
    let mut shown = shown(fixture::free_rider(), vec2(520.0, 360.0));
    let picture = shown.harness.get_by_label_contains("reward per env step").rect();
    // The seventh of eight bars, at the height of agent 1.
    let at = picture.left_top() + vec2(30.0 + (picture.width() - 36.0) * 6.5 / 8.0, picture.height() * 0.3);
    shown.harness.hover_at(at);
    shown.harness.run();
    shown.harness.get_by_label("env step 7 of episode 9");
    shown.harness.get_by_label("team  0.5 · 1 = 0.5");
    shown.harness.get_by_label("move cost  1 · −0.05 = −0.05");
}

#[test]
fn who_moves_is_told_and_a_world_without_staying_says_nothing() {
    let moving = shown(fixture::free_rider(), vec2(520.0, 360.0));
    moving.harness.get_by_label("agent 1: 90 % of env steps · 90 % of all moves");
    let game = shown(fixture::climbing(), vec2(520.0, 360.0));
    assert!(game.harness.query_by_label_contains("of all moves").is_none());
}

#[test]
fn a_game_without_a_mix_has_no_slider() {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Iql);
    spec.learner.hidden = 16;
    let page = fixture::trained(spec, 10, Watch::default(), 2);
    let shown = shown(page, vec2(520.0, 360.0));
    shown.harness.get_by_label("payoff");
    assert!(shown.harness.query_by_role(Role::Slider).is_none());
}

#[test]
fn a_session_fills_both_charts() {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, AlgoChoice::Iql);
    (spec.pellet.reward, spec.pellet.alpha, spec.pellet.move_cost) = (RewardChoice::First, 0.5, 0.05);
    spec.learner.hidden = 16;
    let shown = shown(fixture::trained(spec, 40, Watch::default(), 3), vec2(520.0, 360.0));
    shown.harness.get_by_label_contains("over training: agent 1");
    shown.harness.get_by_label_contains("reward per env step");
    shown.harness.get_by_label_contains("agent 2: ");
}

#[test]
fn fingers_find_the_slider() {
    let shown = shown(fixture::free_rider().look(true, true, Lang::Zh), vec2(350.0, 720.0));
    let slider = shown.harness.get_by_role(Role::Slider);
    assert!(slider.rect().height() >= 44.0);
}

#[test]
fn pictures_of_rewards() {
    let mut results = SnapshotResults::new();
    let mut small = |name: &str, mut shown: Shown| {
        shown.harness.snapshot(name);
        results.extend_harness(&mut shown.harness);
    };
    small("view_rewards", shown(fixture::free_rider(), vec2(520.0, 360.0)));
    let phone = fixture::free_rider().look(false, true, Lang::Zh);
    small("view_rewards_phone", shown(phone, vec2(366.0, 700.0)));
}
