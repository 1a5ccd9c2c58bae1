//! Runs commands at the root of the repository, streamed or captured.

use std::{
    env,
    error::Error,
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
};

/// The result of every task: a failure is a sentence for a developer.
pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The folder of builds; all that xtask itself writes is below it.
pub(crate) fn target_dir() -> PathBuf {
    // Joining an absolute path gives that path.
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The cargo that runs us, with arguments that are separated by spaces.
pub(crate) fn cargo(args: &str) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(cargo);
    // What `cargo run` says about the package xtask. Some build scripts ask to
    // be run again when it changes, and then a build from here and one by hand
    // would undo each other.
    for (key, _) in env::vars_os() {
        if key.to_str().is_some_and(describes_a_package) {
            command.env_remove(key);
        }
    }
    command.args(args.split_whitespace());
    command
}

/// Any program, started at the root of the repository.
pub(crate) fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command with its output shown as it comes.
///
/// # Errors
/// It can't be started, or does not end in success.
pub(crate) fn stream(command: &mut Command) -> Result {
    let line = shown(command);
    eprintln!("$ {line}");
    let status = command
        .status()
        .map_err(|error| format!("could not run `{line}`: {error}"))?;
    success(status, &line)
}

/// Runs a command beside others: its output is shown as a whole when it has ended.
///
/// # Errors
/// As those of [`stream`].
pub(crate) fn beside(command: &mut Command) -> Result {
    let line = shown(command);
    let output = command
        .output()
        .map_err(|error| format!("could not run `{line}`: {error}"))?;
    let mut told = format!("$ {line}\n").into_bytes();
    told.extend(output.stdout);
    told.extend(output.stderr);
    std::io::stderr().write_all(&told)?;
    success(output.status, &line)
}

/// Some work of a [`side_by_side`].
pub(crate) type Work<'a> = Box<dyn FnOnce() -> Result + Send + 'a>;

/// Does several works at once, each to its end.
///
/// # Errors
/// The first of them that failed.
pub(crate) fn side_by_side(works: Vec<Work<'_>>) -> Result {
    let ended: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = works
            .into_iter()
            // An error can't be sent to another thread, its words can.
            .map(|work| scope.spawn(|| work().map_err(|error| error.to_string())))
            .collect();
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect()
    });
    for end in ended {
        end.map_err(|_| "a part has panicked")??;
    }
    Ok(())
}

/// Runs a command and gives what it wrote to its standard output.
///
/// # Errors
/// It can't be started, does not end in success (the message holds what it
/// wrote to its standard error), or writes what is not UTF-8.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command
        .output()
        .map_err(|error| format!("could not run `{line}`: {error}"))?;
    success(output.status, &line)
        .map_err(|error| format!("{error}\n{}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(String::from_utf8(output.stdout)?)
}

/// The files of a folder that git tracks, and new ones, so that a fault in them is found
/// before they are committed. Some may have been deleted since.
///
/// # Errors
/// git fails.
pub(crate) fn git_files(folder: &str) -> Result<Vec<String>> {
    let listing = "ls-files -z --cached --others --exclude-standard --";
    let files = capture(command("git").args(listing.split(' ')).arg(folder))?;
    Ok(files.split_terminator('\0').map(str::to_owned).collect())
}

/// The members of the workspace as cargo lists them: `name vX.Y.Z (folder)`, a
/// line each.
///
/// # Errors
/// Cargo can't read the workspace.
pub(crate) fn members() -> Result<String> {
    capture(&mut cargo(
        "tree --workspace --depth 0 --prefix none --format {p} --locked",
    ))
}

/// Runs a command that answers a yes-or-no question with its exit status.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn success(status: ExitStatus, line: &str) -> Result {
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{line}` failed ({status})").into())
    }
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program
        .file_name()
        .unwrap_or(command.get_program())
        .display()
        .to_string();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

fn describes_a_package(key: &str) -> bool {
    key.starts_with("CARGO_PKG_") || key.starts_with("CARGO_MANIFEST_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_an_error_that_names_it_and_quotes_it() {
        let mut git = command("git");
        git.arg("no-such-verb").env("LC_ALL", "C");
        let error = capture(&mut git).expect_err("git has no such verb");
        let error = error.to_string();
        assert!(error.starts_with("`git no-such-verb` failed"), "{error}");
        assert!(
            error.contains("is not a git command"),
            "not quoted: {error}"
        );
    }

    #[test]
    fn nested_cargo_does_not_inherit_the_package_xtask() {
        let removed: Vec<_> = cargo("tree")
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .filter_map(|(key, _)| key.to_str().map(str::to_owned))
            .collect();
        assert!(
            removed.contains(&"CARGO_MANIFEST_DIR".to_owned()),
            "{removed:?}"
        );
        assert!(
            removed.contains(&"CARGO_PKG_NAME".to_owned()),
            "{removed:?}"
        );
        assert!(!describes_a_package("CARGO_TARGET_DIR"));
        assert!(!describes_a_package("CARGO_HOME"));
    }
}
