//! The policy view, what stands in its place under value-based learners, and the badges.

use egui::{Vec2, vec2};
use egui_kittest::SnapshotResults;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tandem::view::api::{View as _, ViewId};
use tandem::view::badges;
use tandem::view::policy::PolicyView;
use tandem::view::qtot::QtotView;
use tandem::view::text::Lang;
use tandem_core::env::particles::{ParticleSpec, Scenario};
use tandem_core::env::registry::EnvSpec;
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::spec::{AdvantageChoice, AlgoChoice, EnvChoice, ExperimentSpec};

use super::fixture::{self, Page};
use super::views::Shown;
use super::window::Window;
use super::worlds;

fn shown(page: Page, size: Vec2) -> Shown {
    let mut view = PolicyView::default();
    Shown::new(page, size, Box::new(move |ui, ctx, actions| view.ui(ui, ctx, actions)))
}

#[test]
fn p36_sharing_and_the_critics_view_are_independent_badges() {
    let lit = |algo: AlgoChoice, shared: bool, advantage: AdvantageChoice| {
        let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
        (spec.learner.shared, spec.learner.advantage) = (shared, advantage);
        badges::of(&spec).into_iter().filter(|badge| badge.is_lit).map(|badge| badge.id).collect::<Vec<_>>()
    };
    let gae = AdvantageChoice::Gae;
    assert_eq!(lit(AlgoChoice::Ippo, false, gae), ["badge.separate", "badge.local"]);
    assert_eq!(lit(AlgoChoice::Ippo, true, gae), ["badge.shared", "badge.local"]);
    assert_eq!(lit(AlgoChoice::Mappo, false, gae), ["badge.separate", "badge.central"]);
    assert_eq!(lit(AlgoChoice::Mappo, true, gae), ["badge.shared", "badge.central"]);
    assert_eq!(lit(AlgoChoice::Ippo, true, AdvantageChoice::Group), ["badge.shared"], "no critic, no badge for one");
    // They stand in Set-up beside the algorithm, too.
    let window = Window::wide("#v=1&env=pellet&algo=mappo&seed=7&view=policy");
    for badge in ["separate networks", "shared networks", "local critic", "central critic"] {
        assert_eq!(window.harness.get_all_by_label(badge).count(), 2, "{badge} in Set-up and in the view");
    }
    let window = Window::wide("#v=1&env=pellet&algo=qmix&seed=7&view=qtot");
    assert!(window.harness.query_by_label("central critic").is_none(), "a value-based learner has no critic");
}

#[test]
fn a_value_based_learner_has_no_policy_and_says_so() {
    let view = PolicyView::default();
    let page = fixture::pellet(AlgoChoice::Qmix);
    let (sentence, instead) = view.unavailable(&page.ctx()).expect("QMIX has no policy");
    assert_eq!(
        (sentence.id.as_str(), &sentence.args[..], instead),
        ("policy.value_based", &["QMIX".to_owned()][..], ViewId("qtot"))
    );
}

#[test]
fn a_policy_has_no_joint_value_and_q_tot_says_so_with_the_critics_number() {
    let view = QtotView::default();
    let page = fixture::policy(AlgoChoice::Mappo);
    let (sentence, instead) = view.unavailable(&page.ctx()).expect("MAPPO has no Q_tot");
    assert_eq!(instead, ViewId("policy"));
    assert!(page.ctx().texts.sentence(&sentence).contains("one number: 0.83"));
    let page = fixture::policy(AlgoChoice::Ippo);
    assert_eq!(view.unavailable(&page.ctx()).map(|(sentence, _)| sentence.id), Some("qtot.ippo".to_owned()));
}

#[test]
fn policies_ratios_and_the_critic_are_told() {
    let mut shown = shown(fixture::policy(AlgoChoice::Mappo), vec2(520.0, 360.0));
    shown.harness.get_by_label_contains("π₁(·|o₁) H 0.99");
    shown.harness.get_by_label("MAPPO's critic is V(s), one number: 0.83");
    shown.harness.get_by_label_contains("4.0 % outside the clip band");
    shown.harness.get_by_label("approximate KL in the last pass, nats");
    shown.harness.get_by_label_contains("Share of the returns' variance").click();
    shown.harness.run();
    shown.harness.get_by_label("variance explained by the critic");
    let ippo = self::shown(fixture::policy(AlgoChoice::Ippo), vec2(520.0, 360.0));
    ippo.harness.get_by_label_contains("V 0.79");
}

#[test]
fn a_session_fills_the_view() {
    for algo in [AlgoChoice::Ippo, AlgoChoice::Mappo] {
        let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
        spec.learner.hidden = 16;
        let untrained = shown(fixture::trained(spec.clone(), 0, Watch::default(), 0), vec2(520.0, 360.0));
        untrained.harness.get_by_label_contains("appear with the first update");
        let trained = shown(fixture::trained(spec, 40, Watch::default(), 0), vec2(520.0, 360.0));
        trained.harness.get_by_label_contains("π₂(·|o₂)");
        let ratios = trained.harness.get_by_label_contains("outside the clip band");
        assert!(ratios.accesskit_node().label().is_some_and(|label| label.contains('%')));
        trained.harness.get_by_label("approximate KL in the last pass, nats");
    }
}

#[test]
fn the_view_speaks_both_languages_without_missing_glyphs() {
    for lang in Lang::ALL {
        for algo in [AlgoChoice::Ippo, AlgoChoice::Mappo, AlgoChoice::Iql] {
            let page = if algo == AlgoChoice::Iql { fixture::pellet(algo) } else { fixture::policy(algo) };
            shown(page.look(false, true, lang), vec2(366.0, 700.0));
        }
    }
}

/// A world with words, and policies that begin to prefer an action; agents of fewer actions have 0 for the rest.
fn speaking(scenario: Scenario) -> Page {
    let mut page = worlds::played(&EnvSpec::Particles(ParticleSpec::new(scenario)), 3);
    let most = page.facts.num_actions as usize;
    let row = |own: usize| -> Vec<f32> {
        let weight = |action: usize| if action < own { 1.0 + ((action * 7) % 5) as f32 * 0.2 } else { 0.0 };
        let all: f32 = (0..own).map(weight).sum();
        (0..most).map(|action| weight(action) / all).collect()
    };
    let actions = |agent: u32| page.facts.role(agent).map_or(0, |role| role.actions.len());
    let rows: Vec<Vec<f32>> = (0..page.facts.num_agents).map(|agent| row(actions(agent))).collect();
    page.snapshot.stage.greedy = vec![2; rows.len()];
    page.snapshot.stage.values = vec![0.5; rows.len()];
    page.snapshot.stage.per_action = rows;
    page
}

#[test]
fn pictures_of_policies() {
    let mut results = SnapshotResults::new();
    let mut small = |name: &str, mut shown: Shown| {
        shown.harness.snapshot(name);
        results.extend_harness(&mut shown.harness);
    };
    small("view_policy", shown(fixture::policy(AlgoChoice::Mappo), vec2(520.0, 360.0)));
    small("view_policy_words", shown(speaking(Scenario::Reference), vec2(520.0, 360.0)));
    let phone = speaking(Scenario::SpeakerListener).look(true, true, Lang::Zh);
    small("view_policy_speaker_phone", shown(phone, vec2(366.0, 500.0)));
    let phone = fixture::policy(AlgoChoice::Ippo).look(false, true, Lang::Zh);
    small("view_policy_phone", shown(phone, vec2(366.0, 700.0)));
}
