//! The stage and the views: what they show for a run, what a click asks for, and a few small pictures.

use std::cell::RefCell;
use std::rc::Rc;

use egui::{Pos2, Vec2, pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tandem::view::api::{Action, EditMode, View as _, ViewCtx, ViewId};
use tandem::view::qtot::QtotView;
use tandem::view::registry;
use tandem::view::returns::ReturnsView;
use tandem::view::stage::StageView;
use tandem::view::text::Lang;
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::knobs::why_not;
use tandem_core::experiment::spec::{AlgoChoice, CellKind, EnvChoice, ExperimentSpec, GameChoice};

use super::fixture::{self, Page};

pub(crate) type Draw = Box<dyn FnMut(&mut egui::Ui, &ViewCtx<'_>, &mut Vec<Action>)>;

/// A page drawn by egui, and what was asked for since the last look.
pub(crate) struct Shown {
    pub(crate) harness: Harness<'static>,
    pub(crate) actions: Rc<RefCell<Vec<Action>>>,
    pub(crate) page: Rc<RefCell<Page>>,
}

impl Shown {
    pub(crate) fn new(page: Page, size: Vec2, mut draw: Draw) -> Self {
        let actions = Rc::new(RefCell::new(Vec::new()));
        let page = Rc::new(RefCell::new(page));
        let (sink, source) = (Rc::clone(&actions), Rc::clone(&page));
        let builder =
            Harness::builder().with_size(size).with_max_steps(120).with_step_dt(0.05).with_context_setup(|ctx| {
                let provider = egui_system_font_provider::SystemFontProvider::new().with_locale(Some("zh-Hans"));
                ctx.add_font_provider(std::sync::Arc::new(provider));
            });
        let mut harness = builder.wgpu().build_ui(move |ui| {
            let page = source.borrow();
            page.theme.apply(ui.ctx());
            let frame = egui::Frame::new().fill(page.theme.card).inner_margin(8.0);
            egui::CentralPanel::default().frame(frame).show(ui, |ui| draw(ui, &page.ctx(), &mut sink.borrow_mut()));
        });
        harness.run();
        Self { harness, actions, page }
    }

    fn stage(page: Page) -> Self {
        let mut stage = StageView::default();
        Self::new(page, vec2(420.0, 460.0), Box::new(move |ui, ctx, actions| stage.ui(ui, ctx, actions)))
    }

    fn qtot(page: Page) -> Self {
        let mut view = QtotView::default();
        Self::new(page, vec2(560.0, 400.0), Box::new(move |ui, ctx, actions| view.ui(ui, ctx, actions)))
    }

    fn returns(page: Page) -> Self {
        Self::new(page, vec2(480.0, 420.0), Box::new(|ui, ctx, actions| ReturnsView.ui(ui, ctx, actions)))
    }

    pub(crate) fn take(&self) -> Vec<Action> {
        self.actions.borrow_mut().drain(..).collect()
    }

    pub(crate) fn click(&mut self, at: Pos2) {
        self.harness.hover_at(at);
        self.harness.run();
        self.harness.drag_at(at);
        self.harness.run();
        self.harness.drop_at(at);
        self.harness.run();
    }

    /// Centre of a cell of a 4×4 world on the stage.
    fn cell(&self, cell: u32) -> Pos2 {
        let scene = self.harness.get_by_label_contains("Grid world").rect();
        let side = (scene.width().min(scene.height()) - 4.0) / 4.0;
        let side = side.floor();
        let place = vec2((cell % 4) as f32 + 0.5, (cell / 4) as f32 + 0.5) * side;
        scene.center() - Vec2::splat(2.0 * side) + place
    }
}

#[test]
fn a_click_on_a_drawn_agent_asks_what_it_observes() {
    let mut shown = Shown::stage(fixture::pellet(AlgoChoice::Qmix));
    let agent_2 = shown.cell(6);
    shown.click(agent_2);
    assert_eq!(shown.take(), [Action::Observe(1)]);
    let empty = shown.cell(0);
    shown.click(empty);
    assert_eq!(shown.take(), []);
}

#[test]
fn dragging_over_cells_paints_walls_in_one_edit() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.edit = EditMode::Walls;
    let mut shown = Shown::stage(page);
    let path = [1, 2, 3].map(|cell| shown.cell(cell));
    shown.harness.hover_at(path[0]);
    shown.harness.run();
    for at in path {
        shown.harness.drag_at(at);
        shown.harness.run();
    }
    assert_eq!(shown.take(), [], "nothing restarts while the finger is down");
    shown.harness.drop_at(path[2]);
    shown.harness.run();
    let actions = shown.take();
    let [Action::EditSpec(spec)] = &actions[..] else { panic!("one edit, not {actions:?}") };
    let map = spec.pellet.map.as_ref().expect("the edit makes a map");
    let walls: Vec<usize> = (0..16).filter(|&cell| map.cells[cell] == CellKind::Wall).collect();
    assert_eq!(walls, [1, 2, 3]);
}

#[test]
fn a_second_edit_goes_on_from_the_first_although_the_run_has_not_caught_up() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.edit = EditMode::Walls;
    page.wanted = Some(tandem::view::stage::edit::paint(&page.spec, &[5], CellKind::Wall));
    let mut shown = Shown::stage(page);
    let at = shown.cell(7);
    shown.click(at);
    let actions = shown.take();
    let [Action::EditSpec(spec)] = &actions[..] else { panic!("one edit, not {actions:?}") };
    let cells = &spec.pellet.map.as_ref().expect("a map").cells;
    assert_eq!((cells[5], cells[7]), (CellKind::Wall, CellKind::Wall));

    let mut page = fixture::climbing();
    page.edit = EditMode::Payoffs;
    let mut wanted = page.spec.clone();
    wanted.matrix.game = GameChoice::Penalty;
    page.wanted = Some(wanted);
    let mut shown = Shown::stage(page);
    type_payoff(&mut shown, "payoff of agent 1 at (1, 2)", "-7");
    let actions = shown.take();
    let [Action::EditSpec(spec)] = &actions[..] else { panic!("one edit, not {actions:?}") };
    let cells = &spec.matrix.payoffs.as_ref().expect("a table").cells;
    assert_eq!((cells[1], cells[2]), ((-7.0, -7.0), (10.0, 10.0)), "the penalty game's other cells");
}

#[test]
fn one_agent_has_no_others_and_a_utility_is_no_return() {
    let mut page = fixture::pellet(AlgoChoice::Vdn);
    page.facts.num_agents = 1;
    page.snapshot.stage.per_action.truncate(1);
    page.snapshot.joint = None;
    let mut shown = Shown::qtot(page.clone());
    assert!(shown.harness.query_by_label_contains("agent 2").is_none());
    shown.harness.hover_at(pos2(100.0, 100.0));
    shown.harness.run_steps(20);
    shown.harness.get_by_label_contains("utility: only its order matters");
    page.spec.algo = AlgoChoice::Iql;
    let shown = Shown::qtot(page);
    assert!(shown.harness.query_by_label_contains("agent 2").is_none());
}

#[test]
fn a_start_is_moved_by_a_click() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.edit = EditMode::Start(1);
    let mut shown = Shown::stage(page);
    let cell = shown.cell(5);
    shown.click(cell);
    let actions = shown.take();
    let [Action::EditSpec(spec)] = &actions[..] else { panic!("one edit, not {actions:?}") };
    assert_eq!(spec.pellet.map.as_ref().map(|map| map.starts.clone()), Some(vec![0, 5]));
}

#[test]
fn the_stage_goes_idle_between_env_steps() {
    let mut shown = Shown::stage(fixture::pellet(AlgoChoice::Qmix));
    {
        let mut page = shown.page.borrow_mut();
        page.snapshot.stage.step += 1;
        if let Some(tandem_core::env::api::Frame::Grid { agents, .. }) = &mut page.snapshot.stage.frame {
            agents[0] = 10;
        }
    }
    // `run` fails when the page still asks for frames after 120 of them.
    let frames = shown.harness.run();
    assert!(frames > 2, "the move is glided, not jumped");
}

#[test]
fn a_typed_payoff_edits_the_game() {
    let mut page = fixture::climbing();
    page.edit = EditMode::Payoffs;
    let mut shown = Shown::stage(page);
    type_payoff(&mut shown, "payoff of agent 1 at (1, 2)", "-7");
    let actions = shown.take();
    let [Action::EditSpec(spec)] = &actions[..] else { panic!("one edit, not {actions:?}") };
    assert_eq!(spec.matrix.game, GameChoice::Custom);
    assert_eq!(spec.matrix.payoffs.as_ref().map(|table| table.cells[1]), Some((-7.0, -7.0)));
}

fn type_payoff(shown: &mut Shown, field: &str, text: &str) {
    shown.harness.get_by_label(field).click();
    shown.harness.run();
    shown.harness.key_combination_modifiers(egui::Modifiers::COMMAND, &[egui::Key::A]);
    shown.harness.event(egui::Event::Text(text.to_owned()));
    shown.harness.run();
    assert_eq!(shown.take(), [], "a half-typed number restarts nothing");
    shown.harness.key_press(egui::Key::Enter);
    shown.harness.run();
}

#[test]
fn nothing_is_ever_an_empty_rectangle() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.curve.clear();
    page.snapshot.joint = None;
    page.snapshot.stage = tandem_core::experiment::snapshot::Stage::default();
    for view in registry::views() {
        let mut view = view;
        let draw: Draw = Box::new(move |ui, ctx, actions| view.ui(ui, ctx, actions));
        let shown = Shown::new(page.clone(), vec2(420.0, 360.0), draw);
        let texts = shown.harness.query_all_by_label_contains("appear").count();
        assert!(texts > 0, "a view without numbers says what will be there");
    }
    let shown = Shown::stage(page);
    shown.harness.get_by_label_contains("stage opens");
}

#[test]
fn iql_has_no_joint_value_and_says_so() {
    let view = QtotView::default();
    let page = fixture::pellet(AlgoChoice::Iql);
    let (sentence, instead) = view.unavailable(&page.ctx()).expect("IQL has no Q_tot");
    assert_eq!((sentence.id.as_str(), instead), ("qtot.iql", ViewId("returns")));
    for algo in [AlgoChoice::Vdn, AlgoChoice::Qmix] {
        assert_eq!(view.unavailable(&fixture::pellet(algo).ctx()), None);
    }
}

#[test]
fn p16_the_verdict_and_the_mixer_without_its_constraint_are_one_click_away() {
    let mut shown = Shown::qtot(fixture::pellet(AlgoChoice::Qmix));
    shown.harness.get_by_label_contains("holds");
    shown.harness.get_by_role_and_label(egui::accesskit::Role::CheckBox, "show without |·|").click();
    shown.harness.run();
    assert_eq!(shown.take(), [Action::Watch(Watch { without_abs: true, ..Watch::default() })]);
    {
        let mut page = shown.page.borrow_mut();
        let frame = page.snapshot.stage.frame.clone().expect("the fixture has a frame");
        page.watch.without_abs = true;
        let joint = page.snapshot.joint.as_mut().expect("the fixture has joint values");
        let mut broken = joint.learned.clone();
        broken.igm = false;
        broken.best = (0, 0);
        joint.without_abs = Some(joint.learned.clone());
        joint.counterexample = Some((frame, broken));
    }
    shown.harness.run();
    shown.harness.get_by_label("find a state where it breaks").click();
    shown.harness.run();
    shown.harness.get_by_label_contains("broken");
    shown.page.borrow_mut().snapshot.joint.as_mut().expect("joint values").exact = Some(vec![0.0; 25]);
    shown.harness.run();
    assert!(
        shown.harness.query_by_label_contains("true optimal joint action").is_none(),
        "exact values are another state's"
    );
    shown.page.borrow_mut().snapshot.run += 1;
    shown.harness.run();
    assert!(shown.harness.query_by_label_contains("broken").is_none(), "a new run is shown where it stands");
    shown.harness.get_by_label_contains("true optimal joint action");
}

#[test]
fn the_pair_shown_is_the_pair_computed() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.facts.num_agents = 3;
    page.watch.pair = (0, 6);
    page.snapshot.joint.as_mut().expect("joint values").pair = (0, 2);
    let shown = Shown::qtot(page);
    let values: Vec<_> = {
        let pickers = shown.harness.get_all_by_role_and_label(egui::Role::ComboBox, "pair");
        pickers.filter_map(|node| node.value()).collect()
    };
    assert_eq!(values, ["1", "3"]);
}

#[test]
fn vdn_is_a_plane_by_construction() {
    let shown = Shown::qtot(fixture::pellet(AlgoChoice::Vdn));
    shown.harness.get_by_label_contains("a plane by construction");
    assert!(shown.harness.query_by_label("show without |·|").is_none(), "a sum has no constraint to lift");
}

#[test]
fn double_click_resets_the_camera() {
    let mut shown = Shown::qtot(fixture::pellet(AlgoChoice::Qmix));
    let picture = |shown: &mut Shown| shown.harness.render().expect("lavapipe draws");
    let before = picture(&mut shown);
    let middle = shown.harness.get_by_label_contains("as a surface").rect().center();
    shown.harness.drag_at(middle);
    shown.harness.run();
    shown.harness.hover_at(middle + vec2(60.0, 10.0));
    shown.harness.run();
    shown.harness.drop_at(middle + vec2(60.0, 10.0));
    shown.harness.remove_cursor();
    shown.harness.run();
    assert!(picture(&mut shown) != before, "a drag turns the surface");
    for _ in 0..2 {
        shown.harness.drag_at(middle);
        shown.harness.step();
        shown.harness.drop_at(middle);
        shown.harness.step();
    }
    shown.harness.remove_cursor();
    shown.harness.run();
    assert!(picture(&mut shown) == before, "a double click turns it back");
}

#[test]
fn p45_returns_have_their_own_axis_and_the_band_says_what_it_is() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    page.kept = vec![fixture::kept("IQL")];
    let mut shown = Shown::returns(page);
    shown.harness.get_by_label_contains("not over seeds");
    shown.harness.get_by_label("clear earlier curves").click();
    shown.harness.run();
    assert_eq!(shown.take(), [Action::ClearKept]);
}

#[test]
fn the_headline_and_its_optimum_say_what_they_are() {
    let mut shown = Shown::returns(fixture::pellet(AlgoChoice::Qmix));
    shown.harness.hover_at(pos2(60.0, 16.0));
    shown.harness.run();
    shown.harness.get_by_label_contains("counts as the time limit (50)");
    shown.harness.hover_at(pos2(440.0, 16.0));
    shown.harness.run();
    shown.harness.get_by_label_contains("computed by search");
}

#[test]
fn a_click_on_an_earlier_curve_opens_its_link() {
    let mut page = fixture::pellet(AlgoChoice::Qmix);
    let mut kept = fixture::kept("IQL");
    // Above everything else, so that its line is alone.
    kept.points.iter_mut().for_each(|point| point.mean = 45.0);
    page.kept = vec![kept];
    let mut shown = Shown::returns(page);
    let on_line = (20..160).step_by(3).map(|y| pos2(200.0, y as f32));
    for at in on_line {
        shown.click(at);
        let actions = shown.take();
        if !actions.is_empty() {
            assert_eq!(actions, [Action::OpenLink("#IQL".to_owned())]);
            return;
        }
    }
    panic!("no place on the earlier curve opens it");
}

#[test]
fn every_view_speaks_both_languages_without_missing_glyphs() {
    // The harness fails on a glyph that no font has.
    for lang in Lang::ALL {
        for compact in [false, true] {
            for page in [fixture::pellet(AlgoChoice::Qmix), fixture::dilemma(), fixture::two_step()] {
                Shown::stage(page.clone().look(true, compact, lang));
                Shown::qtot(page.clone().look(false, compact, lang));
                Shown::returns(page.look(false, compact, lang));
            }
        }
    }
}

#[test]
fn views_draw_what_a_session_publishes() {
    let watch = Watch { without_abs: true, ..Watch::default() };
    for env in EnvChoice::ALL {
        for algo in [AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix] {
            let mut spec = ExperimentSpec::defaults(env, algo);
            if why_not(&spec, algo).is_some() {
                continue;
            }
            spec.learner.hidden = 16;
            spec.learner.hyper_hidden = 16;
            let page = fixture::trained(spec, 20, watch.clone(), 1);
            let view = QtotView::default();
            assert_eq!(view.unavailable(&page.ctx()).is_some(), algo == AlgoChoice::Iql);
            Shown::stage(page.clone());
            Shown::returns(page.clone());
            if algo == AlgoChoice::Iql {
                let shown = Shown::qtot(page);
                shown.harness.get_by_label_contains("non-stationarity");
            } else {
                let shown = Shown::qtot(page);
                shown.harness.get_by_label_contains("Table of Q_tot");
            }
        }
    }
}

#[test]
fn pictures() {
    let mut results = SnapshotResults::new();
    let mut small = |name: &str, mut shown: Shown| {
        shown.harness.snapshot(name);
        results.extend_harness(&mut shown.harness);
    };
    small("stage_pellet", Shown::stage(fixture::pellet(AlgoChoice::Qmix)));
    small("stage_climbing", Shown::stage(fixture::climbing().look(false, false, Lang::En)));
    small("view_qtot", Shown::qtot(fixture::pellet(AlgoChoice::Qmix)));
    small("view_returns", Shown::returns(fixture::pellet(AlgoChoice::Qmix).look(false, false, Lang::En)));
}
