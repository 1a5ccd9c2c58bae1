//! The parts of the command line that every program has which starts bots: kinds of
//! bots, walls, cores, signals, and the hidden verbs that it starts itself with. The
//! programs are `referee` here and `arena`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: what two of them have in common"
)]

mod bot_at;
pub mod bots;
mod cache;
mod end;
pub mod files;
mod gate;
mod hidden;
mod host;
mod launch;
mod log;
pub mod net;
mod pin;
mod program;
mod reach;
mod runtime;
pub mod sandbox;
mod serve;
mod sockets;
pub mod stop;
mod termination;
pub mod text;
mod work;

pub use bot_at::{BotAt, BotAtArgs};
pub use cache::CacheArgs;
pub use end::{End, TryAgain, Usage, usage};
pub use gate::GateArgs;
pub use hidden::Hidden;
pub use host::{HostArgs, serve_until};
pub use launch::LaunchArgs;
pub use log::{LogFormat, LogFormatArgs};
pub use pin::PinArgs;
pub use program::RefereeCommand;
pub use reach::ReachArgs;
pub use runtime::{on_runtime, random_bytes};
pub use sockets::SocketsArgs;
pub use termination::write_termination_message;
pub use work::WorkArgs;
