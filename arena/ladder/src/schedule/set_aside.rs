//! Failed deals, and when an entrant is set aside for them.

use serde::{Deserialize, Serialize};

use crate::schedule::{SetAside, SetAsideReason, SetAsideRule};
use crate::{Entrant, Faults};

/// The deals of which an entrant has lost every game by a foul of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FailedDeals {
    /// Those of which it did not start any game.
    starts: u64,
    /// All of them.
    fouls: u64,
}

impl FailedDeals {
    /// The count for one deal with this many games.
    pub(super) fn of(faults: &Faults, games: u32) -> Self {
        Self {
            starts: u64::from(games > 0 && faults.starts >= games),
            fouls: u64::from(faults.lose_all(games)),
        }
    }

    pub(super) fn any(self) -> bool {
        self.fouls > 0
    }

    pub(super) fn add(&mut self, more: Self) {
        self.starts += more.starts;
        self.fouls += more.fouls;
    }

    /// Reason why an entrant with `planned` scheduled deals is set aside; None if it is not. An
    /// entrant without a failed deal never is.
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

/// The entrants that are set aside, given a reason or None for each entrant in order.
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
    fn an_entrant_is_set_aside_after_a_count_or_a_fifth_of_its_deals() {
        let rule = SetAsideRule {
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
            let reason = failed.reason(rule, planned);
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
