//! One network that moves whoever's turn it is: what a decision earned and led to, computed by hand; openings and other
//! players' moves that are not learned from; players that change places; games whose best moves are known.

use std::sync::Arc;

use tandem_core::base::rng::{Draws, Stream, below, uniform};
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, Frame, StateMut, StateRef, StepOut};
use tandem_core::env::board::BoardSpec;
use tandem_core::env::script::{Script, Turn};
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::matches::OPPONENTS;
use tandem_core::marl::parts::clock::{GRADIENT_STEP, UPDATE};
use tandem_core::marl::probe::{Probe, greedy};
use tandem_core::marl::seats::Controller;
use tandem_core::marl::settings::{AdvantageChoice, AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::Buffers;

use crate::support::{
    POLICIES, Tiny, learner, named, near, policy_settings, run_calls, set_tables, settings, update, words_named,
    write_named,
};

/// Three moves, the last of which wins for the first player.
fn three_plies() -> Tiny {
    let mut env = Tiny::new(2, 2, 3, 3);
    (env.info.in_turns, env.info.common_reward, env.info.team_reward) = (true, false, false);
    env.rules = Box::new(|t, _, rewards| {
        if t == 2 {
            (rewards[0], rewards[1]) = (1.0, -1.0);
        }
        Ended { terminated: t == 2, truncated: false }
    });
    env
}

fn of_board(game: BoardSpec, algo: AlgoChoice, settings: &LearnerSettings) -> Learner {
    Learner::new(Arc::new(game.build()), algo, settings, 1, Evaluations { episodes: 1, explores: false })
}

fn assert_all_near(got: &[f64], expected: &[f64], what: &str) {
    assert!(got.len() == expected.len() && got.iter().zip(expected).all(|(g, e)| near(*g, *e)), "{what}: {got:?}");
}

/// V of the mover at each of eight env steps: two games of three moves, and two moves of a third.
const VALUE: [f64; 8] = [0.1, -0.2, 0.4, 0.3, -0.6, 0.5, 0.2, 0.7];
/// V of whoever moves after the last one.
const EXPECTED: f64 = 0.8;

/// A and R of that rollout, γ = λ = 1/2.
fn judged(advantage: AdvantageChoice, swaps: bool) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let settings =
        LearnerSettings { rollout: 8, gamma: 0.5, gae_lambda: 0.5, n_step: 2, advantage, ..policy_settings() };
    let learner = learner(three_plies(), AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f64>();
    learner.rollout.run(&buffers);
    assert_eq!(*words_named(&learner, &buffers, "rollout.mover"), [0, 1, 0, 0, 1, 0, 0, 1, 0]);
    if swaps {
        words_named(&learner, &buffers, "rollout.mover").iter_mut().for_each(|mover| *mover = 1 - *mover);
        write_named(&learner, &buffers, "rollout.reward").chunks_exact_mut(3).for_each(|row| row.swap(0, 1));
    }
    write_named(&learner, &buffers, "rollout.value").copy_from_slice(&VALUE);
    write_named(&learner, &buffers, "rollout.next_value")[7] = EXPECTED;
    run_calls(&learner.gradient_steps, "turn_advantages", &buffers);
    let read = |name: &str| named(&learner, &buffers, name).clone();
    (read("rollout.advantage"), read("rollout.target"), read("rollout.weight"))
}

#[test]
fn p57_a_decision_is_paid_until_its_maker_moves_again() {
    let (advantage, target, weight) = judged(AdvantageChoice::Gae, false);
    // The winner's last move, and the loser's, whose −1 comes with it.
    let (won, lost) = (|v: f64| 1.0 - v, |v: f64| -1.0 - v);
    // The winner's first move: γ·V of its next one, and λγ times what that one brought beyond V.
    let first = |v: f64, next: f64| 0.5 * next - v + 0.25 * won(next);
    let expected = [
        first(0.1, 0.4),
        lost(-0.2),
        won(0.4),
        first(0.3, 0.5),
        lost(-0.6),
        won(0.5),
        0.5 * EXPECTED - 0.2,
        0.0, // what comes of it is not known
    ];
    assert_all_near(&advantage, &expected, "advantages");
    let returns: Vec<f64> = expected.iter().zip(VALUE).map(|(a, v)| a + v).collect();
    assert_all_near(&target, &returns, "targets");
    assert_eq!(weight, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn n_steps_are_decisions_of_ones_own() {
    let (advantage, ..) = judged(AdvantageChoice::NStep, false);
    // Two decisions of the winner are all there are: γ·1.
    let expected = [0.5 - 0.1, -1.0 + 0.2, 1.0 - 0.4, 0.5 - 0.3, -1.0 + 0.6, 1.0 - 0.5, 0.5 * EXPECTED - 0.2, 0.0];
    assert_all_near(&advantage, &expected, "advantages");
}

/// Which player is which means nothing: the same bits.
#[test]
fn p50_players_that_change_places_are_judged_alike() {
    for advantage in [AdvantageChoice::Gae, AdvantageChoice::NStep] {
        assert_eq!(judged(advantage, false), judged(advantage, true));
    }
}

/// What each decision's segment holds after five moves: a whole game, a move that was answered, and one that was not.
#[test]
fn p57_a_q_learner_bootstraps_from_its_own_next_turn() {
    let settings = LearnerSettings { gamma: 0.5, rollout: 5, batch: 5, buffer: 5, ..settings() };
    let learner = learner(three_plies(), AlgoChoice::Iql, &settings);
    let buffers = learner.start::<f64>();
    let table: [&[f32]; 3] = [&[3.0, 1.0], &[5.0, 6.0], &[2.0, 4.0]];
    set_tables(&learner, &buffers, &table, &table);
    learner.rollout.run(&buffers);
    learner.gradient_steps.run(&buffers);
    let weight = named(&learner, &buffers, "replay.weight").clone();
    assert_eq!(weight, [1.0, 1.0, 1.0, 1.0, 0.0], "the last one is open");
    // The winner's first move leads to its second, worth 4; then its +1 and the loser's −1 end all there is.
    let target = named(&learner, &buffers, "td_target").clone();
    assert_all_near(&target[..4], &[0.5 * 4.0, -1.0, 1.0, 0.5 * 4.0], "targets");
    // One more move closes the segment of whoever is to move then.
    let one = LearnerSettings { rollout: 1, ..settings };
    let learner = crate::support::learner(three_plies(), AlgoChoice::Iql, &one);
    let buffers = learner.start::<f64>();
    let closed = |moves: u32| {
        (0..moves).for_each(|_| learner.rollout.run(&buffers));
        named(&learner, &buffers, "replay.weight").clone()
    };
    assert_eq!(closed(1), [0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(closed(1), [1.0, 0.0, 0.0, 0.0, 0.0], "the reply is known, the winner is to move again");
    assert_eq!(closed(1), [1.0, 1.0, 1.0, 0.0, 0.0], "the game is over for both");
}

/// A minibatch in which nothing is closed teaches nothing, rather than dividing by nothing.
#[test]
fn open_decisions_move_no_weight() {
    let settings = LearnerSettings { batch: 2, buffer: 2, standardise: true, ..settings() };
    let learner = learner(three_plies(), AlgoChoice::Iql, &settings);
    let buffers = learner.start::<f32>();
    let before = buffers.read(learner.agents.block.weights).clone();
    update(&learner, &buffers);
    assert_eq!(buffers.read(learner.clock.counters)[GRADIENT_STEP], 1, "a gradient step was taken");
    assert_eq!(*buffers.read(learner.agents.block.weights), before);
}

#[test]
fn openings_are_drawn_per_game_and_left_out_of_the_loss() {
    let (envs, rollout, plies, share) = (16, 40, 4, 0.75);
    let common = LearnerSettings { envs, rollout, opening: plies, opening_share: share, ..policy_settings() };
    let learner = of_board(BoardSpec::TicTacToe, AlgoChoice::Ippo, &common);
    let buffers = learner.start::<f64>();
    learner.rollout.run(&buffers);
    let (weight, ended) = (named(&learner, &buffers, "rollout.weight"), named(&learner, &buffers, "rollout.ended"));
    let stream = Stream::new(1, "opening");
    let (mut opened_games, mut games) = (0, 0);
    for e in 0..envs {
        let (mut episode, mut step) = (0, 0);
        for t in 0..rollout {
            let game = stream.words([e, episode, 0, 0]);
            let length = if uniform(game[0]) < share { below(game[1], plies + 1) } else { 0 };
            let at = (t * envs + e) as usize;
            let is_last = t + 2 > rollout;
            assert_eq!(
                weight[at] == 0.0,
                step < length || is_last,
                "game {episode} of {e}, move {step}, opening {length}"
            );
            (games, opened_games) = (games + u32::from(step == 0), opened_games + u32::from(step == 0 && length > 0));
            step += 1;
            if ended[at] != 0.0 {
                (episode, step) = (episode + 1, 0);
            }
        }
    }
    let expected = f64::from(share) * f64::from(plies) / f64::from(plies + 1);
    let opened = f64::from(opened_games) / f64::from(games);
    assert!(games > 60 && (opened - expected).abs() < 0.15, "{opened_games} of {games} games, expected {expected}");
}

/// Whoever has no part in the learning has none in the loss, whichever seat it is.
#[test]
fn p14_moves_of_scripts_and_frozen_players_are_not_learned_from() {
    for other in [Controller::Scripted(Script::OnePly), Controller::Frozen] {
        for seat in 0..2 {
            for algo in [AlgoChoice::Iql, AlgoChoice::Ippo, AlgoChoice::Mappo] {
                let common = if algo.is_policy_gradient() { policy_settings() } else { settings() };
                let mut settings = LearnerSettings { envs: 4, rollout: 12, batch: 96, buffer: 96, ..common };
                settings.seats.list = vec![Controller::default(), other];
                settings.seats.list.rotate_left(seat);
                let by_step = LearnerSettings { rollout: 1, ..settings.clone() };
                let by_step = (!algo.is_policy_gradient()).then_some(by_step);
                let learner = of_board(BoardSpec::TicTacToe, algo, by_step.as_ref().unwrap_or(&settings));
                let buffers = learner.start::<f64>();
                if algo.is_policy_gradient() {
                    update(&learner, &buffers);
                    let weight = named(&learner, &buffers, "rollout.weight");
                    let mover = words_named(&learner, &buffers, "rollout.mover");
                    for (at, (&weight, &mover)) in weight.iter().zip(mover.iter()).enumerate() {
                        let learns = mover as usize == seat && at < 11 * 4;
                        assert_eq!(weight, if learns { 1.0 } else { 0.0 }, "{algo:?}, {other:?}, {at}");
                    }
                } else {
                    let mut moves = 0;
                    for _ in 0..12 {
                        learner.rollout.run(&buffers);
                        let mover = words_named(&learner, &buffers, "train.mover");
                        moves += mover.iter().filter(|&&mover| mover as usize == seat).count();
                    }
                    let counted = named(&learner, &buffers, "replay.weight").iter().sum::<f64>();
                    let open = words_named(&learner, &buffers, "replay.open");
                    assert!(open.iter().all(|&maker| maker == 0 || maker as usize == seat + 1), "{open:?}");
                    let open = open.iter().filter(|&&maker| maker != 0).count();
                    assert!(open <= 4, "one in each world at most");
                    assert_eq!(counted, (moves - open) as f64, "every move of the learner that is answered");
                }
            }
        }
    }
}

/// The past has the places it is said to have, plays with its own weights, and is not learned from.
#[test]
fn every_earlier_self_has_as_many_games_in_either_seat() {
    for (envs, pool_settings, pool_share) in
        [(16, 4, 0.25), (16, 16, 0.25), (8, 3, 1.0), (128, 12, 0.25), (16, 4, 0.05)]
    {
        let settings = LearnerSettings { envs, rollout: 6, pool: pool_settings, pool_share, ..policy_settings() };
        let learner = of_board(BoardSpec::TicTacToe, AlgoChoice::Ippo, &settings);
        let Some(pool) = &learner.pool else {
            assert_eq!((envs, pool_share), (16, 0.05), "no room for a snapshot in either seat");
            continue;
        };
        let past = pool.past;
        assert_eq!(past.places, pool_settings.min((pool_share * envs as f32) as u32 / 2));
        let games = |place: u32, seat: u32| {
            (0..envs).filter(|&e| past.seat(e) == Some(seat) && e % past.places == place).count() as u32
        };
        for place in 0..past.places {
            assert_eq!([games(place, 0), games(place, 1)], [past.games / past.places / 2; 2], "{envs} {place}");
        }
        assert!(past.games as f32 <= pool_share * envs as f32 && past.games > 0);
    }
}

#[test]
fn earlier_selves_play_and_do_not_learn() {
    let (envs, places) = (8, 2);
    let common = LearnerSettings { envs, rollout: 6, lr: 0.01, ..policy_settings() };
    let settings = LearnerSettings { pool: places, pool_every: 2, pool_share: 0.5, ..common };
    let learner = of_board(BoardSpec::TicTacToe, AlgoChoice::Ippo, &settings);
    let pool = learner.pool.as_ref().expect("both seats learn with one network");
    let buffers = learner.start::<f32>();
    let weights = || buffers.read(learner.agents.block.weights).clone();
    let kept = |place: usize| buffers.read(pool.weights).chunks_exact(weights().len()).nth(place).map(<[f32]>::to_vec);
    let first = weights();
    update(&learner, &buffers);
    assert_eq!([kept(0), kept(1)], [Some(first.clone()), Some(first.clone())], "all places begin with what there is");
    update(&learner, &buffers);
    let third = weights();
    assert_ne!(first, third);
    update(&learner, &buffers);
    assert_eq!([kept(0), kept(1)], [Some(first), Some(third.clone())], "the second snapshot, after two updates");
    (0..2).for_each(|_| update(&learner, &buffers));
    assert_ne!(kept(0), Some(weights()));
    assert_eq!(kept(1), Some(third), "the third went to the first place");

    // A past that plays the last cell wherever it is free, in four of eight games.
    let bias = learner.agents.nets[0].layers[1].bias.offset as usize + 8;
    let fresh = learner.start::<f32>();
    learner.rollout.run(&fresh);
    let size = learner.agents.layout.len as usize;
    for place in 0..places as usize {
        fresh.write(pool.weights)[place * size + bias] = 1e3;
    }
    fresh.write(learner.clock.counters)[UPDATE] = 1;
    learner.reset.run(&fresh);
    learner.rollout.run(&fresh);
    let (mover, action) =
        (words_named(&learner, &fresh, "rollout.mover").clone(), words_named(&learner, &fresh, "rollout.action"));
    let weight = named(&learner, &fresh, "rollout.weight");
    for e in 0..envs as usize {
        let past = pool.past.seat(e as u32);
        assert_eq!(past, [Some(0), Some(0), Some(1), Some(1), None, None, None, None][e]);
        let taken: Vec<u32> = (0..6).map(|t| action[t * envs as usize + e]).collect();
        if let Some(seat) = past {
            let before = &taken[..seat as usize];
            assert!(before.contains(&8) || taken[seat as usize] == 8, "environment {e}: {taken:?}");
        }
        for t in 0..5 {
            let at = t * envs as usize + e;
            let learns = past != Some(mover[at]);
            assert_eq!(weight[at], if learns { 1.0 } else { 0.0 }, "environment {e}, move {t}");
        }
    }
}

/// Two moves: the first player picks a row, the second sees it and picks a column. What the first is paid: a row that
/// looks best but can be answered, and one that cannot.
#[derive(Debug)]
struct TwoPlies(Tiny);

const PAYOFF: [[f32; 2]; 2] = [[1.0, -1.0], [0.2, 0.5]];

impl TwoPlies {
    fn new() -> Self {
        let mut tiny = Tiny::new(2, 2, 3, 2);
        (tiny.info.in_turns, tiny.info.common_reward, tiny.info.team_reward) = (true, false, false);
        tiny.info.ints = 2;
        Self(tiny)
    }

    fn state(&self, moves: u32, row: u32) -> EnvState {
        let mut state = EnvState::new(self.info());
        state.ints.copy_from_slice(&[moves as i32, row as i32]);
        state
    }
}

impl Env for TwoPlies {
    fn info(&self) -> &EnvInfo {
        &self.0.info
    }
    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints.fill(0);
    }
    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints.fill(0);
        false
    }
    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        out.rewards.fill(0.0);
        let is_last = state.ints[0] == 1;
        if is_last {
            let payoff = f64::from(PAYOFF[state.ints[1] as usize][actions[1] as usize]);
            out.rewards.copy_from_slice(&[payoff, -payoff]);
        } else {
            state.ints[1] = actions[0] as i32;
        }
        out.parts.copy_from_slice(out.rewards);
        state.ints[0] += 1;
        Ended { terminated: is_last, truncated: false }
    }
    fn observe(&self, state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        obs.fill(0.0);
        obs[(state.ints[0] * (1 + state.ints[1])) as usize % 3] = 1.0;
    }
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        self.observe(state, 0, out);
    }
    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        mask.fill(u32::from(self.to_move(state) == Some(agent)));
    }
    fn to_move(&self, state: StateRef<'_>) -> Option<u32> {
        (state.ints[0] < 2).then_some(state.ints[0] as u32)
    }
    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[0] as u32
    }
    fn frame(&self, _state: StateRef<'_>) -> Frame {
        unreachable!("nobody draws this world")
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
}

#[test]
fn p50_both_sides_of_a_known_game_are_learned_by_one_network() {
    for algo in [AlgoChoice::Iql, AlgoChoice::Ippo, AlgoChoice::Mappo] {
        let common = if algo.is_policy_gradient() {
            LearnerSettings {
                envs: 16,
                rollout: 8,
                epochs: 4,
                lr: 5e-3,
                critic_lr: 5e-3,
                entropy: 0.01,
                ..policy_settings()
            }
        } else {
            let (eps_end, eps_over) = (0.05, 8_000);
            LearnerSettings { envs: 4, rollout: 4, batch: 64, buffer: 512, lr: 5e-3, eps_end, eps_over, ..settings() }
        };
        let settings = LearnerSettings { gamma: 1.0, target_every: 50, entropy_end: 0.0, ..common };
        let game = TwoPlies::new();
        let states = [game.state(0, 0), game.state(1, 0), game.state(1, 1)];
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Learner::new(Arc::new(game), algo, &settings, 3, evaluations);
        let buffers = learner.start::<f32>();
        (0..1_000).for_each(|_| update(&learner, &buffers));
        let moves = chosen(&learner, &buffers, &states);
        assert_eq!(moves, [1, 1, 0], "{algo:?}: the row that cannot be answered, and the answer to each");
    }
}

/// The mover's greedy move at each state.
fn chosen(learner: &Learner, buffers: &Buffers<f32>, states: &[EnvState]) -> Vec<u32> {
    let probe = Probe { learner, buffers };
    let of = |state: &EnvState| {
        let mover = learner.env.to_move(state.view()).expect("the game goes on");
        let mut legal = vec![0; learner.env.info().num_actions as usize];
        learner.env.legal(state.view(), mover, &mut legal);
        greedy(&probe.output(state.view(), mover), &legal)
    };
    states.iter().map(of).collect()
}

/// The critic speaks for whoever moves; the other expects the opposite.
#[test]
fn p50_what_the_mover_expects_the_other_fears() {
    for algo in POLICIES {
        let learner = of_board(BoardSpec::TicTacToe, algo, &policy_settings());
        let buffers = learner.start::<f32>();
        let probe = Probe { learner: &learner, buffers: &buffers };
        let mut state = EnvState::new(learner.env.info());
        learner.env.reset_to(state.view_mut(), 0);
        let values = probe.values(state.view());
        assert!(values.len() == 2 && values[0] == -values[1] && values[0] != 0.0, "{algo:?}: {values:?}");
    }
}

/// The greedy network against a script that draws, from either side: the very games, one by one.
#[test]
fn p51_matches_are_the_games_a_hand_would_play() {
    let settings = LearnerSettings { match_games: 40, envs: 16, rollout: 9, ..policy_settings() };
    let learner = of_board(BoardSpec::TicTacToe, AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f32>();
    (0..20).for_each(|_| update(&learner, &buffers));
    let matches = learner.matches.as_ref().expect("a board has matches");
    let spaces =
        learner.plan.real_infos().iter().filter(|info| info.name.starts_with("match") && info.name.contains("hidden"));
    assert_eq!(spaces.count(), 1, "pairings play one after the other, in one room");
    matches.list.run(&buffers);
    let told = buffers.read(matches.results).clone();
    assert_eq!(matches.pairings.len(), 2 * OPPONENTS.len());
    for (&(script, seat), told) in matches.pairings.iter().zip(told.chunks_exact(3)) {
        let mut outcomes = [0; 3];
        (0..matches.games).for_each(|game| outcomes[by_hand(&learner, &buffers, script, seat, game)] += 1);
        assert_eq!(told, outcomes, "{script:?} against seat {seat}");
    }
}

/// 0 won, 1 drawn, 2 lost by the network in `seat`.
fn by_hand(learner: &Learner, buffers: &Buffers<f32>, script: Script, seat: u32, game: u32) -> usize {
    let env = &learner.env;
    let stream = Stream::new(learner.seed, &format!("match.{}.{}", script.info().id, seat + 1));
    let program = env.program(script).expect("it suits a board");
    let mut state = EnvState::new(env.info());
    env.reset_to(state.view_mut(), 0);
    let mut step = 0;
    loop {
        let mover = env.to_move(state.view()).expect("the game goes on");
        let (mut obs, mut legal) = (vec![0.0; env.info().obs_len as usize], vec![0; 9]);
        env.observe(state.view(), mover, &mut obs);
        env.legal(state.view(), mover, &mut legal);
        let chosen = if mover == seat {
            let probe = Probe { learner, buffers };
            greedy(&probe.output(state.view(), mover), &legal)
        } else {
            program.act(&obs, &legal, &Turn { stream, at: [game, 0, step], agent: mover })
        };
        let (mut rewards, mut parts) = ([0.0; 2], [0.0; 2]);
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        step += 1;
        if env.step(state.view_mut(), &[chosen; 2], &stream.env(game, 0, step), &mut out).any() {
            let paid = rewards[seat as usize];
            return if paid > 0.0 { 0 } else { 1 + usize::from(paid < 0.0) };
        }
    }
}
