//! `cargo xtask strength`: plays the built-in bots against each other for a given time and
//! writes docs/strength.md.

use crate::shell::{Result, cargo, root, stream, target_dir};

/// Plays for so long, and goes on where it was stopped; `only` chooses experiments by a part of
/// their titles and prints their tables instead.
///
/// # Errors
/// The budget is not a time, or a game failed.
pub(crate) fn run(budget: &str, only: Option<&str>) -> Result {
    let mut play = cargo("run --locked --release -p house-bots --example strength --");
    play.args(["--budget", budget, "--results"])
        .arg(target_dir().join("strength/results.jsonl"))
        .arg("--report")
        .arg(root().join("docs"));
    if let Some(only) = only {
        play.args(["--only", only]);
    }
    stream(&mut play)
}
