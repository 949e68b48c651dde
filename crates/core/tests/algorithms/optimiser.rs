//! What follows the gradient: when and how targets follow, the learning rate that reaches Adam, and how far its first
//! step goes.

use tandem_core::env::api::Ended;
use tandem_core::experiment::command::Weights;
use tandem_core::experiment::run::Run;
use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::{ENTROPY_NOW, ENV_STEP};
use tandem_core::marl::parts::optimise::{Block, Target};
use tandem_core::marl::seats::Controller::{Frozen, Learner as Learns};
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, TargetChoice};
use tandem_core::nn::graph::{Buffers, Training};

use crate::seats::{run, seats, updates};
use crate::support::{POLICIES, Tiny, learner, named, policy_settings, settings, update};

/// A QMIX run that is always paid 1, so that no gradient is 0.
fn paid(settings: &LearnerSettings) -> Learner {
    let mut env = Tiny::new(2, 2, 4, 4);
    env.rules = Box::new(|t, _, rewards| {
        rewards.fill(1.0);
        Ended { terminated: false, truncated: t == 3 }
    });
    learner(env, AlgoChoice::Qmix, settings)
}

fn blocks(learner: &Learner) -> Vec<Block<Training>> {
    learner.blocks().map(|(_, block)| block).collect()
}

#[test]
fn hard_targets_are_copied_at_every_nth_gradient_step_and_at_no_other() {
    let learner = paid(&LearnerSettings { target: TargetChoice::Hard, target_every: 3, ..settings() });
    let buffers = learner.start::<f32>();
    for step in 1..=9 {
        let read = |t: &Target| (buffers.read(t.weights).clone(), buffers.read(t.target).clone());
        let before: Vec<_> = learner.targets.iter().map(read).collect();
        assert_eq!(before.len(), 2, "agents and mixer");
        update(&learner, &buffers);
        for (target, (weights, copy)) in learner.targets.iter().zip(before) {
            assert_ne!(*buffers.read(target.weights), weights, "step {step} learns nothing");
            let expected = if step % 3 == 0 { buffers.read(target.weights).clone() } else { copy };
            assert_eq!(*buffers.read(target.target), expected, "step {step}");
        }
    }
}

#[test]
fn soft_targets_move_by_tau_at_every_gradient_step() {
    let tau = 0.125;
    let learner = paid(&LearnerSettings { target: TargetChoice::Soft, tau, target_every: 2, ..settings() });
    let buffers = learner.start::<f64>();
    for _ in 0..4 {
        let before: Vec<_> = learner.targets.iter().map(|target| buffers.read(target.target).clone()).collect();
        update(&learner, &buffers);
        for (target, before) in learner.targets.iter().zip(before) {
            let (weights, target) = (buffers.read(target.weights), buffers.read(target.target));
            assert_ne!(*target, before);
            for ((target, before), weight) in target.iter().zip(before).zip(weights.iter()) {
                let expected = (1.0 - f64::from(tau)) * before + f64::from(tau) * weight;
                assert!((target - expected).abs() < 1e-14, "{target} instead of {expected}");
            }
        }
    }
}

#[test]
fn the_learning_rates_schedule_reaches_adam() {
    let learner = paid(&LearnerSettings { lr: 1e-3, lr_end: 2e-4, lr_over: 1_000, ..settings() });
    let buffers = learner.start::<f64>();
    learner.rollout.run(&buffers);
    // The same gradient step at other times: what Adam adds to the weights is proportional to the rate.
    let moved = |env_step: u32| -> Vec<f64> {
        let later: Buffers<f64> = buffers.clone();
        later.write(learner.clock.counters)[ENV_STEP] = env_step;
        learner.gradient_steps.run(&later);
        let differences = |block: Block<Training>| {
            let (before, after) = (buffers.read(block.weights), later.read(block.weights));
            before.iter().zip(after.iter()).map(|(before, after)| after - before).collect::<Vec<_>>()
        };
        blocks(&learner).into_iter().map(differences).collect::<Vec<_>>().concat()
    };
    let first = moved(0);
    assert!(first.iter().any(|d| d.abs() > 5e-4));
    for (env_step, share) in [(500, 0.6), (750, 0.4), (1_000, 0.2), (5_000, 0.2)] {
        for (now, first) in moved(env_step).into_iter().zip(&first) {
            assert!((now - share * first).abs() < 1e-9, "env step {env_step}: {now} against {first}");
        }
    }
}

/// An IPPO or MAPPO run after its first rollout.
fn rolled_out(algo: AlgoChoice, settings: &LearnerSettings) -> (Learner, Buffers<f64>) {
    let mut env = Tiny::new(2, 3, 4, 4);
    env.rules = Box::new(|t, actions, rewards| {
        rewards.fill(actions[0] as f32);
        Ended { terminated: false, truncated: t == 3 }
    });
    let learner = learner(env, algo, &LearnerSettings { rollout: 4, ..settings.clone() });
    let buffers = learner.start::<f64>();
    learner.rollout.run(&buffers);
    (learner, buffers)
}

/// The same gradient step with other settings and at another time.
fn stepped(learner: &Learner, from: &Buffers<f64>, settings: &LearnerSettings, env_step: u32) -> Buffers<f64> {
    let buffers = from.clone();
    learner.write_settings(&buffers, settings);
    buffers.write(learner.clock.counters)[ENV_STEP] = env_step;
    learner.gradient_steps.run(&buffers);
    buffers
}

#[test]
fn the_entropys_schedule_reaches_the_policys_gradient() {
    let settings = LearnerSettings { entropy: 0.5, entropy_end: 0.125, entropy_over: 1_000, ..policy_settings() };
    for algo in POLICIES {
        let (learner, buffers) = rolled_out(algo, &settings);
        let gradient = |settings: &LearnerSettings, env_step| {
            let after = stepped(&learner, &buffers, settings, env_step);
            let weight = after.read(learner.clock.scalars)[ENTROPY_NOW];
            (weight, named(&learner, &after, "minibatch.policy.gradient").clone())
        };
        let mut seen = Vec::new();
        for (env_step, entropy) in [(0, 0.5), (500, 0.3125), (1_000, 0.125), (5_000, 0.125)] {
            let constant = LearnerSettings { entropy, entropy_end: entropy, entropy_over: 0, ..settings.clone() };
            let (weight, scheduled) = gradient(&settings, env_step);
            assert_eq!(weight, f64::from(entropy), "{algo:?}, env step {env_step}");
            assert_eq!((weight, &scheduled), (weight, &gradient(&constant, 0).1), "{algo:?}, env step {env_step}");
            seen.push(scheduled);
        }
        assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[2] == seen[3], "{algo:?}: it has an effect");
    }
}

#[test]
fn actors_and_critic_move_at_their_own_rates() {
    let settings = LearnerSettings { lr: 1e-3, lr_end: 1e-3, critic_lr: 4e-3, ..policy_settings() };
    let falling = LearnerSettings { lr_end: 5e-4, lr_over: 100, ..settings.clone() };
    for algo in POLICIES {
        let (learner, buffers) = rolled_out(algo, &settings);
        let moved = |settings: &LearnerSettings, env_step| {
            let after = stepped(&learner, &buffers, settings, env_step);
            let differences = |block: Block<Training>| {
                let (before, after) = (buffers.read(block.weights), after.read(block.weights));
                before.iter().zip(after.iter()).map(|(before, after)| after - before).collect::<Vec<f64>>()
            };
            blocks(&learner).into_iter().map(differences).collect::<Vec<_>>()
        };
        let first = moved(&settings, 0);
        for (moved, rate) in first.iter().zip([1e-3, 4e-3]) {
            let largest = moved.iter().fold(0.0, |largest: f64, d| largest.max(d.abs()));
            assert!((0.9 * rate..=1.000_001 * rate).contains(&largest), "{algo:?}: {largest} at {rate}");
        }
        let other_critic = LearnerSettings { critic_lr: 1e-3, ..settings.clone() };
        for (settings, env_step, shares) in
            [(&other_critic, 0, [1.0, 0.25]), (&falling, 0, [1.0, 1.0]), (&falling, 100, [0.5, 0.5])]
        {
            for ((now, first), share) in moved(settings, env_step).iter().zip(&first).zip(shares) {
                let is_share = |(now, first): (&f64, &f64)| (now - share * first).abs() < 1e-9;
                assert!(now.iter().zip(first).all(is_share), "{algo:?}, env step {env_step}");
            }
        }
    }
}

/// The largest step that one update of one gradient step takes within `places` of the `k`-th block.
fn largest_step(run: &mut Run, k: usize, places: std::ops::Range<usize>) -> f32 {
    let numbers = |run: &Run| run.buffers.read(blocks(&run.learner)[k].weights)[places.clone()].to_vec();
    let before = numbers(run);
    run.update();
    before.iter().zip(numbers(run)).map(|(before, after)| (after - before).abs()).fold(0.0, f32::max)
}

/// Whether a largest step is that of moments of one gradient: ±lr for every parameter whose gradient is not tiny.
fn is_first(step: f32, lr: f32) -> bool {
    (0.9 * lr..=1.001 * lr).contains(&step)
}

const ONE_STEP: [&str; 3] = ["algo=iql", "algo=ippo", "algo=mappo&reward=first"];

/// A run whose updates are one gradient step each, at a constant rate.
fn one_step(link: &str) -> Run {
    let mut spec = run(link).spec;
    let l = &mut spec.learner;
    (l.grad_steps, l.epochs, l.minibatches) = (1, 1, 1);
    (l.lr, l.lr_end, l.lr_over, l.critic_lr) = (5e-4, 5e-4, 0, 5e-4);
    // A change of the returns' scale moves a critic's last layer, too.
    l.value_norm = false;
    spec.eval_every = 1_000_000;
    Run::new(spec, 1).expect("a valid experiment")
}

#[test]
fn moments_that_begin_anew_take_a_first_step_of_the_learning_rate() {
    for algo in ONE_STEP {
        for (start, then) in [("shared=off&seats=learner,frozen", None), ("seats=learner,learner.b", Some(Frozen))] {
            let mut run = one_step(&format!("{algo}&{start}"));
            updates(&mut run, 30);
            if let Some(second) = then {
                // A frozen member of a group is a copy under a name of its own, without moments.
                run.change(seats(&[Learns(0), second]));
                updates(&mut run, 30);
            }
            let group = u8::from(then.is_some());
            run.change(seats(&[Learns(0), Learns(group)]));
            let (net, lr) = (run.learner.agents.nets[1].range(), run.spec.learner.lr);
            let critic = run.learner.central.critic().map(|critic| critic.nets[critic.nets.len() - 1].clone());
            let head = critic.filter(|_| then.is_none()).map(|net| {
                let last = net.layers[net.layers.len() - 1].weight.clone();
                (last.range(), last.stride() as usize, net.range())
            });
            let before = head.as_ref().map(|_| run.buffers.read(blocks(&run.learner)[1].weights).clone());
            let step = largest_step(&mut run, 0, net);
            assert!(is_first(step, lr), "{algo}&{start}: {step} at a rate of {lr}");
            if let (Some((last, stride, net)), Some(before)) = (head, before) {
                let after = run.buffers.read(blocks(&run.learner)[1].weights);
                // A network of its own, or the second head.
                let is_own =
                    |at: &usize| algo.contains("ippo") || (last.contains(at) && (at - last.start) % stride == 1);
                let moved = net.filter(is_own).map(|at| (after[at] - before[at]).abs()).fold(0.0, f32::max);
                assert!(is_first(moved, lr), "{algo}&{start}: values move by {moved} at a rate of {lr}");
            }
        }
    }
}

#[test]
fn the_weights_of_update_0_put_back_take_a_first_step_of_the_learning_rate() {
    for algo in ONE_STEP {
        let mut run = one_step(algo);
        run.prepare();
        updates(&mut run, 5);
        assert_eq!(run.kept().0, Some(0), "only the untrained network has been evaluated");
        run.take_weights(Weights::Best);
        let lengths: Vec<u32> = run.learner.blocks().map(|(layout, _)| layout.len).collect();
        for (k, len) in lengths.into_iter().enumerate() {
            let lr = run.spec.learner.lr;
            run.take_weights(Weights::Best);
            let step = largest_step(&mut run, k, 0..len as usize);
            assert!(is_first(step, lr), "{algo}, block {k}: {step} at a rate of {lr}");
        }
    }
}
