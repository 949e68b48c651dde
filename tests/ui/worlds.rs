//! Pictures of worlds made by hand: boards, particles, foraging, pursuit.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{EnvState, Frame, Label, Outcome, Particle, Role, StepOut, Thing, ThingKind};
use tandem_core::env::registry::EnvSpec;
use tandem_core::experiment::snapshot::{Stage, Thought};
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice};

use super::fixture::{Page, pellet, policy};

/// A page around `frame`, with `agents` agents that have these actions.
fn page(algo: AlgoChoice, frame: Frame, agents: u32, actions: &[Label]) -> Page {
    let mut page = if matches!(algo, AlgoChoice::Ippo | AlgoChoice::Mappo) { policy(algo) } else { pellet(algo) };
    let role = Role { id: "role.agent".to_owned(), actions: actions.to_vec(), obs: Vec::new() };
    let n = agents as usize;
    page.facts.num_agents = agents;
    page.facts.num_actions = actions.len() as u32;
    (page.facts.roles, page.facts.role_of) = (vec![role], vec![0; n]);
    (page.facts.optimum, page.facts.mix, page.facts.lower_is_better) = (None, None, false);
    page.snapshot.joint = None;
    page.snapshot.stage = Stage {
        frame: Some(frame),
        episode: 7,
        step: 9,
        weights_update: 2_140,
        actions: vec![0; n],
        explored: vec![false; n],
        rewards: vec![0.0; n],
        returns: vec![0.0; n],
        legal: vec![vec![true; actions.len()]; n],
        ..Stage::default()
    };
    page
}

fn numbered(count: i32) -> Vec<Label> {
    (1..=count).map(|number| Label::new("stage.board.column", &[number])).collect()
}

/// Pieces of a board from its rows: `1` and `2` for the players, `.` for empty.
fn pieces(rows: &[&str]) -> Vec<u8> {
    rows.iter().flat_map(|row| row.bytes()).map(|byte| byte.saturating_sub(b'0')).collect()
}

/// Connect Four with its fourth column full and agent 1 to move, who has values for each column.
pub(crate) fn connect_four(algo: AlgoChoice) -> Page {
    let rows = ["...1...", "...2...", "...1...", "..22...", "..11.1.", "..2212."];
    let frame = Frame::Board {
        rows: 6,
        columns: 7,
        cells: pieces(&rows),
        drops: true,
        to_move: Some(0),
        last: Some(23),
        lines: Vec::new(),
        outcome: None,
    };
    let mut page = page(algo, frame, 2, &numbered(7));
    page.facts.in_turns = true;
    let values = if page.facts.is_policy_gradient {
        vec![0.04, 0.21, 0.46, 0.0, 0.19, 0.07, 0.03]
    } else {
        vec![-0.31, 0.12, 0.48, 0.9, 0.11, -0.05, -0.62]
    };
    let legal = vec![true, true, true, false, true, true, true];
    page.snapshot.stage.thought = Some(thought(0, &values, &legal));
    page.snapshot.stage.per_action = vec![values, Vec::new()];
    page.snapshot.stage.legal = vec![legal, vec![false; 7]];
    page.snapshot.stage.greedy = vec![2, 0];
    page
}

/// The same board, won by agent 2 along a diagonal.
pub(crate) fn won() -> Page {
    let mut page = connect_four(AlgoChoice::Iql);
    let rows = [".......", ".......", "...2...", "..21...", ".212...", "211121."];
    if let Some(Frame::Board { cells, to_move, last, lines, outcome, .. }) = &mut page.snapshot.stage.frame {
        *cells = pieces(&rows);
        (*to_move, *last, *outcome) = (None, Some(17), Some(Outcome::Won(1)));
        *lines = vec![vec![17, 23, 29, 35]];
    }
    page.snapshot.stage.ended = true;
    page.snapshot.stage.thought = None;
    page
}

fn thought(agent: u32, values: &[f32], legal: &[bool]) -> Thought {
    Thought { agent, per_action: values.to_vec(), legal: legal.to_vec(), ..Thought::default() }
}

/// Tic-tac-toe with agent 2 to move.
pub(crate) fn tictactoe() -> Page {
    let frame = Frame::Board {
        rows: 3,
        columns: 3,
        cells: vec![1, 0, 0, 0, 2, 0, 0, 0, 1],
        drops: false,
        to_move: Some(1),
        last: Some(8),
        lines: Vec::new(),
        outcome: None,
    };
    let mut page = page(AlgoChoice::Iql, frame, 2, &numbered(9));
    page.facts.in_turns = true;
    let values = vec![0.9, 0.31, 0.02, 0.28, 0.7, 0.22, -0.4, 0.26, 0.9];
    let legal = [false, true, true, true, false, true, true, true, false];
    page.snapshot.stage.thought = Some(thought(1, &values, &legal));
    page.snapshot.stage.per_action = vec![Vec::new(), values];
    page.snapshot.stage.legal = vec![vec![false; 9], legal.to_vec()];
    page
}

/// An agent or a landmark.
pub(crate) fn body(at: [f32; 2], velocity: [f32; 2], radius: f32, collides: bool) -> Particle {
    Particle { at, velocity, radius, collides, is_goal: false, tint: None }
}

fn moves() -> Vec<Label> {
    let ids = ["action.stay", "action.left", "action.right", "action.down", "action.up"];
    ids.map(|id| Label::new(id, &[])).to_vec()
}

/// Three agents that cover three landmarks, two of them in contact.
pub(crate) fn spread() -> Page {
    let frame = Frame::Particles {
        agents: vec![
            body([-0.42, 0.31], [0.6, 0.35], 0.15, true),
            body([-0.24, 0.52], [-0.3, 0.1], 0.15, true),
            body([0.7, -0.64], [0.0, 0.9], 0.15, true),
        ],
        landmarks: vec![
            body([-0.8, -0.5], [0.0; 2], 0.05, false),
            body([0.1, 0.75], [0.0; 2], 0.05, false),
            body([0.85, -0.1], [0.0; 2], 0.05, false),
        ],
        pairs: vec![(0, 0), (1, 1), (2, 2)],
        touching: vec![(0, 1)],
        words: Vec::new(),
    };
    page(AlgoChoice::Ippo, frame, 3, &moves())
}

/// Five agents on top of each other: two in the same place, one half over them, one at the edge, one out of sight.
pub(crate) fn crowd() -> Page {
    let at = [[-0.3, 0.2], [-0.3, 0.2], [-0.16, 0.26], [0.06, 0.2], [0.9, 0.95]];
    let landmarks = [[-0.3, 0.55], [0.3, -0.6]];
    let frame = Frame::Particles {
        agents: at.map(|at| body(at, [0.2, -0.1], 0.15, true)).to_vec(),
        landmarks: landmarks.map(|at| body(at, [0.0; 2], 0.05, false)).to_vec(),
        pairs: Vec::new(),
        touching: vec![(0, 1), (0, 2), (1, 2), (2, 3)],
        words: Vec::new(),
    };
    page(AlgoChoice::Ippo, frame, 5, &moves())
}

/// Two small agents near each other at the edge of the plane, who both speak.
pub(crate) fn words() -> Page {
    let frame = Frame::Particles {
        agents: vec![body([0.93, 0.9], [0.2, 0.0], 0.04, false), body([0.86, 0.86], [0.0, -0.4], 0.04, false)],
        landmarks: vec![body([0.6, 0.9], [0.0; 2], 0.05, false)],
        pairs: vec![(0, 0)],
        touching: Vec::new(),
        words: vec![Some(1), Some(9)],
    };
    page(AlgoChoice::Ippo, frame, 2, &moves())
}

/// A small evading agent, two chasers that pass through each other, an obstacle, a goal with a colour, and words.
pub(crate) fn speakers() -> Page {
    let tinted = |particle: Particle, tint| Particle { tint: Some(tint), ..particle };
    let goal = Particle { is_goal: true, ..tinted(body([0.55, 0.4], [0.0; 2], 0.08, false), [0.25, 0.75, 0.25]) };
    let frame = Frame::Particles {
        agents: vec![
            tinted(body([-0.6, 0.5], [0.0, 0.0], 0.075, false), [0.25, 0.75, 0.25]),
            body([0.2, -0.3], [0.5, -0.4], 0.075, false),
            body([0.9, 0.9], [0.3, 0.5], 0.02, true),
        ],
        landmarks: vec![
            goal,
            tinted(body([-0.3, -0.7], [0.0; 2], 0.08, false), [0.75, 0.25, 0.25]),
            body([-0.2, 0.1], [0.0; 2], 0.2, true),
        ],
        pairs: vec![(1, 0)],
        touching: Vec::new(),
        words: vec![Some(1), None, Some(2)],
    };
    page(AlgoChoice::Ippo, frame, 3, &moves())
}

/// Agents and food of different levels.
pub(crate) fn foraging() -> Page {
    let food = |id, cell, level| Thing { kind: ThingKind::Food, id, cell, level };
    let frame = Frame::Grid {
        width: 8,
        height: 8,
        walls: vec![false; 64],
        agents: vec![10, 29, 45],
        levels: vec![1, 2, 2],
        things: vec![food(0, 18, 3), food(1, 37, 2), food(2, 51, 1)],
        sight: Some(2),
        arrived: vec![false; 3],
    };
    let names = ["action.stay", "action.up", "action.down", "action.left", "action.right", "action.load"];
    let mut page = page(AlgoChoice::Iql, frame, 3, &names.map(|id| Label::new(id, &[])));
    let q = |cell: u32| {
        let (x, y) = ((cell % 8) as f32, (cell / 8) as f32);
        let near = if matches!(cell, 10 | 17 | 19 | 26) { 0.9 } else { 0.1 };
        vec![0.2, 0.02 * y, 0.3 - 0.04 * y, 0.05 * x, 0.4 - 0.05 * x, near]
    };
    page.spec.env = EnvChoice::Foraging;
    page.snapshot.stage.overlay =
        (0..64).map(|cell| if matches!(cell, 18 | 37 | 51) { Vec::new() } else { q(cell) }).collect();
    page.snapshot.stage.greedy = vec![5, 2, 4];
    page
}

/// Many pursuers and evaders around a building; nobody computes values for other cells.
pub(crate) fn pursuit() -> Page {
    let is_wall = |cell: u32| (5..=10).contains(&(cell % 16)) && (4..=11).contains(&(cell / 16));
    let evader = |(id, cell)| Thing { kind: ThingKind::Evader, id, cell, level: 0 };
    let evaders: [u32; 9] = [3, 20, 21, 64, 131, 190, 205, 238, 250];
    let frame = Frame::Grid {
        width: 16,
        height: 16,
        walls: (0..256).map(is_wall).collect(),
        agents: vec![2, 4, 19, 48, 132, 200, 206, 249],
        levels: Vec::new(),
        things: (0..).zip(evaders).map(evader).collect(),
        sight: Some(3),
        arrived: vec![false; 8],
    };
    let mut page = page(AlgoChoice::Ippo, frame, 8, &moves());
    page.spec.env = EnvChoice::Pursuit;
    page.snapshot.stage.overlay = vec![Vec::new(); 256];
    page.selected_agent = 3;
    page
}

/// A world of `spec` after `steps` env steps in which each agent takes its legal actions in turn.
pub(crate) fn played(spec: &EnvSpec, steps: u32) -> Page {
    let env = spec.build().expect("a world");
    let info = env.info();
    let n = info.num_agents as usize;
    let stream = Stream::new(3, "stage of tests");
    let mut state = EnvState::new(info);
    env.reset(state.view_mut(), &stream.env(0, 0, 0));
    let legal = |state: &EnvState, agent: u32| {
        let mut mask = vec![0; info.num_actions as usize];
        env.legal(state.view(), agent, &mut mask);
        mask
    };
    let mut actions = vec![0; n];
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    let mut step = 0;
    let mut ended = false;
    while step < steps && !ended {
        for (agent, action) in (0_u32..).zip(&mut actions) {
            let mask = legal(&state, agent);
            let open: Vec<u32> = (0..).zip(&mask).filter(|(_, legal)| **legal != 0).map(|(action, _)| action).collect();
            *action = open.get((step * 5 + agent * 3 + step / 3) as usize % open.len().max(1)).copied().unwrap_or(0);
        }
        step += 1;
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        ended = env.step(state.view_mut(), &actions, &stream.env(0, 0, step), &mut out).any();
    }
    let mut page = page(AlgoChoice::Ippo, env.frame(state.view()), info.num_agents, &[]);
    page.facts.num_actions = info.num_actions;
    (page.facts.roles, page.facts.role_of) = (info.roles.clone(), info.role_of.clone());
    page.facts.in_turns = info.in_turns;
    let stage = &mut page.snapshot.stage;
    (stage.step, stage.ended) = (step, ended);
    stage.actions = if step > 0 { actions } else { Vec::new() };
    stage.rewards = rewards.iter().map(|&reward| reward as f32).collect();
    stage.legal =
        (0..info.num_agents).map(|agent| legal(&state, agent).iter().map(|&legal| legal != 0).collect()).collect();
    page
}
