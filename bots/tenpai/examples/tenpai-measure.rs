//! Plays rounds without a referee and without protocol, with several amounts of work on the same
//! deals: the arcade case, or against a seat that plays as `shanten` does.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "shared/measure.rs"]
mod measure;
#[path = "shared/round.rs"]
mod round;

use std::{fs, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use measure::{EnginePlayer, mean};
use round::{Round, wall};
use tenpai::{MahjongEngine, NetworkWeights};

/// Plays rounds with several amounts of work, each with the same deals.
#[derive(Parser)]
struct Arguments {
    /// How many hands the engine evaluates for an answer
    #[arg(long, value_delimiter = ',', default_value = "1,2000")]
    hands: Vec<u64>,
    /// How many playouts follow, for each number of hands; none where it is not given
    #[arg(long, value_delimiter = ',')]
    playouts: Vec<u64>,
    /// How many threads make the playouts; the scores do not depend on it
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// How many deals
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// What deals are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Weights instead of those of the crate
    #[arg(long)]
    weights: Option<PathBuf>,
    /// With the wide network of this file, which playouts ask for
    #[arg(long)]
    wide: Option<PathBuf>,
    /// Against a seat that plays as `shanten` does, each deal from both seats; the score is the own one
    /// less that of the other seat
    #[arg(long)]
    race: bool,
    /// The chance that the other seat never wins, instead of the engine's estimate
    #[arg(long)]
    passive: Option<f32>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let read = |file| fs::read(file).expect("weights can be read");
    let mut weights = match &arguments.weights {
        Some(file) => NetworkWeights::read(read(file)).expect("a file of weights"),
        None => NetworkWeights::embedded(),
    };
    if let Some(file) = &arguments.wide {
        weights = weights
            .with_wide(read(file))
            .expect("a file of a wide network");
    }
    let before = anonymous_memory();
    tenpai::prepare();
    let engine = MahjongEngine::new(weights);
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); arguments.hands.len()];
    let mut times = vec![0.0; arguments.hands.len()];
    let mut faans = vec![0.0; arguments.hands.len()];
    let mut wins = vec![0.0; arguments.hands.len()];
    for round in 0..arguments.rounds {
        let tiles = wall(arguments.seed, round);
        for (at, &hands) in arguments.hands.iter().enumerate() {
            let began = Instant::now();
            let seats: &[bool] = if arguments.race {
                &[true, false]
            } else {
                &[true]
            };
            let mut sum = 0.0;
            for &is_first in seats {
                let round = Round::deal(tiles.clone(), is_first, arguments.race, arguments.passive);
                let mut player = EnginePlayer {
                    engine: &engine,
                    hands,
                    playouts: arguments.playouts.get(at).copied().unwrap_or(0),
                    threads: arguments.threads,
                };
                let end = round.play(is_first, &mut player);
                let share = 1.0 / seats.len() as f64;
                if let Some(faan) = end.faan() {
                    wins[at] += share;
                    faans[at] += share * faan;
                }
                sum += share * f64::from(end.score);
            }
            times[at] += began.elapsed().as_secs_f64();
            all[at].push(sum);
        }
    }
    for (at, hands) in arguments.hands.iter().enumerate() {
        let (score, error) = mean(&all[at]);
        let differences: Vec<f64> = all[at].iter().zip(&all[0]).map(|(a, b)| a - b).collect();
        let (difference, difference_error) = mean(&differences);
        println!(
            "{hands} hands: {score:+.2} ± {error:.2} a round, {difference:+.2} ± {difference_error:.2} against the first, {:.1} % won with {:.2} faan, {:.1} ms a deal",
            100.0 * wins[at] / arguments.rounds as f64,
            faans[at] / wins[at],
            1000.0 * times[at] / arguments.rounds as f64
        );
    }
    if let (Some(before), Some(now)) = (before, anonymous_memory()) {
        println!(
            "memory: {} KiB of tables, networks and rounds (growth of RssAnon)",
            now.saturating_sub(before)
        );
    }
    ExitCode::SUCCESS
}

/// The memory of this process that is of no file, in KiB, as Linux counts it.
fn anonymous_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
