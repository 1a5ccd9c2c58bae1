//! A bot as a process of its own: how it is started, watched, limited and ended.

mod child;
mod cleanup;
mod group;
mod launch;
mod logs;
mod memory;
mod socket;
mod watch;

pub(crate) use cleanup::remove_folder;
pub use group::LeftBehind;
pub use launch::{BotContainer, BotResource, BotSandbox, Launch, StartError};
pub use logs::{GAME_LOG_LIMIT, LOG_LIMIT};
pub(crate) use logs::{GameOutput, ProcessOutput};
pub use memory::{MemoryGauge, MemoryOptions};
pub use socket::folder_for_a_socket;
pub(crate) use watch::judged;
pub use watch::{BotProcess, STOP_GRACE, StopReport};
