//! Stage `output`: how much the bot has printed.

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee::LOG_LIMIT;

use crate::{evidence::Evidence, examiner::Examiner, report::StageOutcome, subject::finding};

pub(crate) fn output(examiner: &Examiner<'_>) -> StageOutcome {
    if !examiner.host.is_started_by_us() {
        return StageOutcome::skipped(SkipCause::NotStartedByArena);
    }
    let logs = examiner.host.logs();
    let most = logs.iter().map(|(_, size)| *size).max().unwrap_or(0);
    let limit = LOG_LIMIT as u64;
    let mut outcome = StageOutcome::default().with(StageFigure::PrintedBytes, most as usize);
    if most >= limit {
        let games = examiner.games;
        let evidence = Evidence::TooMuchOutput { limit, games };
        outcome
            .findings
            .push(finding(FindingName::TalksALot, None, evidence));
    }
    outcome
}
