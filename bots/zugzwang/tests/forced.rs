//! Wins by force of up to 17 plies, which a plain solver has found: the program `forced_wins` has
//! written them.

use std::num::NonZeroUsize;

use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit,
    Proven,
};

static FOUND: &str = include_str!("../data/forced_wins.txt");

/// A position of the file.
struct ForcedWin {
    position: ConnectFourPosition,
    /// Of the shortest win.
    plies: u32,
    /// True if every stone threatens to win with the next one.
    by_threats: bool,
}

fn found() -> Vec<ForcedWin> {
    let read = |line: &str| {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let numbers = |part: &str| -> Vec<u8> {
            let words = part.split_whitespace();
            words
                .map(|word| word.parse().expect("what the test names is possible"))
                .collect()
        };
        let [board, moves, plies, kind] = parts[..] else {
            panic!("expected four parts, found {line}");
        };
        let [rows, columns, column, row] = numbers(board)[..] else {
            panic!("expected four numbers, found {board}");
        };
        let shape = BoardShape::new(rows, columns, Some(BoardCell { column, row }))
            .expect("what the test names is possible");
        ForcedWin {
            position: ConnectFourPosition::after(shape, &numbers(moves))
                .expect("what the test names is possible"),
            plies: numbers(plies)[0].into(),
            by_threats: kind == "threats",
        }
    };
    FOUND.lines().map(read).collect()
}

#[test]
fn the_set_has_wins_of_every_length_to_17_plies() {
    assert!(found().len() >= 200);
    for plies in (5..=17).step_by(2) {
        for by_threats in [true, false] {
            let all = found();
            let count = all
                .iter()
                .filter(|win| (win.plies, win.by_threats) == (plies, by_threats))
                .count();
            assert!(count >= 20, "{count} of {plies} plies, {by_threats}");
        }
    }
}

#[test]
fn every_win_by_threats_is_found_with_its_length() {
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    for win in found().into_iter().filter(|win| win.by_threats) {
        let position = win.position;
        let (column, plies) = engine.forced_win(&position, 17, 1_000_000).unwrap();
        assert_eq!(plies, win.plies, "{position:?}");
        assert!(position.columns().contains(&column));
        assert_eq!(
            engine.forced_win(&position, plies - 2, 1_000_000),
            None,
            "{position:?}"
        );
    }
}

#[test]
fn the_exact_solver_agrees_on_quiet_wins() {
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    for win in found().into_iter().filter(|win| !win.by_threats) {
        let proven = engine.solve(&win.position, &Limit::default()).unwrap();
        let plies = win.plies;
        assert_eq!(proven, Some(Proven::Win { plies }), "{:?}", win.position);
    }
}

#[test]
fn a_search_finds_every_win() {
    for win in found() {
        let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
        let answer = engine.search(&win.position, &Limit::nodes(100_000));
        let answer = answer.unwrap();
        // The only move that does not lose at once is played without a search.
        let wins = matches!(answer.proven, Some(Proven::Win { .. }));
        assert!(wins || answer.depth == 0, "{:?}", win.position);
    }
}

#[test]
fn any_number_of_threads_proves_the_same_wins() {
    let quiet = found()
        .into_iter()
        .filter(|win| !win.by_threats && win.plies <= 9);
    for win in quiet.step_by(6) {
        for threads in [1, 2, 4].map(NonZeroUsize::new) {
            let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
                table: 2,
                threads: threads.expect("not 0"),
                ..ConnectFourEngineOptions::default()
            });
            // Without a limit it goes on until it is proven, however the threads take turns.
            let answer = engine.search(&win.position, &Limit::default()).unwrap();
            let wins = matches!(answer.proven, Some(Proven::Win { .. }));
            assert!(wins || answer.depth == 0, "{threads:?} {:?}", win.position);
        }
    }
}

#[test]
fn it_wins_where_a_win_can_be_forced() {
    for win in found().into_iter().step_by(4) {
        let mut position = win.position;
        let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
        let end = position.stones() + win.plies;
        // It plays on until it has won, whatever it has claimed.
        while !position.is_won() {
            let answer = engine.search(&position, &Limit::nodes(50_000)).unwrap();
            position.play(answer.column).unwrap();
            assert!(position.stones() <= end + 24, "{position:?}");
        }
        assert_eq!(position.stones() % 2, end % 2, "the right side has won");
    }
}
