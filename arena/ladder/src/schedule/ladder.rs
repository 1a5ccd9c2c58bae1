//! Ladder: rounds in which entrants with similar ratings meet. A match changes only the
//! ratings of its own entrants, and nobody is in two matches of a round, so the ratings
//! at the end of a round do not depend on which match ends first.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::Ranked;
use super::in_rounds::{Paired, RoundPairing};
use super::match_up::MatchUp;
use super::pairing::{chance, cheapest};
use super::tables::sizes;
use crate::online::Online;
use crate::{Entrant, Field, GroupScore, Lineup};

/// The state of a ladder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ladder {
    root: [u8; 32],
    seats: usize,
    ratings: Online,
    byes: Vec<u32>,
    /// The pairs of the last rounds, the last round first, in games of two.
    met: VecDeque<BTreeSet<(Entrant, Entrant)>>,
}

/// The smallest width of the random offset that is added to a rating: half of the
/// standard deviation of a new rating. With the rating's own standard deviation, which
/// tends to 0, the field would split into groups that never meet.
const LEAST_JITTER: f64 = 25.0 / 6.0;

/// For this many rounds a pair does not meet again, if there are enough other opponents.
const APART: usize = 4;

/// The entrants are paired in blocks of this many neighbours; the last block has up to
/// twice as many.
const BLOCK: usize = 32;

impl Ladder {
    pub(super) fn new(field: &Field) -> Self {
        Self {
            root: field.chance,
            seats: usize::from(field.seats),
            ratings: Online::new(field.entrants),
            byes: vec![0; field.entrants as usize],
            met: VecDeque::new(),
        }
    }

    /// The entrants in order of `rating + width * u`, the best first, where `u` is uniform
    /// in -1 to 1 and the [`width`](Self::widths) depends on the entrant. So at first
    /// everybody meets everybody, later only neighbours meet. The sums are compared in
    /// whole millionths, so that rounding errors decide nothing.
    fn shuffled(&self, round: u32, entrants: &[Entrant]) -> Vec<Entrant> {
        let mut chance = chance(self.root, round);
        let jitter: Vec<f64> = (self.byes.iter())
            .map(|_| f64::from(chance.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0)
            .collect();
        let moved = self.widths(entrants).into_iter().map(|(one, width)| {
            let moved = self.ratings.rating(one).0 + width * jitter[one.index()];
            (Reverse((moved * 1e6).round() as i64), one)
        });
        let mut order: Vec<_> = moved.collect();
        order.sort_unstable();
        order.into_iter().map(|(_, one)| one).collect()
    }

    /// The width of each entrant's random offset: the maximum of the rating's standard
    /// deviation, its distance to the next rating above, its distance to the next rating
    /// below, and [`LEAST_JITTER`].
    fn widths(&self, entrants: &[Entrant]) -> Vec<(Entrant, f64)> {
        let rated = entrants.iter().map(|&one| (one, self.ratings.rating(one)));
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
        let to = |at: usize, other: Option<usize>| {
            let other = other.and_then(|other| rated.get(other));
            other.map_or(0.0, |other| (other.1.0 - rated[at].1.0).abs())
        };
        (rated.iter().enumerate())
            .map(|(at, &(one, (_, uncertainty)))| {
                let gap = to(at, at.checked_sub(1)).max(to(at, Some(at + 1)));
                (one, uncertainty.max(gap).max(LEAST_JITTER))
            })
            .collect()
    }

    /// Pairs neighbours, so that in each block these sums are minimal, an earlier one
    /// before a later one:
    ///
    /// 1. 1 for each pair that met in the last round;
    /// 2. ([`APART`] - n)² for each pair that met `n` rounds before the last one;
    /// 3. (distance in the order)² of each pair.
    fn pairs(&self, round: u32, order: &[Entrant]) -> Vec<(Entrant, Entrant)> {
        let blocks = (order.len() / BLOCK).max(1);
        let mut chance = chance(self.root, round);
        // Random numbers that the order does not use.
        chance.set_word_pos(1 << 32);
        let mut pairs = Vec::new();
        for block in 0..blocks {
            let to = if block + 1 == blocks {
                order.len()
            } else {
                (block + 1) * BLOCK
            };
            let block = &order[block * BLOCK..to];
            let found = cheapest(block.len(), &mut chance, |a, b| {
                let pair = (block[a].min(block[b]), block[a].max(block[b]));
                let ago = self.met.iter().position(|met| met.contains(&pair));
                let recent = ago.map_or(0, |ago| (APART - ago) as u64);
                [
                    u64::from(ago == Some(0)),
                    recent.pow(2),
                    (b - a).pow(2) as u64,
                ]
            });
            pairs.extend(found.into_iter().map(|(a, b)| (block[a], block[b])));
        }
        pairs
    }

    fn remember(&mut self, pairs: &[(Entrant, Entrant)], entrants: usize) {
        let met = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b)));
        self.met.push_front(met.collect());
        self.met.truncate(APART.min(entrants.saturating_sub(1) / 2));
    }
}

/// An entrant before a round that is paired by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LadderEntrant {
    /// Its rating, on the scale of [`Online`].
    pub rating: f64,
    /// The rating's standard deviation.
    pub deviation: f64,
    /// Number of rounds in which it had no opponent.
    pub byes: u32,
}

/// A round of a ladder whose ratings somebody else keeps, so that entrants come and go between rounds.
#[derive(Clone, Copy, Debug)]
pub struct LadderRound<'a> {
    /// Number of seats of the game: 2 or 4.
    pub seats: u8,
    /// The seed of the random decisions.
    pub chance: [u8; 32],
    /// The number of the round.
    pub round: u32,
    /// All entrants of the round, by their numbers.
    pub entrants: &'a [LadderEntrant],
    /// The pairs that met in the last rounds, the last round first.
    pub met: &'a [Vec<(Entrant, Entrant)>],
    /// Pairs that are to meet in this round whatever their ratings are, where both are free.
    pub wanted: &'a [(Entrant, Entrant)],
}

impl LadderRound<'_> {
    /// The tables: first those that are wanted, with the nearest ratings in seats that are left, then
    /// all others as in [`ScheduleShape::Ladder`](super::ScheduleShape::Ladder). Who is at none of them
    /// has no opponent in this round.
    #[must_use]
    pub fn tables(&self) -> Vec<Vec<Entrant>> {
        let seats = usize::from(self.seats);
        let mut ladder = Ladder {
            root: self.chance,
            seats,
            ratings: Online::kept(self.entrants.iter().map(|one| (one.rating, one.deviation))),
            byes: self.entrants.iter().map(|one| one.byes).collect(),
            met: VecDeque::new(),
        };
        for met in self.met.iter().rev() {
            ladder.remember(met, self.entrants.len());
        }
        let mut free: Vec<Entrant> = Entrant::all(self.entrants.len() as u32).collect();
        let mut tables = Vec::new();
        for &(one, other) in self.wanted {
            if one == other || ![one, other].iter().all(|who| free.contains(who)) {
                continue;
            }
            free.retain(|who| *who != one && *who != other);
            let mut table = vec![one, other];
            while table.len() < seats {
                let far = |who: Entrant| {
                    let distance = ladder.ratings.rating(who).0 - ladder.ratings.rating(one).0;
                    (distance.abs() * 1e6).round() as i64
                };
                let near = (0..free.len()).min_by_key(|&at| far(free[at]));
                let Some(near) = near else { break };
                table.push(free.remove(near));
            }
            tables.push(table);
        }
        let paired = ladder.pair(self.round, &free);
        let others = paired.tables.into_iter();
        let others = others.map(|table| table.into_iter().flatten().collect());
        tables.extend(others.filter(|table: &Vec<Entrant>| table.len() > 1));
        tables
    }
}

impl RoundPairing for Ladder {
    fn pair(&mut self, round: u32, entrants: &[Entrant]) -> Paired {
        let mut order = self.shuffled(round, entrants);
        let mut paired = Paired::default();
        if self.seats == 2 {
            if order.len() % 2 == 1 {
                // The lowest of the entrants with the fewest byes.
                let fewest = (0..order.len())
                    .rev()
                    .min_by_key(|&at| self.byes[order[at].index()]);
                paired.bye = fewest.map(|at| order.remove(at));
            }
            if let Some(bye) = paired.bye {
                self.byes[bye.index()] += 1;
            }
            let pairs = self.pairs(round, &order);
            self.remember(&pairs, entrants.len());
            paired.tables = pairs
                .into_iter()
                .map(|(a, b)| vec![Some(a), Some(b)])
                .collect();
        } else {
            let mut rest = &order[..];
            for size in sizes(order.len()) {
                let (table, others) = rest.split_at(size);
                let mut lineup: Lineup = table.iter().map(|&one| Some(one)).collect();
                lineup.resize(self.seats, None);
                paired.tables.push(lineup);
                rest = others;
            }
        }
        paired
    }

    fn count(&mut self, lineup: &Lineup, score: &GroupScore) {
        self.ratings.update(lineup, &score.points);
    }

    fn decide(&mut self, _: &MatchUp, _: &[Entrant]) {}

    fn ranking(&self) -> Option<Vec<Ranked>> {
        None
    }
}
