//! The .proto files: buf's style and format, and that they still mean to an
//! old program what they meant.

use std::{collections::BTreeMap, path::Path};

use crate::{
    shell::{Result, capture, command, stream},
    tools,
};

/// Lints, checks the format, and looks for breaking changes.
///
/// # Errors
/// Any of them found something; the others have run all the same.
pub(super) fn check() -> Result {
    let buf = tools::buf()?;
    let style = stream(command(&buf).args(["lint", "proto"]));
    let format = stream(command(&buf).args(["format", "proto", "--diff", "--exit-code"]));
    let steps = [
        ("style: ", style),
        ("format: ", format),
        ("compatibility: ", breaking(&buf)),
    ];
    joined(steps)
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
    let each = baselines.iter();
    joined(each.map(|(commit, name)| ("", breaking_since(buf, commit, name))))
}

/// All failures as one, each on a line of its own after what it belongs to.
fn joined(outcomes: impl IntoIterator<Item = (&'static str, Result)>) -> Result {
    let failures = outcomes.into_iter().filter_map(|(of, outcome)| {
        let error = outcome.err()?;
        Some(format!("{of}{error}"))
    });
    let failures: Vec<String> = failures.collect();
    match &failures[..] {
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
    let rev_parse = ["rev-parse", "--verify", "--quiet", &revision];
    let commit = capture(command("git").args(rev_parse)).ok()?;
    Some(commit.trim().to_owned())
}
