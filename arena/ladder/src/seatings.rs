//! From which seats a deal is played.

use serde::{Deserialize, Serialize};

/// From which seatings a deal is played. All games of one deal are one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seatings {
    /// Each once in each seat, always in the same order around the table: 2 for
    /// two seats, 4 for four.
    #[default]
    Rotations,
    /// Every order that there is: 2 for two seats, 24 for four.
    All,
    /// One only: for bots that would remember the deal from one seating to the
    /// next. Each group takes the next rotation.
    Single,
}

impl Seatings {
    /// The games of a match's `at`th group: for each, who sits in each seat, as
    /// places in the group's lineup.
    #[must_use]
    pub fn of(self, seats: usize, at: u64) -> Vec<Vec<usize>> {
        let lineup: Vec<usize> = (0..seats).collect();
        match self {
            Self::Rotations => (0..seats).map(|first| rotated(&lineup, first)).collect(),
            Self::All => orders(&lineup),
            Self::Single => vec![rotated(&lineup, (at % seats.max(1) as u64) as usize)],
        }
    }

    /// How many games a group has.
    #[must_use]
    pub fn games(self, seats: usize) -> usize {
        match self {
            Self::Rotations => seats,
            Self::All => (1..=seats).product(),
            Self::Single => 1,
        }
    }
}

fn rotated(lineup: &[usize], first: usize) -> Vec<usize> {
    let mut seats = lineup.to_vec();
    seats.rotate_left(first);
    seats
}

/// Every order of these, the given one first.
fn orders(lineup: &[usize]) -> Vec<Vec<usize>> {
    if lineup.len() < 2 {
        return vec![lineup.to_vec()];
    }
    (0..lineup.len())
        .flat_map(|first| {
            let mut others = lineup.to_vec();
            let first = others.remove(first);
            orders(&others).into_iter().map(move |mut order| {
                order.insert(0, first);
                order
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn everybody_sits_in_every_seat_as_often() {
        for (seatings, seats, each) in [
            (Seatings::Rotations, 2, 1),
            (Seatings::All, 2, 1),
            (Seatings::Rotations, 4, 1),
            (Seatings::All, 4, 6),
        ] {
            let games = seatings.of(seats, 0);
            assert_eq!(games.len(), seatings.games(seats));
            assert_eq!(games.len(), seats * each);
            assert_eq!(games.iter().collect::<BTreeSet<_>>().len(), games.len());
            for place in 0..seats {
                for seat in 0..seats {
                    let there = games.iter().filter(|game| game[seat] == place);
                    assert_eq!(there.count(), each);
                }
            }
        }
    }

    #[test]
    fn single_games_take_turns() {
        let firsts: Vec<_> = (0..5).map(|at| Seatings::Single.of(4, at)).collect();
        assert!(firsts.iter().all(|games| games.len() == 1));
        let firsts: Vec<_> = firsts.iter().map(|games| games[0][0]).collect();
        assert_eq!(firsts, [0, 1, 2, 3, 0]);
    }
}
