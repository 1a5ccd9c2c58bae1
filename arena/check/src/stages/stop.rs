//! Stage `stop`: does the bot end when it is told to, and all that it has started?

use std::{sync::Arc, time::Duration};

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee::{BotProcess, STOP_GRACE, StopReport, proc::CoreWait};
use tokio::task::spawn_blocking;

use crate::{
    error::Halt, evidence::Evidence, examiner::Examiner, report::StageOutcome, subject::finding,
};

/// On a busy machine a process needs longer, so it is killed after so many times its grace.
const LONGEST: u32 = 3;

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
    let process = examiner.host.running().await?.bot.process.clone();
    let process = process.expect("we start its processes");
    let (report, waited) = stop_watched(&process).await?;
    let Some(report) = report else {
        return Ok(StageOutcome::skipped(SkipCause::ProcessEnded));
    };
    let after = report.after.map(|after| after.saturating_sub(waited));
    let mut outcome = match after.filter(|after| *after <= STOP_GRACE) {
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

/// Stops it, and says how long it has waited for a core meanwhile.
async fn stop_watched(process: &Arc<BotProcess>) -> Result<(Option<StopReport>, Duration), Halt> {
    const LOOK_EVERY: Duration = Duration::from_millis(50);
    let id = process.id();
    let look = || async move { spawn_blocking(move || CoreWait::of_family(id)).await };
    let before = look().await??;
    let stopping = process.stop_and_report(STOP_GRACE * LONGEST);
    tokio::pin!(stopping);
    let mut waited = Duration::ZERO;
    loop {
        tokio::select! {
            biased;
            report = &mut stopping => return Ok((report?, waited)),
            () = tokio::time::sleep(LOOK_EVERY) => {
                // What has ended tells nothing any more.
                let now = look().await??;
                waited = waited.max(now.since(&before));
            }
        }
    }
}
