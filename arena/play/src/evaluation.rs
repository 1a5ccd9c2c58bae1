//! The score that the players can expect, as a person in a seat may know it.

use arena_review::{ExpectedScore, InProcessBot, deals, evaluate};
use referee_core::{Dice, PerSeat, Seed};
use referee_games::Imagination;

use crate::{HintError, SeatQuestion};

/// So many playouts each deal gets.
const PLAYOUTS: u32 = 400;

/// The question of a person who wants to know how they stand. It is a copy, so that it can be
/// thought about elsewhere.
pub struct EvaluationQuestion {
    pub(crate) imagination: Imagination,
    /// All that the person was sent, for a bot that has estimates.
    pub(crate) question: SeatQuestion,
}

impl EvaluationQuestion {
    /// The question for a bot, as values alone.
    #[must_use]
    pub const fn question(&self) -> &SeatQuestion {
        &self.question
    }

    /// The score that each seat can expect, as shares of the points, by the estimates of a bot in
    /// this process.
    ///
    /// # Errors
    ///
    /// [`HintError::Bot`] where the bot fails or has no estimates.
    pub fn estimate(&self, bot: &dyn InProcessBot) -> Result<PerSeat<ExpectedScore>, HintError> {
        self.question.estimate(bot)
    }

    /// The score that each seat can expect, as shares of the points: searches by random playouts,
    /// each with another deal of what the person has not seen. None where no such deal is found.
    #[must_use]
    pub fn search(&self) -> Option<PerSeat<ExpectedScore>> {
        // The same position has the same value, whoever asks how often.
        let mut dice = Dice::new(&Seed::new([0; 32]));
        let deals = deals(|dice| self.imagination.deal(dice), &mut dice)?;
        Some(evaluate(&deals, PLAYOUTS, &mut dice))
    }
}
