//! Exact solutions of positions on the usual board, as several solvers have published them.

use zugzwang::{
    BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, GameIsOver,
    Limit, Proven,
};

/// Columns from 1, and 22 less the number of the winner's stones, with its sign.
const SOLVED: &[(&str, i32)] = &[
    ("44455554221", -15),
    ("273766656566132", 4),
    ("65214673556155731566316327373417", 1),
    ("2252576253462244111563365343671351441", -1),
    ("7422341735647741166133573473242566", 1),
    ("23163416124767223154467471272416755633", 0),
];

fn usual(columns: &str) -> ConnectFourPosition {
    let shape = BoardShape::new(6, 7, None).expect("what the test names is possible");
    let columns: Vec<u8> = columns.bytes().map(|digit| digit - b'1').collect();
    ConnectFourPosition::after(shape, &columns).expect("what the test names is possible")
}

/// The winner's stones at the end tell the score.
fn score(proven: Proven, stones: u32) -> i32 {
    match proven {
        Proven::Win { plies } => 22 - (stones + plies).div_ceil(2) as i32,
        Proven::Loss { plies } => (stones + plies).div_ceil(2) as i32 - 22,
        Proven::Draw => 0,
    }
}

#[test]
fn solved_positions_have_their_published_scores() {
    for &(columns, expected) in SOLVED {
        let position = usual(columns);
        let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
        let proven = engine.solve(&position, &Limit::default()).unwrap().unwrap();
        assert_eq!(score(proven, position.stones()), expected, "{columns}");
    }
}

#[test]
fn a_search_of_a_solved_position_finds_the_winner() {
    for &(columns, expected) in &SOLVED[..5] {
        let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
        let answer = engine.search(&usual(columns), &Limit::nodes(3_000_000));
        let answer = answer.unwrap();
        if answer.depth == 0 {
            // The only move that does not lose at once is played without a search.
            continue;
        }
        let won = match answer.proven {
            Some(Proven::Win { .. }) => 1,
            Some(Proven::Loss { .. }) => -1,
            _ => 0,
        };
        assert_eq!(won, expected.signum(), "{columns}");
    }
}

#[test]
fn a_limit_ends_a_solution() {
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    let solved = engine.solve(&usual(""), &Limit::nodes(10_000));
    assert_eq!(solved, Ok(None));
}

#[test]
fn a_game_that_is_won_has_no_solution() {
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    let solved = engine.solve(&usual("1212121"), &Limit::default());
    assert_eq!(solved, Err(GameIsOver));
}
