//! Counts the sequences of 8 plies from the empty board on the boards of a table that was
//! made by two other programs, and ends with exit code 1 if a count differs.

use std::{process::ExitCode, time::Instant};

use zugzwang::{BoardCell, BoardShape, Engine, Options, Position};

/// Columns, rows, column and row of the forbidden cell, sequences.
type Count = (u8, u8, Option<(u8, u8)>, u64);

const TABLE: [Count; 6] = [
    (9, 9, None, 42_569_793),
    (9, 9, Some((4, 0)), 42_859_881),
    (9, 9, Some((4, 3)), 42_574_401),
    (10, 11, Some((3, 2)), 99_087_670),
    (11, 9, Some((0, 0)), 212_907_255),
    (12, 12, None, 427_223_952),
];

fn main() -> ExitCode {
    let mut engine = Engine::new(Options::default());
    let mut wrong = 0;
    for (columns, rows, forbidden, expected) in TABLE {
        let cell = forbidden.map(|(column, row)| BoardCell { column, row });
        let shape = BoardShape::new(rows, columns, cell).expect("the boards of the table exist");
        let begin = Instant::now();
        let found = engine.leaves(&Position::new(shape), 8);
        let seconds = begin.elapsed().as_secs_f64();
        let verdict = if found == expected { "right" } else { "WRONG" };
        wrong += u32::from(found != expected);
        println!("{columns}x{rows} {forbidden:?}: {found} in {seconds:.2} s, {verdict}");
    }
    if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
