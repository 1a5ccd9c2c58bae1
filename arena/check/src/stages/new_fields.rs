//! Stage `new-fields`: fields and a notice that the bot can't know.

use arena_events::check::FindingName;
use referee_core::Seat;

use crate::{
    error::Halt, evidence::Circumstance, examiner::Examiner, game::PlayOptions,
    report::StageOutcome, subject::Subject,
};

pub(super) async fn new_fields(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
) -> Result<StageOutcome, Halt> {
    let kind = subject.kind;
    let options = PlayOptions {
        leave_after: Some(4),
        leave_at: Some(examiner.soon()),
        unknown_fields: true,
        hasty: subject.is_hasty(),
        ..PlayOptions::default()
    };
    examiner.make_room(subject, 1).await;
    let setting = examiner.setting(kind, 0, Seat::new(0));
    let mut seen = examiner.play_one(&setting, &options).await?;
    examiner.must_be_there(seen.foul.as_ref()).await?;
    let (name, usual) = (FindingName::FutureField, Circumstance::Usual);
    let finding = examiner.foul_finding(name, kind, &mut seen, usual);
    Ok(StageOutcome::found(finding.await?))
}
