//! Stage `resumed`: games that go on in another stream.

use std::time::Instant;

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee_core::Seat;

use crate::{
    error::Halt,
    evidence::Circumstance,
    examiner::Examiner,
    finding::Finding,
    game::{PlayOptions, resume},
    report::StageOutcome,
    subject::{Subject, observed},
};

/// Before which of its answers, from 0, the bot is resumed: the first of these that a game
/// has. It is late in the game, so that much is sent again.
const FORKS: [usize; 3] = [8, 3, 1];

/// Result of one attempt.
enum Attempt {
    /// The game was over too early.
    TooShort,
    Resumed,
    Found(Box<Finding>),
}

pub(super) async fn resumed(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
) -> Result<StageOutcome, Halt> {
    if !subject.ready.can_resume {
        return Ok(StageOutcome::skipped(SkipCause::CanNotResume));
    }
    let mut resumed = 0;
    let end = examiner.soon();
    for seat in subject.seats() {
        if resumed > 0 && Instant::now() >= end {
            break;
        }
        for fork_at in FORKS {
            match try_at(examiner, subject, seat, fork_at).await? {
                Attempt::TooShort => {}
                Attempt::Resumed => {
                    resumed += 1;
                    break;
                }
                Attempt::Found(finding) => return Ok(StageOutcome::found([*finding])),
            }
        }
    }
    Ok(StageOutcome::default().with(StageFigure::Games, resumed))
}

async fn try_at(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
    seat: Seat,
    fork_at: usize,
) -> Result<Attempt, Halt> {
    let options = PlayOptions {
        leave_after: Some(fork_at + 2),
        // A slow bot is resumed early.
        leave_at: (fork_at > 1).then(|| examiner.soon()),
        fork_at: Some(fork_at),
        hasty: subject.is_hasty(),
        ..PlayOptions::default()
    };
    examiner.make_room(subject, 1).await;
    let setting = examiner.setting(subject.kind, 0, seat);
    let mut seen = examiner.play_one_or_halt(&setting, &options).await?;
    if let Some(finding) = examiner.foul_of(&setting, &mut seen).await? {
        return Ok(Attempt::Found(Box::new(finding)));
    }
    let Some(fork) = seen.fork.take() else {
        return Ok(Attempt::TooShort);
    };
    // What it has forgotten may show only later.
    let options = PlayOptions {
        leave_at: Some(examiner.soon()),
        hasty: subject.is_hasty(),
        ..PlayOptions::default()
    };
    examiner.make_room(subject, 1).await;
    let probe = examiner.host.probe().await?;
    let mut seen = resume(probe, &setting, &options, &fork).await?;
    Ok(match seen.foul.take() {
        None => Attempt::Resumed,
        Some(foul) => {
            let answers = fork_at + 1;
            let circumstance = Circumstance::Resumed { answers, seat };
            let evidence = observed(foul, &seen, circumstance);
            Attempt::Found(Box::new(Finding {
                position: seen.position.take(),
                last_output: examiner.host.last_output().await,
                // Each question has the whole position: only what it has kept can differ.
                may_keep_globals: examiner.entry.launcher().may_keep_globals(),
                ..subject.finding(FindingName::Resumed, evidence)
            }))
        }
    })
}
