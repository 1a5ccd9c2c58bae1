//! Stage `calls`: which calls of the game were sent so far.

use std::collections::BTreeMap;

use arena_events::check::SkipCause;
use referee_games::Calls;

use crate::{report::StageOutcome, subject::Subject};

pub(super) fn calls(subject: &Subject, is_broken: bool) -> StageOutcome {
    let calls = Calls::of(subject.kind);
    let for_two = subject.kind.info().seats == 2;
    let mut times = BTreeMap::new();
    for name in calls.names() {
        match subject.calls.get(name) {
            Some(sent) => _ = times.insert(name.to_owned(), *sent),
            // A game of two is over when one leaves.
            None if for_two && name == "forfeit" => {}
            None => _ = times.insert(name.to_owned(), 0),
        }
    }
    let is_complete = times.values().all(|sent| *sent > 0);
    StageOutcome {
        skipped: (is_broken && !is_complete).then_some(SkipCause::CutShortByFoul),
        calls: Some(times),
        ..StageOutcome::default()
    }
}
