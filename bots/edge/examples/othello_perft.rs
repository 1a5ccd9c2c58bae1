//! Counts the lines from the start, to this many plies (default 10), and prints a table.
//! Ends with 1 where a count is not the known one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::{process::ExitCode, time::Instant};

use edge::Discs;

/// For 1 to 12 plies; a pass is a ply.
const KNOWN: [u64; 12] = [
    4,
    12,
    56,
    244,
    1396,
    8200,
    55_092,
    390_216,
    3_005_288,
    24_571_284,
    212_258_800,
    1_939_886_636,
];

fn main() -> ExitCode {
    let plies = std::env::args()
        .nth(1)
        .map_or(Ok(10), |plies| plies.parse());
    let plies = plies.ok().filter(|plies| (1..=KNOWN.len()).contains(plies));
    let Some(plies) = plies else {
        eprintln!("expected a number of plies, 1 to {}", KNOWN.len());
        return ExitCode::from(2);
    };
    println!("| plies | lines | expected | seconds | million lines/s |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    let mut right = true;
    for (plies, expected) in (1..).zip(&KNOWN[..plies]) {
        let began = Instant::now();
        let lines = Discs::START.perft(plies);
        let seconds = began.elapsed().as_secs_f64();
        let speed = lines as f64 / seconds / 1e6;
        println!("| {plies} | {lines} | {expected} | {seconds:.3} | {speed:.0} |");
        right &= lines == *expected;
    }
    ExitCode::from(u8::from(!right))
}
