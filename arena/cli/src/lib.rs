//! The program `arena`, for programs that play other games, too: they
//! [add](referee_games::GameList::add) these and call [`main`].

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests read what they have written"
    )
)]

mod beside;
mod classic;
mod play;
mod verbs;

use std::process::ExitCode;

pub(crate) use arena_terminal::{report, show};
pub(crate) use referee_cli::{End, Usage, bots, stop, usage};

use crate::verbs::Cli;

/// The whole program: reads arguments, does what they say, and gives the exit code. It is started
/// again by what it starts, so nothing else may be done in a program that calls it.
#[must_use]
pub fn main() -> ExitCode {
    arena_terminal::program::main::<Cli>()
}
