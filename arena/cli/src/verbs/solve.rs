//! `arena solve`: the exact value of a position, where a solver is built in.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use arena_events::{
    Event,
    solve::{SolvedEvent, SolvedMove},
};
use arena_terminal::Format;
use arena_tournament::parse_limit;
use clap::{Args, Subcommand};
use edge::{Discs, Exactness, OthelloEngine, OthelloEngineOptions, SearchLimit, Square};

use crate::{
    End,
    report::{self, event, plain_table, text},
    usage,
};

/// With more empty squares than this it takes long.
const LONG: u32 = 24;

#[derive(Subcommand)]
pub(crate) enum Solve {
    /// What each move of an Othello position is worth in discs, if both sides play their best
    #[command(after_help = "Examples:
  arena solve othello 'O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X'
  arena solve othello f5d6c3d3c4 --time 10s")]
    Othello(Othello),
}

#[derive(Args)]
pub(crate) struct Othello {
    /// 64 squares from a1, b1 to h8 (X, O, - for an empty one), a space, and who moves (X or O); or
    /// the moves from the usual beginning, as in f5d6c3.
    position: String,
    /// Stop after this time, with estimates for what is not solved by then [default: solve all].
    #[arg(long, value_parser = parse_limit)]
    time: Option<Duration>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Solve {
    pub(crate) fn run(&self) -> anyhow::Result<End> {
        let Self::Othello(othello) = self;
        othello.run()
    }
}

/// A board, and whether Black moves.
struct Position {
    board: Discs,
    is_black: bool,
}

impl Othello {
    fn run(&self) -> anyhow::Result<End> {
        let position = match position(&self.position) {
            Ok(position) => position,
            Err(why) => return usage(why),
        };
        let board = position.board;
        if self.time.is_none() && board.empties() > LONG {
            report::warning(&format!(
                "{} squares are empty: this may take hours; --time 10s gives estimates",
                board.empties()
            ));
        }
        let mut engine = OthelloEngine::new(OthelloEngineOptions {
            table_bytes: 256 << 20,
            ..OthelloEngineOptions::default()
        })?;
        let began = Instant::now();
        let limit = SearchLimit {
            uncut: self.time.is_none(),
            ..self
                .time
                .map_or_else(SearchLimit::default, SearchLimit::time)
        };
        let scores = engine.scores(board, limit);
        let took = began.elapsed();
        let moves: Vec<SolvedMove> = scores
            .iter()
            .map(|one| SolvedMove {
                notation: one.square.to_string(),
                score: one.score,
                exact: one.exactness == Exactness::Exact,
            })
            .collect();
        match self.format {
            Format::Json => event(Event::Solved(SolvedEvent {
                game: "othello".to_owned(),
                position: position.to_string(),
                moves,
                took_us: took.as_micros() as u64,
            }))?,
            Format::Text => show(&position, &moves, took)?,
        }
        Ok(End::Done)
    }
}

fn show(position: &Position, moves: &[SolvedMove], took: Duration) -> anyhow::Result<()> {
    text(&drawn(position))?;
    if moves.is_empty() {
        let passed = position.board.pass();
        return text(match passed.moves() {
            0 => "neither side has a move: the game is over\n",
            _ => "no legal move: this side passes\n",
        });
    }
    let rows = moves.iter().map(|one| {
        let how = if one.exact { "exact" } else { "an estimate" };
        [
            one.notation.clone(),
            format!("{:+}", one.score),
            how.to_owned(),
        ]
    });
    plain_table(&["move", "discs", ""], rows)?;
    let took = report::time(took.as_micros() as u64);
    text(&format!("in {took}\n"))
}

/// The board as people draw it.
fn drawn(position: &Position) -> String {
    let mut drawn = "   a b c d e f g h\n".to_owned();
    let squares: Vec<char> = position.squares().collect();
    for (row, squares) in squares.chunks(8).enumerate() {
        let _ = write!(drawn, "{:>2}", row + 1);
        for square in squares {
            let _ = write!(drawn, " {square}");
        }
        drawn.push('\n');
    }
    let who = if position.is_black { "X" } else { "O" };
    drawn + who + " to move\n\n"
}

impl Position {
    fn squares(&self) -> impl Iterator<Item = char> {
        let Discs { own, other } = self.board;
        let (black, white) = match self.is_black {
            true => (own, other),
            false => (other, own),
        };
        (0..64).map(move |at| match (black >> at & 1, white >> at & 1) {
            (1, _) => 'X',
            (_, 1) => 'O',
            _ => '-',
        })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let squares: String = self.squares().collect();
        write!(f, "{squares} {}", if self.is_black { 'X' } else { 'O' })
    }
}

/// A position as it is written: a board, or the moves that lead to it.
fn position(written: &str) -> Result<Position, String> {
    let written = written.trim();
    if written.chars().all(|c| c.is_ascii_alphanumeric()) && written.len() != 64 {
        return after(written);
    }
    let board = written.parse::<Discs>().map_err(|error| {
        format!(
            "{}: {error}; expected 64 squares, a space and X or O, or moves such as f5d6c3",
            referee_core::printable(written)
        )
    })?;
    Ok(Position {
        board,
        is_black: written.ends_with('X'),
    })
}

/// The position after these moves. Who has none passes.
fn after(moves: &str) -> Result<Position, String> {
    let mut position = Position {
        board: Discs::START,
        is_black: true,
    };
    let letters: Vec<char> = moves.chars().collect();
    for pair in letters.chunks(2) {
        let notation: String = pair.iter().collect();
        let square: Square = (notation.to_lowercase().parse())
            .map_err(|_| format!("{notation}: expected a square, a1 to h8"))?;
        position.board = position
            .board
            .play(square)
            .ok_or_else(|| format!("{notation}: it is no legal move there"))?;
        position.is_black = !position.is_black;
        let passed = position.board.pass();
        if position.board.moves() == 0 && passed.moves() != 0 {
            position.board = passed;
            position.is_black = !position.is_black;
        }
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_and_moves_are_read() {
        let begun = position("f5d6").expect("two legal moves");
        assert!(begun.is_black);
        let written = begun.to_string();
        assert_eq!(position(&written).expect("a board").board, begun.board);
        assert_eq!(written.len(), 66);
        for wrong in [
            "f5f5",
            "a1",
            "f",
            "XXX",
            "z9",
            &written[..64],
            &written[1..],
        ] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }
}
