//! The network that says what a hand is worth: a sum of rows, and two layers behind it.

use std::borrow::Cow;

/// The width of the first layer.
pub const FIRST: usize = 32;
/// How many neurons of the first layer are summed up at once.
const LANES: usize = 16;
/// The width of the second layer.
pub const SECOND: usize = 16;
/// What an output of 1 is worth in points.
pub const UNIT: f32 = 32.0;
/// How many weights follow the rows of the first layer: the second layer by the neurons of the first
/// one, its offsets, the last layer and its offset.
const BEHIND: usize = FIRST * SECOND + 2 * SECOND + 1;
/// What 1 is among the stored weights.
pub const FIXED: f32 = 4096.0;

/// Where the weights of a network with so many rows begin that are not of the first layer.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The weights of the second layer, by the neurons of the first one.
    pub second: usize,
    /// Its offsets.
    pub offsets: usize,
    /// The last layer, and its offset.
    pub last: usize,
    /// How many weights there are.
    pub weights: usize,
}

impl Layout {
    /// With so many rows in the first layer.
    #[must_use]
    pub const fn of(rows: usize) -> Self {
        let second = rows * FIRST;
        let offsets = second + FIRST * SECOND;
        Self {
            second,
            offsets,
            last: offsets + SECOND,
            weights: second + BEHIND,
        }
    }
}

/// The weights of a network, two bytes each.
#[derive(Clone, Debug)]
pub struct Network {
    rows: Cow<'static, [u8]>,
    second: [[f32; SECOND]; FIRST],
    offsets: [f32; SECOND],
    last: [f32; SECOND],
    last_offset: f32,
}

impl Network {
    /// Of its weights in units of 1 / [`FIXED`], two bytes each.
    pub(crate) fn new(weights: Cow<'static, [u8]>) -> Self {
        let layout = Layout::of((weights.len() / 2 - BEHIND) / FIRST);
        let at = |place: usize| {
            let bytes = [weights[2 * place], weights[2 * place + 1]];
            f32::from(i16::from_le_bytes(bytes)) / FIXED
        };
        let mut second = [[0.0; SECOND]; FIRST];
        for (first, row) in second.iter_mut().enumerate() {
            for (column, weight) in row.iter_mut().enumerate() {
                *weight = at(layout.second + first * SECOND + column);
            }
        }
        Self {
            second,
            offsets: std::array::from_fn(|column| at(layout.offsets + column)),
            last: std::array::from_fn(|column| at(layout.last + column)),
            last_offset: at(layout.last + SECOND),
            rows: match weights {
                Cow::Borrowed(weights) => Cow::Borrowed(&weights[..2 * layout.second]),
                Cow::Owned(weights) => Cow::Owned(weights[..2 * layout.second].to_vec()),
            },
        }
    }

    /// What a hand with these rows is worth, in points.
    #[inline]
    #[must_use]
    pub fn value(&self, rows: &[u16]) -> f32 {
        let first: [f32; FIRST] = first_layer(&self.rows, rows);
        let mut second = self.offsets;
        for (first, row) in first.iter().zip(&self.second) {
            for (sum, weight) in second.iter_mut().zip(row) {
                *sum += first * weight;
            }
        }
        let products = second.iter().zip(&self.last);
        let sum: f32 = products.map(|(&sum, weight)| threshold(sum) * weight).sum();
        UNIT * (sum + self.last_offset)
    }
}

/// The neurons of a first layer: the sums of these rows of weights, of two bytes each.
#[inline]
pub(crate) fn first_layer<const WIDTH: usize>(weights: &[u8], rows: &[u16]) -> [f32; WIDTH] {
    const {
        assert!(WIDTH.is_multiple_of(LANES), "each neuron is summed up");
    }
    let mut first = [0.0; WIDTH];
    // Only a few numbers at a time, so that they stay in registers.
    for (part, first) in first.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sum = [0_i32; LANES];
        for &row in rows {
            let at = 2 * (usize::from(row) * WIDTH + part * LANES);
            let weights: &[u8; 2 * LANES] = weights[at..].first_chunk().expect("a whole row");
            for (sum, weight) in sum.iter_mut().zip(weights.as_chunks().0) {
                *sum += i32::from(i16::from_le_bytes(*weight));
            }
        }
        *first = sum.map(|sum| threshold(sum as f32 / FIXED));
    }
    first
}

/// The activation of a neuron: a hundredth of what is below zero, so that none stops learning.
#[inline]
#[must_use]
pub fn threshold(x: f32) -> f32 {
    x.max(0.01 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any weights, and the same hand by sums of whole rows.
    #[test]
    fn a_value_is_the_sum_of_its_rows() {
        let rows = 40;
        let layout = Layout::of(rows);
        let weight = |at: usize| ((at * 7919 + 13) % 1201) as i16 - 600;
        let bytes: Vec<u8> = (0..layout.weights)
            .flat_map(|at| weight(at).to_le_bytes())
            .collect();
        let network = Network::new(bytes.into());
        let taken = [3, 17, 0, 39, 17];
        let number = |at: usize| f32::from(weight(at)) / FIXED;
        let first: Vec<f32> = (0..FIRST)
            .map(|column| threshold(taken.iter().map(|row| number(row * FIRST + column)).sum()))
            .collect();
        let second = (0..SECOND).map(|column| {
            let sums = first.iter().enumerate();
            let sum: f32 = sums
                .map(|(at, first)| first * number(layout.second + at * SECOND + column))
                .sum();
            threshold(sum + number(layout.offsets + column)) * number(layout.last + column)
        });
        let expected = UNIT * (second.sum::<f32>() + number(layout.last + SECOND));
        let found = network.value(&taken.map(|row| row as u16));
        assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
    }
}
