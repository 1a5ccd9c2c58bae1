//! Ladder: rounds in which those meet whose ratings are near. A rating moves only
//! with the games of its own entrant, and nobody is in two matches of a round, so
//! the ratings at a round's end do not depend on which match was over first.

use std::collections::BTreeMap;

use rand_chacha::rand_core::Rng;

use super::Ranked;
use super::in_rounds::{Paired, Pairing};
use super::match_up::MatchUp;
use super::pairing::chance;
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
    /// Whom each met in the last round, in games of two.
    last: BTreeMap<Entrant, Entrant>,
}

impl Ladder {
    pub(super) fn new(field: &Field) -> Self {
        Self {
            root: field.chance,
            seats: usize::from(field.seats),
            ratings: Online::new(field.entrants),
            byes: vec![0; field.entrants as usize],
            last: BTreeMap::new(),
        }
    }

    /// Everybody in order of rating and chance, the best first: to each rating is
    /// added anything between its uncertainty below and above. So at first
    /// everybody meets everybody, and later those who are near.
    fn shuffled(&self, round: u32, entrants: &[Entrant]) -> Vec<Entrant> {
        let mut chance = chance(self.root, round);
        let jitter: Vec<f64> = (self.byes.iter())
            .map(|_| f64::from(chance.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0)
            .collect();
        let key = |one: Entrant| {
            let (rating, uncertainty) = self.ratings.rating(one);
            rating + uncertainty * jitter[one.index()]
        };
        let mut order = entrants.to_vec();
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
        order
    }

    fn met_last(&self, a: Entrant, b: Entrant) -> bool {
        self.last.get(&a) == Some(&b)
    }

    /// Neighbours, but for those who have just met: each plays the next whom it has
    /// not. If the last two have just met, they change partners with the two
    /// before them, who then have not.
    fn pairs(&self, mut order: Vec<Entrant>) -> Vec<(Entrant, Entrant)> {
        let mut pairs: Vec<(Entrant, Entrant)> = Vec::new();
        order.reverse();
        while let Some(first) = order.pop() {
            let fresh = order
                .iter()
                .rposition(|&other| !self.met_last(first, other));
            let second = match fresh {
                Some(at) => order.remove(at),
                None => match order.pop() {
                    Some(second) => second,
                    None => break,
                },
            };
            pairs.push((first, second));
        }
        if let [.., before, last] = &mut pairs[..]
            && self.met_last(last.0, last.1)
        {
            std::mem::swap(&mut before.1, &mut last.0);
        }
        pairs
    }
}

impl Pairing for Ladder {
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
            let pairs = self.pairs(order);
            self.last = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
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
