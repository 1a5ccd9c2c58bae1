//! Agents of Kaggle's ConnectX: a script in Python plays them by lines of JSON, a process for each
//! game as on Kaggle.

use std::num::NonZeroU32;

use referee_core::Game as _;
use referee_games::connect_four::ConnectFour;

use crate::{
    LineDialect, LineSpec, LineSpecError, ProgramCommand,
    spec::{number, split_parameters, with_parameters},
};

/// The script; its arguments are the agent's file and the name of its function. What an agent is
/// told, the kit for Python says too.
const SCRIPT: &str = concat!(
    include_str!("../../../python/src/bot_arena/_connectx.py"),
    "\n\n",
    include_str!("kaggle.py"),
);

/// An agent of Kaggle's ConnectX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KaggleSpec {
    /// Its file.
    pub file: String,
    /// The name of its function; by default the last thing in the file that can be called.
    pub function: Option<String>,
    /// Number of games that are played at once, each by a process of its own.
    pub max_games: NonZeroU32,
}

impl KaggleSpec {
    /// The game.
    pub const GAME: &str = ConnectFour::INFO.name;
    /// The program that runs the script.
    pub const PYTHON: &str = "python3";
    /// The board on Kaggle, as a set-up in the notation of the game: it has no forbidden cell,
    /// which an agent can't know.
    pub const SETUP: &str = "6x7";

    /// Reads `FILE.py?function=NAME&max-games=4`. A question mark is a part of the file's name
    /// unless all that follows it are parameters.
    ///
    /// # Errors
    ///
    /// What was expected.
    pub fn read(text: &str) -> Result<Self, LineSpecError> {
        let is_parameter =
            |name: &str, has_value: bool| matches!(name, "function" | "max-games") && has_value;
        let (file, parameters) = split_parameters(text, is_parameter);
        if file.is_empty() {
            return Err(LineSpecError::NoFile);
        }
        let mut spec = Self {
            file: file.to_owned(),
            function: None,
            max_games: NonZeroU32::MIN,
        };
        for (name, value) in parameters {
            match name {
                "function" => spec.function = value.map(str::to_owned),
                _ => spec.max_games = number("max-games", value.unwrap_or_default())?,
            }
        }
        Ok(spec)
    }

    /// The same agent in another file, as it is read.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        let function = self.function.iter();
        let mut parameters: Vec<String> = function.map(|name| format!("function={name}")).collect();
        if self.max_games != NonZeroU32::MIN {
            parameters.push(format!("max-games={}", self.max_games));
        }
        with_parameters(file.to_owned(), &parameters)
    }

    /// The program that reads and writes lines for it.
    #[must_use]
    pub fn lines(&self) -> LineSpec {
        let arguments = ["-c", SCRIPT, &self.file].map(str::to_owned);
        LineSpec {
            command: ProgramCommand {
                program: Self::PYTHON.to_owned(),
                arguments: arguments.into_iter().chain(self.function.clone()).collect(),
            },
            dialect: LineDialect::Stdio,
            keep: false,
            max_games: self.max_games,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_its_function_are_read() {
        let spec = KaggleSpec::read("my agents/a?b.py?function=act&max-games=3").unwrap();
        assert_eq!(spec.file, "my agents/a?b.py");
        assert_eq!(spec.function.as_deref(), Some("act"));
        assert_eq!(spec.in_file("c.py"), "c.py?function=act&max-games=3");
        let lines = spec.lines();
        assert_eq!(lines.command.arguments[2..], ["my agents/a?b.py", "act"]);
        assert_eq!(lines.max_games.get(), 3);
        let alone = KaggleSpec::read("a.py?keep").unwrap();
        assert_eq!(alone.file, "a.py?keep");
        assert_eq!(KaggleSpec::read(""), Err(LineSpecError::NoFile));
    }
}
