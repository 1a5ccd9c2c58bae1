//! A network as it is learned: what it says of a hand, and how its weights follow a target.

use tenpai::{
    Tiles, Valued,
    features::{Chances, Suits, is_of_the_race},
    network::{UNIT, threshold},
    opponent::Racer,
};

use crate::stage::{Kind, Learns, Stage};

/// A network of numbers of four bytes.
pub(crate) struct Net<'a, const FIRST: usize, const SECOND: usize>(
    pub(crate) &'a [f32],
    pub(crate) Kind,
);

impl<const FIRST: usize, const SECOND: usize> Net<'_, FIRST, SECOND> {
    fn sum(&self, rows: &[u16]) -> [f32; FIRST] {
        let mut sum = [0.0; FIRST];
        for &row in rows {
            let at = usize::from(row) * FIRST;
            for (sum, weight) in sum.iter_mut().zip(&self.0[at..at + FIRST]) {
                *sum += weight;
            }
        }
        sum
    }

    fn second(&self, first: &[f32; FIRST]) -> [f32; SECOND] {
        let mut second = [0.0; SECOND];
        let layout = self.1.layout();
        second.copy_from_slice(&self.0[layout.offsets..layout.last]);
        let layer = &self.0[layout.second..layout.offsets];
        for (first, row) in first.iter().zip(layer.chunks_exact(SECOND)) {
            for (sum, weight) in second.iter_mut().zip(row) {
                *sum += first * weight;
            }
        }
        second
    }

    fn last(&self, second: &[f32; SECOND]) -> f32 {
        let layer = &self.0[self.1.layout().last..];
        let sum: f32 = second.iter().zip(layer).map(|(x, weight)| x * weight).sum();
        sum + layer[SECOND]
    }

    pub(crate) fn value(&self, rows: &[u16]) -> f32 {
        let first = self.sum(rows).map(threshold);
        let second = self.second(&first).map(threshold);
        UNIT * self.last(&second)
    }

    pub(crate) fn discards(
        &self,
        hand: &Tiles,
        unseen: &Tiles,
        left: u8,
        racer: Option<&Racer>,
    ) -> Vec<Valued> {
        let chances = chances(racer);
        let all = Suits::of(hand, unseen, chances);
        let valued = hand.kinds().map(|tile| {
            let suits = all.without(tile, unseen, chances);
            let rows = self.1.rows(&suits, left, racer.map(|it| &it.threat));
            let value = self.value(&rows);
            Valued { tile, value }
        });
        valued.collect()
    }
}

pub(crate) const fn chances(racer: Option<&Racer>) -> &Chances {
    match racer {
        Some(racer) => &racer.chances,
        None => &Chances::EQUAL,
    }
}

/// The way in which a step depends on the past gradients of its weight.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// By the mean of their squares, of which the past ones count less and less (RMSProp).
    Even,
    /// By the sum of their squares (Adagrad), which suits what happens rarely: a mean would forget it.
    Smaller,
}

/// The part of a gradient in the mean of the past ones.
const KEPT: f32 = 0.001;

/// Numbers that are learned by gradient descent.
pub(crate) struct Numbers {
    pub(crate) weights: Vec<f32>,
    squares: Vec<f32>,
    steps: Steps,
    pub(crate) rate: f32,
}

impl Numbers {
    pub(crate) fn new(weights: Vec<f32>, steps: Steps) -> Self {
        let squares = match steps {
            Steps::Even => 1e-2,
            Steps::Smaller => 1.0,
        };
        Self {
            squares: vec![squares; weights.len()],
            weights,
            steps,
            rate: 0.0,
        }
    }

    pub(crate) const fn lists(&mut self) -> [&mut Vec<f32>; 2] {
        [&mut self.weights, &mut self.squares]
    }

    pub(crate) fn step(&mut self, at: usize, gradient: &[f32]) {
        let weights = &mut self.weights[at..at + gradient.len()];
        let squares = &mut self.squares[at..at + gradient.len()];
        let rate = self.rate;
        let all = weights.iter_mut().zip(squares).zip(gradient);
        match self.steps {
            Steps::Even => all.for_each(|((weight, square), gradient)| {
                *square += KEPT * (gradient * gradient - *square);
                *weight -= rate * gradient / (square.sqrt() + 1e-4);
            }),
            Steps::Smaller => all.for_each(|((weight, square), gradient)| {
                *square += gradient * gradient;
                *weight -= rate * gradient / square.sqrt();
            }),
        }
    }
}

/// The slope of the activation of a neuron.
pub(crate) const fn slope(x: f32) -> f32 {
    if x > 0.0 { 1.0 } else { 0.01 }
}

/// Moves what a network says of these rows towards the target, and returns how far it was off.
pub(crate) fn learn_value<const FIRST: usize, const SECOND: usize>(
    numbers: &mut Numbers,
    stage: &Stage,
    rows: &[u16],
    target: f32,
) -> f32 {
    let layout = stage.network.layout();
    let network = Net::<FIRST, SECOND>(&numbers.weights, stage.network);
    let sum = network.sum(rows);
    let first = sum.map(threshold);
    let second_sum = network.second(&first);
    let second = second_sum.map(threshold);
    let off = network.last(&second) - target;

    let weights = &numbers.weights;
    let mut second_slopes = [0.0; SECOND];
    for at in 0..SECOND {
        second_slopes[at] = off * weights[layout.last + at] * slope(second_sum[at]);
    }
    let mut first_slopes = [0.0; FIRST];
    for at in 0..FIRST {
        let row = &weights[layout.second + at * SECOND..][..SECOND];
        let back: f32 = row.iter().zip(&second_slopes).map(|(w, s)| w * s).sum();
        first_slopes[at] = back * slope(sum[at]);
    }

    let learns = |row| match stage.learns {
        Learns::All => true,
        Learns::Before(first) => usize::from(row) < first,
        Learns::TheRace => is_of_the_race(row),
    };
    if stage.learns != Learns::TheRace {
        let last: Vec<f32> = second.iter().map(|x| off * x).collect();
        numbers.step(layout.last, &last);
        numbers.step(layout.offsets, &second_slopes);
        for (at, first) in first.iter().enumerate() {
            let gradient = second_slopes.map(|slope| slope * first);
            numbers.step(layout.second + at * SECOND, &gradient);
        }
    }
    numbers.step(layout.last + SECOND, &[off]);
    let largest = stage.network.largest();
    for &row in rows.iter().filter(|&&row| learns(row)) {
        let at = usize::from(row) * FIRST;
        numbers.step(at, &first_slopes);
        for weight in &mut numbers.weights[at..at + FIRST] {
            *weight = weight.clamp(-largest, largest);
        }
    }
    off
}
