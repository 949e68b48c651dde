//! Scripted players against each other: the reference's results, as first and as second player, by the rules that a run
//! plays by.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::Env;
use tandem_core::env::board::BoardSpec;
use tandem_core::env::script::{Program, Script, Turn};

use crate::support::World;

/// Games of a pairing, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    games: f64,
    first: f64,
    second: f64,
    drawn: f64,
    /// Plies, and their squares.
    plies: [f64; 2],
}

/// Both play the same game `games` times, each on draws of its own.
fn match_of(game: BoardSpec, players: [Script; 2], games: u32) -> Score {
    let env = game.build();
    let programs: [Box<dyn Program>; 2] = players.map(|script| env.program(script).expect("it suits a board"));
    let mut world = World::new(&env, 29);
    let mut score = Score { games: f64::from(games), ..Score::default() };
    for episode in 0..games {
        world.episode = episode;
        world.reset();
        let mut ended = false;
        while !ended {
            let mover = env.to_move(world.state.view()).expect("the game goes on");
            let ply = env.step_count(world.state.view());
            let turn = Turn { stream: Stream::new(31, "players"), at: [0, episode, ply], agent: mover };
            let mut actions = [0; 2];
            let i = mover as usize;
            actions[i] = programs[i].act(&world.obs(mover), &world.mask(mover), &turn);
            ended = world.step(&actions).any();
        }
        match world.rewards[0] {
            1.0 => score.first += 1.0,
            -1.0 => score.second += 1.0,
            _ => score.drawn += 1.0,
        }
        let plies = f64::from(env.step_count(world.state.view()));
        score.plies = [score.plies[0] + plies, score.plies[1] + plies * plies];
    }
    score
}

/// What the reference measured: shares of first wins, second wins and draws, mean plies where it says so.
struct Row {
    game: BoardSpec,
    players: [Script; 2],
    games: f64,
    shares: [f64; 3],
    plies: Option<f64>,
}

fn connect_four(first: Script, second: Script, games: f64, shares: [f64; 3], plies: f64) -> Row {
    Row { game: BoardSpec::ConnectFour, players: [first, second], games, shares, plies: Some(plies) }
}

fn rows() -> Vec<Row> {
    use Script::{Negamax2, Negamax4, OnePly, Uniform, WinElseRandom};
    let random = Row {
        game: BoardSpec::TicTacToe,
        players: [Uniform, Uniform],
        games: 20_000.0,
        shares: [0.5812, 0.2898, 0.1291],
        plies: None,
    };
    vec![
        connect_four(Uniform, Uniform, 20_000.0, [0.5545, 0.4431, 0.0023], 21.25),
        connect_four(WinElseRandom, Uniform, 4_000.0, [0.8280, 0.1720, 0.0000], 15.58),
        connect_four(Uniform, WinElseRandom, 4_000.0, [0.3003, 0.6993, 0.0005], 17.07),
        connect_four(OnePly, Uniform, 4_000.0, [0.9708, 0.0270, 0.0022], 16.80),
        connect_four(Uniform, OnePly, 4_000.0, [0.0520, 0.9450, 0.0030], 19.21),
        connect_four(Negamax2, Uniform, 2_000.0, [0.9585, 0.0400, 0.0015], 17.32),
        connect_four(Negamax4, Uniform, 2_000.0, [0.9945, 0.0045, 0.0010], 15.72),
        connect_four(Uniform, Negamax4, 2_000.0, [0.0125, 0.9850, 0.0025], 18.84),
        connect_four(Negamax4, OnePly, 1_000.0, [0.8350, 0.1110, 0.0540], 24.07),
        connect_four(OnePly, Negamax4, 1_000.0, [0.1280, 0.7950, 0.0770], 26.77),
        connect_four(OnePly, OnePly, 4_000.0, [0.5055, 0.4532, 0.0413], 25.71),
        random,
    ]
}

/// Variance of the mean of `games` zeros and ones of which `share` are ones.
fn of_share(share: f64, games: f64) -> f64 {
    share * (1.0 - share) / games
}

/// Within three standard errors of the difference, in every figure of every row.
#[test]
fn p51_players_score_as_the_reference_measured_first_and_second() {
    const GAMES: u32 = 10_000;
    let mut wrong = Vec::new();
    for row in rows() {
        let score = match_of(row.game, row.players, GAMES);
        let n = score.games;
        let figures = [score.first, score.second, score.drawn].map(|count| count / n);
        let mut told = vec![format!("{:?}: {figures:.4?} against {:.4?}", row.players, row.shares)];
        let mut judge = |what: &str, ours: f64, theirs: f64, variance: f64| {
            let bound = 3.0 * variance.sqrt();
            if (ours - theirs).abs() > bound {
                wrong.push(format!("{:?}, {what}: {ours:.4} is not {theirs} ± {bound:.4}", row.players));
            }
        };
        for (what, (ours, theirs)) in ["first", "second", "drawn"].into_iter().zip(figures.into_iter().zip(row.shares))
        {
            judge(what, ours, theirs, of_share(ours, n) + of_share(theirs, row.games));
        }
        if let Some(theirs) = row.plies {
            let [mean, square] = score.plies.map(|sum| sum / n);
            // The reference states no deviation of the plies: ours stands for both.
            let variance = square - mean * mean;
            judge("plies", mean, theirs, variance / n + variance / row.games);
            told.push(format!("{mean:.2} plies against {theirs}"));
        }
        println!("{}", told.join(", "));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A player against its own copy does not win half of the games as first: who begins has an advantage, so strength is a
/// pair of numbers, and the mirror's two add up to all decided games.
#[test]
fn p51_a_mirror_match_shows_the_advantage_of_the_first_move_and_no_strength() {
    for script in [Script::Uniform, Script::OnePly] {
        let score = match_of(BoardSpec::ConnectFour, [script; 2], 4_000);
        let decided = score.first + score.second;
        let share = score.first / decided;
        let error = of_share(share, decided).sqrt();
        assert!(share - 0.5 > 2.0 * error, "{script:?}: {score:?}");
        assert_eq!(decided + score.drawn, score.games);
    }
}

/// Deeper is stronger, as first and as second player.
#[test]
fn p51_looking_further_ahead_wins_more_from_either_side() {
    let worth = |score: Score, first: bool| {
        let (won, lost) = if first { (score.first, score.second) } else { (score.second, score.first) };
        (won - lost) / score.games
    };
    for (deep, shallow, games) in [(Script::Negamax4, Script::Negamax2, 400), (Script::Negamax6, Script::Negamax4, 100)]
    {
        let as_first = worth(match_of(BoardSpec::ConnectFour, [deep, shallow], games), true);
        let as_second = worth(match_of(BoardSpec::ConnectFour, [shallow, deep], games), false);
        println!("{deep:?} against {shallow:?}: {as_first:+.3} as first, {as_second:+.3} as second");
        assert!(as_first > 0.0 && as_second > 0.0, "{deep:?} against {shallow:?}: {as_first} and {as_second}");
    }
}

/// Nobody beats a player that sees the whole game of tic-tac-toe.
#[test]
fn eight_plies_of_tic_tac_toe_are_never_beaten() {
    for opponent in [Script::Uniform, Script::OnePly, Script::Negamax4] {
        assert_eq!(match_of(BoardSpec::TicTacToe, [Script::Negamax8, opponent], 200).second, 0.0);
        assert_eq!(match_of(BoardSpec::TicTacToe, [opponent, Script::Negamax8], 200).first, 0.0);
    }
    let mirror = match_of(BoardSpec::TicTacToe, [Script::Negamax8; 2], 50);
    assert_eq!(mirror.drawn, mirror.games);
}
