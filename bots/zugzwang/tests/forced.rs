//! Forced wins of up to 17 plies, which a plain solver has found: the program `forced_wins`
//! has written them.

use zugzwang::{BoardCell, BoardShape, Engine, Limit, Options, Position, Proven};

static FOUND: &str = include_str!("../data/forced_wins.txt");

/// Positions, and the plies of the shortest win by stones that must each be answered.
fn positions() -> Vec<(Position, u32)> {
    let read = |line: &str| {
        let mut parts = line.split('|');
        let mut numbers = || -> Vec<u8> {
            let words = parts
                .next()
                .expect("what the test names is possible")
                .split_whitespace();
            words
                .map(|word| word.parse().expect("what the test names is possible"))
                .collect()
        };
        let board = numbers();
        let [rows, columns, column, row] = board[..] else {
            panic!("expected four numbers, found {board:?}");
        };
        let shape = BoardShape::new(rows, columns, Some(BoardCell { column, row }))
            .expect("what the test names is possible");
        let position = Position::after(shape, &numbers()).expect("what the test names is possible");
        (position, numbers()[0].into())
    };
    FOUND.lines().map(read).collect()
}

#[test]
fn the_set_has_wins_of_every_length_to_17_plies() {
    for plies in (5..=17).step_by(2) {
        let count = positions().iter().filter(|found| found.1 == plies).count();
        assert!(count > 0, "none of {plies} plies");
    }
}

#[test]
fn every_forced_win_is_found_with_its_length() {
    let mut engine = Engine::new(Options::default());
    for (position, plies) in positions() {
        let (column, found) = engine.forced_win(&position, 17, 1_000_000).unwrap();
        assert_eq!(found, plies, "{position:?}");
        assert!(position.columns().contains(&column));
        assert_eq!(engine.forced_win(&position, plies - 2, 1_000_000), None);
    }
}

#[test]
fn a_search_wins_where_a_win_can_be_forced() {
    for (mut position, plies) in positions() {
        let mut engine = Engine::new(Options::default());
        let end = position.stones() + plies;
        let answer = engine.search(&position, &Limit::nodes(100_000)).unwrap();
        // The only move that does not lose at once is played without a search.
        let wins = matches!(answer.proven, Some(Proven::Win { .. }));
        assert!(wins || answer.depth == 0, "{position:?}");
        // It plays on until it has won, whatever it has claimed.
        while !position.is_won() {
            let answer = engine.search(&position, &Limit::nodes(100_000)).unwrap();
            position.play(answer.column).unwrap();
            assert!(position.stones() <= end + 24, "{position:?}");
        }
        assert_eq!(position.stones() % 2, end % 2, "the right side has won");
    }
}
