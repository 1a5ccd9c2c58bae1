//! Boards and games that several tests use.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use zugzwang::{BoardCell, BoardShape, ConnectFourPosition};

/// Boards of every layout: with and without a forbidden cell, at the bottom, in the
/// middle and at the top.
pub(crate) fn shapes() -> Vec<BoardShape> {
    let mut shapes = Vec::new();
    for (rows, columns) in [
        (4, 4),
        (6, 7),
        (9, 9),
        (9, 12),
        (10, 11),
        (10, 12),
        (11, 9),
        (11, 11),
        (12, 9),
        (12, 12),
    ] {
        let cells = [(0, 0), (columns / 2, rows / 2), (columns - 1, rows - 1)];
        let cells = cells.map(|(column, row)| Some(BoardCell { column, row }));
        for forbidden in [None].into_iter().chain(cells) {
            shapes
                .push(BoardShape::new(rows, columns, forbidden).expect("the cell is on the board"));
        }
    }
    shapes
}

/// The columns of a game of random moves.
pub(crate) fn random_game(shape: BoardShape, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut position = ConnectFourPosition::new(shape);
    let mut moves = Vec::new();
    while !position.is_won() && !position.is_full() {
        let open = position.columns();
        let column = open[rng.random_range(0..open.len())];
        position.play(column).expect("the column has room");
        moves.push(column);
    }
    moves
}
