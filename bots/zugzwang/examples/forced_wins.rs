//! Writes a set of positions in which the side to move wins by force. Positions are from games that
//! the engine plays against itself at a low strength, and from other moves in these games. Wins are
//! found by a plain solver on the board of `referee-games`: it plays every sequence of moves to the
//! number of plies that it was given, remembers positions without a win, and shares nothing with the
//! engine.
//!
//! A line is: rows, columns, column and row of the forbidden cell, the columns played so far, the
//! plies of the shortest win, and its kind. In a win of the kind `threats` every stone threatens to
//! win with the next one, and no other win of stones that threaten is shorter. In one of the kind
//! `quiet` there is no win by threats within 17 plies, all moves are considered, and no win at all
//! is shorter.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::collections::HashMap;

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{ConnectFourBoard, Point, columns_of};
use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit,
};

/// Writes positions with a forced win.
#[derive(Parser)]
struct Arguments {
    /// How many positions of each kind and length; one game gives at most one of each
    #[arg(long, default_value_t = 20)]
    each: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most games to look at; it stops earlier when it has all positions
    #[arg(long, default_value_t = 10_000)]
    games: u32,
}

const SHORTEST: u32 = 5;
const LONGEST: u32 = 17;
/// After so many positions the solver gives up.
const BUDGET: u64 = 100_000;
/// Quiet wins are looked for from this number of free cells on.
const LATE: u32 = 26;

fn main() {
    let arguments = Arguments::parse();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut counts = [[0; LONGEST as usize + 1]; 2];
    for _ in 0..arguments.games {
        let lengths = (SHORTEST..=LONGEST).step_by(2);
        if (lengths.flat_map(|plies| counts.map(|kind| kind[plies as usize])))
            .all(|count| count >= arguments.each)
        {
            break;
        }
        let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
        let cell = BoardCell {
            column: rng.random_range(0..columns),
            row: rng.random_range(0..rows),
        };
        let found = game(rows, columns, cell, rng.random(), &counts, arguments.each);
        for (kind, plies, moves) in found {
            counts[kind as usize][plies as usize] += 1;
            let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
            println!(
                "{rows} {columns} {} {} | {} | {plies} | {}",
                cell.column,
                cell.row,
                moves.join(" "),
                kind.name()
            );
        }
    }
    eprintln!("by plies, from 0: {counts:?}");
}

/// The wins of one game that are not yet as many as wanted: the kind, the plies, and the columns
/// that lead there.
fn game(
    rows: u8,
    columns: u8,
    cell: BoardCell,
    seed: u64,
    counts: &[[u32; LONGEST as usize + 1]; 2],
    each: u32,
) -> Vec<(Kind, u32, Vec<usize>)> {
    let shape = BoardShape::new(rows, columns, Some(cell)).expect("a usual board");
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
        table: 1,
        blur: 100,
        seed,
        ..ConnectFourEngineOptions::default()
    });
    let forbidden = Point {
        x: (rows - 1 - cell.row).into(),
        y: cell.column.into(),
    };
    let mut found: Vec<(Kind, u32, Vec<usize>)> = Vec::new();
    let mut at = Node::new(ConnectFourBoard::new(rows, columns, Some(forbidden)));
    let mut position = ConnectFourPosition::new(shape);
    let mut moves = Vec::new();
    while !position.is_won() && !position.is_full() {
        let side = Seat::new((position.stones() % 2) as u8);
        for column in columns_of(at.board.open()) {
            let Some(after) = at.after(side, column) else {
                continue;
            };
            let free = shape.room() - position.stones() - 1;
            if let Some((kind, plies)) = Solver::solve(&after, side.other(), free)
                && counts[kind as usize][plies as usize] < each
                && !found.iter().any(|win| (win.0, win.1) == (kind, plies))
            {
                let mut moves = moves.clone();
                moves.push(column);
                found.push((kind, plies, moves));
            }
        }
        let answer = engine
            .search(&position, &Limit::nodes(200))
            .expect("the game is not over");
        let column = answer.column.into();
        moves.push(column);
        position.play(answer.column).expect("a legal move");
        match at.after(side, column) {
            Some(after) => at = after,
            None => break,
        }
    }
    found
}

/// The moves that a side that wants to win may make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only those that threaten to win with the next stone.
    Threats,
    /// All.
    Quiet,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Threats => "threats",
            Self::Quiet => "quiet",
        }
    }
}

/// A board, and the stones of each column from below as bits behind a 1.
#[derive(Clone)]
struct Node {
    board: ConnectFourBoard,
    stones: [u16; 12],
}

impl Node {
    const fn new(board: ConnectFourBoard) -> Self {
        Self {
            board,
            stones: [1; 12],
        }
    }

    /// After a stone of `side`; nothing if it wins.
    fn after(&self, side: Seat, column: usize) -> Option<Self> {
        let mut next = self.clone();
        next.stones[column] = next.stones[column] << 1 | side.index() as u16;
        (!next.board.drop_stone(side, column)).then_some(next)
    }

    fn wins(&self, side: Seat) -> Vec<usize> {
        columns_of(self.board.open())
            .filter(|&column| self.board.completes(side, column))
            .collect()
    }
}

/// Finds the shortest win of one kind.
struct Solver {
    kind: Kind,
    /// Within how many plies a position is not won.
    unwon: HashMap<[u16; 12], u32>,
    budget: u64,
}

impl Solver {
    /// The kind and the plies of the shortest win of `side`, who is to move, from [`SHORTEST`] to
    /// [`LONGEST`] plies; nothing if there is none, a shorter one, or too much to look at.
    fn solve(at: &Node, side: Seat, free: u32) -> Option<(Kind, u32)> {
        let shortest = |kind| {
            let mut solver = Self {
                kind,
                unwon: HashMap::new(),
                budget: BUDGET,
            };
            let plies = (1..=LONGEST)
                .step_by(2)
                .find(|&plies| solver.wins(at, side, plies));
            (solver.budget > 0).then_some(plies)
        };
        let (kind, plies) = match shortest(Kind::Threats)? {
            Some(plies) => (Kind::Threats, plies),
            None if free <= LATE => (Kind::Quiet, shortest(Kind::Quiet)??),
            None => return None,
        };
        (plies >= SHORTEST).then_some((kind, plies))
    }

    /// True if `side`, who is to move, wins within so many plies.
    fn wins(&mut self, at: &Node, side: Seat, plies: u32) -> bool {
        if !at.wins(side).is_empty() {
            return true;
        }
        if plies < 3
            || self
                .unwon
                .get(&at.stones)
                .is_some_and(|&most| most >= plies)
        {
            return false;
        }
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        let must_answer = at.wins(side.other());
        let is_won = columns_of(at.board.open()).any(|column| {
            if must_answer.iter().any(|&threat| threat != column) {
                return false;
            }
            let next = at.after(side, column).expect("no stone wins at once");
            self.loses(&next, side.other(), plies - 1)
        });
        if !is_won {
            self.unwon.insert(at.stones, plies);
        }
        is_won
    }

    /// True if `side`, who is to move, loses within so many plies, whatever it does.
    fn loses(&mut self, at: &Node, side: Seat, plies: u32) -> bool {
        if !at.wins(side).is_empty() {
            return false;
        }
        let threats = at.wins(side.other());
        let mut answers = match threats.len() {
            0 if self.kind == Kind::Threats => return false,
            0 => columns_of(at.board.open()).collect(),
            1 => threats,
            // Whichever is answered, the other one wins.
            _ => return true,
        };
        // A full board is a draw.
        !answers.is_empty()
            && answers.drain(..).all(|column| {
                let next = at.after(side, column).expect("no stone wins at once");
                self.wins(&next, side.other(), plies - 1)
            })
    }
}
