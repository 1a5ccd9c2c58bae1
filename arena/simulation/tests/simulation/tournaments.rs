//! Tournaments of the real arena with real workers, while everything goes wrong.

use std::time::Instant;

use arena_simulation::{Beside, SEED_VARIABLE};

use crate::{defect::Defect, first_difference, scenario::Scenario, seeds};

/// Name of the variable for the number of seeds that are run, and that number if it is not set.
const SEEDS_VARIABLE: &str = "ARENA_SIMULATION_SEEDS";
const SEEDS: u64 = 300;
/// The first of them.
const FIRST_VARIABLE: &str = "ARENA_SIMULATION_FIRST_SEED";

/// Number of seeds from which on all of these things must have happened. Without trouble they would
/// prove little.
const ENOUGH: u64 = 200;
const HAPPENS: [&str; 16] = [
    "accepted",
    "archive fetched",
    "archive refused",
    "cancelled",
    "disk full",
    "duplicate",
    "forged",
    "given back",
    "leased again",
    "move told",
    "paused",
    "proved",
    "refused",
    "stale",
    "store failed",
    "waits for room",
];

#[test]
fn a_tournament_ends_in_the_table_of_an_undisturbed_run() {
    if let Ok(seed) = std::env::var(SEED_VARIABLE) {
        let seed = seed.parse().expect("a number as the seed");
        let beside = Beside::start().unwrap();
        let ended = Scenario::of(seed).check(&beside).unwrap();
        println!("{}{:?}", ended.trace, ended.counts);
        return;
    }
    let seeds = std::env::var(SEEDS_VARIABLE);
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number of seeds"));
    let first = std::env::var(FIRST_VARIABLE);
    let first = first.map_or(0, |first| {
        first.parse().expect("a number as the first seed")
    });
    let begin = Instant::now();
    let total = seeds::run_all(first..first + seeds, |beside, seed| {
        let ended = Scenario::of(seed).check(beside).unwrap();
        let is_allowed = |name: &str| name.starts_with("forger") || ended.revoked.contains(name);
        assert!(
            ended.refused.iter().all(|name| is_allowed(name)),
            "seed {seed}: {:?} were refused",
            ended.refused
        );
        let mut counts = ended.counts;
        counts.insert("refused", ended.refused.len() as u64);
        counts
    });
    println!("{seeds} seeds in {:?}: {total:?}", begin.elapsed());
    if seeds >= ENOUGH {
        for what in HAPPENS {
            assert!(total.contains_key(what), "never: {what}");
        }
    }
}

#[test]
fn a_seed_decides_everything_that_happens_in_a_tournament() {
    let beside = Beside::start().unwrap();
    for seed in 0..20 {
        let run = || Scenario::of(seed).run(&beside, None).unwrap();
        let [one, two] = [run().trace, run().trace];
        assert!(one.hash() == two.hash(), "{}", first_difference(&one, &two));
    }
}

/// The message of the first seed that shows it.
fn caught(beside: &Beside, defect: Defect) -> String {
    for seed in 0..60 {
        let mut scenario = Scenario::of(seed);
        scenario.defect = defect;
        if let Err(failure) = scenario.check(beside) {
            return failure.why;
        }
    }
    panic!("{defect:?} was not caught");
}

/// Each planted defect, and what is said of it.
const CAUGHT: [(Defect, &str); 13] = [
    (Defect::TellsSeeds, "the seed of deal"),
    (Defect::TellsRoot, "the root came to "),
    (Defect::AsksForMoves, "public moves are asked for"),
    (Defect::LosesGames, "is told before its time"),
    (
        Defect::ConfirmsEverything,
        "is confirmed, and is not stored",
    ),
    (Defect::AltersResults, ", undisturbed "),
    (Defect::LosesCounters, "the counters do not add up"),
    (Defect::IgnoresCancel, "is not cancelled"),
    (Defect::IgnoresPause, "is not paused"),
    (Defect::StopsInNameOnly, "of a tournament that is stopped"),
    (Defect::IgnoresRevoke, "a worker that was revoked"),
    (Defect::StopsForGood, "waits for somebody to mend it"),
    (Defect::NeverEnds, "it is not over in time"),
];

#[test]
fn every_planted_defect_is_caught() {
    seeds::run_all(0..CAUGHT.len() as u64, |beside, number| {
        let (defect, says) = CAUGHT[number as usize];
        let why = caught(beside, defect);
        assert!(why.contains(says), "{defect:?}: {why}");
        seeds::Counts::new()
    });
}
