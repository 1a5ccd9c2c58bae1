//! The kits of other languages: builds them below `target/languages`, tests them by
//! their own means, and says where their samples are.

use std::path::{Path, PathBuf};

use crate::shell::{Result, command, root, stream, succeeds, target_dir};

/// Where the tests of `arena` look for what this builds.
pub(crate) const VARIABLE: &str = "ARENA_TEST_LANGUAGES";
/// Where the tests of the kits look for the arena.
const ARENA: &str = "ARENA";

const ABSENT_CPP: &str = "\
The C++ kit needs a C++ compiler, CMake and gRPC (Debian: apt-get install g++ cmake
libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libgtest-dev).";

const ABSENT_PYTHON: &str = "\
The Python kit needs Python 3.10 or later with venv (Debian: python3-venv).";

/// What is built with CMake: where it is, and where it goes.
const BUILDS: [(&str, &str); 2] = [("bots/cpp", "cpp"), ("bots/adapters/brain", "brain")];

/// The folder of all that is built here.
pub(crate) fn folder() -> PathBuf {
    target_dir().join("languages")
}

/// Builds the kits with their samples and tests, and tests them against this arena.
///
/// # Errors
/// A compiler or library is missing, something does not build, or a test fails.
pub(crate) fn test(arena: &Path) -> Result {
    let python = python()?;
    stream(
        command(&python)
            .args(["-m", "pytest", "--quiet", "bots/python"])
            .env(ARENA, arena),
    )?;
    for (source, name) in BUILDS {
        let build = cmake(source, name, "RelWithDebInfo", true)?;
        stream(
            command("ctest")
                .args(["--output-on-failure", "--no-tests=error", "--test-dir"])
                .arg(build)
                .env(ARENA, arena),
        )?;
    }
    Ok(())
}

/// The sample `random` in each language, for the benchmark: `NAME=COMMAND` a line.
///
/// # Errors
/// A kit can't be built.
pub(crate) fn random_samples(rust: &Path) -> Result<String> {
    let python = python()?;
    let build = cmake("bots/cpp", "cpp-release", "Release", false)?;
    let samples = root().join("bots/python/samples");
    let quoted = |path: &Path| format!("'{}'", path.display());
    Ok([
        format!("Rust={}", quoted(rust)),
        format!("C++={}", quoted(&build.join("samples/random"))),
        format!(
            "Python, asyncio={} {}",
            quoted(&python),
            quoted(&samples.join("random_async.py"))
        ),
        format!(
            "Python, threads={} {}",
            quoted(&python),
            quoted(&samples.join("random_bot.py"))
        ),
    ]
    .join("\n"))
}

/// The Python that has the kit and pytest, installed if need be.
///
/// # Errors
/// It can't be installed.
fn python() -> Result<PathBuf> {
    let venv = folder().join("python");
    let python = venv.join("bin/python3");
    if !succeeds(command(&python).args(["-m", "pip", "--version"])) {
        stream(
            command("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&venv),
        )
        .map_err(|error| format!("{error}\n{ABSENT_PYTHON}"))?;
    }
    // What is there already costs pip a second.
    stream(
        command(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .arg(format!("{}[test]", root().join("bots/python").display())),
    )?;
    Ok(python)
}

/// Configures and builds one of [`BUILDS`]; with its tests or without.
fn cmake(source: &str, name: &str, build_type: &str, tests: bool) -> Result<PathBuf> {
    let build = folder().join(name);
    let testing = if tests { "ON" } else { "OFF" };
    stream(
        command("cmake")
            .arg("-S")
            .arg(root().join(source))
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_BUILD_TYPE={build_type}"))
            .arg(format!("-DBUILD_TESTING={testing}")),
    )
    .map_err(|error| format!("{error}\n{ABSENT_CPP}"))?;
    stream(
        command("cmake")
            .arg("--build")
            .arg(&build)
            .arg("--parallel"),
    )?;
    Ok(build)
}
