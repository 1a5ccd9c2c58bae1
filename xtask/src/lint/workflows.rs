//! The workflows of GitHub and the action for bots: actionlint knows their syntax, and what others wrote is
//! taken by the hash of a commit, which can't be moved as a tag can.

use std::fs;

use crate::{
    shell::{Result, command, git_files, root, stream},
    tools,
};

/// The folder of workflows and actions.
const FOLDER: &str = ".github";

/// Has actionlint look at the workflows, then looks at what they use.
///
/// # Errors
/// The findings, one a line.
pub(super) fn check() -> Result {
    let mut found = Vec::new();
    for file in git_files(FOLDER)? {
        if let Ok(text) = fs::read_to_string(root().join(&file)) {
            let lines = text.lines().enumerate();
            let floating = lines.filter(|(_, line)| is_floating(line));
            found.extend(floating.map(|(at, line)| format!("{file}:{}: {}", at + 1, line.trim())));
        }
    }
    super::all_clear("expected `uses: OWNER/NAME@COMMIT # vVERSION`", &found)?;
    // Programs that it calls where they are installed find different things in different versions.
    stream(command(tools::actionlint()?).args(["-shellcheck=", "-pyflakes="]))
}

/// True if a line uses somebody's action otherwise than by the hash of a commit and its version.
fn is_floating(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ");
    let Some(used) = line.strip_prefix("uses:") else {
        return false;
    };
    let used = used.trim();
    let is_pinned = || {
        let (_, pin) = used.split_once('@')?;
        let (commit, version) = pin.split_once(" # v")?;
        let is_hash = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && !version.is_empty()).then_some(())
    };
    !used.starts_with("./") && is_pinned().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_actions_are_taken_by_commit_and_version() {
        let commit = "3d3c42e5aac5ba805825da76410c181273ba90b1";
        for line in [
            &format!("- uses: actions/checkout@{commit} # v7.0.1")[..],
            "  uses: ./.github/actions/bot",
            "run: echo uses",
        ] {
            assert!(!is_floating(line), "{line}");
        }
        for line in [
            "- uses: actions/checkout@v7",
            "- uses: actions/checkout",
            &format!("- uses: actions/checkout@{commit}"),
            "uses: docker://alpine:3.20",
        ] {
            assert!(is_floating(line), "{line}");
        }
    }
}
