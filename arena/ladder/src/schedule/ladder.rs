//! Ladder: rounds in which those meet whose ratings are near. A rating moves only
//! with the games of its own entrant, and nobody is in two matches of a round, so
//! the ratings at a round's end do not depend on which match was over first.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use rand_chacha::rand_core::Rng;

use super::Ranked;
use super::in_rounds::{Paired, RoundPairing};
use super::match_up::MatchUp;
use super::pairing::{chance, cheapest};
use super::tables::sizes;
use crate::online::Online;
use crate::{Entrant, Field, GroupScore, Lineup};

/// A ladder as it stands.
#[derive(Debug)]
pub(super) struct Ladder {
    root: [u8; 32],
    seats: usize,
    ratings: Online,
    byes: Vec<u32>,
    /// Who met in each of the last rounds, the last one first, in games of two.
    met: VecDeque<BTreeSet<(Entrant, Entrant)>>,
}

/// How far chance may move a rating at least, either way: half of what a new one
/// is uncertain by. Were it only the uncertainty, which shrinks for ever, the field
/// would fall into islands that never meet.
const LEAST_JITTER: f64 = 25.0 / 6.0;

/// For so many rounds those who have met do not meet again, where enough others
/// are there.
const APART: usize = 4;

/// So many neighbours, or up to twice as many, are paired at once.
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

    /// Everybody in order of rating and chance, the best first: to each rating is
    /// added anything between its [`width`](Self::widths) below and above. So at
    /// first everybody meets everybody, and later those who are near. Compared are
    /// whole millionths, so that rounding decides nothing.
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

    /// How far chance may move each: as far as its rating is uncertain, as far as to
    /// the next above and the next below, and [`LEAST_JITTER`] at least.
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

    /// Neighbours, but for those who have met in the last rounds: so that the sums
    /// of these are the least, the first one first, within each block:
    ///
    /// 1. pairs that met in the last round;
    /// 2. pairs that met in the rounds before that do not go too far back, the
    ///    later ones weighing more;
    /// 3. how far apart in the order, squared.
    ///
    fn pairs(&self, round: u32, order: &[Entrant]) -> Vec<(Entrant, Entrant)> {
        let blocks = (order.len() / BLOCK).max(1);
        let mut chance = chance(self.root, round);
        // Another part of the stream than the order has.
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

impl RoundPairing for Ladder {
    fn pair(&mut self, round: u32, entrants: &[Entrant]) -> Paired {
        let mut order = self.shuffled(round, entrants);
        let mut paired = Paired::default();
        if self.seats == 2 {
            if order.len() % 2 == 1 {
                // The lowest of those who have had the fewest.
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
