//! What belongs to the whole process is the program's: its working directory, its
//! signals, its end, its output, its log. The libraries that programs are made of leave
//! it alone, so that any program can be made of them. Tests and binaries are not looked at.

use std::fs;

use crate::shell::{Result, capture, command, root};

/// The sources of the libraries.
const LIBRARIES: &[&str] = &[
    "arena/check/src",
    "arena/events/src",
    "arena/ladder/src",
    "arena/review/src",
    "arena/store/src",
    "arena/tournament/src",
    "referee/core/src",
    "referee/games/src",
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

/// Looks through the sources of every library.
///
/// # Errors
/// The findings, one a line, or a folder without sources.
pub(super) fn check() -> Result {
    let mut found = Vec::new();
    for folder in LIBRARIES {
        let listing = "ls-files -z --cached --others --exclude-standard --";
        let files = capture(command("git").args(listing.split(' ')).arg(folder))?;
        if files.is_empty() {
            found.push(format!(
                "{folder} has no files: mend the list in xtask/src/lint/globals.rs"
            ));
        }
        let files = files.split_terminator('\0').filter(|file| is_library(file));
        for file in files.filter(|file| root().join(file).exists()) {
            let text = fs::read_to_string(root().join(file))?;
            for (line, finding) in findings(&text) {
                found.push(format!("{file}:{line}: {finding}"));
            }
        }
    }
    super::all_clear("uses of what belongs to the whole process", &found)
}

/// Whether a file is part of a library, and no test.
fn is_library(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.ends_with(".rs") && !["main.rs", "tests.rs"].contains(&name) && !file.contains("/bin/")
}

/// What is wrong with a file, by line. Comments and the tests at its end are skipped.
fn findings(text: &str) -> Vec<(usize, String)> {
    let lines = (1..).zip(text.lines().map(str::trim_start));
    let lines = lines.take_while(|(_, line)| !line.starts_with("mod tests {"));
    let code = lines.filter(|(_, line)| !line.starts_with("//"));
    let globals = code.flat_map(|(number, line)| {
        let used = GLOBALS.iter().filter(|(name, _)| uses(line, name));
        used.map(move |(name, whose)| (number, format!("{name}: {whose} belongs to the program")))
    });
    globals.collect()
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
        findings(text).into_iter().map(|(line, _)| line).collect()
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
        let words = "println!: the output belongs to the program";
        assert_eq!(findings(text), [(3, words.to_owned())]);
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
