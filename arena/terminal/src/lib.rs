//! The command lines of the arena's programs, and the display of a run on a terminal. `arena` does
//! most of it; what needs the page, pictures or a cluster is done by the program `arena-serve`
//! beside it, whose arguments are here ([`beside`]), so that both read them in one way.

#![forbid(unsafe_code)]

mod address;
pub mod beside;
mod built_in;
pub mod draw;
mod format;
mod games;
mod hints;
mod limits;
mod logs;
pub mod metrics;
mod metrics_at;
mod output;
mod position;
pub mod program;
pub mod queue;
pub mod report;
mod reporter;
pub mod secrets;
pub mod show;
mod store_at;
mod written;

pub use built_in::BuiltIn;
pub use format::Format;
pub use games::{FoundGame, FoundGames, GameArgs, ListedGame, MOST_LISTED, Occasions};
pub use hints::{advice, words as hint_words};
pub use limits::{move_limit, start_limit, worker_name};
pub use logs::logs_of_tournament;
pub use metrics_at::{MetricsAt, MetricsListener};
pub use output::{ExportOutput, OutputFile};
pub use position::{NotReplayed, position};
pub use reporter::{GameEvent, Reporter, SeenOfRun};
pub use store_at::StoreAt;
pub use written::{Written, setup_help};
