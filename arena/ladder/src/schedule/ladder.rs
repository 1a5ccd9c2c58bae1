//! Ladder: rounds in which those meet whose ratings are near.

use std::collections::BTreeMap;

use rand_chacha::rand_core::Rng;

use super::Ranked;
use super::in_rounds::{Paired, Pairing};
use super::match_up::MatchUp;
use super::pairing::chance;
use super::tables::sizes;
use crate::{Entrant, Field, GroupScore, Lineup};

/// A ladder as it stands.
#[derive(Debug)]
pub(super) struct Ladder {
    root: [u8; 32],
    seats: usize,
    ratings: Ratings,
    byes: Vec<u32>,
    /// Whom each met in the last round, in games of two.
    last: BTreeMap<Entrant, Entrant>,
}

impl Ladder {
    pub(super) fn new(field: &Field) -> Self {
        Self {
            root: field.chance,
            seats: usize::from(field.seats),
            ratings: Ratings::new(field.entrants),
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
            let (rating, uncertainty) = self.ratings.of(one);
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

    fn count(&mut self, lineup: &[Option<Entrant>], score: &GroupScore) {
        self.ratings.update(lineup, score);
    }

    fn decide(&mut self, _: &MatchUp, _: &[Entrant]) {}

    fn ranking(&self) -> Option<Vec<Ranked>> {
        None
    }
}

/// A stand-in for the online ratings: Elo, each pair at a table as a game.
#[derive(Debug)]
struct Ratings {
    ratings: Vec<(f64, u32)>,
}

impl Ratings {
    fn new(entrants: u32) -> Self {
        Self {
            ratings: vec![(0.0, 0); entrants as usize],
        }
    }

    /// A rating, and how uncertain it is.
    fn of(&self, one: Entrant) -> (f64, f64) {
        let (rating, groups) = self.ratings[one.index()];
        (rating, 350.0 / f64::from(1 + groups).sqrt())
    }

    fn update(&mut self, lineup: &[Option<Entrant>], score: &GroupScore) {
        let present: Vec<_> = (lineup.iter().zip(&score.points))
            .filter_map(|(one, points)| Some(((*one)?.index(), points.points())))
            .collect();
        let before: Vec<f64> = present
            .iter()
            .map(|&(one, _)| self.ratings[one].0)
            .collect();
        for (i, &(one, had)) in present.iter().enumerate() {
            for (j, &(_, others)) in present.iter().enumerate().filter(|&(j, _)| i != j) {
                let expected = 1.0 / (1.0 + 10_f64.powf((before[j] - before[i]) / 400.0));
                let sum = had + others;
                let share = if sum > 0.0 { had / sum } else { 0.5 };
                self.ratings[one].0 += 32.0 * (share - expected) / (present.len() - 1) as f64;
            }
            self.ratings[one].1 = self.ratings[one].1.saturating_add(1);
        }
    }
}
