//! `cargo xtask test`: everything that must hold before a commit, in the order
//! that fails soonest and compiles least.

use std::{env, fs, num::NonZero, thread::available_parallelism, time::Instant};

use crate::{
    images::{self, Base},
    languages, lint, manifests,
    postgres::Postgres,
    shell::{Result, capture, cargo, command, side_by_side, stream, target_dir},
    system, tools,
};

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
    // The same profile, targets and features as the tests: `cargo test` then
    // finds all but the documentation's examples built. Lint has looked at the benchmarks.
    let mut build = cargo("build --workspace --lib --bins --tests --examples --locked");
    // The checks of the manifests need no program of ours, and one core at a time.
    stage("build and manifests", || {
        side_by_side(vec![
            Box::new(|| stream(&mut build)),
            Box::new(manifests::test),
        ])
    })?;
    stage("peers", peers)?;
    stage("games on Kubernetes", || {
        manifests::games(&target_dir().join("debug/arena"))
    })?;
    stage("languages", || {
        languages::test(&target_dir().join("debug/arena"))
    })?;
    stage("axe", tools::axe)?;
    // The examples in the documentation first: they are few, and what comes
    // last should be what the tests say. Images take one core.
    let mut examples = cargo("test --workspace --locked --doc");
    stage("images and examples of the documentation", || {
        side_by_side(vec![
            Box::new(|| images::for_tests(base)),
            Box::new(|| stream(&mut examples)),
        ])
    })?;
    // Nothing may follow what cargo test says, so this stage has no time.
    heading("test");
    let mut tests = cargo("test --workspace --locked --lib --bins --tests --no-fail-fast");
    tests.env(languages::VARIABLE, languages::folder());
    // The longest suites wait for a third of their time.
    const THREADS: &str = "RUST_TEST_THREADS";
    if env::var_os(THREADS).is_none() {
        let cores = available_parallelism().map_or(1, NonZero::get);
        tests.env(THREADS, (cores + cores.div_ceil(2)).to_string());
    }
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
    let before = Ticks::read();
    let outcome = run();
    let seconds = begin.elapsed().as_secs_f64();
    let done =
        outcome.map_err(|error| format!("stage {name} failed after {seconds:.1} s: {error}"))?;
    let busy = before.and_then(|before| Ticks::read()?.busy_since(before));
    match busy {
        Some(busy) => {
            eprintln!("== {name}: {seconds:.1} s, the cores were busy for {busy:.0} % of it");
        }
        None => eprintln!("== {name}: {seconds:.1} s"),
    }
    Ok(done)
}

/// What all cores of the machine have done since it was started, in the kernel's ticks.
#[derive(Clone, Copy)]
struct Ticks {
    all: u64,
    idle: u64,
}

impl Ticks {
    /// From the first line of `/proc/stat`: `cpu user nice system idle iowait …` (proc(5)).
    fn read() -> Option<Self> {
        let text = fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<u64> = text
            .lines()
            .next()?
            .split_whitespace()
            .skip(1)
            .filter_map(|field| field.parse().ok())
            .collect();
        // Guests' time, which is last, is part of user time.
        Some(Self {
            all: fields.iter().take(8).sum(),
            idle: fields.get(3)? + fields.get(4)?,
        })
    }

    /// The share of time, in percent, in which the cores were not idle.
    fn busy_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let idle = self.idle.saturating_sub(before.idle);
        Some(100.0 * (1.0 - idle as f64 / all as f64))
    }
}

fn heading(name: &str) {
    eprintln!("\n== {name}");
}
