//! The conclusions from the other seat's discards.
//!
//! A passive opponent discards any tile and never wins. A racing one keeps what brings it nearer to
//! a win. Which of them it is follows from its discards by Bayes' rule, and so do the chances that
//! it wins.

use crate::{
    features::{CERTAIN, Chances, Threat},
    reader::{SuitNetwork, sight},
    situation::Situation,
    tile::{KINDS, RANKS, SUITS, Tile, Tiles},
};

/// The classes of the number of discards before.
pub const TURNS: usize = 14;
/// Number of numbers that are read of a suit: the logarithm of the odds that the other seat wins
/// with a rank, the same of an unseen tile of the rank being in its hand, and how much likelier it
/// discards such a tile next than others, each for every rank.
pub const READINGS: usize = 3 * RANKS;
/// Number of numbers that are read of a suit to tell racing from passive opponents: the last one
/// above.
pub const THROWS: usize = RANKS;

/// The class of a number of discards.
#[must_use]
pub fn turn(discards: usize) -> usize {
    (discards / 2).min(TURNS - 1)
}

/// The habits of racing opponents, as rounds have shown.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Of all that a seat has seen.
    pub hand: SuitNetwork<READINGS>,
    /// Of the rivers alone.
    pub throws: SuitNetwork<THROWS>,
    /// By turn: the points of its win.
    pub loss: [f32; TURNS],
}

impl Habits {
    /// The ratio of the chance that a racing opponent discards this tile after these rivers to that
    /// of a passive one, as a logarithm.
    fn thrown(&self, own: &[Tile], other: &[Tile], tile: Tile) -> f32 {
        let hidden = own.iter().chain(other).copied();
        let hidden = hidden.fold(Tiles::FULL, Tiles::without);
        let read = self.throws.read(&sight(own, other, &hidden));
        likelihood(&read, &hidden)[tile.index()]
            .ln()
            .clamp(-LARGEST, LARGEST)
    }
}

/// No discard says more than this, as a logarithm.
const LARGEST: f32 = 4.0;

/// By kind, how much likelier than any other of these tiles one is discarded, by what was read.
#[must_use]
pub fn likelihood(read: &[[f32; THROWS]; SUITS], hidden: &Tiles) -> [f32; KINDS] {
    even(hidden, |tile| read[tile.suit()][tile.rank()].exp())
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
    /// The rest, for the features of a hand.
    pub threat: Threat,
}

impl Racer {
    /// As these rivers show it to the seat with the first one, which has not seen these tiles.
    #[must_use]
    pub fn of(habits: &Habits, own: &[Tile], other: &[Tile], unseen: &Tiles) -> Self {
        let read = habits.hand.read(&sight(own, other, unseen));
        Self::read(&read, habits.loss[turn(other.len())], unseen)
    }

    /// As a reader of its hand says, if its win costs so many points.
    #[must_use]
    pub fn read(read: &[[f32; READINGS]; SUITS], loss: f32, unseen: &Tiles) -> Self {
        let chance = |tile: Tile, part: usize| {
            1.0 / (1.0 + (-read[tile.suit()][part * RANKS + tile.rank()]).exp())
        };
        let by_kind =
            |part| std::array::from_fn(|kind| Tile::new(kind).map_or(0.0, |it| chance(it, part)));
        let danger: [f32; KINDS] = by_kind(0);
        let held: [f32; KINDS] = by_kind(1);
        let throws = read.map(|suit| std::array::from_fn(|rank| suit[2 * RANKS + rank]));
        let draws = even(unseen, |tile| 1.0 - held[tile.index()]);
        let discards = likelihood(&throws, unseen);
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
            loss,
            chances: Chances {
                draws: draws.map(scaled),
                waits: std::array::from_fn(|kind| {
                    scaled(f32::midpoint(draws[kind], discards[kind]))
                }),
            },
            draws,
            discards,
            threat: Threat::new(self_draw, &danger, &held, unseen),
        }
    }
}

/// Factors by kind whose mean over all these tiles is 1.
fn even(tiles: &Tiles, factor: impl Fn(Tile) -> f32) -> [f32; KINDS] {
    let factors: [f32; KINDS] = std::array::from_fn(|kind| Tile::new(kind).map_or(0.0, &factor));
    let sum = |tile: Tile| f32::from(tiles.count(tile)) * factors[tile.index()];
    let mean = tiles.kinds().map(sum).sum::<f32>() / tiles.len().max(1) as f32;
    if mean > 0.0 {
        factors.map(|factor| factor / mean)
    } else {
        [1.0; KINDS]
    }
}

/// The chance that the other seat races, before it has discarded anything, for the seat that began
/// and for the other one. A passive opponent is met in the arcade case, where the bot begins.
const RACING: [f32; 2] = [0.8, 0.997];
/// The least chance that is not taken as none.
const LEAST: f32 = 0.02;

/// The chance that the other seat discards any tile and never wins.
pub(crate) fn passive(habits: &Habits, situation: &Situation) -> f32 {
    let river = &situation.other_river;
    let passive = situation.passive.unwrap_or_else(|| {
        let thrown = (0..river.len()).map(|at| {
            let own = (at + usize::from(situation.began)).min(situation.own_river.len());
            habits.thrown(&situation.own_river[..own], &river[..at], river[at])
        });
        let logarithm = thrown.sum::<f32>() + survived(habits, situation);
        let racing = RACING[usize::from(!situation.began)];
        1.0 / (1.0 + racing / (1.0 - racing) * logarithm.clamp(-30.0, 30.0).exp())
    });
    match passive {
        _ if passive < LEAST => 0.0,
        _ if passive > 1.0 - LEAST => 1.0,
        _ => passive,
    }
}

/// The logarithm of the chance that a racing seat would not have won before: with none of its draws,
/// nor with a discard.
fn survived(habits: &Habits, situation: &Situation) -> f32 {
    let (own, other) = (&situation.own_river, &situation.other_river);
    // As if all of the hand had been held from the beginning.
    let now = situation.unseen();
    let turn = |at: usize| {
        let before = (at + usize::from(!situation.began)).min(other.len());
        let later = own[at..].iter().chain(&other[before..]).copied();
        let unseen = later.fold(now, Tiles::with);
        let racer = Racer::of(habits, &own[..at], &other[..before], &unseen);
        let has_drawn = before < other.len();
        let draw = if has_drawn { racer.self_draw } else { 0.0 };
        let discard = racer.danger[own[at].index()];
        (1.0 - draw).max(UNLIKELY).ln() + (1.0 - discard).max(UNLIKELY).ln()
    };
    (0..own.len()).map(turn).sum()
}

/// No win is certain.
const UNLIKELY: f32 = 0.05;
