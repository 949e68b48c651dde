//! What is reported, recomputed: Q, Q_tot, loss and norm from the weights; evaluations and returns from the rules.

use std::sync::Arc;

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{EnvState, StepOut};
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::EvalPoint;
use tandem_core::experiment::spec::{
    AlgoChoice, EnvChoice, EvalChoice, ExperimentSpec, ExploreChoice, GameChoice, PositivityChoice, RewardChoice,
    StartChoice,
};
use tandem_core::experiment::stage::{Counterexample, StagePlay};
use tandem_core::marl::parts::clock::{ENV_STEP, EPISODES};
use tandem_core::marl::parts::tally::RECENT;
use tandem_core::marl::parts::world::World;
use tandem_core::marl::probe::{Probe, greedy};
use tandem_core::nn::layers::{Activation, Mixer, Mlp, Tensor};

use crate::support::{ALL, evaluate, named, reward_moments, step_env};

/// Element (i, j) of a tensor.
fn at(tensor: &Tensor, weights: &[f32], i: usize, j: usize) -> f64 {
    f64::from(weights[tensor.offset as usize + i * tensor.stride() as usize + j])
}

/// y = …act(x·W + b)…, one product at a time in double precision.
fn mlp(net: &Mlp, weights: &[f32], x: &[f64]) -> Vec<f64> {
    let mut x = x.to_vec();
    for (l, layer) in net.layers.iter().enumerate() {
        let last = l + 1 == net.layers.len();
        x = (0..layer.weight.cols as usize)
            .map(|j| {
                let z: f64 = x.iter().enumerate().map(|(i, x)| x * at(&layer.weight, weights, i, j)).sum();
                let z = z + at(&layer.bias, weights, 0, j);
                match net.activation {
                    _ if last => z,
                    Activation::Relu => z.max(0.0),
                    Activation::Tanh => libm::tanh(z),
                }
            })
            .collect();
    }
    x
}

/// Q_tot as the paper's figure 2 has it: ELU(q·|W1(s)| + b1(s))·|w2(s)| + V(s).
fn mixer(net: &Mixer, softplus: bool, weights: &[f32], state: &[f64], q: &[f64]) -> f64 {
    let positive = |w: f64| if softplus { libm::log1p(libm::exp(w)) } else { w.abs() };
    let [w1, b1, w2, v] = [&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value].map(|net| mlp(net, weights, state));
    let embed = b1.len();
    let mixed: f64 = (0..embed)
        .map(|e| {
            let z: f64 = q.iter().enumerate().map(|(i, q)| q * positive(w1[i * embed + e])).sum::<f64>() + b1[e];
            positive(w2[e]) * if z > 0.0 { z } else { libm::expm1(z) }
        })
        .sum();
    mixed + v[0]
}

fn assert_near(shown: f32, expected: f64, what: &str) {
    assert!((f64::from(shown) - expected).abs() < 2e-5 * expected.abs().max(1.0), "{what}: {shown}, not {expected}");
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

#[test]
fn p22_displayed_values_are_what_the_weights_say() {
    for (algo, shared, positivity) in [
        (AlgoChoice::Iql, false, PositivityChoice::Abs),
        (AlgoChoice::Vdn, true, PositivityChoice::Abs),
        (AlgoChoice::Qmix, true, PositivityChoice::Abs),
        (AlgoChoice::Qmix, false, PositivityChoice::Softplus),
    ] {
        let mut spec = ExperimentSpec { algo, ..ExperimentSpec::default() };
        (spec.pellet.sight, spec.pellet.start) = (Some(2), StartChoice::Opposite);
        let l = &mut spec.learner;
        (l.shared, l.positivity, l.warmup) = (shared, positivity, 100);
        let mut run = Run::new(spec, 1).expect("a valid experiment");
        (0..60).for_each(|_| run.update());
        let mut play = StagePlay::new(&run);
        for _ in 0..3 {
            play.step(&run, true);
            let watch = Watch { agent: 1, ..Watch::default() };
            let (stage, joint) = play.show(&run, &watch, true, &mut Counterexample::default());
            let weights = run.buffers.read(run.learner.agents.block.weights);
            let q_of = |agent: usize, obs: &[f32]| {
                let mut x = wide(obs);
                x.extend((0..2).map(|i| if i == agent { 1.0 } else { 0.0 }));
                mlp(run.learner.agents.net(agent as u32).expect("it learns").0, &weights, &x)
            };
            let q: Vec<Vec<f64>> = (0..2).map(|agent| q_of(agent, &stage.observations[agent])).collect();
            for (agent, (shown, q)) in stage.per_action.iter().zip(&q).enumerate() {
                assert_eq!(shown.len(), 5);
                shown.iter().zip(q).for_each(|(&shown, &q)| assert_near(shown, q, "Q"));
                let best = q.iter().copied().fold(f64::MIN, f64::max);
                assert_near(stage.per_action[agent][stage.greedy[agent] as usize], best, "the greedy action's Q");
            }
            let Some(joint) = joint else {
                assert_eq!(algo, AlgoChoice::Iql);
                continue;
            };
            let state = wide(&stage.state);
            let q_tot = |q: &[f64]| match run.learner.central.mixer() {
                None => q.iter().sum(),
                Some(m) => {
                    let weights = run.buffers.read(m.block.weights);
                    mixer(&m.net, positivity == PositivityChoice::Softplus, &weights, &state, q)
                }
            };
            for (k, &shown) in joint.learned.table.iter().enumerate() {
                assert_near(shown, q_tot(&[q[0][k / 5], q[1][k % 5]]), "Q_tot");
            }
            // The surface's corners lie at the ends of its axes; rows go along y.
            let (x, y) = (joint.learned.x, joint.learned.y);
            let corner = |x: f32, y: f32| q_tot(&[f64::from(x), f64::from(y)]);
            let side = joint.learned.points as usize;
            assert_near(joint.learned.surface[side - 1], corner(x.1, y.0), "surface");
            assert_near(joint.learned.surface[side * (side - 1)], corner(x.0, y.1), "surface");
        }
    }
}

#[test]
fn p22_displayed_loss_and_norm_are_those_of_the_last_gradient_step() {
    for algo in ALL {
        let mut spec = ExperimentSpec { algo, ..ExperimentSpec::default() };
        spec.learner.warmup = 100;
        let mut run = Run::new(spec, 1).expect("a valid experiment");
        assert_eq!(run.loss_and_norm(), None, "nothing is shown before there is something to show");
        (0..20).for_each(|_| run.update());
        let (loss, norm) = run.loss_and_norm().expect("gradient steps were taken");
        let value = if algo == AlgoChoice::Iql { "taken" } else { "q_tot" };
        let (value, y) = (named(&run.learner, &run.buffers, value), named(&run.learner, &run.buffers, "td_target"));
        let square: f64 = value.iter().zip(y.iter()).map(|(q, y)| f64::from(y - q) * f64::from(y - q)).sum();
        assert_near(loss, square / y.len() as f64, "loss: one mean, over env steps and value columns");
        let blocks = run.learner.blocks();
        let grad: Vec<f32> = blocks.flat_map(|(_, block)| run.buffers.read(block.grad).clone()).collect();
        assert_near(norm, grad.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt(), "gradient norm");
    }
}

/// An episode played with the rules alone.
struct Episode {
    env_steps: u32,
    returns: Vec<f64>,
    solved: bool,
}

/// Acts greedily on the run's weights from enumerated start `start`.
fn play_greedily(run: &Run, start: u32) -> Episode {
    let env = &*run.learner.env;
    let info = env.info();
    let n = info.num_agents as usize;
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let mut state = EnvState::new(info);
    let mut returns = vec![0.0; n];
    if env.reset_to(state.view_mut(), start) {
        return Episode { env_steps: 0, returns, solved: true };
    }
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    for step in 1..=info.max_steps {
        let (q, legal) = (probe.outputs(state.view()), probe.legal(state.view()));
        let actions: Vec<u32> = q.iter().zip(&legal).map(|(q, legal)| greedy(q, legal)).collect();
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        // Greedy play in a world that draws nothing once it has begun.
        let ended = env.step(state.view_mut(), &actions, &Stream::new(0, "unused").env(0, 0, step), &mut out);
        returns.iter_mut().zip(&rewards).for_each(|(sum, &r)| *sum += r);
        if ended.any() {
            return Episode { env_steps: step, returns, solved: ended.terminated };
        }
    }
    unreachable!("an episode ends at its time limit")
}

fn assert_evaluates(run: &Run, point: &EvalPoint) {
    let starts = run.learner.env.info().enumerated_starts;
    assert_eq!((point.episodes, point.ci95), (starts, 0.0));
    let played: Vec<Episode> = (0..starts).map(|start| play_greedily(run, start)).collect();
    let mean = |of: &dyn Fn(&Episode) -> f64| played.iter().map(of).sum::<f64>() / f64::from(starts);
    assert_near(point.mean, mean(&|episode| f64::from(episode.env_steps)), "steps");
    assert_near(point.solved, mean(&|episode| f64::from(u8::from(episode.solved))), "solved");
    for (i, &shown) in point.returns.iter().enumerate() {
        assert_near(shown, mean(&|episode| episode.returns[i]), "return");
    }
    assert_eq!(Some(point.max), played.iter().map(|episode| episode.env_steps as f32).reduce(f32::max));
}

#[test]
fn p40_evaluation_runs_on_the_parameters_just_trained() {
    for algo in ALL {
        let mut spec = ExperimentSpec { algo, eval_every: 320, ..ExperimentSpec::default() };
        (spec.pellet.limit, spec.learner.warmup, spec.learner.lr) = (12, 64, 5e-3);
        let mut run = Run::new(spec, 1).expect("a valid experiment");
        run.prepare();
        assert_evaluates(&run, &run.evals[0]);
        let mut curve = Vec::new();
        for _ in 0..12 {
            let known = run.evals.len();
            while run.evals.len() == known {
                run.update();
            }
            let point = run.evals.last().expect("just added");
            assert_eq!((point.update, point.env_steps), (run.updates(), run.count(ENV_STEP)));
            assert_evaluates(&run, point);
            curve.push(point.mean.to_bits());
        }
        curve.dedup();
        assert!(curve.len() > 3, "{algo:?}: the curve is stuck");
    }
}

#[test]
fn p40_evaluation_has_worlds_and_streams_of_its_own() {
    let mut spec = ExperimentSpec::default();
    (spec.pellet.start, spec.learner.warmup) = (StartChoice::Random, 100);
    (spec.learner.eps, spec.learner.eps_end) = (1.0, 1.0);
    spec.eval_episodes = 30;
    let mut run = Run::new(spec.clone(), 1).expect("a valid experiment");
    (0..20).for_each(|_| run.update());
    let learner = &run.learner;
    let training = || -> Vec<Vec<u32>> {
        let infos = learner.plan.real_infos().iter().enumerate();
        let of_training = infos.filter(|(_, info)| !info.name.starts_with("evaluation"));
        of_training.map(|(i, _)| run.buffers.real(i).iter().map(|x| x.to_bits()).collect()).collect()
    };
    let (before, counters) = (training(), run.buffers.read(learner.clock.counters).clone());
    let greedy = evaluate(learner, &run.buffers);
    assert!(run.buffers.read(learner.evaluation.world.explored).iter().all(|&explored| explored == 0));
    assert_eq!(evaluate(learner, &run.buffers), greedy, "fixed streams: the same weights, the same number");
    let mut other = Run::new(ExperimentSpec { eval_policy: EvalChoice::Exploring, ..spec.clone() }, 1).expect("valid");
    (0..20).for_each(|_| other.update());
    assert_eq!(other.weights_hash(), run.weights_hash(), "how it is evaluated does not change a run");
    let exploring = evaluate(&other.learner, &other.buffers);
    assert!(other.buffers.read(other.learner.evaluation.world.explored).iter().all(|&explored| explored == 1));
    assert_ne!(greedy.mean, exploring.mean);
    assert!(greedy.episodes == 30 && greedy.ci95 > 0.0);
    assert_eq!(training(), before);
    assert_eq!(*run.buffers.read(learner.clock.counters), counters);

    // Its starts are not those of the training environments.
    let starts = |world: &World| {
        let fresh = learner.start::<f32>();
        learner.evaluation.list.calls().next().expect("begins with a reset").1.run_f32(&fresh);
        let ints = fresh.read(world.ints);
        ints.chunks_exact(world.env.info().ints as usize).take(8).map(<[i32]>::to_vec).collect::<Vec<_>>()
    };
    assert_ne!(starts(&learner.world), starts(&learner.evaluation.world));

    // Both policies are to be had.
    spec.eval_policy = EvalChoice::Exploring;
    let first = |spec: &ExperimentSpec| {
        let mut run = Run::new(spec.clone(), 1).expect("a valid experiment");
        run.prepare();
        run.evals[0].clone()
    };
    let as_it_explores = first(&spec);
    spec.eval_policy = EvalChoice::Greedy;
    assert_ne!(as_it_explores.mean, first(&spec).mean);
}

/// Returns of finished training episodes, agent by agent, from the rules and the actions taken.
fn replayed_returns(run: &mut Run, env_steps: u32) -> Vec<Vec<f32>> {
    let env = Arc::clone(&run.learner.env);
    let info = env.info();
    let (n, envs) = (info.num_agents as usize, run.learner.world.envs);
    let stream = Stream::new(run.spec.seed, "environment");
    let mut worlds: Vec<(EnvState, u32, Vec<f32>)> = (0..envs)
        .map(|e| {
            let mut state = EnvState::new(info);
            env.reset(state.view_mut(), &stream.env(e, 0, 0));
            (state, 0, vec![0.0; n])
        })
        .collect();
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    let mut finished = Vec::new();
    while run.count(ENV_STEP) < env_steps {
        step_env(run);
        let actions = run.buffers.read(run.learner.world.action);
        for ((e, (state, episode, returns)), actions) in (0..).zip(&mut worlds).zip(actions.chunks_exact(n)) {
            let draws = stream.env(e, *episode, env.step_count(state.view()) + 1);
            let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
            let ended = env.step(state.view_mut(), actions, &draws, &mut out);
            returns.iter_mut().zip(&rewards).for_each(|(sum, &r)| *sum += r as f32);
            if ended.any() {
                finished.push(std::mem::replace(returns, vec![0.0; n]));
                *episode += 1;
                env.reset(state.view_mut(), &stream.env(e, *episode, 0));
            }
        }
    }
    finished
}

#[test]
fn p45_returns_are_raw_and_kept_for_each_agent() {
    let recent = |standardise: bool| {
        let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, AlgoChoice::Iql);
        (spec.pellet.reward, spec.pellet.alpha) = (RewardChoice::First, 0.25);
        (spec.pellet.move_cost, spec.pellet.pellets, spec.pellet.limit) = (0.125, 3, 15);
        let l = &mut spec.learner;
        (l.explore, l.warmup, l.standardise, l.gamma) = (ExploreChoice::Uniform, 100, standardise, 0.5);
        let mut run = Run::new(spec, 1).expect("a valid experiment");
        let finished = replayed_returns(&mut run, 4_000);
        assert!(run.count(EPISODES) as usize == finished.len() && finished.len() > RECENT as usize);
        let recent = run.buffers.read(run.learner.tally.recent).clone();
        // A ring: episode k stands at k mod 64.
        for (k, returns) in finished.iter().enumerate().skip(finished.len() - RECENT as usize) {
            let at = k % RECENT as usize * 2;
            assert_eq!(recent[at..at + 2], returns[..], "episode {k}");
        }
        assert!(finished.iter().any(|returns| returns[0] != returns[1]));
        let standardised = reward_moments(&run.learner, &run.buffers)[0] > 0.0;
        assert_eq!(standardised, standardise);
        recent
    };
    assert_eq!(recent(true), recent(false), "what learning makes of a reward is not what is reported");
}

#[test]
fn p45_a_team_games_evaluation_reports_each_agents_undiscounted_return() {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Iql);
    (spec.matrix.game, spec.matrix.repeat, spec.learner.gamma) = (GameChoice::Pennies, 10, 0.5);
    spec.learner.standardise = true;
    let mut run = Run::new(spec, 1).expect("a valid experiment");
    run.prepare();
    let returns = play_greedily(&run, 0).returns;
    let point = &run.evals[0];
    assert_eq!(wide(&point.returns), returns);
    assert_eq!(point.returns[0].abs(), 10.0, "ten rounds, neither discounted nor averaged");
    assert_eq!(point.returns[0], -point.returns[1]);
}
