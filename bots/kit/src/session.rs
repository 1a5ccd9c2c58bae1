//! One seat in one game: hands the calls of its stream, in order, to one player. It
//! reads the envelope; a game's own part passes through as bytes.

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use arena_proto::arena::v1::{
    AnswerEnvelope, CallEnvelope, GameOver, GameStart, Ready, call_envelope::Call as Kind,
};
use bytes::Bytes;
use futures_util::Stream;
use prost::Message as _;
use tokio::task::JoinHandle;
use tonic::{Status, Streaming};

/// The description that a bot gives of itself.
#[derive(Clone, Debug)]
pub(crate) struct BotDescription {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) max_games: u32,
    pub(crate) can_resume: bool,
    pub(crate) quick: bool,
}

/// A call of the game's own, or that a seat has left.
pub(crate) struct Call {
    /// The whole message.
    pub(crate) bytes: Bytes,
    /// The time that the answer may take.
    pub(crate) limit: Duration,
    /// The player's answer from before the stream was opened: it is not asked again.
    pub(crate) past_answer: Option<Bytes>,
}

impl Call {
    pub(crate) fn new(bytes: Bytes, envelope: CallEnvelope) -> Result<Self, Status> {
        let limit = match envelope.limit {
            Some(limit) => limit.try_into().map_err(|_| invalid("a negative limit"))?,
            // A notice.
            None => Duration::ZERO,
        };
        Ok(Self {
            bytes,
            limit,
            past_answer: envelope.past_answer,
        })
    }
}

/// A bot in one game.
pub(crate) trait SeatPlayer: Send {
    /// A call. What it answers to a question is a message without its envelope.
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status>;

    /// The expected result of the seat after each legal answer to a question, which stays
    /// unanswered; none where the player has no estimate.
    fn values(&mut self, _call: Call) -> Result<Option<Vec<f64>>, Status> {
        Ok(None)
    }

    /// The expected result of each seat as far as the player knows; none where it has no estimate.
    fn shares(&mut self, _call: Call) -> Result<Option<Vec<f64>>, Status> {
        Ok(None)
    }

    /// The game is over.
    fn over(&mut self, over: &GameOver);
}

/// Makes the player of one game from its first call.
pub(crate) type NewPlayer =
    dyn Fn(&GameStart, &[u8]) -> Result<Box<dyn SeatPlayer>, Status> + Send + Sync;

/// The stream of answers to a stream of calls.
pub(crate) struct BotSession {
    calls: Streaming<Bytes>,
    options: Arc<BotDescription>,
    new: Arc<NewPlayer>,
    player: Option<Box<dyn SeatPlayer>>,
    thinking: Option<JoinHandle<(Box<dyn SeatPlayer>, AnswerResult)>>,
}

type AnswerResult = Result<Option<Bytes>, Status>;

impl BotSession {
    pub(crate) fn new(
        calls: Streaming<Bytes>,
        options: Arc<BotDescription>,
        new: Arc<NewPlayer>,
    ) -> Self {
        Self {
            calls,
            options,
            new,
            player: None,
            thinking: None,
        }
    }

    fn hear(&mut self, bytes: Bytes) -> AnswerResult {
        let envelope = envelope(&bytes)?;
        let number = envelope.number;
        match &envelope.call {
            Some(Kind::Start(start)) => {
                return self.start(number, start, &bytes, envelope.past_answer.is_some());
            }
            Some(Kind::Over(over)) => {
                if let Some(mut player) = self.player.take() {
                    called("game_over", || player.over(over))?;
                }
                return Ok(None);
            }
            // What a seat that has left means depends on the game.
            Some(Kind::Forfeit(_)) | None => {}
        }
        let call = Call::new(bytes, envelope)?;
        let mut player = self
            .player
            .take()
            .ok_or_else(|| Status::failed_precondition("the game has not begun"))?;
        let think = move || {
            let answer = called("the bot", || player.hear(call))
                .flatten()
                .map(|answer| answer.map(|answer| numbered(number, &answer)));
            (player, answer)
        };
        // A notice is quick: only a question is worth another thread.
        if self.options.quick || number.is_none() {
            let (player, answer) = think();
            self.player = Some(player);
            answer
        } else {
            self.thinking = Some(tokio::task::spawn_blocking(think));
            Ok(None)
        }
    }

    fn start(
        &mut self,
        number: Option<u32>,
        start: &GameStart,
        bytes: &[u8],
        answered: bool,
    ) -> AnswerResult {
        let player = called("the constructor", || (self.new)(start, bytes)).flatten()?;
        self.player = Some(player);
        let number = number.ok_or_else(|| invalid("a question without a number"))?;
        // A start that was answered before the stream was opened is not
        // answered again.
        Ok((!answered).then(|| self.options.ready(number)))
    }
}

impl Stream for BotSession {
    type Item = Result<Bytes, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let answer = if let Some(thinking) = &mut this.thinking {
                let thought = std::task::ready!(Pin::new(thinking).poll(cx));
                this.thinking = None;
                match thought {
                    Ok((player, answer)) => {
                        this.player = Some(player);
                        answer
                    }
                    Err(error) => Err(Status::internal(error.to_string())),
                }
            } else {
                match std::task::ready!(Pin::new(&mut this.calls).poll_next(cx)) {
                    None => return Poll::Ready(None),
                    Some(Ok(call)) => this.hear(call),
                    Some(Err(status)) => Err(status),
                }
            };
            match answer {
                Ok(None) => {}
                Ok(Some(answer)) => return Poll::Ready(Some(Ok(answer))),
                Err(status) => return Poll::Ready(Some(Err(status))),
            }
        }
    }
}

impl BotDescription {
    fn ready(&self, number: u32) -> Bytes {
        let envelope = AnswerEnvelope {
            number: Some(number),
            ready: Some(Ready {
                bot: self.name.clone(),
                version: self.version.clone(),
                max_games: Some(self.max_games),
                can_resume: self.can_resume,
            }),
        };
        envelope.encode_to_vec().into()
    }
}

/// A message of a game's own.
pub(crate) fn read<M: prost::Message + Default>(bytes: &[u8]) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| invalid(&error.to_string()))
}

/// The fields that all games' calls have.
pub(crate) fn envelope(call: &[u8]) -> Result<CallEnvelope, Status> {
    read(call).map_err(|status| invalid(&format!("not a call: {}", status.message())))
}

/// A call that a referee does not send.
pub(crate) fn invalid(words: &str) -> Status {
    Status::invalid_argument(words)
}

/// An answer in its envelope.
pub(crate) fn numbered(number: Option<u32>, answer: &[u8]) -> Bytes {
    let envelope = AnswerEnvelope {
        number,
        ready: None,
    };
    let mut bytes = Vec::with_capacity(envelope.encoded_len() + answer.len());
    envelope.encode(&mut bytes).expect("a vector has room");
    bytes.extend_from_slice(answer);
    bytes.into()
}

/// The result of this callback; if it panics, the status that ends its stream.
pub(crate) fn called<T>(callback: &str, call: impl FnOnce() -> T) -> Result<T, Status> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let words = panic
            .downcast_ref::<&str>()
            .map(|words| (*words).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is not a text".to_owned());
        Status::internal(format!("panic in {callback}: {words}"))
    })
}

/// A callback has returned what can't be sent.
pub(crate) fn wrong(callback: &str, returned: impl Debug, expected: &str) -> Status {
    Status::internal(format!(
        "{callback} returned {returned:?}: expected {expected}"
    ))
}
