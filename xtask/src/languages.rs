//! The kits of other languages: builds them below `target/languages`, tests them by
//! their own means, and says where their samples are.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    shell::{Result, beside, command, root, side_by_side, stream, succeeds, target_dir},
    tools,
};

/// Variable by which the tests of `arena` find what this builds.
pub(crate) const VARIABLE: &str = "ARENA_TEST_LANGUAGES";
/// Variable by which the tests of the kits find the arena.
const ARENA: &str = "ARENA";

/// The build type of what is tested, which is this one's own: it is optimised as CMake's is with debug
/// information, which takes a third of the compiler's time and which no test reads.
const TESTED: &str = "Tested";
const TESTED_FLAGS: &str = "-DCMAKE_CXX_FLAGS_TESTED=-O2 -DNDEBUG";

/// The versions of what the Python kit is built and tested with, in its folder.
pub(crate) const CONSTRAINTS: &str = "constraints.txt";

const ABSENT_CPP: &str = "\
The C++ kit needs a C++ compiler, CMake and gRPC (Debian: apt-get install g++ cmake
libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libgtest-dev).";

const ABSENT_PYTHON: &str = "\
The Python kit needs Python 3.10 or later with venv (Debian: python3-venv).";

const ABSENT_NODE: &str = "\
The TypeScript kit needs Node 18 or later and npm (Debian: nodejs npm).";

const ABSENT_JAVA: &str = "\
The Java kit needs Java 17 or later and Maven (Debian: openjdk-17-jdk-headless maven).";

/// The samples of each kit.
const SAMPLES: [&str; 2] = ["random", "careful"];

/// The folder of all that is built here.
pub(crate) fn folder() -> PathBuf {
    target_dir().join("languages")
}

/// Builds the kits with their samples and tests, and tests them against this arena.
///
/// # Errors
/// A compiler or library is missing, something does not build, or a test fails.
pub(crate) fn test(arena: &Path) -> Result {
    // What compiles C++ has all cores; the others mostly wait, for the network and the disk.
    let scratch = Scratch::new()?;
    let (mut built, mut tested) = (None, None);
    side_by_side(vec![
        Box::new(|| {
            built = Some(cpp("cpp", TESTED, Some(arena), &[])?);
            Ok(())
        }),
        Box::new(|| {
            tested = Some(pytest(&scratch)?);
            Ok(())
        }),
        Box::new(typescript),
        Box::new(go),
    ])?;
    let (cpp, mut pytest) = built.zip(tested).ok_or("a kit was not built")?;
    // The kit for Python is there. The tests mostly wait, for times and for each other.
    let python = venv()?;
    side_by_side(vec![
        Box::new(|| {
            beside(&mut ctest(&cpp))?;
            beside(&mut go_kit("vet ./...")?)?;
            let mut go = go_kit("test -count=1 ./...")?;
            beside(go.env(ARENA, arena).env("ARENA_PYTHON", python))?;
            go_templates()
        }),
        Box::new(|| beside(pytest.env(ARENA, arena))),
        Box::new(|| {
            beside(&mut npm("test"))?;
            beside(npm("run test:arena").env(ARENA, arena))?;
            java(&["-q", "verify"], Some(arena))
        }),
    ])
}

/// Tests the bots in Go that `arena bots new` writes: as templates they compile already.
fn go_templates() -> Result {
    for entry in fs::read_dir(root().join("arena/cli/templates/go"))? {
        let game = entry?.path();
        if game.is_dir() {
            let mut test = go_kit("test -count=1")?;
            beside(test.args(["bot.go", "bot_test.go"].map(|file| game.join(file))))?;
        }
    }
    Ok(())
}

/// Tests the kits for Python and C++ by themselves, without an arena.
///
/// # Errors
/// As those of [`test`].
pub(crate) fn units(arena: &Path) -> Result {
    let scratch = Scratch::new()?;
    stream(pytest(&scratch)?.args(["-m", "not arena"]))?;
    let cpp = cpp("cpp", TESTED, Some(arena), &["--target", "kit_test"])?;
    stream(ctest(&cpp).args(["--tests-regex", r"^Kit\."]))
}

fn npm(words: &str) -> Command {
    let mut npm = command("npm");
    npm.args(words.split(' '))
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(root().join("bots/typescript"));
    npm
}

/// Builds the kit for TypeScript where its sources are, and installs it beside its samples, as
/// an author's bot has it.
///
/// # Errors
/// npm is not there, or something can't be built.
pub(crate) fn typescript() -> Result {
    beside(&mut npm("ci")).map_err(|error| format!("{error}\n{ABSENT_NODE}"))?;
    beside(&mut npm("run build"))?;
    beside(&mut npm("run samples"))
}

/// Builds the kit for Java and its samples, each to a file of its own below [`folder`], by these
/// words for Maven, with the tests that need an arena where it is told one.
///
/// # Errors
/// Maven is not there, or something can't be built, or a test fails.
fn java(words: &[&str], arena: Option<&Path>) -> Result {
    if !succeeds(command("mvn").arg("--version")) {
        return Err(ABSENT_JAVA.into());
    }
    let kit = root().join("bots/java");
    let mut maven = command("mvn");
    maven
        .args(["-B", "-f"])
        .arg(kit.join("pom.xml"))
        .args(words);
    if let Some(arena) = arena {
        maven.env(ARENA, arena);
    }
    beside(&mut maven)?;
    let jars = folder().join("java");
    fs::create_dir_all(&jars)?;
    for sample in SAMPLES {
        let jar = format!("{sample}.jar");
        fs::copy(
            kit.join("samples").join(sample).join("target").join(&jar),
            jars.join(&jar),
        )?;
    }
    Ok(())
}

fn go_kit(words: &str) -> Result<Command> {
    let mut go = command(tools::go()?);
    go.args(words.split(' '))
        .current_dir(root().join("bots/go"));
    Ok(go)
}

/// Builds the samples in Go, below [`folder`].
///
/// # Errors
/// Go is not there, or something can't be built.
fn go() -> Result {
    let programs = folder().join("go");
    fs::create_dir_all(&programs)?;
    beside(go_kit("build -o")?.arg(&programs).arg("./samples/..."))?;
    // What entries in Go are built with: `arena/build` has it as `GoKit::cache`.
    beside(
        go_kit("build ./...")?
            .env("CGO_ENABLED", "0")
            .env("GOCACHE", folder().join("go-cache")),
    )
}

fn ctest(build: &Path) -> Command {
    let mut ctest = command("ctest");
    ctest
        .args(["--output-on-failure", "--no-tests=error", "--parallel", "2"])
        .arg("--test-dir")
        .arg(build);
    ctest
}

/// The tests of the Python kit, whose types have been checked.
///
/// # Errors
/// The kit can't be installed, or has a type that is not right.
fn pytest(scratch: &Scratch) -> Result<Command> {
    let python = python()?;
    let kit = root().join("bots/python");
    beside(command(&python).args(["-m", "mypy"]).current_dir(&kit))?;
    let mut pytest = command(&python);
    pytest
        .args(["-m", "pytest", "--quiet"])
        .arg(format!("--basetemp={}", scratch.0.display()))
        .current_dir(&kit);
    Ok(pytest)
}

/// A new folder for the tests of the Python kit, gone when this is dropped. It is
/// not below target: the path of a socket may have 107 bytes only.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("arena-pytest-{}", std::process::id()));
        // What another one of this number has left.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("could not remove {}: {error}", self.0.display());
        }
    }
}

/// The sample `random` in each language, for the benchmark: `NAME=COMMAND` a line. `rust` is the
/// folder of the examples in Rust.
///
/// # Errors
/// A kit can't be built.
pub(crate) fn random_samples(rust: &Path) -> Result<String> {
    let python = python()?;
    typescript()?;
    java(&["-q", "package", "-DskipTests"], None)?;
    go()?;
    let cpp = cpp("cpp-release", "Release", None, &[])?;
    let built = folder();
    let (jar, archive) = (built.join("java/random.jar"), built.join("java/random.jsa"));
    let mut java = command("java");
    java.arg(format!("-XX:ArchiveClassesAtExit={}", archive.display()));
    java.args(["-Xlog:disable", "-cp"]).arg(&jar);
    stream(java.arg("botarena.WarmUp"))?;
    let samples = root().join("bots/python/samples");
    let lines = root().join("bots/adapters/lines/samples");
    let c = folder().join("random_bot_c");
    let mut compiler = command("cc");
    stream(
        compiler
            .args(["-O2", "-o"])
            .arg(&c)
            .arg(lines.join("random_bot.c")),
    )?;
    let (rust, python, cpp) = (rust.display(), python.display(), cpp.display());
    let typescript = root().join("bots/typescript/samples");
    let typescript = typescript.display();
    let (built, jar, archive) = (built.display(), jar.display(), archive.display());
    let (samples, lines, c) = (samples.display(), lines.display(), c.display());
    Ok(format!(
        "Rust='{rust}/random'\n\
         C++='{cpp}/cpp/random'\n\
         Python, asyncio='{python}' '{samples}/random_async.py'\n\
         Python, threads='{python}' '{samples}/random_bot.py'\n\
         JavaScript=node '{typescript}/random.js'\n\
         Java=java -jar '{jar}'\n\
         Java, archived classes=java '-XX:SharedArchiveFile={archive}' -jar '{jar}'\n\
         Go='{built}/go/random'\n\
         C, lines of JSON='{rust}/adapter' stdio '{c}'\n\
         Python, lines of JSON='{rust}/adapter' stdio '{python}' '{lines}/random_bot.py'"
    ))
}

/// The Python of an environment of its own, which has pip and is made if need be.
///
/// # Errors
/// It can't be made.
pub(crate) fn venv() -> Result<PathBuf> {
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
    Ok(python)
}

/// The Python that has the kit and pytest, installed if need be.
///
/// # Errors
/// It can't be installed.
pub(crate) fn python() -> Result<PathBuf> {
    let python = venv()?;
    // The kit is built anew each time; what it needs is found where it is there. Pip
    // splits this variable at spaces, so its path is seen from the kit's folder; the
    // second one is for the versions of pip that build by it.
    beside(
        command(&python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", ".[test]"])
            .current_dir(root().join("bots/python"))
            .env("PIP_CONSTRAINT", CONSTRAINTS)
            .env("PIP_BUILD_CONSTRAINT", CONSTRAINTS),
    )?;
    Ok(python)
}

/// Builds what is written in C++ in a folder of this name, with its tests if it is told the
/// arena: all, or what the words for the build say.
///
/// # Errors
/// Something is missing, or does not build.
pub(crate) fn cpp(
    name: &str,
    build_type: &str,
    tests: Option<&Path>,
    words: &[&str],
) -> Result<PathBuf> {
    let build = folder().join(name);
    let mut configure = command("cmake");
    configure
        .arg("-S")
        .arg(root().join("bots"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_BUILD_TYPE={build_type}"));
    match tests {
        Some(arena) => {
            let hands = arena.with_file_name("examples").join("hands");
            configure
                .arg(format!("-DARENA={}", arena.display()))
                .arg(format!("-DHANDS={}", hands.display()))
                .arg(TESTED_FLAGS)
        }
        None => configure.arg("-DBOTS_TESTS=OFF"),
    };
    stream(&mut configure).map_err(|error| format!("{error}\n{ABSENT_CPP}"))?;
    stream(
        command("cmake")
            .arg("--build")
            .arg(&build)
            .args(["--parallel", "2"])
            .args(words),
    )?;
    Ok(build)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_python_tests_is_near_and_let_go() {
        let scratch = Scratch::new().unwrap();
        let folder = scratch.0.clone();
        fs::write(folder.join("left"), "").unwrap();
        assert_eq!(folder.parent(), Some(&*env::temp_dir()));
        drop(scratch);
        assert!(!folder.exists());
    }
}
