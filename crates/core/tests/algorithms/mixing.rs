//! Value factorisation: the mixer's inputs, individual-global-max by enumeration, and games it refuses.

use tandem_core::base::lanes::padded;
use tandem_core::env::api::Frame;
use tandem_core::env::board::BoardSpec;
use tandem_core::env::particles::Scenario;
use tandem_core::experiment::command::{Command, Watch};
use tandem_core::experiment::knobs::{remarks, why_not};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{JointValues, Report, Sentence, Stage};
use tandem_core::experiment::spec::{
    AlgoChoice, EnvChoice, ExperimentSpec, GameChoice, Payoffs, RewardChoice, StartChoice,
};
use tandem_core::experiment::stage::{Counterexample, StagePlay};
use tandem_core::experiment::world;
use tandem_core::marl::learner::Learner;
use tandem_core::marl::registry::accepts;
use tandem_core::marl::settings::{LearnerSettings, TeamRewardChoice};
use tandem_core::nn::cpu::{mixer_backward, mixer_forward};
use tandem_core::nn::graph::Buffers;

use crate::support::{Tiny, learner, named, set_row, settings, update};

/// Greedy actions and whether they maximise Q_tot over all joint actions, found with the mixer's training kernel.
fn enumerate(run: &Run, stage: &Stage) -> (Vec<usize>, bool) {
    let mixer = run.learner.central.mixer().expect("QMIX");
    let weights = run.buffers.read(mixer.block.weights);
    let (n, actions) = (stage.per_action.len(), stage.per_action[0].len());
    let greedy: Vec<usize> = stage
        .per_action
        .iter()
        .map(|q| (0..actions).reduce(|best, a| if q[a] > q[best] { a } else { best }).expect("actions"))
        .collect();
    let joint = actions.pow(n as u32);
    let action_of = |index: usize, agent: usize| index / actions.pow(agent as u32) % actions;
    let q: Vec<f32> = (0..joint).flat_map(|k| (0..n).map(move |i| stage.per_action[i][action_of(k, i)])).collect();
    let mut state = vec![0.0; padded(stage.state.len() as u32) as usize];
    state[..stage.state.len()].copy_from_slice(&stage.state);
    let mut trace = vec![0.0; joint * mixer.net.trace_width() as usize];
    let mut q_tot = vec![0.0; joint];
    mixer_forward(&mixer.net, &weights, &vec![0; joint], &state, &q, &mut trace, &mut q_tot);
    let own = (0..joint).find(|&k| (0..n).all(|i| action_of(k, i) == greedy[i])).expect("one of all joint actions");
    let (low, high) = q_tot.iter().fold((f32::MAX, f32::MIN), |(low, high), &q| (low.min(q), high.max(q)));
    (greedy, q_tot[own] >= high - 1e-5 * (high - low))
}

/// Plays an episode on the stage and hands every state to `look`.
fn each_state(run: &Run, watch: &Watch, mut look: impl FnMut(&Stage, &JointValues)) {
    let mut play = StagePlay::new(run);
    loop {
        let (stage, joint) = play.show(run, watch, true, &mut Counterexample::default());
        look(&stage, &joint.expect("QMIX has joint values"));
        if play.has_ended() {
            break;
        }
        play.step(run, true);
    }
}

fn pellet(agents: u32, seed: u64) -> ExperimentSpec {
    let mut spec = ExperimentSpec { seed, ..ExperimentSpec::default() };
    (spec.pellet.agents, spec.pellet.start, spec.pellet.limit) = (agents, StartChoice::Opposite, 20);
    (spec.learner.warmup, spec.learner.hidden, spec.learner.hyper_hidden) = (100, 16, 16);
    spec
}

#[test]
fn p16_igm_holds_at_every_state_by_enumeration() {
    for (agents, pair) in [(2, (0, 1)), (3, (2, 0))] {
        let mut run = Run::new(pellet(agents, 3), 1).expect("a valid experiment");
        for _ in 0..3 {
            let mut states = 0;
            let watch = Watch { pair, ..Watch::default() };
            each_state(&run, &watch, |stage, joint| {
                states += 1;
                let (greedy, holds) = enumerate(&run, stage);
                assert!(holds, "the agents' own choices {greedy:?} do not maximise Q_tot");
                assert!(joint.learned.igm && joint.learned.complete);
                assert_eq!(joint.learned.enumerated, 5_u32.pow(agents));
                assert_eq!(joint.learned.greedy, (greedy[pair.0 as usize] as u32, greedy[pair.1 as usize] as u32));
                let acted_on = states - u32::from(stage.ended);
                assert_eq!(joint.igm_share, (1.0, acted_on), "share of the states acted on so far");
            });
            assert!(states > 1);
            (0..30).for_each(|_| run.update());
        }
    }
}

#[test]
fn p16_dropping_the_constraint_yields_a_counterexample() {
    for seed in 1..=4 {
        let mut run = Run::new(pellet(2, seed), 1).expect("a valid experiment");
        (0..50).for_each(|_| run.update());
        let watch = Watch { without_abs: true, ..Watch::default() };
        let play = StagePlay::new(&run);
        let joint = play.show(&run, &watch, false, &mut Counterexample::default()).1.expect("QMIX has joint values");
        assert!(joint.learned.igm, "with |w|, nothing is lost");
        assert!(joint.without_abs.is_some());
        let (frame, mixed) = joint.counterexample.expect("200 states show one");
        assert!(matches!(frame, Frame::Grid { .. }));
        assert!(!mixed.igm && mixed.complete);
        // The table itself says so: some joint action beats the agents' own choices.
        let at = |(row, column): (u32, u32)| mixed.table[(row * 5 + column) as usize];
        assert!(at(mixed.best) > at(mixed.greedy), "{:?} against {:?}", at(mixed.best), at(mixed.greedy));
        assert!(mixed.utilities.0.iter().all(|&q| q <= mixed.utilities.0[mixed.greedy.0 as usize]));
    }
    // A run that is trained without the constraint says of itself what it is.
    let mut free = pellet(2, 1);
    free.learner.monotone = false;
    assert!(remarks(&free).iter().any(|remark| remark.id == "remark.not_qmix"));
    let mut broken = 0;
    for seed in 0..20 {
        let run = Run::new(ExperimentSpec { seed, ..free.clone() }, 1).expect("a valid experiment");
        each_state(&run, &Watch::default(), |stage, joint| {
            assert_eq!(joint.learned.igm, enumerate(&run, stage).1, "the verdict is the enumeration's");
            broken += u32::from(!joint.learned.igm);
        });
    }
    assert!(broken > 0);
}

/// Two agents with constant values: only the mixer's own inputs can move Q_tot.
fn constant_agents() -> (Learner, Buffers<f32>) {
    let mut env = Tiny::new(2, 2, 8, 8);
    env.observe = Box::new(|t, agent, obs| obs.fill((t + agent) as f32));
    let settings = LearnerSettings { rollout: 4, batch: 4, buffer: 4, hyper_layers: 2, ..settings() };
    let learner = learner(env, AlgoChoice::Qmix, &settings);
    let buffers = learner.start();
    for net in &learner.agents.nets {
        let mut weights = buffers.write(learner.agents.block.weights);
        weights[net.range()].fill(0.0);
        let bias = net.layers[1].bias.range();
        weights[bias][..2].copy_from_slice(&[1.5, -0.5]);
    }
    update(&learner, &buffers);
    (learner, buffers)
}

/// Q_tot of the minibatch in a gradient step from here, the parameters being those of `from`.
fn q_tot(learner: &Learner, from: &Buffers<f32>, change: impl Fn(&Buffers<f32>)) -> Vec<f32> {
    let buffers = from.clone();
    change(&buffers);
    learner.gradient_steps.run(&buffers);
    named(learner, &buffers, "q_tot").clone()
}

#[test]
fn p17_the_mixer_reads_the_global_state_and_no_observation() {
    let (learner, buffers) = constant_agents();
    // The update above has moved the agents' weights a little; make them constant again.
    for net in &learner.agents.nets {
        let mut weights = buffers.write(learner.agents.block.weights);
        weights[net.layers[0].weight.range()].fill(0.0);
        weights[net.layers[1].weight.range()].fill(0.0);
    }
    let ring = &learner.replay().expect("value-based").ring;
    let plain = q_tot(&learner, &buffers, |_| ());
    assert!(plain.iter().all(|q| q.is_finite()) && plain[0] != plain[1], "states differ: {plain:?}");

    let no_state = q_tot(&learner, &buffers, |b| b.write(ring.state).fill(0.0));
    assert!(plain.iter().zip(&no_state).all(|(a, b)| a != b), "{plain:?} without a state: {no_state:?}");

    // One agent's observation: its own Q may follow it, the mixer's weights may not.
    let width = buffers.read(ring.obs).len() / (4 * 2 * 2);
    let other_obs = q_tot(&learner, &buffers, |b| {
        for row in (0..16).step_by(2) {
            set_row(&mut b.write(ring.obs), width, row, &[3.0; 8]);
        }
    });
    assert_eq!(plain, other_obs);

    // The same change is seen once the agents look: the test is not blind.
    let looking = |b: &Buffers<f32>| {
        for net in &learner.agents.nets {
            b.write(learner.agents.block.weights)[net.layers[0].weight.range()].fill(0.3);
            b.write(learner.agents.block.weights)[net.layers[1].weight.range()].fill(0.2);
        }
    };
    let seeing = q_tot(&learner, &buffers, looking);
    let seeing_other = q_tot(&learner, &buffers, |b| {
        looking(b);
        set_row(&mut b.write(ring.obs), width, 0, &[3.0; 8]);
    });
    assert_ne!(seeing[0], seeing_other[0]);
    assert_eq!(seeing[1..], seeing_other[1..]);
}

/// ∂Q_tot/∂Q_i ≥ 0 at the states and weights of a run in training.
#[test]
fn p15_q_tot_rises_with_every_q_in_a_run() {
    let mut run = Run::new(pellet(3, 5), 1).expect("a valid experiment");
    for _ in 0..5 {
        (0..20).for_each(|_| run.update());
        let mixer = run.learner.central.mixer().expect("QMIX");
        let (net, batch) = (&mixer.net, &run.learner.replay().expect("value-based").batch);
        let weights = run.buffers.read(mixer.block.weights);
        let state = run.buffers.read(batch.state);
        let q = named(&run.learner, &run.buffers, "taken");
        let count = q.len() / 3;
        let rows: Vec<u32> = (0..count as u32).map(|b| 2 * b).collect();
        let mut trace = vec![0.0; count * net.trace_width() as usize];
        let (mut q_tot, mut dq) = (vec![0.0; count], vec![0.0; q.len()]);
        mixer_forward(net, &weights, &rows, &state, &q, &mut trace, &mut q_tot);
        let (ones, mut grad) = (vec![1.0; count], vec![0.0; weights.len()]);
        mixer_backward(net, &weights, &rows, &state, &q, &trace, &ones, &mut Vec::new(), &mut grad, &mut dq);
        assert!(dq.iter().all(|&slope| slope >= 0.0) && dq.iter().any(|&slope| slope > 1e-3));
    }
}

#[test]
fn p18_games_with_individual_rewards_are_refused_with_the_reason() {
    let mut race = ExperimentSpec::default();
    (race.pellet.reward, race.pellet.agents) = (RewardChoice::First, 3);
    let mut pennies = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Vdn);
    pennies.matrix.game = GameChoice::Pennies;
    let mut spread = ExperimentSpec::defaults(EnvChoice::Particles(Scenario::Spread), AlgoChoice::Qmix);
    spread.particles.local_ratio = 0.25;
    let plain = "refuse.individual_rewards";
    let remedied = "refuse.individual_rewards.remedy";
    for (spec, algo, reason, id, args) in [
        (
            &race,
            AlgoChoice::Qmix,
            "QMIX needs one team reward; this game has 3",
            remedied,
            &["QMIX", "3", "knob.reward", "reward=team"][..],
        ),
        (&pennies, AlgoChoice::Vdn, "VDN needs one team reward; this game has 2", plain, &["VDN", "2"]),
        (
            &spread,
            AlgoChoice::Qmix,
            "QMIX needs one team reward; this game has 3",
            remedied,
            &["QMIX", "3", "knob.local_ratio", "local_ratio=0"],
        ),
    ] {
        let spec = ExperimentSpec { algo, ..spec.clone() };
        let refusal = why_not(&spec, algo).expect("refused");
        assert_eq!(refusal, Sentence::new(id, args));
        let env = world::build(&spec).expect("the world itself is fine");
        assert_eq!(
            accepts(algo, TeamRewardChoice::Given, env.info()).map_err(|refusal| refusal.to_string()),
            Err(reason.to_owned())
        );
        assert_eq!(Run::new(spec.clone(), 1).err(), Some(refusal.clone()), "no run is built");
        assert_eq!(why_not(&spec, AlgoChoice::Iql), None);

        // In a session the earlier run goes on.
        let mut session = Session::new();
        session.apply(Command::Load { spec: Box::default(), run_to: 0 });
        session.apply(Command::Load { spec: Box::new(spec), run_to: 0 });
        let reports = session.take_reports();
        assert!(reports.contains(&Report::Refused(refusal)));
        assert_eq!(session.run().map(|run| run.spec.clone()), Some(ExperimentSpec::default()));
    }
    // The rewards of a board add up to 0, however they are added up.
    for team_reward in [TeamRewardChoice::Given, TeamRewardChoice::Sum, TeamRewardChoice::Mean] {
        let mut board = ExperimentSpec::defaults(EnvChoice::Board(BoardSpec::TicTacToe), AlgoChoice::Iql);
        board.learner.team_reward = team_reward;
        assert_eq!(why_not(&board, AlgoChoice::Vdn), Some(Sentence::new("refuse.zero_sum", &["VDN"])));
    }
    // What is summed rather than refused is said.
    let mut costly = ExperimentSpec::default();
    costly.pellet.move_cost = 0.1;
    assert_eq!(why_not(&costly, AlgoChoice::Qmix), None);
    assert!(remarks(&costly).iter().any(|remark| remark.id == "remark.costs_summed"));
}

#[test]
fn p18_a_team_paid_by_sum_or_mean_learns_what_it_would_from_that_one_reward() {
    let payoffs = [(4.0, 2.0), (-1.0, 3.0), (0.5, 0.5), (2.0, -2.0)];
    let game = |algo, team_reward, cells: Vec<(f32, f32)>| {
        let mut spec = ExperimentSpec::defaults(EnvChoice::Matrix, algo);
        spec.matrix.game = GameChoice::Custom;
        spec.matrix.payoffs = Some(Payoffs { rows: 2, columns: 2, cells });
        spec.learner.team_reward = team_reward;
        spec
    };
    let trained = |spec: &ExperimentSpec| {
        let mut run = Run::new(spec.clone(), 1).expect("a valid experiment");
        (0..50).for_each(|_| run.update());
        run
    };
    for algo in [AlgoChoice::Vdn, AlgoChoice::Qmix] {
        for (team, share, remark) in [
            (TeamRewardChoice::Sum, 1.0, "remark.rewards_summed"),
            (TeamRewardChoice::Mean, 0.5, "remark.rewards_averaged"),
        ] {
            let own = game(algo, team, payoffs.to_vec());
            let together = payoffs.map(|(a, b)| ((a + b) * share, (a + b) * share));
            let common = game(algo, TeamRewardChoice::Given, together.to_vec());
            assert_eq!((why_not(&own, algo), why_not(&common, algo)), (None, None));
            let (own_run, common_run) = (trained(&own), trained(&common));
            assert_eq!(own_run.weights_hash(), common_run.weights_hash(), "{algo:?} {team:?}");
            // What is told stays each agent's own.
            let returns = &own_run.evals[0].returns;
            assert!(payoffs.contains(&(returns[0], returns[1])), "{returns:?}");
            assert!(remarks(&own).iter().any(|said| said.id == remark) && remarks(&common).is_empty());
            assert_eq!(parse(&write(&Link::of(own.clone()))).spec, own, "a link says what the team is paid");
        }
    }
    let sum = game(AlgoChoice::Iql, TeamRewardChoice::Sum, payoffs.to_vec());
    assert!(!write(&Link::of(sum)).contains("team="), "where nothing is joined there is nothing to choose");
}

#[test]
fn p18_only_the_agents_that_are_joined_are_paid_together() {
    // Three hunters learn against a script: what the prey earns is not theirs.
    let link = "env=tag&algo=vdn&team=sum&seats=learner,learner,learner,uniform&envs=2&rollout=25&warmup=0&batch=2";
    let mut run = Run::new(parse(link).spec, 1).expect("a valid experiment");
    assert_eq!(run.learner.settings.team_reward, TeamRewardChoice::Sum);
    (0..4).for_each(|_| run.update());
    let batch = run.learner.replay().expect("value-based").batch;
    let rewards = run.buffers.read(batch.reward);
    let mut paid = 0.0;
    for rewards in rewards.chunks_exact(5) {
        assert_eq!(rewards[4], rewards[0] + rewards[1] + rewards[2]);
        paid += rewards[3].abs();
    }
    assert!(paid > 0.0, "the prey's reward is another");
}
