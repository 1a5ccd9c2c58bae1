//! One seat in one game: the calls of its stream, in order, to the callbacks
//! of one value.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use arena_proto::arena::v1::{GameOver, GameStart, Ready};
use futures_util::Stream;
use tokio::task::JoinHandle;
use tonic::{Status, Streaming};

/// What a bot says of itself, and how it is called.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) max_games: u32,
    pub(crate) can_resume: bool,
    pub(crate) quick: bool,
}

/// A game's Call, taken apart.
pub(crate) trait Call: Send + Sync + 'static {
    /// The game's Answer.
    type Answer: Send + Sync + 'static;

    /// Takes the envelope off.
    fn open(self) -> Envelope<Self>
    where
        Self: Sized;

    /// The answer to GameStart.
    fn ready(number: u32, ready: Ready) -> Self::Answer;
}

/// What a call is, apart from the game's own part.
pub(crate) struct Envelope<C: Call> {
    pub(crate) number: Option<u32>,
    pub(crate) limit: Duration,
    pub(crate) past_answer: Option<C::Answer>,
    pub(crate) what: What<C>,
}

pub(crate) enum What<C> {
    Start(GameStart),
    Over(GameOver),
    /// Another seat has left.
    Forfeit,
    /// The game's own.
    Own(C),
    /// Newer than this kit.
    Unknown,
}

/// A bot in one game.
pub(crate) trait Player<C: Call>: Send {
    /// A call of the game's own; questions are answered.
    fn hear(
        &mut self,
        number: Option<u32>,
        limit: Duration,
        past_answer: Option<C::Answer>,
        call: C,
    ) -> Result<Option<C::Answer>, Status>;

    /// The game is over.
    fn over(&mut self, over: &GameOver);
}

pub(crate) type NewPlayer<C> = dyn Fn(&GameStart) -> Box<dyn Player<C>> + Send + Sync;

/// The stream of answers to a stream of calls.
pub(crate) struct Session<C: Call> {
    calls: Streaming<C>,
    manner: Manner,
    new: Arc<NewPlayer<C>>,
    player: Option<Box<dyn Player<C>>>,
    thinking: Option<JoinHandle<Thought<C>>>,
}

/// A bot that has been called, and what it answered.
type Thought<C> = (Box<dyn Player<C>>, Heard<C>);
type Heard<C> = Result<Option<<C as Call>::Answer>, Status>;

impl<C: Call> Session<C> {
    pub(crate) fn new(calls: Streaming<C>, manner: Manner, new: Arc<NewPlayer<C>>) -> Self {
        Self {
            calls,
            manner,
            new,
            player: None,
            thinking: None,
        }
    }

    fn hear(&mut self, call: C) -> Heard<C> {
        let Envelope {
            number,
            limit,
            past_answer,
            what,
        } = call.open();
        let call = match what {
            What::Start(start) => {
                let new = &self.new;
                let player = catch_unwind(AssertUnwindSafe(|| new(&start))).map_err(panicked)?;
                self.player = Some(player);
                let number = number
                    .ok_or_else(|| Status::invalid_argument("a question without a number"))?;
                // A start that was answered before the stream was opened is
                // not answered again.
                return Ok(past_answer
                    .is_none()
                    .then(|| C::ready(number, self.manner.ready())));
            }
            What::Over(over) => {
                if let Some(mut player) = self.player.take() {
                    catch_unwind(AssertUnwindSafe(|| player.over(&over))).map_err(panicked)?;
                }
                return Ok(None);
            }
            What::Forfeit | What::Unknown => return Ok(None),
            What::Own(call) => call,
        };
        let mut player = self
            .player
            .take()
            .ok_or_else(|| Status::failed_precondition("the game has not begun"))?;
        let think = move || {
            let heard = catch_unwind(AssertUnwindSafe(|| {
                player.hear(number, limit, past_answer, call)
            }));
            (player, heard.unwrap_or_else(|panic| Err(panicked(panic))))
        };
        if self.manner.quick {
            let (player, heard) = think();
            self.player = Some(player);
            heard
        } else {
            self.thinking = Some(tokio::task::spawn_blocking(think));
            Ok(None)
        }
    }
}

impl<C: Call> Stream for Session<C> {
    type Item = Result<C::Answer, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let heard = if let Some(thinking) = &mut this.thinking {
                let thought = std::task::ready!(Pin::new(thinking).poll(cx));
                this.thinking = None;
                match thought {
                    Ok((player, heard)) => {
                        this.player = Some(player);
                        heard
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
            match heard {
                Ok(None) => {}
                Ok(Some(answer)) => return Poll::Ready(Some(Ok(answer))),
                Err(status) => return Poll::Ready(Some(Err(status))),
            }
        }
    }
}

impl Manner {
    fn ready(&self) -> Ready {
        Ready {
            bot: self.name.clone(),
            version: self.version.clone(),
            max_games: Some(self.max_games),
            can_resume: self.can_resume,
        }
    }
}

/// What a callback that panicked said, as the status that ends its stream.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a panic is handed over whole"
)]
fn panicked(panic: Box<dyn Any + Send>) -> Status {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    Status::internal(format!("the bot panicked: {words}"))
}
