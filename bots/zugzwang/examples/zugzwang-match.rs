//! Plays one set-up of the engine against others: random boards, each from both sides. Prints a table
//! of the first one's scores with error bars of 95 %.
//!
//! A set-up is a list such as `nodes=50000,threads=2`: one of `nodes`, `depth` and `time`, and `threads`.
//! A limit of nodes is that of the first thread; the others search for as long. Limits of nodes or depth
//! with one thread give the same games again.

#![allow(clippy::print_stdout, reason = "a program")]

mod shared;

use std::{num::NonZeroUsize, str::FromStr, time::Duration};

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use zugzwang::{ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit};

/// Plays one set-up of the engine against others.
#[derive(Parser)]
struct Arguments {
    /// The set-up whose scores are told
    first: Setup,
    /// Its opponents
    #[arg(required = true)]
    others: Vec<Setup>,
    /// How many boards, each played from both sides
    #[arg(long, default_value_t = 100)]
    pairs: u32,
    /// How many random plies a game begins with
    #[arg(long, default_value_t = 0)]
    plies: u32,
    /// What boards are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A set-up of the engine and its limit.
#[derive(Clone)]
struct Setup {
    text: String,
    budget: Budget,
    threads: NonZeroUsize,
}

/// The limit of a search.
#[derive(Clone, Copy)]
enum Budget {
    Time(Duration),
    Nodes(u64),
    Depth(u8),
}

impl FromStr for Setup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn number<T: FromStr>(value: &str) -> Result<T, String> {
            let number = value.parse().ok();
            number.ok_or_else(|| format!("expected a number, found {value:?}"))
        }
        let (mut budget, mut threads) = (None, NonZeroUsize::MIN);
        for parameter in text.split(',') {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match key {
                "time" => {
                    let time = number(value.strip_suffix("ms").unwrap_or(""))?;
                    budget = Some(Budget::Time(Duration::from_millis(time)));
                }
                "nodes" => budget = Some(Budget::Nodes(number(value)?)),
                "depth" => budget = Some(Budget::Depth(number(value)?)),
                "threads" => threads = number(value)?,
                _ => {
                    return Err(format!(
                        "expected time, nodes, depth or threads, found {key:?}"
                    ));
                }
            }
        }
        Ok(Self {
            text: text.to_owned(),
            budget: budget.ok_or("expected time, nodes or depth")?,
            threads,
        })
    }
}

fn main() {
    let arguments = Arguments::parse();
    println!(
        "| {} against | won-drawn-lost | score % |",
        arguments.first.text
    );
    println!("| :--- | ---: | ---: |");
    for other in &arguments.others {
        let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
        let (mut scores, mut counts) = (Vec::new(), [0; 3]);
        while scores.len() < arguments.pairs as usize {
            let Some(start) = start(&mut rng, arguments.plies) else {
                continue;
            };
            let results = [0, 1].map(|first| play(start, first, [&arguments.first, other]));
            for result in results {
                counts[(1 - result) as usize] += 1;
            }
            scores.push(25.0 * f64::from(results[0] + results[1] + 2));
        }
        let [won, drawn, lost] = counts;
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        let error = 1.96 * (squares / (count - 1.0).max(1.0) / count).sqrt();
        println!(
            "| {} | {won}-{drawn}-{lost} | {mean:.1} ± {error:.1} |",
            other.text
        );
    }
}

/// A board of the sizes that the game has, with so many random stones; none if that ends the game.
fn start(rng: &mut ChaCha8Rng, plies: u32) -> Option<ConnectFourPosition> {
    let (mut position, columns) = shared::random_board(rng)?;
    for _ in 0..plies {
        position.play(rng.random_range(0..columns)).ok()?;
    }
    (!position.is_won()).then_some(position)
}

/// 1 if the first set-up wins, 0 for a draw, -1 if it loses.
fn play(mut position: ConnectFourPosition, mut turn: usize, setups: [&Setup; 2]) -> i32 {
    let mut engines = setups.map(|setup| {
        ConnectFourEngine::new(ConnectFourEngineOptions {
            table: 32,
            threads: setup.threads,
            ..ConnectFourEngineOptions::default()
        })
    });
    loop {
        let limit = match setups[turn].budget {
            Budget::Time(time) => Limit::time(time),
            Budget::Nodes(nodes) => Limit::nodes(nodes),
            Budget::Depth(plies) => Limit::depth(plies),
        };
        let Ok(answer) = engines[turn].search(&position, &limit) else {
            return 0;
        };
        position
            .play(answer.column)
            .expect("the engine plays legal moves");
        if position.is_won() {
            return if turn == 0 { 1 } else { -1 };
        }
        turn = 1 - turn;
    }
}
