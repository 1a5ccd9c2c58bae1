//! Plays two bots of Connect Four against each other in this process: random boards,
//! forbidden cells and openings, each from both seats, and says how the first one scored
//! with an error bar of 95 %.
//!
//! A bot is `uct`, `ladder` or `zugzwang`, with parameters as in
//! `zugzwang?time=100ms&table=64`.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use house_bots::{ladder, uct, zugzwang::position};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{Board, Point};
use zugzwang::{Engine, Limit, Options, Weights};

/// Plays two bots of Connect Four against each other.
#[derive(Parser)]
struct Arguments {
    /// The bot whose score is told.
    first: String,
    /// Its opponent.
    second: String,
    /// How many boards, each played from both seats.
    #[arg(long, default_value_t = 50)]
    pairs: u32,
    /// What boards, openings and bots follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many random stones a game begins with, at most.
    #[arg(long, default_value_t = 6)]
    opening: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut specs = Vec::new();
    for text in [&arguments.first, &arguments.second] {
        match Spec::read(text) {
            Ok(spec) => specs.push(spec),
            Err(error) => {
                eprintln!("{text}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut scores = Vec::new();
    let mut counts = [0_u32; 3];
    let mut clocks = [Clock::default(); 2];
    for pair in 0..arguments.pairs {
        let opening = Opening::draw(&mut rng, arguments.opening);
        let mut score = 0.0;
        for seat in 0..2 {
            let mut players: Vec<Player> = (0..2)
                .map(|side| Player::new(&specs[side], u64::from(pair) * 2 + side as u64))
                .collect();
            let winner = play(&opening, &mut players, seat, &mut clocks);
            let (index, gain) = match winner {
                Some(0) => (0, 1.0),
                None => (1, 0.5),
                Some(_) => (2, 0.0),
            };
            counts[index] += 1;
            score += gain / 2.0;
        }
        scores.push(score);
    }
    let [won, drawn, lost] = counts;
    let (mean, error) = mean_and_error(&scores);
    println!(
        "{} - {}: {won}-{drawn}-{lost}, {:.1} % ± {:.1}",
        arguments.first,
        arguments.second,
        100.0 * mean,
        100.0 * error
    );
    for (spec, clock) in [&arguments.first, &arguments.second]
        .into_iter()
        .zip(clocks)
    {
        println!(
            "  {spec}: {:.1} ms and {:.0} units of work a move, {:.1} ms at most",
            clock.total.as_secs_f64() * 1000.0 / f64::from(clock.moves),
            clock.work as f64 / f64::from(clock.moves),
            clock.longest.as_secs_f64() * 1000.0,
        );
    }
    ExitCode::SUCCESS
}

/// The mean score of the pairs and half the width of its interval of 95 %.
fn mean_and_error(scores: &[f64]) -> (f64, f64) {
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    let variance = squares / (count - 1.0).max(1.0);
    (mean, 1.96 * (variance / count).sqrt())
}

/// Time and playouts or positions of one side.
#[derive(Clone, Copy, Default)]
struct Clock {
    total: Duration,
    longest: Duration,
    moves: u32,
    work: u64,
}

/// A bot with its parameters.
struct Spec {
    name: &'static str,
    time: Option<Duration>,
    work: Option<u64>,
    level: u32,
    table: usize,
    weights: Weights,
}

impl Spec {
    fn read(text: &str) -> Result<Self, String> {
        let (name, parameters) = text.split_once('?').unwrap_or((text, ""));
        let names = ["uct", "ladder", "zugzwang"];
        let name = names.into_iter().find(|known| *known == name);
        let mut spec = Self {
            name: name.ok_or_else(|| format!("expected one of {}", names.join(", ")))?,
            time: None,
            work: None,
            level: 50,
            table: 16,
            weights: Weights::learned(),
        };
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (key, value) = parameter.split_once('=').ok_or("expected name=value")?;
            let wrong = |error: &dyn std::error::Error| format!("{key}: {error}");
            match key {
                "time" => {
                    spec.time = Some(humantime::parse_duration(value).map_err(|e| wrong(&e))?);
                }
                "playouts" | "nodes" => spec.work = Some(value.parse().map_err(|e| wrong(&e))?),
                "level" => spec.level = value.parse().map_err(|e| wrong(&e))?,
                "table" => spec.table = value.parse().map_err(|e| wrong(&e))?,
                "weights" => {
                    let bytes = std::fs::read(value).map_err(|e| wrong(&e))?;
                    spec.weights = Weights::from_bytes(&bytes).map_err(|e| wrong(&e))?;
                }
                _ => return Err(format!("there is no parameter {key}")),
            }
        }
        if spec.time.is_none() && spec.work.is_none() && spec.name != "ladder" {
            spec.time = Some(Duration::from_millis(100));
        }
        Ok(spec)
    }
}

/// A board and the columns that have been played on it.
struct Opening {
    rows: u8,
    columns: u8,
    forbidden: Point,
    moves: Vec<usize>,
}

impl Opening {
    /// A board of the usual sizes and up to so many random stones, after which nobody can
    /// win at once.
    fn draw(rng: &mut ChaCha8Rng, most: usize) -> Self {
        loop {
            let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
            let forbidden = Point {
                x: rng.random_range(0..rows).into(),
                y: rng.random_range(0..columns).into(),
            };
            let count = rng.random_range(0..=most);
            let moves: Vec<usize> = (0..count)
                .map(|_| rng.random_range(0..columns).into())
                .collect();
            let opening = Self {
                rows,
                columns,
                forbidden,
                moves,
            };
            if opening.is_undecided() {
                return opening;
            }
        }
    }

    fn board(&self) -> Board {
        Board::new(self.rows, self.columns, Some(self.forbidden))
    }

    fn is_undecided(&self) -> bool {
        let mut board = self.board();
        for (number, &column) in self.moves.iter().enumerate() {
            if board.landing(column).is_none() || board.drop_stone(seat(number), column) {
                return false;
            }
        }
        (0..board.columns()).all(|column| {
            board.landing(column).is_none()
                || !Seat::all(2).any(|seat| board.completes(seat, column))
        })
    }
}

fn seat(number: usize) -> Seat {
    Seat::new((number % 2) as u8)
}

/// Plays one game in which the player `opener` moves when the stones are even; the winner.
fn play(
    opening: &Opening,
    players: &mut [Player],
    opener: usize,
    clocks: &mut [Clock],
) -> Option<usize> {
    let mut board = opening.board();
    let mut stones = 0;
    for &column in &opening.moves {
        board.drop_stone(seat(stones), column);
        stones += 1;
    }
    while !board.is_full() {
        let side = (stones + opener) % 2;
        let begin = Instant::now();
        let (column, work) = players[side].choose(&board, seat(stones));
        let clock = &mut clocks[side];
        clock.total += begin.elapsed();
        clock.longest = clock.longest.max(begin.elapsed());
        clock.moves += 1;
        clock.work += work;
        if board.drop_stone(seat(stones), column) {
            return Some(side);
        }
        stones += 1;
    }
    None
}

/// A bot in one game.
struct Player<'a> {
    spec: &'a Spec,
    rng: ChaCha8Rng,
    engine: Option<Engine>,
}

impl<'a> Player<'a> {
    fn new(spec: &'a Spec, seed: u64) -> Self {
        let engine = (spec.name == "zugzwang").then(|| {
            Engine::new(Options {
                table: spec.table,
                weights: spec.weights.clone(),
                ..Options::default()
            })
        });
        Self {
            spec,
            rng: ChaCha8Rng::seed_from_u64(seed),
            engine,
        }
    }

    /// A column, and how many playouts or positions it took.
    fn choose(&mut self, board: &Board, seat: Seat) -> (usize, u64) {
        let Self { spec, rng, engine } = self;
        if let Some(engine) = engine {
            let mut limit = match spec.time {
                Some(time) => Limit::time(time),
                None => Limit::default(),
            };
            if let Some(nodes) = spec.work {
                limit = limit.and_nodes(nodes);
            }
            let answer = engine.search(&position(board, seat), &limit);
            let answer = answer.expect("the game is not over");
            return (answer.column.into(), answer.nodes);
        }
        let playouts = match spec.name {
            "ladder" => Some(ladder::playouts(spec.level).into()),
            _ => spec.work,
        };
        let mut search = uct::Search::new(board.clone(), seat, 0.7);
        let begin = Instant::now();
        let mut work = 0;
        while playouts.is_none_or(|most| work < most)
            && spec.time.is_none_or(|time| begin.elapsed() < time)
        {
            search.run(16, rng);
            work += 16;
        }
        (search.best(), work)
    }
}
