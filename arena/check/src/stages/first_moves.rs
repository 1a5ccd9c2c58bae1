//! Stage `first-moves`: the first moves from every beginning but the usual one.

use std::time::Instant;

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee_core::{Foul, Piece, Seat};

use crate::{
    error::Halt,
    evidence::{Circumstance, Evidence, ObservedFoul},
    examiner::Examiner,
    finding::{Finding, name_of_foul},
    game::{GameSetting, PlayOptions},
    report::StageOutcome,
    subject::Subject,
};

pub(super) async fn first_moves(
    examiner: &mut Examiner<'_>,
    subject: &mut Subject,
) -> Result<StageOutcome, Halt> {
    let trials = subject.kind.trials();
    if trials.len() < 2 {
        return Ok(StageOutcome::skipped(SkipCause::NoOtherBeginnings));
    }
    let seats: Vec<Seat> = subject.seats().collect();
    let end = Instant::now() + examiner.options.patience / 2;
    let (mut tried, mut refused) = (0, 0);
    // Whether every foul so far was in a game that begins in the middle.
    let mut only_in_the_middle = examiner.entry.launcher().may_keep_globals();
    let mut findings: Vec<Finding> = Vec::new();
    for (trial, about) in trials.iter().enumerate().skip(1) {
        for turn in 0..seats.len() {
            // Each beginning is tried once, whatever the time.
            if turn > 0 && (examiner.options.quick || Instant::now() >= end) {
                break;
            }
            let seat = seats[(trial + turn) % seats.len()];
            let options = PlayOptions {
                leave_after: Some(3),
                leave_at: Some(end),
                hasty: subject.is_hasty(),
                ..PlayOptions::default()
            };
            examiner.make_room(subject, 1).await;
            let setting = examiner.setting(subject.kind, trial, seat);
            let mut seen = examiner.play_one(&setting, &options).await?;
            subject.learn(&seen);
            tried += 1;
            let Some(foul) = seen.foul.clone() else {
                continue;
            };
            examiner.must_be_there(Some(&foul)).await?;
            if examiner.entry.launcher().needs_empty_board() && foul.kind().is_start() {
                refused += 1;
                break;
            }
            only_in_the_middle &= begins_in_the_middle(&setting);
            // Any other foul has a finding of its own.
            let name = match foul {
                Foul::Illegal { .. } => FindingName::FirstMove,
                _ => name_of_foul(foul.kind()),
            };
            let beginning = (about.name, seat);
            let known = findings.iter_mut().find(|known| known.name == name);
            match known.map(|known| &mut known.evidence) {
                Some(Evidence::Foul(ObservedFoul {
                    circumstance: Circumstance::Beginnings(beginnings),
                    ..
                })) => beginnings.push(beginning),
                _ => {
                    let circumstance = Circumstance::Beginnings(vec![beginning]);
                    let kind = subject.kind;
                    let finding = examiner.foul_finding(name, kind, &mut seen, circumstance);
                    findings.extend(finding.await?);
                }
            }
            examiner.host.renew().await;
            break;
        }
    }
    for finding in &mut findings {
        finding.may_keep_globals = only_in_the_middle;
    }
    findings.extend(subject.after_game_over());
    let outcome = StageOutcome::found(findings)
        .with(StageFigure::Games, tried)
        .with(StageFigure::Beginnings, trials.len() - 1);
    Ok(match refused {
        0 => outcome,
        refused => outcome.with(StageFigure::Refused, refused),
    })
}

/// True if there are discs on the board before the first move.
fn begins_in_the_middle(setting: &GameSetting) -> bool {
    let Ok(table) = setting.kind.deal(&setting.setup, &setting.seed) else {
        return false;
    };
    let mut cells = table.scene().areas.into_iter().flat_map(|area| area.cells);
    cells.any(|cell| matches!(cell.piece, Piece::Disc { .. }))
}
