//! The Rust programs of images: static, and without the names of folders of this machine.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::folder;
use crate::shell::{Result, capture, cargo, command, root, stream, target_dir};

/// The profile that tests are built with. Its programs are taken as they are, with their
/// libraries, so that nothing is built twice.
pub(super) const TESTS: &str = "dev";

/// The first process of a bot's container. It is static whatever it is built for: it stands on the
/// C library of any base.
pub(super) const INIT: Program = Program::binary("bot-init", "bot-init");

/// Loads objects that others have compiled, with the C library that they are linked with.
pub(super) const STRATEGY: Program = Program::binary("strategy-adapter", "strategy");

/// The separator of flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// A program of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) package: &'static str,
    pub(super) name: &'static str,
    pub(super) is_example: bool,
}

impl Program {
    pub(super) const fn binary(package: &'static str, name: &'static str) -> Self {
        let is_example = false;
        Self {
            package,
            name,
            is_example,
        }
    }

    pub(super) const fn example(package: &'static str, name: &'static str) -> Self {
        let is_example = true;
        Self {
            package,
            name,
            is_example,
        }
    }

    /// Its path when it has been built.
    fn within(self, built: &Path) -> PathBuf {
        match self.is_example {
            true => built.join("examples").join(self.name),
            false => built.join(self.name),
        }
    }
}

/// Builds all programs as the tests do; where those are built, nothing is left to build.
///
/// # Errors
/// They do not build.
pub(super) fn build_for_tests() -> Result {
    // It needs the same features.
    stream(&mut cargo("build --workspace --bins --examples --locked"))
}

/// Builds a program, except for those of the tests.
///
/// # Errors
/// It does not build.
pub(super) fn build(program: Program, profile: &str) -> Result<PathBuf> {
    if profile == TESTS && program != INIT {
        return Ok(program.within(&target_dir().join("debug")));
    }
    let target = target()?;
    // Programs with other flags are built apart, so that neither undoes the other.
    let folder = folder().join(if program == STRATEGY {
        "cargo-linked"
    } else {
        "cargo"
    });
    let kind = if program.is_example {
        "--example"
    } else {
        "--bin"
    };
    let (package, name) = (program.package, program.name);
    let mut build = cargo(&format!(
        "build --locked --profile {profile} --target {target} -p {package} {kind} {name}"
    ));
    build.arg("--target-dir").arg(&folder);
    let paths = paths(&folder)?;
    let mut flags = vec!["-Cstrip=debuginfo".to_owned()];
    if program != STRATEGY {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    flags.extend(
        paths
            .iter()
            .map(|path| format!("--remap-path-prefix={path}")),
    );
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR));
    // What is written in C has names of files in it too. Its build scripts split at spaces.
    let flags: Vec<_> = paths
        .iter()
        .map(|path| format!("-ffile-prefix-map={path}"))
        .collect();
    for variable in ["CFLAGS", "CXXFLAGS"] {
        build.env(variable, flags.join(" "));
    }
    stream(&mut build)?;
    // The folder of the profile `dev` has another name.
    let built = if profile == TESTS { "debug" } else { profile };
    Ok(program.within(&folder.join(target).join(built)))
}

/// This machine as cargo calls it; with the C library that can be linked statically.
///
/// # Errors
/// It is not Linux with glibc.
pub(super) fn target() -> Result<String> {
    let said = capture(command("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    match host {
        Some(host) if host.ends_with("-linux-gnu") => Ok(host.to_owned()),
        _ => Err(format!("images are built on Linux with glibc; this is {host:?}").into()),
    }
}

/// Folders of this machine that programs would name, and what they name instead. The later
/// ones come first.
fn paths(target: &Path) -> Result<Vec<String>> {
    let cargo = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => env::home_dir()
            .ok_or("found no home folder: set CARGO_HOME")?
            .join(".cargo"),
    };
    let replaced = [
        (root(), "/bot-arena"),
        (&cargo, "/cargo"),
        (target, "/target"),
    ];
    let paths = replaced.iter();
    Ok(paths
        .map(|(from, to)| format!("{}={to}", from.display()))
        .collect())
}
