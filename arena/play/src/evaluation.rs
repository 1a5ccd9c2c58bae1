//! What the players can expect, as a person in a seat may know it.

use arena_review::{ExpectedScore, deals, evaluate};
use referee_core::{Dice, PerSeat, Seed};
use referee_games::Imagination;

/// So many playouts each deal gets.
const PLAYOUTS: u32 = 400;

/// The question of a person who wants to know how they stand. It is a copy, so that it can be
/// thought about elsewhere.
pub struct EvaluationQuestion(pub(crate) Imagination);

impl EvaluationQuestion {
    /// What each seat can expect, as shares of the points: searches by random playouts, each with
    /// another deal of what the person has not seen. None where no such deal is found.
    #[must_use]
    pub fn ask(&self) -> Option<PerSeat<ExpectedScore>> {
        // The same position has the same value, whoever asks how often.
        let mut dice = Dice::new(&Seed::new([0; 32]));
        let deals = deals(|dice| self.0.deal(dice), &mut dice)?;
        Some(evaluate(&deals, PLAYOUTS, &mut dice))
    }
}
