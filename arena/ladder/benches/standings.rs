//! Measures the time that the standings of 100,000 games take, on one core.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use arena_ladder::{
    Entrant, GroupCount, GroupCounts, Seatings, Standings,
    bradley_terry::{self, PairGroups},
    luce::PRIOR,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

const GAMES: usize = 100_000;
const TIMES: usize = 9;

fn main() {
    println!("\nStandings, one core, median of {TIMES}\n");
    println!("| tournament | games | tallies | ms |");
    println!("| --- | ---: | ---: | ---: |");
    let mut chance = ChaCha8Rng::from_seed([1; 32]);
    for (what, seats, entrants, seatings, margins) in [
        ("two seats, 50 bots", 2, 50, Seatings::Rotations, 1000),
        ("two seats, 200 bots", 2, 200, Seatings::Rotations, 1000),
        ("four seats, 4 bots, 24 seatings", 4, 4, Seatings::All, 1000),
        (
            "four seats, 4 bots, 4 seatings",
            4,
            4,
            Seatings::Rotations,
            1000,
        ),
        (
            "four seats, 50 bots, 4 seatings",
            4,
            50,
            Seatings::Rotations,
            1000,
        ),
    ] {
        let tallies = tournament(&mut chance, seats, entrants, seatings, margins);
        let time = median(|| {
            black_box(Standings::of(seats, entrants, black_box(&tallies), &[]));
        });
        row(what, GAMES, tallies.len(), time);
    }

    let counts: Vec<Vec<u64>> = (0..200 * 199 / 2)
        .map(|_| (0..5).map(|_| u64::from(chance.next_u32() % 4)).collect())
        .collect();
    let players = (0..200).flat_map(|first| (first + 1..200).map(move |second| [first, second]));
    let pairs = players.zip(&counts);
    let pairs: Vec<PairGroups<'_>> = pairs
        .map(|(players, counts)| PairGroups { players, counts })
        .collect();
    let time = median(|| {
        black_box(bradley_terry::fit(200, black_box(&pairs), PRIOR)).expect("there is a prior");
    });
    let games = 2 * counts.iter().flatten().sum::<u64>();
    row(
        "Bradley-Terry alone, 200 bots, all pairs",
        games as usize,
        pairs.len(),
        time,
    );
}

/// A tournament of random tables, in which a lower number is stronger.
fn tournament(
    chance: &mut ChaCha8Rng,
    seats: u8,
    entrants: u32,
    seatings: Seatings,
    margins: u32,
) -> Vec<GroupCount> {
    let seats = usize::from(seats);
    let games = seatings.games(seats);
    // Those alike are counted together, as results are.
    let counts: GroupCounts = (0..GAMES / games)
        .map(|_| {
            let mut who: Vec<u32> = (0..entrants).collect();
            for at in 0..seats {
                let other = at + chance.next_u32() as usize % (who.len() - at);
                who.swap(at, other);
            }
            who.truncate(seats);
            let places = (0..games).map(|_| places(chance, &who, entrants));
            let places = places.collect();
            let margin = |_| i64::from(chance.next_u32() % margins);
            let margins: Vec<i64> = (0..seats).map(margin).collect();
            let lineup = who.iter().map(|&who| Some(Entrant::new(who))).collect();
            GroupCount::new(lineup, places, &margins, 1)
        })
        .collect();
    counts.iter().collect()
}

fn places(chance: &mut ChaCha8Rng, who: &[u32], entrants: u32) -> Vec<u8> {
    let luck: Vec<u32> = who
        .iter()
        .map(|who| who * 100 / entrants + chance.next_u32() % 300)
        .collect();
    let ahead = |mine: &u32| luck.iter().filter(|&other| other < mine).count();
    luck.iter().map(|mine| 1 + ahead(mine) as u8).collect()
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[TIMES / 2]
}

fn row(what: &str, games: usize, tallies: usize, time: Duration) {
    println!(
        "| {what} | {games} | {tallies} | {:.1} |",
        time.as_secs_f64() * 1e3
    );
}
