//! The brackets of eliminations: which match feeds which. This file knows no entrants.
//!
//! A match is between two sides. In games of two a side is one player; the winner
//! advances, and the loser is out or drops to the losers' bracket. At a table of four a
//! side is two players; the first two advance as one side, and the last two are out or
//! drop as one side.

use serde::{Deserialize, Serialize};

/// The source of a player of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BracketSource {
    /// The entrant with this number, if there is one.
    Seed(usize),
    /// The one with this place, from 0, in an earlier match.
    Place { of: usize, place: usize },
}

/// A match of a bracket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BracketNode {
    pub(super) round: usize,
    /// One for each seat.
    pub(super) sources: Vec<BracketSource>,
    /// Number of its players that advance. With no more players than that there is nothing to play.
    pub(super) go_on: usize,
}

/// All matches of an elimination, each after those that feed it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bracket {
    pub(super) rounds: Vec<String>,
    pub(super) nodes: Vec<BracketNode>,
    /// The match that is played only if the one before it was won by the side from
    /// the losers' bracket.
    pub(super) reset: Option<usize>,
    /// Number of matches that a winner without a loss plays.
    pub(super) path: u64,
    half: usize,
}

/// Players that advance or drop together.
type Side = Vec<BracketSource>;

impl Bracket {
    /// Single elimination: losers are out. The places in the last match are final.
    ///
    /// A match for the third place needs semi-finals and two seats.
    pub(super) fn single(entrants: usize, seats: usize, third_place: bool) -> Self {
        let mut bracket = Self::empty(seats);
        let mut sides = seeded(entrants, seats);
        while sides.len() > 2 {
            let name = match (seats, sides.len()) {
                (2, 4) => "semi-finals".to_owned(),
                (2, 8) => "quarter-finals".to_owned(),
                (2, players) => format!("round of {players}"),
                _ => format!("round {}", bracket.rounds.len() + 1),
            };
            let matches = bracket.round(name, adjacent(&sides), bracket.half);
            sides = bracket.winners(&matches);
            if third_place && seats == 2 && sides.len() == 2 {
                let losers = bracket.losers(&matches);
                bracket.round("third place".to_owned(), adjacent(&losers), 1);
            }
            bracket.path += 1;
        }
        bracket.round("final".to_owned(), adjacent(&sides), 1);
        bracket.path += 1;
        bracket
    }

    /// Double elimination: a player that loses twice is out.
    ///
    /// The losers of the winners' first round play against each other. After that, rounds
    /// alternate in the losers' bracket: the players there against those that drop from
    /// the winners' next round, then against each other. The order of those that drop is
    /// reversed the first time, has its halves exchanged the second time, has each half
    /// reversed the third time, and so on, so that rematches come as late as possible.
    ///
    /// The winners of both brackets play the grand final. If the one from the losers'
    /// bracket wins it, both have lost once, and it is played again. At tables of four two
    /// players of each bracket play one grand final.
    pub(super) fn double(entrants: usize, seats: usize) -> Self {
        let mut bracket = Self::empty(seats);
        let half = bracket.half;
        let sides = seeded(entrants, seats);
        let mut winners = bracket.round("winners' round 1".to_owned(), adjacent(&sides), half);
        let mut alive = bracket.losers(&winners);
        bracket.path = 2;
        let mut drops = 0;
        while winners.len() > 1 {
            let name = format!("losers' round {}", 2 * drops + 1);
            let survivors = bracket.round(name, adjacent(&alive), half);
            alive = bracket.winners(&survivors);

            let sides = bracket.winners(&winners);
            let name = format!("winners' round {}", drops + 2);
            winners = bracket.round(name, adjacent(&sides), half);
            bracket.path += 1;

            let mut dropped = bracket.losers(&winners);
            let middle = dropped.len() / 2;
            match drops % 3 {
                0 => dropped.reverse(),
                1 => dropped.rotate_left(middle),
                _ => {
                    dropped.reverse();
                    dropped.rotate_left(middle);
                }
            }
            drops += 1;
            let name = format!("losers' round {}", 2 * drops);
            let pairs = alive.into_iter().zip(dropped).collect();
            let survivors = bracket.round(name, pairs, half);
            alive = bracket.winners(&survivors);
        }
        let finalists = [bracket.winners(&winners), alive].concat();
        let last = bracket.round("grand final".to_owned(), adjacent(&finalists), 1);
        if seats == 2 {
            let again = [bracket.winners(&last), bracket.losers(&last)].concat();
            let again = bracket.round("grand final, again".to_owned(), adjacent(&again), 1);
            bracket.reset = again.first().copied();
        }
        bracket
    }

    fn empty(seats: usize) -> Self {
        Self {
            rounds: Vec::new(),
            nodes: Vec::new(),
            reset: None,
            path: 0,
            half: seats / 2,
        }
    }

    /// Adds a round of these matches, and returns their numbers.
    fn round(&mut self, name: String, pairs: Vec<(Side, Side)>, go_on: usize) -> Vec<usize> {
        let round = self.rounds.len();
        self.rounds.push(name);
        let first = self.nodes.len();
        self.nodes.extend(pairs.into_iter().map(|(one, other)| {
            BracketNode {
                round,
                sources: (one.into_iter().zip(other))
                    .flat_map(|(one, other)| [one, other])
                    .collect(),
                go_on,
            }
        }));
        (first..self.nodes.len()).collect()
    }

    fn winners(&self, matches: &[usize]) -> Vec<Side> {
        let side =
            |&of: &usize| (0..self.half).map(move |place| BracketSource::Place { of, place });
        matches.iter().map(|of| side(of).collect()).collect()
    }

    fn losers(&self, matches: &[usize]) -> Vec<Side> {
        let half = self.half;
        let side =
            |&of: &usize| (half..2 * half).map(move |place| BracketSource::Place { of, place });
        matches.iter().map(|of| side(of).collect()).collect()
    }
}

fn adjacent(sides: &[Side]) -> Vec<(Side, Side)> {
    let pairs = sides.chunks_exact(2);
    pairs
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

/// The sides of the first round, in order of the bracket: the best two seeds are far from
/// each other, and empty places are next to the best seeds.
fn seeded(entrants: usize, seats: usize) -> Vec<Side> {
    let matches = entrants.div_ceil(seats).next_power_of_two();
    let last = matches * seats - 1;
    match seats {
        2 => bracket_order(2 * matches)
            .into_iter()
            .map(|seed| vec![BracketSource::Seed(seed)])
            .collect(),
        // Table t has seed t, then one seed of each of the other quarters, from its end.
        _ => (bracket_order(matches).into_iter())
            .flat_map(|t| {
                let seeds = [t, 2 * matches - 1 - t, 3 * matches - 1 - t, last - t];
                let [a, b, c, d] = seeds.map(BracketSource::Seed);
                [vec![a, c], vec![b, d]]
            })
            .collect(),
    }
}

/// The seeds 0 to `many - 1` in the order of a bracket, where `many` is a power of two: if
/// the better seed always wins, in every round the best remaining seed meets the worst.
fn bracket_order(many: usize) -> Vec<usize> {
    let mut order = vec![0];
    while order.len() < many {
        let last = 2 * order.len() - 1;
        order = order
            .into_iter()
            .flat_map(|seed| [seed, last - seed])
            .collect();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_meets_the_last_and_the_second_only_in_the_final() {
        assert_eq!(bracket_order(8), [0, 7, 3, 4, 1, 6, 2, 5]);
        let bracket = Bracket::single(5, 2, true);
        assert_eq!(
            bracket.rounds,
            ["quarter-finals", "semi-finals", "third place", "final"]
        );
        assert_eq!(
            bracket.nodes[0].sources,
            [BracketSource::Seed(0), BracketSource::Seed(7)]
        );
    }

    #[test]
    fn whoever_a_match_needs_has_played_before() {
        for seats in [2, 4] {
            for entrants in 2..=70 {
                for bracket in [
                    Bracket::single(entrants, seats, true),
                    Bracket::double(entrants, seats),
                ] {
                    let mut used = std::collections::BTreeSet::new();
                    let mut seeds = 0;
                    for (at, node) in bracket.nodes.iter().enumerate() {
                        assert_eq!(node.sources.len(), seats);
                        for source in &node.sources {
                            match *source {
                                BracketSource::Seed(seed) => seeds += usize::from(seed < entrants),
                                BracketSource::Place { of, place } => {
                                    assert!(of < at && place < seats);
                                    assert!(used.insert((of, place)), "nobody plays twice");
                                }
                            }
                        }
                    }
                    assert_eq!(seeds, entrants);
                }
            }
        }
    }
}
