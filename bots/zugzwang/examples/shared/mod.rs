//! What several of these programs need.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use zugzwang::{BoardCell, BoardShape, ConnectFourPosition};

/// An empty board of one of the sizes that the game has, with a forbidden cell, and the number of its
/// columns.
pub(crate) fn random_board(rng: &mut ChaCha8Rng) -> Option<(ConnectFourPosition, u8)> {
    let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
    let cell = BoardCell {
        column: rng.random_range(0..columns),
        row: rng.random_range(0..rows),
    };
    let shape = BoardShape::new(rows, columns, Some(cell)).ok()?;
    Some((ConnectFourPosition::after(shape, &[]).ok()?, columns))
}
