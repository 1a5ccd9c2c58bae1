//! Hints for the author of a bot that did not start: what may have been overlooked.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use referee_core::Foul;

use crate::{Entry, Reach};

/// A mistake that the author of a bot may have overlooked, as data: the caller puts it into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The program is a file that the system does not execute.
    NotExecutable {
        /// The file, as it was written.
        file: PathBuf,
        /// The program that runs such files, by the end of their names: `python3`.
        interpreter: Option<&'static str>,
    },
    /// The program is looked for in `PATH`; a file of this name lies in the folder that bots
    /// are run in.
    NotInPath {
        /// The file, as it was written.
        file: PathBuf,
    },
    /// The python that ran it lacks a package.
    MissingPackage {
        /// The program that was started, as it was written.
        python: PathBuf,
        /// The name of the package.
        package: String,
    },
    /// It took too much memory, and the runtime that it was started with has an option for how
    /// large its heap may become.
    Heap {
        /// The program that was started, as it was written.
        program: PathBuf,
        /// The option with half of the limit: `-Xmx512m`.
        option: String,
    },
}

/// The runtimes that give their heap a share of the machine's memory, by the names of their
/// programs, each with the option that says how many MiB it may have and what follows the number.
const HEAPS: [(&str, &str, &str); 2] =
    [("java", "-Xmx", "m"), ("node", "--max-old-space-size=", "")];

/// The hint for a bot that has committed this foul, if there is one. `directory` is the
/// folder that bots are run in.
#[must_use]
pub fn hint_for(foul: &Foul, entry: &Entry, directory: &Path) -> Option<Hint> {
    let Reach::Program { program, .. } = entry.launcher().reach() else {
        return None;
    };
    match foul {
        Foul::Unreachable { detail } => not_started(program, detail, directory),
        Foul::NoStart { detail } | Foul::Crashed { detail } => {
            // As Python says it: No module named 'numpy'.
            let (_, package) = detail.split_once("No module named '")?;
            let package = package.split(['\'', '.']).next()?.to_owned();
            let python = program;
            Some(Hint::MissingPackage { python, package })
        }
        Foul::MemoryExceeded { limit, .. } => {
            let name = program.file_name()?.to_str()?;
            let (_, option, unit) = HEAPS.into_iter().find(|(runtime, ..)| *runtime == name)?;
            let mib = limit / 2 / (1 << 20);
            let option = format!("{option}{mib}{unit}");
            (mib > 0).then_some(Hint::Heap { program, option })
        }
        _ => None,
    }
}

fn not_started(file: PathBuf, detail: &str, directory: &Path) -> Option<Hint> {
    let metadata = directory.join(&file).metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    // ENOEXEC, in words.
    let is_no_program = detail.contains("Exec format error");
    if metadata.permissions().mode() & 0o111 == 0 || is_no_program {
        let interpreter = interpreter(&file);
        return Some(Hint::NotExecutable { file, interpreter });
    }
    (file.components().count() == 1).then_some(Hint::NotInPath { file })
}

fn interpreter(file: &Path) -> Option<&'static str> {
    Some(match file.extension()?.to_str()? {
        "py" => "python3",
        "js" | "mjs" | "cjs" => "node",
        "jar" => "java -jar",
        "sh" => "sh",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Schemes;

    fn hint(spec: &str, foul: &Foul, directory: &Path) -> Option<Hint> {
        let entry = Entry::read(spec, &Schemes::with(Vec::new())).unwrap();
        hint_for(foul, &entry, directory)
    }

    #[test]
    fn a_file_that_is_no_program_is_named_with_what_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bot.py"), "print()").unwrap();
        fs::write(folder.path().join("bot"), "").unwrap();
        let refused = Foul::Unreachable {
            detail: "could not start: Permission denied (os error 13)".to_owned(),
        };
        for (spec, file, interpreter) in [
            ("exec:./bot.py", "./bot.py", Some("python3")),
            ("exec:./bot", "./bot", None),
        ] {
            let file = file.into();
            let expected = Hint::NotExecutable { file, interpreter };
            assert_eq!(hint(spec, &refused, folder.path()), Some(expected));
        }
        let program = folder.path().join("bot");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let file = "bot".into();
        let expected = Some(Hint::NotInPath { file });
        assert_eq!(hint("exec:bot", &refused, folder.path()), expected);
        for other in ["exec:./nobody", "exec:./bot", "unix:/run/bot.sock"] {
            assert_eq!(hint(other, &refused, folder.path()), None, "{other}");
        }
    }

    #[test]
    fn a_runtime_whose_heap_can_be_limited_is_named_with_its_option() {
        let foul = Foul::MemoryExceeded {
            peak: 1 << 30,
            limit: 1 << 30,
        };
        for (spec, program, option) in [
            ("exec:java -jar bot.jar", "java", "-Xmx512m"),
            (
                "exec:/opt/jdk/bin/java Bot",
                "/opt/jdk/bin/java",
                "-Xmx512m",
            ),
            ("exec:node bot.js", "node", "--max-old-space-size=512"),
        ] {
            let (program, option) = (program.into(), option.to_owned());
            let expected = Some(Hint::Heap { program, option });
            assert_eq!(hint(spec, &foul, Path::new(".")), expected, "{spec}");
        }
        for other in ["exec:./bot", "exec:python3 bot.py", "unix:/run/bot.sock"] {
            assert_eq!(hint(other, &foul, Path::new(".")), None, "{other}");
        }
    }

    #[test]
    fn a_missing_package_is_named_with_the_python_that_lacks_it() {
        let foul = Foul::NoStart {
            detail: "exited with code 1 before it listened; its last words: \
                     ModuleNotFoundError: No module named 'bot_arena.games'"
                .to_owned(),
        };
        let expected = Hint::MissingPackage {
            python: "venv/bin/python".into(),
            package: "bot_arena".to_owned(),
        };
        let found = hint("exec:venv/bin/python bot.py", &foul, Path::new("."));
        assert_eq!(found, Some(expected));
    }
}
