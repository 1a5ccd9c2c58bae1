//! Groups: a deal that is played from every seating. Statistics count a group as one
//! sample.

use std::collections::{BTreeMap, btree_map::Entry};
use std::iter::Sum;

use referee_core::SeatFoul;
use serde::{Deserialize, Serialize};

use crate::Entrant;

/// A match of a schedule: the groups that the same entrants play against each other
/// there. Its number, from 0, is its position in the schedule and does not depend on
/// when it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MatchId(pub u32);

/// The players of a group, in order of the seats of its first seating. None is a house bot that
/// fills the seat; its results do not count, so that nobody gains from playing against it.
pub type Lineup = Vec<Option<Entrant>>;

/// A group to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its number in the tournament, from which the deal is derived. It depends on the
    /// schedule and on results, not on the order in which games end.
    pub number: u64,
    /// The match that it belongs to.
    #[serde(rename = "match")]
    pub matchup: MatchId,
    /// Its index in the match.
    pub at: u64,
    /// Selects the seatings, for [`Seatings::of`](crate::Seatings::of), so that over a
    /// tournament everybody has each seat, and in games of four each neighbour, about
    /// equally often.
    pub turn: u64,
    /// Its players.
    pub lineup: Lineup,
}

/// Points in halves, so that sums are exact. In a game of two a win is worth 2 and a
/// draw 1. In a game of four the places are worth 6, 4, 2 and 0; entrants that share a
/// place get the mean of the places that they cover.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct HalfPoints(pub u32);

impl HalfPoints {
    /// The half points of each seat, given the places of all seats, from 1. Seats that
    /// share a place have the same number.
    ///
    /// If nobody has a place, nobody gets its points: in a game of two that both have
    /// lost, both are second and get 0.
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

    /// The half points of each seat from the entrants that it was ahead of; house bots
    /// (None) are left out and get 0. Places as in [`of_places`](Self::of_places).
    #[must_use]
    pub fn among(lineup: &[Option<Entrant>], places: &[u8]) -> Vec<Self> {
        let among = places_among(lineup, places);
        let counted: Vec<u8> = among.iter().flatten().copied().collect();
        let mut worth = Self::of_places(&counted).into_iter();
        let each = among
            .iter()
            .map(|place| place.and_then(|_| worth.next()).unwrap_or_default());
        each.collect()
    }

    /// The value in points.
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

/// In how many games of a group an entrant committed a foul.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Faults {
    /// Games that it did not start.
    pub starts: u32,
    /// Games that it began and lost by any other foul.
    pub fouls: u32,
}

impl Faults {
    /// True if the entrant has lost every one of so many games by a foul of its own.
    #[must_use]
    pub const fn lose_all(&self, games: u32) -> bool {
        games > 0 && self.starts.saturating_add(self.fouls) >= games
    }
}

/// The score of a group that has been played from every seating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupScore {
    /// The number of the group.
    pub number: u64,
    /// Number of games that it had.
    pub games: u32,
    /// For each place of the lineup the half points won from other entrants, summed
    /// over all games.
    pub points: Vec<HalfPoints>,
    /// For each place of the lineup the sum over all games of `n * own - others`, where
    /// `n` is the number of the other entrants and `others` the sum of their scores.
    pub margins: Vec<i64>,
    /// For each place of the lineup its fouls.
    pub faults: Vec<Faults>,
}

impl GroupScore {
    /// The score of a group before its first game.
    #[must_use]
    pub fn new(number: u64, seats: usize) -> Self {
        Self {
            number,
            games: 0,
            points: vec![HalfPoints::default(); seats],
            margins: vec![0; seats],
            faults: vec![Faults::default(); seats],
        }
    }

    /// Adds a game. `order` says who sat in each seat, as indices into the lineup;
    /// `places`, from 1, and `scores` are by seat.
    ///
    /// Results of house bots are left out, so an entrant that played only against house
    /// bots gets 0. A game with another number of seats is ignored.
    pub fn add_game(
        &mut self,
        lineup: &[Option<Entrant>],
        order: &[usize],
        places: &[u8],
        scores: &[i32],
        fouls: &[SeatFoul],
    ) {
        let seats = self.points.len();
        let sized = [lineup.len(), order.len(), places.len(), scores.len()];
        if sized != [seats; 4] || order.iter().any(|&who| who >= seats) {
            return;
        }
        self.games += 1;
        let sat: Vec<Option<Entrant>> = order.iter().map(|&who| lineup[who]).collect();
        let counted = || (0..seats).filter(|&seat| sat[seat].is_some());
        let all: i64 = counted().map(|seat| i64::from(scores[seat])).sum();
        let many = counted().count() as i64;
        let points = HalfPoints::among(&sat, places);
        for seat in counted() {
            let who = order[seat];
            self.points[who].0 += points[seat].0;
            // (many - 1) * own - (all - own) = many * own - all.
            self.margins[who] += i64::from(scores[seat]) * many - all;
        }
        for (seat, &who) in order.iter().enumerate() {
            let foul = fouls.iter().find(|foul| foul.seat.index() == seat);
            match foul.map(|foul| foul.foul.kind().is_start()) {
                Some(true) => self.faults[who].starts += 1,
                Some(false) => self.faults[who].fouls += 1,
                None => {}
            }
        }
    }
}

/// A game that is won from everybody is worth this many parts at every table, so that
/// sums over tables with different numbers of entrants are exact.
pub(crate) const PARTS_OF_A_GAME: u64 = 12;

/// Number of parts that a half point is worth at a table with these entrants. None if there are
/// fewer than two entrants, or more than four.
pub(crate) fn parts_of_a_half(lineup: &[Option<Entrant>]) -> Option<u64> {
    let others = lineup.iter().flatten().count().checked_sub(1)? as u64;
    matches!(others, 1..=3).then(|| PARTS_OF_A_GAME / 2 / others)
}

/// The place of each entrant among the entrants; None for house bots.
pub(crate) fn places_among(lineup: &[Option<Entrant>], places: &[u8]) -> Vec<Option<u8>> {
    let fillers = || (lineup.iter().zip(places)).filter(|(who, _)| who.is_none());
    let each = lineup.iter().zip(places).map(|(who, &place)| {
        let ahead = fillers().filter(|&(_, &other)| other < place).count() as u8;
        who.map(|_| place - ahead.min(place - 1))
    });
    each.collect()
}

/// The groups with the same lineup and the same places, counted. Standings and ratings are computed
/// from such counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupCount {
    /// Its players.
    pub lineup: Lineup,
    /// For each game of the group, in order of its seatings, the places from 1, in order
    /// of the lineup, house bots included.
    pub places: Vec<Vec<u8>>,
    /// For each place of the lineup the margins of [`GroupScore`], summed over these groups.
    pub margins: Vec<MarginSums>,
    /// Number of groups that had this result.
    pub groups: u64,
}

/// The sums over groups of a margin and of its square: whole numbers, so that they do not depend on the
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarginSums {
    /// The sum of the margins.
    pub sum: i128,
    /// The sum of their squares.
    pub squares: i128,
}

impl MarginSums {
    /// The sums over so many groups with this margin.
    #[must_use]
    pub fn of(margin: i64, groups: u64) -> Self {
        let (margin, groups) = (i128::from(margin), i128::from(groups));
        Self {
            sum: margin.saturating_mul(groups),
            squares: (margin * margin).saturating_mul(groups),
        }
    }

    fn add(&mut self, more: Self) {
        self.sum = self.sum.saturating_add(more.sum);
        self.squares = self.squares.saturating_add(more.squares);
    }

    fn subtract(&mut self, less: Self) {
        self.sum = self.sum.saturating_sub(less.sum);
        self.squares = self.squares.saturating_sub(less.squares);
    }
}

impl GroupCount {
    /// So many groups with the same result and the same margins.
    #[must_use]
    pub fn new(lineup: Lineup, places: Vec<Vec<u8>>, margins: &[i64], groups: u64) -> Self {
        let margins = margins.iter();
        Self {
            lineup,
            places,
            margins: margins
                .map(|&margin| MarginSums::of(margin, groups))
                .collect(),
            groups,
        }
    }
}

/// Counts of groups, one for each lineup with its places. In JSON they are a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<GroupCount>", from = "Vec<GroupCount>")]
pub struct GroupCounts(BTreeMap<GroupResult, (u64, Vec<MarginSums>)>);

/// A lineup with the places of each game.
type GroupResult = (Lineup, Vec<Vec<u8>>);

impl GroupCounts {
    /// Adds groups.
    pub fn add(&mut self, more: GroupCount) {
        match self.0.entry((more.lineup, more.places)) {
            Entry::Vacant(new) => {
                new.insert((more.groups, more.margins));
            }
            Entry::Occupied(mut there) => {
                let (groups, margins) = there.get_mut();
                *groups += more.groups;
                for (sums, more) in margins.iter_mut().zip(more.margins) {
                    sums.add(more);
                }
            }
        }
    }

    /// Takes groups away that were added before.
    pub fn subtract(&mut self, less: GroupCount) {
        if let Entry::Occupied(mut there) = self.0.entry((less.lineup, less.places)) {
            let (groups, margins) = there.get_mut();
            *groups = groups.saturating_sub(less.groups);
            for (sums, less) in margins.iter_mut().zip(less.margins) {
                sums.subtract(less);
            }
            if *groups == 0 {
                there.remove();
            }
        }
    }

    /// The counts, in order of lineup and places.
    pub fn iter(&self) -> impl Iterator<Item = GroupCount> {
        let counts = self.0.iter();
        counts.map(|((lineup, places), (groups, margins))| GroupCount {
            lineup: lineup.clone(),
            places: places.clone(),
            margins: margins.clone(),
            groups: *groups,
        })
    }
}

impl Extend<GroupCount> for GroupCounts {
    fn extend<T: IntoIterator<Item = GroupCount>>(&mut self, counts: T) {
        counts.into_iter().for_each(|count| self.add(count));
    }
}

impl From<GroupCounts> for Vec<GroupCount> {
    fn from(counts: GroupCounts) -> Self {
        counts.iter().collect()
    }
}

impl From<Vec<GroupCount>> for GroupCounts {
    fn from(counts: Vec<GroupCount>) -> Self {
        counts.into_iter().collect()
    }
}

impl FromIterator<GroupCount> for GroupCounts {
    fn from_iter<T: IntoIterator<Item = GroupCount>>(counts: T) -> Self {
        let mut all = Self::default();
        all.extend(counts);
        all
    }
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

    #[test]
    fn a_place_among_those_that_count_is_worth_those_of_them_who_are_behind() {
        let [a, b, c] = [0, 1, 2].map(|number| Some(Entrant::new(number)));
        for (lineup, places, worth) in [
            ([a, b, c, None], &[2, 3, 4, 1], &[4, 2, 0, 0]),
            ([a, None, b, c], &[1, 2, 3, 3], &[4, 0, 1, 1]),
            ([None, a, None, b], &[1, 3, 2, 4], &[0, 2, 0, 0]),
            ([a, None, None, b], &[1, 1, 3, 1], &[1, 0, 0, 1]),
            ([a, b, None, None], &[4, 4, 4, 4], &[0, 0, 0, 0]),
            ([a, None, None, None], &[1, 2, 3, 4], &[0, 0, 0, 0]),
        ] {
            let found: Vec<_> = HalfPoints::among(&lineup, places)
                .iter()
                .map(|half| half.0)
                .collect();
            assert_eq!(found, worth, "{lineup:?} {places:?}");
        }
    }

    #[test]
    fn a_game_adds_what_was_won_from_those_that_count() {
        let lineup = [Some(Entrant::new(5)), None, Some(Entrant::new(6)), None];
        let mut score = GroupScore::new(9, 4);
        score.add_game(
            &lineup,
            &[1, 2, 3, 0],
            &[1, 2, 3, 4],
            &[90, 20, 5, -10],
            &[],
        );
        score.add_game(&lineup, &[0, 1, 2, 3], &[1, 2, 3, 4], &[7, 5, 3, 1], &[]);
        score.add_game(&lineup, &[0, 1, 2, 4], &[1, 2, 3, 4], &[7, 5, 3, 1], &[]);
        score.add_game(&lineup[..2], &[0, 1], &[1, 2], &[7, 5], &[]);
        assert_eq!((score.number, score.games), (9, 2));
        assert_eq!(score.points, [2, 0, 2, 0].map(HalfPoints));
        assert_eq!(score.margins, [-30 + 4, 0, 30 - 4, 0]);
    }
}
