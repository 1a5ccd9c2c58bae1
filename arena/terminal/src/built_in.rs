//! A built-in bot in this process, for what asks it without a game: explanations and hints.

use arena_review::{BotError, InProcessBot, InProcessSeat};
use bytes::Bytes;

/// A built-in bot.
pub struct BuiltIn(pub house_bots::Bot);

struct BuiltInSeat(house_bots::LocalPlayer);

impl InProcessBot for BuiltIn {
    fn sit(&self, path: &str, start: &Bytes) -> Result<Box<dyn InProcessSeat>, BotError> {
        Ok(Box::new(BuiltInSeat(self.0.sit(path, start)?)))
    }
}

impl InProcessSeat for BuiltInSeat {
    fn hear(&mut self, call: &Bytes) -> Result<Option<Bytes>, BotError> {
        Ok(self.0.hear(call)?)
    }

    fn values(&mut self, call: &Bytes) -> Result<Option<Vec<f64>>, BotError> {
        Ok(self.0.values(call)?)
    }

    fn shares(&mut self, call: &Bytes) -> Result<Option<Vec<f64>>, BotError> {
        Ok(self.0.shares(call)?)
    }
}
