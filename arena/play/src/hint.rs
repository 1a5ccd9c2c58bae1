//! What a bot would play in a person's seat. It knows what the person knows.

use std::time::Duration;

use arena_review::{ExpectedScore, InProcessBot, InProcessSeat, expected};
use bytes::Bytes;
use referee_core::{GameKind, PerSeat, Seat};
use referee_games::{Judgement, SeatReply, Sitting};

use crate::HintError;

/// The question of a person who wants a hint. It is a copy, so that a bot may think about it
/// elsewhere.
pub struct HintQuestion {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) sitting: Sitting,
    pub(crate) seat: Seat,
    /// What the seat was sent, with its answers.
    pub(crate) past: Vec<Bytes>,
    pub(crate) call: Bytes,
}

impl HintQuestion {
    /// What a bot in this process would play, in the notation of the game.
    ///
    /// # Errors
    ///
    /// [`HintError`].
    pub fn ask(mut self, bot: &dyn InProcessBot) -> Result<String, HintError> {
        let mut sits = self.seated(bot)?;
        let answer = sits.hear(&self.call).map_err(HintError::Bot)?;
        let answer = answer.ok_or_else(|| HintError::Bot("it gave no answer".into()))?;
        // The copy reads the answer.
        let heard = SeatReply::Answer(answer);
        match self.sitting.hear(self.seat, heard, Duration::ZERO) {
            Judgement::Accepted { notation, .. } => Ok(notation),
            _ => Err(HintError::Bot("its answer is not legal".into())),
        }
    }

    /// What each seat can expect, by the bot's estimate.
    pub(crate) fn estimate(
        &self,
        bot: &dyn InProcessBot,
    ) -> Result<PerSeat<ExpectedScore>, HintError> {
        let mut sits = self.seated(bot)?;
        let seats = self.kind.info().seats;
        expected(&mut *sits, &self.call, self.seat, seats).map_err(HintError::Bot)
    }

    /// The bot, which has heard what the person has.
    fn seated(&self, bot: &dyn InProcessBot) -> Result<Box<dyn InProcessSeat>, HintError> {
        let [start, past @ ..] = &self.past[..] else {
            return Err(HintError::NotAsked);
        };
        let mut sits = bot.sit(self.kind.path(), start).map_err(HintError::Bot)?;
        for call in past {
            sits.hear(call).map_err(HintError::Bot)?;
        }
        Ok(sits)
    }
}
