//! `arena solve`: the exact value of a position, where a solver is built in.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use arena_events::{
    Event,
    solve::{SolvedEvent, SolvedMove},
};
use arena_terminal::{Format, Written};
use arena_tournament::parse_limit;
use clap::{Args, Subcommand};
use edge::{Discs, Exactness, OthelloEngine, OthelloEngineOptions, SearchLimit};
use referee_core::{Game as _, SetupError};
use referee_games::othello::{Othello as Rules, OthelloBoard, OthelloPosition};

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
  arena solve othello '--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X'
  arena solve othello f5d6c3d3c4 --time 10s")]
    Othello(Othello),
}

#[derive(Args)]
pub(crate) struct Othello {
    /// Moves from the usual beginning, as in f5d6c3; or 64 squares from a1, b1 to h8 (X, O, and - or
    /// . for an empty one), a space, who moves (X or O), and moves after it, if you like.
    #[arg(allow_hyphen_values = true, value_parser = Written)]
    position: String,
    /// The words that follow, where it is not in quotation marks. They take a mistyped option's value,
    /// so that the option is named.
    #[arg(hide = true)]
    more: Vec<String>,
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

impl Othello {
    fn written(&self) -> String {
        let words = [&self.position].into_iter().chain(&self.more);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    fn run(&self) -> anyhow::Result<End> {
        let position = match position(&self.written()) {
            Ok(position) => position,
            Err(why) => return usage(why.to_string()),
        };
        let board = discs(position.board);
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
            Format::Text => show(position, &moves, took)?,
        }
        Ok(End::Done)
    }
}

fn show(position: OthelloPosition, moves: &[SolvedMove], took: Duration) -> anyhow::Result<()> {
    text(&drawn(position))?;
    if moves.is_empty() {
        return text(match position.must_pass() {
            false => "neither side has a move: the game is over\n",
            true => "no legal move: this side passes\n",
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
fn drawn(position: OthelloPosition) -> String {
    let mut drawn = "   a b c d e f g h\n".to_owned();
    let squares: Vec<char> = position.to_string().chars().collect();
    let (squares, turn) = squares.split_at(64);
    for (row, squares) in squares.chunks(8).enumerate() {
        let _ = write!(drawn, "{:>2}", row + 1);
        for square in squares {
            let _ = write!(drawn, " {square}");
        }
        drawn.push('\n');
    }
    let turn: String = turn.iter().collect();
    format!("{drawn}{} to move\n\n", turn.trim())
}

/// The position that a set-up leads to. Who has no move after the last one passes.
fn position(written: &str) -> Result<OthelloPosition, SetupError> {
    let (position, last) = Rules::opening(written)?.position().map_err(SetupError)?;
    Ok(match last {
        Some(_) if position.must_pass() => position.pass(),
        _ => position,
    })
}

/// The board of the engine.
const fn discs(board: OthelloBoard) -> Discs {
    Discs {
        own: board.own,
        other: board.opponent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_and_the_rules_agree_on_a_board() {
        for line in [
            "f5d6c3",
            "-------------------OX------OOO----XOOO-----OOO------------------ X",
        ] {
            let position = position(line).expect("a position");
            let discs = discs(position.board);
            assert_eq!(discs.moves(), position.board.moves(), "{line}");
            // The reader of the engine knows this form alone.
            let read: Discs = position.to_string().parse().expect("a board");
            assert_eq!((read.own, read.other), (discs.own, discs.other), "{line}");
        }
    }

    #[test]
    fn who_has_no_move_after_the_last_one_passes() {
        let passed = position("e6f6c4e7e8d8g6f8").expect("a position");
        assert!(passed.board.moves() != 0 && !passed.must_pass());
        let over = position("e6f4e3f6g5d6e7f5c5").expect("a position");
        assert!(over.board.is_over());
    }
}
