//! Looks at a game that was played: [`explain`] finds the move that turned it, [`rerun`] asks
//! another bot what a seat was asked. Results are data; nothing here prints.
//!
//! It knows no bot: one that plays on in this process is handed in as an [`InProcessBot`].

#![forbid(unsafe_code)]

mod error;
mod explain;
mod playouts;
mod rerun;
mod search;

pub use error::ReviewError;
pub use explain::{ExplainOptions, ExplainedMove, Explanation, explain};
pub use playouts::{BotError, InProcessBot, InProcessSeat};
pub use rerun::{RerunReport, RerunRequest, rerun};
pub use search::SEARCHES;
