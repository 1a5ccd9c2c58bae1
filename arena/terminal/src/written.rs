//! Positions and set-ups as arguments: they may begin with `-`.

use std::ffi::OsStr;

use arena_tournament::closest;
use clap::{
    Arg, Command, Error,
    builder::{StringValueParser, TypedValueParser},
    error::{ContextKind, ContextValue, ErrorKind},
};
use referee_games::{GAMES, game_name};

/// Reads an argument that may begin with `-`, as a position does whose first square is empty. It goes
/// with `allow_hyphen_values`, by which clap takes every word for the value: a word that looks like
/// an option is refused here as clap would refuse it elsewhere.
#[derive(Clone, Copy)]
pub struct Written;

impl TypedValueParser for Written {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        if !is_option(&text) {
            return Ok(text);
        }
        let option = arg.filter(|arg| !arg.is_positional());
        let Some(option) = option else {
            let mut error = Error::new(ErrorKind::UnknownArgument).with_cmd(command);
            let longs = command.get_arguments().filter_map(Arg::get_long);
            let name = text.trim_start_matches('-').split('=').next();
            let like = closest(name.unwrap_or_default(), &longs.collect::<Vec<_>>());
            if let Some(like) = like {
                let like = ContextValue::String(format!("--{like}"));
                error.insert(ContextKind::SuggestedArg, like);
            }
            error.insert(ContextKind::InvalidArg, ContextValue::String(text));
            return Err(error);
        };
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        let name = ContextValue::String(option.to_string());
        error.insert(ContextKind::InvalidArg, name);
        let nothing = ContextValue::String(String::new());
        error.insert(ContextKind::InvalidValue, nothing);
        Err(error)
    }
}

/// The help of an argument that is a set-up, with a line of named parts for each game.
#[must_use]
pub fn setup_help() -> String {
    let examples = GAMES.iter().filter_map(|kind| {
        let info = kind.info();
        Some(format!("{} {}", game_name(info.name), info.named_setup()?))
    });
    format!(
        "The game's set-up: parts with commas between, its notation, or JSON (docs/notation.md). \
         {} [default: the standard one].",
        examples.collect::<Vec<_>>().join("; ")
    )
}

/// True if it looks like an option: one or two hyphens and a word that has other letters than those
/// of a board.
fn is_option(text: &str) -> bool {
    let Some(name) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else {
        return false;
    };
    let name = name.split('=').next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        && name.contains(|c: char| !matches!(c, 'x' | 'o' | 'X' | 'O' | '-'))
        // The squares of a board in which a wrong sign stands.
        && name.len() < 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_no_option_and_an_option_no_position() {
        let empty = "-".repeat(64);
        for text in [
            &*format!("{empty} X"),
            &format!("-xo{} x", &empty[3..]),
            &format!("--xo{} x", &empty[4..]),
            &format!("--xoq{} x", &empty[5..]),
            "--xo--",
            "-",
            "--",
            "f5d6c3",
        ] {
            assert!(!is_option(text), "{text}");
        }
        for text in [
            "--time",
            "--tim=10s",
            "--openings",
            "-h",
            "-t",
            "--no-records",
        ] {
            assert!(is_option(text), "{text}");
        }
    }
}
