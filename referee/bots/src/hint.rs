//! Hints for the author of a bot that did not start: what may have been overlooked.

use std::{
    env,
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use referee_core::Foul;
use referee_sandbox::{
    MissingModule, ModulePlace, Program, Wall, Walls, find_module, has_carriage_return,
    is_package_variable,
};

use crate::{Cause, Entry, cause::cause_of, machine_label, needs::kind_of_machine};

/// A mistake that the author of a bot may have overlooked, as data: the caller puts it into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The program is a file that may not be executed.
    NotExecutable {
        /// The file, as it was written.
        file: PathBuf,
        /// The program that runs such files, by the end of their names: `python3`.
        interpreter: Option<&'static str>,
    },
    /// The program is a file that may be executed, and that does not say what executes it.
    NoInterpreter {
        /// The file, as it was written.
        file: PathBuf,
        /// The program that runs such files, by the end of their names: `python3`.
        interpreter: Option<&'static str>,
    },
    /// The program is compiled for another kind of machine.
    OtherMachine {
        /// The file, as it was written.
        file: PathBuf,
        /// That kind: `linux-aarch64`.
        compiled_for: String,
    },
    /// The first line of the program ends in a carriage return, which is taken for a part of
    /// the interpreter's name.
    CarriageReturn {
        /// The file, as it was written.
        file: PathBuf,
    },
    /// The program is looked for in `PATH`; a file of this name lies in the folder that bots
    /// are run in.
    NotInPath {
        /// The file, as it was written.
        file: PathBuf,
    },
    /// The runtime that ran it did not find a module.
    MissingModule {
        /// The program that was started, as it was written.
        program: PathBuf,
        /// The module.
        module: MissingModule,
        /// The place where it is all the same.
        place: ModulePlace,
    },
    /// It took too much memory, and the runtime that it was started with has an option for how
    /// large its heap may become.
    Heap {
        /// The program that was started, as it was written.
        program: PathBuf,
        /// The option with half of the limit: `-Xmx512m`.
        option: String,
    },
    /// Its program or what it printed tells why.
    Cause(Cause),
}

/// The runtimes that give their heap a share of the machine's memory, by the names of their
/// programs, each with the option that says how many MiB it may have and what follows the number.
const HEAPS: [(&str, &str, &str); 2] =
    [("java", "-Xmx", "m"), ("node", "--max-old-space-size=", "")];

/// The hint for a bot that has committed this foul, if there is one. `directory` is the
/// folder that bots are run in; `walls` are those around bots that are somebody's programs.
#[must_use]
pub fn hint_for(
    foul: &Foul,
    entry: &Entry,
    directory: &Path,
    walls: Option<&Walls>,
) -> Option<Hint> {
    let command = entry.launcher().command();
    let of_files = command.and_then(|(program, arguments)| {
        of_files(foul, entry, (program, &arguments), directory, walls)
    });
    let cause = cause_of(foul, entry, directory, walls).map(Hint::Cause);
    match cause {
        Some(Hint::Cause(Cause::SharedObject { .. })) => cause,
        cause => of_files.or(cause),
    }
}

fn of_files(
    foul: &Foul,
    entry: &Entry,
    (program, arguments): (PathBuf, &[OsString]),
    directory: &Path,
    walls: Option<&Walls>,
) -> Option<Hint> {
    match foul {
        Foul::Unreachable { detail } => not_started(program, detail, directory),
        Foul::NoStart { detail }
        | Foul::Crashed { detail }
        | Foul::ErrorStatus {
            message: detail, ..
        } => {
            // An adapter is there, and the program is not.
            if detail.contains("could not start ") {
                return not_started(program, detail, directory);
            }
            // What `env` ends with where it does not find the program that it is to start.
            const NOT_FOUND: &str = "exited with code 127";
            if detail.starts_with(NOT_FOUND) && has_carriage_return(&directory.join(&program)) {
                return Some(Hint::CarriageReturn { file: program });
            }
            let module = MissingModule::in_text(detail)?;
            let place = match entry.launcher().archive() {
                None => place(&program, arguments.to_vec(), directory, &module)?,
                // Its files are elsewhere.
                Some(_) if module.is_path() => return None,
                Some(_) => ModulePlace::Nowhere,
            };
            let hides = walls.is_some_and(|walls| walls.hold(Wall::Files));
            (hides || !place.is_hidden()).then_some(Hint::MissingModule {
                program,
                module,
                place,
            })
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

/// The place of a module that a program started here did not find.
fn place(
    program: &Path,
    arguments: Vec<OsString>,
    directory: &Path,
    module: &MissingModule,
) -> Option<ModulePlace> {
    let is_needed = |name: &OsString| name == "PATH" || is_package_variable(name);
    let program = Program {
        path: program.to_owned(),
        arguments,
        directory: Some(directory.to_owned()),
        environment: env::vars_os().filter(|(name, _)| is_needed(name)).collect(),
        home: env::home_dir(),
        ..Program::default()
    };
    find_module(&program, module)
}

fn not_started(file: PathBuf, detail: &str, directory: &Path) -> Option<Hint> {
    let metadata = directory.join(&file).metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let interpreter = interpreter(&file);
    if metadata.permissions().mode() & 0o111 == 0 {
        return Some(Hint::NotExecutable { file, interpreter });
    }
    // ENOEXEC, in words.
    if detail.contains("Exec format error") {
        let compiled_for = kind_of_machine(&directory.join(&file));
        return match compiled_for.filter(|kind| *kind != machine_label()) {
            Some(compiled_for) => Some(Hint::OtherMachine { file, compiled_for }),
            None => Some(Hint::NoInterpreter { file, interpreter }),
        };
    }
    (file.components().count() == 1).then_some(Hint::NotInPath { file })
}

/// The program that runs such files.
pub(crate) fn interpreter(file: &Path) -> Option<&'static str> {
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

    use referee_core::with_last_words;

    use super::*;
    use crate::Schemes;

    fn hint(spec: &str, foul: &Foul, directory: &Path) -> Option<Hint> {
        let entry = Entry::read(spec, &Schemes::with(Vec::new())).unwrap();
        hint_for(foul, &entry, directory, None)
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
    fn a_file_that_does_not_say_what_runs_it_and_one_for_another_machine_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Foul::Unreachable {
            detail: "could not start: Exec format error (os error 8)".to_owned(),
        };
        let mut foreign = b"\x7fELF\x02\x01\x01".to_vec();
        foreign.resize(64, 0);
        foreign[18] = 22;
        let file = PathBuf::from("./bot.py");
        for (text, expected) in [
            (
                b"print()".to_vec(),
                Hint::NoInterpreter {
                    file: file.clone(),
                    interpreter: Some("python3"),
                },
            ),
            (
                foreign,
                Hint::OtherMachine {
                    file: file.clone(),
                    compiled_for: "linux-s390x".to_owned(),
                },
            ),
        ] {
            let program = folder.path().join("bot.py");
            fs::write(&program, text).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let found = hint("exec:./bot.py", &refused, folder.path());
            assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn a_carriage_return_is_named_where_env_did_not_find_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let foul = |code: i32| Foul::NoStart {
            detail: format!("exited with code {code} before it listened; its last words: env: …"),
        };
        let file = PathBuf::from("./bot.py");
        let expected = Some(Hint::CarriageReturn { file });
        for (text, code, expected) in [
            ("#!/usr/bin/env python3\r\nprint()\r\n", 127, expected),
            ("#!/usr/bin/env python3\r\nprint()\r\n", 1, None),
            ("#!/usr/bin/env pythn3\nprint()\n", 127, None),
        ] {
            fs::write(folder.path().join("bot.py"), text).unwrap();
            let found = hint("exec:./bot.py", &foul(code), folder.path());
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn a_missing_module_is_named_with_the_place_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let said = |module: &str| format!("ModuleNotFoundError: No module named '{module}'");
        let foul = |module: &str| Foul::NoStart {
            detail: with_last_words("exited with code 1 before it listened", &[said(module)]),
        };
        fs::create_dir(folder.path().join("mine")).unwrap();
        for name in ["mine/bot.py", "kit_of_mine.py"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let near = ModulePlace::Near {
            folder: folder.path().canonicalize().unwrap(),
            is_shared: false,
        };
        for (module, place) in [
            ("kit_of_mine", Some(near)),
            // This one was found, and it is no package.
            ("kit_of_mine.games", None),
            ("no_such_module", Some(ModulePlace::Nowhere)),
        ] {
            let expected = place.map(|place| Hint::MissingModule {
                program: "python3".into(),
                module: MissingModule::in_text(&said(module)).unwrap(),
                place,
            });
            let found = hint("exec:python3 mine/bot.py", &foul(module), folder.path());
            assert_eq!(found, expected);
        }
        // Beside a bot in a folder of everybody's, of which a sandbox shows the bot alone.
        let file = |prefix: &str| {
            let file = tempfile::Builder::new()
                .prefix(prefix)
                .suffix(".py")
                .tempfile_in("/tmp");
            file.unwrap()
        };
        let (bot, kit) = (file("bot_"), file("kit_"));
        let module = kit.path().file_stem().unwrap().to_str().unwrap();
        let spec = format!("exec:python3 {}", bot.path().display());
        let entry = Entry::read(&spec, &Schemes::with(Vec::new())).unwrap();
        for (held, is_told) in [(Wall::ALL.into(), true), (Default::default(), false)] {
            let walls = Walls {
                held,
                ..Walls::default()
            };
            let found = hint_for(&foul(module), &entry, folder.path(), Some(&walls));
            let expected = is_told.then(|| ModulePlace::Alone("/tmp".into()));
            let place = found.map(|found| match found {
                Hint::MissingModule { place, .. } => place,
                other => panic!("{other:?}"),
            });
            assert_eq!(place, expected);
        }
    }
}
