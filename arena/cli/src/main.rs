//! `arena`: arranges games between bots and shows how they went.

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
