//! `nim`: the program `arena` with one game more.

#![allow(clippy::print_stderr, reason = "a program")]

use std::process::ExitCode;

use nim::nim::Nim;
use referee_core::ListedGame;
use referee_games::GAMES;

static NIM: ListedGame<Nim> = ListedGame::new();

fn main() -> ExitCode {
    if let Err(error) = GAMES.add(&[&NIM]) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    arena_cli::main()
}
