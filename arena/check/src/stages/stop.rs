//! Stage `stop`: does the bot end when it is told to, and all that it has started?

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee::STOP_GRACE;

use crate::{
    error::Halt, evidence::Evidence, examiner::Examiner, report::StageOutcome, subject::finding,
};

pub(crate) async fn stop(examiner: &mut Examiner<'_>) -> Result<StageOutcome, Halt> {
    if !examiner.host.is_started_by_us() {
        return Ok(StageOutcome::skipped(SkipCause::NotStartedByArena));
    }
    // No game runs when the last stream is closed. A bot that has left one open may still be
    // busy with it, so a new process must show what it does.
    examiner.all_closed().await;
    if examiner.is_left_open {
        examiner.host.renew().await;
    }
    let process = examiner.host.running().await?.process.clone();
    let process = process.expect("we start its processes");
    let Some(report) = process.stop_and_report(STOP_GRACE).await else {
        return Ok(StageOutcome::skipped(SkipCause::ProcessEnded));
    };
    let mut outcome = match report.after {
        Some(after) => StageOutcome::default().with_time(StageFigure::EndedAfterUs, after),
        None => {
            let running = Evidence::StillRunning { limit: STOP_GRACE };
            StageOutcome::found([finding(FindingName::IgnoresSigterm, None, running)])
        }
    };
    outcome = outcome.with(StageFigure::LeftProcesses, report.left_behind.len());
    if !report.left_behind.is_empty() {
        let left = finding(
            FindingName::Leftovers,
            None,
            Evidence::LeftBehind(report.left_behind),
        );
        outcome.findings.push(left);
    }
    process.ended().await;
    Ok(outcome)
}
