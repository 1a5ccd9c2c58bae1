//! The reader of the rivers, for another seat that races: a network that reads one suit after the
//! other and says something of each rank.
//!
//! A suit is a list of rows of the first layer. The second layer sees the suit and the sum of the
//! other two, so that the names of suits do not matter.

use std::borrow::Cow;

use crate::{
    network::{FIXED, add, first_layer, threshold},
    tile::{RANKS, SUITS, Tile, Tiles},
};

/// The width of the first layer.
pub const FIRST: usize = 32;
/// The width of the second layer.
pub const SECOND: usize = 32;

/// The classes of the turns since a tile was last discarded by either seat.
const AGES: usize = 8;
/// The longest age that is told apart.
const OLDEST: usize = 11;
/// By age, from 1: its class.
const AGE: [usize; OLDEST + 1] = [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7];
/// The unseen tiles of a kind.
const UNSEEN: usize = 5;
/// The parts of a round in which a tile was first discarded by the other seat.
const FIRSTS: usize = 8;
/// The parts of a round.
const PARTS: usize = 7;
/// The discards of a seat that are told apart.
const TURNS: usize = 21;

const THROWN: usize = RANKS * UNSEEN * AGES;
const COUNT: usize = THROWN + RANKS * 2 * FIRSTS;
const SINCE: usize = COUNT + 7 * TURNS;
const EARLY: usize = SINCE + 10 * PARTS;
const HIDDEN: usize = EARLY + 5 * PARTS;
const OWN: usize = HIDDEN + 37;
const TURN: usize = OWN + 7 * PARTS;
/// Number of rows of the first layer.
pub const ROWS: usize = TURN + TURNS;
/// Number of them that a suit has at most.
pub const ACTIVE: usize = 2 * RANKS + 6;

/// The place at which the weights of the second layer begin.
pub const SECOND_ROWS: usize = ROWS * FIRST;
/// The place at which its offsets begin.
pub const OFFSETS: usize = SECOND_ROWS + 2 * FIRST * SECOND;
/// The place at which the last layer begins.
pub const LAST: usize = OFFSETS + SECOND;

/// Number of weights of a reader that says so many numbers of a suit.
#[must_use]
pub const fn weights(outputs: usize) -> usize {
    LAST + (SECOND + 1) * outputs
}

/// The rows of a suit.
#[derive(Clone, Copy, Debug)]
pub struct SuitRows {
    rows: [u16; ACTIVE],
    len: usize,
}

impl SuitRows {
    fn push(&mut self, row: usize) {
        debug_assert!(row < ROWS);
        self.rows[self.len] = row as u16;
        self.len += 1;
    }
}

impl std::ops::Deref for SuitRows {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.rows[..self.len]
    }
}

/// The input of a reader, by suit: the rivers, of which the other seat's is the second one, and the
/// tiles that are not seen.
#[must_use]
pub fn sight(own: &[Tile], other: &[Tile], unseen: &Tiles) -> [SuitRows; SUITS] {
    let turn = other.len().min(TURNS - 1);
    let part = (other.len() / 3).min(PARTS - 1);
    [0, 1, 2].map(|suit| {
        let mut rows = SuitRows {
            rows: [0; ACTIVE],
            len: 0,
        };
        let mut ages = [0; RANKS];
        let mut thrown = [0; RANKS];
        let mut first = [0; RANKS];
        let (mut of, mut early, mut since) = (0_usize, 0_usize, 9);
        for (at, &tile) in other.iter().enumerate() {
            if tile.suit() != suit {
                continue;
            }
            let (rank, age) = (tile.rank(), other.len() - at);
            of += 1;
            early += usize::from(at < 4);
            since = (age - 1).min(9);
            ages[rank] = age;
            if thrown[rank] == 0 {
                first[rank] = (at / 2).min(FIRSTS - 1);
            }
            thrown[rank] += 1;
        }
        let mut own_of = 0_usize;
        for (at, &tile) in own.iter().enumerate() {
            if tile.suit() != suit {
                continue;
            }
            let (rank, age) = (tile.rank(), own.len() - at);
            own_of += 1;
            ages[rank] = if ages[rank] == 0 {
                age
            } else {
                age.min(ages[rank])
            };
        }
        let mut hidden = 0;
        for rank in 0..RANKS {
            let left = usize::from(unseen.count(Tile::of(suit, rank)));
            hidden += left;
            let age = AGE[ages[rank].min(OLDEST)];
            rows.push((rank * UNSEEN + left) * AGES + age);
            if thrown[rank] > 0 {
                let count = usize::from(thrown[rank] > 1);
                rows.push(THROWN + (rank * 2 + count) * FIRSTS + first[rank]);
            }
        }
        rows.push(COUNT + of.min(6) * TURNS + turn);
        rows.push(SINCE + since * PARTS + part);
        rows.push(EARLY + early.min(4) * PARTS + part);
        rows.push(HIDDEN + hidden);
        rows.push(OWN + own_of.min(6) * PARTS + part);
        rows.push(TURN + turn);
        rows
    })
}

/// A network that says so many numbers of each suit. It is asked once or a few times for an answer, so its
/// weights are read where they lie.
#[derive(Clone, Debug)]
pub struct SuitNetwork<const OUTPUTS: usize>(Cow<'static, [u8]>);

impl<const OUTPUTS: usize> SuitNetwork<OUTPUTS> {
    /// Of [`weights`] weights in units of 1 / [`FIXED`], two bytes each.
    pub(crate) const fn new(weights: Cow<'static, [u8]>) -> Self {
        Self(weights)
    }

    /// Some weights that follow one another.
    #[inline]
    fn numbers<const COUNT: usize>(&self, from: usize) -> [f32; COUNT] {
        let bytes = &self.0[2 * from..2 * (from + COUNT)];
        let (numbers, _) = bytes.as_chunks();
        std::array::from_fn(|at| f32::from(i16::from_le_bytes(numbers[at])) / FIXED)
    }

    /// The outputs for each suit.
    #[must_use]
    pub fn read(&self, suits: &[SuitRows; SUITS]) -> [[f32; OUTPUTS]; SUITS] {
        let suits = suits.each_ref();
        let first: [[f32; FIRST]; SUITS] =
            suits.map(|rows| first_layer::<i16, FIRST>(&self.0, rows));
        let mut second: [[f32; SECOND]; SUITS] = [self.numbers(OFFSETS); SUITS];
        let row = |at: usize| self.numbers(SECOND_ROWS + at * SECOND);
        let rows = (0..FIRST).map(|at| [row(at), row(FIRST + at)]);
        for (at, [here, there]) in rows.enumerate() {
            for (suit, second) in second.iter_mut().enumerate() {
                let [one, other] = [(suit + 1) % SUITS, (suit + 2) % SUITS];
                add(second, first[suit][at], &here);
                add(second, first[one][at] + first[other][at], &there);
            }
        }
        let mut outputs: [[f32; OUTPUTS]; SUITS] = [self.numbers(LAST + SECOND * OUTPUTS); SUITS];
        let rows = (0..SECOND).map(|at| self.numbers(LAST + at * OUTPUTS));
        for (at, row) in rows.enumerate() {
            for (outputs, second) in outputs.iter_mut().zip(&second) {
                add(outputs, threshold(second[at]), &row);
            }
        }
        outputs
    }
}
