//! Episodes of scripted players as text: pictures to read, and every bit of what was seen and paid in one hash.
//!
//! The list is played natively, unoptimised and in the browser, and compared with files that were written once: rules,
//! players and random numbers must be the same everywhere. Floats are printed so that they read back exactly.

use std::fmt::Write as _;

use super::api::{Env, EnvState, StepOut};
use super::board::BoardSpec;
use super::foraging::ForagingSpec;
use super::frame::{Frame, Outcome, Particle};
use super::particles::{Convention, ParticleSpec, Scenario};
use super::pellet::{PelletMap, PelletSpec, StartLayout};
use super::pursuit::PursuitSpec;
use super::registry::EnvSpec;
use super::script::{Program, Script, Turn};
use crate::base::hash::TraceHash;
use crate::base::rng::Stream;

/// An episode to be played.
#[derive(Clone, Copy, Debug)]
pub struct Playthrough {
    /// Name, and that of its file.
    pub id: &'static str,
    /// Its world.
    pub set_up: fn() -> EnvSpec,
    seed: u64,
    /// Who plays, agent by agent; the last one also plays for all that follow.
    players: &'static [Script],
    /// Env steps at most.
    steps: u32,
}

/// Every episode: one at least of every world that is more than a table of payoffs, and of the arithmetic that only some
/// of them do (what leaving the arena costs, the older integrator, food of several levels).
pub const PLAYTHROUGHS: [Playthrough; 16] = [
    Playthrough {
        id: "connect_four_random",
        set_up: || EnvSpec::Board(BoardSpec::ConnectFour),
        seed: 1,
        players: &[Script::Uniform],
        steps: 42,
    },
    Playthrough {
        id: "connect_four_negamax",
        set_up: || EnvSpec::Board(BoardSpec::ConnectFour),
        seed: 2,
        players: &[Script::Negamax6, Script::Negamax4],
        steps: 42,
    },
    Playthrough {
        id: "connect_four_one_ply",
        set_up: || EnvSpec::Board(BoardSpec::ConnectFour),
        seed: 3,
        players: &[Script::WinElseRandom, Script::OnePly],
        steps: 42,
    },
    Playthrough {
        id: "tictactoe_random",
        set_up: || EnvSpec::Board(BoardSpec::TicTacToe),
        seed: 4,
        players: &[Script::Uniform],
        steps: 9,
    },
    Playthrough {
        id: "tictactoe_perfect",
        set_up: || EnvSpec::Board(BoardSpec::TicTacToe),
        seed: 5,
        players: &[Script::Negamax8],
        steps: 9,
    },
    Playthrough {
        id: "pellet_qmix_style",
        set_up: || {
            EnvSpec::Pellet(PelletSpec {
                map: PelletMap::open(5, 4),
                num_pellets: 2,
                starts: StartLayout::Random,
                ..PelletSpec::default()
            })
        },
        seed: 6,
        players: &[Script::QmixStyle],
        steps: 30,
    },
    Playthrough {
        id: "spread_hungarian",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::Spread)),
        seed: 7,
        players: &[Script::HungarianGreedy],
        steps: 25,
    },
    Playthrough {
        id: "spread_openai",
        set_up: || {
            let convention = Convention::OpenAi;
            EnvSpec::Particles(ParticleSpec { convention, ..ParticleSpec::new(Scenario::Spread) })
        },
        seed: 10,
        players: &[Script::Nearest],
        steps: 10,
    },
    Playthrough {
        id: "adversary_expert",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::Adversary)),
        seed: 11,
        players: &[Script::Expert],
        steps: 10,
    },
    Playthrough {
        id: "tag_prey_leaves",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::Tag)),
        seed: 90,
        players: &[Script::Expert, Script::Expert, Script::Expert, Script::Uniform],
        steps: 10,
    },
    Playthrough {
        id: "speaker_listener_expert",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::SpeakerListener)),
        seed: 13,
        players: &[Script::Expert],
        steps: 10,
    },
    Playthrough {
        id: "reference_expert",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::Reference)),
        seed: 14,
        players: &[Script::Expert],
        steps: 10,
    },
    Playthrough {
        id: "push_expert",
        set_up: || EnvSpec::Particles(ParticleSpec::new(Scenario::Push)),
        seed: 15,
        players: &[Script::Expert],
        steps: 10,
    },
    Playthrough {
        id: "foraging_expert",
        set_up: || EnvSpec::Foraging(ForagingSpec::default()),
        seed: 8,
        players: &[Script::Expert],
        steps: 30,
    },
    Playthrough {
        id: "foraging_levels",
        set_up: || {
            EnvSpec::Foraging(ForagingSpec {
                players: 3,
                max_player_level: vec![3],
                food: 3,
                sight: Some(3),
                ..ForagingSpec::default()
            })
        },
        seed: 24,
        players: &[Script::Expert],
        steps: 20,
    },
    Playthrough {
        id: "pursuit_expert",
        set_up: || EnvSpec::Pursuit(PursuitSpec::default()),
        seed: 9,
        players: &[Script::Expert, Script::Uniform],
        steps: 12,
    },
];

/// The episode: a line and a picture for every env step, at the end a hash of all observations, states and rewards.
pub fn text(playthrough: &Playthrough) -> String {
    let &Playthrough { id, set_up, seed, players, steps } = playthrough;
    let env = set_up().build().expect("every set-up on the list is a world");
    let env = &*env;
    let info = env.info();
    let n = info.num_agents as usize;
    let of_agent = |agent: usize| players[agent.min(players.len() - 1)];
    let programs: Vec<Box<dyn Program>> =
        (0..n).map(|agent| env.program(of_agent(agent)).expect("the script suits the world")).collect();
    let names: Vec<&str> = (0..n).map(|agent| of_agent(agent).info().id).collect();
    let mut out = format!("{id}: seed {seed}, {}\n\n", names.join(", "));
    let (worlds, seats) = (Stream::new(seed, "env"), Stream::new(seed, "seat"));
    let mut state = EnvState::new(info);
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    let (mut obs, mut legal) = (vec![0.0; info.obs_len as usize], vec![0; info.num_actions as usize]);
    let mut hash = TraceHash::default();
    env.reset(state.view_mut(), &worlds.env(0, 0, 0));
    start(&env.frame(state.view()), &mut out);
    for step in 1..=steps {
        let mover = env.to_move(state.view());
        let actions: Vec<u32> = (0..n)
            .map(|agent| {
                let turn = Turn { stream: seats, at: [0, 0, step - 1], agent: agent as u32 };
                env.observe(state.view(), turn.agent, &mut obs);
                env.legal(state.view(), turn.agent, &mut legal);
                programs[agent].act(&obs, &legal, &turn)
            })
            .collect();
        let mut paid = StepOut { rewards: &mut rewards, parts: &mut parts };
        let ended = env.step(state.view_mut(), &actions, &worlds.env(0, 0, step), &mut paid);
        let played = (0..n).filter(|&agent| mover.is_none_or(|mover| mover as usize == agent));
        let played: Vec<String> = played.map(|agent| format!("{agent} plays {}", actions[agent])).collect();
        let _ = writeln!(out, "\nenv step {step}: {}; paid {}", played.join(", "), numbers(&rewards));
        picture(&env.frame(state.view()), &mut out);
        record(env, &state, step, &rewards, &mut hash);
        if ended.any() {
            let _ = writeln!(out, "\n{}", if ended.terminated { "terminated" } else { "truncated" });
            break;
        }
    }
    let _ = writeln!(out, "hash {hash}");
    out
}

/// One hash of all episodes' texts.
pub fn hash_of_all() -> TraceHash {
    let mut hash = TraceHash::default();
    for (number, playthrough) in (0..).zip(&PLAYTHROUGHS) {
        for (line, words) in (0..).zip(text(playthrough).lines()) {
            let bytes = words.bytes().map(u32::from);
            hash.add(&[number, line].into_iter().chain(bytes).collect::<Vec<u32>>());
        }
    }
    hash
}

/// What everybody sees and gets after an env step, bit by bit.
fn record(env: &dyn Env, state: &EnvState, step: u32, rewards: &[f64], hash: &mut TraceHash) {
    let info = env.info();
    let mut vector = vec![0.0; info.obs_len.max(info.state_len) as usize];
    let mut add = |what: u32, numbers: &[f32]| {
        let bits = numbers.iter().map(|x| x.to_bits());
        hash.add(&[step, what].into_iter().chain(bits).collect::<Vec<u32>>());
    };
    for agent in 0..info.num_agents {
        let obs = &mut vector[..info.obs_len as usize];
        env.observe(state.view(), agent, obs);
        add(agent, obs);
    }
    let whole = &mut vector[..info.state_len as usize];
    env.state(state.view(), whole);
    add(u32::MAX, whole);
    let words = rewards.iter().chain(&state.reals).flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]);
    hash.add(&[step].into_iter().chain(words).chain(state.ints.iter().map(|&x| x as u32)).collect::<Vec<u32>>());
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ")
}

/// What stays for the whole episode, and the first picture.
fn start(frame: &Frame, out: &mut String) {
    match frame {
        Frame::Particles { landmarks, .. } => places("landmark", landmarks, out),
        Frame::Grid { levels, things, .. } if !levels.is_empty() => {
            let of_things = things.iter().map(|thing| thing.level).collect::<Vec<_>>();
            let _ = writeln!(out, "levels of agents {levels:?}, of food row by row {of_things:?}");
        }
        _ => {}
    }
    picture(frame, out);
}

fn picture(frame: &Frame, out: &mut String) {
    match frame {
        Frame::Board { columns, cells, outcome, .. } => {
            rows(*columns, cells.iter().map(|&piece| [".", "x", "o"][usize::from(piece)].to_owned()), out);
            let _ = match outcome {
                None => Ok(()),
                Some(Outcome::Won(player)) => writeln!(out, "player {} wins", player + 1),
                Some(Outcome::Drawn) => writeln!(out, "drawn"),
                Some(Outcome::Illegal(player)) => writeln!(out, "illegal move of player {}", player + 1),
            };
        }
        Frame::Grid { width, walls, agents, things, .. } => {
            let cell = |cell: u32| {
                let here = |&(_, &at): &(usize, &u32)| at == cell;
                match agents.iter().enumerate().find(here) {
                    _ if walls[cell as usize] => "#".to_owned(),
                    Some((agent, _)) => agent.to_string(),
                    None if things.iter().any(|thing| thing.cell == cell) => "*".to_owned(),
                    None => ".".to_owned(),
                }
            };
            rows(*width, (0..walls.len() as u32).map(cell), out);
        }
        Frame::Particles { agents, words, .. } => {
            places("agent", agents, out);
            for (agent, word) in words.iter().enumerate() {
                if let Some(word) = word {
                    let _ = writeln!(out, "agent {agent} said {word}");
                }
            }
        }
        Frame::Matrix { payoffs, columns, stage, .. } => {
            let _ = writeln!(out, "stage {stage}");
            rows(*columns, payoffs.iter().map(|(a, b)| format!("{a:?},{b:?}")), out);
        }
    }
}

/// Where discs are, and how fast those that move.
fn places(kind: &str, particles: &[Particle], out: &mut String) {
    for (i, Particle { at: [x, y], velocity: [vx, vy], .. }) in particles.iter().enumerate() {
        let _ = writeln!(out, "{kind} {i} at {x:?} {y:?}, velocity {vx:?} {vy:?}");
    }
}

/// Cells row by row, with spaces between.
fn rows(columns: u32, cells: impl Iterator<Item = String>, out: &mut String) {
    for (cell, word) in (1..).zip(cells) {
        out.push_str(&word);
        out.push(if cell % columns == 0 { '\n' } else { ' ' });
    }
}
