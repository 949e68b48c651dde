//! One seed of a row: trains it to its budget and says what came out.

use serde::{Deserialize, Serialize};
use tandem_core::base::rng::Stream;
use tandem_core::env::api::{Ended, EnvState, StepOut};
use tandem_core::env::registry::EnvSpec;
use tandem_core::env::script::Script;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::{EvalPoint, MatchResult};
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::experiment::world;
use tandem_core::marl::parts::clock::{ENV_STEP, GRADIENT_STEP};
use tandem_core::marl::probe::{Probe, greedy};

use crate::table::{BENCHMARKS, Claim, DEVICE, Row, Values};

/// Distance from the optimum that counts as having reached it, in the headline's unit.
const NEAR: f32 = 0.1;

/// Gradient steps after which the two-step game must be learned.
const TWO_STEP_GRADIENT_STEPS: u32 = 5_000;

/// Episodes that an evaluation must play where the best of three is claimed.
const FEWEST_EPISODES: u32 = 200;

/// What came out of one seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The seed.
    pub(crate) seed: u64,
    /// Env steps trained.
    pub(crate) env_steps: u32,
    /// Gradient steps taken.
    pub(crate) gradient_steps: u32,
    /// Headline before training.
    pub(crate) untrained: f32,
    /// Headline of the last evaluation.
    pub(crate) last: f32,
    /// Best headline of any evaluation.
    pub(crate) best: f32,
    /// Headlines of the last three evaluations.
    #[serde(default)]
    pub(crate) last_three: Vec<f32>,
    /// Env steps and headline of every evaluation where the row is a reference task, whose curves are written down.
    #[serde(default)]
    pub(crate) curve: Vec<(u32, f32)>,
    /// On boards: games against scripts in each of the last three evaluations.
    #[serde(default)]
    pub(crate) matches: Vec<Vec<MatchResult>>,
    /// The headline's direction.
    pub(crate) lower_is_better: bool,
    /// Optimum in the headline's unit, where known.
    pub(crate) optimum: Option<f32>,
    /// Undiscounted returns of the last evaluation, per agent.
    pub(crate) returns: Vec<f32>,
    /// Env steps of the first evaluation near the optimum.
    pub(crate) reached: Option<u32>,
    /// Share of the evaluations after that one that are not near the optimum.
    pub(crate) left: f32,
    /// Greedy joint action at the start, counted from 1, where the world is a game of two.
    pub(crate) joint: Option<[u32; 2]>,
    /// Evaluations whose returns differ from those of the evaluation before.
    pub(crate) turns: u32,
    /// Largest distance of learned joint values from those claimed.
    pub(crate) error: Option<f64>,
    /// The first tensor that was not finite, if training stopped at one.
    pub(crate) diverged: Option<String>,
    /// Whether the claim holds; true where nothing is claimed and nothing diverged.
    pub(crate) holds: bool,
}

/// From here on updates are made on the first device there is.
#[cfg(feature = "gpu")]
fn move_to_device(run: &mut Run) {
    let gpu = pollster::block_on(tandem_core::nn::gpu::Gpu::open()).expect("there is a device");
    run.move_to(gpu.into()).expect("a device runs the row");
}

#[cfg(not(feature = "gpu"))]
fn move_to_device(_: &mut Run) {
    panic!("this row is trained on a device: build with the feature `gpu`");
}

/// Trains that seed and measures.
pub(crate) fn measure(row: &Row, seed: u64) -> Outcome {
    let spec = row.spec(seed);
    let mut run = Run::new(spec.clone(), 1).expect("every row's world can be built and its algorithm fits");
    if row.section == DEVICE {
        move_to_device(&mut run);
    }
    while run.end().is_none() {
        run.update();
    }
    let evals = &run.evals;
    let lower = run.facts.lower_is_better;
    let better = |a: f32, b: f32| if lower { a < b } else { a > b };
    let optimum = run.facts.optimum.as_ref().map(|optimum| optimum.value);
    let is_near = |eval: &EvalPoint| optimum.is_some_and(|optimum| (eval.mean - optimum).abs() <= NEAR);
    let near_from = evals.iter().position(is_near);
    let after = near_from.map_or(&[][..], |first| &evals[first..]);
    let off = after.iter().filter(|eval| !is_near(eval)).count();
    let (first, last) = (&evals[0], &evals[evals.len() - 1]);
    let of = match row.claim {
        Claim::Tables { of, .. } => of,
        _ => Values::Optimal,
    };
    let mut outcome = Outcome {
        seed,
        env_steps: run.count(ENV_STEP),
        gradient_steps: run.count(GRADIENT_STEP),
        untrained: first.mean,
        last: last.mean,
        best: evals.iter().map(|eval| eval.mean).fold(first.mean, |best, x| if better(x, best) { x } else { best }),
        last_three: evals[evals.len().saturating_sub(3)..].iter().map(|eval| eval.mean).collect(),
        curve: match row.section {
            BENCHMARKS => evals.iter().map(|eval| (eval.env_steps, eval.mean)).collect(),
            _ => Vec::new(),
        },
        matches: evals[evals.len().saturating_sub(3)..].iter().map(|eval| eval.matches.clone()).collect(),
        lower_is_better: lower,
        optimum,
        returns: last.returns.clone(),
        reached: near_from.map(|first| evals[first].env_steps),
        left: if after.is_empty() { 0.0 } else { off as f32 / after.len() as f32 },
        joint: spec.env.is_short_game().then(|| greedy_joint(&run)),
        turns: evals.windows(2).filter(|pair| pair[0].returns != pair[1].returns).count() as u32,
        error: table_error(&run, &spec, of),
        diverged: run.diverged.as_ref().map(|divergence| divergence.tensor.clone()),
        holds: false,
    };
    outcome.holds = outcome.diverged.is_none()
        && match row.claim {
            Claim::Ends { headline, env_steps } => !better(headline, outcome.last) && spec.budget <= env_steps,
            Claim::BestOfThree { headline, env_steps } => {
                outcome.last_three.iter().any(|&mean| !better(headline, mean))
                    && spec.budget <= env_steps
                    && spec.eval_episodes >= FEWEST_EPISODES
            }
            Claim::Wins { chance, one_ply, env_steps } => {
                let has_won = |games: &Vec<MatchResult>| {
                    let won = |script, seat| share(games, script, seat, |result| result.won);
                    won(Script::Uniform, 0) >= chance[0]
                        && won(Script::Uniform, 1) >= chance[1]
                        && won(Script::OnePly, 0) >= one_ply
                };
                spec.budget <= env_steps && outcome.matches.iter().any(has_won)
            }
            Claim::Loses { most } => outcome.matches.iter().any(|games| {
                [0, 1].iter().all(|&seat| share(games, Script::Uniform, seat, |result| result.lost) <= most)
            }),
            Claim::PaidOnce { headline, env_steps } => {
                let paid: f32 = outcome.returns.iter().sum();
                let is_paid_once = (paid - (last.solved - over_at_once(&run))).abs() < 1e-4;
                !better(headline, outcome.last) && spec.budget <= env_steps && is_paid_once
            }
            Claim::Tables { within, greedy_return, .. } => {
                outcome.error.is_some_and(|error| error <= within)
                    && outcome.last == greedy_return
                    && outcome.gradient_steps <= TWO_STEP_GRADIENT_STEPS
            }
            Claim::Joint(joint) => outcome.joint == Some(joint),
            Claim::Turns(least) => outcome.turns >= least,
            Claim::Reported => true,
        };
    outcome
}

/// Share of the games of one seat against a script that ended like that.
pub(crate) fn share(games: &[MatchResult], script: Script, seat: u32, ended: impl Fn(&MatchResult) -> u32) -> f64 {
    let result = games.iter().find(|result| result.opponent == script && result.seat == seat);
    let result = result.expect("every script is played from either seat");
    f64::from(ended(result)) / f64::from(result.won + result.drawn + result.lost)
}

/// Share of the enumerated starts at which there is nothing left to do, a pellet under an agent.
fn over_at_once(run: &Run) -> f32 {
    let (env, mut state) = (&run.learner.env, start(run));
    let starts = env.info().enumerated_starts;
    (0..starts).filter(|&start| env.reset_to(state.view_mut(), start)).count() as f32 / starts as f32
}

fn start(run: &Run) -> EnvState {
    let mut state = EnvState::new(run.learner.env.info());
    run.learner.env.reset(state.view_mut(), &Stream::new(0, "start").env(0, 0, 0));
    state
}

fn greedy_joint(run: &Run) -> [u32; 2] {
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let state = start(run);
    let (q, legal) = (probe.outputs(state.view()), probe.legal(state.view()));
    [0, 1].map(|agent| greedy(&q[agent], &legal[agent]) + 1)
}

/// `None` where the world is not the two-step game or nothing joins the agents' values.
fn table_error(run: &Run, spec: &ExperimentSpec, of: Values) -> Option<f64> {
    let EnvSpec::TwoStep(game) = world::env_spec(spec) else { return None };
    let game = game.validate().expect("the run was built from it");
    let gamma = f64::from(spec.learner.gamma);
    let tables = match of {
        Values::Optimal => game.exact_tables(gamma),
        Values::AdditiveFit => game.vdn_tables(gamma),
    };
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let mut largest = 0.0_f64;
    for (state, table) in two_step_states(run).iter().zip(tables) {
        let q = probe.outputs(state.view());
        let joint: Vec<f32> = (0..4).flat_map(|a| [q[0][a / 2], q[1][a % 2]]).collect();
        let learned = probe.team_value(state.view(), false)?.q_tot(&joint, 2);
        for (learned, exact) in learned.iter().zip(table) {
            largest = largest.max((f64::from(*learned) - exact).abs());
        }
    }
    Some(largest)
}

/// State 1, 2A, 2B.
fn two_step_states(run: &Run) -> [EnvState; 3] {
    let first = start(run);
    let after = |action: u32| {
        let mut state = first.clone();
        let (mut rewards, mut parts) = ([0.0; 2], [0.0; 2]);
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        let draws = Stream::new(0, "step").env(0, 0, 1);
        let end: Ended = run.learner.env.step(state.view_mut(), &[action, 0], &draws, &mut out);
        assert!(!end.any(), "the first of two steps ends nothing");
        state
    };
    [first.clone(), after(0), after(1)]
}
