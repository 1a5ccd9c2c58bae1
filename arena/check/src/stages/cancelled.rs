//! Stage `cancelled`: streams that are cancelled in the middle of a question.

use std::time::{Duration, Instant};

use arena_events::check::{FindingName, StageFigure};
use futures_util::future::join_all;
use referee::proc::{CoreWait, CpuTime};
use referee_core::Seat;
use tokio::task::spawn_blocking;

use super::MOST_AT_ONCE;
use crate::{
    error::Halt,
    evidence::{Circumstance, Evidence},
    examiner::Examiner,
    finding::Finding,
    game::{GameSeen, PlayOptions, play},
    report::StageOutcome,
    subject::Subject,
};

/// Largest number of cancelled streams.
const MOST_CANCELLED: usize = 64;
/// Time that a bot has thought when its stream is cancelled, in turn.
const CANCELLED_AFTER: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(1),
    Duration::from_millis(30),
    Duration::ZERO,
];

pub(super) async fn cancelled(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
) -> Result<StageOutcome, Halt> {
    examiner.all_closed().await;
    let usual = cores_used(examiner).await?;
    let streams = cancel(examiner, subject).await?;
    let thinking = still_thinking(examiner, subject, usual).await?;
    let mut seen = play_again(examiner, subject).await?;
    let after = Circumstance::AfterCancelled { streams };
    let fouled = examiner.foul_finding(FindingName::Cancelled, subject.kind, &mut seen, after);
    let findings = thinking.into_iter().chain(fouled.await?);
    Ok(StageOutcome::found(findings).with(StageFigure::Streams, streams))
}

/// Begins games, cancels them, and says how many.
async fn cancel(examiner: &mut Examiner<'_>, subject: &Subject) -> Result<usize, Halt> {
    let at_once = subject.max_games().min(MOST_AT_ONCE);
    let wanted = (2 * subject.max_games()).clamp(4, MOST_CANCELLED);
    let end = Instant::now() + examiner.options.patience;
    let mut cancelled = 0;
    while cancelled < wanted && (cancelled == 0 || Instant::now() < end) {
        let settings: Vec<_> = (0..at_once.min(wanted - cancelled))
            .map(|_| examiner.setting(subject.kind, 0, Seat::new(0)))
            .collect();
        let probe = examiner.host.probe().await?;
        let after = CANCELLED_AFTER
            .iter()
            .cycle()
            .skip(cancelled % CANCELLED_AFTER.len());
        let games = settings.iter().zip(after).map(async |(setting, after)| {
            let options = PlayOptions {
                cancel_after: Some(*after),
                ..PlayOptions::default()
            };
            play(probe, setting, &options).await
        });
        for seen in join_all(games).await {
            seen?;
        }
        cancelled += settings.len();
    }
    Ok(cancelled)
}

/// Plays a game after all. The bot may take a moment until it takes a game again.
async fn play_again(examiner: &mut Examiner<'_>, subject: &Subject) -> Result<GameSeen, Halt> {
    let end = Instant::now() + examiner.options.limits.start;
    loop {
        let options = PlayOptions {
            leave_after: Some(3),
            leave_at: Some(examiner.soon()),
            hasty: subject.is_hasty(),
            ..PlayOptions::default()
        };
        let setting = examiner.setting(subject.kind, 0, Seat::new(0));
        let seen = examiner.play_one(&setting, &options).await?;
        examiner.must_be_there(seen.foul.as_ref()).await?;
        let refused = seen
            .foul
            .as_ref()
            .is_some_and(|foul| foul.kind().is_start());
        if !refused || Instant::now() >= end {
            return Ok(seen);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Looks for a process that goes on thinking when the time of a question is over.
async fn still_thinking(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
    usual: f64,
) -> Result<Option<Finding>, Halt> {
    const BUSY: f64 = 0.5;
    /// After so many limits no machine is that busy.
    const LONGEST: u32 = 5;
    let since = Instant::now();
    let before = core_wait(examiner).await?;
    loop {
        // Until then it may still think. On a busy machine it needs longer for the same.
        let waited = core_wait(examiner).await?.since(&before);
        let (limit, elapsed) = (examiner.options.limits.per_move, since.elapsed());
        let in_time = elapsed.saturating_sub(waited) < limit && elapsed < LONGEST * limit;
        let cores = cores_used(examiner).await? - usual;
        if cores <= BUSY {
            return Ok(None);
        }
        if !in_time {
            let after = since.elapsed();
            let evidence = Evidence::StillThinking { after, cores };
            return Ok(Some(subject.finding(FindingName::ThinksOn, evidence)));
        }
    }
}

/// Time that its process has waited for a core; nothing where it is not our process.
async fn core_wait(examiner: &Examiner<'_>) -> Result<CoreWait, Halt> {
    Ok(match examiner.host.process() {
        Some(id) => spawn_blocking(move || CoreWait::of_family(id)).await??,
        None => CoreWait::default(),
    })
}

/// The part of a core that it uses, or waits for, while nobody asks it anything; 0 where it is not
/// our process.
async fn cores_used(examiner: &mut Examiner<'_>) -> Result<f64, Halt> {
    const WATCHED: Duration = Duration::from_millis(500);
    match examiner.host.running().await {
        Ok(_) => {}
        Err(Halt::Gone(_)) => return Ok(0.0),
        Err(error) => return Err(error),
    }
    let Some(id) = examiner.host.process() else {
        return Ok(0.0);
    };
    let time = || spawn_blocking(move || CpuTime::of_family(id));
    let (before, began) = (time().await??, Instant::now());
    tokio::time::sleep(WATCHED).await;
    let used = time().await??.since(before);
    Ok(used.as_secs_f64() / began.elapsed().as_secs_f64())
}
