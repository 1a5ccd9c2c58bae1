//! `arena`: arranges games between bots and shows how they went.

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

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    arena_terminal::program::main::<Cli>()
}
