//! Agent by agent and all at once: the two APIs over every environment, what they refuse, and that nothing is lost
//! between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tandem_core::base::rng::Stream;
use tandem_core::env::aec::{Aec, AecError, AgentIter};
use tandem_core::env::api::{Ended, Env, EnvState, StepOut};
use tandem_core::env::board::BoardSpec;
use tandem_core::env::parallel::{Parallel, Stepped};

use crate::contract::environments;
use crate::support::Player;

const EPISODES: u32 = 3;

fn stream() -> Stream {
    Stream::new(17, "env")
}

/// What an episode is: the joint actions, and what was paid and seen, all taken from the rules themselves.
#[derive(Debug, Default)]
struct Episode {
    joint: Vec<Vec<u32>>,
    /// Who was to move, where they move in turns.
    movers: Vec<Option<u32>>,
    rewards: Vec<Vec<f64>>,
    obs: Vec<Vec<Vec<f32>>>,
    ended: Ended,
}

impl Episode {
    fn totals(&self) -> Vec<f64> {
        (0..self.rewards[0].len()).map(|agent| self.rewards.iter().map(|rewards| rewards[agent]).sum()).collect()
    }
}

fn observed(env: &dyn Env, state: &EnvState) -> Vec<Vec<f32>> {
    let info = env.info();
    let of = |agent| {
        let mut obs = vec![0.0; info.obs_len as usize];
        env.observe(state.view(), agent, &mut obs);
        obs.truncate(info.role(agent).obs.len());
        obs
    };
    (0..info.num_agents).map(of).collect()
}

/// Random legal play by the rules' own env step.
fn by_the_rules(env: &dyn Env, number: u32, player: &mut Player) -> Episode {
    let info = env.info();
    let (n, a) = (info.num_agents as usize, info.num_actions as usize);
    let mut state = EnvState::new(info);
    let mut episode = Episode::default();
    env.reset(state.view_mut(), &stream().env(0, number, 0));
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    while !episode.ended.any() {
        let mut mask = vec![0; a];
        let joint = (0..info.num_agents).map(|agent| {
            env.legal(state.view(), agent, &mut mask);
            player.legal(&mask)
        });
        let joint: Vec<u32> = joint.collect();
        episode.movers.push(env.to_move(state.view()));
        let draws = stream().env(0, number, env.step_count(state.view()) + 1);
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        episode.ended = env.step(state.view_mut(), &joint, &draws, &mut out);
        episode.joint.push(joint);
        episode.rewards.push(rewards.clone());
        episode.obs.push(observed(env, &state));
    }
    episode
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs()))
}

/// The rules' env steps, the same played agent by agent, and the same through the parallel API made of that: equal
/// totals for every agent, equal observations, equal ends, in every environment.
#[test]
fn p57_both_views_of_an_episode_pay_the_same() {
    for (spec, env) in environments() {
        let env: &dyn Env = &*env;
        let mut player = Player::new(23);
        let (mut aec, mut parallel) = (Aec::new(env, stream()), Parallel::new(env, stream()));
        for number in 0..EPISODES {
            let episode = by_the_rules(env, number, &mut player);
            assert!(close(&agent_by_agent(&mut aec, &episode), &episode.totals()), "{spec:?}");
            assert!(close(&all_at_once(&mut parallel, &episode), &episode.totals()), "{spec:?}");
        }
    }
}

/// Each agent's sum of what `last` told it, one turn after another.
fn agent_by_agent(aec: &mut Aec<'_>, episode: &Episode) -> Vec<f64> {
    aec.reset();
    let n = aec.agents().len();
    let pays_every_turn = aec.env().sequential().is_some() && !aec.env().info().in_turns;
    let (mut collected, mut acted) = (vec![0.0; n], vec![0_usize; n]);
    let mut turns = AgentIter::new(u64::MAX);
    let mut plies = 0;
    while let Some(agent) = turns.next(aec).expect("every turn is stepped") {
        let i = agent as usize;
        let last = aec.last().expect("it has begun");
        collected[i] += last.account.cumulative;
        if acted[i] == 0 && plies < n && !pays_every_turn {
            assert_eq!(last.account.cumulative, 0.0, "nothing is paid before anyone has acted");
        }
        if last.account.is_dead() {
            assert_eq!(
                (last.account.terminated, last.account.truncated),
                (episode.ended.terminated, episode.ended.truncated)
            );
            assert_eq!(last.obs, episode.obs.last().expect("an env step")[i]);
            aec.step(None).expect("a dead step");
            continue;
        }
        let step = if episode.movers[0].is_some() { plies } else { acted[i] };
        assert!(episode.movers[step].is_none_or(|mover| mover == agent), "it is the mover's turn");
        aec.step(Some(i64::from(episode.joint[step][i]))).expect("a legal action");
        acted[i] += 1;
        plies += 1;
    }
    assert!(aec.agents().is_empty());
    collected
}

fn all_at_once(parallel: &mut Parallel<'_>, episode: &Episode) -> Vec<f64> {
    let n = parallel.reset().len();
    let mut totals = vec![0.0; n];
    for (step, joint) in episode.joint.iter().enumerate() {
        assert_eq!(parallel.agents().len(), n);
        let actions = (0..).zip(joint.iter().map(|&action| i64::from(action))).collect();
        let told = parallel.step(&actions).expect("legal actions");
        for (agent, total) in totals.iter_mut().enumerate() {
            let id = agent as u32;
            *total += told.rewards[&id];
            assert_eq!(told.obs[&id], episode.obs[step][agent]);
            let ended = if step + 1 == episode.joint.len() { episode.ended } else { Ended::default() };
            assert_eq!((told.terminated[&id], told.truncated[&id]), (ended.terminated, ended.truncated));
        }
    }
    assert!(parallel.agents().is_empty(), "everybody has left");
    assert_eq!(parallel.step(&BTreeMap::new()), Ok(Stepped::default()), "nobody is there to step");
    totals
}

/// The rewards of the others' turns come with an agent's own next turn, its own stay until then.
#[test]
fn p57_rewards_arrive_on_the_agents_next_turn() {
    let env = BoardSpec::ConnectFour.build();
    let mut aec = Aec::new(&env, stream());
    aec.reset();
    for action in [0, 1, 0, 1, 0, 1] {
        assert_eq!(aec.last().expect("it has begun").account.cumulative, 0.0);
        aec.step(Some(action)).expect("legal");
    }
    // The first player's fourth in its column: paid at once, told when each is to step.
    aec.step(Some(0)).expect("legal");
    let told = |aec: &Aec<'_>| (aec.selection(), aec.last().expect("it has begun").account.cumulative);
    assert_eq!(aec.account(0).expect("live").reward, 1.0);
    assert_eq!(told(&aec), (1, -1.0), "the loser is the first to hear of it");
    aec.step(None).expect("a dead step");
    assert_eq!((aec.account(0).expect("live").reward, told(&aec)), (0.0, (0, 1.0)));
    aec.step(None).expect("a dead step");
    assert!(aec.agents().is_empty());
    aec.step(Some(3)).expect("after the end a step changes nothing");
    assert!(aec.agents().is_empty());
}

/// Turns may be played by the caller: with draws of its own, or actions that are no numbers.
#[test]
fn a_turn_can_be_played_by_the_caller() {
    for (spec, env) in environments() {
        let mut aec = Aec::new(&*env, stream());
        assert_eq!(aec.step_with(|_| Ended::default()), Err(AecError::NotReset));
        let env_at_reset = Arc::clone(&env);
        aec.reset_with(|state, draws| env_at_reset.reset(state, draws));
        let n = env.info().num_agents;
        if env.info().in_turns {
            continue;
        }
        for cycle in 0..3_u32 {
            for agent in 0..n {
                let told = aec.last().expect("it has begun").account.cumulative;
                // Everyone's turns since its own last one, which it keeps.
                assert_eq!(told, if cycle == 0 { f64::from(agent) } else { f64::from(n) }, "{spec:?}");
                let play = aec.step_with(|turn| {
                    assert_eq!((turn.agent, turn.is_last), (agent, agent + 1 == n));
                    assert!(turn.rewards.iter().all(|&reward| reward == 0.0));
                    turn.rewards.fill(1.0);
                    Ended { terminated: false, truncated: cycle == 2 && turn.is_last }
                });
                assert_eq!(play, Ok(()));
            }
        }
        for _ in 0..n {
            assert_eq!(aec.step_with(|_| Ended::default()), Err(AecError::Finished(aec.selection())));
            aec.step(None).expect("a dead step");
        }
        assert!(aec.agents().is_empty(), "{spec:?}");
    }
}

/// What is refused says so in a sentence and changes nothing.
#[test]
fn actions_that_are_none_are_refused() {
    let env = BoardSpec::TicTacToe.build();
    let mut aec = Aec::new(&env, stream());
    let mut turns = AgentIter::new(2);
    assert_eq!(turns.next(&aec), Err(AecError::NotReset));
    assert_eq!(aec.step(Some(0)), Err(AecError::NotReset));
    assert_eq!(aec.last().map(|_| ()), Err(AecError::NotReset));
    aec.reset();
    let fresh = aec.last();
    for given in [-1, 9, i64::MAX] {
        assert_eq!(aec.step(Some(given)), Err(AecError::OutOfRange { agent: 0, given, last: 8 }));
    }
    assert_eq!(aec.step(None), Err(AecError::Missing(0)));
    assert_eq!(aec.last(), fresh);
    assert_eq!(turns.next(&aec), Ok(Some(0)));
    assert_eq!(turns.next(&aec), Err(AecError::NotStepped(0)), "no turn is asked for twice");
    aec.step(Some(4)).expect("legal");
    assert_eq!((turns.next(&aec), turns.next(&aec)), (Ok(Some(1)), Ok(None)), "two turns were asked for");
    aec.step(Some(4)).expect("an illegal move is a move");
    assert_eq!(aec.step(Some(0)), Err(AecError::Finished(0)));

    let mut parallel = Parallel::new(&env, stream());
    assert_eq!(parallel.step(&BTreeMap::new()), Err(AecError::NotReset));
    parallel.reset();
    let before = parallel.aec().last();
    assert_eq!(parallel.step(&BTreeMap::from([(0, 1)])), Err(AecError::Missing(1)));
    let beyond = AecError::OutOfRange { agent: 1, given: 9, last: 8 };
    assert_eq!(parallel.step(&BTreeMap::from([(0, 1), (1, 9)])), Err(beyond));
    assert_eq!(parallel.aec().last(), before, "a refused step has moved nobody");
    for error in [AecError::NotReset, AecError::NotStepped(0), beyond, AecError::Missing(1), AecError::Finished(0)] {
        assert!(error.to_string().ends_with('.'), "{error}");
    }
}

/// −1 for who tried it and 0 for the other, both finished, the first agent first, whoever erred.
#[test]
fn p49_an_illegal_move_ends_the_game_for_both() {
    for (moves, erring) in [(vec![4, 4], 1), (vec![4, 0, 4], 0)] {
        let env = BoardSpec::TicTacToe.build();
        let mut aec = Aec::new(&env, stream());
        aec.reset();
        for action in moves {
            aec.step(Some(action)).expect("in range");
        }
        assert_eq!(aec.selection(), 0);
        for agent in [0, 1] {
            let account = aec.account(agent).expect("both are still there");
            let expected = if agent == erring { -1.0 } else { 0.0 };
            assert_eq!((account.reward, account.cumulative), (expected, expected));
            assert!(account.terminated && account.truncated);
        }
    }
}
