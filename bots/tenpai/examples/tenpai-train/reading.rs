//! The outputs of a reader of discards, and how its weights are learned.

use tenpai::{
    network::threshold,
    reader::{self, SuitRows},
};

use crate::network::{Numbers, slope};

/// The outputs of a reader of so many numbers a suit, with all that it takes to learn.
pub(crate) struct Pass<const OUTPUTS: usize> {
    first_sums: [[f32; reader::FIRST]; 3],
    first: [[f32; reader::FIRST]; 3],
    second_sums: [[f32; reader::SECOND]; 3],
    second: [[f32; reader::SECOND]; 3],
    pub(crate) outputs: [[f32; OUTPUTS]; 3],
}

impl<const OUTPUTS: usize> Pass<OUTPUTS> {
    pub(crate) fn of(weights: &[f32], suits: &[SuitRows; 3]) -> Self {
        use reader::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS};
        let first_sums = suits.each_ref().map(|rows| {
            let mut sum = [0.0; FIRST];
            for &row in &**rows {
                let at = usize::from(row) * FIRST;
                for (sum, weight) in sum.iter_mut().zip(&weights[at..at + FIRST]) {
                    *sum += weight;
                }
            }
            sum
        });
        let first = first_sums.map(|sum| sum.map(threshold));
        let second_sums: [[f32; SECOND]; 3] = std::array::from_fn(|suit| {
            let mut sum = [0.0; SECOND];
            sum.copy_from_slice(&weights[OFFSETS..LAST]);
            for (input, row) in inputs(&first, suit)
                .iter()
                .zip(weights[SECOND_ROWS..OFFSETS].chunks_exact(SECOND))
            {
                for (sum, weight) in sum.iter_mut().zip(row) {
                    *sum += input * weight;
                }
            }
            sum
        });
        let second = second_sums.map(|sum| sum.map(threshold));
        let outputs = std::array::from_fn(|suit| {
            let mut outputs = [0.0; OUTPUTS];
            outputs.copy_from_slice(&weights[LAST + SECOND * OUTPUTS..]);
            for (input, row) in second[suit]
                .iter()
                .zip(weights[LAST..].chunks_exact(OUTPUTS))
            {
                for (output, weight) in outputs.iter_mut().zip(row) {
                    *output += input * weight;
                }
            }
            outputs
        });
        Self {
            first_sums,
            first,
            second_sums,
            second,
            outputs,
        }
    }

    /// A step against these slopes of the outputs.
    pub(crate) fn learn(
        &self,
        numbers: &mut Numbers,
        suits: &[SuitRows; 3],
        slopes: &[[f32; OUTPUTS]; 3],
    ) {
        use reader::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS};
        let mut last = vec![0.0; (SECOND + 1) * OUTPUTS];
        let mut layer = vec![0.0; 2 * FIRST * SECOND];
        let mut offsets = [0.0; SECOND];
        let mut first_slopes = [[0.0; FIRST]; 3];
        for suit in 0..3 {
            let mut second_slopes = [0.0; SECOND];
            let rows = numbers.weights[LAST..].chunks_exact(OUTPUTS);
            for (at, row) in rows.take(SECOND).enumerate() {
                let back: f32 = row.iter().zip(&slopes[suit]).map(|(w, s)| w * s).sum();
                second_slopes[at] = back * slope(self.second_sums[suit][at]);
                for (sum, slope) in last[at * OUTPUTS..].iter_mut().zip(&slopes[suit]) {
                    *sum += self.second[suit][at] * slope;
                }
            }
            for (sum, slope) in last[SECOND * OUTPUTS..].iter_mut().zip(&slopes[suit]) {
                *sum += slope;
            }
            for (sum, slope) in offsets.iter_mut().zip(&second_slopes) {
                *sum += slope;
            }
            let [one, other] = [(suit + 1) % 3, (suit + 2) % 3];
            let rows = numbers.weights[SECOND_ROWS..OFFSETS].chunks_exact(SECOND);
            let gradients = layer.chunks_exact_mut(SECOND);
            let inputs = inputs(&self.first, suit);
            for (at, ((row, gradient), input)) in rows.zip(gradients).zip(&inputs).enumerate() {
                let back: f32 = row.iter().zip(&second_slopes).map(|(w, s)| w * s).sum();
                for (sum, slope) in gradient.iter_mut().zip(&second_slopes) {
                    *sum += input * slope;
                }
                if at < FIRST {
                    first_slopes[suit][at] += back;
                } else {
                    first_slopes[one][at - FIRST] += back;
                    first_slopes[other][at - FIRST] += back;
                }
            }
        }
        numbers.step(LAST, &last);
        numbers.step(OFFSETS, &offsets);
        numbers.step(SECOND_ROWS, &layer);
        for suit in 0..3 {
            let mut slopes = first_slopes[suit];
            for (slope_here, &sum) in slopes.iter_mut().zip(&self.first_sums[suit]) {
                *slope_here *= slope(sum);
            }
            for &row in &*suits[suit] {
                numbers.step(usize::from(row) * FIRST, &slopes);
            }
        }
    }
}

/// The inputs of the second layer of a reader for a suit: the first layer there, and the sum of the
/// other two suits.
fn inputs(first: &[[f32; reader::FIRST]; 3], suit: usize) -> [f32; 2 * reader::FIRST] {
    let [one, other] = [(suit + 1) % 3, (suit + 2) % 3];
    std::array::from_fn(|at| match at.checked_sub(reader::FIRST) {
        None => first[suit][at],
        Some(at) => first[one][at] + first[other][at],
    })
}
