//! A SPEC of a program that reads and writes lines: a dialect, a command, and parameters of the
//! adapter.

use std::{fmt, num::NonZeroU32, str::FromStr};

use crate::{GtpOptions, ProgramCommand};

/// A program that reads and writes lines, and how its adapter plays it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSpec {
    /// The program.
    pub command: ProgramCommand,
    /// What it speaks.
    pub dialect: LineDialect,
    /// True if one process plays many games, one after another.
    pub keep: bool,
    /// Number of games that are played at once, each by a process of its own.
    pub max_games: NonZeroU32,
}

/// What a program speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineDialect {
    /// JSON, in every game.
    Stdio,
    /// GTP, in Othello.
    Gtp(GtpOptions),
}

/// The reason why a text is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineSpecError {
    /// There is no such dialect.
    #[error("there is no dialect \"{0}\": expected stdio or gtp")]
    Dialect(String),
    /// There is no command.
    #[error("expected a command, as in python3 my_bot.py")]
    NoCommand,
    /// A quotation mark is not closed.
    #[error("a quotation mark is not closed")]
    Quotation,
    /// There is no file.
    #[error("expected a file, as in submission.py")]
    NoFile,
    /// A time is not a number of seconds.
    #[error("time: expected a number of seconds, or 0 for none, found \"{0}\"")]
    Seconds(String),
    /// A parameter is not a number.
    #[error("{name}: expected a number from 1, found \"{found}\"")]
    Number {
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
    },
}

impl LineDialect {
    /// The names of the dialects.
    pub const NAMES: [&str; 2] = ["stdio", "gtp"];

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stdio => Self::NAMES[0],
            Self::Gtp(_) => Self::NAMES[1],
        }
    }
}

impl FromStr for LineDialect {
    type Err = LineSpecError;

    fn from_str(name: &str) -> Result<Self, LineSpecError> {
        [Self::Stdio, Self::Gtp(GtpOptions::default())]
            .into_iter()
            .find(|dialect| dialect.name() == name)
            .ok_or_else(|| LineSpecError::Dialect(name.to_owned()))
    }
}

impl LineSpec {
    /// Reads `COMMAND?keep&max-games=4`. A question mark is a part of the command unless all that
    /// follows it are parameters of this dialect.
    ///
    /// # Errors
    ///
    /// What was expected.
    pub fn read(dialect: LineDialect, text: &str) -> Result<Self, LineSpecError> {
        let is_parameter = |name: &str, has_value: bool| match name {
            "keep" => !has_value,
            "max-games" => has_value,
            "time" | "setup" => has_value && dialect != LineDialect::Stdio,
            _ => false,
        };
        let (command, parameters) = split_parameters(text, is_parameter);
        let mut words = shlex::split(command)
            .ok_or(LineSpecError::Quotation)?
            .into_iter();
        let program = words.next().ok_or(LineSpecError::NoCommand)?;
        let mut spec = Self {
            command: ProgramCommand {
                program,
                arguments: words.collect(),
            },
            dialect,
            keep: false,
            max_games: NonZeroU32::MIN,
        };
        for (name, value) in parameters {
            match (name, value, &mut spec.dialect) {
                (_, None, _) => spec.keep = true,
                ("max-games", Some(games), _) => spec.max_games = number("max-games", games)?,
                ("time", Some(seconds), LineDialect::Gtp(options)) => {
                    let found = || LineSpecError::Seconds(seconds.to_owned());
                    options.time = Some(seconds.parse().map_err(|_| found())?);
                }
                (_, Some(setup), LineDialect::Gtp(options)) => {
                    options.setup = Some(setup.to_owned());
                }
                (_, Some(_), LineDialect::Stdio) => {}
            }
        }
        Ok(spec)
    }

    /// The SPEC with another command, the program and its arguments; none where that can't be
    /// written.
    #[must_use]
    pub fn with_command(&self, words: &[String]) -> Option<String> {
        let command = shlex::try_join(words.iter().map(String::as_str)).ok()?;
        let mut parameters = Vec::new();
        if self.keep {
            parameters.push("keep".to_owned());
        }
        if self.max_games != NonZeroU32::MIN {
            parameters.push(format!("max-games={}", self.max_games));
        }
        if let LineDialect::Gtp(GtpOptions { time, setup }) = &self.dialect {
            parameters.extend(time.map(|time| format!("time={time}")));
            parameters.extend(setup.as_ref().map(|setup| format!("setup={setup}")));
        }
        let dialect = self.dialect.name();
        Some(with_parameters(format!("{dialect}:{command}"), &parameters))
    }

    /// The words of the adapter's command line: the dialect, its options, `--` and the command.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut words = vec![
            self.dialect.name().to_owned(),
            format!("--max-games={}", self.max_games),
        ];
        if self.keep {
            words.push("--keep".to_owned());
        }
        if let LineDialect::Gtp(GtpOptions { time, setup }) = &self.dialect {
            words.extend(time.map(|time| format!("--time={time}")));
            words.extend(setup.as_ref().map(|setup| format!("--setup={setup}")));
        }
        words.extend(["--".to_owned(), self.command.program.clone()]);
        words.extend(self.command.arguments.iter().cloned());
        words
    }
}

/// What a text has before a last question mark, and the parameters after it with their values.
/// Unless all of them are parameters, the question mark is a part of the first.
pub(crate) fn split_parameters(
    text: &str,
    is_parameter: impl Fn(&str, bool) -> bool,
) -> (&str, Vec<(&str, Option<&str>)>) {
    let Some((first, rest)) = text.rsplit_once('?') else {
        return (text, Vec::new());
    };
    let parameters = rest.split('&').map(|one| match one.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (one, None),
    });
    let parameters: Vec<_> = parameters.collect();
    match parameters
        .iter()
        .all(|(name, value)| is_parameter(name, value.is_some()))
    {
        true => (first, parameters),
        false => (text, Vec::new()),
    }
}

/// What [`split_parameters`] takes apart.
pub(crate) fn with_parameters(first: String, parameters: &[String]) -> String {
    match parameters.is_empty() {
        true => first,
        false => format!("{first}?{}", parameters.join("&")),
    }
}

pub(crate) fn number(name: &'static str, text: &str) -> Result<NonZeroU32, LineSpecError> {
    text.parse().map_err(|_| LineSpecError::Number {
        name,
        found: text.to_owned(),
    })
}

impl fmt::Display for ProgramCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [&self.program].into_iter().chain(&self.arguments);
        let words = shlex::try_join(words.map(String::as_str));
        f.write_str(&words.unwrap_or_else(|_| self.program.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio(text: &str) -> Result<LineSpec, LineSpecError> {
        LineSpec::read(LineDialect::Stdio, text)
    }

    #[test]
    fn parameters_stand_after_the_command() {
        for (text, command, keep, max_games) in [
            ("python3 bot.py", "python3 bot.py", false, 1),
            (
                "python3 'my bot.py' --fast?keep",
                "python3 'my bot.py' --fast",
                true,
                1,
            ),
            ("./bot?max-games=4&keep", "./bot", true, 4),
            ("./bot --pattern 'a?b'", "./bot --pattern 'a?b'", false, 1),
            ("./bot?time=1", "'./bot?time=1'", false, 1),
        ] {
            let spec = stdio(text).unwrap();
            let found = (spec.command.to_string(), spec.keep, spec.max_games.get());
            assert_eq!(found, (command.to_owned(), keep, max_games), "{text}");
        }
    }

    #[test]
    fn an_engine_has_a_time_and_a_command_for_positions() {
        let dialect = || "gtp".parse().unwrap();
        let spec = LineSpec::read(dialect(), "edax -gtp?time=2&setup=setboard").unwrap();
        let expected = LineDialect::Gtp(GtpOptions {
            time: Some(2),
            setup: Some("setboard".to_owned()),
        });
        assert_eq!(spec.dialect, expected);
        let words = [
            "gtp",
            "--max-games=1",
            "--time=2",
            "--setup=setboard",
            "--",
            "edax",
            "-gtp",
        ];
        assert_eq!(spec.arguments(), words);
        let other = ["./my edax".to_owned(), "-gtp".to_owned()];
        let other = spec.with_command(&other).unwrap();
        assert_eq!(other, "gtp:'./my edax' -gtp?time=2&setup=setboard");
        let error = LineSpec::read(dialect(), "edax?time=0.5").unwrap_err();
        assert_eq!(
            error.to_string(),
            "time: expected a number of seconds, or 0 for none, found \"0.5\""
        );
    }

    #[test]
    fn what_is_no_command_is_refused() {
        let number = LineSpecError::Number {
            name: "max-games",
            found: "0".to_owned(),
        };
        for (text, error) in [
            ("", LineSpecError::NoCommand),
            ("?keep", LineSpecError::NoCommand),
            ("python3 'bot.py", LineSpecError::Quotation),
            ("./bot?max-games=0", number),
        ] {
            assert_eq!(stdio(text), Err(error), "{text}");
        }
        assert!("uci".parse::<LineDialect>().is_err());
    }
}
