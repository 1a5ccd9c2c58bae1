//! Swiss: in each round entrants with equal points meet, and rematches are avoided if
//! possible.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::in_rounds::{Paired, RoundPairing, name};
use super::match_up::{MatchRules, MatchUp};
use super::pairing::{chance, cheapest};
use super::tables::{self, SeatingProblem};
use super::{Ranked, Remark, TieBreak};
use crate::group::parts_of_a_half;
use crate::{Entrant, Field, GroupScore, Lineup};

/// Most entrants that a Swiss may have. Pairing takes time in proportion to their number cubed:
/// about a second for this many.
pub(super) const MOST_ENTRANTS: u32 = 500;

/// The number of rounds that leave one entrant without a loss: ⌈log₂ entrants⌉, or
/// ⌈log₄ entrants⌉ at tables of four, and at least 1.
pub(super) fn rounds_for_one_winner(entrants: u32, seats: u8) -> u32 {
    let mut rounds = 1;
    let mut reach = u64::from(seats);
    while reach < u64::from(entrants) {
        reach *= u64::from(seats);
        rounds += 1;
    }
    rounds
}

/// Most rounds that are possible without a rematch.
pub(super) fn most_rounds(entrants: u32) -> u32 {
    entrants - 1 + entrants % 2
}

/// The state of a Swiss.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Swiss {
    root: [u8; 32],
    seats: usize,
    /// The game points of a bye: those of a match won in every game.
    whole_match: u64,
    entrants: Vec<SwissEntrant>,
    /// Number of times that a pair has met, the lower number first.
    #[serde(with = "pairs")]
    met: BTreeMap<(Entrant, Entrant), u32>,
}

/// The results of an entrant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SwissEntrant {
    /// Two seats: 2 for a match that was won, 1 for a draw. Four seats: the parts of its
    /// games, which are quarters of a point.
    points: u64,
    /// The half points of its games.
    games: u64,
    byes: u32,
    /// Its opponents, and what it got from the match: 2, 1 or 0 with two seats.
    met: Vec<(Entrant, u32)>,
}

impl Swiss {
    pub(super) fn new(field: &Field, rules: &MatchRules) -> Self {
        Self {
            root: field.chance,
            seats: rules.seats,
            whole_match: rules.whole_match(),
            entrants: vec![SwissEntrant::default(); field.entrants as usize],
            met: BTreeMap::new(),
        }
    }

    /// The points that an entrant is ranked by.
    fn points(&self, entrant: Entrant) -> f64 {
        let whole = if self.seats == 2 { 2.0 } else { 4.0 };
        self.card(entrant).points as f64 / whole
    }

    fn card(&self, entrant: Entrant) -> &SwissEntrant {
        &self.entrants[entrant.index()]
    }

    fn times_met(&self, a: Entrant, b: Entrant) -> u32 {
        let pair = (a.min(b), a.max(b));
        self.met.get(&pair).copied().unwrap_or(0)
    }

    /// Pairs so that these sums are minimal, an earlier one before a later one:
    ///
    /// 1. (number of byes so far)² of the entrant with the bye;
    /// 2. (number of earlier meetings)² of each pair;
    /// 3. the index, from the last, of the entrant with the bye;
    /// 4. (difference of points)² of each pair;
    /// 5. within a score group of `k` the difference of a pair's distance in the order
    ///    from `k / 2` (the top half meets the bottom half); between score groups the
    ///    distance in the order (so that neighbours float).
    fn pairs(&self, round: u32, order: &[Entrant]) -> Vec<(usize, usize)> {
        let many = order.len();
        let square = |times: u32| u64::from(times).pow(2);
        let points: Vec<u64> = order.iter().map(|&one| self.card(one).points).collect();
        let mut group = BTreeMap::new();
        for points in &points {
            *group.entry(*points).or_insert(0) += 1;
        }
        cheapest(
            many.next_multiple_of(2),
            &mut chance(self.root, round),
            |a, b| {
                if b == many {
                    let byes = square(self.card(order[a]).byes);
                    return [byes, 0, (many - 1 - a) as u64, 0, 0];
                }
                let met = square(self.times_met(order[a], order[b]));
                let apart = points[a].abs_diff(points[b]);
                let fold = if apart == 0 { group[&points[a]] / 2 } else { 0 };
                [0, met, 0, apart.pow(2), (b - a).abs_diff(fold) as u64]
            },
        )
    }

    fn pair_two(&mut self, round: u32, order: &[Entrant]) -> Paired {
        let mut paired = Paired::default();
        for (a, b) in self.pairs(round, order) {
            let first = order[a];
            let Some(&second) = order.get(b) else {
                paired.bye = Some(first);
                if self.card(first).byes > 0 {
                    paired.remarks.push(Remark::SecondBye {
                        round: name(round as usize),
                        entrant: first,
                    });
                }
                continue;
            };
            if self.times_met(first, second) > 0 {
                paired.remarks.push(Remark::Rematch {
                    round: name(round as usize),
                    players: [first, second],
                });
            }
            paired.tables.push(vec![Some(first), Some(second)]);
        }
        if let Some(bye) = paired.bye {
            let card = &mut self.entrants[bye.index()];
            card.byes += 1;
            card.points += 2;
            card.games += self.whole_match;
        }
        paired
    }

    fn pair_four(&self, round: u32, order: &[Entrant]) -> Paired {
        let points: Vec<u64> = order.iter().map(|&one| self.card(one).points).collect();
        let seating = SeatingProblem {
            order,
            level: &points,
            met: &|a, b| self.times_met(a, b),
        };
        Paired {
            tables: tables::seat(&seating, &mut chance(self.root, round)),
            ..Paired::default()
        }
    }

    fn ranked_two(&self) -> Vec<Ranked> {
        let points = |one: Entrant| self.points(one);
        self.ranked(|one| {
            let card = self.card(one);
            let byes = f64::from(card.byes) * points(one);
            let buchholz: f64 = card.met.iter().map(|&(other, _)| points(other)).sum();
            let berger = |&(other, had): &(Entrant, u32)| points(other) * f64::from(had) / 2.0;
            let berger: f64 = card.met.iter().map(berger).sum();
            vec![
                (TieBreak::Buchholz, buchholz + byes),
                (TieBreak::SonnebornBerger, berger + byes),
                (TieBreak::GamePoints, card.games as f64 / 2.0),
            ]
        })
    }

    fn ranked_four(&self) -> Vec<Ranked> {
        self.ranked(|one| {
            let met = &self.card(one).met;
            let sum: f64 = met.iter().map(|&(other, _)| self.points(other)).sum();
            let mean = sum / met.len().max(1) as f64;
            vec![(TieBreak::OpponentsMeanPoints, mean)]
        })
    }

    /// The ranking by points, then by the tie-breaks, then by number.
    fn ranked(&self, ties: impl Fn(Entrant) -> Vec<(TieBreak, f64)>) -> Vec<Ranked> {
        let mut ranked: Vec<Ranked> = (Entrant::all(self.entrants.len() as u32))
            .map(|entrant| Ranked {
                place: 0,
                entrant,
                points: self.points(entrant),
                ties: ties(entrant),
            })
            .collect();
        ranked.sort_by(|a, b| {
            let of = |one: &Ranked| one.ties.iter().map(|tie| tie.1).collect::<Vec<_>>();
            let better = (b.points.total_cmp(&a.points)).then_with(|| {
                of(b)
                    .partial_cmp(&of(a))
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            better.then(a.entrant.cmp(&b.entrant))
        });
        for (ranked, place) in ranked.iter_mut().zip(1..) {
            ranked.place = place;
        }
        ranked
    }
}

impl RoundPairing for Swiss {
    fn pair(&mut self, round: u32, entrants: &[Entrant]) -> Paired {
        let mut order = entrants.to_vec();
        order.sort_by_key(|&one| (Reverse(self.card(one).points), one));
        if self.seats == 2 {
            self.pair_two(round, &order)
        } else {
            self.pair_four(round, &order)
        }
    }

    fn count(&mut self, _: &Lineup, _: &GroupScore) {}

    fn decide(&mut self, match_up: &MatchUp, aside: &[Entrant]) {
        let places = match_up.places();
        let present: Vec<_> = (places.iter())
            .filter_map(|place| Some((place.entrant?, u64::from(place.points.0))))
            .collect();
        let parts = parts_of_a_half(&match_up.lineup()).unwrap_or_default();
        for &(one, points) in &present {
            let card = &mut self.entrants[one.index()];
            card.games += points;
            if self.seats != 2 {
                card.points += points * parts;
            }
            for &(other, others) in present.iter().filter(|(other, _)| *other != one) {
                let had = match (aside.contains(&one), aside.contains(&other)) {
                    (true, _) => 0,
                    (false, true) => 2,
                    _ if points > others => 2,
                    // Both have 0 points if both have lost every game.
                    _ if points == 0 => 0,
                    _ => u32::from(points == others),
                };
                card.met.push((other, had));
                if self.seats == 2 {
                    card.points += u64::from(had);
                }
                if one < other {
                    *self.met.entry((one, other)).or_insert(0) += 1;
                }
            }
        }
    }

    fn ranking(&self) -> Option<Vec<Ranked>> {
        Some(if self.seats == 2 {
            self.ranked_two()
        } else {
            self.ranked_four()
        })
    }
}

/// A map with pairs as keys, which JSON does not have, as a list.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Entrant;

    type Met = BTreeMap<(Entrant, Entrant), u32>;

    pub(super) fn serialize<S: Serializer>(met: &Met, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(met)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Met, D::Error> {
        let met = Vec::<((Entrant, Entrant), u32)>::deserialize(from)?;
        Ok(met.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::match_up::Length;
    use crate::{Seatings, SetAsideRule};

    #[test]
    fn a_rematch_is_worse_than_a_bye_for_the_first() {
        let field = Field {
            entrants: 3,
            seats: 2,
            seatings: Seatings::Rotations,
            deals: 1,
            sprt: None,
            set_aside: SetAsideRule::default(),
            readmitted: Default::default(),
            chance: [0; 32],
        };
        let mut swiss = Swiss::new(&field, &MatchRules::new(&field, Length::Full));
        let everybody: Vec<_> = Entrant::all(3).collect();
        swiss.met.insert((everybody[0], everybody[1]), 1);
        swiss.met.insert((everybody[0], everybody[2]), 1);
        let paired = swiss.pair(2, &everybody);
        assert_eq!(paired.bye, Some(everybody[0]));
        assert!(paired.remarks.is_empty());
    }
}
