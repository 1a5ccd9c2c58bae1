//! Stage `at-once`: as many games at once as the bot says, all begun before the first
//! question.

use std::sync::Arc;

use arena_events::check::{FindingName, SkipCause, StageFigure};
use referee_core::Seat;
use tokio::sync::Barrier;

use super::MOST_AT_ONCE;
use crate::{
    error::Halt, evidence::Circumstance, examiner::Examiner, game::PlayOptions,
    report::StageOutcome, subject::Subject,
};

pub(super) async fn at_once(
    examiner: &mut Examiner<'_>,
    subject: &mut Subject,
) -> Result<StageOutcome, Halt> {
    let kind = subject.kind;
    let says = subject.max_games();
    let games = says.min(MOST_AT_ONCE);
    if games < 2 {
        return Ok(StageOutcome::skipped(SkipCause::OneGameAtATime));
    }
    let seats = usize::from(kind.info().seats);
    let options = PlayOptions {
        leave_after: Some(4),
        leave_at: Some(examiner.soon()),
        together: Some(Arc::new(Barrier::new(games))),
        hasty: subject.is_hasty(),
        ..PlayOptions::default()
    };
    examiner.all_closed().await;
    let settings: Vec<_> = (0..games)
        .map(|game| examiner.setting(kind, 0, Seat::new((game % seats) as u8)))
        .collect();
    let mut seen = examiner.play_all(&settings, &options).await?;
    let fouls = seen.iter().filter(|seen| seen.foul.is_some()).count();
    let Some(first) = seen.iter_mut().find(|seen| seen.foul.is_some()) else {
        return Ok(StageOutcome::default()
            .with(StageFigure::GamesAtOnce, games)
            .with(StageFigure::MaxGames, says));
    };
    examiner.must_be_there(first.foul.as_ref()).await?;
    subject.one_at_a_time = true;
    let circumstance = Circumstance::AtOnce { games, fouls };
    let finding = examiner.foul_finding(FindingName::TwoGames, kind, first, circumstance);
    Ok(StageOutcome::found(finding.await?))
}
