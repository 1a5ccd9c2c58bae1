//! Plays rounds without a referee and without protocol, with several amounts of work on the same
//! deals: the arcade case, or against a seat that plays as `shanten` does.

#[path = "shanten/player.rs"]
mod shanten;

use std::{fs, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use shanten::Other;
use tenpai::{Engine, Hand, Limit, Situation, Tile, Weights, faan};

/// Plays rounds with several amounts of work, each with the same deals.
#[derive(Parser)]
struct Arguments {
    /// How many hands the engine evaluates for an answer
    #[arg(long, value_delimiter = ',', default_value = "1,2000")]
    hands: Vec<u64>,
    /// How many deals
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// What deals are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Weights instead of those of the crate
    #[arg(long)]
    weights: Option<PathBuf>,
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
    let weights = match &arguments.weights {
        Some(file) => {
            let bytes = fs::read(file).expect("weights can be read");
            Weights::read(bytes).expect("a file of weights")
        }
        None => Weights::embedded(),
    };
    if arguments.race {
        referee_games::mahjong::prepare();
    }
    let before = anonymous_memory();
    tenpai::prepare();
    let engine = Engine::new(weights);
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
                let mut table = Table {
                    engine: &engine,
                    hands,
                    passive: arguments.passive,
                    is_racing: arguments.race,
                };
                let (score, left) = table.play(&tiles, is_first);
                let share = 1.0 / seats.len() as f64;
                if score > 0 {
                    wins[at] += share;
                    faans[at] += share * f64::from(score - i32::from(left)) / 3.0;
                }
                sum += share * f64::from(score);
            }
            times[at] += began.elapsed().as_secs_f64();
            all[at].push(sum);
        }
    }
    for (at, hands) in arguments.hands.iter().enumerate() {
        let (mean, error) = mean(&all[at]);
        let differences: Vec<f64> = all[at].iter().zip(&all[0]).map(|(a, b)| a - b).collect();
        let (difference, difference_error) = self::mean(&differences);
        println!(
            "{hands} hands: {mean:+.2} ± {error:.2} a round, {difference:+.2} ± {difference_error:.2} against the first, {:.1} % won with {:.2} faan, {:.1} ms a deal",
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

/// The mean and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The tiles of a round; those that are dealt first are at the end.
fn wall(seed: u64, round: u64) -> Vec<Tile> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(round);
    let mut tiles: Vec<Tile> = Tile::all().flat_map(|tile| [tile; 4]).collect();
    for at in (1..tiles.len()).rev() {
        tiles.swap(at, rng.random_range(0..=at));
    }
    tiles
}

/// Where a round is played.
struct Table<'a> {
    engine: &'a Engine,
    hands: u64,
    passive: Option<f32>,
    is_racing: bool,
}

impl Table<'_> {
    /// The score of a round and the tiles that were left. A seat that discards at random and never
    /// wins has a hand that is as unseen as the wall, so its discard is the next tile.
    fn play(&mut self, tiles: &[Tile], is_first: bool) -> (i32, u8) {
        let limit = Limit::hands(self.hands);
        let mut tiles = tiles.to_vec();
        let mut deal = || -> Vec<Tile> { tiles.split_off(tiles.len() - 13) };
        let (hand, other) = match (self.is_racing, is_first) {
            (false, _) => (deal(), None),
            (true, true) => (deal(), Some(deal())),
            (true, false) => {
                let other = deal();
                (deal(), Some(other))
            }
        };
        let mut other = other.map(|dealt| Other::new(&dealt));
        let mut situation = Situation {
            hand: hand.into_iter().collect(),
            own_river: Vec::new(),
            other_river: Vec::new(),
            began: is_first,
            left: 82,
            three_suits: false,
            passive: self.passive,
        };
        let score = |hand: &Hand, left: u8| {
            let faan = faan(hand, false).expect("a hand that wins");
            ((3 * faan + u32::from(left)) as i32, left)
        };
        let engine = self.engine;
        let mut is_own = is_first;
        while let Some(tile) = (situation.left > 0).then(|| tiles.pop()).flatten() {
            situation.left -= 1;
            let left = situation.left;
            if is_own {
                situation.hand = situation.hand.with(tile);
                if faan(&situation.hand, false).is_some()
                    && engine.wins(&situation, tile, true, &limit)
                {
                    return score(&situation.hand, left);
                }
                let discard = engine.discards(&situation, &limit)[0].tile;
                situation.hand = situation.hand.without(discard);
                situation.own_river.push(discard);
                if let Some(other) = &mut other {
                    if other.wins(discard).is_some() {
                        return (-(other.score(discard, left) as i32), left);
                    }
                    other.unseen = other.unseen.without(discard);
                }
            } else {
                let mut discard = tile;
                if let Some(other) = &mut other {
                    if other.wins(tile).is_some() {
                        return (-(other.score(tile, left) as i32), left);
                    }
                    discard = other.discard(tile);
                    other.river.push(discard);
                }
                situation.other_river.push(discard);
                let with = situation.hand.count(discard) < 4;
                let with = with.then(|| situation.hand.with(discard));
                if let Some(with) = with
                    && faan(&with, false).is_some()
                    && engine.wins(&situation, discard, false, &limit)
                {
                    return score(&with, left);
                }
            }
            is_own = !is_own;
        }
        (0, 0)
    }
}
