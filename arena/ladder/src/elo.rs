//! Elo: what a score says about a difference of strength.

use std::f64::consts::LN_10;

/// How many Elo one natural unit of strength is.
pub const ELO_SCALE: f64 = 400.0 / LN_10;

/// How many normalised Elo one standard deviation of a game's score is.
pub const NELO_SCALE: f64 = 800.0 / LN_10;

/// The score, from 0 to 1, that is to be expected of one who is stronger by this.
#[must_use]
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_SCALE).exp())
}
