//! `cargo xtask lint`: what must hold besides the tests. Every check runs, also
//! after one has failed; the end is one line for each.

mod arrows;
mod hygiene;
mod proto;
mod workflows;

use std::time::{Duration, Instant};

use crate::{
    shell::{Result, cargo, command, stream},
    tools,
};

/// Name, what holds when it passes, and how to run it.
type Check = (&'static str, &'static str, fn() -> Result);

/// All checks, the quick ones first.
#[rustfmt::skip]
const CHECKS: &[Check] = &[
    ("fmt", "rustfmt has nothing to change", fmt),
    ("hygiene", "the repository is fit to be cloned", hygiene::check),
    ("arrows", "no crate depends on what it must not", arrows::check),
    ("proto", ".proto files: style, format, compatibility", proto::check),
    ("actions", "GitHub's workflows: syntax, types, pinned actions", workflows::check),
    ("deny", "bans, licences, sources of dependencies", deny),
    ("clippy", "no warning in any target; no library touches what is the program's", clippy),
];

/// Runs every check and sums them up.
///
/// # Errors
/// A check failed.
pub(crate) fn run() -> Result {
    let mut lines = Vec::new();
    let mut failed = 0;
    for (name, says, check) in CHECKS {
        eprintln!("\n-- {name}: {says}");
        let begin = Instant::now();
        let outcome = check();
        if let Err(error) = &outcome {
            failed += 1;
            eprintln!("{error}");
        }
        lines.push(summary(name, begin.elapsed(), &outcome));
    }
    eprintln!();
    for line in lines {
        println!("{line}");
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} of {} checks failed", CHECKS.len()).into()),
    }
}

/// The findings of a check as its result, below a title.
fn all_clear(title: &str, findings: &[String]) -> Result {
    match findings {
        [] => Ok(()),
        _ => Err(format!("{title}: {}\n  {}", findings.len(), findings.join("\n  ")).into()),
    }
}

/// # Errors
/// Something is not formatted.
pub(crate) fn fmt() -> Result {
    stream(&mut cargo("fmt --all --check"))
}

fn clippy() -> Result {
    stream(&mut cargo(
        "clippy --workspace --all-targets --locked -- -D warnings",
    ))
}

fn deny() -> Result {
    let cargo_deny = tools::cargo_deny()?;
    // It looks at the dependencies of every platform; a build has downloaded
    // those of this one only.
    stream(&mut cargo("fetch --locked --quiet"))?;
    let check = "--offline --locked check --hide-inclusion-graph bans licenses sources";
    stream(command(cargo_deny).args(check.split(' ')))
}

/// One line: what became of a check, and the first line of why.
fn summary(name: &str, took: Duration, outcome: &Result) -> String {
    let seconds = took.as_secs_f64();
    match outcome {
        Ok(()) => format!("ok    {name:<8} {seconds:>6.1} s"),
        Err(error) => {
            let error = error.to_string();
            let why = error.lines().next().unwrap_or_default();
            format!("FAIL  {name:<8} {seconds:>6.1} s  {why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_takes_one_line_and_says_why() {
        let outcome = Err("two arrows\n  one\n  another".into());
        let line = summary("arrows", Duration::from_millis(1250), &outcome);
        assert_eq!(line, "FAIL  arrows      1.2 s  two arrows");
    }

    #[test]
    fn a_passed_check_says_so() {
        let line = summary("fmt", Duration::from_secs(12), &Ok(()));
        assert_eq!(line, "ok    fmt        12.0 s");
    }
}
