//! The set-up: a position, and moves. This file reads what people write.

use referee_core::shorten;
use serde::{Deserialize, Serialize};

use super::{
    position::{OthelloPosition, split},
    square::Square,
};

/// The set-up: a position, the usual one where none is given, and the moves after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// A position in the notation of [`OthelloPosition`].
    pub position: Option<String>,
    /// Moves, such as `f5d6c3`; passes are not written.
    pub moves: Option<String>,
}

impl Setup {
    /// Reads a position, moves, or a position and the moves after it.
    pub(super) fn read_notation(line: &str) -> Result<Self, String> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        match line.chars().next() {
            Some('X' | 'x' | 'O' | 'o' | '-' | '.') => {
                let (position, moves) = split(line);
                Ok(Self {
                    position: given(position),
                    moves: given(moves),
                })
            }
            _ if begins_with_a_square(line) => Ok(Self {
                position: None,
                moves: given(line),
            }),
            _ => Err(format!(
                "expected moves such as f5d6c3, or a position such as \"{}\", found \"{}\"",
                OthelloPosition::BEGINNING,
                shorten(line, 40)
            )),
        }
    }

    /// The position that it leads to, also where the game is over, and the last move before it.
    /// The side to move may have to pass.
    ///
    /// # Errors
    ///
    /// Says what is no position, or which move can't be played.
    pub fn position(&self) -> Result<(OthelloPosition, Option<Square>), String> {
        let position = match &self.position {
            Some(position) => position.parse()?,
            None => OthelloPosition::BEGINNING,
        };
        let moves = self.squares()?;
        Ok((position.after(&moves)?, moves.last().copied()))
    }

    /// The squares of its moves.
    pub(super) fn squares(&self) -> Result<Vec<Square>, String> {
        let moves = self.moves.as_deref().unwrap_or_default();
        let is_separator = |c: &char| c.is_whitespace() || matches!(c, ',' | ';');
        let signs: Vec<char> = moves.chars().filter(|c| !is_separator(c)).collect();
        let squares = signs.chunks(2).enumerate().map(|(at, square)| {
            let square: String = square.iter().collect();
            square
                .parse()
                .map_err(|why| format!("move {} of the transcript: {why}", at + 1))
        });
        squares.collect()
    }
}

fn begins_with_a_square(text: &str) -> bool {
    let end = text.char_indices().nth(2).map_or(text.len(), |(at, _)| at);
    text[..end].parse::<Square>().is_ok()
}

#[cfg(test)]
mod tests {
    use referee_core::Game as _;

    use super::{super::rules::Othello, *};

    fn position(line: &str) -> Result<String, String> {
        let setup = Othello::opening(line).map_err(|error| error.to_string())?;
        setup.position().map(|(position, _)| position.to_string())
    }

    #[test]
    fn a_transcript_leads_to_its_position() {
        let expected = "------------------X--------XX------OXX-----O-------------------- O";
        let beginning = OthelloPosition::BEGINNING.to_string();
        for line in [
            "f5d6c3",
            "F5 d6c3",
            " f5, D6; c3 ",
            r#"{"moves": "f5 d6 c3"}"#,
            &format!("{beginning} f5d6c3"),
            &format!("{} F5 d6 c3", beginning.to_lowercase().replace('-', ".")),
            expected,
        ] {
            assert_eq!(position(line).as_deref(), Ok(expected), "{line}");
        }
        let setup = Othello::opening("f5d6c3").unwrap();
        assert_eq!(setup.position().unwrap().1, Some("c3".parse().unwrap()));
        assert_eq!(
            position("f5d6a1").unwrap_err(),
            "move 3 of the transcript: Black encloses nothing on a1; expected one of c3 c4 c5 c6 c7"
        );
        assert_eq!(
            position("f5d6c").unwrap_err(),
            "move 3 of the transcript: expected a square of a1 to h8, found \"c\""
        );
    }

    /// 32 moves have as many letters as a board has squares.
    #[test]
    fn a_transcript_of_32_moves_is_no_board() {
        let moves = "f5f4f3f6d3f2g6c3b3b2g4g3b1d2c4c5f1g2g1g5c6a1h6a2b5c7f7d6c2h5b8e7";
        assert_eq!(moves.len(), 64);
        assert_eq!(
            position(moves).as_deref(),
            Ok("OX---XX-OOXO-XX--OOX-XX---OOXXX--XOOXOOO--OO-OXX--X-OX---X------ X")
        );
    }

    #[test]
    fn a_side_without_a_move_passes_in_a_transcript() {
        // White has no move after c1.
        let board = format!("XO{}XO{} X", "-".repeat(14), "-".repeat(46));
        let after = position(&format!("{board} c1 c3")).unwrap();
        assert!(after.ends_with(" O"), "{after}");
        assert!(after.starts_with("XXX"), "{after}");
    }
}
