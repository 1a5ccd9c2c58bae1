//! Seatings: who sits where in the games of a deal.

use serde::{Deserialize, Serialize};

/// The seatings from which a deal is played. All games of one deal are a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seatings {
    /// The rotations of one order around the table: 2 games for two seats, 4 for four.
    /// Each group uses the next order.
    #[default]
    Rotations,
    /// All permutations: 2 games for two seats, 24 for four.
    All,
    /// One game, for bots that would remember a deal from one seating to the next. Each
    /// group uses the next rotation, and after the last one the next order.
    Single,
    /// One only, in which everybody sits in order of the lineup: for an exam, in which
    /// the examined bot has one seat.
    Fixed,
}

impl Seatings {
    /// The games of a group with this [`turn`](crate::Group::turn): for each game, who
    /// sits in each seat, as indices into the group's lineup.
    #[must_use]
    pub fn of(self, seats: usize, turn: u64) -> Vec<Vec<usize>> {
        let every = seats.max(1) as u64;
        let rotation = |order: &[usize], turn: u64| rotated(order, (turn % every) as usize);
        match self {
            Self::Rotations => {
                let order = around(seats, turn);
                (0..seats as u64)
                    .map(|first| rotation(&order, first))
                    .collect()
            }
            Self::All => orders(&(0..seats).collect::<Vec<_>>()),
            Self::Single => vec![rotation(&around(seats, turn / every), turn)],
            Self::Fixed => vec![(0..seats).collect()],
        }
    }

    /// Number of games of a group.
    #[must_use]
    pub fn games(self, seats: usize) -> usize {
        match self {
            Self::Rotations => seats,
            Self::All => (1..=seats).product(),
            Self::Single | Self::Fixed => 1,
        }
    }
}

/// One of the orders around a table, of which there are 1 for two seats and 6 for four.
/// Place 0 always comes first.
fn around(seats: usize, turn: u64) -> Vec<usize> {
    let rest: Vec<usize> = (1..seats).collect();
    let mut all = orders(&rest);
    let mut order = all.swap_remove((turn % all.len() as u64) as usize);
    order.insert(0, 0);
    order.truncate(seats);
    order
}

fn rotated(lineup: &[usize], first: usize) -> Vec<usize> {
    let mut seats = lineup.to_vec();
    seats.rotate_left(first);
    seats
}

/// All permutations, the given order first.
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
    fn at_a_table_of_four_everybody_has_each_neighbour_as_often() {
        for (seatings, groups) in [(Seatings::Rotations, 6), (Seatings::Single, 24)] {
            let mut next = [[0; 4]; 4];
            let mut seat = [[0; 4]; 4];
            for game in (0..groups).flat_map(|turn| seatings.of(4, turn)) {
                for at in 0..4 {
                    next[game[at]][game[(at + 1) % 4]] += 1;
                    seat[game[at]][at] += 1;
                }
            }
            assert_eq!(seat, [[6; 4]; 4]);
            for (one, to) in next.iter().enumerate() {
                for (other, &times) in to.iter().enumerate() {
                    assert_eq!(times, if one == other { 0 } else { 8 });
                }
            }
        }
        assert_eq!(Seatings::Rotations.of(0, 5), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn single_games_take_turns() {
        let firsts: Vec<_> = (0..5).map(|at| Seatings::Single.of(4, at)).collect();
        assert!(firsts.iter().all(|games| games.len() == 1));
        let firsts: Vec<_> = firsts.iter().map(|games| games[0][0]).collect();
        assert_eq!(firsts, [0, 1, 2, 3, 0]);
    }
}
