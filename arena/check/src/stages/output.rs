//! Stage `output`: how much the bot has printed.

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee::LOG_LIMIT;

use crate::{evidence::Evidence, examiner::Examiner, report::StageOutcome, subject::finding};

pub(crate) fn output(examiner: &Examiner<'_>) -> StageOutcome {
    if !examiner.host.is_started_by_us() {
        return StageOutcome::skipped(SkipCause::NotStartedByArena);
    }
    let most = examiner.host.largest_log();
    let (limit, games) = (LOG_LIMIT as u64, examiner.games);
    let evidence = Evidence::TooMuchOutput { limit, games };
    let found = (most >= limit).then(|| finding(FindingName::TalksALot, None, evidence));
    StageOutcome::found(found).with(StageFigure::PrintedBytes, most as usize)
}
