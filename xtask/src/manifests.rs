//! The manifests of deploy/kubernetes: rendered by kubectl's Kustomize and by Helm, checked against the
//! schemas of Kubernetes and against rules of our own. Python does it, in deploy/kubernetes/checks.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    shell::{Result, capture, command, root, stream, target_dir},
    tools,
};

/// Checks the checks, then all that the kustomizations give.
///
/// # Errors
/// Something is not in order.
pub(crate) fn test() -> Result {
    let python = Python(tools::manifests()?);
    let cache = tools::dir()?.join("manifests-mypy");
    stream(python.run(["-m", "mypy", "--cache-dir"]).arg(cache))?;
    stream(
        python
            .run(["-m", "pytest", "--quiet"])
            .env("PROMTOOL", tools::promtool()?),
    )?;
    let rendered = target_dir().join("manifests");
    stream(python.run(["render.py"]).arg(&rendered))?;
    stream(python.run(["check.py"]).arg(&rendered))
}

/// Makes the templates of the Helm chart.
///
/// # Errors
/// Base or components have what the chart does not know.
pub(crate) fn chart() -> Result {
    stream(&mut Python(tools::manifests()?).run(["chart.py"]))
}

/// Checks what this `arena` makes for the example tournaments.
///
/// # Errors
/// Something is not in order.
pub(crate) fn games(arena: &Path) -> Result {
    let folder = target_dir().join("manifests-of-games");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for isolation in ["shared", "pod"] {
        let mut render = command(arena);
        render.args(["kubernetes", "render"]);
        render.arg(root().join(format!("deploy/kubernetes/tournaments/{isolation}.toml")));
        // No engine says which images these are, and the settings ask for no digests.
        render.env("DOCKER_HOST", "unix:///nowhere");
        render.arg("--settings");
        render.arg(root().join("deploy/kubernetes/overlays/trial/kubernetes.toml"));
        let file = folder.join(format!("{isolation}.yaml"));
        let objects = capture(&mut render)?;
        fs::write(&file, objects).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let python = Python(tools::manifests()?);
    stream(python.run(["check.py"]).arg(&folder))
}

/// Checks manifests in these folders, such as those of `arena kubernetes render`.
///
/// # Errors
/// Something is not in order.
pub(crate) fn check(folders: &[&str]) -> Result {
    let python = Python(tools::manifests()?);
    let folders = folders.iter().map(|folder| root().join(folder));
    stream(python.run(["check.py"]).args(folders))
}

/// The Python that has what the checks need.
struct Python(PathBuf);

impl Python {
    /// Starts with these words, in the folder of the checks.
    fn run(&self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut python = command(&self.0);
        python
            .args(words)
            .current_dir(root().join(tools::CHECKS))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }
}
