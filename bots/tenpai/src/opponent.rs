//! What the other seat's discards say of it.
//!
//! A passive opponent discards any tile and never wins. A racing one keeps what brings it nearer to
//! a win. Which of them it is follows from its discards by Bayes' rule, and so do the chances that
//! it wins.

use crate::{
    engine::Situation,
    features::Rows,
    tile::{KINDS, Tile},
    weights::Weights,
};

/// The classes of a discard, by the river before it.
pub const CLASSES: usize = TURNS * 250;
/// The classes of the number of discards before.
pub const TURNS: usize = 14;

/// The class of a tile as the next discard after this river: how many discards there were, how many
/// of its suit and of another one, how far the tile is from the end of its suit, and whether the
/// river has it.
#[must_use]
pub fn class(river: &[Tile], tile: Tile) -> usize {
    let mut suits = [0; 3];
    let mut is_repeated = 0;
    for &old in river {
        suits[old.suit()] += 1;
        if old == tile {
            is_repeated = 1;
        }
    }
    let own = suits[tile.suit()].min(4);
    suits[tile.suit()] = 0;
    let other = suits.into_iter().max().unwrap_or(0).min(4);
    let edge = tile.rank().min(8 - tile.rank());
    (((turn(river.len()) * 5 + own) * 5 + other) * 5 + edge) * 2 + is_repeated
}

/// The class of a number of discards.
#[must_use]
pub fn turn(discards: usize) -> usize {
    (discards / 2).min(TURNS - 1)
}

/// What racing opponents do, counted in rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Habits {
    /// By class: how much likelier a racing opponent discards such a tile than a passive one, as
    /// a logarithm.
    pub likelihood: Vec<f32>,
    /// By class: the chance that it wins with such a tile.
    pub danger: Vec<f32>,
    /// By turn: the chance that it wins with its next draw.
    pub self_draw: Vec<f32>,
    /// By turn: the points of such a win.
    pub loss: Vec<f32>,
}

impl Habits {
    /// How many numbers these are.
    pub const NUMBERS: usize = 2 * CLASSES + 2 * TURNS;

    /// That nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            likelihood: vec![0.0; CLASSES],
            danger: vec![0.0; CLASSES],
            self_draw: vec![0.0; TURNS],
            loss: vec![0.0; TURNS],
        }
    }
}

/// The other seat as it looks at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Opponent {
    /// The chance that it is passive.
    passive: f32,
    /// By kind: the chance that it wins if the tile is discarded.
    danger: [f32; KINDS],
    self_draw: f32,
    loss: f32,
}

/// The least chance that is not taken as none.
const LEAST: f32 = 0.02;

impl Opponent {
    pub(crate) fn of(weights: &Weights, situation: &Situation) -> Self {
        let habits = &weights.habits;
        let river = &situation.other_river;
        let passive = situation.passive.unwrap_or_else(|| {
            let logarithm: f32 = (0..river.len())
                .map(|at| habits.likelihood[class(&river[..at], river[at])])
                .sum();
            1.0 / (1.0 + logarithm.clamp(-30.0, 30.0).exp())
        });
        let passive = match passive {
            _ if passive < LEAST => 0.0,
            _ if passive > 1.0 - LEAST => 1.0,
            _ => passive,
        };
        let racing = 1.0 - passive;
        let turn = turn(river.len());
        let mut danger = [0.0; KINDS];
        if racing > 0.0 {
            for tile in Tile::all() {
                danger[tile.index()] = racing * habits.danger[class(river, tile)];
            }
        }
        Self {
            passive,
            danger,
            self_draw: racing * habits.self_draw[turn],
            loss: habits.loss[turn],
        }
    }

    /// What a hand with these rows is worth against it.
    pub(crate) fn value(&self, weights: &Weights, rows: &Rows) -> f32 {
        let mut value = 0.0;
        if self.passive > 0.0 {
            value += self.passive * weights.passive.value(rows);
        }
        if self.passive < 1.0 {
            value += (1.0 - self.passive) * weights.racing.value(rows);
        }
        value
    }

    /// The value of a discard, if the hand without it is worth so much.
    pub(crate) fn after(&self, tile: Tile, value: f32) -> f32 {
        let danger = self.danger[tile.index()];
        (1.0 - danger) * value - danger * self.loss
    }

    /// The chance that it wins with its next draw, and what it gains by it.
    pub(crate) const fn self_draw(&self) -> (f32, f32) {
        (self.self_draw, self.loss)
    }
}
