//! Stage `start`: which games does the bot serve, and what does it say of itself?

use std::time::{Duration, Instant};

use arena_events::check::{FindingName, ReadyAnswer, SkipCause, StageFigure};
use referee::proc::CoreWait;
use referee_core::{Foul, GameKind, Seat};
use referee_games::GAMES;
use tokio::task::spawn_blocking;

use crate::{
    error::{CheckError, Halt},
    evidence::Evidence,
    examiner::Examiner,
    finding::Finding,
    game::{GameSeen, PlayOptions},
    report::StageOutcome,
    subject::{Subject, finding},
};

/// The stage, game by game.
pub(crate) struct Start {
    pub(crate) kinds: std::vec::IntoIter<&'static dyn GameKind>,
    /// True if the games were named, one by one or by its SPEC, so that the bot must serve them.
    are_named: bool,
    /// From the start of the process until it took our connection; counts for the first game.
    took: Option<Duration>,
    /// Its Ready for a game came too late.
    pub(crate) is_kept_waiting: bool,
    /// The games that it plays.
    pub(crate) subjects: Vec<Subject>,
}

impl Start {
    /// Starts the process.
    pub(crate) async fn new(examiner: &mut Examiner<'_>) -> Result<Self, Halt> {
        let named = examiner.options.kinds.clone();
        let mut are_named = named.is_some();
        let mut kinds = named.unwrap_or_else(|| GAMES.to_vec());
        if !are_named {
            kinds.retain(|kind| examiner.entry.check_plays(kind.info()).is_ok());
            // The SPEC names the only game.
            are_named = kinds.len() == 1;
        }
        Ok(Self {
            are_named,
            kinds: kinds.into_iter(),
            took: Some(examiner.host.running().await?.bot.took),
            is_kept_waiting: false,
            subjects: Vec::new(),
        })
    }

    /// Sends it the start of a game; none where it does not serve the game and need not.
    pub(crate) async fn game(
        &mut self,
        examiner: &mut Examiner<'_>,
        kind: &'static dyn GameKind,
    ) -> Result<Option<StageOutcome>, CheckError> {
        if self.is_kept_waiting {
            return Ok(Some(StageOutcome::skipped(SkipCause::SlowInAnotherGame)));
        }
        let options = PlayOptions {
            leave_after: Some(0),
            ..PlayOptions::default()
        };
        let began = Instant::now();
        let limit = examiner.options.limits.start;
        let setting = examiner.setting(kind, 0, Seat::new(0));
        let seen = examiner.play_one(&setting, &options).await?;
        match (&seen.foul, &seen.ready) {
            (Some(Foul::Unsupported { .. }), _) if !self.are_named => Ok(None),
            (None, Some(ready)) => {
                let mut took = seen.ready_after;
                if let Some(start) = self.took.take() {
                    took += start;
                    // It has waited only since it exists, and for its start.
                    if let Some(id) = examiner.host.process() {
                        let waited = spawn_blocking(move || CoreWait::of_family(id)).await;
                        let waited = waited.map_err(CheckError::Measure)??;
                        took = took.saturating_sub(waited.since(&CoreWait::default()));
                    }
                }
                let outcome = StageOutcome {
                    ready: Some(ready.clone()),
                    ..StageOutcome::found(said(kind, ready, took, limit))
                };
                self.subjects
                    .push(Subject::new(kind, ready.clone(), setting));
                Ok(Some(outcome.with_time(StageFigure::ReadyUs, took)))
            }
            _ => {
                let finding = not_ready(examiner, kind, &seen).await?;
                // Its process may have ended: that is the same fault, and no other game's.
                examiner.host.take_death();
                examiner.host.renew().await;
                // Who was too slow for one game would be so for every other.
                self.is_kept_waiting = began.elapsed() >= limit;
                Ok(Some(StageOutcome::found([finding])))
            }
        }
    }
}

/// Faults of its Ready.
fn said(
    kind: &'static dyn GameKind,
    ready: &ReadyAnswer,
    took: Duration,
    limit: Duration,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if took > limit / 3 {
        let late = Evidence::ReadyAfter { took, limit };
        findings.push(finding(FindingName::SlowStart, Some(kind), late));
    }
    if ready.bot.is_empty() {
        findings.push(finding(FindingName::NoName, Some(kind), Evidence::NoName));
    }
    if ready.max_games.is_none_or(|games| games == 0) {
        let unsaid = Evidence::NoMaxGames;
        findings.push(finding(FindingName::NoMaxGames, Some(kind), unsaid));
    }
    findings
}

/// Reason why it was not ready.
async fn not_ready(
    examiner: &mut Examiner<'_>,
    kind: &'static dyn GameKind,
    seen: &GameSeen,
) -> Result<Finding, CheckError> {
    let name = match seen.foul {
        Some(Foul::Unsupported { .. }) => FindingName::Unsupported,
        Some(Foul::Unreachable { .. }) => FindingName::Unreachable,
        Some(Foul::MemoryExceeded { .. }) => FindingName::MemoryExceeded,
        _ if examiner.is_silent().await? => FindingName::NoStart,
        _ => FindingName::NoReady,
    };
    let foul = seen.foul.clone().map(Evidence::from);
    Ok(finding(name, Some(kind), foul.unwrap_or(Evidence::NoReady)))
}

/// The outcome for a bot that could not be started or reached.
pub(crate) fn not_started(foul: Foul) -> StageOutcome {
    let name = match foul {
        Foul::Unreachable { .. } => FindingName::Unreachable,
        _ => FindingName::NoStart,
    };
    StageOutcome::found([finding(name, None, foul)])
}
