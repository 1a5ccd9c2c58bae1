//! Bots that are commands: `exec:python3 my_bot.py`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Launcher, Reach, Scheme, Trust, identity::file_of_command, is_label, needs::needs_of_file,
    stays_in_folder,
};

/// A program and its arguments; there is at least the program.
#[derive(Clone, Debug)]
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// A program, and its arguments.
    #[must_use]
    pub fn new(program: String, arguments: Vec<String>) -> Self {
        Self([vec![program], arguments].concat())
    }
}

pub(crate) fn scheme() -> Scheme {
    Scheme {
        prefixes: &["exec:"],
        form: "exec:COMMAND",
        names: Vec::new(),
        read: Box::new(|spec, rest| match shlex::split(rest) {
            Some(words) if !words.is_empty() => Ok(Arc::new(CommandLine(words))),
            Some(_) => Err("exec: expected a command, as in exec:./my_bot --fast".to_owned()),
            None => Err(format!("{spec}: a quotation mark is not closed")),
        }),
    }
}

/// Checks that a file is not named by a `~` that no shell has replaced.
///
/// # Errors
///
/// What to write instead.
pub fn check_home(file: &Path, directory: &Path) -> Result<(), String> {
    let Ok(rest) = file.strip_prefix("~") else {
        return Ok(());
    };
    if directory.join(file).exists() {
        return Ok(());
    }
    Err(format!(
        "a shell replaces ~ only where a word begins; write $HOME/{}",
        rest.display()
    ))
}

impl Launcher for CommandLine {
    fn default_name(&self) -> String {
        let stem = Path::new(&self.0[0]).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    fn trust(&self) -> Trust {
        Trust::Process
    }

    fn reach(&self) -> Reach {
        Reach::Program {
            program: self.0[0].clone().into(),
            arguments: self.0[1..].iter().map(Into::into).collect(),
        }
    }

    fn check_files(&self, directory: &Path) -> Result<(), String> {
        check_home(Path::new(&self.0[0]), directory).map_err(|why| format!("{}: {why}", self.0[0]))
    }

    fn program_file(&self, directory: &Path) -> Option<PathBuf> {
        file_of_command(&self.0, directory)
    }

    fn needs(&self, directory: &Path) -> Vec<String> {
        let program = &self.0[0];
        let needed = match program.contains('/') {
            true => needs_of_file(&directory.join(program)),
            false => Some(program.clone()).filter(|program| is_label(program)),
        };
        needed.into_iter().collect()
    }

    fn with_command(&self, words: &[String]) -> Option<String> {
        let command = shlex::try_join(words.iter().map(String::as_str)).ok()?;
        Some(format!("exec:{command}"))
    }

    fn check_packed(&self) -> Result<(), String> {
        stays_in_folder(Path::new(&self.0[0])).map_err(|why| {
            format!("{why}; a program of the machine is named without its folder, as in python3")
        })
    }
}
