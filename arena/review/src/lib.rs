//! Looks at a game: [`evaluate`] says what each seat can expect of a position, [`course`] how that
//! changed over a game that was played, [`explain`] finds the move that turned it, [`line`] how a bot
//! would have gone on, [`rerun`] asks another bot what a seat was asked. Results are data; nothing here prints.
//!
//! It knows no bot: one that plays on in this process is handed in as an [`InProcessBot`].

#![forbid(unsafe_code)]

mod error;
mod evaluate;
mod explain;
mod line;
mod parallel;
mod playouts;
mod plies;
mod rerun;
mod search;

pub use arena_events::replay::ExpectedScore;
pub use error::ReviewError;
pub use evaluate::{PositionJudge, course, deals, evaluate};
pub use explain::{
    ExplainBy, ExplainOptions, ExplainedMove, Explanation, explain, explain_seat, is_sure,
};
pub use line::line;
pub use playouts::{BotError, InProcessBot, InProcessSeat, expected};
pub use rerun::{RerunReport, RerunRequest, rerun};
pub use search::SEARCHES;
