//! The rules, against the referee's board and a table of counts.

mod common;

use common::{random_game, shapes};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{ConnectFourBoard, Point, columns_of};
use zugzwang::{
    BoardCell, BoardShape, BoardShapeError, ConnectFourEngine, ConnectFourEngineOptions,
    ConnectFourPosition, PositionError,
};

fn referees_board(shape: BoardShape) -> ConnectFourBoard {
    let forbidden = shape.forbidden().map(|cell| Point {
        x: (shape.rows() - 1 - cell.row).into(),
        y: cell.column.into(),
    });
    ConnectFourBoard::new(shape.rows(), shape.columns(), forbidden)
}

fn seat(stones: u32) -> Seat {
    Seat::new((stones % 2) as u8)
}

#[test]
fn random_games_go_as_they_do_at_the_referee() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for shape in shapes() {
        let mut board = referees_board(shape);
        let mut position = ConnectFourPosition::new(shape);
        for column in random_game(shape, &mut rng) {
            let open: Vec<u8> = columns_of(board.open())
                .map(|column| column as u8)
                .collect();
            assert_eq!(position.columns(), open);
            let landing = board.landing(column.into()).unwrap();
            let cell = BoardCell {
                column,
                row: (shape.rows() as i32 - 1 - landing.x) as u8,
            };
            assert_eq!(position.landing(column), Some(cell));
            let line = board.drop_stone(seat(position.stones()), column.into());
            position.play(column).unwrap();
            assert_eq!(position.is_won(), line, "{shape:?}");
            assert_eq!(position.is_full(), board.is_full());
            assert_eq!(position.stone(cell), Some(false));
        }
    }
}

#[test]
fn sequences_are_as_many_as_on_the_referees_board() {
    fn leaves(board: &ConnectFourBoard, stones: u32, plies: u32) -> u64 {
        if plies == 0 {
            return 1;
        }
        let columns = columns_of(board.open());
        columns
            .map(|column| {
                let mut next = board.clone();
                if next.drop_stone(seat(stones), column) {
                    u64::from(plies == 1)
                } else {
                    leaves(&next, stones + 1, plies - 1)
                }
            })
            .sum()
    }
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    for shape in shapes() {
        let game = random_game(shape, &mut rng);
        let before = game.len().saturating_sub(12);
        let position = ConnectFourPosition::after(shape, &game[..before]).unwrap();
        let mut board = referees_board(shape);
        for (number, &column) in game[..before].iter().enumerate() {
            board.drop_stone(seat(number as u32), column.into());
        }
        let expected = leaves(&board, before as u32, 4);
        assert_eq!(engine.leaves(&position, 4), expected, "{shape:?}");
    }
}

#[test]
fn sequences_on_the_usual_board_are_as_many_as_others_count() {
    let shape = BoardShape::new(6, 7, None).unwrap();
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    let counts = [7, 49, 343, 2401, 16807, 117_649, 823_536, 5_673_234];
    for (plies, count) in (1..).zip(counts) {
        assert_eq!(
            engine.leaves(&ConnectFourPosition::new(shape), plies),
            count
        );
    }
}

#[test]
fn sequences_of_eight_plies_are_as_many_as_two_other_programs_count() {
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
    for (columns, rows, forbidden, expected) in [
        (9, 9, None, 42_569_793),
        (9, 9, Some((4, 0)), 42_859_881),
        (9, 9, Some((4, 3)), 42_574_401),
        (10, 11, Some((3, 2)), 99_087_670),
        (11, 9, Some((0, 0)), 212_907_255),
        (12, 12, None, 427_223_952),
    ] {
        let cell = forbidden.map(|(column, row)| BoardCell { column, row });
        let shape = BoardShape::new(rows, columns, cell).unwrap();
        let found = engine.leaves(&ConnectFourPosition::new(shape), 8);
        assert_eq!(found, expected, "{shape:?}");
    }
}

#[test]
fn stones_read_back_to_the_same_position() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for shape in shapes() {
        let game = random_game(shape, &mut rng);
        let position = ConnectFourPosition::after(shape, &game[..game.len() / 2]).unwrap();
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for column in 0..shape.columns() {
            for row in 0..shape.rows() {
                let cell = BoardCell { column, row };
                match position.stone(cell) {
                    Some(true) => own.push(cell),
                    Some(false) => other.push(cell),
                    None => {}
                }
            }
        }
        assert_eq!(
            ConnectFourPosition::with_stones(shape, &own, &other),
            Ok(position)
        );
    }
}

#[test]
fn what_can_not_be_is_refused() {
    assert!(matches!(
        BoardShape::new(13, 9, None),
        Err(BoardShapeError::Size { .. })
    ));
    let outside = BoardCell { column: 9, row: 0 };
    assert_eq!(
        BoardShape::new(9, 9, Some(outside)),
        Err(BoardShapeError::Forbidden(outside))
    );
    let forbidden = BoardCell { column: 2, row: 0 };
    let shape = BoardShape::new(9, 9, Some(forbidden)).unwrap();
    let high = BoardCell { column: 0, row: 1 };
    for cell in [outside, forbidden, high] {
        let refused = ConnectFourPosition::with_stones(shape, &[cell], &[]);
        assert_eq!(refused, Err(PositionError::Floating(cell)));
    }
    let twice = BoardCell { column: 0, row: 0 };
    let refused = ConnectFourPosition::with_stones(shape, &[twice], &[twice]);
    assert_eq!(refused, Err(PositionError::Floating(twice)));
    let above = BoardCell { column: 2, row: 1 };
    assert!(ConnectFourPosition::with_stones(shape, &[above], &[]).is_ok());
    assert_eq!(
        ConnectFourPosition::after(shape, &[9]),
        Err(PositionError::NoRoom(9))
    );
    assert_eq!(
        ConnectFourPosition::after(shape, &[0, 1, 0, 1, 0, 1, 0, 1]),
        Err(PositionError::Over)
    );
}
