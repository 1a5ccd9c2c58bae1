//! What the other seat's discards say of it.
//!
//! A passive opponent discards any tile and never wins. A racing one keeps what brings it nearer to
//! a win. Which of them it is follows from its discards by Bayes' rule, and so do the chances that
//! it wins.

use crate::{
    engine::Situation,
    features::{CERTAIN, Chances, pressure},
    tile::{Hand, KINDS, Tile},
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

/// What both seats have discarded, and what one seat has not seen, as far as it matters for how
/// likely the other one wins with a tile.
#[derive(Clone, Debug)]
pub struct Reading {
    discards: usize,
    /// By suit: how many discards of the other seat.
    of: [usize; 3],
    /// By suit: how many of its first discards.
    early: [usize; 3],
    /// By suit: the turns since its last discard of it.
    since: [usize; 3],
    /// Its last two discards.
    last: [Option<Tile>; 2],
    /// By kind: the turns since it was last discarded by either seat, from 1; 0 if it never was.
    age: [usize; KINDS],
    /// By kind: how often the other seat has discarded it.
    thrown: [usize; KINDS],
    unseen: Hand,
}

/// The longest age of a discard that is told apart.
const OLDEST: usize = 9;
/// By row, how many cases there are.
const CASES: [usize; READ] = [
    21 * 7,
    11 * 7 * 4,
    5 * 7 * PARTS,
    3 * PARTS,
    5 * 5 * PARTS,
    16 * 9,
    10 * PARTS,
    5 * 5,
    5 * 5,
    10 * PARTS,
    10 * PARTS,
    5 * PARTS,
    (OLDEST + 1) * PARTS,
    16 * 9,
    16 * 9,
    16 * PARTS,
];
/// The parts of a round.
const PARTS: usize = 7;
/// How many rows a tile has.
pub const READ: usize = 16;
/// How many rows there are.
pub const READINGS: usize = {
    let (mut sum, mut at) = (0, 0);
    while at < READ {
        sum += CASES[at];
        at += 1;
    }
    sum
};

impl Reading {
    /// Of the discards of both seats.
    #[must_use]
    pub fn of(own: &[Tile], other: &[Tile], unseen: &Hand) -> Self {
        let mut reading = Self {
            discards: other.len(),
            of: [0; 3],
            early: [0; 3],
            since: [OLDEST; 3],
            last: [other.last().copied(), other.iter().rev().nth(1).copied()],
            age: [0; KINDS],
            thrown: [0; KINDS],
            unseen: *unseen,
        };
        for (at, &tile) in other.iter().enumerate() {
            let age = other.len() - at;
            reading.of[tile.suit()] += 1;
            reading.early[tile.suit()] += usize::from(at < 4);
            reading.since[tile.suit()] = (age - 1).min(OLDEST);
            reading.thrown[tile.index()] += 1;
            reading.age[tile.index()] = age.min(OLDEST);
        }
        for (at, &tile) in own.iter().enumerate() {
            let age = (own.len() - at).min(OLDEST);
            let known = &mut reading.age[tile.index()];
            *known = if *known == 0 { age } else { (*known).min(age) };
        }
        reading
    }

    /// The rows of a tile.
    #[must_use]
    pub fn rows(&self, tile: Tile) -> [u16; READ] {
        let (suit, rank) = (tile.suit(), tile.rank());
        let part = (self.discards / 3).min(PARTS - 1);
        let edge = rank.min(8 - rank);
        let own = self.of[suit].min(6);
        let mut others = [self.of[(suit + 1) % 3], self.of[(suit + 2) % 3]];
        others.sort_unstable();
        let near = |off: isize| {
            let rank = rank as isize + off;
            (0..9)
                .contains(&rank)
                .then(|| Tile::of(suit, rank as usize))
        };
        let thrown = |off| near(off).is_some_and(|tile| self.thrown[tile.index()] > 0);
        let unseen = |off| near(off).map_or(0, |tile| usize::from(self.unseen.count(tile)));
        let age = |off| match near(off).map(|tile| self.age[tile.index()]) {
            None | Some(0) => 0,
            Some(1..=2) => 1,
            Some(3..=5) => 2,
            Some(_) => 3,
        };
        let bits = |offs: [isize; 4]| {
            offs.iter()
                .fold(0, |bits, &off| 2 * bits + usize::from(thrown(off)))
        };
        let last = |at: usize| match self.last[at] {
            Some(last) if last.suit() == suit => last.rank().abs_diff(rank),
            _ => 9,
        };
        let age_here = self.age[tile.index()];
        let cases = [
            self.discards.min(20) * 7 + own,
            ((self.discards / 2).min(10) * 7 + others[1].min(6)) * 4 + others[0].min(3),
            (edge * 7 + own) * PARTS + part,
            self.thrown[tile.index()].min(2) * PARTS + part,
            (unseen(0).min(4) * 5 + edge) * PARTS + part,
            bits([-2, -1, 1, 2]) * 9 + rank,
            self.since[suit].min(9) * PARTS + part,
            unseen(-1) * 5 + unseen(1),
            unseen(-2) * 5 + unseen(2),
            last(0) * PARTS + part,
            last(1) * PARTS + part,
            self.early[suit].min(4) * PARTS + part,
            age_here * PARTS + part,
            (age(-3) * 4 + age(3)) * 9 + rank,
            (age(-1) * 4 + age(1)) * 9 + rank,
            ((unseen(0).min(3)) * 4 + age(0)) * PARTS + part,
        ];
        let mut first = 0;
        let mut rows = [0; READ];
        for at in 0..READ {
            debug_assert!(cases[at] < CASES[at]);
            rows[at] = (first + cases[at]) as u16;
            first += CASES[at];
        }
        rows
    }
}

/// What racing opponents do, as rounds have shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Habits {
    /// By class of a discard: how much likelier a racing opponent discards such a tile than a
    /// passive one, as a logarithm.
    pub likelihood: Vec<f32>,
    /// By row of a [`Reading`]: the logarithm of how much likelier a racing opponent discards a tile
    /// than a passive one is the sum of these and of a number that is the same for all tiles.
    pub throws: Vec<f32>,
    /// By row of a [`Reading`]: the logarithm of the odds that it wins with a tile is the sum of these.
    pub danger: Vec<f32>,
    /// By class of a suit: the share of the suit's unseen tiles that it holds.
    pub held: Vec<f32>,
    /// By turn: the points of its win.
    pub loss: Vec<f32>,
}

impl Habits {
    /// How many numbers these are.
    pub const NUMBERS: usize = CLASSES + 2 * READINGS + HOLDINGS + TURNS;

    /// That nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            likelihood: vec![0.0; CLASSES],
            throws: vec![0.0; READINGS],
            danger: vec![-0.2; READINGS],
            held: vec![0.0; HOLDINGS],
            loss: vec![0.0; TURNS],
        }
    }

    /// The chance that a racing opponent wins with a tile of these rows.
    #[must_use]
    pub fn chance(&self, rows: &[u16; READ]) -> f32 {
        let sum: f32 = rows.iter().map(|&row| self.danger[usize::from(row)]).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// How much likelier than a passive opponent a racing one discards this tile after these
    /// rivers, as a logarithm.
    fn thrown(&self, own: &[Tile], other: &[Tile], tile: Tile) -> f32 {
        let discards = Discards::of(self, own, other);
        let chance = |tile: Tile| discards.chances[tile.index()];
        (chance(tile) / discards.even(tile))
            .ln()
            .clamp(-LARGEST, LARGEST)
    }
}

/// No discard says more than this, as a logarithm.
const LARGEST: f32 = 3.0;

/// What a racing opponent may discard next.
pub struct Discards {
    /// By kind.
    pub chances: [f32; KINDS],
    /// By kind, where some may be left.
    pub rows: [Option<[u16; READ]>; KINDS],
    hidden: Hand,
}

impl Discards {
    /// After these rivers, of which the other seat's is the second one.
    #[must_use]
    pub fn of(habits: &Habits, own: &[Tile], other: &[Tile]) -> Self {
        let hidden = own.iter().chain(other).copied();
        let hidden = hidden.fold(Hand::FULL, Hand::without);
        let reading = Reading::of(own, other, &hidden);
        let mut rows = [None; KINDS];
        let mut chances = [0.0; KINDS];
        for tile in hidden.kinds() {
            let here = reading.rows(tile);
            let sum: f32 = here
                .iter()
                .map(|&row| habits.throws[usize::from(row)])
                .sum();
            chances[tile.index()] = f32::from(hidden.count(tile)) * sum.exp();
            rows[tile.index()] = Some(here);
        }
        let sum: f32 = chances.iter().sum();
        Self {
            chances: chances.map(|chance| chance / sum),
            rows,
            hidden,
        }
    }

    /// The chance that a passive opponent discards this.
    fn even(&self, tile: Tile) -> f32 {
        f32::from(self.hidden.count(tile)) / self.hidden.len() as f32
    }
}

/// The classes of a suit by the other seat's river.
pub const HOLDINGS: usize = TURNS * 7 * 7 * 4;

/// The class of a suit by the other seat's river: how many discards there were, of the suit, and of
/// the other two.
#[must_use]
pub fn holding(river: &[Tile], suit: usize) -> usize {
    let mut suits = [0_usize; 3];
    for tile in river {
        suits[tile.suit()] += 1;
    }
    let (one, other) = (suits[(suit + 1) % 3], suits[(suit + 2) % 3]);
    let counts = suits[suit].min(6) * 7 + one.max(other).min(6);
    (turn(river.len()) * 49 + counts) * 4 + one.min(other).min(3)
}

/// The other seat as it looks at one moment, if it races.
#[derive(Clone, Debug)]
pub struct Racer {
    /// By kind: the chance that it wins with such a tile.
    pub danger: [f32; KINDS],
    /// The chance that it wins with its next draw.
    pub self_draw: f32,
    /// The points of its win.
    pub loss: f32,
    /// By kind: how much likelier than any other unseen tile one is drawn, and is discarded by it.
    pub draws: [f32; KINDS],
    /// See `draws`.
    pub discards: [f32; KINDS],
    /// Both, for the features of a hand.
    pub chances: Chances,
    /// The class of `self_draw`.
    pub pressure: u8,
}

impl Racer {
    /// As these rivers show it to the seat with the first one, which has not seen these tiles.
    #[must_use]
    pub fn of(habits: &Habits, own: &[Tile], other: &[Tile], unseen: &Hand) -> Self {
        let reading = Reading::of(own, other, unseen);
        let danger = std::array::from_fn(|kind| {
            Tile::new(kind).map_or(0.0, |tile| habits.chance(&reading.rows(tile)))
        });
        let free = [0, 1, 2].map(|suit| 1.0 - habits.held[holding(other, suit)]);
        let draws = even(unseen, |tile| free[tile.suit()]);
        let discards = even(unseen, |tile| habits.likelihood[class(other, tile)].exp());
        let total = unseen.len().max(1) as f32;
        let self_draw = unseen.kinds().map(|tile| {
            let at = tile.index();
            f32::from(unseen.count(tile)) / total * draws[at] * danger[at]
        });
        let self_draw = self_draw.sum();
        let scaled = |chance: f32| (chance * f32::from(CERTAIN)).round().clamp(1.0, 64.0) as u8;
        Self {
            danger,
            self_draw,
            loss: habits.loss[turn(other.len())],
            chances: Chances {
                draws: draws.map(scaled),
                waits: std::array::from_fn(|kind| {
                    scaled(f32::midpoint(draws[kind], discards[kind]))
                }),
            },
            draws,
            discards,
            pressure: pressure(self_draw),
        }
    }
}

/// Factors by kind whose mean over all unseen tiles is 1.
fn even(unseen: &Hand, factor: impl Fn(Tile) -> f32) -> [f32; KINDS] {
    let factors: [f32; KINDS] = std::array::from_fn(|kind| Tile::new(kind).map_or(0.0, &factor));
    let sum = |tile: Tile| f32::from(unseen.count(tile)) * factors[tile.index()];
    let mean = unseen.kinds().map(sum).sum::<f32>() / unseen.len().max(1) as f32;
    if mean > 0.0 {
        factors.map(|factor| factor / mean)
    } else {
        [1.0; KINDS]
    }
}

/// The chance that the other seat races, before it has discarded anything, for the seat that began
/// and for the other one. A passive opponent is met in the arcade case, where the bot begins.
const RACING: [f32; 2] = [0.6, 0.99];
/// The least chance that is not taken as none.
const LEAST: f32 = 0.02;

/// The chance that the other seat discards any tile and never wins.
pub(crate) fn passive(habits: &Habits, situation: &Situation) -> f32 {
    let river = &situation.other_river;
    let passive = situation.passive.unwrap_or_else(|| {
        let logarithm: f32 = (0..river.len())
            .map(|at| {
                let own = (at + usize::from(situation.began)).min(situation.own_river.len());
                habits.thrown(&situation.own_river[..own], &river[..at], river[at])
            })
            .sum();
        let racing = RACING[usize::from(!situation.began)];
        1.0 / (1.0 + racing / (1.0 - racing) * logarithm.clamp(-30.0, 30.0).exp())
    });
    match passive {
        _ if passive < LEAST => 0.0,
        _ if passive > 1.0 - LEAST => 1.0,
        _ => passive,
    }
}
