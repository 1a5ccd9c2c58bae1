//! Weights made by hand, good enough to play the first games with.

use edge::{
    pattern::{OFFSETS, PATTERNS},
    weights::{DISC, PatternWeights, STAGES, StageWeights},
};

/// The value of a disc on each square of the corner 3x3, in discs, in the order of its digits.
const CORNER: [i32; 9] = [12, -2, 0, -2, -5, -1, 0, -1, 0];
/// The value of one more move, in discs.
const MOVE: i32 = 1;

pub(crate) fn weights() -> PatternWeights {
    let mut stage = StageWeights::zero();
    let [corner, ..] = &PATTERNS;
    let patterns = stage.patterns_mut();
    for (number, weight) in patterns[OFFSETS[0]..OFFSETS[1]].iter_mut().enumerate() {
        let digit = |at: u32| number as i32 / 3i32.pow(at) % 3 - 1;
        let taken = digit(0) != 0;
        let discs = (0..corner.len() as u32).zip(CORNER).map(|(at, worth)| {
            // Beside a corner that is taken no square is dangerous.
            digit(at)
                * if taken && at > 0 {
                    worth.abs() / 2
                } else {
                    worth
                }
        });
        *weight = (discs.sum::<i32>() * DISC) as i16;
    }
    for (moves, weight) in stage.own_moves.iter_mut().enumerate() {
        *weight = (moves as i32 * MOVE * DISC) as i16;
    }
    for (moves, weight) in stage.other_moves.iter_mut().enumerate() {
        *weight = -(moves as i32 * MOVE * DISC) as i16;
    }
    PatternWeights::new(vec![stage; STAGES])
}
