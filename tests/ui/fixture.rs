//! Runs made by hand: plain snapshots with plausible numbers, so that pictures can be tested without training.

use tandem::view::api::{EditMode, KeptCurve, ViewCtx};
use tandem::view::text::{Lang, Texts};
use tandem::view::theme::Theme;
use tandem_core::env::api::{Frame, Mix, Role, Thing, ThingKind};
use tandem_core::experiment::command::{Command, Watch};
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{
    EvalPoint, Facts, JointValues, Mixed, Optimum, Paid, PolicyStats, Report, Snapshot, Stage,
};
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, GameChoice, RewardChoice};

/// Everything a view reads, owned.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) spec: ExperimentSpec,
    /// The experiment as Set-up has it, where the run has not caught up with it.
    pub(crate) wanted: Option<ExperimentSpec>,
    pub(crate) facts: Facts,
    pub(crate) snapshot: Snapshot,
    pub(crate) curve: Vec<EvalPoint>,
    pub(crate) kept: Vec<KeptCurve>,
    pub(crate) lang: Lang,
    pub(crate) theme: Theme,
    pub(crate) selected_agent: u32,
    pub(crate) watch: Watch,
    pub(crate) compact: bool,
    pub(crate) edit: EditMode,
}

impl Page {
    pub(crate) fn ctx(&self) -> ViewCtx<'_> {
        ViewCtx {
            spec: &self.spec,
            wanted: self.wanted.as_ref().unwrap_or(&self.spec),
            facts: &self.facts,
            snapshot: &self.snapshot,
            curve: &self.curve,
            kept: &self.kept,
            texts: Texts { lang: self.lang },
            theme: &self.theme,
            selected_agent: self.selected_agent,
            watch: &self.watch,
            compact: self.compact,
            edit: self.edit,
        }
    }

    pub(crate) fn look(mut self, dark: bool, compact: bool, lang: Lang) -> Self {
        self.theme = Theme::new(dark, compact);
        self.compact = compact;
        self.lang = lang;
        self
    }
}

/// The first experiment, some way into training.
pub(crate) fn pellet(algo: AlgoChoice) -> Page {
    let spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    let names = ["action.stay", "action.up", "action.down", "action.left", "action.right"];
    let facts = Facts {
        run: 1,
        num_agents: 2,
        num_actions: 5,
        roles: vec![Role::agent(&names, Vec::new())],
        role_of: vec![0; 2],
        lower_is_better: true,
        max_steps: 50,
        optimum: Some(Optimum { value: 3.0, exact: true, full_information: false }),
        exhausted_starts: 16,
        part_names: ["part.team", "part.own", "part.move_cost"].map(str::to_owned).to_vec(),
        part_weights: vec![1.0, 0.0, 1.0],
        mix: Some(Mix { team: 0, own: 1, names_own: false }),
        idle_action: Some(0),
        budget: 100_000,
        ..Facts::default()
    };
    let (width, height, pellet) = (4_u32, 4_u32, 11_u32);
    // Distance-like values: moves toward the pellet are better.
    let q_at = |cell: u32, agent: u32| -> Vec<f32> {
        let (x, y) = ((cell % width) as f32, (cell / width) as f32);
        let (px, py) = ((pellet % width) as f32, (pellet / width) as f32);
        let value = |x: f32, y: f32| 0.95 - 0.11 * ((x - px).abs() + (y - py).abs());
        let inside = |x: f32, y: f32| (x.clamp(0.0, 3.0), y.clamp(0.0, 3.0));
        [(0.0, 0.0), (0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)]
            .map(|(dx, dy)| {
                let (x, y) = inside(x + dx, y + dy);
                value(x, y) + 0.012 * (dx * 1.3 + dy * (1.0 + agent as f32) - 0.4 * x * dy)
            })
            .to_vec()
    };
    let agents = vec![9, 6];
    let q: Vec<Vec<f32>> = vec![q_at(9, 0), q_at(6, 1)];
    let overlay = (0..width * height).map(|cell| if cell == pellet { Vec::new() } else { q_at(cell, 0) }).collect();
    let stage = Stage {
        frame: Some(Frame::Grid {
            width,
            height,
            walls: vec![false; 16],
            agents,
            levels: Vec::new(),
            things: vec![Thing { kind: ThingKind::Pellet, id: pellet, cell: pellet, level: 0 }],
            sight: None,
            arrived: vec![false, false],
        }),
        episode: 12,
        step: 3,
        weights_update: 4_631,
        actions: vec![4, 2],
        explored: vec![false, false],
        rewards: vec![0.0, 0.0],
        returns: vec![0.0, 0.0],
        greedy: vec![argmax(&q[0]), argmax(&q[1])],
        legal: vec![vec![true; 5]; 2],
        per_action: q.clone(),
        overlay,
        ..Stage::default()
    };
    let joint = (algo != AlgoChoice::Iql).then(|| joint(&q[0], &q[1], algo == AlgoChoice::Vdn, 25));
    let snapshot =
        Snapshot { run: 1, update: 4_631, env_steps: 148_192, budget: 100_000, stage, joint, ..Snapshot::default() };
    Page {
        curve: curve(48, 3.1, 21.0, 0.11),
        spec,
        wanted: None,
        facts,
        snapshot,
        kept: Vec::new(),
        lang: Lang::En,
        theme: Theme::new(true, false),
        selected_agent: 0,
        watch: Watch::default(),
        compact: false,
        edit: EditMode::None,
    }
}

/// A matrix game with its payoffs.
pub(crate) fn matrix(game: GameChoice, rows: u32, columns: u32, payoffs: &[(f32, f32)], names: &[&str]) -> Page {
    let mut page = pellet(AlgoChoice::Iql);
    page.spec = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Iql);
    page.spec.matrix.game = game;
    page.facts.roles = vec![Role::agent(names, Vec::new())];
    page.facts.lower_is_better = false;
    page.facts.exhausted_starts = 1;
    page.facts.optimum = None;
    (page.facts.part_names, page.facts.part_weights) = (vec!["part.payoff".to_owned()], vec![1.0]);
    (page.facts.mix, page.facts.idle_action) = (None, None);
    let q: Vec<Vec<f32>> =
        vec![vec![4.1, -1.5, 2.2][..rows as usize].to_vec(), vec![0.4, 1.2, 2.9][..columns as usize].to_vec()];
    let share = |n: u32| (0..n).map(|k| (k + 1) as f32 / (n * (n + 1) / 2) as f32).collect::<Vec<f32>>();
    page.snapshot.stage = Stage {
        frame: Some(Frame::Matrix {
            payoffs: payoffs.to_vec(),
            rows,
            columns,
            played: Some((rows - 1, 0)),
            stage: 0,
            stages: vec!["stage.only".to_owned()],
            repetition: (1, 1),
        }),
        greedy: vec![argmax(&q[0]), argmax(&q[1])],
        frequencies: vec![share(rows), share(columns)],
        per_action: q,
        actions: vec![rows - 1, 0],
        rewards: vec![0.0, 0.0],
        returns: vec![0.0, 0.0],
        episode: 3,
        weights_update: 120,
        ..Stage::default()
    };
    page
}

/// Two agents who share a pellet half and half and pay for their moves; one of them lets the other walk.
pub(crate) fn free_rider() -> Page {
    let mut page = pellet(AlgoChoice::Iql);
    page.spec.pellet.reward = RewardChoice::First;
    (page.spec.pellet.alpha, page.spec.pellet.move_cost) = (0.5, 0.05);
    page.facts.part_weights = vec![0.5, 0.5, 1.0];
    let mut parts = Vec::new();
    for step in 1..=7 {
        let (arrives, cost) =
            (if step == 7 { 1.0 } else { 0.0 }, if matches!(step, 2 | 4 | 5 | 7) { -0.05 } else { 0.0 });
        parts.extend([arrives, arrives, cost, arrives, 0.0, if step == 3 { -0.05 } else { 0.0 }]);
    }
    page.snapshot.stage.paid = Paid { episode: 9, ended: false, from: 0, parts };
    page.snapshot.stage.frequencies = vec![vec![0.1, 0.1, 0.3, 0.1, 0.4], vec![0.9, 0.025, 0.025, 0.025, 0.025]];
    page
}

/// A policy-gradient run some updates after its start.
pub(crate) fn policy(algo: AlgoChoice) -> Page {
    let mut page = pellet(AlgoChoice::Iql);
    page.spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    page.facts.is_policy_gradient = true;
    page.snapshot.stage.per_action = vec![vec![0.05, 0.03, 0.62, 0.02, 0.28], vec![0.1, 0.2, 0.25, 0.05, 0.4]];
    page.snapshot.stage.greedy = vec![2, 4];
    page.snapshot.stage.values = if algo == AlgoChoice::Mappo { vec![0.83] } else { vec![0.83, 0.79] };
    page.snapshot.stage.overlay =
        page.snapshot.stage.overlay.iter().map(|q| q.iter().map(|q| q.clamp(0.0, 1.0)).collect()).collect();
    let stats = |update: u32| PolicyStats {
        histogram: (0..32).map(|bin| (900.0 * exp(-0.35 * (bin as f32 - 15.5).abs())) as u32).collect(),
        clip: 0.2,
        clip_fraction: 0.04,
        kl: 0.002 + 0.02 * exp(-0.004 * update as f32) * (1.0 + 0.3 * ((update * 7919) % 11) as f32 / 11.0),
        entropy: 0.4 + 1.2 * exp(-0.001 * update as f32),
        value_loss: Some(0.02),
        explained_variance: Some(1.0 - 0.9 * exp(-0.002 * update as f32)),
    };
    for point in &mut page.curve {
        point.policy = (point.update > 0).then(|| stats(point.update));
    }
    page.snapshot.policy = Some(stats(900));
    page
}

/// The climbing game.
pub(crate) fn climbing() -> Page {
    let table = [11.0, -30.0, 0.0, -30.0, 7.0, 0.0, 0.0, 6.0, 5.0].map(|payoff| (payoff, payoff));
    matrix(GameChoice::Climbing, 3, 3, &table, &["action.1", "action.2", "action.3"])
}

/// The prisoner's dilemma.
pub(crate) fn dilemma() -> Page {
    let table = [(-1.0, -1.0), (-3.0, 0.0), (0.0, -3.0), (-2.0, -2.0)];
    matrix(GameChoice::Prisoners, 2, 2, &table, &["action.cooperate", "action.defect"])
}

/// The two-step game in state 2B with QMIX.
pub(crate) fn two_step() -> Page {
    let mut page = matrix(GameChoice::Custom, 2, 2, &[(0.0, 0.0); 4], &["action.1", "action.2"]);
    page.spec = ExperimentSpec::defaults(EnvChoice::TwoStep, AlgoChoice::Qmix);
    page.facts.optimum = Some(Optimum { value: 8.0, exact: true, full_information: false });
    let stages = ["stage.1", "stage.2a", "stage.2b"].map(str::to_owned).to_vec();
    page.snapshot.stage.frame = Some(Frame::Matrix {
        payoffs: [0.0, 1.0, 1.0, 8.0].map(|payoff| (payoff, payoff)).to_vec(),
        rows: 2,
        columns: 2,
        played: None,
        stage: 2,
        stages,
        repetition: (1, 1),
    });
    page.snapshot.stage.greedy = vec![1, 1];
    let mut joint = joint(&[-0.4, 1.9], &[-0.2, 1.7], false, 25);
    let table = vec![0.08, 1.04, 0.97, 7.93];
    joint.learned.table = table;
    joint.learned.greedy = (1, 1);
    joint.learned.best = (1, 1);
    joint.exact = Some(vec![0.0, 1.0, 1.0, 8.0]);
    page.snapshot.joint = Some(joint);
    page.curve = curve(40, 8.0, 5.0, 0.2);
    page
}

/// A monotone mixing of two rows of utilities, or their sum.
pub(crate) fn joint(one: &[f32], two: &[f32], is_sum: bool, points: u32) -> JointValues {
    let elu = |x: f32| if x > 0.0 { x } else { exp(x) - 1.0 };
    let total = |a: f32, b: f32| {
        if is_sum {
            a + b
        } else {
            0.9 * elu(2.2 * a + 0.4 * b - 1.6) + 0.8 * elu(0.5 * a + 2.6 * b - 1.9) + 0.3 * elu(3.0 * a + 3.0 * b - 5.0)
        }
    };
    let range = |q: &[f32]| {
        let low = q.iter().copied().fold(f32::INFINITY, f32::min);
        let high = q.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let pad = 0.1 * (high - low).max(0.05);
        (low - pad, high + pad)
    };
    let (x, y) = (range(one), range(two));
    let at = |k: u32, (low, high): (f32, f32)| low + (high - low) * k as f32 / (points - 1) as f32;
    let surface = (0..points * points).map(|k| total(at(k % points, x), at(k / points, y))).collect();
    let table: Vec<f32> = one.iter().flat_map(|a| two.iter().map(move |b| total(*a, *b))).collect();
    let learned = Mixed {
        legal: vec![true; table.len()],
        table,
        utilities: (one.to_vec(), two.to_vec()),
        x,
        y,
        points,
        surface,
        bend: if is_sum { 0.0 } else { 11.3 },
        greedy: (argmax(one), argmax(two)),
        best: (argmax(one), argmax(two)),
        igm: true,
        enumerated: (one.len() * two.len()) as u32,
        complete: true,
    };
    JointValues {
        pair: (0, 1),
        is_sum,
        learned,
        without_abs: None,
        counterexample: None,
        exact: None,
        igm_share: (1.0, 4),
    }
}

/// `points` evaluations that fall (or rise) from `start` to `end`.
pub(crate) fn curve(points: u32, end: f32, start: f32, rate: f32) -> Vec<EvalPoint> {
    (0..points)
        .map(|k| {
            let wobble = ((k * 7919) % 13) as f32 / 13.0 - 0.5;
            let mean = end + (start - end) * exp(-rate * k as f32) * (1.0 + 0.25 * wobble) + 0.15 * wobble.abs();
            EvalPoint {
                env_steps: k * 1_000,
                update: k * 31,
                mean,
                min: (mean - 0.3 * mean).max(0.0),
                max: mean * 1.5 + 0.5,
                ci95: 0.1 * mean,
                returns: vec![1.0 - 0.6 * exp(-rate * k as f32), 1.0 - 0.5 * exp(-rate * k as f32)],
                parts: {
                    let (found, rushing) = (1.0 - 0.6 * exp(-rate * k as f32), 0.5 - 0.2 * exp(-rate * k as f32));
                    vec![found, found * rushing, -0.05 * mean, found, found * (1.0 - rushing), -0.03 * mean]
                },
                policy: None,
                matches: Vec::new(),
                solved: 1.0 - 0.8 * exp(-rate * k as f32),
                episodes: 16,
            }
        })
        .collect()
}

fn argmax(q: &[f32]) -> u32 {
    (0..).zip(q).max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(action, _)| action)
}

/// An earlier run.
pub(crate) fn kept(label: &str) -> KeptCurve {
    KeptCurve {
        label: label.to_owned(),
        link: Some(format!("#{label}")),
        points: curve(60, 3.4, 22.0, 0.07),
        color_index: 0,
    }
}

fn exp(x: f32) -> f32 {
    tandem_core::base::float::Real::exp(f64::from(x)) as f32
}

/// A page over a real session that has trained for `updates` and then played its stage for `stage_steps` env steps.
pub(crate) fn trained(spec: ExperimentSpec, updates: u32, watch: Watch, stage_steps: u32) -> Page {
    let mut session = Session::new();
    session.apply(Command::Load { spec: Box::new(spec.clone()), run_to: updates });
    session.apply(Command::Watch(watch.clone()));
    let mut page = pellet(AlgoChoice::Iql);
    page.curve.clear();
    let mut now = 0.0;
    let mut turn = |session: &mut Session, page: &mut Page| {
        let tick = session.tick(&mut || {
            now += 1e-4;
            now
        });
        for report in session.take_reports() {
            match report {
                Report::Started(facts) => page.facts = *facts,
                Report::Snapshot(snapshot) => {
                    page.curve.truncate(snapshot.evals_from as usize);
                    page.curve.extend(snapshot.evals.iter().cloned());
                    page.snapshot = *snapshot;
                }
                Report::Refused(sentence) => panic!("refused: {sentence:?}"),
            }
        }
        now += tick.wake_in.unwrap_or(0.0);
        tick.busy
    };
    while turn(&mut session, &mut page) {}
    for _ in 0..stage_steps {
        session.apply(Command::StepEnv);
        while turn(&mut session, &mut page) {}
    }
    session.apply(Command::Watch(watch.clone()));
    for _ in 0..4 {
        turn(&mut session, &mut page);
    }
    Page { spec, watch, ..page }
}
