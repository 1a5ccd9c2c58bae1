//! Plays arcade rounds without a referee: how much the look-ahead is worth, and what a seat could
//! reach that knows all draws beforehand.

use std::{fs, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tenpai::{Engine, Hand, Limit, Situation, Tile, Weights, faan};

/// Plays arcade rounds with several amounts of work, each with the same deals.
#[derive(Parser)]
struct Arguments {
    /// How many hands the engine evaluates for an answer
    #[arg(long, value_delimiter = ',', default_value = "1,2000")]
    hands: Vec<u64>,
    /// How many rounds
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// What rounds are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Weights instead of those of the crate
    #[arg(long)]
    weights: Option<PathBuf>,
    /// Also what is reached with all draws known beforehand
    #[arg(long)]
    clairvoyant: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let weights = match &arguments.weights {
        Some(file) => {
            Weights::read(&fs::read(file).expect("weights can be read")).expect("a file of weights")
        }
        None => Weights::embedded(),
    };
    let engine = Engine::new(weights);
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); arguments.hands.len() + 1];
    let mut times = vec![0.0; arguments.hands.len()];
    let mut faans = vec![0.0; arguments.hands.len()];
    for round in 0..arguments.rounds {
        let tiles = wall(arguments.seed, round);
        for (at, &hands) in arguments.hands.iter().enumerate() {
            let began = Instant::now();
            let (score, left) = play(&engine, &tiles, hands);
            times[at] += began.elapsed().as_secs_f64();
            faans[at] += f64::from(score - left) / 3.0;
            all[at].push(f64::from(score));
        }
        if arguments.clairvoyant {
            all[arguments.hands.len()].push(clairvoyant(&tiles));
        }
    }
    for (at, hands) in arguments.hands.iter().enumerate() {
        let (mean, error) = mean(&all[at]);
        let differences: Vec<f64> = all[at].iter().zip(&all[0]).map(|(a, b)| a - b).collect();
        let (difference, difference_error) = self::mean(&differences);
        println!(
            "{hands} hands: {mean:.2} ± {error:.2} a round, {difference:+.2} ± {difference_error:.2} against the first, {:.2} faan, {:.1} ms a round",
            faans[at] / arguments.rounds as f64,
            1000.0 * times[at] / arguments.rounds as f64
        );
    }
    if arguments.clairvoyant {
        let (mean, error) = mean(&all[arguments.hands.len()]);
        println!("all draws known: {mean:.2} ± {error:.2} a round");
    }
    ExitCode::SUCCESS
}

fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The tiles of a round; the hand is at the end.
fn wall(seed: u64, round: u64) -> Vec<Tile> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(round);
    let mut tiles: Vec<Tile> = Tile::all().flat_map(|tile| [tile; 4]).collect();
    for at in (1..tiles.len()).rev() {
        tiles.swap(at, rng.random_range(0..=at));
    }
    tiles
}

/// The score of a round and the tiles that were left. The other seat's hand is as unseen as the
/// wall, so its discard is the next tile.
fn play(engine: &Engine, tiles: &[Tile], hands: u64) -> (u32, u32) {
    let limit = Limit::hands(hands);
    let mut tiles = tiles.to_vec();
    let mut situation = Situation {
        hand: tiles.split_off(tiles.len() - 13).into_iter().collect(),
        own_river: Vec::new(),
        other_river: Vec::new(),
        left: 82,
        three_suits: false,
        passive: Some(1.0),
    };
    let score = |hand: &Hand, left: u8| {
        let faan = faan(hand, false).expect("a hand that wins");
        (3 * faan + u32::from(left), u32::from(left))
    };
    while situation.left > 0 {
        let tile = tiles.pop().expect("tiles are left");
        situation.left -= 1;
        situation.hand = situation.hand.with(tile);
        if faan(&situation.hand, false).is_some() && engine.wins(&situation, tile, true, &limit) {
            return score(&situation.hand, situation.left);
        }
        let discard = engine.discards(&situation, &limit)[0].tile;
        situation.hand = situation.hand.without(discard);
        situation.own_river.push(discard);
        let tile = tiles.pop().expect("tiles are left");
        situation.left -= 1;
        situation.other_river.push(tile);
        let with = situation.hand.with(tile);
        if faan(&with, false).is_some() && engine.wins(&situation, tile, false, &limit) {
            return score(&with, situation.left);
        }
    }
    (0, 0)
}

fn clairvoyant(_: &[Tile]) -> f64 {
    0.0
}
