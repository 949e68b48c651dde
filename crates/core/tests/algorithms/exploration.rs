//! Who explores, how often, and by what: ε in env steps, legal actions, agent ids, execution buffers alone.

use std::collections::BTreeSet;

use tandem_core::base::rng::{Stream, below, uniform};
use tandem_core::env::api::{Ended, EnvState};
use tandem_core::experiment::knobs::{gradient_steps_per_env_step, remarks};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, GameChoice};
use tandem_core::marl::parts::clock::{ENV_STEP, GRADIENT_STEP, RING_FILL, UPDATE};
use tandem_core::marl::parts::explore::epsilon_greedy;
use tandem_core::marl::probe::{Probe, greedy};
use tandem_core::marl::settings::{ExploreChoice, LearnerSettings};
use tandem_core::nn::graph::Phase;

use crate::support::{ALL, POLICIES, Tiny, counter, learner, settings, step_env, update};

#[test]
fn p10_exploration_never_picks_an_illegal_action() {
    let (random, stream) = (Stream::new(1, "cases"), Stream::new(1, "explore"));
    let epsilons = [0.0, f32::MIN_POSITIVE / 2.0, 1e-30, 0.05, 0.5, 1.0 - f32::EPSILON, 1.0, 2.0];
    let mut chosen_by_chance = [[0_u32; 6]; 2];
    for case in 0..1_000_000_u32 {
        let words = random.words([case, 0, 0, 0]);
        let mask: [u32; 6] = std::array::from_fn(|a| words[0] >> a & 1);
        // Q of every size, the illegal ones the most tempting.
        let size = [1e-30, 1.0, 1e30, f32::MAX][words[1] as usize % 4];
        let value = |a: usize| size * (uniform(words[2].rotate_left(5 * a as u32)) - 0.5);
        let q: [f32; 6] = std::array::from_fn(|a| if mask[a] == 1 { value(a) } else { f32::MAX });
        let epsilon = epsilons[below(words[3], 8) as usize];
        let (action, explored) = epsilon_greedy(&q, &mask, epsilon, stream.words([0, 0, case, 0]));
        if mask == [0; 6] {
            assert_eq!((action, explored), (0, false), "nothing to choose from");
            continue;
        }
        assert_eq!(mask[action as usize], 1, "case {case}: {action} of {mask:?} at ε = {epsilon}");
        let best = q.iter().zip(mask).filter(|(_, m)| *m == 1).map(|(q, _)| *q).fold(f32::MIN, f32::max);
        assert!(explored || q[action as usize] == best);
        assert!(epsilon > 0.0 || !explored, "ε = 0 explores");
        assert!(epsilon < 1.0 || explored, "ε = 1 does not explore");
        if mask.iter().sum::<u32>() == 6 && epsilon >= 0.05 {
            chosen_by_chance[usize::from(explored)][action as usize] += 1;
        }
    }
    let [least, most] = [u32::min, u32::max].map(|f| chosen_by_chance[1].into_iter().reduce(f).expect("six actions"));
    assert!(least > 1_000 && most < least + least / 5, "exploration is uneven: {chosen_by_chance:?}");
}

/// In whole runs the world itself watches.
#[test]
fn p10_a_world_never_sees_an_illegal_action() {
    for (explore, eps) in [(ExploreChoice::Uniform, 0.0), (ExploreChoice::EpsilonGreedy, 0.5)] {
        let mut env = Tiny::new(3, 5, 8, 8);
        let is_legal = |t: u32, agent: u32, action: u32| !(t + agent * 2 + action).is_multiple_of(3);
        env.legal = Box::new(is_legal);
        env.rules = Box::new(move |t, actions, rewards| {
            assert!((0..).zip(actions).all(|(agent, &action)| is_legal(t, agent, action)));
            rewards.fill(actions[0] as f32);
            Ended { terminated: t == 7, truncated: false }
        });
        let settings = LearnerSettings { explore, eps, envs: 8, rollout: 50, batch: 8, buffer: 100, ..settings() };
        let learner = learner(env, AlgoChoice::Qmix, &settings);
        let buffers = learner.start::<f32>();
        (0..50).for_each(|_| update(&learner, &buffers));
        assert_eq!(counter(&learner, &buffers, ENV_STEP), 20_000);
    }
}

/// The schedule is a function of env steps: how many environments gather them and how often updates come is nothing
/// to it. And ε is how often agents explore.
#[test]
fn p24_epsilon_falls_with_env_steps() {
    let at_env_steps = |envs: u32, rollout: u32| {
        let mut spec = ExperimentSpec::default();
        let l = &mut spec.learner;
        (l.eps, l.eps_end, l.eps_over) = (1.0, 0.1, 1_600);
        (l.envs, l.rollout, l.warmup) = (envs, rollout, u32::MAX);
        let mut run = Run::new(spec, 1).expect("a valid experiment");
        let mut seen = Vec::new();
        let mut explored = [0_u32; 2];
        while run.count(ENV_STEP) < 3_200 {
            let (env_steps, epsilon) = (run.count(ENV_STEP), run.epsilon());
            step_env(&mut run);
            let in_use = run.buffers.read(run.learner.clock.epsilon)[0];
            if (env_steps / envs).is_multiple_of(rollout) {
                assert_eq!(epsilon, in_use, "the ε announced is the ε used");
                if env_steps.is_multiple_of(800) {
                    seen.push((env_steps, in_use));
                }
            }
            let by_chance: u32 = run.buffers.read(run.learner.world.explored).iter().sum();
            if in_use < 0.11 {
                explored[0] += by_chance;
                explored[1] += 2 * envs;
            }
        }
        let share = f64::from(explored[0]) / f64::from(explored[1]);
        assert!((share - 0.1).abs() < 0.02, "{share} of choices explored at ε = 0.1");
        seen
    };
    let seen = at_env_steps(8, 4);
    assert_eq!(seen, [(0, 1.0), (800, 0.55), (1_600, 0.1), (2_400, 0.1)]);
    assert_eq!(at_env_steps(1, 16), seen);
    assert_eq!(at_env_steps(32, 1), seen);
}

/// Gradient steps per env step are what the settings say, whatever the number of environments.
#[test]
fn p23_the_training_ratio_is_what_the_settings_say() {
    for (envs, rollout, grad_steps, env) in
        [(8, 4, 2, EnvChoice::Pellet), (1, 1, 1, EnvChoice::Pellet), (5, 6, 3, EnvChoice::TwoStep)]
    {
        let mut spec = ExperimentSpec::defaults(env, AlgoChoice::Vdn);
        let l = &mut spec.learner;
        (l.envs, l.rollout, l.grad_steps, l.warmup, l.batch, l.buffer) = (envs, rollout, grad_steps, 0, 4, 50);
        let mut run = Run::new(spec.clone(), 1).expect("a valid experiment");
        (0..40).for_each(|_| run.update());
        let (updates, env_steps) = (run.count(UPDATE), run.count(ENV_STEP));
        assert_eq!((updates, env_steps), (40, 40 * envs * rollout));
        let steps_per_segment = if env == EnvChoice::TwoStep { 2 } else { 1 };
        // Only updates before the first full minibatch are without gradient steps.
        let without = (1..=40).filter(|u| u * envs * rollout / steps_per_segment < 4).count() as u32;
        assert_eq!(run.count(GRADIENT_STEP), (40 - without) * grad_steps);
        let ratio = f64::from(grad_steps * 40) / f64::from(env_steps);
        assert!((ratio - f64::from(gradient_steps_per_env_step(&spec))).abs() < 1e-6);
        assert_eq!(run.count(RING_FILL), (env_steps / steps_per_segment).min(50), "replay counts segments");
    }
}

/// With one network for all, agents that see the same do the same, unless they are told who they are.
#[test]
fn p37_without_an_id_equal_observations_give_equal_actions() {
    let actions_of_agents = |agent_id: bool, shared: bool| {
        let mut env = Tiny::new(3, 5, 4, 4);
        env.observe = Box::new(|t, _, obs| obs.fill(t as f32));
        let learner = learner(env, AlgoChoice::Vdn, &LearnerSettings { agent_id, shared, ..settings() });
        let buffers = learner.start::<f32>();
        let probe = Probe { learner: &learner, buffers: &buffers };
        (0..4)
            .map(|t| {
                let at = EnvState { ints: vec![t], reals: vec![] };
                let q = probe.outputs(at.view());
                let distinct: BTreeSet<Vec<u32>> = q.iter().map(|q| q.iter().map(|x| x.to_bits()).collect()).collect();
                let greedy: BTreeSet<u32> = q.iter().map(|q| greedy(q, &[1; 5])).collect();
                (distinct.len(), greedy.len())
            })
            .collect::<Vec<_>>()
    };
    assert!(actions_of_agents(false, true).iter().all(|&same| same == (1, 1)));
    let with_id = actions_of_agents(true, true);
    assert!(with_id.iter().all(|&(distinct, _)| distinct == 3));
    assert!(with_id.iter().any(|&(_, greedy)| greedy > 1));
    assert!(actions_of_agents(false, false).iter().all(|&(distinct, _)| distinct == 3), "own networks need no id");

    let told = |agent_id: bool| {
        let mut spec = ExperimentSpec::default();
        spec.learner.agent_id = agent_id;
        remarks(&spec).iter().any(|remark| remark.id == "remark.no_agent_id")
    };
    assert!(told(false) && !told(true));
}

/// Whatever a list does to act reads buffers that agents may see, and nothing else; see also the test that does not
/// compile in `nn/buffers.rs`.
#[test]
fn p38_acting_reads_execution_buffers_alone() {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Qmix);
    spec.matrix.game = GameChoice::Climbing;
    for algo in ALL.into_iter().chain(POLICIES) {
        let spec = if algo.is_policy_gradient() { ExperimentSpec::defaults(spec.env, algo) } else { spec.clone() };
        let run = Run::new(ExperimentSpec { algo, ..spec.clone() }, 1).expect("a valid experiment");
        let infos = run.learner.plan.real_infos();
        let mut acting = 0;
        for list in [&run.learner.rollout, &run.learner.evaluation.list] {
            for (_, call) in list.calls().filter(|(phase, _)| *phase == Phase::Act) {
                acting += 1;
                let reals = call.wires().reads.into_iter().filter(|(kind, _)| *kind == 0);
                for (_, index) in reals {
                    let info = &infos[index as usize];
                    assert!(info.execution, "{} reads {}", call.name(), info.name);
                }
            }
        }
        assert_eq!(acting, 4, "a network and a choice, in training and in evaluation");
        assert!(infos.iter().any(|info| info.name == "train.state" && !info.execution));
        let is_hidden = |name: &str| infos.iter().any(|info| info.name == name && !info.execution);
        assert_eq!(is_hidden("critic.weights"), algo.is_policy_gradient(), "a critic is training data");
        assert_eq!(is_hidden("mixer.weights"), algo == AlgoChoice::Qmix);
    }
}
