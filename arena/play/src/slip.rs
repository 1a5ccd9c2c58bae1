//! Moves as people write them.

/// Reason why the written text is no move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Slip {
    /// Nothing legal is written like this.
    #[error("\"{0}\" is no legal move")]
    Unknown(String),
    /// Several moves are.
    #[error("\"{written}\" can be {}", candidates.join(" or "))]
    Ambiguous {
        /// The written text.
        written: String,
        /// Moves that it can be, in the notation of the game.
        candidates: Vec<String>,
    },
}

/// In which ways a move is read, the first one first.
#[derive(Clone, Copy)]
enum Reading {
    Exact,
    AnyOrder,
    WithoutBlanks,
    LastPart,
}

/// Which of the legal moves is meant, by its place among them. Large and small letters, blanks and
/// brackets do not matter, nor does the order of cards (that of numbers does); the last part of a move is enough where only
/// one ends with it, as a column is in a game whose stones fall. 0 and 10 are letters of cards too:
/// `10s` and `ts`.
///
/// # Errors
///
/// [`Slip`] says what it is instead.
pub fn read_move<'a>(
    written: &str,
    legal: impl IntoIterator<Item = &'a str>,
) -> Result<usize, Slip> {
    let legal: Vec<&str> = legal.into_iter().collect();
    let parts = parts_of(written);
    if parts.is_empty() {
        return Err(Slip::Unknown(written.trim().to_owned()));
    }
    let moves: Vec<Vec<String>> = legal.iter().map(|notation| parts_of(notation)).collect();
    let sorted = |parts: &[String]| {
        let mut parts = parts.to_vec();
        parts.sort();
        parts
    };
    let (joined, set) = (parts.concat(), sorted(&parts));
    // 10 is a column, and not row 1 and column 0; 1 7 is not 7 1.
    let is_number = joined.chars().all(|c| c.is_ascii_digit());
    let is_meant = |one: &[String], how: Reading| match how {
        Reading::Exact => one == parts,
        Reading::AnyOrder => !is_number && sorted(one) == set,
        Reading::WithoutBlanks => !is_number && one.concat() == joined,
        Reading::LastPart => parts.len() == 1 && one.len() > 1 && one.last() == parts.last(),
    };
    for how in [
        Reading::Exact,
        Reading::AnyOrder,
        Reading::WithoutBlanks,
        Reading::LastPart,
    ] {
        let found = (0..moves.len()).filter(|&at| is_meant(&moves[at], how));
        match found.collect::<Vec<_>>()[..] {
            [] => {}
            [one] => return Ok(one),
            ref several => {
                return Err(Slip::Ambiguous {
                    written: written.trim().to_owned(),
                    candidates: several.iter().map(|&at| legal[at].to_owned()).collect(),
                });
            }
        }
    }
    Err(Slip::Unknown(written.trim().to_owned()))
}

/// Its words and numbers, in small letters.
fn parts_of(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace('♣', "c")
        .replace('♦', "d")
        .replace('♥', "h")
        .replace('♠', "s")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(|part| match part.strip_prefix('t') {
            Some(suit) if matches!(suit, "c" | "d" | "h" | "s") => format!("10{suit}"),
            _ => part.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use referee_core::{Dice, Seed, TableStep};

    use super::*;

    fn means(written: &str, legal: &[&str]) -> Result<usize, Slip> {
        read_move(written, legal.iter().copied())
    }

    #[test]
    fn a_column_is_enough_where_stones_fall() {
        let legal = ["(8, 0)", "(7, 1)", "(8, 7)", "(6, 10)"];
        assert_eq!(means("7", &legal), Ok(2));
        assert_eq!(means(" 10 ", &legal), Ok(3));
        assert_eq!(means("7,1", &legal), Ok(1));
        assert_eq!(means("(8,0)", &legal), Ok(0));
        assert_eq!(means("10", &["(1, 0)", "(6, 10)"]), Ok(1));
        for slip in ["", "2", "80", "8 1", "1 7", "x", "٣", "-"] {
            assert!(
                matches!(means(slip, &legal), Err(Slip::Unknown(_))),
                "{slip}"
            );
        }
    }

    #[test]
    fn squares_tiles_and_cards() {
        assert_eq!(means("D3", &["c4", "d3"]), Ok(1));
        assert_eq!(means("3C", &["win", "3c", "pass"]), Ok(1));
        assert_eq!(means("Pass", &["win", "3c", "pass"]), Ok(2));
        let cards = ["3C", "3C 3D", "10S JS QS", "pass", "JK1 JK2"];
        assert_eq!(means("3d, 3c", &cards), Ok(1));
        assert_eq!(means("3♦3♣", &["3D3C", "3C"]), Ok(0));
        assert_eq!(means("qs ts js", &cards), Ok(2));
        assert_eq!(means("jk1 jk2", &cards), Ok(4));
        assert_eq!(means("3c", &cards), Ok(0));
    }

    /// Every move that is printed can be typed as it is printed, in random games of each game.
    #[test]
    fn a_move_is_read_as_it_is_printed() {
        for kind in &referee_games::GAMES {
            for number in 0..10 {
                let seed = Seed::new([number; 32]);
                let mut dice = Dice::new(&seed);
                let mut table = kind.deal(&serde_json::Value::Null, &seed).unwrap();
                loop {
                    let seat = match table.step() {
                        TableStep::Tell(_) => continue,
                        TableStep::Ask(seats) => seats[0],
                        TableStep::Over(_) => break,
                    };
                    let legal = table.legal(seat);
                    let notations: Vec<&str> = legal.iter().map(|(text, _)| &**text).collect();
                    for (at, notation) in notations.iter().enumerate() {
                        for text in [
                            (*notation).to_owned(),
                            notation.to_lowercase(),
                            format!(" {notation} "),
                        ] {
                            assert_eq!(means(&text, &notations), Ok(at), "{text}");
                        }
                    }
                    let pick = dice.below(legal.len() as u32) as usize;
                    table.answer(seat, &legal[pick].1).unwrap();
                    table.resolve();
                }
            }
        }
    }

    #[test]
    fn what_can_mean_several_moves_is_told() {
        let slip = means("7", &["(1, 7)", "(2, 7)"]).unwrap_err();
        assert_eq!(slip.to_string(), "\"7\" can be (1, 7) or (2, 7)");
    }
}
