//! Verbs of another program: `arena` becomes that program, as git becomes its commands.

use std::{env, os::unix::process::CommandExt as _, process::Command};

use anyhow::{Context as _, bail};
use arena_terminal::beside::PROGRAM;

use crate::End;

/// Becomes the program that serves, draws and speaks with clusters. It gets the words that were
/// typed, and reads them as they were read here.
///
/// # Errors
///
/// It is not there, or it can't be started.
pub(crate) fn go_on_as_serve() -> anyhow::Result<End> {
    let here = env::current_exe().context("could not find this program")?;
    let program = here.with_file_name(PROGRAM);
    if !program.exists() {
        let folder = here.parent().unwrap_or(&here).display();
        bail!(
            "the program {PROGRAM} does this, and it is not in {folder}: build it with `cargo build \
             --release -p {PROGRAM}`, and keep it in the folder of `arena`"
        );
    }
    let mut words = env::args_os();
    let mut command = Command::new(&program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    let error = command.args(words).exec();
    Err(error).with_context(|| format!("could not start {}", program.display()))
}
