//! The .proto files: buf's style and format, and that they still mean to an
//! old program what they meant.

use std::{collections::BTreeMap, path::Path};

use crate::{
    shell::{Result, capture, command, stream, succeeds},
    tools,
};

/// Lints, checks the format, and looks for breaking changes.
///
/// # Errors
/// Any of them found something; the others have run all the same.
pub(super) fn check() -> Result {
    let buf = tools::buf()?;
    let mut failures = Vec::new();
    let mut step = |name: &str, outcome: Result| {
        if let Err(error) = outcome {
            failures.push(format!("{name}: {error}"));
        }
    };
    step("style", stream(command(&buf).args(["lint", "proto"])));
    step(
        "format",
        stream(command(&buf).args(["format", "proto", "--diff", "--exit-code"])),
    );
    step("compatibility", breaking(&buf));
    joined(&failures)
}

/// Against what is shared already, and against what was released (or, before
/// there is a release, the commit before): on a clean clone the first is the
/// working tree itself.
fn breaking(buf: &Path) -> Result {
    let shared = commit("refs/remotes/origin/main")
        .map(|commit| (commit, "origin/main".to_owned()))
        .or_else(|| commit("HEAD").map(|commit| (commit, "HEAD".to_owned())));
    let tags = capture(command("git").args(["tag", "--list", "v*", "--sort=-version:refname"]))?;
    let before = match tags.lines().next() {
        Some(tag) => commit(&format!("refs/tags/{tag}")).map(|commit| (commit, tag.to_owned())),
        None => commit("HEAD~1").map(|commit| (commit, "HEAD~1".to_owned())),
    };
    if before.is_none() {
        eprintln!("no release and no commit before this one to compare with");
    }

    // Keyed by commit: two names of one are one comparison.
    let baselines: BTreeMap<_, _> = before.into_iter().chain(shared).collect();
    let mut failures = Vec::new();
    for (commit, name) in &baselines {
        if let Err(error) = breaking_since(buf, commit, name) {
            failures.push(error.to_string());
        }
    }
    joined(&failures)
}

fn joined(failures: &[String]) -> Result {
    match failures {
        [] => Ok(()),
        _ => Err(failures.join("\n").into()),
    }
}

fn breaking_since(buf: &Path, commit: &str, name: &str) -> Result {
    let files =
        capture(command("git").args(["ls-tree", "-r", "--name-only", commit, "--", "proto"]))?;
    if !files.lines().any(|file| file.ends_with(".proto")) {
        eprintln!("{name} has no .proto file yet: nothing to compare with");
        return Ok(());
    }
    // An archive, since buf's own way of reading git needs more history than a
    // shallow clone has.
    let archive = tools::dir()?.join(format!("proto-{commit}.tar"));
    capture(
        command("git")
            .args(["archive", "--format=tar", "--output"])
            .arg(&archive)
            .arg(format!("{commit}:proto")),
    )?;
    eprintln!("since {name}:");
    let outcome = stream(
        command(buf)
            .args(["breaking", "proto", "--against"])
            .arg(&archive),
    );
    std::fs::remove_file(&archive)?;
    outcome.map_err(|error| format!("breaks what {name} promised: {error}").into())
}

/// The commit that a revision names, if there is one.
fn commit(revision: &str) -> Option<String> {
    let revision = format!("{revision}^{{commit}}");
    let mut rev_parse = command("git");
    rev_parse.args(["rev-parse", "--verify", "--quiet", &revision]);
    if !succeeds(&mut rev_parse) {
        return None;
    }
    let commit = capture(&mut rev_parse).ok()?;
    Some(commit.trim().to_owned())
}
