//! `cargo xtask test`: everything that must hold before a commit, in the order
//! that fails soonest and compiles least.

use std::{fs, panic::resume_unwind, process::Command, thread, time::Instant};

use serde_json::Value;

use crate::{
    images::{self, Base},
    languages, lint, manifests,
    postgres::Postgres,
    shell::{Result, capture, captured, cargo, command, stream, target_dir},
    system, tools,
};

/// The tests of the programs as a user starts them. Most of the time they wait, so all other
/// tests and those of the kits run beside them.
const PROGRAMS: &str = "arena";

/// Crates that are tested by themselves: rules, statistics, data and the routes of the page. They
/// start no server, no container and no browser.
const QUICK: &[&str] = &[
    "arena-draw",
    "arena-events",
    "arena-ladder",
    "arena-proto",
    "arena-web",
    "arena-words",
    "bot-kit",
    "referee-core",
    "referee-games",
];

/// The place of lint in a test run: before the tests, or left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lint {
    /// It does, tools and all.
    First,
    /// The tests alone.
    Skip,
}

/// Checks and tests the crates of [`QUICK`] and each kit by itself.
///
/// # Errors
/// The stage that failed.
pub(crate) fn quick() -> Result {
    stage("system", || system::install(system::BUILD))?;
    let packages: String = QUICK.iter().map(|name| format!(" -p {name}")).collect();
    stage("fmt", lint::fmt)?;
    stage("clippy", || {
        stream(&mut cargo(&format!(
            "clippy --locked --all-targets{packages} -- -D warnings"
        )))
    })?;
    stage("kits", || {
        languages::units(&target_dir().join("debug/arena"))
    })?;
    heading("test");
    stream(&mut cargo(&format!(
        "test --locked --lib --tests --no-fail-fast{packages}"
    )))
    .map_err(|error| format!("stage test failed: {error}").into())
}

/// Installs the tools, lints, builds, tests; stops where something fails.
///
/// # Errors
/// The stage that failed.
pub(crate) fn run(lint: Lint) -> Result {
    stage("system", || {
        system::install(system::BUILD)?;
        system::install(system::TESTS)
    })?;
    let postgres = stage("postgres", Postgres::start)?;
    // Mostly it waits for the network, so it is made beside all else.
    let base = Base::begin_for_tests()?;
    if lint == Lint::First {
        stage("tools", tools::install)?;
        // Clippy finds what does not compile in a fraction of a build's time,
        // and the build takes over its build scripts and macros.
        stage("lint", lint::run)?;
    }
    stage("manifests", manifests::test)?;
    // The same profile, targets and features as the tests: `cargo test` then
    // finds all but the documentation's examples built. Lint has looked at the benchmarks.
    stage("build", || {
        stream(&mut cargo(
            "build --workspace --lib --bins --tests --examples --locked",
        ))
    })?;
    stage("peers", peers)?;
    stage("games on Kubernetes", || {
        manifests::games(&target_dir().join("debug/arena"))
    })?;
    let mut kits = stage("languages", || {
        languages::tests(&target_dir().join("debug/arena"))
    })?;
    stage("images", || images::for_tests(base))?;
    stage("axe", tools::axe)?;
    // The examples in the documentation first: they are few, and what comes
    // last should be what the tests say.
    stage("doc", || {
        stream(&mut cargo("test --workspace --locked --doc"))
    })?;
    // Nothing may follow what cargo test says, so this stage has no time.
    heading("test");
    let mut programs = cargo(&format!(
        "test --workspace --locked --no-fail-fast --test {PROGRAMS}"
    ));
    programs.env(languages::VARIABLE, languages::folder());
    let mut others = cargo("test --workspace --locked --no-fail-fast --lib --bins");
    others.args(other_tests()?);
    postgres.tell(&mut programs);
    postgres.tell(&mut others);
    beside(
        &mut programs,
        &mut [&mut kits.cpp, &mut kits.python, &mut others],
    )
    .map_err(|error| format!("stage test failed: {error}").into())
}

/// Runs commands at a time. The output of the first is shown as it comes, that of the others when
/// all have ended.
///
/// # Errors
/// Some failed: a line for each.
fn beside(first: &mut Command, others: &mut [&mut Command]) -> Result {
    let words = |outcome: Result| outcome.err().map(|error| error.to_string());
    let mut failed = Vec::new();
    thread::scope(|scope| {
        let mut runs = Vec::new();
        for other in others {
            runs.push(scope.spawn(move || {
                let (said, outcome) = captured(other);
                (said, words(outcome))
            }));
        }
        failed.extend(words(stream(first)));
        for run in runs {
            let (said, outcome) = run.join().unwrap_or_else(|panic| resume_unwind(panic));
            print!("\n{said}");
            failed.extend(outcome);
        }
    });
    match failed.as_slice() {
        [] => Ok(()),
        _ => Err(failed.join("\n").into()),
    }
}

/// The targets of all integration tests but [`PROGRAMS`], as arguments.
///
/// # Errors
/// Cargo can't read the workspace.
fn other_tests() -> Result<Vec<String>> {
    let metadata = capture(&mut cargo("metadata --locked --no-deps --format-version 1"))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|target| target["kind"][0] == "test");
    let mut names: Vec<&str> = tests.filter_map(|test| test["name"].as_str()).collect();
    names.retain(|name| *name != PROGRAMS);
    names.sort_unstable();
    names.dedup();
    Ok(names.iter().map(|name| format!("--test={name}")).collect())
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
