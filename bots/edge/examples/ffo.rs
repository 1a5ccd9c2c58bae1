//! Solves positions of the FFO endgame suite (P. Feldmann) exactly and prints a table: numbers
//! of positions as arguments, or all of them. Ends with 1 where a score is not the known one or
//! the move is not one of the best.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::{num::NonZeroUsize, process::ExitCode, time::Instant};

use clap::Parser;
use edge::{Discs, OthelloEngine, OthelloEngineOptions, SearchLimit};

/// Number, position, score, best moves.
const SUITE: [(u32, &str, i32, &str); 6] = [
    (
        40,
        "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X",
        38,
        "a2",
    ),
    (
        41,
        "-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X",
        0,
        "h4",
    ),
    (
        42,
        "--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X",
        6,
        "g2",
    ),
    (
        43,
        "--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O",
        -12,
        "c7 g3",
    ),
    (
        44,
        "--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O",
        -14,
        "d2 b8",
    ),
    (
        49,
        "--OX-O----XXOO--OOOOOXX-OOOOOX--OOOXOXX-OOOOXX-----OOX----X-O--- X",
        16,
        "e1",
    ),
];

/// Solves positions of the FFO endgame suite exactly.
#[derive(Parser)]
struct Arguments {
    /// The numbers of positions: 40 to 44 and 49; all if none is given
    numbers: Vec<u32>,
    /// How many threads search
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
}

fn main() -> ExitCode {
    let Arguments { numbers, threads } = Arguments::parse();
    if let Some(number) = numbers
        .iter()
        .find(|number| !SUITE.iter().any(|(known, ..)| known == *number))
    {
        eprintln!("expected numbers of positions from 40 to 44 or 49, not {number}");
        return ExitCode::from(2);
    }
    let options = OthelloEngineOptions {
        threads,
        ..OthelloEngineOptions::default()
    };
    let mut engine = match OthelloEngine::new(options) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("could not make an engine: {error}");
            return ExitCode::from(2);
        }
    };
    println!("| position | score | expected | best | nodes | seconds | million nodes/s |");
    println!("| ---: | ---: | ---: | :--- | ---: | ---: | ---: |");
    let mut right = true;
    for (number, position, score, best) in SUITE {
        if !numbers.is_empty() && !numbers.contains(&number) {
            continue;
        }
        let board: Discs = position.parse().expect("the suite is one of positions");
        engine.clear();
        let began = Instant::now();
        let answer = engine.search(board, SearchLimit::default());
        let seconds = began.elapsed().as_secs_f64();
        let found = answer
            .square
            .map_or_else(String::new, |square| square.to_string());
        println!(
            "| {number} | {} | {score} | {found} | {} | {seconds:.3} | {:.1} |",
            answer.score,
            answer.nodes,
            answer.nodes as f64 / seconds / 1e6,
        );
        right &= answer.score == score && best.split(' ').any(|best| best == found);
    }
    ExitCode::from(u8::from(!right))
}
