//! Connect Four and tic-tac-toe: the reference's games move by move, the known counts and scores, and the players.

use serde_json::Value;
use tandem_core::base::rng::Stream;
use tandem_core::env::aec::{Aec, AgentIter};
use tandem_core::env::api::{Env, EnvState};
use tandem_core::env::board::rules::{CONNECT_FOUR, Position, Rules, TIC_TAC_TOE, each};
use tandem_core::env::board::search::{best, foresee};
use tandem_core::env::board::solver::Solver;
use tandem_core::env::board::{BoardGame, BoardSpec, position};
use tandem_core::env::frame::{Frame, Outcome};
use tandem_core::env::script::{Foreseen, Script, Turn};

use crate::support::{Player, World};

const GAMES: [BoardSpec; 2] = [BoardSpec::ConnectFour, BoardSpec::TicTacToe];

fn connect_four() -> BoardGame {
    BoardSpec::ConnectFour.build()
}

/// Files of the reference's episodes with the game they are of.
const GOLDEN: [(BoardSpec, &str); 3] = [
    (BoardSpec::ConnectFour, include_str!("../golden/connect_four_v3_wins.json")),
    (BoardSpec::ConnectFour, include_str!("../golden/connect_four_v3_misc.json")),
    (BoardSpec::TicTacToe, include_str!("../golden/tictactoe_v3.json")),
];

fn digits(text: &Value) -> Vec<u32> {
    text.as_str().expect("a digit string").bytes().map(|digit| u32::from(digit - b'0')).collect()
}

fn seen(aec: &Aec<'_>, agent: u32) -> (Vec<u32>, Vec<u32>) {
    let obs = aec.observe(agent).expect("it has begun");
    (obs.iter().map(|&x| x as u32).collect(), aec.mask(agent).expect("it has begun"))
}

/// Observations, masks, rewards, flags, who is next and who is left: at every turn exactly the reference's.
fn replay(env: &BoardGame, episode: &Value) {
    let names: Vec<&str> =
        episode["agents"].as_array().expect("names").iter().map(|name| name.as_str().expect("a name")).collect();
    let index = |name: &Value| {
        names.iter().position(|known| Some(*known) == name.as_str()).expect("an agent of the episode") as u32
    };
    let at = episode["id"].as_str().expect("an id");
    assert!(digits(&episode["init"]["board"]).iter().all(|&cell| cell == 0), "{at}");
    let mut aec = Aec::new(env, Stream::new(1, "golden"));
    aec.reset();
    let mut turns = AgentIter::new(u64::MAX);
    for step in episode["steps"].as_array().expect("steps") {
        let agent = turns.next(&aec).expect("each turn is stepped").expect("the episode goes on");
        assert_eq!(agent, index(&step["agent"]), "{at}");
        let last = aec.last().expect("it has begun");
        let account = last.account;
        let told = serde_json::json!([account.cumulative as i64, account.terminated, account.truncated]);
        assert_eq!((told, account.cumulative.fract()), (step["last"].clone(), 0.0), "{at}");
        assert_eq!(seen(&aec, agent), (digits(&step["obs"]), digits(&step["mask"])), "{at}");
        let others = step["others"].as_object().expect("others");
        assert_eq!(others.len(), 1);
        for (name, other) in others {
            let other_seen = seen(&aec, index(&Value::from(name.as_str())));
            assert_eq!(other_seen, (digits(&other["obs"]), digits(&other["mask"])), "{at}");
        }
        aec.step(step["action"].as_i64()).expect("an action of the episode");
        let after = &step["after"];
        let live: Vec<u32> = after["agents"].as_array().expect("agents").iter().map(index).collect();
        assert_eq!((aec.agents(), aec.selection()), (&live[..], index(&after["selection"])), "{at}");
        for key in ["rewards", "cumulative", "term", "trunc"] {
            let of_live = after[key].as_object().expect("by agent");
            assert_eq!(of_live.len(), live.len(), "{at}");
            for (name, value) in of_live {
                let account = aec.account(index(&Value::from(name.as_str()))).expect("it is live");
                let (number, flag) = match key {
                    "rewards" => (Some(account.reward), None),
                    "cumulative" => (Some(account.cumulative), None),
                    "term" => (None, Some(account.terminated)),
                    _ => (None, Some(account.truncated)),
                };
                assert_eq!((number, flag), (value.as_f64(), value.as_bool()), "{at}: {key} of {name}");
            }
        }
    }
    assert_eq!(turns.next(&aec), Ok(None), "{at}: nobody is left");
}

#[test]
fn p49_the_references_games_are_replayed_exactly() {
    let mut turns = 0;
    for (game, text) in GOLDEN {
        let file: Value = serde_json::from_str(text).expect("JSON");
        for episode in file["episodes"].as_array().expect("episodes") {
            replay(&game.build(), episode);
            turns += episode["steps"].as_array().expect("steps").len();
        }
    }
    assert_eq!(turns, 747);
}

/// Plays by numbers alone: who gets what at the end, and the env steps.
fn played(env: &BoardGame, mut choose: impl FnMut(&World<'_>, u32) -> u32) -> (Vec<f64>, u32, Frame) {
    let mut world = World::new(env, 1);
    loop {
        let mover = env.to_move(world.state.view()).expect("the game goes on");
        let mut actions = [0; 2];
        actions[mover as usize] = choose(&world, mover);
        if world.step(&actions).any() {
            let frame = env.frame(world.state.view());
            return (world.rewards.clone(), env.step_count(world.state.view()), frame);
        }
        assert_eq!(world.rewards, [0.0; 2]);
    }
}

#[test]
fn p49_the_leftmost_legal_move_against_itself_wins_for_the_first_player_on_ply_19() {
    let leftmost = |world: &World<'_>, mover| world.mask(mover).iter().position(|&m| m == 1).expect("legal") as u32;
    let (rewards, plies, frame) = played(&connect_four(), leftmost);
    assert_eq!((&rewards[..], plies), (&[1.0, -1.0][..], 19));
    let Frame::Board { outcome, lines, to_move, last, .. } = frame else { panic!("a board") };
    assert_eq!((outcome, to_move), (Some(Outcome::Won(0)), None));
    assert!(lines.len() == 1 && lines[0].contains(&last.expect("a last piece")), "{lines:?}");
}

#[test]
fn p49_a_full_board_without_a_line_pays_nothing_and_shows_no_open_column() {
    // The last of `draw_0`, replayed above: here as the stage sees it.
    let file: Value = serde_json::from_str(GOLDEN[1].1).expect("JSON");
    let episode = file["episodes"].as_array().expect("episodes").iter().find(|e| e["id"] == "draw_0").expect("draw_0");
    let actions: Vec<i64> =
        episode["steps"].as_array().expect("steps").iter().filter_map(|s| s["action"].as_i64()).collect();
    let env = connect_four();
    let (rewards, plies, frame) = played(&env, |world, _| actions[env.step_count(world.state.view()) as usize] as u32);
    assert_eq!((&rewards[..], plies), (&[0.0; 2][..], 42));
    let Frame::Board { outcome, cells, lines, .. } = frame else { panic!("a board") };
    assert!(outcome == Some(Outcome::Drawn) && lines.is_empty() && cells.iter().all(|&cell| cell != 0));
}

/// No mask lets it happen; the rules say what it would be all the same.
#[test]
fn p49_an_illegal_move_costs_its_mover_one_and_the_other_nothing() {
    for (game, moves, erring) in [(BoardSpec::TicTacToe, vec![4, 4], 1), (BoardSpec::ConnectFour, vec![3; 7], 0)] {
        let env = game.build();
        let (rewards, plies, frame) = played(&env, |world, _| moves[env.step_count(world.state.view()) as usize]);
        let mut expected = [0.0; 2];
        expected[erring] = -1.0;
        assert_eq!((&rewards[..], plies as usize), (&expected[..], moves.len()));
        let Frame::Board { outcome, cells, .. } = frame else { panic!("a board") };
        assert_eq!(outcome, Some(Outcome::Illegal(erring as u32)));
        assert_eq!(cells.iter().filter(|&&cell| cell != 0).count(), moves.len() - 1, "the board is as it was");
    }
}

/// The mask is the mover's alone, at every ply; what is legal is exactly what the board has room for.
#[test]
fn p49_who_waits_has_no_legal_action() {
    for game in GAMES {
        let env = game.build();
        let mut player = Player::new(3);
        for _ in 0..50 {
            played(&env, |world, mover| {
                assert_eq!(world.mask(1 - mover).iter().sum::<u32>(), 0);
                let Frame::Board { columns, cells, drops, .. } = env.frame(world.state.view()) else {
                    panic!("a board")
                };
                let mask = world.mask(mover);
                for (action, &legal) in (0..).zip(&mask) {
                    // A column is open while its top is empty; cells of the other game are counted down the columns.
                    let cell = if drops { action } else { action % 3 * columns + action / 3 };
                    assert_eq!(legal == 1, cells[cell as usize] == 0);
                }
                player.legal(&mask)
            });
        }
    }
}

/// Each agent sees its own pieces in the first plane: one's planes are the other's, exchanged. And who wins for one
/// loses for the other, in rewards and in what is foreseen.
#[test]
fn p50_observations_are_the_observers_own_and_values_change_sign_with_the_mover() {
    for game in GAMES {
        let env = game.build();
        let (rules, mut player) = (*env.rules(), Player::new(5));
        for _ in 0..30 {
            let (rewards, ..) = played(&env, |world, mover| {
                let [own, other] = [mover, 1 - mover].map(|agent| world.obs(agent));
                for (mine, theirs) in own.chunks_exact(2).zip(other.chunks_exact(2)) {
                    assert_eq!([mine[0], mine[1]], [theirs[1], theirs[0]]);
                }
                let here = position(world.state.view());
                let mine = |cell: usize| here.own >> rules.bit(cell as u32) & 1 == 1;
                assert!(own.chunks_exact(2).enumerate().all(|(cell, planes)| (planes[0] == 1.0) == mine(cell)));
                let action = player.legal(&world.mask(mover));
                let value = |position, depth| worth(&foresee(&rules, position, depth));
                let next = here.after(rules.placed(here.taken(), action));
                let is_over = rules.has_line(next.other) || next.taken() == rules.board();
                if !is_over && value(next, 3) != 0 {
                    let told = foresee(&rules, here, 4)[action as usize];
                    assert_eq!(worth(&[told]).signum(), -value(next, 3).signum());
                }
                action
            });
            assert_eq!(rewards[0], -rewards[1]);
        }
    }
}

/// The best of what is foreseen: positive for a win, larger for a sooner one.
fn worth(foreseen: &[Option<Foreseen>]) -> i32 {
    let value = |seen: &Foreseen| match *seen {
        Foreseen::Win { plies } => 100 - plies as i32,
        Foreseen::Loss { plies } => plies as i32 - 100,
        Foreseen::Nothing => 0,
    };
    foreseen.iter().flatten().map(value).max().expect("a legal action")
}

/// Every index of an observation has its own name: rows and columns from 1, as drawn.
#[test]
fn the_names_of_an_observation_say_where_a_piece_lies() {
    for game in GAMES {
        let env = game.build();
        let mut world = World::new(&env, 1);
        let mut player = Player::new(7);
        for _ in 0..4 {
            let actions = [0, 1].map(|agent| {
                let mask = world.mask(agent);
                if mask.contains(&1) { player.legal(&mask) } else { 0 }
            });
            world.step(&actions);
        }
        let Frame::Board { columns, cells, .. } = env.frame(world.state.view()) else { panic!("a board") };
        for agent in 0..2 {
            let obs = world.obs(agent);
            let names = &env.info().role(agent).obs;
            assert_eq!(names.len(), obs.len());
            for (name, value) in names.iter().zip(obs) {
                let cell = cells[((name.args[0] - 1) * columns as i32 + name.args[1] - 1) as usize];
                let whose = if name.id == "obs.own_piece" { agent } else { 1 - agent };
                assert_eq!(value == 1.0, u32::from(cell) == whose + 1, "{name:?}");
            }
        }
    }
}

/// Move sequences of that length; a game stops at a win.
fn perft(rules: &Rules, position: Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if rules.has_line(position.other) {
        return 0;
    }
    each(rules.open(position.taken())).map(|cell| perft(rules, position.after(cell), depth - 1)).sum()
}

#[test]
fn the_number_of_games_of_each_length_is_the_known_one() {
    let known = [1, 7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234];
    for (depth, known) in (0..).zip(known) {
        assert_eq!(perft(&CONNECT_FOUR, Position::default(), depth), known, "depth {depth}");
    }
    // 255,168 games of tic-tac-toe: of these lengths, or drawn and won on the ninth mark.
    let known = [1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872];
    for (depth, known) in (0..).zip(known) {
        assert_eq!(perft(&TIC_TAC_TOE, Position::default(), depth), known, "depth {depth}");
    }
}

/// A position in the notation of the literature: columns counted from 1.
fn columns(moves: &str) -> Position {
    CONNECT_FOUR.replay(moves.bytes().map(|column| u32::from(column - b'1'))).expect("legal moves")
}

#[test]
fn known_positions_have_their_exact_score() {
    let mut solver = Solver::default();
    assert_eq!(solver.solve(columns("4455")), 18);
    assert_eq!(solver.solve(columns("44455554221")), -15);
}

/// Plain minimax over everything that is left, in the solver's score.
fn by_enumeration(position: Position) -> i32 {
    let left = (CONNECT_FOUR.cells() - position.plies()) as i32;
    if CONNECT_FOUR.has_line(position.other) {
        return -(left / 2 + 1);
    }
    let moves = each(CONNECT_FOUR.open(position.taken()));
    moves.map(|cell| -by_enumeration(position.after(cell))).max().unwrap_or(0)
}

/// Late positions of random play are few enough to enumerate; mirrored ones are worth the same.
#[test]
fn the_solver_agrees_with_enumeration_and_with_the_mirror() {
    let mut solver = Solver::default();
    let mut player = Player::new(11);
    let mut compared = 0;
    while compared < 60 {
        let (mut moves, mut position) = (Vec::new(), Position::default());
        while position.plies() < 30 && !CONNECT_FOUR.has_line(position.other) {
            let open: Vec<u64> = each(CONNECT_FOUR.open(position.taken())).collect();
            let cell = open[player.below(open.len() as u32) as usize];
            moves.push(CONNECT_FOUR.action(cell));
            position = position.after(cell);
        }
        if CONNECT_FOUR.has_line(position.other) {
            continue;
        }
        compared += 1;
        let score = solver.solve(position);
        assert_eq!(score, by_enumeration(position), "{moves:?}");
        let mirrored = CONNECT_FOUR.replay(moves.iter().map(|column| 6 - column)).expect("legal moves");
        assert_eq!(score, solver.solve(mirrored), "{moves:?}");
    }
}

/// Looking ahead by brute force: the same best moves and the same values, at every depth.
#[test]
fn alpha_beta_finds_all_best_moves_of_plain_minimax() {
    fn minimax(rules: &Rules, position: Position, depth: i32) -> i32 {
        if rules.has_line(position.other) {
            return -(depth + 1);
        }
        let moves = each(rules.open(position.taken()));
        if depth == 0 {
            0
        } else {
            moves.map(|cell| -minimax(rules, position.after(cell), depth - 1)).max().unwrap_or(0)
        }
    }
    for rules in [CONNECT_FOUR, TIC_TAC_TOE] {
        let mut player = Player::new(13);
        for _ in 0..60 {
            let mut position = Position::default();
            let plies = player.below(rules.cells() - 2);
            while position.plies() < plies && !rules.has_line(position.other) {
                let open: Vec<u64> = each(rules.open(position.taken())).collect();
                position = position.after(open[player.below(open.len() as u32) as usize]);
            }
            if rules.has_line(position.other) {
                continue;
            }
            for depth in 1..=5 {
                let values = |cell| -minimax(&rules, position.after(cell), depth as i32 - 1);
                let open: Vec<u64> = each(rules.open(position.taken())).collect();
                let most = open.iter().map(|&cell| values(cell)).max().expect("a move");
                let all = open.iter().filter(|&&cell| values(cell) == most).fold(0, |set, cell| set | cell);
                assert_eq!(best(&rules, position, depth), all, "depth {depth}: {position:?}");
                let foreseen = foresee(&rules, position, depth);
                for &cell in &open {
                    let expected = match values(cell) {
                        0 => Foreseen::Nothing,
                        v if v > 0 => Foreseen::Win { plies: depth + 1 - v.unsigned_abs() },
                        v => Foreseen::Loss { plies: depth + 1 - v.unsigned_abs() },
                    };
                    assert_eq!(foreseen[rules.action(cell) as usize], Some(expected));
                }
            }
        }
    }
}

/// Ties are broken evenly over all that are best: on an empty board every column is as good as any.
#[test]
fn ties_are_broken_evenly() {
    let env = connect_four();
    let world = World::new(&env, 1);
    let (obs, mask) = (world.obs(0), world.mask(0));
    for script in [Script::WinElseRandom, Script::OnePly, Script::Negamax4] {
        let program = env.program(script).expect("it suits a board");
        let mut counts = [0_u32; 7];
        for step in 0..7_000 {
            let turn = Turn { stream: Stream::new(2, "ties"), at: [0, 0, step], agent: 0 };
            counts[program.act(&obs, &mask, &turn) as usize] += 1;
        }
        // 1,000 each, five standard deviations wide.
        assert!(counts.iter().all(|count| (854..=1146).contains(count)), "{script:?}: {counts:?}");
    }
}

/// A state can be set up from a position, and says so.
#[test]
fn a_position_is_a_state_and_back() {
    let env = connect_four();
    let told = columns("44455554221");
    let state: EnvState = env.state_of(told);
    assert_eq!((position(state.view()), env.to_move(state.view())), (told, Some(1)));
    assert_eq!(env.step_count(state.view()), 11);
}
