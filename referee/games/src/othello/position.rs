//! A position: who has which discs, whose turn it is, and its notation.

use std::{fmt, str::FromStr};

use referee_core::Seat;

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

    /// After these moves, one square behind the other (`f5d6c3`); passes are
    /// not written.
    ///
    /// # Errors
    ///
    /// Says which move can't be played.
    pub fn after(self, transcript: &str) -> Result<(Self, Option<Square>), String> {
        let characters: Vec<char> = transcript
            .chars()
            .filter(|c| !c.is_ascii_whitespace())
            .collect();
        let mut position = self;
        let mut last = None;
        for (played, text) in characters.chunks(2).enumerate() {
            let text: String = text.iter().collect();
            let wrong = |why| format!("move {} of the transcript: {why}", played + 1);
            let square: Square = text.parse().map_err(wrong)?;
            if position.must_pass() {
                position = position.pass();
            }
            position
                .refuse(square)
                .map_or(Ok(()), |why| Err(wrong(why)))?;
            position = position.play(square);
            last = Some(square);
        }
        Ok((position, last))
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

impl FromStr for OthelloPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_ascii_whitespace();
        let (Some(cells), Some(side), None) = (words.next(), words.next(), words.next()) else {
            return Err(format!(
                "expected 64 squares, a space, and X or O for the side to move, found \"{text}\""
            ));
        };
        let turn = match side {
            "X" | "x" => BLACK,
            "O" | "o" => WHITE,
            _ => {
                return Err(format!(
                    "expected X or O for the side to move, found \"{side}\""
                ));
            }
        };
        let found = cells.chars().count();
        if found != usize::from(Square::COUNT) {
            return Err(format!("expected 64 squares, found {found}"));
        }
        let mut board = OthelloBoard {
            own: 0,
            opponent: 0,
        };
        for (square, cell) in Square::all().zip(cells.chars()) {
            match cell {
                'X' | 'x' => board.own |= square.bit(),
                'O' | 'o' => board.opponent |= square.bit(),
                '-' | '.' => {}
                other => {
                    return Err(format!(
                        "expected X, O, - or . on {square}, found \"{other}\""
                    ));
                }
            }
        }
        if turn == WHITE {
            board = board.pass();
        }
        Ok(Self { board, turn })
    }
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
        assert_eq!(
            text.replace('-', ".").to_lowercase().parse(),
            Ok(OthelloPosition::BEGINNING)
        );
    }

    #[test]
    fn a_transcript_leads_to_its_position() {
        let (position, last) = OthelloPosition::BEGINNING.after("F5 d6c3").unwrap();
        assert_eq!(last.unwrap().to_string(), "c3");
        assert_eq!(
            position.to_string(),
            "------------------X--------XX------OXX-----O-------------------- O"
        );
        assert_eq!(
            OthelloPosition::BEGINNING.after("f5d6a1").unwrap_err(),
            "move 3 of the transcript: Black encloses nothing on a1; expected one of c3 c4 c5 c6 c7"
        );
    }

    #[test]
    fn what_is_no_position_is_told() {
        let good = OthelloPosition::BEGINNING.to_string();
        assert_eq!(wrong(&good[1..]), "expected 64 squares, found 63");
        assert_eq!(
            wrong(&good.replace(" X", " B")),
            "expected X or O for the side to move, found \"B\""
        );
        assert_eq!(
            wrong(&good.replacen('-', "é", 1)),
            "expected X, O, - or . on a1, found \"é\""
        );
        assert!(wrong("").starts_with("expected 64 squares, a space"));
        assert!(wrong(&good[..64]).starts_with("expected 64 squares, a space"));
    }
}
