//! Snapshots against snapshots: every cell is what a hand would play, whichever places the weights moved through, and
//! the run does not know of it.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{EnvState, StepOut};
use tandem_core::experiment::ladder::Score;
use tandem_core::experiment::link::parse;
use tandem_core::experiment::run::Run;
use tandem_core::marl::bouts::PLACES;
use tandem_core::marl::probe::{Probe, greedy};
use tandem_core::nn::graph::Buffers;

/// A run of a board that learns from 64 games × 8 plies an update.
fn board(keys: &str) -> Run {
    let link = format!("#v=1&{keys}&seed=3&envs=64&rollout=8&hidden=16&minibatches=4&budget=5120&match_games=0");
    Run::new(parse(&link).spec, 1).expect("the world can be built")
}

/// The outcome of a game from `state` between two networks, for who moves first: 0 won, 1 drawn, 2 lost.
fn by_hand(run: &Run, mut state: EnvState, players: [&Buffers<f32>; 2]) -> usize {
    let env = &run.learner.env;
    loop {
        let mover = env.to_move(state.view()).expect("the game goes on");
        let probe = Probe { learner: &run.learner, buffers: players[mover as usize] };
        let legal = &probe.legal(state.view())[mover as usize];
        let action = greedy(&probe.output(state.view(), mover), legal);
        let (mut rewards, mut parts) = ([0.0; 2], [0.0; 2]);
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        let draws = Stream::new(0, "nothing is drawn").env(0, 0, 0);
        if env.step(state.view_mut(), &[action; 2], &draws, &mut out).any() {
            return if rewards[0] > 0.0 { 0 } else { 1 + usize::from(rewards[0] < 0.0) };
        }
    }
}

#[test]
fn every_cell_of_the_ladder_is_what_a_hand_would_play() {
    for keys in [
        "env=tictactoe&algo=ippo&eval_every=512",
        "env=tictactoe&algo=iql&warmup=0&batch=16&eval_every=512",
        "env=tictactoe&algo=ippo&shared=off&eval_every=512",
        "env=connect_four&algo=mappo&eval_every=512",
    ] {
        let mut run = board(keys);
        let weights = run.learner.agents.block.weights;
        let mut snapshots: Vec<(u32, Buffers<f32>)> = Vec::new();
        while run.end().is_none() {
            run.work();
            if let Some(point) = run.evals.get(snapshots.len()) {
                let buffers = run.learner.start::<f32>();
                buffers.write(weights).copy_from_slice(&run.buffers.read(weights));
                snapshots.push((point.env_steps, buffers));
            }
        }
        assert!(snapshots.len() > PLACES as usize, "{keys}: places are used again");
        let told = run.ladder().expect("it plays against itself");
        assert_eq!(told.env_steps.len(), PLACES as usize);
        assert_eq!(told.env_steps.first(), Some(&0));
        assert_eq!(told.env_steps.last(), snapshots.last().map(|(env_steps, _)| env_steps));
        let of = |at: u32| &snapshots.iter().find(|(env_steps, _)| *env_steps == at).expect("it was evaluated").1;
        for (first, scores) in told.rows() {
            for (&second, score) in told.env_steps.iter().zip(scores) {
                let mut counts = [0; 3];
                for opening in run.openings() {
                    counts[by_hand(&run, opening.clone(), [of(first), of(second)])] += 1;
                }
                let [won, drawn, lost] = counts;
                assert_eq!(*score, Score { won, drawn, lost }, "{keys}: {first} against {second}");
            }
        }
        let all_alike = told.scores.iter().all(|score| *score == told.scores[0]);
        assert!(!all_alike, "{keys}: snapshots differ");
    }
}

#[test]
fn games_start_from_different_positions_with_the_first_player_to_move() {
    for keys in ["env=tictactoe&algo=ippo", "env=connect_four&algo=ippo"] {
        let run = board(keys);
        let env = &run.learner.env;
        let looks = |state: &EnvState| {
            let mut obs = vec![0.0; env.info().obs_len as usize];
            env.observe(state.view(), 0, &mut obs);
            obs
        };
        let openings = run.openings();
        for (game, opening) in openings.iter().enumerate() {
            assert_eq!(env.to_move(opening.view()), Some(0));
            assert!(openings[..game].iter().all(|other| looks(other) != looks(opening)), "{keys}: game {game}");
        }
    }
}

/// What an evaluation looks at is not changed by it: the same bits, however often snapshots play.
#[test]
fn a_ladder_leaves_no_trace_in_the_run() {
    let hashes = |eval_every: u32| {
        let mut run = board(&format!("env=connect_four&algo=ippo&eval_every={eval_every}"));
        while run.end().is_none() {
            run.update();
        }
        (run.ladder().map_or(0, |told| told.env_steps.len()), run.trace, run.weights_hash())
    };
    let (often, rarely) = (hashes(512), hashes(5_120));
    assert_eq!((often.1, often.2), (rarely.1, rarely.2));
    assert_eq!((often.0, rarely.0), (PLACES as usize, 2));
}

#[test]
fn there_is_none_where_nobody_plays_against_themselves() {
    for keys in ["env=connect_four&algo=ippo&seats=learner,uniform", "env=pellet&algo=ippo"] {
        let mut run = board(keys);
        run.prepare();
        assert_eq!(run.ladder(), None, "{keys}");
    }
}
