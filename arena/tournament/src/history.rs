//! The history of a tournament's ratings: the same ratings as those of its table, after parts of
//! its groups.

use std::{collections::BTreeMap, ops::Range};

use arena_ladder::{Entrant, GroupCount, Lineup, Schedule, standings::Standings};
use arena_store::{Store, TournamentId};

use crate::{Snapshot, TournamentError};

/// The ratings after so many groups.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingsAfter {
    /// Number of groups that had been played and count.
    pub groups: u64,
    /// The Elo of each bot, by number; none without a rating.
    pub ratings: Vec<Option<f64>>,
}

/// The ratings after each of so many equal parts of the groups, in the order in which they were
/// scheduled. The table's own rules decide what counts. None where no group is complete.
///
/// # Errors
///
/// The store fails.
pub async fn rating_history(
    store: &Store,
    id: TournamentId,
    snapshot: &Snapshot,
    parts: u64,
) -> Result<Vec<RatingsAfter>, TournamentError> {
    let Some(last) = store.last_group(id).await? else {
        return Ok(Vec::new());
    };
    let schedule = snapshot.schedule.as_deref();
    let uncounted = schedule.map_or_else(Vec::new, Schedule::uncounted);
    let annulled = snapshot.set_aside.iter().filter(|aside| aside.annulled);
    let annulled: Vec<Entrant> = annulled.map(|aside| aside.entrant).collect();
    let parts = parts.clamp(1, last + 1);
    // Margins change no rating, and without them most groups are alike.
    let mut counts: BTreeMap<(Lineup, Vec<Vec<u8>>), u64> = BTreeMap::new();
    let mut history = Vec::new();
    for part in 0..parts {
        let numbers = part_of(last + 1, part, parts)..part_of(last + 1, part + 1, parts);
        let counted = without(numbers, &uncounted);
        for count in store.group_counts_within(id, &counted).await? {
            *counts.entry((count.lineup, count.places)).or_default() += count.groups;
        }
        let tallies: Vec<GroupCount> = counts
            .iter()
            .map(|((lineup, places), groups)| GroupCount {
                lineup: lineup.clone(),
                places: places.clone(),
                margins: vec![0; places.first().map_or(0, Vec::len)],
                groups: *groups,
            })
            .collect();
        let seats = snapshot.kind.info().seats;
        let entrants = snapshot.names.len() as u32;
        let standings = Standings::of(seats, entrants, &tallies, &annulled);
        let ratings = standings.rows.iter();
        let mut ratings: Vec<_> = ratings
            .map(|row| (row.entrant, row.rating.filter(|_| row.games > 0)))
            .collect();
        ratings.sort_by_key(|(entrant, _)| *entrant);
        history.push(RatingsAfter {
            groups: standings.groups,
            ratings: (ratings.into_iter())
                .map(|(_, rating)| rating.map(|rating| rating.value))
                .collect(),
        });
    }
    history.dedup_by_key(|after| after.groups);
    Ok(history)
}

/// `total · part / parts`, rounded down.
fn part_of(total: u64, part: u64, parts: u64) -> u64 {
    (u128::from(total) * u128::from(part) / u128::from(parts)) as u64
}

/// These numbers, less those that lie in any of `gaps`.
fn without(numbers: Range<u64>, gaps: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = vec![numbers];
    for gap in gaps {
        left = left
            .into_iter()
            .flat_map(|one| {
                let before = one.start..one.end.min(gap.start);
                let after = one.start.max(gap.end)..one.end;
                // A gap that is empty or elsewhere leaves all of it on one side.
                match gap.is_empty() {
                    true => [one, 0..0],
                    false => [before, after],
                }
            })
            .filter(|one| !one.is_empty())
            .collect();
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one range is left")]
    fn gaps_are_left_out() {
        assert_eq!(without(0..10, &[]), [0..10]);
        assert_eq!(without(0..10, &[3..5, 8..20]), [0..3, 5..8]);
        assert_eq!(without(5..10, &[0..5, 10..12, 7..7]), [5..10]);
        assert_eq!(without(5..10, &[0..6, 0..20]), []);
    }
}
