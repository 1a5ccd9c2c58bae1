//! The life of a program: arguments, log, errors in words, exit codes.

use std::{error::Error as _, io, os::fd::AsFd as _, process::ExitCode};

use arena_tournament::TournamentError;
use clap::{
    Parser,
    error::{ContextKind, ErrorKind},
};
use nix::{
    libc::EIO,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use referee_bots::EntryError;
use referee_cli::{
    End, Hidden, LogFormat, TryAgain, Usage,
    text::{flush, print_help, tell},
};
use referee_core::{SetupError, expected_number, printable_lines};
use referee_games::{GAMES, game_name};

use crate::{NotReplayed, secrets};

/// Most verbs below one that are named where it is given none of them.
const MOST_VERBS: usize = 15;

/// The command line of a program.
pub trait CommandLine: Parser {
    /// Format of log lines.
    fn log_format(&self) -> LogFormat;

    /// Does what was typed.
    ///
    /// # Errors
    ///
    /// What was typed is wrong, or it failed.
    fn run(self) -> anyhow::Result<End>;

    /// Advice to users of other programs, for something that this one does not have.
    fn meant(_: &clap::Error) -> Option<&'static str> {
        None
    }
}

/// Reads the command line and does what it says: the whole of a program's `main`.
pub fn main<C: CommandLine>() -> ExitCode {
    if let Some(code) = Hidden::enter_sandbox() {
        return code;
    }
    secrets::hide();
    let command = match C::try_parse() {
        Ok(command) => command,
        Err(mut error) => {
            if let Err(error) = print::<C>(&mut error) {
                return failed(&error);
            }
            if let Some(meant) = C::meant(&error) {
                tell(&format!("\nhere it is: {meant}"));
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    // Our own pictures have styles for screens, of which the reader of SVG would warn.
    command.log_format().begin("warn,simplecss=error");
    match command.run().and_then(|end| flush().map(|()| end)) {
        Ok(end) => end.into(),
        Err(error) => failed(&error),
    }
}

/// Says why the program has failed, and gives its exit code.
fn failed(error: &anyhow::Error) -> ExitCode {
    if is_unread(error) {
        return End::Interrupted.into();
    }
    tell(&format!("arena: {}", in_words(error)));
    let end = if is_usage(error) {
        End::Usage
    } else if error.is::<NotReplayed>() {
        End::No
    } else if error.is::<TryAgain>() {
        End::TryAgain
    } else {
        End::Failed
    };
    end.into()
}

/// Prints help, or what is wrong with a command line and what would be taken.
fn print<C: CommandLine>(error: &mut clap::Error) -> anyhow::Result<()> {
    // The nearest of a few verbs is none of them.
    if error
        .get(ContextKind::SuggestedSubcommand)
        .is_some_and(|verb| verb.to_string() == "help")
    {
        error.remove(ContextKind::SuggestedSubcommand);
    }
    let Some(said) = error.source().map(ToString::to_string) else {
        print_help(error)?;
        if let Some(expected) = expected::<C>(error) {
            tell(&format!("\n{expected}"));
        }
        return Ok(());
    };
    let mut text = error.render().ansi().to_string();
    if let Some((words, example)) = expected_number(&said) {
        let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string);
        let option = argument
            .as_deref()
            .and_then(|argument| argument.split(' ').next());
        let option = option.filter(|option| option.starts_with('-'));
        let line = option.map_or_else(String::new, |option| format!("{option} "));
        text = text.replace(&said, &format!("{words}, as in {line}{example}"));
    }
    tell(text.trim_end());
    Ok(())
}

/// What was expected instead, where clap does not say it: the verbs below one, or the games.
fn expected<C: CommandLine>(error: &clap::Error) -> Option<String> {
    let mut command = C::command();
    let mut line = command.get_name().to_owned();
    for word in std::env::args().skip(1) {
        let Some(below) = command.find_subcommand(&word) else {
            continue;
        };
        line += &format!(" {}", below.get_name());
        command = below.clone();
    }
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let below = command.get_subcommands().filter(|verb| !verb.is_hide_set());
            let names: Vec<&str> = below.map(clap::Command::get_name).collect();
            (names.len() <= MOST_VERBS).then(|| format!("{line}: expected {}", either(&names)))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = error.get(ContextKind::InvalidArg)?.to_string();
            if !missing.contains("<GAME>") {
                return None;
            }
            let games = GAMES.iter().map(|kind| game_name(kind.info().name));
            let games: Vec<String> = games.collect();
            let bots = match missing.contains("--bot") {
                true => " --bot me=exec:./my_bot --bot house:random",
                false => "",
            };
            let names: Vec<&str> = games.iter().map(String::as_str).collect();
            let first = names.first()?;
            let names = either(&names);
            Some(format!(
                "expected the game: {names}, as in\n  {line} {first}{bots}"
            ))
        }
        _ => None,
    }
}

/// `a, b or c`
fn either(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        names => names.concat(),
    }
}

/// An error in words. It may quote a file, an answer of a database, or a name.
fn in_words(error: &anyhow::Error) -> String {
    const LONGEST_LINE: usize = 2000;
    const MOST_LINES: usize = 50;
    let words = printable_lines(&format!("{error:#}"));
    let lines = words.lines().take(MOST_LINES);
    let lines: Vec<String> = lines
        .map(|line| referee_core::shorten(line, LONGEST_LINE))
        .collect();
    lines.join("\n")
}

/// True if the mistake is in what was asked for.
fn is_usage(error: &anyhow::Error) -> bool {
    let tournament = error.downcast_ref::<TournamentError>();
    error.is::<Usage>()
        || error.is::<EntryError>()
        || error.is::<SetupError>()
        || tournament.is_some_and(TournamentError::is_usage)
}

/// True if whoever read our output has read enough, or the terminal is gone: that needs no words.
fn is_unread(error: &anyhow::Error) -> bool {
    let errors = error.chain().filter_map(|cause| cause.downcast_ref());
    let mut errors = errors.map(|error: &io::Error| (error.kind(), error.raw_os_error()));
    errors.any(|error| match error {
        (io::ErrorKind::BrokenPipe, _) => true,
        (_, Some(EIO)) => has_hung_up(),
        _ => false,
    })
}

/// True if standard output is a terminal that is gone.
fn has_hung_up() -> bool {
    let output = io::stdout();
    // Of that the system tells unasked.
    let mut nothing = [PollFd::new(output.as_fd(), PollFlags::empty())];
    poll(&mut nothing, PollTimeout::ZERO).is_ok_and(|told| told > 0)
}
