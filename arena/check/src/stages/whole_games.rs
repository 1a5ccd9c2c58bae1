//! Stage `whole-games`: games from each seat, from the usual beginning.

use std::time::{Duration, Instant};

use arena_events::check::{FindingName, StageFigure};
use referee_core::{Foul, FoulKind, Seat};

use crate::{
    error::{CheckError, Halt},
    evidence::{Circumstance, Evidence, ObservedFoul},
    examiner::{Examiner, median},
    finding::Finding,
    game::{GameSetting, PlayOptions},
    report::StageOutcome,
    subject::Subject,
};

/// The games so far, and their findings.
struct Played {
    games: usize,
    cut: usize,
    findings: Vec<Finding>,
    /// The first and the last of the games that the process has played.
    before: Vec<GameSetting>,
}

pub(super) async fn whole_games(
    examiner: &mut Examiner<'_>,
    subject: &mut Subject,
) -> Result<StageOutcome, Halt> {
    let seats = subject.seats();
    let share = examiner.options.patience / seats.len() as u32;
    let mut played = Played {
        games: 0,
        cut: 0,
        findings: Vec::new(),
        before: vec![subject.first.clone()],
    };
    for seat in seats {
        played.play_seat(examiner, subject, seat, share).await?;
    }
    let Played {
        games,
        cut,
        mut findings,
        ..
    } = played;
    let Subject { open, closed, .. } = *subject;
    if open > 1 && open > closed {
        let of = closed + open;
        let evidence = Evidence::OpenStreams { open, of };
        findings.push(subject.finding(FindingName::HalfClosed, evidence));
    }
    findings.extend(subject.after_game_over());
    let mut outcome = StageOutcome::found(findings).with(StageFigure::Games, games);
    if cut > 0 {
        outcome = outcome
            .with(StageFigure::CutGames, cut)
            .with_time(StageFigure::CutAfterUs, share);
    }
    let thoughts = &subject.thoughts;
    if let (Some(median), Some(slowest)) = (median(thoughts), thoughts.iter().max()) {
        outcome = outcome
            .with_time(StageFigure::MedianUs, median)
            .with_time(StageFigure::SlowestUs, *slowest);
    }
    Ok(outcome)
}

impl Played {
    /// Games from one seat, until there is a foul or no time is left.
    async fn play_seat(
        &mut self,
        examiner: &mut Examiner<'_>,
        subject: &mut Subject,
        seat: Seat,
        share: Duration,
    ) -> Result<(), CheckError> {
        let end = Instant::now() + share;
        let rounds = if examiner.options.quick { 1 } else { 2 };
        for round in 0..rounds {
            if round > 0 && Instant::now() >= end {
                break;
            }
            let options = PlayOptions {
                leave_at: Some(end),
                hasty: subject.is_hasty(),
                ..PlayOptions::default()
            };
            examiner.make_room(subject, 1).await;
            let setting = examiner.setting(subject.kind, 0, seat);
            let mut seen = examiner.play_one(&setting, &options).await?;
            subject.learn(&seen);
            subject.thoughts.append(&mut seen.thoughts);
            subject.own_thoughts.append(&mut seen.own_thoughts);
            self.games += 1;
            self.cut += usize::from(seen.cut_short);
            let finding = examiner.foul_of(&setting, &mut seen).await?;
            let (Some(mut finding), Some(foul)) = (finding, seen.foul) else {
                self.before.truncate(1);
                self.before.push(setting);
                continue;
            };
            if examiner.host.is_started_by_us()
                && is_of_games_before(examiner, &self.before, &setting, foul.kind(), share).await?
            {
                finding.name = FindingName::SecondGame;
                if let Evidence::Foul(ObservedFoul { circumstance, .. }) = &mut finding.evidence {
                    *circumstance = Circumstance::SecondGame(seat);
                }
            }
            if self.findings.iter().all(|known| known.name != finding.name) {
                self.findings.push(finding);
            }
            examiner.host.renew().await;
            self.before.truncate(1);
            break;
        }
        Ok(())
    }
}

/// True if the foul comes from what earlier games left in the process: a new process plays this
/// game without it, and another one, which plays the earlier games first, commits it. Both are
/// tried twice, so that a bot that fails at random is told from it.
async fn is_of_games_before(
    examiner: &mut Examiner<'_>,
    before: &[GameSetting],
    setting: &GameSetting,
    foul: FoulKind,
    share: Duration,
) -> Result<bool, CheckError> {
    for _ in 0..2 {
        examiner.host.renew().await;
        if foul_in(examiner, setting, share).await?.is_some() {
            return Ok(false);
        }
        examiner.host.renew().await;
        let mut committed = None;
        for (played, setting) in before.iter().chain([setting]).enumerate() {
            committed = foul_in(examiner, setting, share).await?;
            if committed.is_some() && played > 0 {
                break;
            }
        }
        if committed != Some(foul) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The foul with which it plays this game, of which so much is seen.
async fn foul_in(
    examiner: &mut Examiner<'_>,
    setting: &GameSetting,
    share: Duration,
) -> Result<Option<FoulKind>, CheckError> {
    let options = PlayOptions {
        leave_at: Some(Instant::now() + share),
        ..PlayOptions::default()
    };
    let seen = examiner.play_one(setting, &options).await?;
    Ok(seen.foul.as_ref().map(Foul::kind))
}
