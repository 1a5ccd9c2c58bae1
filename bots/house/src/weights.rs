//! `weights`: a search to a fixed depth over a table of square weights, as the
//! rules page of Othello describes the classic bot.
//!
//! A line is worth the weights of the squares that the own side takes along it
//! less those that the other side takes, so that a rich stop on the way counts
//! and not the last square alone. A side that can take a corner takes it, and
//! that ends the line.

use std::str::FromStr;

use bot_kit::{Bot, Thinker, Turn};
use referee_games::othello::{Othello, OthelloBoard, Square, squares_of};

use crate::{HouseBot, Parameter, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "weights",
    summary: "looks nine plies ahead for the squares that are worth most",
    games: PlayedGames::These(&["othello"]),
    parameters: &[
        Parameter {
            name: "plies",
            standard: "9",
            summary: "how far it looks, its own move included",
        },
        Parameter {
            name: "exponents",
            standard: "24,0,20,16,0,0,12,4,20,12,12,8,16,4,8",
            summary: "a square is worth two to the power of these: a quarter of the board, row by row from the corner, without the centre",
        },
    ],
    shows: &["weights", "hasty=weights?plies=1"],
    build,
};

/// Number of plies that it looks ahead, its own move included.
pub const PLIES: u32 = 9;
/// A weight is two to the power of one of these: a quarter of the board, row
/// by row from the corner; the other quarters mirror it. The centre is never
/// free and has none.
const EXPONENTS: [u8; 15] = [24, 0, 20, 16, 0, 0, 12, 4, 20, 12, 12, 8, 16, 4, 8];
/// Weights of this size, on all squares of a line, can still be added up.
const LARGEST: u8 = 50;
/// More than any line is worth; adding a line's worth to it can't overflow.
const INFINITY: i64 = 1 << 60;
/// a1, h1, a8, h8.
const CORNERS: u64 = 1 | 1 << 7 | 1 << 56 | 1 << 63;

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let plies = parameters
        .get("plies", "a number of plies, 1 to 60", |plies| {
            (1..=60).contains(plies)
        })?
        .unwrap_or(PLIES);
    let weights: SquareWeights = parameters
        .get(
            "exponents",
            "fifteen numbers of 0 to 50, with commas",
            |_| true,
        )?
        .unwrap_or_default();
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |_| WeightsPlayer {
            weights: weights.clone(),
            plies,
        }))
}

struct WeightsPlayer {
    weights: SquareWeights,
    plies: u32,
}

impl Thinker<Othello> for WeightsPlayer {
    fn answer(&mut self, turn: &Turn<'_, Othello>) -> Square {
        let board = turn.view().public.position.board;
        let best = self.weights.best(board, self.plies);
        best.expect("who is asked has a move")
    }
}

/// The weights of the squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SquareWeights {
    /// In falling order; the squares of a weight are a set.
    groups: Vec<(i64, u64)>,
    /// A corner's.
    corner: i64,
}

impl Default for SquareWeights {
    fn default() -> Self {
        Self::new(EXPONENTS)
    }
}

impl SquareWeights {
    fn new(exponents: [u8; 15]) -> Self {
        let mut groups: Vec<(i64, u64)> = Vec::new();
        for square in Square::all() {
            let row = square.row().min(7 - square.row());
            let column = square.column().min(7 - square.column());
            let Some(&exponent) = exponents.get(usize::from(4 * row + column)) else {
                continue;
            };
            let weight = 1 << exponent;
            match groups.iter_mut().find(|group| group.0 == weight) {
                Some(group) => group.1 |= square.bit(),
                None => groups.push((weight, square.bit())),
            }
        }
        groups.sort_unstable_by_key(|&(weight, _)| -weight);
        Self {
            groups,
            corner: 1 << exponents[0],
        }
    }

    /// The square with the best value, the first of equals; none where the
    /// side to move has no move.
    #[must_use]
    pub fn best(&self, board: OthelloBoard, plies: u32) -> Option<Square> {
        let moves = board.moves();
        if moves & CORNERS != 0 {
            return squares_of(moves & CORNERS).next();
        }
        let mut best = None;
        let mut alpha = -INFINITY;
        for (weight, square) in self.in_order(moves) {
            let next = board.play(square);
            let value = weight - self.value(next, plies - 1, false, -INFINITY, weight - alpha);
            if best.is_none() || value > alpha {
                best = Some(square);
                alpha = value;
            }
        }
        best
    }

    /// The worth of this many plies from here for the side to move, between these bounds; below
    /// them at most, above them at least. The bounds of a move's line are those without the move's
    /// own weight.
    fn value(
        &self,
        board: OthelloBoard,
        plies: u32,
        passed: bool,
        mut alpha: i64,
        beta: i64,
    ) -> i64 {
        if plies == 0 {
            return 0;
        }
        let moves = board.moves();
        if moves == 0 {
            return if passed {
                0
            } else {
                -self.value(board.pass(), plies - 1, true, -beta, -alpha)
            };
        }
        if moves & CORNERS != 0 {
            return self.corner;
        }
        let mut best = -INFINITY;
        for (weight, square) in self.in_order(moves) {
            let next = board.play(square);
            let line = self.value(next, plies - 1, false, weight - beta, weight - alpha);
            best = best.max(weight - line);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// The moves in falling weight, row by row among equals.
    fn in_order(&self, moves: u64) -> impl Iterator<Item = (i64, Square)> {
        self.groups.iter().flat_map(move |&(weight, squares)| {
            squares_of(moves & squares).map(move |square| (weight, square))
        })
    }
}

impl FromStr for SquareWeights {
    type Err = ();

    /// Reads fifteen exponents with commas between them.
    fn from_str(text: &str) -> Result<Self, ()> {
        let exponents: Vec<u8> = text
            .split(',')
            .map(|exponent| exponent.trim().parse().map_err(|_| ()))
            .collect::<Result<_, _>>()?;
        if exponents.iter().any(|&exponent| exponent > LARGEST) {
            return Err(());
        }
        exponents.try_into().map(Self::new).map_err(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use referee_games::othello::OthelloPosition;

    use super::*;

    /// The rules page to the letter: the sum over a whole line, and no pruning.
    fn minimax(
        weights: &[i64; 64],
        board: OthelloBoard,
        plies: u32,
        passed: bool,
        sum: i64,
    ) -> i64 {
        if plies == 0 {
            return sum;
        }
        let moves = board.moves();
        if moves == 0 && passed {
            return sum;
        }
        if moves == 0 {
            return -minimax(weights, board.pass(), plies - 1, true, -sum);
        }
        if let Some(corner) = [0, 7, 56, 63].into_iter().find(|at| moves >> at & 1 == 1) {
            return sum + weights[corner];
        }
        squares_of(moves)
            .map(|square| {
                let sum = sum + weights[square.index()];
                -minimax(weights, board.play(square), plies - 1, false, -sum)
            })
            .max()
            .unwrap()
    }

    /// The published table, written out.
    fn table() -> [i64; 64] {
        let rows = [
            [24, 0, 20, 16, 16, 20, 0, 24],
            [0, 0, 12, 4, 4, 12, 0, 0],
            [20, 12, 12, 8, 8, 12, 12, 20],
            [16, 4, 8, 0, 0, 8, 4, 16],
        ];
        let mut weights = [0; 64];
        for (row, exponents) in rows.iter().enumerate() {
            for (column, exponent) in exponents.iter().enumerate() {
                weights[8 * row + column] = 1 << exponent;
                weights[8 * (7 - row) + column] = 1 << exponent;
            }
        }
        weights
    }

    /// A position after this many random moves, or fewer where the game is
    /// over.
    fn random_position(rng: &mut ChaCha8Rng, moves: u32) -> OthelloBoard {
        let mut board = OthelloBoard::BEGINNING;
        for _ in 0..moves {
            let legal = board.moves();
            if legal == 0 {
                if board.is_over() {
                    break;
                }
                board = board.pass();
                continue;
            }
            let pick = rng.random_range(0..legal.count_ones()) as usize;
            board = board.play(squares_of(legal).nth(pick).unwrap());
        }
        board
    }

    #[test]
    fn pruning_does_not_change_the_value() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let weights = SquareWeights::default();
        let table = table();
        for round in 0..600 {
            let board = random_position(&mut rng, round % 60);
            for plies in 1..=if round % 60 > 44 { 9 } else { 4 } {
                let expected = minimax(&table, board, plies, false, 0);
                let value = weights.value(board, plies, false, -INFINITY, INFINITY);
                assert_eq!(value, expected, "{board:?} to {plies} plies");

                let Some(best) = weights.best(board, plies) else {
                    assert_eq!(board.moves(), 0);
                    continue;
                };
                let first = weights
                    .in_order(board.moves())
                    .find(|&(weight, square)| {
                        square.bit() & CORNERS != 0
                            || weight
                                == expected
                                    + minimax(&table, board.play(square), plies - 1, false, 0)
                    })
                    .unwrap();
                assert_eq!(best, first.1, "{board:?} to {plies} plies");
            }
        }
    }

    fn best(position: &str) -> String {
        let position: OthelloPosition = position.parse().unwrap();
        let best = SquareWeights::default()
            .best(position.board, PLIES)
            .unwrap();
        best.to_string()
    }

    #[test]
    fn the_first_open_corner_is_taken() {
        let mut cells = ["-"; 64];
        // h1, a8 and h8 are open to Black.
        for (white, black) in [(6, 5), (48, 40), (62, 61)] {
            cells[white] = "O";
            cells[black] = "X";
        }
        assert_eq!(best(&(cells.concat() + " X")), "h1");
        cells[7] = "X";
        assert_eq!(best(&(cells.concat() + " X")), "a8");
        cells[56] = "X";
        assert_eq!(best(&(cells.concat() + " X")), "h8");
    }

    #[test]
    fn exponents_are_fifteen_numbers() {
        let standard = EXPONENTS.map(|exponent| exponent.to_string()).join(",");
        assert_eq!(standard.parse(), Ok(SquareWeights::default()));
        for wrong in ["", "1,2,3", "24,0,20,16,0,0,12,4,20,12,12,8,16,4,51"] {
            assert_eq!(wrong.parse::<SquareWeights>(), Err(()));
        }
    }
}
