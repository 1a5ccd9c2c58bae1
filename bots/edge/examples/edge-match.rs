//! Plays one set-up of the engine against others: random openings, each from both sides. Prints a
//! table of the first one's scores with error bars of 95 %.
//!
//! A set-up is a list such as `nodes=20000,without=mpc`: one of `nodes`, `depth` and `time`, and
//! `without`, `threads`, `weights`, a file, and `book`: it begins with moves of the book that are
//! worse than the best one by at most so many discs, by chance. Limits of nodes or depth with one thread give the
//! same games again.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

mod shared;

use std::{fs, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use edge::{
    Discs, OthelloEngine, OthelloEngineOptions, SearchLimit, book::Book, weights::PatternWeights,
};
use rand::{SeedableRng as _, seq::IteratorRandom as _};
use rand_chacha::ChaCha8Rng;

/// Plays one set-up of the engine against others.
#[derive(Parser)]
struct Arguments {
    /// The set-up whose scores are told
    first: String,
    /// Its opponents
    #[arg(required = true)]
    others: Vec<String>,
    /// How many openings, each played from both sides
    #[arg(long, default_value_t = 100)]
    pairs: u32,
    /// How many random plies an opening has
    #[arg(long, default_value_t = 8)]
    plies: u32,
    /// What openings are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A set-up of the engine and its limit.
struct Player {
    engine: OthelloEngine,
    budget: Budget,
    /// The book and by how many discs its moves may be worse than the best one.
    book: Option<(Arc<Book>, i32)>,
}

/// The limit of a search.
#[derive(Clone, Copy)]
enum Budget {
    Time(Duration),
    Nodes(u64),
    Depth(u32),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!(
        "| {} against | won-drawn-lost | score % | discs a game |",
        arguments.first
    );
    println!("| :--- | ---: | ---: | ---: |");
    for other in &arguments.others {
        let mut players = [Player::read(&arguments.first)?, Player::read(other)?];
        let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
        let (mut scores, mut discs, mut counts) = (Vec::new(), Vec::new(), [0; 3]);
        for _ in 0..arguments.pairs {
            let opening = shared::random_opening(&mut rng, arguments.plies);
            let differences = [0, 1].map(|black| play(opening, black, &mut players, &mut rng));
            for difference in differences {
                counts[(1 - difference.signum()) as usize] += 1;
            }
            let points = differences.map(|it| f64::from(it.signum() + 1) / 2.0);
            scores.push(50.0 * (points[0] + points[1]));
            discs.push(f64::from(differences[0] + differences[1]) / 2.0);
        }
        let [won, drawn, lost] = counts;
        let (score, error) = shared::mean_and_error(&scores);
        let (mean, mean_error) = shared::mean_and_error(&discs);
        println!(
            "| {other} | {won}-{drawn}-{lost} | {score:.1} ± {error:.1} | {mean:+.1} ± {mean_error:.1} |"
        );
    }
    Ok(())
}

/// The first player's discs less the second's, empty squares given to the winner.
fn play(mut board: Discs, mut turn: usize, players: &mut [Player; 2], rng: &mut ChaCha8Rng) -> i32 {
    for player in &mut *players {
        player.engine.clear();
    }
    while !board.is_over() {
        board = match players[turn].search(board, rng) {
            Some(square) => board.play(square).expect("the engine plays legal moves"),
            None => board.pass(),
        };
        turn = 1 - turn;
    }
    let score = board.final_score();
    if turn == 0 { score } else { -score }
}

impl Player {
    fn read(text: &str) -> Result<Self> {
        let (mut budget, mut book) = (None, None);
        let mut options = OthelloEngineOptions {
            table_bytes: 32 << 20,
            ..OthelloEngineOptions::default()
        };
        for parameter in text.split(',') {
            let (key, value) = parameter
                .split_once('=')
                .with_context(|| format!("{text}: expected name=value, found {parameter:?}"))?;
            match key {
                "time" => budget = Some(Budget::Time(milliseconds(value)?)),
                "nodes" => budget = Some(Budget::Nodes(parsed(key, value)?)),
                "depth" => budget = Some(Budget::Depth(parsed(key, value)?)),
                "threads" => options.threads = parsed(key, value)?,
                "book" => book = Some((Book::embedded()?, parsed(key, value)?)),
                "without" => options.without = Some(parsed(key, value)?),
                "weights" => options.weights = Some(Arc::new(weights(&PathBuf::from(value))?)),
                _ => bail!(
                    "{text}: expected time, nodes, depth, threads, without, weights or book, found {key}"
                ),
            }
        }
        Ok(Self {
            engine: OthelloEngine::new(options)?,
            book,
            budget: budget.with_context(|| format!("{text}: expected time, nodes or depth"))?,
        })
    }

    fn search(&mut self, board: Discs, rng: &mut ChaCha8Rng) -> Option<edge::Square> {
        if board.moves() == 0 {
            return None;
        }
        if let Some((book, worse)) = &self.book {
            let moves = book.moves(board);
            let best = moves.first().map_or(0, |known| known.value);
            let good = moves.iter().filter(|known| known.value >= best - worse);
            if let Some(known) = good.choose(rng) {
                return Some(known.square);
            }
        }
        let limit = match self.budget {
            Budget::Time(time) => SearchLimit::time(time),
            Budget::Nodes(nodes) => SearchLimit::nodes(nodes),
            Budget::Depth(plies) => SearchLimit::depth(plies),
        };
        self.engine.search(board, limit).square
    }
}

fn parsed<T: FromStr>(key: &str, value: &str) -> Result<T> {
    let number = value.parse().ok();
    number.with_context(|| format!("{key}: {value:?} is not known"))
}

fn milliseconds(value: &str) -> Result<Duration> {
    let number = value.strip_suffix("ms").and_then(|it| it.parse().ok());
    let time = number.map(Duration::from_millis);
    time.with_context(|| format!("time: expected milliseconds such as 20ms, found {value:?}"))
}

fn weights(path: &PathBuf) -> Result<PatternWeights> {
    let file = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    PatternWeights::read(&file).with_context(|| format!("could not use {}", path.display()))
}
