//! The move that a bot would play in a person's seat. It knows what the person knows.

use std::time::Duration;

use arena_review::{ExpectedScore, InProcessBot, InProcessSeat, expected};
use bytes::Bytes;
use referee_core::{GameInfo, GameKind, PerSeat, Seat};
use referee_games::{Judgement, SeatReply, Sitting, game};
use serde::{Deserialize, Serialize};

use crate::HintError;

/// The calls that a seat was sent and its question now, as values alone, so that a bot in another
/// process can answer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatQuestion {
    game: String,
    seat: Seat,
    /// The calls that the seat was sent, with its answers.
    past: Vec<Vec<u8>>,
    call: Vec<u8>,
}

impl SeatQuestion {
    pub(crate) fn new(
        kind: &'static dyn GameKind,
        seat: Seat,
        past: &[Bytes],
        call: &Bytes,
    ) -> Self {
        Self {
            game: kind.info().name.to_owned(),
            seat,
            past: past.iter().map(|call| call.to_vec()).collect(),
            call: call.to_vec(),
        }
    }

    /// The game, where it is known here.
    #[must_use]
    pub fn info(&self) -> Option<&'static GameInfo> {
        game(&self.game).map(GameKind::info)
    }

    /// The answer of a bot in this process, as a message.
    ///
    /// # Errors
    ///
    /// [`HintError`].
    pub fn answer(&self, bot: &dyn InProcessBot) -> Result<Bytes, HintError> {
        let (mut sits, call) = self.seated(bot)?;
        let answer = sits.hear(&call).map_err(HintError::Bot)?;
        answer.ok_or_else(|| HintError::Bot("it gave no answer".into()))
    }

    /// The score that each seat can expect, as shares of the points, by the estimate of a bot in
    /// this process.
    ///
    /// # Errors
    ///
    /// [`HintError`]; the bot may have no estimates.
    pub fn estimate(&self, bot: &dyn InProcessBot) -> Result<PerSeat<ExpectedScore>, HintError> {
        let (mut sits, call) = self.seated(bot)?;
        let seats = self.info().ok_or(HintError::NotAsked)?.seats;
        expected(&mut *sits, &call, self.seat, seats).map_err(HintError::Bot)
    }

    /// The bot, which has heard what the person has, and the question.
    fn seated(&self, bot: &dyn InProcessBot) -> Result<(Box<dyn InProcessSeat>, Bytes), HintError> {
        let kind = game(&self.game).ok_or(HintError::NotAsked)?;
        let mut past = self.past.iter().map(|call| Bytes::copy_from_slice(call));
        let start = past.next().ok_or(HintError::NotAsked)?;
        let mut sits = bot.sit(kind.path(), &start).map_err(HintError::Bot)?;
        for call in past {
            sits.hear(&call).map_err(HintError::Bot)?;
        }
        Ok((sits, Bytes::copy_from_slice(&self.call)))
    }
}

/// The question of a person who wants a hint. It is a copy, so that a bot may think about it
/// elsewhere.
pub struct HintQuestion {
    pub(crate) sitting: Sitting,
    pub(crate) seat: Seat,
    pub(crate) question: SeatQuestion,
}

impl HintQuestion {
    /// The move that a bot in this process would play, in the notation of the game.
    ///
    /// # Errors
    ///
    /// [`HintError`].
    pub fn ask(self, bot: &dyn InProcessBot) -> Result<String, HintError> {
        let answer = self.question.answer(bot)?;
        self.read(answer)
    }

    /// The question as values alone.
    #[must_use]
    pub const fn question(&self) -> &SeatQuestion {
        &self.question
    }

    /// The move that a bot would play that has given this answer, in the notation of the game.
    ///
    /// # Errors
    ///
    /// [`HintError::Bot`] where the answer is not legal.
    pub fn read(mut self, answer: Bytes) -> Result<String, HintError> {
        // The copy reads the answer.
        let heard = SeatReply::Answer(answer);
        match self.sitting.hear(self.seat, heard, Duration::ZERO) {
            Judgement::Accepted { notation, .. } => Ok(notation),
            _ => Err(HintError::Bot("its answer is not legal".into())),
        }
    }
}
