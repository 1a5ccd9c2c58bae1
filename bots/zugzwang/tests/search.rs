//! The search: what it must find, and what it must hold to.

mod common;

use std::{
    cell::Cell as Shared,
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use common::{random_game, shapes};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition,
    ConnectFourSearchResult, GameIsOver, Limit, Proven,
};

fn after(columns: &[u8]) -> ConnectFourPosition {
    ConnectFourPosition::after(
        BoardShape::new(9, 9, None).expect("what the test names is possible"),
        columns,
    )
    .expect("what the test names is possible")
}

fn engine() -> ConnectFourEngine {
    ConnectFourEngine::new(ConnectFourEngineOptions {
        table: 2,
        ..ConnectFourEngineOptions::default()
    })
}

fn search(position: &ConnectFourPosition, nodes: u64) -> ConnectFourSearchResult {
    engine()
        .search(position, &Limit::nodes(nodes))
        .expect("what the test names is possible")
}

#[test]
fn it_wins_at_once() {
    let answer = search(&after(&[3, 0, 3, 0, 3, 1]), 100);
    assert_eq!(answer.column, 3);
    assert_eq!(answer.proven, Some(Proven::Win { plies: 1 }));
}

#[test]
fn it_denies_a_win() {
    assert_eq!(search(&after(&[3, 0, 3, 0, 3]), 100).column, 3);
}

#[test]
fn it_makes_an_open_three() {
    let answer = search(&after(&[3, 3, 4, 4]), 1000);
    assert!([2, 5].contains(&answer.column));
    assert_eq!(answer.proven, Some(Proven::Win { plies: 3 }));
}

#[test]
fn it_sees_that_it_is_lost() {
    let answer = search(&after(&[3, 3, 4, 4, 5]), 1000);
    assert!([2, 6].contains(&answer.column), "it denies one of two wins");
    assert_eq!(answer.proven, Some(Proven::Loss { plies: 2 }));
}

#[test]
fn it_uses_the_forbidden_cell() {
    // Three in a row on the ground: the cell at the right is forbidden.
    let cell = BoardCell { column: 5, row: 0 };
    let shape = BoardShape::new(9, 9, Some(cell)).unwrap();
    let position = ConnectFourPosition::after(shape, &[2, 2, 3, 3, 4]).unwrap();
    assert_eq!(search(&position, 1000).column, 1);
}

#[test]
fn a_game_that_is_over_is_not_searched() {
    let won = after(&[0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(engine().search(&won, &Limit::nodes(1)), Err(GameIsOver));
}

#[test]
fn the_same_nodes_give_the_same_answer() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for shape in shapes() {
        let game = random_game(shape, &mut rng);
        let position = ConnectFourPosition::after(shape, &game[..game.len() / 2]).unwrap();
        assert_eq!(search(&position, 3000), search(&position, 3000));
    }
}

#[test]
fn answers_are_legal_and_so_are_their_lines() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut engine = engine();
    for shape in shapes() {
        let game = random_game(shape, &mut rng);
        for moves in (0..game.len()).step_by(3) {
            let position = ConnectFourPosition::after(shape, &game[..moves]).unwrap();
            let answer = engine.search(&position, &Limit::nodes(500)).unwrap();
            assert_eq!(answer.line.first(), Some(&answer.column));
            let mut line = position;
            for &column in &answer.line {
                line.play(column).unwrap();
            }
        }
    }
}

#[test]
fn a_mirror_image_is_worth_the_same() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for shape in shapes() {
        let columns = shape.columns();
        let forbidden = shape.forbidden().map(|cell| BoardCell {
            column: columns - 1 - cell.column,
            ..cell
        });
        let mirrored_shape = BoardShape::new(shape.rows(), columns, forbidden).unwrap();
        let mut game = random_game(shape, &mut rng);
        game.truncate(game.len() / 2);
        let mirrored: Vec<u8> = game.iter().map(|column| columns - 1 - column).collect();
        let position = ConnectFourPosition::after(shape, &game).unwrap();
        let mirrored = ConnectFourPosition::after(mirrored_shape, &mirrored).unwrap();
        assert_eq!(engine().evaluate(&position), engine().evaluate(&mirrored));
    }
}

#[test]
fn a_table_is_of_use_for_the_mirror_image() {
    let shape = BoardShape::new(9, 9, None).unwrap();
    let position = ConnectFourPosition::after(shape, &[4, 3, 2]).unwrap();
    let mirrored = ConnectFourPosition::after(shape, &[4, 5, 6]).unwrap();
    let depth = || Limit::depth(9);
    let mut engine = engine();
    let first = engine.search(&position, &depth()).unwrap();
    let second = engine.search(&mirrored, &depth()).unwrap();
    assert!(second.nodes < first.nodes / 4, "{second:?} after {first:?}");
}

#[test]
fn the_last_search_helps_the_next() {
    let position = after(&[4, 3]);
    let mut warm = engine();
    let mut cold = engine();
    let first = warm.search(&position, &Limit::depth(10)).unwrap();
    let next = ConnectFourPosition::after(position.shape(), &[4, 3, first.line[0], first.line[1]])
        .unwrap();
    let depth = || Limit::depth(8);
    let warm = warm.search(&next, &depth()).unwrap();
    let cold = cold.search(&next, &depth()).unwrap();
    assert!(warm.nodes < cold.nodes / 2, "{warm:?}, alone {cold:?}");
}

#[test]
fn a_search_ends_with_its_clock() {
    // A clock that goes on by a millisecond whenever it is asked.
    for end in [1, 7, 40] {
        let now = Shared::new(Duration::ZERO);
        let limit = Limit::clock(Duration::from_millis(end), || {
            now.set(now.get() + Duration::from_millis(1));
            now.get()
        });
        let answer = engine().search(&after(&[]), &limit).unwrap();
        assert_eq!(now.get(), Duration::from_millis(end));
        // A position takes at most that many of the search for forced wins with it.
        assert!(answer.nodes <= (256 + 20) * end + 5_000, "{answer:?}");
    }
}

#[test]
fn a_search_ends_when_its_flag_is_set() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let searching = scope.spawn(|| engine().search(&after(&[4]), &Limit::flag(&stop)));
        stop.store(true, Relaxed);
        let answer = searching.join().expect("it does not panic");
        assert!(answer.is_ok());
    });
}

#[test]
fn threads_prove_what_one_proves() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let mut team = ConnectFourEngine::new(ConnectFourEngineOptions {
        table: 2,
        threads: NonZeroUsize::new(3).expect("not 0"),
        ..ConnectFourEngineOptions::default()
    });
    let mut proven = 0;
    for shape in shapes() {
        let mut moves = random_game(shape, &mut rng);
        moves.truncate(moves.len().saturating_sub(4));
        let position = ConnectFourPosition::after(shape, &moves).expect("the beginning of a game");
        let one = search(&position, 20_000);
        let all = team.search(&position, &Limit::nodes(20_000));
        let all = all.expect("the game goes on");
        let wins = |answer: &ConnectFourSearchResult| {
            answer.proven.map(|it| matches!(it, Proven::Win { .. }))
        };
        if let (Some(one), Some(all)) = (wins(&one), wins(&all)) {
            assert_eq!(one, all, "{position:?}");
            proven += 1;
        }
    }
    assert!(proven > 0);
}

#[test]
fn no_search_looks_at_more_positions_than_its_limit() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for shape in shapes() {
        let game = random_game(shape, &mut rng);
        let position = ConnectFourPosition::after(shape, &game[..game.len() / 2]).unwrap();
        for nodes in [1, 2, 3, 10, 100, 511, 2000] {
            let answer = search(&position, nodes);
            assert!(answer.nodes <= nodes, "{answer:?}");
            let is_undecided = answer.proven.is_none() && answer.depth > 0;
            assert!(answer.nodes == nodes || !is_undecided, "{answer:?}");
        }
    }
}

#[test]
fn an_engine_goes_from_board_to_board() {
    let mut engine = engine();
    for shape in shapes() {
        let position = ConnectFourPosition::new(shape);
        let answer = engine.search(&position, &Limit::nodes(2000)).unwrap();
        assert!(answer.column < shape.columns());
    }
}

#[test]
fn blurred_engines_of_different_seeds_differ() {
    let shape = BoardShape::new(12, 12, None).unwrap();
    // After a stone at the edge no column is clearly the best.
    let position = ConnectFourPosition::after(shape, &[0]).unwrap();
    let columns = |blur| {
        let answers = (0..20).map(|seed| {
            let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
                table: 1,
                blur,
                seed,
                ..ConnectFourEngineOptions::default()
            });
            let answer = engine.search(&position, &Limit::nodes(500));
            answer.unwrap().column
        });
        answers.collect::<std::collections::BTreeSet<u8>>().len()
    };
    assert_eq!(columns(0), 1);
    assert!(columns(200) > 2);
}
