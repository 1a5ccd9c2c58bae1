//! The history of a tournament's ratings: the same ratings as those of its table, after parts of
//! its groups.

use arena_ladder::{Entrant, GroupCounts, standings::Standings};

use crate::Snapshot;

/// The ratings after so many groups.
#[derive(Clone, Debug, PartialEq)]
pub struct RatingsAfter {
    /// Number of groups that had been played and count.
    pub groups: u64,
    /// The Elo of each bot, by number; none without a rating.
    pub ratings: Vec<Option<f64>>,
}

impl Snapshot {
    /// The ratings after each of up to forty equal parts of the groups, in the order in which they were
    /// scheduled. The table's own rules decide what counts. None where no group is complete.
    #[must_use]
    pub fn rating_history(&self) -> Vec<RatingsAfter> {
        let annulled = self.set_aside.iter().filter(|aside| aside.annulled);
        let annulled: Vec<Entrant> = annulled.map(|aside| aside.entrant).collect();
        let (seats, entrants) = (self.kind.info().seats, self.names.len() as u32);
        let mut counts = GroupCounts::default();
        let mut history = Vec::new();
        for part in self.parts.iter() {
            counts.extend(part.iter());
            let counts: Vec<_> = counts.iter().collect();
            let standings = Standings::of(seats, entrants, &counts, &annulled);
            let mut rows: Vec<_> = standings.rows.iter().collect();
            rows.sort_by_key(|row| row.entrant);
            history.push(RatingsAfter {
                groups: standings.groups,
                ratings: (rows.into_iter())
                    .map(|row| row.rating.filter(|_| row.games > 0))
                    .map(|rating| rating.map(|rating| rating.value))
                    .collect(),
            });
        }
        history.dedup_by_key(|after| after.groups);
        history
    }
}
