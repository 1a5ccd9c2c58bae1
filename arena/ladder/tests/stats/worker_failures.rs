//! Tests of the search for workers that make bots lose.

use arena_ladder::{Failure, FailureCount, WorkerTest, test_workers, worker_failures::LEVEL};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

fn count(bot: u64, worker: u64, games: u64, failures: u64) -> FailureCount {
    FailureCount {
        bot,
        worker,
        failure: Failure::Late,
        games,
        failures,
    }
}

fn flagged(tests: &[WorkerTest]) -> Vec<(u64, Failure)> {
    let flagged = tests.iter().filter(|test| test.is_flagged);
    flagged.map(|test| (test.worker, test.failure)).collect()
}

/// Number of games, of so many, that have an event of this probability, in ten thousandths.
fn drawn(chance: &mut ChaCha8Rng, games: u64, probability: u64) -> u64 {
    let event = |_: &u64| u64::from(chance.next_u32() % 10_000) < probability;
    (0..games).filter(event).count() as u64
}

/// A tournament of 6 bots, from one that never fails to one that often does, on 4
/// workers, of which each has its favourites. Workers fail bots as often, in ten
/// thousandths, as `worker` says.
fn tournament(chance: &mut ChaCha8Rng, games: u64, worker: [u64; 4]) -> Vec<FailureCount> {
    let mut counts = Vec::new();
    for (bot, of_bot) in [0, 5, 20, 50, 200, 800].into_iter().enumerate() {
        for (number, of_worker) in worker.into_iter().enumerate() {
            let games = if bot % 4 == number { 3 * games } else { games };
            for failure in [Failure::Late, Failure::Crashed] {
                counts.push(FailureCount {
                    bot: bot as u64,
                    worker: number as u64,
                    failure,
                    games,
                    failures: drawn(chance, games, of_bot + of_worker),
                });
            }
        }
    }
    counts
}

#[test]
fn workers_that_are_alike_are_flagged_as_rarely_as_the_level_says() {
    let mut chance = ChaCha8Rng::from_seed([1; 32]);
    let cases = 3000;
    let flagged = (0..cases).filter(|case| {
        let games = [10, 40, 120][case % 3];
        !flagged(&test_workers(&tournament(&mut chance, games, [0; 4]))).is_empty()
    });
    // Of 3000, 3 are expected at most; 8 or more would be one chance in 80.
    let flagged = flagged.count();
    assert!(flagged < 8, "{flagged} of {cases} at level {LEVEL}");
}

#[test]
fn a_worker_with_ten_times_as_many_losses_on_time_is_flagged() {
    let mut chance = ChaCha8Rng::from_seed([2; 32]);
    let counts: Vec<FailureCount> = (0..4)
        .flat_map(|bot| (0..5).map(move |worker| (bot, worker)))
        .map(|(bot, worker)| {
            let probability = if worker == 3 { 500 } else { 50 };
            count(bot, worker, 500, drawn(&mut chance, 500, probability))
        })
        .collect();
    let tests = test_workers(&counts);
    assert_eq!(flagged(&tests), [(3, Failure::Late)]);
    let of_3 = tests[3].test.unwrap();
    assert_eq!(of_3.trials, 2000);
    assert!(of_3.p_value < 1e-20 && of_3.risk_ratio.unwrap() > 5.0);
}

#[test]
fn a_worker_that_plays_the_bot_that_always_fails_is_not_to_blame() {
    let counts = [
        // Worker 0 has more failures than all others, all of them of bot 9.
        count(9, 0, 1000, 500),
        count(9, 1, 100, 50),
        count(9, 2, 100, 50),
        count(1, 0, 100, 0),
        count(1, 1, 1000, 1),
        count(1, 2, 1000, 1),
    ];
    assert!(flagged(&test_workers(&counts)).is_empty());
}

#[test]
fn a_worker_that_has_its_bots_to_itself_is_not_compared() {
    let counts = [count(0, 0, 50, 40), count(1, 1, 50, 1), count(1, 2, 50, 1)];
    let tests = test_workers(&counts);
    assert!(tests[0].test.is_none() && !tests[0].is_flagged);
    assert!(tests[1].test.is_some() && tests[2].test.is_some());
    assert!(test_workers(&[]).is_empty());
    assert!(test_workers(&counts[..1])[0].test.is_none());
}

#[test]
fn kinds_of_failures_are_told_apart() {
    let mut counts = vec![count(0, 0, 1000, 60), count(0, 1, 1000, 5)];
    for late in counts.clone() {
        counts.push(FailureCount {
            failure: Failure::Crashed,
            failures: 5,
            ..late
        });
    }
    assert_eq!(flagged(&test_workers(&counts)), [(0, Failure::Late)]);
}

#[test]
fn neither_order_nor_numbering_nor_splitting_changes_a_result() {
    let mut chance = ChaCha8Rng::from_seed([3; 32]);
    let mut counts = tournament(&mut chance, 100, [0, 0, 300, 0]);
    let tests = test_workers(&counts);
    assert!(!flagged(&tests).is_empty());
    for at in 1..counts.len() {
        counts.swap(at, chance.next_u32() as usize % (at + 1));
    }
    assert_eq!(test_workers(&counts), tests);
    // Other numbers for the same bots.
    for count in &mut counts {
        count.bot = (count.bot * 5 + 1) % 7;
    }
    assert_eq!(test_workers(&counts), tests);
    let halves = counts.iter().flat_map(|count| {
        let half = FailureCount {
            games: count.games / 2,
            failures: count.failures / 2,
            ..*count
        };
        let rest = FailureCount {
            games: count.games - half.games,
            failures: count.failures - half.failures,
            ..*count
        };
        [half, rest]
    });
    assert_eq!(test_workers(&halves.collect::<Vec<_>>()), tests);
}

#[test]
fn the_level_is_shared_by_all_tests() {
    // The chance of 4 of 4 against 0 of 12 is 1/1820: less than the level alone, more
    // than half of it, and there are two workers.
    let counts = [count(0, 0, 4, 4), count(0, 1, 12, 0)];
    let tests = test_workers(&counts);
    let p = tests[0].test.unwrap().p_value;
    assert!((p - 1.0 / 1820.0).abs() < 1e-12 && p < LEVEL && p > LEVEL / 2.0);
    assert!(flagged(&tests).is_empty());
}
