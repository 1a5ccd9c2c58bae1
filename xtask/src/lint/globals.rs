//! What belongs to the whole process is the program's: its working directory, its
//! signals, its end, its output, its log. The libraries that programs are made of leave
//! it alone, so that any program can be made of them. And whatever reads files that people
//! hand to us reads them in one way. Tests and binaries are not looked at.

use std::fs;

use crate::shell::{Result, git_files, root};

/// The sources of the libraries.
const LIBRARIES: &[&str] = &[
    "arena/check/src",
    "arena/events/src",
    "arena/ladder/src",
    "arena/review/src",
    "arena/simulation/src",
    "arena/store/src",
    "arena/tournament/src",
    "bots/ai4/src",
    "bots/edge/src",
    "bots/team/src",
    "bots/tenpai/src",
    "bots/zugzwang/src",
    "referee/bots/src",
    "referee/core/src",
    "referee/games/src",
    "referee/net/src",
    "referee/service/src",
    "referee/worker/src",
];

/// What must not be called there, and whose it is.
const GLOBALS: &[(&str, &str)] = &[
    ("set_current_dir", "the working directory"),
    ("process::exit", "the end of the process"),
    ("SignalKind", "signals"),
    ("ctrl_c", "signals"),
    ("signal(", "signals"),
    ("set_hook", "what a panic does"),
    ("set_global_default", "the log"),
    ("set_global_recorder", "the metrics"),
    ("print!", "the output"),
    ("println!", "the output"),
    ("eprint!", "the output"),
    ("eprintln!", "the output"),
];

/// The sources that read files which somebody else may have written.
const READERS: &[&str] = &[
    "arena/check/src",
    "arena/cli/src",
    "arena/review/src",
    "arena/tournament/src",
    "referee/bots/src",
    "referee/worker/src",
];

/// What must not be called there: it reads without end from a pipe or a device.
const UNBOUNDED: &[(&str, &str)] = &[
    ("fs::read(", "read_input in referee/bots/src/input.rs"),
    (
        "fs::read_to_string(",
        "read_input_text in referee/bots/src/input.rs",
    ),
    ("File::open(", "open_input in referee/bots/src/input.rs"),
];

/// Looks through the sources of every library, and of whatever reads files.
///
/// # Errors
/// The findings, one a line, or a folder without sources.
pub(super) fn check() -> Result {
    let whose = |whose: &str| format!("{whose} belongs to the program");
    let mut found = look_through(LIBRARIES, GLOBALS, whose)?;
    let instead = |instead: &str| format!("use {instead}");
    found.extend(look_through(READERS, UNBOUNDED, instead)?);
    super::all_clear(
        "uses of what belongs to the whole process, or has no bounds",
        &found,
    )
}

/// The uses of these names in the libraries of these folders.
fn look_through(
    folders: &[&str],
    names: &[(&str, &str)],
    say: impl Fn(&str) -> String,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in folders {
        let files = git_files(folder)?;
        if files.is_empty() {
            found.push(format!(
                "{folder} has no files: mend the list in xtask/src/lint/globals.rs"
            ));
        }
        let files = files.iter().filter(|file| is_library(file));
        for file in files.filter(|file| root().join(file).exists()) {
            let text = fs::read_to_string(root().join(file))?;
            for (line, name, why) in findings(&text, names) {
                found.push(format!("{file}:{line}: {name}: {}", say(why)));
            }
        }
    }
    Ok(found)
}

/// Whether a file is part of a library, and no test.
fn is_library(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.ends_with(".rs") && !["main.rs", "tests.rs"].contains(&name) && !file.contains("/bin/")
}

/// What is wrong with a file, by line. Comments and the tests at its end are skipped.
fn findings<'a>(text: &str, names: &[(&'a str, &'a str)]) -> Vec<(usize, &'a str, &'a str)> {
    let lines = (1..).zip(text.lines().map(str::trim_start));
    let lines = lines.take_while(|(_, line)| !line.starts_with("mod tests {"));
    let code = lines.filter(|(_, line)| !line.starts_with("//"));
    let found = code.flat_map(|(number, line)| {
        let used = names.iter().filter(|(name, _)| uses(line, name));
        used.map(move |(name, why)| (number, *name, *why))
    });
    found.collect()
}

/// Whether a line uses a function or macro of this name, and not a method or a function
/// of its own.
fn uses(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = &line[..at];
        let is_longer = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        !is_longer && !before.ends_with("fn ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        let found = findings(text, GLOBALS).into_iter();
        found.map(|(line, ..)| line).collect()
    }

    #[test]
    fn reading_without_bounds_is_found() {
        let text = "let text = fs::read(path)?;\nstd::fs::File::open(path)\nread_input(path, 9)";
        let lines: Vec<_> = findings(text, UNBOUNDED)
            .into_iter()
            .map(|(line, name, _)| (line, name))
            .collect();
        assert_eq!(lines, [(1, "fs::read("), (2, "File::open(")]);
    }

    #[test]
    fn what_belongs_to_the_process_is_found() {
        for line in [
            "std::env::set_current_dir(path)?;",
            "std::process::exit(2);",
            "process::exit(2)",
            "let mut stop = signal(SignalKind::terminate())?;",
            "nix::sys::signal::signal(Signal::SIGINT, handler)",
            "tokio::signal::ctrl_c().await",
            "tracing::subscriber::set_global_default(it)?;",
            "println!(\"{line}\");",
            "    eprint!(\"a\")",
        ] {
            assert!(!found(line).is_empty(), "missed: {line}");
        }
    }

    #[test]
    fn other_code_is_left_alone() {
        for line in [
            "self.group.signal(Signal::SIGTERM);",
            "match (status.code(), status.signal()) {",
            "fn signal(&self, signal: Signal) {",
            "// println! would be wrong here",
            "/// Ends like `process::exit(2)`.",
            "fingerprint!(a)",
            "pretty_println!(a)",
            "let directory = std::env::current_dir()?;",
        ] {
            assert_eq!(found(line), [0; 0], "false alarm: {line}");
        }
    }

    #[test]
    fn a_finding_has_its_line_and_says_whose_it_is() {
        let text = "//! About.\nfn f() {\n    println!();\n}\n";
        assert_eq!(findings(text, GLOBALS), [(3, "println!", "the output")]);
    }

    #[test]
    fn tests_and_binaries_are_not_looked_at() {
        let text = "mod tests;\nuse a;\n#[cfg(test)]\nmod tests {\n    println!();\n}\n";
        assert_eq!(found(text), [0; 0]);
        for (file, is) in [
            ("arena/a/src/lib.rs", true),
            ("arena/a/src/dispatch/mod.rs", true),
            ("arena/a/src/main.rs", false),
            ("arena/a/src/bin/other.rs", false),
            ("arena/a/src/dispatch/tests.rs", false),
            ("arena/a/src/words.txt", false),
        ] {
            assert_eq!(is_library(file), is, "{file}");
        }
    }
}
