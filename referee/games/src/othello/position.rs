//! A position: who has which discs, whose turn it is, and its notation.

use std::{fmt, str::FromStr};

use referee_core::{Seat, shorten};

use super::{
    board::OthelloBoard,
    square::{Square, squares_of},
};

/// Black, who begins.
pub const BLACK: Seat = Seat::new(0);
/// White.
pub const WHITE: Seat = Seat::new(1);

/// A position. Its notation is that of test suites: a character for each of
/// the squares a1, b1, … h1, a2, … h8, `X` a black disc, `O` a white one, `-`
/// or `.` an empty square; then a space, and `X` or `O` for the side to move.
/// docs/notation.md has all that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OthelloPosition {
    /// As the side to move sees it.
    pub board: OthelloBoard,
    /// The side to move.
    pub turn: Seat,
}

impl OthelloPosition {
    /// The beginning of every game that is not set up by hand.
    pub const BEGINNING: Self = Self {
        board: OthelloBoard::BEGINNING,
        turn: BLACK,
    };

    /// The board as this seat sees it.
    #[must_use]
    pub fn board_of(self, seat: Seat) -> OthelloBoard {
        if seat == self.turn {
            self.board
        } else {
            self.board.pass()
        }
    }

    /// The discs of this seat.
    #[must_use]
    pub fn discs(self, seat: Seat) -> u64 {
        self.board_of(seat).own
    }

    /// True if the side to move may place a disc here.
    #[must_use]
    pub const fn allows(self, square: Square) -> bool {
        self.board.moves() & square.bit() != 0
    }

    /// The position after a legal move; it is the other side's turn, even if it has no
    /// move.
    #[must_use]
    pub const fn play(self, square: Square) -> Self {
        Self {
            board: self.board.play(square),
            turn: self.turn.other(),
        }
    }

    /// After a pass.
    #[must_use]
    pub const fn pass(self) -> Self {
        Self {
            board: self.board.pass(),
            turn: self.turn.other(),
        }
    }

    /// True if the side to move has no move and the other side has one.
    #[must_use]
    pub const fn must_pass(self) -> bool {
        self.board.moves() == 0 && self.board.pass().moves() != 0
    }

    /// After these moves. A side without a move passes.
    ///
    /// # Errors
    ///
    /// Says which move can't be played.
    pub fn after(self, moves: &[Square]) -> Result<Self, String> {
        let mut position = self;
        for (at, &square) in moves.iter().enumerate() {
            if position.must_pass() {
                position = position.pass();
            }
            if let Some(why) = position.refuse(square) {
                return Err(format!("move {} of the transcript: {why}", at + 1));
            }
            position = position.play(square);
        }
        Ok(position)
    }

    /// The reason why the side to move may not place a disc here, where it may not.
    #[must_use]
    pub fn refuse(self, square: Square) -> Option<String> {
        if self.allows(square) {
            return None;
        }
        let side = name(self.turn);
        Some(if self.board.empty() & square.bit() == 0 {
            format!("{square} has a disc already")
        } else if self.board.moves() == 0 {
            format!("{side} has no move, found {square}")
        } else {
            let moves: Vec<String> = squares_of(self.board.moves())
                .map(|square| square.to_string())
                .collect();
            format!(
                "{side} encloses nothing on {square}; expected one of {}",
                moves.join(" ")
            )
        })
    }
}

/// The name of a seat.
pub(super) fn name(seat: Seat) -> &'static str {
    if seat == BLACK { "Black" } else { "White" }
}

impl fmt::Display for OthelloPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in Square::all() {
            let sign = [BLACK, WHITE]
                .into_iter()
                .find(|&seat| self.discs(seat) & square.bit() != 0)
                .map_or("-", sign);
            f.write_str(sign)?;
        }
        write!(f, " {}", sign(self.turn))
    }
}

fn sign(seat: Seat) -> &'static str {
    if seat == BLACK { "X" } else { "O" }
}

/// Reads the printed form; small letters are accepted too, and blanks anywhere.
impl FromStr for OthelloPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (board, moves) = split(text);
        let position = read(board)?;
        match moves.is_empty() {
            true => Ok(position),
            false => Err(format!(
                "expected nothing after the side to move, found \"{}\"",
                shorten(moves, 40)
            )),
        }
    }
}

/// True if it is a sign of a position.
const fn is_sign(c: char) -> bool {
    matches!(c, 'X' | 'x' | 'O' | 'o' | '-' | '.')
}

/// A position and what stands behind it: the first sign that no position has, or that comes after
/// the side to move, begins the moves.
pub(super) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !is_sign(c) && !c.is_whitespace());
    // What stands between the squares is a sign too, only a wrong one.
    let is_position = |end: usize| signs(&text[..end]).count() > SQUARES;
    let end = end.filter(|&end| is_position(end)).unwrap_or(text.len());
    let (position, moves) = text.split_at(end);
    (position.trim_end(), moves)
}

const SQUARES: usize = Square::COUNT as usize;

fn signs(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}

/// Reads the squares and the side to move.
fn read(text: &str) -> Result<OthelloPosition, String> {
    let mut board = OthelloBoard {
        own: 0,
        opponent: 0,
    };
    let expected = || {
        let example = OthelloPosition::BEGINNING;
        format!("expected 64 squares and X or O for the side to move, such as \"{example}\"")
    };
    for (square, cell) in Square::all().zip(signs(text)) {
        match cell {
            'X' | 'x' => board.own |= square.bit(),
            'O' | 'o' => board.opponent |= square.bit(),
            '-' | '.' => {}
            other => {
                return Err(format!(
                    "expected X, O, - or . on {square}, as in \"{}\", found \"{other}\"",
                    OthelloPosition::BEGINNING
                ));
            }
        }
    }
    // The side to move stands apart, as people write it.
    let has_side = text
        .split_whitespace()
        .next_back()
        .is_some_and(|word| matches!(word, "X" | "x" | "O" | "o"));
    let found = signs(text).count();
    let turn = match signs(text).nth(SQUARES) {
        Some('X' | 'x') if found == SQUARES + 1 => BLACK,
        Some('O' | 'o') if found == SQUARES + 1 => WHITE,
        Some(other) if found == SQUARES + 1 || !is_sign(other) => {
            return Err(format!(
                "expected X or O for the side to move after 64 squares, found \"{other}\""
            ));
        }
        None if found == SQUARES && !has_side => {
            return Err(format!("{}, found 64 squares alone", expected()));
        }
        _ => {
            let squares = found - usize::from(has_side);
            return Err(format!("{}, found {squares} squares", expected()));
        }
    };
    if turn == WHITE {
        board = board.pass();
    }
    Ok(OthelloPosition { board, turn })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        text.parse::<OthelloPosition>().unwrap_err()
    }

    #[test]
    fn the_beginning_is_written_as_everywhere() {
        let text = "---------------------------OX------XO--------------------------- X";
        assert_eq!(OthelloPosition::BEGINNING.to_string(), text);
        assert_eq!(text.parse(), Ok(OthelloPosition::BEGINNING));
        let rows: Vec<&str> = (0..8).map(|row| &text[8 * row..8 * row + 8]).collect();
        for other in [
            text.replace('-', ".").to_lowercase(),
            text.replace(' ', "  "),
            text.replace(' ', ""),
            rows.join("\n") + "\nX",
            text.chars().map(|c| format!("{c} ")).collect(),
        ] {
            assert_eq!(other.parse(), Ok(OthelloPosition::BEGINNING), "{other}");
        }
    }

    #[test]
    fn what_is_no_position_is_told() {
        let good = OthelloPosition::BEGINNING.to_string();
        let expected =
            format!("expected 64 squares and X or O for the side to move, such as \"{good}\"");
        assert_eq!(wrong(&good[1..]), format!("{expected}, found 63 squares"));
        assert_eq!(
            wrong(&format!("-{good}")),
            format!("{expected}, found 65 squares")
        );
        assert_eq!(
            wrong(&good[..64]),
            format!("{expected}, found 64 squares alone")
        );
        assert_eq!(wrong(""), format!("{expected}, found 0 squares"));
        for side in ["B", "-"] {
            assert_eq!(
                wrong(&good.replace(" X", &format!(" {side}"))),
                format!("expected X or O for the side to move after 64 squares, found \"{side}\"")
            );
        }
        assert_eq!(
            wrong(&good.replacen('-', "é", 1)),
            format!("expected X, O, - or . on a1, as in \"{good}\", found \"é\"")
        );
        assert_eq!(
            wrong(&format!("{good} f5")),
            "expected nothing after the side to move, found \"f5\""
        );
    }
}
