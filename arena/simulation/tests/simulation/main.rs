//! Simulations: of a toy, to show that one seed is one course of events; and of tournaments of
//! the real arena with real workers.

mod archive;
mod arena;
mod chance;
mod defect;
mod forger;
mod games;
mod observer;
mod player;
mod reference;
mod results;
mod run;
mod scenario;
mod secrets;
mod seeds;
mod service;
mod statements;
mod storage;
mod table;
mod tournament;
mod tournaments;
mod toy;
mod trouble;
mod watch;

use std::{collections::BTreeSet, time::Duration};

use arena_simulation::{Beside, FaultTable, SEED_VARIABLE};

use self::toy::Toy;

fn faulty() -> Toy {
    Toy {
        workers: 5,
        games_each: 8,
        pause: Duration::from_secs(3),
        faults: FaultTable::everything(Duration::from_secs(30)),
    }
}

#[test]
fn a_seed_gives_the_same_trace_again_and_another_seed_another_one() {
    let beside = Beside::start().unwrap();
    let mut hashes = BTreeSet::new();
    let mut happened = String::new();
    for seed in 0..20 {
        let [one, two] = [0; 2].map(|_| faulty().run(&beside, seed).unwrap());
        assert!(one.hash() == two.hash(), "{}", first_difference(&one, &two));
        assert!(hashes.insert(one.hash()), "seed {seed} is like another one");
        happened.push_str(&one.to_string());
    }
    // Without trouble it would prove little.
    for what in [
        "begins: partition between",
        "begins: partition from",
        "begins: messages held",
        "begins: up to",
        "begins: process of arena killed",
        "begins: process of worker",
        "begins: power of arena cut",
        "in 1000 lost",
        "clock of",
        ": Unavailable at",
        ": no answer at",
        ": Accepted",
        ": Duplicate",
    ] {
        assert!(happened.contains(what), "never: {what}");
    }
}

#[test]
fn a_simulation_without_an_end_fails_and_says_how_to_run_it_again() {
    let beside = Beside::start().unwrap();
    let toy = Toy {
        workers: 1,
        // More than there is time for.
        games_each: 5000,
        pause: Duration::ZERO,
        faults: FaultTable::none(),
    };
    let failure = toy.run(&beside, 77).unwrap_err().to_string();
    assert!(failure.contains("worker-0: game 12: stored"), "{failure}");
    assert!(failure.ends_with(
        "simulation 77 failed: it is not over in time\nto run it again: \
         ARENA_SIMULATION_SEED=77 cargo test -p arena-simulation every_seed_ends -- \
         --include-ignored --nocapture"
    ));
}

/// One seed from the environment, or many.
#[test]
#[ignore = "many simulations, or the one that a failure names"]
fn every_seed_ends_with_each_game_stored_once() {
    let beside = Beside::start().unwrap();
    match std::env::var(SEED_VARIABLE) {
        Ok(seed) => {
            let seed = seed.parse().expect("a number as the seed");
            println!("{}", faulty().run(&beside, seed).unwrap());
        }
        Err(_) => {
            for seed in 1000..1200 {
                faulty().run(&beside, seed).unwrap();
            }
        }
    }
}

/// The first line in which two traces differ.
fn first_difference(one: &arena_simulation::Trace, two: &arena_simulation::Trace) -> String {
    let (one, two) = (one.to_string(), two.to_string());
    let mut lines = one.lines().zip(two.lines()).enumerate();
    match lines.find(|(_, (one, two))| one != two) {
        Some((number, (one, two))) => format!("line {number}:\n{one}\n{two}"),
        None => "one is longer".to_owned(),
    }
}
