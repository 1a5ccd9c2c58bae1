//! Stage `deadlines`: how close to the limit the bot answers, and whether it obeys the limit
//! of a question. What it waits for a core is not counted: that depends on who else uses the
//! machine.

use std::time::Duration;

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee_bots::Interface;
use referee_core::Seat;

use crate::{
    error::Halt,
    evidence::Evidence,
    examiner::{Examiner, median},
    game::PlayOptions,
    report::StageOutcome,
    subject::Subject,
};

/// No limit is made shorter than this: it would measure the machine.
const SHORTEST_LIMIT: Duration = Duration::from_millis(100);

pub(super) async fn deadlines(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
) -> Result<StageOutcome, Halt> {
    let limit = examiner.options.limits.per_move;
    let Some(slowest) = subject.thoughts.iter().max().copied() else {
        return Ok(StageOutcome::skipped(SkipCause::AskedNothing));
    };
    let own = subject.own_thoughts.iter().max().copied();
    let own = own.unwrap_or(slowest);
    let mut findings = Vec::new();
    if own > limit * 4 / 5 {
        let thought = own;
        let slow = Evidence::SlowAnswer { thought, limit };
        findings.push(subject.finding(FindingName::CloseToLimit, slow));
    }
    let mut outcome = StageOutcome::found(findings)
        .with_time(StageFigure::SlowestUs, slowest)
        .with_time(StageFigure::LimitUs, limit);
    let short = (limit / 10).max(SHORTEST_LIMIT);
    // A strategy is not told the limit, and an engine whole seconds, so they can't obey another one.
    let is_told = match examiner.entry.launcher().interface() {
        Interface::Protocol | Interface::Lines | Interface::Agent => true,
        Interface::Strategy | Interface::Engine => false,
    };
    if short > limit / 2 || own < short / 2 || !is_told {
        return Ok(outcome);
    }
    examiner.make_room(subject, 1).await;
    let mut setting = examiner.setting(subject.kind, 0, Seat::new(0));
    setting.limits.per_move = short;
    let options = PlayOptions {
        leave_after: Some(5),
        judged_by: Some(limit),
        hasty: subject.is_hasty(),
        ..PlayOptions::default()
    };
    let mut seen = examiner.play_one_or_halt(&setting, &options).await?;
    let findings = &mut outcome.findings;
    findings.extend(examiner.foul_of(&setting, &mut seen).await?);
    // One answer may be late for some other reason, but not most of them.
    let usual = median(&seen.own_thoughts).unwrap_or_default();
    if usual >= short {
        let evidence = Evidence::ShorterLimit {
            limit: short,
            thought: usual,
        };
        findings.push(subject.finding(FindingName::IgnoresLimit, evidence));
    }
    Ok(outcome
        .with_time(StageFigure::ShortLimitUs, short)
        .with_time(StageFigure::UnderShortLimitUs, usual))
}
