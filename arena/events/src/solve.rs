//! Positions that a built-in engine looked at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every move of a position is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SolvedEvent {
    /// The game's name.
    pub game: String,
    /// The position: 64 squares from a1 to h8 (X, O, -), a space, and who moves.
    pub position: String,
    /// Each legal move, the best first. Empty where there is none.
    pub moves: Vec<SolvedMove>,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// A move and what it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SolvedMove {
    /// The move in the game's notation.
    pub notation: String,
    /// Discs of who moves less those of the other side at the end, empty squares given to the
    /// winner.
    pub score: i32,
    /// Whether that is the result of best play; else it is an estimate.
    pub exact: bool,
}
