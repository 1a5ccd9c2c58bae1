//! `cargo xtask test`: everything that must hold before a commit, in the order
//! that fails soonest and compiles least.

use std::{fs, process::Command, time::Instant};

use crate::{
    images::{self, Base},
    languages, lint, manifests,
    postgres::Postgres,
    shell::{Result, capture, cargo, command, stream, target_dir},
    tools,
};

/// Whether there is lint besides the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lint {
    /// There is, tools and all.
    Do,
    /// The tests alone.
    Skip,
}

impl Lint {
    /// Cargo as each stage that builds has it: were one of them without clippy, it would build
    /// everything of ours once more.
    fn cargo(self, args: &str) -> Result<Command> {
        let mut cargo = cargo(args);
        if self == Self::Do {
            lint::with_clippy(&mut cargo)?;
        }
        Ok(cargo)
    }
}

/// Installs the tools, lints, builds, tests; stops where something fails.
///
/// # Errors
/// The stage that failed.
pub(crate) fn run(lint: Lint) -> Result {
    let postgres = stage("postgres", Postgres::start)?;
    // Mostly it waits for the network, so it is made beside all else.
    let base = Base::begin_for_tests()?;
    // The same profile and features as the tests: `cargo test` then finds all but the
    // documentation's examples built. Benchmarks are for clippy alone.
    let targets = match lint {
        Lint::Do => "--all-targets",
        Lint::Skip => "--lib --bins --tests --examples",
    };
    if lint == Lint::Do {
        stage("tools", tools::install)?;
        stage("lint", lint::run_before_build)?;
    }
    stage("manifests", manifests::test)?;
    stage("build", || {
        stream(&mut lint.cargo(&format!("build --workspace {targets} --locked"))?)
    })?;
    stage("peers", peers)?;
    stage("games on Kubernetes", || {
        manifests::games(&target_dir().join("debug/arena"))
    })?;
    stage("languages", || {
        languages::test(&target_dir().join("debug/arena"))
    })?;
    stage("images", || images::for_tests(base))?;
    // The examples in the documentation first: they are few, and what comes
    // last should be what the tests say.
    stage("doc", || {
        stream(&mut lint.cargo("test --workspace --locked --doc")?)
    })?;
    // Nothing may follow what cargo test says, so this stage has no time.
    heading("test");
    let mut tests = lint.cargo("test --workspace --locked --lib --bins --tests --no-fail-fast")?;
    tests.env(languages::VARIABLE, languages::folder());
    stream(postgres.tell(&mut tests)).map_err(|error| format!("stage test failed: {error}").into())
}

/// Has the ladder's statistics computed anew by other people's programs.
fn peers() -> Result {
    // Built with all else. Cargo would build what it needs again, with the features that it needs
    // by itself.
    let example = target_dir().join("debug/examples/peers");
    let cases = capture(&mut command(example))?;
    let file = tools::dir()?.join("peers.jsonl");
    fs::write(&file, cases)
        .map_err(|error| format!("could not write {}: {error}", file.display()))?;
    stream(
        tools::peers()?
            .arg("arena/ladder/tests/peers.py")
            .arg(&file),
    )
}

fn stage<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    heading(name);
    let begin = Instant::now();
    let outcome = run();
    let seconds = begin.elapsed().as_secs_f64();
    let done =
        outcome.map_err(|error| format!("stage {name} failed after {seconds:.1} s: {error}"))?;
    eprintln!("== {name}: {seconds:.1} s");
    Ok(done)
}

fn heading(name: &str) {
    eprintln!("\n== {name}");
}
