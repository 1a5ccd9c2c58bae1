//! Games that a program plays in the place of people, `arena play --format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A seat is asked for a move. The next line of standard input is the move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEvent {
    /// The game's name.
    pub game: String,
    /// The name of this game, which its record has too.
    pub game_id: String,
    /// The seat that is asked, from 0.
    pub seat: u8,
    /// What the seat was sent since it was asked last, and then the question: messages of the game's
    /// protocol, each in base64.
    pub calls: Vec<String>,
    /// Every legal move, in the notation of the game.
    pub legal: Vec<String>,
}

/// A line that is no legal move. Nothing has happened: the seat is asked still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlipEvent {
    /// The name of this game.
    pub game_id: String,
    /// The seat that is asked, from 0.
    pub seat: u8,
    /// The line that was read.
    pub written: String,
    /// The legal moves that it can be. Empty where it is none.
    pub candidates: Vec<String>,
}
