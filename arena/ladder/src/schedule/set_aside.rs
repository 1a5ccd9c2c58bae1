//! How often an entrant has failed, and when that is enough.

use crate::schedule::{SetAside, SetAsideReason, SetAsideRule};
use crate::{Entrant, Faults};

/// Deals that an entrant has failed: lost every game of them by its own foul.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailedDeals {
    /// Those that it did not start a game of.
    starts: u64,
    /// All of them.
    fouls: u64,
}

impl FailedDeals {
    /// What one deal of this many games adds.
    pub(super) fn of(faults: &Faults, games: u32) -> Self {
        let fouls = faults.starts.saturating_add(faults.fouls);
        Self {
            starts: u64::from(games > 0 && faults.starts >= games),
            fouls: u64::from(games > 0 && fouls >= games),
        }
    }

    pub(super) fn any(self) -> bool {
        self.fouls > 0
    }

    pub(super) fn add(&mut self, more: Self) {
        self.starts += more.starts;
        self.fouls += more.fouls;
    }

    /// Why an entrant that plays `planned` deals in all is set aside, if it is.
    /// One without a strike never is.
    pub(super) fn reason(self, set_aside: SetAsideRule, planned: u64) -> Option<SetAsideReason> {
        let most = u64::from(set_aside.fouls).max(planned.div_ceil(5));
        if self.starts > 0 && self.starts >= u64::from(set_aside.starts) {
            Some(SetAsideReason::NoStart { deals: self.starts })
        } else if self.fouls > 0 && self.fouls >= most {
            Some(SetAsideReason::Failed { deals: self.fouls })
        } else {
            None
        }
    }
}

/// Who of all entrants, in their order, is set aside: those that have a reason.
pub(super) fn list(
    reasons: impl Iterator<Item = Option<SetAsideReason>>,
    annulled: bool,
) -> Vec<SetAside> {
    (0..)
        .zip(reasons)
        .filter_map(|(number, why)| {
            Some(SetAside {
                entrant: Entrant::new(number),
                why: why?,
                annulled,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(starts: u64, fouls: u64) -> FailedDeals {
        FailedDeals { starts, fouls }
    }

    #[test]
    fn a_deal_is_failed_when_every_game_of_it_is() {
        for (starts, fouls, expected) in [
            (0, 0, failed(0, 0)),
            (1, 0, failed(0, 0)),
            (1, 1, failed(0, 1)),
            (0, 2, failed(0, 1)),
            (2, 0, failed(1, 1)),
        ] {
            let faults = Faults { starts, fouls };
            assert_eq!(FailedDeals::of(&faults, 2), expected, "{faults:?}");
        }
    }

    #[test]
    fn patience_ends_with_a_count_or_with_a_fifth_of_the_deals() {
        let set_aside = SetAsideRule {
            starts: 3,
            fouls: 10,
        };
        for (failed, planned, aside) in [
            (failed(2, 9), 20, false),
            (failed(3, 3), 1_000_000, true),
            (failed(0, 10), 50, true),
            (failed(0, 10), 51, false),
            (failed(0, 11), 51, true),
        ] {
            let reason = failed.reason(set_aside, planned);
            assert_eq!(reason.is_some(), aside, "{failed:?} of {planned}");
        }
    }

    #[test]
    fn who_never_failed_is_never_set_aside() {
        let none = SetAsideRule {
            starts: 0,
            fouls: 0,
        };
        assert_eq!(FailedDeals::default().reason(none, 0), None);
        assert!(failed(0, 1).reason(none, 1).is_some());
    }
}
