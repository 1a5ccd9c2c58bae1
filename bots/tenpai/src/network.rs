//! The network that says what a hand is worth: a sum of rows, and two layers behind it.

use std::{borrow::Cow, marker::PhantomData};

use crate::features::{PASSIVE_ROWS, RACING_ROWS, WIDE_ROWS};

/// The worth of an output of 1, in points.
pub const UNIT: f32 = 32.0;
/// The number that stands for 1 among the stored weights of two bytes.
pub const FIXED: f32 = 4096.0;
/// Number of neurons that are summed up at once, few enough that the sums stay in registers.
const LANES: usize = 16;

/// The network against a seat that never wins.
pub type PassiveNetwork = NeuralNetwork<i16, 32, 16>;
/// The network against a seat that races.
pub type RacingNetwork = NeuralNetwork<i8, 64, 32>;
/// The same where more memory is allowed.
pub type WideNetwork = NeuralNetwork<i8, 128, 32>;

/// The storage of the rows of a first layer.
pub trait RowStorage {
    /// Number of bytes of a number.
    const BYTES: usize;
    /// The number that stands for 1 among them.
    const ONE: f32;
    /// The largest number.
    const LARGEST: f32;
    /// Holds the sum of as many rows as a hand has.
    type Sum: Copy + Default + Into<i32>;

    /// Adds the numbers of these bytes, one to each sum.
    fn add(sums: &mut [Self::Sum; LANES], bytes: &[u8]);
    /// The bytes of a number. One that is too large is stored as the largest.
    fn store(number: f32, bytes: &mut Vec<u8>);
}

impl RowStorage for i16 {
    const BYTES: usize = 2;
    const ONE: f32 = FIXED;
    const LARGEST: f32 = Self::MAX as f32 / FIXED;
    type Sum = i32;

    #[inline]
    fn add(sums: &mut [i32; LANES], bytes: &[u8]) {
        let bytes: &[u8; 2 * LANES] = bytes.first_chunk().expect("a whole row");
        for (sum, number) in sums.iter_mut().zip(bytes.as_chunks().0) {
            *sum += i32::from(Self::from_le_bytes(*number));
        }
    }

    fn store(number: f32, bytes: &mut Vec<u8>) {
        bytes.extend(((number * Self::ONE).round() as Self).to_le_bytes());
    }
}

impl RowStorage for i8 {
    const BYTES: usize = 1;
    const ONE: f32 = 64.0;
    const LARGEST: f32 = Self::MAX as f32 / Self::ONE;
    type Sum = i16;

    #[inline]
    fn add(sums: &mut [i16; LANES], bytes: &[u8]) {
        let bytes: &[u8; LANES] = bytes.first_chunk().expect("a whole row");
        for (sum, number) in sums.iter_mut().zip(bytes) {
            *sum += i16::from(number.cast_signed());
        }
    }

    fn store(number: f32, bytes: &mut Vec<u8>) {
        bytes.extend(((number * Self::ONE).round() as Self).to_le_bytes());
    }
}

/// Takes away the numbers of these bytes, one from each sum.
#[inline]
fn subtract(sums: &mut [i16; LANES], bytes: &[u8]) {
    let bytes: &[u8; LANES] = bytes.first_chunk().expect("a whole row");
    for (sum, number) in sums.iter_mut().zip(bytes) {
        *sum -= i16::from(number.cast_signed());
    }
}

/// The places at which the weights of a network begin that are not of the first layer.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The weights of the second layer, by the neurons of the first one.
    pub second: usize,
    /// Its offsets.
    pub offsets: usize,
    /// The last layer, and its offset.
    pub last: usize,
    /// Number of weights.
    pub weights: usize,
    /// Number of their bytes.
    pub(crate) bytes: usize,
}

impl Layout {
    /// Of the network against a seat that never wins.
    pub const PASSIVE: Self = PassiveNetwork::layout(PASSIVE_ROWS);
    /// Of the network against a seat that races.
    pub const RACING: Self = RacingNetwork::layout(RACING_ROWS);
    /// Of the wide one.
    pub const WIDE: Self = WideNetwork::layout(WIDE_ROWS);
}

/// The weights of a network: the rows of the first layer as they are [`RowStorage`], and two bytes for each of
/// the others.
#[derive(Clone, Debug)]
pub struct NeuralNetwork<N, const FIRST: usize, const SECOND: usize> {
    rows: Cow<'static, [u8]>,
    second: [[f32; SECOND]; FIRST],
    offsets: [f32; SECOND],
    last: [f32; SECOND],
    last_offset: f32,
    stored: PhantomData<N>,
}

impl<N: RowStorage, const FIRST: usize, const SECOND: usize> NeuralNetwork<N, FIRST, SECOND> {
    /// The width of the first layer.
    pub const FIRST: usize = FIRST;
    /// The width of the second layer.
    pub const SECOND: usize = SECOND;
    /// The largest weight of a row.
    pub const LARGEST: f32 = N::LARGEST;
    /// Number of weights that follow the rows of the first layer: the second layer by the neurons
    /// of the first one, its offsets, the last layer and its offset.
    const BEHIND: usize = FIRST * SECOND + 2 * SECOND + 1;

    /// With so many rows in the first layer.
    #[must_use]
    pub const fn layout(rows: usize) -> Layout {
        let second = rows * FIRST;
        let offsets = second + FIRST * SECOND;
        Layout {
            second,
            offsets,
            last: offsets + SECOND,
            weights: second + Self::BEHIND,
            bytes: second * N::BYTES + 2 * Self::BEHIND,
        }
    }

    /// Of its weights as they are stored.
    pub(crate) fn new(weights: Cow<'static, [u8]>) -> Self {
        let rows = weights.len() - 2 * Self::BEHIND;
        let mut numbers = weights[rows..].as_chunks().0.iter();
        let mut next = || {
            let bytes = numbers.next().expect("as many as there are");
            f32::from(i16::from_le_bytes(*bytes)) / FIXED
        };
        let mut second = [[0.0; SECOND]; FIRST];
        second.as_flattened_mut().fill_with(&mut next);
        Self {
            second,
            offsets: std::array::from_fn(|_| next()),
            last: std::array::from_fn(|_| next()),
            last_offset: next(),
            rows: match weights {
                Cow::Borrowed(weights) => Cow::Borrowed(&weights[..rows]),
                Cow::Owned(mut weights) => {
                    weights.truncate(rows);
                    Cow::Owned(weights)
                }
            },
            stored: PhantomData,
        }
    }

    /// Puts these weights into the form that [`new`](Self::new) reads. One that is too large is stored as
    /// the largest.
    pub(crate) fn store(weights: &[f32], bytes: &mut Vec<u8>) {
        let (rows, behind) = weights.split_at(weights.len() - Self::BEHIND);
        rows.iter().for_each(|&weight| N::store(weight, bytes));
        behind.iter().for_each(|&weight| i16::store(weight, bytes));
    }

    /// The worth of a hand with these rows, in points.
    #[inline]
    #[must_use]
    pub fn value(&self, rows: &[u16]) -> f32 {
        self.behind(&first_layer::<N, FIRST>(&self.rows, rows))
    }

    /// The output for these neurons of the first layer.
    #[inline]
    fn behind(&self, first: &[f32; FIRST]) -> f32 {
        let second = self.second_layer(first);
        let products = second.iter().zip(&self.last);
        let sum: f32 = products.map(|(&sum, weight)| threshold(sum) * weight).sum();
        UNIT * (sum + self.last_offset)
    }

    /// The neurons of the second layer before the activation. Where this is part of a larger function, the
    /// compiler finds no good instructions for it.
    #[inline(never)]
    fn second_layer(&self, first: &[f32; FIRST]) -> [f32; SECOND] {
        let mut second = self.offsets;
        for (&first, row) in first.iter().zip(&self.second) {
            add(&mut second, first, row);
        }
        second
    }
}

impl<const FIRST: usize, const SECOND: usize> NeuralNetwork<i8, FIRST, SECOND> {
    /// The same as [`value`](Self::value), with less work where most rows are those of the last hand.
    #[inline]
    pub(crate) fn value_after<const MOST: usize>(
        &self,
        last: &mut Sums<FIRST, MOST>,
        rows: &[u16],
    ) -> f32 {
        last.change(&self.rows, rows);
        self.behind(&last.first_layer())
    }
}

/// The sums of at most so many rows of weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<const WIDTH: usize, const MOST: usize> {
    rows: [u16; MOST],
    len: usize,
    sums: [i16; WIDTH],
}

impl<const WIDTH: usize, const MOST: usize> Default for Sums<WIDTH, MOST> {
    fn default() -> Self {
        Self {
            rows: [0; MOST],
            len: 0,
            sums: [0; WIDTH],
        }
    }
}

impl<const WIDTH: usize, const MOST: usize> Sums<WIDTH, MOST> {
    /// Makes them those of these rows: takes away and adds where one is not as before.
    #[inline]
    fn change(&mut self, weights: &[u8], rows: &[u16]) {
        const {
            assert!(WIDTH.is_multiple_of(LANES), "each neuron is summed up");
        }
        let both = self.len.min(rows.len());
        let mut changed = [(0, 0); MOST];
        let mut count = 0;
        for (&old, &new) in self.rows[..both].iter().zip(rows) {
            changed[count] = (old, new);
            count += usize::from(old != new);
        }
        let at = |row: u16, part: usize| usize::from(row) * WIDTH + part * LANES;
        for (part, sums) in self.sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut now = *sums;
            for &(old, new) in &changed[..count] {
                subtract(&mut now, &weights[at(old, part)..]);
                i8::add(&mut now, &weights[at(new, part)..]);
            }
            for &old in &self.rows[both..self.len] {
                subtract(&mut now, &weights[at(old, part)..]);
            }
            for &new in &rows[both..] {
                i8::add(&mut now, &weights[at(new, part)..]);
            }
            *sums = now;
        }
        self.rows[..rows.len()].copy_from_slice(rows);
        self.len = rows.len();
    }

    #[inline]
    fn first_layer(&self) -> [f32; WIDTH] {
        self.sums.map(|sum| threshold(f32::from(sum) / i8::ONE))
    }
}

/// The neurons of a first layer: the sums of these rows of weights.
#[inline]
pub(crate) fn first_layer<N: RowStorage, const WIDTH: usize>(
    weights: &[u8],
    rows: &[u16],
) -> [f32; WIDTH] {
    const {
        assert!(WIDTH.is_multiple_of(LANES), "each neuron is summed up");
    }
    let mut first = [0.0; WIDTH];
    for (part, first) in first.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sums = [N::Sum::default(); LANES];
        for &row in rows {
            let at = N::BYTES * (usize::from(row) * WIDTH + part * LANES);
            N::add(&mut sums, &weights[at..]);
        }
        *first = sums.map(|sum| threshold(sum.into() as f32 / N::ONE));
    }
    first
}

/// Adds a row of weights, so many times.
#[inline]
pub(crate) fn add<const WIDTH: usize>(sums: &mut [f32; WIDTH], input: f32, row: &[f32; WIDTH]) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum += input * weight;
    }
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
    fn a_value_is_the_sum_of_its_rows<N: RowStorage, const FIRST: usize, const SECOND: usize>() {
        let layout = NeuralNetwork::<N, FIRST, SECOND>::layout(40);
        // Numbers that are stored exactly.
        let weights: Vec<f32> = (0..layout.weights)
            .map(|at| {
                let number = ((at * 7919 + 13) % 201) as f32 - 100.0;
                number / if at < layout.second { N::ONE } else { FIXED }
            })
            .collect();
        let mut bytes = Vec::new();
        NeuralNetwork::<N, FIRST, SECOND>::store(&weights, &mut bytes);
        assert_eq!(bytes.len(), layout.bytes);
        let network = NeuralNetwork::<N, FIRST, SECOND>::new(bytes.into());
        let taken = [3, 17, 0, 39, 17];
        let first: Vec<f32> = (0..FIRST)
            .map(|column| threshold(taken.iter().map(|row| weights[row * FIRST + column]).sum()))
            .collect();
        let second = (0..SECOND).map(|column| {
            let sums = first.iter().enumerate();
            let sum: f32 = sums
                .map(|(at, first)| first * weights[layout.second + at * SECOND + column])
                .sum();
            threshold(sum + weights[layout.offsets + column]) * weights[layout.last + column]
        });
        let expected = UNIT * (second.sum::<f32>() + weights[layout.last + SECOND]);
        let found = network.value(&taken.map(|row| row as u16));
        assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
    }

    #[test]
    fn a_value_is_the_sum_of_rows_of_two_bytes_a_number() {
        a_value_is_the_sum_of_its_rows::<i16, 32, 16>();
    }

    #[test]
    fn a_value_is_the_sum_of_rows_of_one_byte_a_number() {
        a_value_is_the_sum_of_its_rows::<i8, 64, 32>();
    }

    #[test]
    fn a_hand_has_the_same_value_whatever_was_valued_before() {
        let layout = WideNetwork::layout(40);
        let numbers = (0..layout.weights).map(|at| ((at * 7919 + 13) % 201) as f32 / 100.0 - 1.0);
        let mut bytes = Vec::new();
        WideNetwork::store(&numbers.collect::<Vec<f32>>(), &mut bytes);
        let network = WideNetwork::new(bytes.into());
        let mut last = Sums::<{ WideNetwork::FIRST }, 6>::default();
        let hands: [&[u16]; 5] = [
            &[3, 17, 0, 39, 17],
            &[3, 16, 0, 39, 18],
            &[3, 16, 1],
            &[],
            &[5, 6, 7, 8, 9, 10],
        ];
        for rows in hands {
            let found = network.value_after(&mut last, rows);
            assert_eq!(found.to_bits(), network.value(rows).to_bits());
        }
    }

    #[test]
    fn a_number_that_is_too_large_is_stored_as_the_largest() {
        let mut bytes = Vec::new();
        i8::store(5.0, &mut bytes);
        i8::store(-5.0, &mut bytes);
        i16::store(10.0, &mut bytes);
        assert_eq!(bytes, [0x7f, 0x80, 0xff, 0x7f]);
    }
}
