//! `referee`: plays the games that it is asked to play.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::process::ExitCode;

use clap::Parser as _;
use referee_bots::EntryError;
use referee_cli::{
    End, Hidden, RefereeCommand, TryAgain, Usage,
    text::{print_help, tell},
    write_termination_message,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = Hidden::enter_sandbox() {
        return code;
    }
    let arguments = match RefereeCommand::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if error.use_stderr() {
                write_termination_message(&error.to_string());
            }
            return match print_help(&error) {
                Ok(()) => ExitCode::from(error.exit_code() as u8),
                Err(error) => {
                    tell(&format!("referee: {error:#}"));
                    End::Failed.into()
                }
            };
        }
    };
    arguments.log_format().begin("info");
    match arguments.run() {
        Ok(end) => end.into(),
        Err(error) => {
            let words = format!("referee: {error:#}");
            tell(&words);
            write_termination_message(&words);
            let end = if error.is::<Usage>() || error.is::<EntryError>() {
                End::Usage
            } else if error.is::<TryAgain>() {
                End::TryAgain
            } else {
                End::Failed
            };
            end.into()
        }
    }
}
