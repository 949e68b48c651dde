//! Games of turns in which every player has a network of its own: waiting is a transition whose value is that of the
//! other's reply, and it moves no policy. And whoever plays, no list ever plays what a mask forbids.

use std::sync::Arc;

use tandem_core::base::rng::Draws;
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, StateMut, StateRef, StepOut};
use tandem_core::env::board::{BoardGame, BoardSpec};
use tandem_core::env::frame::Frame;
use tandem_core::env::script::{Program, Script};
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::probe::Probe;
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::Buffers;

use crate::support::{POLICIES, named, policy_settings, settings, update, words_named};

/// A board game that notices what is played: the mover's actions are legal, whoever waits answers 0.
#[derive(Debug)]
struct Watched(BoardGame);

impl Watched {
    fn learner(game: BoardSpec, algo: AlgoChoice, settings: &LearnerSettings, evaluations: Evaluations) -> Learner {
        Learner::new(Arc::new(Self(game.build())), algo, settings, 1, evaluations)
    }
}

impl Env for Watched {
    fn info(&self) -> &EnvInfo {
        self.0.info()
    }
    fn reset(&self, state: StateMut<'_>, draws: &Draws) {
        self.0.reset(state, draws);
    }
    fn reset_to(&self, state: StateMut<'_>, start: u32) -> bool {
        self.0.reset_to(state, start)
    }
    fn step(&self, state: StateMut<'_>, actions: &[u32], draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let mover = self.0.to_move(state.view()).expect("no env step after the end");
        let mut mask = vec![0; self.info().num_actions as usize];
        self.0.legal(state.view(), mover, &mut mask);
        assert_eq!(mask[actions[mover as usize] as usize], 1, "an illegal move was played");
        assert_eq!(actions[1 - mover as usize], 0, "whoever waits answers with its only choice");
        self.0.step(state, actions, draws, out)
    }
    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        self.0.observe(state, agent, obs);
    }
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        self.0.state(state, out);
    }
    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        self.0.legal(state, agent, mask);
    }
    fn to_move(&self, state: StateRef<'_>) -> Option<u32> {
        self.0.to_move(state)
    }
    fn step_count(&self, state: StateRef<'_>) -> u32 {
        self.0.step_count(state)
    }
    fn frame(&self, state: StateRef<'_>) -> Frame {
        self.0.frame(state)
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
    fn scripts(&self) -> &'static [Script] {
        self.0.scripts()
    }
    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        self.0.program(script)
    }
}

fn state(learner: &Learner, buffers: &Buffers<f32>) -> EnvState {
    let w = &learner.world;
    EnvState { ints: buffers.read(w.ints).clone(), reals: buffers.read(w.reals).clone() }
}

/// The first player has moved, the second has waited. The target of the one who waited is its own best reply; the
/// target of the one who moved is what it expects of waiting, its only choice there.
#[test]
fn waiting_bootstraps_from_the_reply_and_a_move_from_waiting() {
    for double_q in [false, true] {
        let settings = LearnerSettings { double_q, gamma: 0.5, shared: false, ..settings() };
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Watched::learner(BoardSpec::TicTacToe, AlgoChoice::Iql, &settings, evaluations);
        let buffers = learner.start::<f32>();
        learner.rollout.run(&buffers);
        let after = state(&learner, &buffers);
        assert_eq!(learner.env.to_move(after.view()), Some(1));
        // Online and target network are equal until the first gradient step.
        let probe = Probe { learner: &learner, buffers: &buffers };
        let of = |agent| probe.output(after.view(), agent);
        let mut legal = vec![0; 9];
        learner.env.legal(after.view(), 1, &mut legal);
        let reply =
            of(1).iter().zip(&legal).filter(|(_, legal)| **legal == 1).map(|(&q, _)| q).fold(f32::MIN, f32::max);
        let expected = [of(0)[0], reply];
        learner.gradient_steps.run(&buffers);
        let (next, target) = (named(&learner, &buffers, "next"), named(&learner, &buffers, "td_target"));
        for agent in 0..2 {
            assert!((next[agent] - expected[agent]).abs() < 1e-6, "{next:?} and {expected:?}");
            assert!(
                (target[agent] - 0.5 * expected[agent]).abs() < 1e-6,
                "γ times it, as nothing was paid: {target:?}"
            );
        }
    }
}

/// Waiting has probability 1: its logarithm is 0 exactly, and no gradient comes from it.
#[test]
fn waiting_moves_no_policy() {
    for algo in POLICIES {
        let settings = LearnerSettings { envs: 4, rollout: 9, entropy: 0.01, shared: false, ..policy_settings() };
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Watched::learner(BoardSpec::TicTacToe, algo, &settings, evaluations);
        let buffers = learner.start::<f64>();
        update(&learner, &buffers);
        let mask = words_named(&learner, &buffers, "minibatch.mask").clone();
        let log_prob = named(&learner, &buffers, "minibatch.log_prob");
        let gradient = named(&learner, &buffers, "minibatch.policy.gradient");
        let (mut waiting, mut moving) = (0, 0);
        for (row, mask) in mask.chunks_exact(9).enumerate() {
            let width = gradient.len() / log_prob.len();
            let gradient = &gradient[row * width..(row + 1) * width];
            if mask.iter().sum::<u32>() == 1 {
                waiting += 1;
                assert_eq!(log_prob[row], 0.0);
                assert!(gradient.iter().all(|&g| g == 0.0), "{algo:?}: {gradient:?}");
            } else {
                moving += 1;
                assert!(log_prob[row] < 0.0);
                assert!(gradient.iter().any(|&g| g != 0.0), "{algo:?}: a choice is learned from");
            }
        }
        assert!(waiting >= moving && moving > 0, "one of two waits at every env step: {waiting} and {moving}");
    }
}

/// Training, evaluation and matches, greedy and exploring, of all algorithms that take such a game.
#[test]
fn p13_no_list_plays_an_illegal_move_on_a_board() {
    for game in [BoardSpec::ConnectFour, BoardSpec::TicTacToe] {
        for algo in [AlgoChoice::Iql, AlgoChoice::Ippo, AlgoChoice::Mappo] {
            for (shared, explores, opening) in [(true, false, 0), (true, true, 5), (false, false, 0), (false, true, 0)]
            {
                let common = if algo.is_policy_gradient() { policy_settings() } else { settings() };
                let common = LearnerSettings { envs: 8, rollout: 24, batch: 16, buffer: 64, lr: 0.1, ..common };
                let settings = LearnerSettings { shared, opening, match_games: 4, ..common };
                let learner = Watched::learner(game, algo, &settings, Evaluations { episodes: 16, explores });
                assert_eq!(learner.turns.is_some(), shared);
                let buffers = learner.start::<f32>();
                let matches = learner.matches.as_ref().expect("a board has matches");
                for _ in 0..6 {
                    update(&learner, &buffers);
                    learner.evaluation.list.run(&buffers);
                    matches.list.run(&buffers);
                }
                let w = &learner.evaluation.world;
                assert!(buffers.read(w.ended).iter().all(|&ended| ended != 0), "every game came to its end");
                for outcomes in buffers.read(matches.results).chunks(3) {
                    assert_eq!(outcomes.iter().sum::<u32>(), 4, "every game of a match is counted once");
                }
            }
        }
    }
}
