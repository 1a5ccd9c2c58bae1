//! One deal, played from every seating: the sample that everything here counts.

use std::iter::Sum;

use serde::{Deserialize, Serialize};

use crate::Entrant;

/// A match of a schedule: the groups that the same entrants play for one reason,
/// by its number in the schedule, from 0. The number says where in the schedule
/// the match stands and never when it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MatchId(pub u32);

/// Who plays a group, in order of the seats of its first seating. A place that
/// nobody has is filled by a house bot, whose results count for nobody.
pub type Lineup = Vec<Option<Entrant>>;

/// A group that is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number in the tournament, which decides the deal. It follows from the
    /// schedule and from results, never from who finished first.
    pub number: u64,
    /// The match that it belongs to.
    pub matchup: MatchId,
    /// Its place in the match, from 0.
    pub at: u64,
    /// Who plays.
    pub lineup: Lineup,
}

/// Points in halves, so that sums are exact. A game between two is worth 2, and
/// a draw 1 to each. In a game of four the places are worth 6, 4, 2 and 0, and
/// those who share a place share what it and the ones left free are worth.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct HalfPoints(pub u32);

impl HalfPoints {
    /// What each place is worth, given everybody's: places count from 1, and
    /// those who share one have the same.
    ///
    /// A place that nobody is in is worth nothing to anybody: two who both lost
    /// are both second, and have no point.
    #[must_use]
    pub fn of_places(places: &[u8]) -> Vec<Self> {
        let seats = places.len();
        let worth = |taken: usize| 2 * seats.saturating_sub(taken) as u32;
        places
            .iter()
            .map(|&place| {
                let shared = places.iter().filter(|&&other| other == place).count();
                let first = usize::from(place);
                let sum: u32 = (first..first + shared).map(worth).sum();
                Self(sum / shared as u32)
            })
            .collect()
    }

    /// The same in points.
    #[must_use]
    pub fn points(self) -> f64 {
        f64::from(self.0) / 2.0
    }
}

impl Sum for HalfPoints {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        Self(iter.map(|half| half.0).sum())
    }
}

/// In how many games of a group an entrant did wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Faults {
    /// Games that it did not start.
    pub starts: u32,
    /// Games that it began and lost by any other foul.
    pub fouls: u32,
}

/// What came of a group that has been played from every seating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupScore {
    /// Which.
    pub number: u64,
    /// How many games it had.
    pub games: u32,
    /// What each place of the lineup has won, over all games.
    pub points: Vec<HalfPoints>,
    /// By how much each was above the others: for each game, its own score as
    /// often as there are others, less the scores of the others; over all games.
    pub margins: Vec<i64>,
    /// What each has done wrong.
    pub faults: Vec<Faults>,
}

/// Groups with the same lineup that came out the same, counted: what standings
/// and ratings are made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Who played.
    pub lineup: Lineup,
    /// For each game of the group, in order of its seatings: the place, from 1,
    /// of each in the lineup.
    pub places: Vec<Vec<u8>>,
    /// As in [`GroupScore`].
    pub margins: Vec<i64>,
    /// How many groups came out like this.
    pub groups: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_worth_those_who_are_behind() {
        for (places, worth) in [
            (&[1, 2][..], &[2, 0][..]),
            (&[1, 1], &[1, 1]),
            (&[2, 2], &[0, 0]),
            (&[2, 1, 4, 3], &[4, 6, 0, 2]),
            (&[1, 2, 2, 4], &[6, 3, 3, 0]),
            (&[1, 2, 2, 2], &[6, 2, 2, 2]),
            (&[1, 1, 1, 4], &[4, 4, 4, 0]),
            (&[1, 1, 1, 1], &[3, 3, 3, 3]),
        ] {
            let found: Vec<_> = HalfPoints::of_places(places).iter().map(|p| p.0).collect();
            assert_eq!(found, worth, "{places:?}");
        }
    }
}
