//! An adapter alone: `adapter stdio python3 my_bot.py`, a dialect and a command. It serves the
//! program as a bot where `BOT_LISTEN` says.

#![allow(clippy::print_stderr, reason = "a program")]

use std::{num::NonZeroU32, process::ExitCode};

use line_adapters::{LineSpec, LineSpecError, ProgramCommand, adapter};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let dialect = words.next().unwrap_or_default();
    let command = ProgramCommand {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
    };
    let spec = dialect.parse().map(|dialect| LineSpec {
        command,
        dialect,
        keep: false,
        max_games: NonZeroU32::MIN,
    });
    let served = spec
        .map_err(|error: LineSpecError| error.to_string())
        .and_then(|spec| adapter(&spec).map_err(|error| error.to_string()));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
