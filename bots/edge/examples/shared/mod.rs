//! The parts that several examples need: random positions, and means with their errors.

use edge::{Discs, Square, Squares};
use rand::seq::IteratorRandom as _;
use rand_chacha::ChaCha8Rng;

/// A random legal move; none where there is none.
pub(crate) fn random_move(rng: &mut ChaCha8Rng, board: Discs) -> Option<Square> {
    Squares(board.moves()).choose(rng)
}

/// A position after so many random plies, drawn anew where one of them would have been a pass or
/// the side to move has none.
pub(crate) fn random_opening(rng: &mut ChaCha8Rng, plies: u32) -> Discs {
    loop {
        let opening = (0..plies).try_fold(Discs::START, |board, _| {
            board.play(random_move(rng, board)?)
        });
        if let Some(board) = opening.filter(|board| board.moves() != 0) {
            return board;
        }
    }
}

/// The mean, and half the width of its interval of 95 %.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (count - 1.0).max(1.0);
    (mean, 1.96 * (variance / count).sqrt())
}
