//! Writes a set of positions in which the side to move wins by stones that must each be
//! answered at once. Positions are from games that the engine plays against itself at a low
//! strength; the wins are found by a plain solver on the board of `referee-games`, which
//! shares nothing with the engine.
//!
//! A line is: rows, columns, column and row of the forbidden cell, the columns played so
//! far, and the plies of the shortest forced win.

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{Board, Point, columns_of};
use zugzwang::{BoardCell, BoardShape, Engine, Limit, Options, Position};

/// Writes positions with a forced win.
#[derive(Parser)]
struct Arguments {
    /// How many positions of each length, of 5 to 17 plies.
    #[arg(long, default_value_t = 6)]
    each: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most games to look at.
    #[arg(long, default_value_t = 5000)]
    games: u32,
}

const LONGEST: u32 = 17;

fn main() {
    let arguments = Arguments::parse();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut counts = [0; LONGEST as usize + 1];
    for _ in 0..arguments.games {
        let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
        let cell = BoardCell {
            column: rng.random_range(0..columns),
            row: rng.random_range(0..rows),
        };
        let shape = BoardShape::new(rows, columns, Some(cell)).expect("a usual board");
        let mut engine = Engine::new(Options {
            table: 1,
            blur: 100,
            seed: rng.random(),
            ..Options::default()
        });
        let forbidden = Point {
            x: (rows - 1 - cell.row).into(),
            y: cell.column.into(),
        };
        let mut board = Board::new(rows, columns, Some(forbidden));
        let mut position = Position::new(shape);
        let mut moves: Vec<String> = Vec::new();
        while !position.is_won() && !position.is_full() {
            let side = Seat::new((position.stones() % 2) as u8);
            let plies = (5..=LONGEST)
                .step_by(2)
                .find(|&plies| wins_by_force(&board, side, plies));
            if let Some(plies) = plies {
                let quick = wins_by_force(&board, side, 3);
                if !quick && counts[plies as usize] < arguments.each {
                    counts[plies as usize] += 1;
                    let moves = moves.join(" ");
                    println!(
                        "{rows} {columns} {} {} | {moves} | {plies}",
                        cell.column, cell.row
                    );
                }
                break;
            }
            let answer = engine
                .search(&position, &Limit::nodes(200))
                .expect("the game is not over");
            moves.push(answer.column.to_string());
            position.play(answer.column).expect("a legal move");
            board.drop_stone(side, answer.column.into());
        }
    }
    eprintln!("positions by plies: {counts:?}");
}

/// Whether `side`, who is to move, wins within so many plies by stones that each threaten
/// to win with the next.
fn wins_by_force(board: &Board, side: Seat, plies: u32) -> bool {
    let wins = |board: &Board, side| -> Vec<usize> {
        columns_of(board.open())
            .filter(|&column| board.completes(side, column))
            .collect()
    };
    if !wins(board, side).is_empty() {
        return true;
    }
    if plies < 3 {
        return false;
    }
    let must_answer = wins(board, side.other());
    columns_of(board.open()).any(|column| {
        if must_answer.iter().any(|&threat| threat != column) {
            return false;
        }
        let mut next = board.clone();
        next.drop_stone(side, column);
        let threats = wins(&next, side);
        if threats.is_empty() || !wins(&next, side.other()).is_empty() {
            return false;
        }
        // Whichever threat is answered: with two, the other one wins.
        threats.iter().all(|&answer| {
            let mut after = next.clone();
            after.drop_stone(side.other(), answer);
            wins_by_force(&after, side, plies - 2)
        })
    })
}
