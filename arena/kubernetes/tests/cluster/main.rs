//! The controller against a cluster in this process: an API server with memory, the Job
//! controller's, the scheduler's and the kubelets' own behaviour, and pods that play for a real
//! dispatcher. A seed decides what is played and what goes wrong.

#![allow(clippy::print_stdout, reason = "a test")]

mod api;
mod arena;
mod chance;
mod job_controller;
mod kubelet;
mod limits;
mod objects;
mod referee;
mod removal;
mod run;
mod scenario;
mod world;

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use parking_lot::Mutex;

use self::{
    run::{Ended, Failure},
    scenario::Scenario,
    world::{Counts, Defect},
};

/// One seed of small tournaments, with a trace of what happens.
const SEED_VARIABLE: &str = "ARENA_KUBERNETES_SEED";
/// Number of seeds of small tournaments that are run, and the first of them.
const SEEDS_VARIABLE: &str = "ARENA_KUBERNETES_SEEDS";
const FIRST_VARIABLE: &str = "ARENA_KUBERNETES_FIRST_SEED";
const SEEDS: u64 = 300;
/// The same of the large tournament.
const LARGE_SEED_VARIABLE: &str = "ARENA_KUBERNETES_LARGE_SEED";
const LARGE_SEEDS_VARIABLE: &str = "ARENA_KUBERNETES_LARGE_SEEDS";
const LARGE_FIRST_VARIABLE: &str = "ARENA_KUBERNETES_LARGE_FIRST_SEED";

/// Number of seeds after which each of these things must have happened. Without trouble they would
/// prove little.
const ENOUGH: u64 = 200;
const HAPPENS: [&str; 27] = [
    "410",
    "Jobs complete",
    "Jobs deleted by hand",
    "Jobs failed",
    "OOM",
    "accepted",
    "answers lost",
    "bots lost while playing",
    "indexes failed",
    "lease lost",
    "leased again",
    "pods crashed",
    "pods deleted by hand",
    "pods of bots made",
    "pods of lost nodes",
    "pods of referees made",
    "pods refused",
    "preempted",
    "quota reached",
    "reports wait for the arena",
    "requests lost",
    "requests refused",
    "stale",
    "stuck",
    "unschedulable",
    "duplicate",
    "leases",
];

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// Runs one seed, with a trace of it.
fn run_traced(scenario: &Scenario) {
    println!("{scenario:#?}");
    match scenario.run(true) {
        Ok(Ended {
            counts,
            trace,
            took,
        }) => println!("{trace}\n{counts:#?}\nover after {} s", took / 1000),
        Err(Failure { why, trace }) => panic!("{trace}\n{why}"),
    }
}

/// Runs all seeds, and adds up what they count.
fn run_all(seeds: Range<u64>, variable: &str, of: impl Fn(u64) -> Scenario + Sync) -> Counts {
    let next = AtomicU64::new(seeds.start);
    let total = Mutex::new(Counts::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            let ended = of(seed).run(false).unwrap_or_else(|Failure { why, .. }| {
                next.store(seeds.end, Ordering::Relaxed);
                panic!(
                    "{why}\nto run it again: {variable}={seed} cargo test -p arena-kubernetes \
                     --test cluster tournament -- --nocapture"
                )
            });
            let mut total = total.lock();
            for (what, count) in ended.counts {
                *total.entry(what).or_default() += count;
            }
            *total.entry("simulated seconds").or_default() += ended.took / 1000;
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    total.into_inner()
}

#[test]
fn a_small_tournament_ends_in_the_table_of_an_undisturbed_run() {
    if let Some(seed) = number(SEED_VARIABLE) {
        run_traced(&Scenario::small(seed));
        return;
    }
    let begin = Instant::now();
    let seeds = number(SEEDS_VARIABLE).unwrap_or(SEEDS);
    let first = number(FIRST_VARIABLE).unwrap_or(0);
    let total = run_all(first..first + seeds, SEED_VARIABLE, Scenario::small);
    println!("{seeds} seeds in {:?}: {total:#?}", begin.elapsed());
    if seeds >= ENOUGH {
        for what in HAPPENS {
            assert!(total.contains_key(what), "never: {what}");
        }
    }
}

#[test]
fn a_tournament_of_19900_pairings_ends_with_every_game_counted_once() {
    if let Some(seed) = number(LARGE_SEED_VARIABLE) {
        run_traced(&Scenario::large(seed));
        return;
    }
    let begin = Instant::now();
    let seeds = number(LARGE_SEEDS_VARIABLE).unwrap_or(1);
    let first = number(LARGE_FIRST_VARIABLE).unwrap_or(0);
    let total = run_all(first..first + seeds, LARGE_SEED_VARIABLE, Scenario::large);
    println!("{seeds} seeds in {:?}: {total:#?}", begin.elapsed());
}

#[test]
fn a_seed_decides_everything_that_happens() {
    for seed in 0..10 {
        let [one, two] = [0; 2].map(|_| match Scenario::small(seed).run(true) {
            Ok(ended) => ended.trace,
            Err(failure) => panic!("{}", failure.why),
        });
        let mut lines = one.lines().zip(two.lines());
        let differ = lines.find(|(one, two)| one != two);
        assert!(one == two, "seed {seed}: {differ:?}");
    }
}

#[test]
fn a_cluster_with_little_room_plays_all_the_same() {
    run_all(0..20, "see the test; seed", Scenario::with_little_room);
}

#[test]
fn it_ends_though_whoever_makes_something_never_hears_of_it() {
    run_all(0..20, "see the test; seed", |seed| {
        let mut scenario = Scenario::small(seed);
        scenario.shape.defect = Defect::LosesEveryAnswer;
        scenario
    });
}

/// Each planted defect, and what is said of it.
const CAUGHT: [(Defect, &str); 4] = [
    (Defect::AppliesTwice, "are of one match"),
    (Defect::OneJobMore, "and may be"),
    (Defect::AltersResults, "came out otherwise"),
    (Defect::KeepsPods, "it is not over in time"),
];

#[test]
fn every_planted_defect_is_caught() {
    for (defect, says) in CAUGHT {
        let caught = (0..60).find_map(|seed| {
            let mut scenario = Scenario::small(seed);
            scenario.shape.defect = defect;
            scenario.run(false).err()
        });
        let why = caught.map(|failure| failure.why);
        let why = why.unwrap_or_else(|| panic!("{defect:?} was not caught"));
        assert!(why.contains(says), "{defect:?}: {why}");
    }
}
