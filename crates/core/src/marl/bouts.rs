//! Bouts: games of the newest snapshot of the networks against the snapshots kept, itself among them, from either side.
//! All are played at once, in worlds that each know whose weights move which agent, in buffers that no run knows: they
//! train nothing and no bit of a run depends on them.
//!
//! Greedy networks repeat themselves, so every pairing starts from the same positions, which a few random moves lead to.

use std::sync::Arc;

use super::matches::{CountOutcomes, OUTCOMES};
use super::parts::agents::Agents;
use super::parts::explore::EpsilonGreedy;
use super::parts::world::{Observe, ResetAll, Starts, Step, World};
use super::settings::LearnerSettings;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::rng::{Stream, below};
use crate::env::api::{Env, EnvState, StepOut};
use crate::nn::calls::{MlpForward, Rows};
use crate::nn::graph::{
    Buffers, Compute, Doubles, Execution, Id, Ints, List, Phase, Plan, Reals, Training, View, Wires, Words,
    leave_out_unread,
};
use crate::nn::layers::Layout;

/// Snapshots that are kept; the newest has place 0.
pub const PLACES: u32 = 6;
/// Games of a pairing, each from a position of its own.
pub const GAMES: u32 = 32;
/// Most random moves before a game, as many of either player's; less in a game of few moves.
const OPENING: u32 = 4;

/// The newest snapshot against every place, as first and as second player.
#[derive(Debug)]
pub struct Bouts {
    /// Its own buffers.
    pub plan: Plan,
    /// Parameters of the snapshots `[PLACES, len]`.
    pub weights: Id<Reals, Execution>,
    /// Games that the first player won, drew and lost, the newest being the first player, then the second
    /// `[2, PLACES, 3]`.
    pub results: Id<Words, Training>,
    /// How a game of each pairing ended, if it did `[2 · PLACES · GAMES]`.
    pub ended: Id<Words, Training>,
    /// The games.
    pub list: List,
    starts: (Id<Ints, Training>, Id<Doubles, Training>),
    stream: Stream,
    /// Random moves before a game.
    plies: u32,
}

impl Bouts {
    /// Buffers and list; `None` unless two players move in turns and both learn.
    pub fn new(env: &Arc<dyn Env>, settings: &LearnerSettings, agents: &Agents, seed: u64) -> Option<Self> {
        let info = env.info();
        if !info.in_turns || info.num_agents != 2 || agents.learners().count() != 2 {
            return None;
        }
        let mut plan = Plan::default();
        let games = 2 * PLACES * GAMES;
        let world = World::new(&mut plan, "bout", Arc::clone(env), games, settings.agent_id);
        let mut layout = Layout::default();
        let nets: Vec<_> = (1..=PLACES).map(|k| agents.copied(&mut layout, &format!("snapshot{k}"))).collect();
        let weights = plan.buffer("bout.weights", &[layout.len]);
        let (rows, width) = (games * agents.count, padded(agents.shape.outputs()));
        let hidden = plan.buffer("bout.hidden", &[rows, agents.shape.hidden_width()]);
        let outputs = plan.buffer("bout.outputs", &[games, agents.count, width]);
        let epsilon = plan.buffer("bout.epsilon", &[1]); // stays 0
        let results = plan.buffer("bout.results", &[2, PLACES, OUTCOMES as u32]);
        let starts = (
            plan.buffer("bout.start_ints", &[GAMES, info.ints]),
            plan.buffer("bout.start_reals", &[GAMES, info.reals]),
        );
        let stream = Stream::new(seed, "bouts");
        let plies = (info.max_steps / 4).min(OPENING) / 2 * 2;
        let mut list = List::default();
        list.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts: Starts::Drawn });
        list.train(Phase::Environment, Open { world: world.clone(), ints: starts.0, reals: starts.1, results });
        list.repeat(info.max_steps - plies, |list| {
            list.train(Phase::Observe, Observe { world: world.clone() });
            for (place, nets) in (0..).zip(&nets) {
                for (net, players) in nets.iter().zip(&agents.players) {
                    let seats = || (0..games).flat_map(|e| (0..agents.count).map(move |agent| (e, agent)));
                    let moved = seats().filter(|&(e, agent)| players.contains(agent) && mover(e, agent) == place);
                    let rows: Rows = moved.map(|(e, agent)| e * agents.count + agent).collect();
                    let (net, x, y) = (net.clone(), world.obs, outputs);
                    list.act(Phase::Act, MlpForward { net, rows, weights, x, hidden, y });
                }
            }
            let &World { mask, time, action, explored, .. } = &world;
            let (explorers, q, actions) = (agents.learners(), outputs, agents.shape.outputs());
            let agents = agents.count;
            list.act(
                Phase::Act,
                EpsilonGreedy { stream, agents, actions, explorers, q, mask, epsilon, time, action, explored },
            );
            list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: false });
            list.train(Phase::Store, CountOutcomes { world: world.clone(), seat: 0, first: 0, games: GAMES, results });
        });
        leave_out_unread(&mut plan, &[&list]);
        Some(Self { plan, weights, results, ended: world.ended, list, starts, stream, plies })
    }

    /// Positions the games start from `[GAMES]`, repeated where the game has fewer: no two look alike to whoever is to move.
    pub fn openings(&self, env: &dyn Env) -> Vec<EnvState> {
        openings(env, self.stream, self.plies)
    }

    /// Buffers with these positions, all snapshots being 0.
    pub fn start(&self, openings: &[EnvState]) -> Buffers<f32> {
        let buffers = Buffers::new(&self.plan);
        let (mut ints, mut reals) = (Vec::new(), Vec::new());
        for opening in openings {
            ints.extend_from_slice(opening.view().ints);
            reals.extend_from_slice(opening.view().reals);
        }
        buffers.write(self.starts.0).copy_from_slice(&ints);
        buffers.write(self.starts.1).copy_from_slice(&reals);
        buffers
    }
}

/// The place whose snapshot moves that agent in world e = (seat of the newest, other place, game).
fn mover(e: u32, agent: u32) -> u32 {
    let (seat, other) = (e / (PLACES * GAMES), e / GAMES % PLACES);
    if agent == seat { 0 } else { other }
}

/// Positions after that many random moves, no two of which look alike to whoever is to move, as far as there are so many.
fn openings(env: &dyn Env, stream: Stream, plies: u32) -> Vec<EnvState> {
    /// Tries for each position: enough for a game that has twice as many.
    const TRIES: u32 = 32;
    let info = env.info();
    let mut found: Vec<(EnvState, Vec<f32>)> = Vec::new();
    for state in (0..GAMES * TRIES).filter_map(|attempt| opened(env, stream, attempt, plies)) {
        let mut looks = vec![0.0; info.obs_len as usize];
        env.observe(state.view(), env.to_move(state.view()).unwrap_or(0), &mut looks);
        if found.iter().all(|(_, seen)| *seen != looks) {
            found.push((state, looks));
        }
        if found.len() == GAMES as usize {
            break;
        }
    }
    found.iter().map(|(state, _)| state.clone()).cycle().take(GAMES as usize).collect()
}

/// One such position, unless the game is over by then. Draws of its moves at counter (attempt, 0, ply + 1, 0).
fn opened(env: &dyn Env, stream: Stream, attempt: u32, plies: u32) -> Option<EnvState> {
    let info = env.info();
    let mut state = EnvState::new(info);
    env.reset(state.view_mut(), &stream.env(attempt, 0, 0));
    let (mut rewards, mut parts) = (vec![0.0; 2], vec![0.0; 2 * info.part_names.len()]);
    for ply in 0..plies {
        let mover = env.to_move(state.view())?;
        let mut mask = vec![0; info.num_actions as usize];
        env.legal(state.view(), mover, &mut mask);
        let legal: Vec<u32> = (0..).zip(&mask).filter(|(_, legal)| **legal != 0).map(|(action, _)| action).collect();
        let drawn = below(stream.words([attempt, 0, ply + 1, 0])[0], legal.len() as u32);
        let action = *legal.get(drawn as usize)?;
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        if env.step(state.view_mut(), &[action; 2], &stream.env(attempt, 0, ply + 1), &mut out).any() {
            return None;
        }
    }
    Some(state)
}

/// Puts every world at its game's opening, and the counts at 0.
#[derive(Clone, Debug)]
struct Open {
    world: World,
    /// Openings `[GAMES, ints]`.
    ints: Id<Ints, Training>,
    /// Openings `[GAMES, reals]`.
    reals: Id<Doubles, Training>,
    results: Id<Words, Training>,
}

impl Compute for Open {
    type Side = Training;
    const NAME: &'static str = "open_games";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.ints).reads(self.reals);
        wires.writes(self.world.ints).writes(self.world.reals).writes(self.results);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (ints, reals) = (view.read(self.ints), view.read(self.reals));
        view.write(self.world.ints).chunks_exact_mut(ints.len()).for_each(|games| games.copy_from_slice(&ints));
        if !reals.is_empty() {
            view.write(self.world.reals).chunks_exact_mut(reals.len()).for_each(|games| games.copy_from_slice(&reals));
        }
        view.write(self.results).fill(0);
    }
}
