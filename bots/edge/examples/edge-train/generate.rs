//! Games of the engine against itself, from positions after some random moves.

use std::{num::NonZeroUsize, path::PathBuf, time::Instant};

use anyhow::Result;
use clap::Args;
use edge::{Discs, OthelloEngine, SearchLimit, Square, Squares};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::data::{Games, Record};

#[derive(Args)]
pub(crate) struct Options {
    /// The file that positions are added to
    out: PathBuf,
    /// How many games it is to have in the end
    #[arg(long, default_value_t = 10_000)]
    games: u32,
    /// What random moves are drawn from; the same seed gives the same games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many plies are looked ahead for each move
    #[arg(long, default_value_t = 5)]
    depth: u32,
    /// With so many empty squares, a game is solved
    #[arg(long, default_value_t = 13)]
    solve: u32,
    /// The weights to play with; those of the crate if not given
    #[arg(long)]
    weights: Option<PathBuf>,
}

/// Positions with more empty squares than this are not kept: all are alike.
const FIRST: u32 = 58;

pub(crate) fn run(options: &Options) -> Result<()> {
    let weights = options.weights.as_ref().map(crate::read).transpose()?;
    let mut engine = OthelloEngine::new(edge::OthelloEngineOptions {
        table_bytes: 1 << 21,
        threads: NonZeroUsize::MIN,
        weights,
        ..edge::OthelloEngineOptions::default()
    })?;
    let mut games = Games::open(&options.out)?;
    let began = Instant::now();
    let first = games.next;
    while games.next < options.games {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&options.seed.to_le_bytes());
        seed[8..12].copy_from_slice(&games.next.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(seed);
        engine.clear();
        let records = play(&mut engine, options, games.next, &mut rng);
        games.add(&records)?;
        if games.next % 500 == 0 {
            games.flush()?;
            let speed = f64::from(games.next - first) / began.elapsed().as_secs_f64();
            println!("{} games, {speed:.1} a second", games.next);
        }
    }
    games.flush()
}

/// The positions of one game from its last random move on.
fn play(
    engine: &mut OthelloEngine,
    options: &Options,
    game: u32,
    rng: &mut ChaCha8Rng,
) -> Vec<Record> {
    let Some(mut board) = opening(engine, rng) else {
        return Vec::new();
    };
    let mut records: Vec<Record> = Vec::new();
    // Whether each record is of the side that is to move now.
    let mut same_side: Vec<bool> = Vec::new();
    let mut known = None;
    let result = loop {
        if board.moves() == 0 {
            board = board.pass();
            same_side.iter_mut().for_each(|same| *same = !*same);
            known = known.map(|score: i32| -score);
            if board.moves() == 0 {
                break board.final_score();
            }
        }
        let limit = if board.empties() <= options.solve {
            SearchLimit::default()
        } else {
            SearchLimit::depth(options.depth)
        };
        let answer = engine.search(board, limit);
        if board.empties() <= options.solve {
            assert!(known.is_none_or(|known| known == answer.score), "{board}");
            known = Some(answer.score);
        }
        if board.empties() <= FIRST {
            records.push(Record {
                board,
                game,
                searched: answer.score as i8,
                result: 0,
            });
            same_side.push(true);
        }
        let Some(next) = answer.square.and_then(|square| board.play(square)) else {
            unreachable!("a legal move was found");
        };
        board = next;
        same_side.iter_mut().for_each(|same| *same = !*same);
        known = known.map(|score| -score);
    };
    for (record, same) in records.iter_mut().zip(same_side) {
        record.result = if same { result } else { -result } as i8;
    }
    records
}

/// A position after some moves of which some are random; none if the game is over.
fn opening(engine: &mut OthelloEngine, rng: &mut ChaCha8Rng) -> Option<Discs> {
    let plies = if rng.random_bool(0.6) {
        rng.random_range(2..=14)
    } else {
        rng.random_range(14..=44)
    };
    let random = [0.25, 0.5, 1.0][rng.random_range(0..3)];
    let mut board = Discs::START;
    for _ in 0..plies {
        let moves = board.moves();
        if moves == 0 {
            board = board.pass();
            if board.moves() == 0 {
                return None;
            }
            continue;
        }
        let square: Option<Square> = if rng.random_bool(random) || board.empties() > 56 {
            let pick = rng.random_range(0..moves.count_ones()) as usize;
            Squares(moves).nth(pick)
        } else {
            engine.search(board, SearchLimit::depth(1)).square
        };
        board = square.and_then(|square| board.play(square))?;
    }
    (!board.is_over()).then_some(board)
}
