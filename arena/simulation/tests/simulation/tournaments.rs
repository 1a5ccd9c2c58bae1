//! Tournaments of the real arena with real workers, while everything goes wrong.

use std::time::Instant;

use arena_simulation::{Beside, SEED_VARIABLE};

use crate::{first_difference, seeds, tournament::SimulatedTournament, watch::Defect};

/// How many seeds are run.
const SEEDS_VARIABLE: &str = "ARENA_SIMULATION_SEEDS";
const SEEDS: u64 = 1000;

#[test]
fn a_tournament_ends_in_the_table_of_an_undisturbed_run() {
    if let Ok(seed) = std::env::var(SEED_VARIABLE) {
        let seed = seed.parse().expect("a number as the seed");
        let beside = Beside::start().unwrap();
        let ended = SimulatedTournament::of(seed).check(&beside).unwrap();
        println!("{}{:?}", ended.trace, ended.counts);
        return;
    }
    let seeds = std::env::var(SEEDS_VARIABLE);
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number of seeds"));
    let begin = Instant::now();
    let total = seeds::run_all(0..seeds, |beside, seed| {
        let ended = SimulatedTournament::of(seed).check(beside).unwrap();
        assert!(
            ended.refused.iter().all(|name| name.starts_with("forger")),
            "seed {seed}: {:?} were refused",
            ended.refused
        );
        let mut counts = ended.counts;
        counts.insert("refused", ended.refused.len() as u64);
        counts
    });
    println!("{seeds} seeds in {:?}: {total:?}", begin.elapsed());
    if seeds >= 60 {
        // Without trouble it would prove little.
        for what in ["accepted", "duplicate", "stale", "leased again", "refused"] {
            assert!(total.contains_key(what), "never: {what}");
        }
    }
}

#[test]
fn a_seed_decides_everything_that_happens_in_a_tournament() {
    let beside = Beside::start().unwrap();
    for seed in 0..6 {
        let run = || SimulatedTournament::of(seed).run(&beside, None).unwrap();
        let [one, two] = [run().trace, run().trace];
        assert!(one.hash() == two.hash(), "{}", first_difference(&one, &two));
    }
}

/// The message of the first seed that shows it.
fn caught(defect: Defect) -> String {
    let beside = Beside::start().expect("a thread");
    for seed in 0..40 {
        let mut tournament = SimulatedTournament::of(seed);
        tournament.defect = defect;
        if let Err(failure) = tournament.run(&beside, None) {
            return failure.why;
        }
    }
    panic!("{defect:?} was not caught");
}

#[test]
fn an_arena_that_takes_reports_of_lost_leases_is_caught() {
    let why = caught(Defect::TakesStaleReports);
    assert!(why.contains("a stale report was taken"), "{why}");
}

#[test]
fn an_arena_that_tells_a_worker_the_seed_of_another_deal_is_caught() {
    let why = caught(Defect::TellsSeeds);
    assert!(why.contains("the seed of deal"), "{why}");
}

#[test]
fn an_arena_that_tells_a_worker_the_root_is_caught() {
    let why = caught(Defect::TellsRoot);
    assert!(why.contains("the root came to worker"), "{why}");
}
