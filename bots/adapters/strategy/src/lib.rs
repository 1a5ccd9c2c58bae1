//! Plays a compiled Connect Four strategy as a bot: a shared object with the
//! classic `getPoint` and `clearPoint`, unchanged.
//!
//! [`adapter`] is the bot: it serves the game and does not load the object itself. For
//! each game it starts a process that runs [`host`], which loads the object and calls
//! it. A fault of the strategy ends that process and that game. There is no clock here:
//! a game whose stream is cancelled is dropped, and its process is killed with it.

#![allow(
    clippy::print_stderr,
    reason = "a program: its log is its standard error"
)]

mod adapter;
mod file;
mod host;
mod host_process;
mod object;
mod sandbox;
mod wire;

pub use adapter::{AdapterError, adapter};
pub use file::{EXPECTED, Strategy, StrategyError};
pub use host::host;

/// The game that strategies play.
pub const GAME: &str = "connect_four";
