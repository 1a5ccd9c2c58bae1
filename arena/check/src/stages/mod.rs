//! The stages of a check, a file for each.

mod at_once;
mod calls;
mod cancelled;
mod deadlines;
mod discovery;
mod first_moves;
mod memory;
mod new_fields;
mod output;
mod resumed;
mod start;
mod stop;
mod whole_games;

use arena_events::check::CheckStage;

pub(crate) use self::{
    output::output,
    start::{Start, not_started},
    stop::stop,
};
use crate::{error::Halt, examiner::Examiner, report::StageOutcome, subject::Subject};

/// Largest number of games that are played at once, whatever the bot says.
const MOST_AT_ONCE: usize = 16;

/// Carries out a stage of a game, one of `of` games. `is_broken` says that the bot has
/// fouled in a whole game.
pub(crate) async fn of_game(
    examiner: &mut Examiner<'_>,
    subject: &mut Subject,
    stage: CheckStage,
    of: u32,
    is_broken: bool,
) -> Result<StageOutcome, Halt> {
    match stage {
        CheckStage::Discovery => discovery::discovery(examiner, subject).await,
        CheckStage::WholeGames => whole_games::whole_games(examiner, subject).await,
        CheckStage::FirstMoves => first_moves::first_moves(examiner, subject).await,
        CheckStage::Calls => Ok(calls::calls(subject, is_broken)),
        CheckStage::Resumed => resumed::resumed(examiner, subject).await,
        CheckStage::NewFields => new_fields::new_fields(examiner, subject).await,
        CheckStage::AtOnce => at_once::at_once(examiner, subject).await,
        CheckStage::Deadlines => deadlines::deadlines(examiner, subject).await,
        CheckStage::Cancelled => cancelled::cancelled(examiner, subject).await,
        CheckStage::Memory => memory::memory(examiner, subject, of).await,
        CheckStage::Start | CheckStage::Stop | CheckStage::Output => {
            unreachable!("stages of the program")
        }
    }
}
