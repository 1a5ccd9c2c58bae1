//! Plays two bots of Othello against each other in this process: random openings, each from
//! both sides, and says how the first one scored with an error bar of 95 %.
//!
//! A bot is `edge` with `time`, `nodes` or `depth`, and with `weights`, the file of other weights
//! than its own, or `weights` with `plies`: `edge?time=100ms`, `weights?plies=9`.

use std::{
    fs,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use edge::{Board, Engine, Limit, Options, Square, Squares, weights::Weights};
use house_bots::weights::{PLIES, Weights as SquareWeights};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::othello::Board as RefereeBoard;

/// Plays two bots of Othello against each other.
#[derive(Parser)]
struct Arguments {
    /// The bot whose score is told
    first: String,
    /// Its opponent
    second: String,
    /// How many openings, each played from both sides
    #[arg(long, default_value_t = 50)]
    pairs: u32,
    /// How many random plies an opening has
    #[arg(long, default_value_t = 8)]
    plies: u32,
    /// What openings are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut players = Vec::new();
    for text in [&arguments.first, &arguments.second] {
        match Player::read(text) {
            Ok(player) => players.push(player),
            Err(error) => {
                eprintln!("{text}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut scores = Vec::new();
    let mut discs = Vec::new();
    let mut counts = [0_u32; 3];
    for _ in 0..arguments.pairs {
        let opening = opening(&mut rng, arguments.plies);
        let differences = [0, 1].map(|black| play(opening, black, &mut players));
        for difference in differences {
            counts[(1 - difference.signum()) as usize] += 1;
        }
        let points = differences.map(|difference| f64::from(difference.signum() + 1) / 2.0);
        scores.push((points[0] + points[1]) / 2.0);
        discs.push(f64::from(differences[0] + differences[1]) / 2.0);
    }
    let [won, drawn, lost] = counts;
    let (score, error) = mean_and_error(&scores);
    let (difference, difference_error) = mean_and_error(&discs);
    println!(
        "{} - {}: {won}-{drawn}-{lost}, {:.1} % ± {:.1}, {difference:+.1} ± {difference_error:.1} discs a game",
        arguments.first,
        arguments.second,
        100.0 * score,
        100.0 * error
    );
    for (text, player) in [&arguments.first, &arguments.second].iter().zip(&players) {
        println!(
            "  {text}: {:.1} ms a move, {:.1} ms at most",
            player.total.as_secs_f64() * 1000.0 / f64::from(player.moves.max(1)),
            player.longest.as_secs_f64() * 1000.0,
        );
    }
    ExitCode::SUCCESS
}

/// The mean of the pairs and half the width of its interval of 95 %.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (count - 1.0).max(1.0);
    (mean, 1.96 * (variance / count).sqrt())
}

/// A position with Black to move after this many random plies, drawn anew where the game is
/// over by then.
fn opening(rng: &mut ChaCha8Rng, plies: u32) -> Board {
    'draw: loop {
        let mut board = Board::START;
        for _ in 0..plies {
            let moves = board.moves();
            if moves == 0 {
                continue 'draw;
            }
            let pick = rng.random_range(0..moves.count_ones()) as usize;
            let square = Squares(moves).nth(pick);
            board = square
                .and_then(|square| board.play(square))
                .expect("a legal move");
        }
        if board.moves() != 0 {
            return board;
        }
    }
}

/// The first player's discs less the second's, empty squares given to the winner.
fn play(mut board: Board, mut turn: usize, players: &mut [Player]) -> i32 {
    for player in &mut *players {
        if let Bot::Edge { engine, .. } = &mut player.bot {
            engine.clear();
        }
    }
    while !board.is_over() {
        if board.moves() != 0 {
            let square = players[turn].square(board);
            board = board.play(square).expect("bots play legal moves");
        } else {
            board = board.pass();
        }
        turn = 1 - turn;
    }
    let score = board.final_score();
    if turn == 0 { score } else { -score }
}

/// A bot and its clock.
struct Player {
    bot: Bot,
    total: Duration,
    longest: Duration,
    moves: u32,
}

enum Bot {
    Edge { engine: Box<Engine>, budget: Budget },
    Weights { weights: SquareWeights, plies: u32 },
}

/// What a search may take.
enum Budget {
    Time(Duration),
    Nodes(u64),
    Depth(u32),
}

impl Player {
    fn read(text: &str) -> Result<Self, String> {
        let (name, parameters) = text.split_once('?').unwrap_or((text, ""));
        let mut budget = Budget::Time(Duration::from_millis(100));
        let mut file = None;
        let mut plies = PLIES;
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (key, value) = parameter.split_once('=').ok_or("expected name=value")?;
            let number = || {
                value
                    .parse::<u32>()
                    .map_err(|error| format!("{key}: {error}"))
            };
            match (name, key) {
                ("edge", "time") => {
                    let time = humantime::parse_duration(value);
                    budget = Budget::Time(time.map_err(|error| format!("{key}: {error}"))?);
                }
                ("edge", "nodes") => budget = Budget::Nodes(number()?.into()),
                ("edge", "depth") => budget = Budget::Depth(number()?),
                ("edge", "weights") => {
                    let bytes = fs::read(value).map_err(|error| format!("{value}: {error}"))?;
                    let weights = Weights::read(&bytes).map_err(|error| error.to_string())?;
                    file = Some(Arc::new(weights));
                }
                ("weights", "plies") => plies = number()?,
                _ => return Err(format!("{name} has no parameter {key}")),
            }
        }
        let bot = match name {
            "edge" => {
                let options = Options {
                    table_bytes: 32 << 20,
                    weights: file,
                    ..Options::default()
                };
                let engine = Engine::new(options).map_err(|error| error.to_string())?;
                Bot::Edge {
                    engine: Box::new(engine),
                    budget,
                }
            }
            "weights" => Bot::Weights {
                weights: SquareWeights::default(),
                plies,
            },
            _ => return Err("expected edge or weights".to_owned()),
        };
        Ok(Self {
            bot,
            total: Duration::ZERO,
            longest: Duration::ZERO,
            moves: 0,
        })
    }

    fn square(&mut self, board: Board) -> Square {
        let began = Instant::now();
        let square = match &mut self.bot {
            Bot::Edge { engine, budget } => {
                let limit = match *budget {
                    Budget::Time(time) => Limit::time(time),
                    Budget::Nodes(nodes) => Limit::nodes(nodes),
                    Budget::Depth(plies) => Limit::depth(plies),
                };
                engine.search(board, limit).square
            }
            Bot::Weights { weights, plies } => {
                let board = RefereeBoard {
                    own: board.own,
                    opponent: board.other,
                };
                let square = weights.best(board, *plies);
                square.and_then(|square| Square::new(square.index() as u8))
            }
        };
        let time = began.elapsed();
        self.total += time;
        self.longest = self.longest.max(time);
        self.moves += 1;
        square.expect("who is asked has a move")
    }
}
