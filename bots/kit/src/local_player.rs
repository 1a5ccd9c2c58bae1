//! A bot in one game that is called directly, without a stream: to ask what it would have
//! done in a past game.

use arena_proto::arena::v1::call_envelope::Call as Kind;
use bytes::Bytes;
use tonic::Status;

use crate::{
    Bot,
    session::{Call, SeatPlayer, called, envelope, numbered},
};

/// A bot in one game, in the process of its caller.
pub struct LocalPlayer(Box<dyn SeatPlayer>);

impl Bot {
    /// Takes a seat in a game of the service at this path, by its first call.
    ///
    /// # Errors
    ///
    /// It does not play this game, or the call can't be read.
    pub fn sit(&self, path: &str, start: &[u8]) -> Result<LocalPlayer, Status> {
        let plays = self.games.iter().find(|game| game.path == path);
        let game = plays.ok_or_else(|| Status::unimplemented("the bot does not play this game"))?;
        match envelope(start)?.call {
            Some(Kind::Start(begins)) => {
                let player = called("the constructor", || (game.new)(&begins, start));
                Ok(LocalPlayer(player.flatten()?))
            }
            _ => Err(Status::invalid_argument("the first call is no GameStart")),
        }
    }
}

impl LocalPlayer {
    /// Takes the next call, except for the end of the game. The answer to a question is a
    /// whole message.
    ///
    /// # Errors
    ///
    /// The call can't be read, or the bot ends its stream or panics.
    pub fn hear(&mut self, call: &Bytes) -> Result<Option<Bytes>, Status> {
        let envelope = envelope(call)?;
        let number = envelope.number;
        let call = Call::new(call.clone(), envelope)?;
        let answer = called("the bot", || self.0.hear(call)).flatten()?;
        Ok(answer.map(|answer| numbered(number, &answer)))
    }

    /// Takes a question, which stays unanswered: the game can't go on after it. For each legal
    /// answer, in the referee's order, it says what the seat can expect, as a share of the
    /// points (1 is the first place alone); none where the bot has no such estimates.
    ///
    /// # Errors
    ///
    /// The call can't be read, or the bot panics.
    pub fn values(&mut self, call: &Bytes) -> Result<Option<Vec<f64>>, Status> {
        let call = Call::new(call.clone(), envelope(call)?)?;
        called("the bot", || self.0.values(call)).flatten()
    }

    /// The same of each seat, in the order of seats, before the answer and as far as this seat
    /// knows.
    ///
    /// # Errors
    ///
    /// The call can't be read, or the bot panics.
    pub fn shares(&mut self, call: &Bytes) -> Result<Option<Vec<f64>>, Status> {
        let call = Call::new(call.clone(), envelope(call)?)?;
        called("the bot", || self.0.shares(call)).flatten()
    }
}
