//! What self-play reaches on boards, by the presets' own settings, seed 0: games of the greedy network against scripts
//! from either seat, the best of the last three evaluations. A single return against oneself would say nothing.

use tandem_core::env::script::Script;
use tandem_core::experiment::presets::preset;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::MatchResult;

/// Plays `games` against each script in the last three evaluations of the preset, trained for `budget` env steps.
fn matches(id: &str, budget: u32, games: u32) -> Vec<Vec<MatchResult>> {
    let mut spec = preset(id).expect("in the menu").read().spec.clone();
    (spec.seed, spec.budget, spec.eval_every) = (0, budget, budget / 20);
    spec.learner.match_games = games;
    let mut run = Run::new(spec, 1).expect("a valid experiment");
    while run.end().is_none() {
        run.update();
    }
    run.evals.iter().rev().take(3).map(|point| point.matches.clone()).collect()
}

/// Games of each outcome against chance, as first and as second player.
fn against_chance(evaluation: &[MatchResult], outcome: impl Fn(&MatchResult) -> u32) -> [u32; 2] {
    [0, 1].map(|seat| {
        let result = evaluation.iter().find(|result| result.opponent == Script::Uniform && result.seat == seat);
        outcome(result.expect("chance is an opponent in either seat"))
    })
}

#[test]
fn p41_p51_half_a_million_plies_of_connect_four_beat_chance_from_either_side() {
    let last = matches("connect_four_both", 500_000, 200);
    let won: Vec<[u32; 2]> = last.iter().map(|evaluation| against_chance(evaluation, |result| result.won)).collect();
    assert!(won.iter().any(|&[first, second]| first >= 186 && second >= 170), "93 and 85 % of 200 games: {won:?}");
}

#[test]
fn p41_p51_tic_tac_toe_hardly_loses_to_chance_from_either_side() {
    let last = matches("tictactoe_both", 400_000, 1_000);
    let lost: Vec<[u32; 2]> = last.iter().map(|evaluation| against_chance(evaluation, |result| result.lost)).collect();
    assert!(lost.iter().any(|lost| lost.iter().all(|&lost| lost <= 10)), "1 % of 1,000 games: {lost:?}");
}
