//! The Rust programs of images and releases: static, and without the names of folders of this
//! machine.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{arch::Arch, folder};
use crate::shell::{Result, cargo, root, stream, target_dir};

/// The profile that tests are built with. Its programs are taken as they are, with their
/// libraries, so that nothing is built twice.
pub(super) const TESTS: &str = "dev";

pub(super) const ARENA: Program = Program::binary("arena", "arena");
/// The program that `arena` becomes to serve.
pub(super) const SERVE: Program = Program::binary("arena-serve", "arena-serve");
pub(super) const REFEREE: Program = Program::binary("referee-cli", "referee");
pub(super) const BOT: Program = Program::binary("house-bots", "bot");
/// The first process of a bot's container. It is static whatever it is built for: it stands on the
/// C library of any base.
pub(super) const INIT: Program = Program::binary("bot-init", "bot-init");
pub(super) const SAMPLE: Program = Program::example("bot-kit", "random");
/// Loads objects that others have compiled, with the C library that they are linked with.
pub(super) const STRATEGY: Program = Program::binary("strategy-adapter", "strategy");

/// The programs of a release.
pub(super) const RELEASE: &[Program] = &[ARENA, SERVE, REFEREE, BOT];

/// The programs that are always built with the features of all of them, so that what they share is
/// compiled once, and each is the same whichever are asked for.
const TOGETHER: &[Program] = &[ARENA, SERVE, REFEREE, BOT, INIT, SAMPLE];

/// The separator of flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// A program of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Program {
    pub(super) package: &'static str,
    pub(super) name: &'static str,
    pub(super) is_example: bool,
}

/// The way in which programs are built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build<'a> {
    /// Cargo's profile.
    pub(super) profile: &'a str,
    pub(super) arch: Arch,
}

impl Program {
    const fn binary(package: &'static str, name: &'static str) -> Self {
        let is_example = false;
        Self {
            package,
            name,
            is_example,
        }
    }

    const fn example(package: &'static str, name: &'static str) -> Self {
        let is_example = true;
        Self {
            package,
            name,
            is_example,
        }
    }

    /// Cargo's options for the packages whose features it is built with.
    pub(super) fn packages(self) -> String {
        let together = if TOGETHER.contains(&self) {
            TOGETHER
        } else {
            &[self]
        };
        let packages = together.iter().map(|one| format!("-p {} ", one.package));
        packages.collect()
    }

    /// Cargo's option for it.
    fn option(self) -> String {
        let kind = if self.is_example { "example" } else { "bin" };
        format!("--{kind} {} ", self.name)
    }
}

impl Build<'_> {
    /// Builds these programs.
    ///
    /// # Errors
    /// They do not build.
    pub(super) fn run(self, programs: &[Program]) -> Result {
        let (mut together, mut apart) = (Vec::new(), Vec::new());
        for program in programs {
            match *program {
                // As the tests do; where those are built, nothing is left to build.
                program if self.profile == TESTS && program != INIT => {}
                program if TOGETHER.contains(&program) => together.push(program),
                program => apart.push(vec![program]),
            }
        }
        if self.profile == TESTS && programs.iter().any(|program| *program != INIT) {
            // It needs the same features.
            stream(&mut cargo("build --workspace --bins --examples --locked"))?;
        }
        for programs in [together].into_iter().chain(apart) {
            if let Some(first) = programs.first() {
                stream(&mut self.cargo(*first, &programs)?)?;
            }
        }
        Ok(())
    }

    /// True if its programs need no library of the machine that they run on.
    pub(super) fn is_static(self) -> bool {
        self.profile != TESTS
    }

    /// The path of a program that has been built.
    pub(super) fn path(self, program: Program) -> PathBuf {
        // The folder of the profile `dev` has another name.
        let (profile, is_tests) = match self.profile {
            TESTS => ("debug", true),
            profile => (profile, false),
        };
        let built = match is_tests && program != INIT {
            true => target_dir().join(profile),
            false => cargo_folder(program).join(self.arch.target()).join(profile),
        };
        match program.is_example {
            true => built.join("examples").join(program.name),
            false => built.join(program.name),
        }
    }

    /// The command that builds programs with the features of the first one.
    fn cargo(self, first: Program, programs: &[Program]) -> Result<std::process::Command> {
        let target = self.arch.target();
        let options: String = programs.iter().map(|program| program.option()).collect();
        let mut build = cargo(&format!(
            "build --locked --profile {} --target {target} {}{options}",
            self.profile,
            first.packages()
        ));
        let folder = cargo_folder(first);
        build.arg("--target-dir").arg(&folder);
        if self.arch != Arch::host()? {
            let variable = target.to_uppercase().replace('-', "_");
            build.env(format!("CARGO_TARGET_{variable}_LINKER"), self.arch.cc());
        }
        let paths = paths(&folder)?;
        // The names of functions are a fifth of a program. A panic names its line without them.
        let mut flags = vec!["-Cstrip=symbols".to_owned()];
        if first != STRATEGY {
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
        Ok(build)
    }
}

/// The folder in which a program is built. Those with other flags are built apart, so that neither
/// undoes the other.
fn cargo_folder(program: Program) -> PathBuf {
    folder().join(match program {
        STRATEGY => "cargo-linked",
        _ => "cargo",
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_built_alike_whichever_others_are_asked_for() {
        let arch = Arch::Arm64;
        let build = Build {
            profile: "dist",
            arch,
        };
        let line = |programs: &[Program]| {
            let command = build.cargo(programs[0], programs).unwrap();
            let words: Vec<_> = command
                .get_args()
                .filter_map(|word| word.to_str())
                .collect();
            words.join(" ")
        };
        let (alone, both) = (line(&[BOT]), line(&[ARENA, BOT]));
        assert_eq!(alone.replace("--bin bot", "--bin arena --bin bot"), both);
        assert!(alone.contains("-p arena -p arena-serve"), "{alone}");
        assert!(line(&[SAMPLE]).contains(" --example random "));
        assert!(RELEASE.iter().all(|program| TOGETHER.contains(program)));
    }

    #[test]
    fn a_program_that_loads_others_code_is_not_static() {
        let build = Build {
            profile: "dist",
            arch: Arch::host().unwrap(),
        };
        let is_static = |program| {
            let command = build.cargo(program, &[program]).unwrap();
            let flags = command
                .get_envs()
                .find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS");
            let flags = flags.and_then(|(_, value)| value?.to_str()).unwrap();
            flags.contains("+crt-static")
        };
        assert!(is_static(ARENA) && is_static(SAMPLE) && !is_static(STRATEGY));
    }
}
