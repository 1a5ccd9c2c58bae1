//! Hands of the other seat that explain its discards: with which the bot `shanten` would have discarded
//! what it did, and would not have won before.
//!
//! It is a particle filter (N. Gordon, D. Salmond and A. Smith, *Novel approach to nonlinear/non-Gaussian
//! Bayesian state estimation*, IEE Proceedings F 140(2), 1993): dealt hands are followed from discard to
//! discard; each draws a tile with which it discards what was seen, and hands for which that is unlikely
//! are replaced by copies of others. The copies are then changed one tile at a time, in what they were
//! dealt or drew, as long as they still explain all discards (W. Gilks and C. Berzuini, *Following a moving
//! target*, JRSS B 63(1), 2001).

use rand::{Rng, RngExt as _};

use crate::{
    shanten::Shanten,
    situation::Situation,
    tile::{Tile, Tiles},
};

/// One explanation of the other seat's discards: a deal and draws that lead to them.
#[derive(Clone, Debug)]
pub struct HandExplanation {
    /// The seat now.
    pub seat: Shanten,
    /// The tiles that are unseen and not in its hand.
    pub rest: Tiles,
    /// The tiles that it was dealt, 13, and those that it has drawn, in order.
    tiles: Vec<Tile>,
    weight: f64,
}

/// The tiles of a dealt hand.
const DEALT: usize = 13;

/// The discards of both seats.
#[derive(Clone, Copy)]
struct Rivers<'a> {
    own: &'a [Tile],
    other: &'a [Tile],
    began: bool,
}

/// So many hands of the other seat, each as likely as the others, in the own turn; none if none was found,
/// or if it is late. After each discard every hand is changed so often.
pub fn explaining(
    situation: &Situation,
    count: usize,
    changes: usize,
    is_late: impl Fn() -> bool,
    rng: &mut impl Rng,
) -> Option<Vec<HandExplanation>> {
    let river = situation.other_river.iter().copied();
    let hidden = river.fold(situation.unseen(), Tiles::with);
    let mut dealt: Vec<Tile> = hidden.tiles().collect();
    let mut all: Vec<HandExplanation> = (0..2 * count)
        .map(|_| {
            for at in 0..DEALT {
                let other = rng.random_range(at..dealt.len());
                dealt.swap(at, other);
            }
            let (hand, rest) = dealt.split_at(DEALT);
            HandExplanation {
                seat: Shanten::new(hand),
                rest: rest.iter().copied().collect(),
                tiles: hand.to_vec(),
                weight: 1.0,
            }
        })
        .collect();
    let mut rivers = Rivers {
        own: &[],
        other: &[],
        began: situation.began,
    };
    let mut is_own = situation.began;
    loop {
        if is_own {
            let Some(&tile) = situation.own_river.get(rivers.own.len()) else {
                break;
            };
            rivers.own = &situation.own_river[..=rivers.own.len()];
            for one in &mut all {
                one.passes(tile);
            }
        } else {
            let Some(&tile) = situation.other_river.get(rivers.other.len()) else {
                break;
            };
            rivers.other = &situation.other_river[..=rivers.other.len()];
            for one in &mut all {
                if is_late() {
                    return None;
                }
                one.discards(tile, rng);
            }
            all = redrawn(&all, count, rng)?;
            change(&mut all, changes, rivers, &is_late, rng)?;
        }
        is_own = !is_own;
    }
    redrawn(&all, count, rng)
}

/// Changes each of these so often; none if it is late.
fn change(
    all: &mut [HandExplanation],
    changes: usize,
    rivers: Rivers<'_>,
    is_late: &impl Fn() -> bool,
    rng: &mut impl Rng,
) -> Option<()> {
    for one in all {
        if is_late() {
            return None;
        }
        for _ in 0..changes {
            one.change(rivers, rng);
        }
    }
    Some(())
}

impl HandExplanation {
    /// The other seat did not win with this discard.
    fn passes(&mut self, tile: Tile) {
        if !self.seat.passes(tile) {
            self.weight = 0.0;
        }
    }

    /// The other seat drew something that it did not win with, and discarded this tile.
    fn discards(&mut self, tile: Tile, rng: &mut impl Rng) {
        let total = self.rest.len() as f64;
        let mut possible = Tiles::EMPTY;
        let mut sum = 0;
        for drawn in self.rest.kinds() {
            if { self.seat }.explains(drawn, tile) {
                possible = possible.with(drawn);
                sum += u32::from(self.rest.count(drawn));
            }
        }
        self.weight *= f64::from(sum) / total;
        if sum == 0 {
            return;
        }
        let mut at = rng.random_range(0..sum);
        for drawn in possible.kinds() {
            let copies = u32::from(self.rest.count(drawn));
            if at < copies {
                self.rest = self.rest.without(drawn);
                self.tiles.push(drawn);
                let is_explained = self.seat.explains(drawn, tile);
                debug_assert!(is_explained, "it was possible");
                return;
            }
            at -= copies;
        }
    }

    /// Puts another tile in the place of one that was dealt or drawn, or lets two come in another order,
    /// if that explains all discards, too.
    fn change(&mut self, rivers: Rivers<'_>, rng: &mut impl Rng) {
        let at = rng.random_range(0..self.tiles.len());
        let before = self.tiles[at];
        let rest = self.rest.len();
        let other = rng.random_range(0..rest + self.tiles.len());
        if other < rest {
            let Some(tile) = self.rest.tiles().nth(other).filter(|&tile| tile != before) else {
                return;
            };
            self.tiles[at] = tile;
            match replayed(&self.tiles, rivers) {
                Some(seat) => {
                    self.seat = seat;
                    self.rest = self.rest.without(tile).with(before);
                }
                None => self.tiles[at] = before,
            }
        } else {
            let other = other - rest;
            if self.tiles[other] == before || at.max(other) < DEALT {
                return;
            }
            self.tiles.swap(at, other);
            match replayed(&self.tiles, rivers) {
                Some(seat) => self.seat = seat,
                None => self.tiles.swap(at, other),
            }
        }
    }
}

/// The seat after these tiles came to it, if they explain its discards.
fn replayed(tiles: &[Tile], rivers: Rivers<'_>) -> Option<Shanten> {
    let (dealt, drawn) = tiles.split_at(DEALT);
    let mut seat = Shanten::new(dealt);
    let mut own = rivers.own.iter();
    if rivers.began && !own.next().is_some_and(|&tile| seat.passes(tile)) {
        return None;
    }
    for (&drawn, &tile) in drawn.iter().zip(rivers.other) {
        let is_explained = seat.explains(drawn, tile);
        if !is_explained || !own.next().is_none_or(|&tile| seat.passes(tile)) {
            return None;
        }
    }
    Some(seat)
}

impl Shanten {
    /// Sees a discard; whether it does not win with it.
    fn passes(&mut self, tile: Tile) -> bool {
        let wins = self.wins(tile).is_some();
        self.sees(tile);
        !wins
    }

    /// Draws a tile and discards this one, if it would do that; otherwise nothing changes.
    fn explains(&mut self, drawn: Tile, tile: Tile) -> bool {
        (drawn == tile || self.hand.count(tile) > 0)
            && self.wins(drawn).is_none()
            && self.discards(drawn, tile)
    }
}

/// So many of these, drawn by their weights; none if all weights are 0.
fn redrawn(
    all: &[HandExplanation],
    count: usize,
    rng: &mut impl Rng,
) -> Option<Vec<HandExplanation>> {
    let sum: f64 = all.iter().map(|one| one.weight).sum();
    if sum == 0.0 {
        return None;
    }
    let mut drawn = Vec::with_capacity(count);
    // Evenly, from a random beginning, so that each is drawn about as often as its weight says.
    let begin = rng.random::<f64>();
    let mut before = 0.0;
    for one in all {
        before += one.weight / sum * count as f64;
        while drawn.len() < count && drawn.len() as f64 + begin < before {
            drawn.push(HandExplanation {
                weight: 1.0,
                ..one.clone()
            });
        }
    }
    Some(drawn)
}
