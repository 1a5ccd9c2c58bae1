//! Discards compared by playouts against a seat that races.
//!
//! Every discard meets the same hands of the other seat and the same walls; in a playout the networks
//! discard without look-ahead, and the other seat plays as `shanten`. After some turns the networks say what
//! the rest is worth: so a playout is shorter, and chance counts less (G. Tesauro and G. Galperin, *On-line
//! policy improvement using Monte-Carlo search*, NIPS 1996). That asks for values that are expected points, as
//! those of the wide network are. A discard that is most likely not the best is played out no more (O. Maron
//! and A. Moore, *Hoeffding races*, NIPS 1993); how likely follows from the playouts and from what the
//! look-ahead expected, by Bayes' rule.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    divide::divided,
    engine::{MahjongEngine, ThinkingLimit, Valued},
    explain::{HandExplanation, explaining},
    situation::Situation,
    tile::{COPIES, Tile, shuffle},
    value::{PAY, faan},
};

/// The most discards that are compared.
pub(crate) const COMPARED: usize = 5;
/// Number of particle filters that follow hands of the other seat through its discards, of the
/// hands in each, and of the changes of each hand after every discard.
const FILTERS: usize = 4;
const EXPLANATIONS: usize = 75;
const CHANGES: usize = 20;
/// Number of own turns that are played out.
const TURNS: usize = 5;
/// Number of walls that follow one another before the discards are compared.
const BATCH: usize = 50;
/// The standard deviation of what the look-ahead errs by in a difference of two discards, in points.
const ERROR: f64 = 1.0;
/// A discard is left out when it is worse by so many standard deviations.
const SURE: f64 = 2.0;
/// Two discards are equal if it is known this well what they differ by, in points.
const EQUAL: f64 = 0.1;

/// The results of playouts of some discards.
struct Compared {
    discards: Vec<Valued>,
    is_in: Vec<bool>,
    /// Number of walls that those that are in have met.
    walls: f64,
    /// The sums of scores, and of products of two.
    sums: Vec<f64>,
    products: Vec<Vec<f64>>,
}

impl Compared {
    fn new(discards: &[Valued]) -> Self {
        let count = discards.len();
        Self {
            discards: discards.to_vec(),
            is_in: vec![true; count],
            walls: 0.0,
            sums: vec![0.0; count],
            products: vec![vec![0.0; count]; count],
        }
    }

    /// Number of discards that are in.
    fn count(&self) -> usize {
        self.is_in.iter().filter(|&&is_in| is_in).count()
    }

    fn add(&mut self, scores: &[f64]) {
        self.walls += 1.0;
        for one in 0..scores.len() {
            self.sums[one] += scores[one];
            for other in 0..scores.len() {
                self.products[one][other] += scores[one] * scores[other];
            }
        }
    }

    /// The points by which one discard is better than another one, and the standard deviation of
    /// that.
    fn difference(&self, one: usize, other: usize) -> (f64, f64) {
        let expected = f64::from(self.discards[one].value - self.discards[other].value);
        let mean = (self.sums[one] - self.sums[other]) / self.walls;
        let products = &self.products;
        let squares = products[one][one] + products[other][other] - 2.0 * products[one][other];
        let variance = (squares / self.walls - mean * mean).max(1e-3) / self.walls;
        let weights = [1.0 / (ERROR * ERROR), 1.0 / variance];
        let sum = weights[0] + weights[1];
        let difference = (weights[0] * expected + weights[1] * mean) / sum;
        (difference, sum.sqrt().recip())
    }

    /// The best one by all that is known.
    fn best(&self) -> usize {
        let mut best = None;
        for one in (0..self.discards.len()).filter(|&one| self.is_in[one]) {
            if best.is_none_or(|best| self.difference(one, best).0 > 0.0) {
                best = Some(one);
            }
        }
        best.expect("the best one is in")
    }

    /// Leaves out what is most likely not the best one. Whether one is left, or all are equal.
    fn is_decided(&mut self) -> bool {
        let best = self.best();
        let mut is_decided = true;
        for one in 0..self.discards.len() {
            if one != best && self.is_in[one] {
                let (difference, deviation) = self.difference(best, one);
                self.is_in[one] = difference < SURE * deviation;
                is_decided &= !self.is_in[one] || deviation < EQUAL;
            }
        }
        is_decided
    }

    /// Those that may be the best, best first. The best one keeps its value.
    fn sorted(&self) -> Vec<Valued> {
        let best = self.best();
        let valued = |one: usize| {
            let worse = self.difference(best, one).0 as f32;
            let value = self.discards[best].value - if one == best { 0.0 } else { worse };
            Valued {
                tile: self.discards[one].tile,
                value,
            }
        };
        let mut sorted: Vec<Valued> = (0..self.discards.len())
            .filter(|&one| self.is_in[one])
            .map(valued)
            .collect();
        sorted.sort_by(|one, other| other.value.total_cmp(&one.value));
        sorted
    }
}

/// The worth of the discards if the other seat is passive, and the chance of that.
#[derive(Clone, Copy)]
pub(crate) struct Passive<'a> {
    pub(crate) chance: f32,
    pub(crate) values: &'a [f32],
}

impl Passive<'_> {
    fn mixed(&self, at: usize, racing: f32) -> f32 {
        let passive = self.values.get(at).map_or(0.0, |value| self.chance * value);
        passive + (1.0 - self.chance) * racing
    }
}

impl MahjongEngine {
    /// Those of these discards that may be the best by playouts, best first; none if the time does not
    /// suffice, or if nothing explains the other seat's discards.
    pub(crate) fn by_playouts(
        &self,
        situation: &Situation,
        discards: &[Valued],
        passive: Passive<'_>,
        limit: &ThinkingLimit<'_>,
    ) -> Option<Vec<Valued>> {
        let situation = Situation {
            passive: Some(0.0),
            ..situation.clone()
        };
        let threads = limit.threads();
        let is_late = || limit.is_late();
        let filters = divided(threads, FILTERS, is_late, |filter| {
            let rng = &mut random(filter);
            explaining(&situation, EXPLANATIONS, CHANGES, is_late, rng)
        });
        let others: Vec<HandExplanation> = filters.into_iter().flatten().flatten().collect();
        if others.is_empty() {
            return None;
        }
        let mut compared = Compared::new(discards);
        let mut work = 0;
        let mut walls = FILTERS;
        loop {
            let scores = divided(threads, BATCH, is_late, |at| {
                let mut rng = random(walls + at);
                let one = &others[rng.random_range(0..others.len())];
                let mut wall: Vec<Tile> = one.rest.tiles().collect();
                shuffle(&mut wall, &mut rng);
                let score = |discard: usize| {
                    if !compared.is_in[discard] {
                        return 0.0;
                    }
                    let tile = discards[discard].tile;
                    let racing = self.play_out(&situation, tile, one, &wall);
                    f64::from(passive.mixed(discard, racing))
                };
                (0..discards.len()).map(score).collect::<Vec<f64>>()
            });
            walls += BATCH;
            for scores in &scores {
                compared.add(scores);
            }
            if scores.len() < BATCH {
                let is_known = compared.walls >= BATCH as f64;
                return is_known.then(|| compared.sorted());
            }
            work += (BATCH * compared.count()) as u64;
            if compared.is_decided() || work >= limit.playouts() {
                return Some(compared.sorted());
            }
        }
    }

    /// The score of the rest of the round after this discard, against this seat with this wall, or what the
    /// networks expect of it after some turns.
    fn play_out(
        &self,
        situation: &Situation,
        mut discard: Tile,
        other: &HandExplanation,
        wall: &[Tile],
    ) -> f32 {
        let at_once = ThinkingLimit::hands(1);
        let mut turns = 0;
        let mut now = situation.clone();
        let mut seat = other.seat;
        let mut wall = wall.iter();
        loop {
            now.hand = now.hand.without(discard);
            now.own_river.push(discard);
            if let Some(faan) = seat.wins(discard) {
                return -points(faan, now.left);
            }
            seat.sees(discard);
            let Some(&drawn) = wall.next() else {
                return 0.0;
            };
            now.left -= 1;
            if let Some(faan) = seat.wins(drawn) {
                return -points(faan, now.left);
            }
            let discarded = seat.discard(drawn);
            now.other_river.push(discarded);
            if now.hand.count(discarded) < COPIES
                && let Some(faan) = faan(&now.hand.with(discarded), false)
                && self.wins(&now, discarded, false, &at_once)
            {
                return points(faan, now.left);
            }
            let Some(&drawn) = wall.next() else {
                return 0.0;
            };
            now.left -= 1;
            now.hand = now.hand.with(drawn);
            let best = self.best_by_network(&now);
            if let Some(faan) = faan(&now.hand, false) {
                let score = points(faan, now.left);
                if now.left == 0 || score >= best.value {
                    return score;
                }
            }
            turns += 1;
            if turns == TURNS {
                return best.value;
            }
            discard = best.tile;
        }
    }
}

fn points(faan: u32, left: u8) -> f32 {
    (PAY * faan + u32::from(left)) as f32
}

/// Random numbers of their own for each part of an answer: the same question has the same answer, however
/// many threads there are.
fn random(part: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    rng.set_stream(part as u64);
    rng
}
