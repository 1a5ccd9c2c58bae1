//! One seat in one game: the calls of the referee on one side, and on the other a bot that may be
//! cut off and come back.

use std::{pin::Pin, time::Duration};

use arena_proto::arena::v1::{
    AnswerEnvelope, CallEnvelope, Failure, FromSeat, ToSeat, from_seat::Message as Up,
};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, future::pending};
use prost::Message as _;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, interval_at, sleep_until},
};
use tonic::{Code, Status};

use crate::socket::breaks;

/// Longest time that a bot may be away from a game.
pub(crate) const BACK_WITHIN: Duration = Duration::from_secs(30);
/// Most times that a bot may come back to a game.
pub(crate) const MOST_RETURNS: u32 = 3;
/// Interval of messages that keep a stream open: proxies close silent ones, often after a minute.
const BEAT: Duration = Duration::from_secs(20);
/// Longest time for a bot to end its side when the game is over.
const AFTER_GAME: Duration = Duration::from_secs(5);
/// Longest words of a bot's status, in bytes.
const LONGEST_WORDS: usize = 4096;

/// What a bot sends in a game.
pub(crate) type FromBot = Pin<Box<dyn Stream<Item = Result<FromSeat, Status>> + Send>>;

/// A bot that takes its seat, or comes back to it.
pub(crate) struct Arrival {
    /// Number of calls that it has heard.
    pub(crate) calls: u64,
    /// The last answer that it has given, if any.
    pub(crate) answer: Bytes,
    pub(crate) up: FromBot,
    pub(crate) down: mpsc::UnboundedSender<Result<ToSeat, Status>>,
}

/// One seat in one game.
pub(crate) struct SeatGame<C, I> {
    /// The referee's calls.
    pub(crate) calls: C,
    pub(crate) answers: mpsc::Sender<Result<Bytes, Status>>,
    pub(crate) arrivals: mpsc::Receiver<Arrival>,
    /// The number of the bot's control stream, while there is one.
    pub(crate) attends: watch::Receiver<Option<u64>>,
    /// Invites the bot.
    pub(crate) invite: I,
    heard: Vec<HeardCall>,
    returns: u32,
}

/// How a bot's part in a game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeatEnd {
    /// The game is over.
    Over,
    /// The referee has cut it off.
    CutOff,
    /// The bot has been told nothing, and is not there.
    Gone,
    /// The bot has ended its side, or has not come back.
    HungUp,
    /// The bot has ended its side with a status.
    Failed,
}

/// A call of the referee.
struct HeardCall {
    call: Bytes,
    number: Option<u32>,
    answer: Option<Bytes>,
}

/// A bot in its seat.
struct Link {
    up: FromBot,
    /// None when the game is over.
    down: Option<mpsc::UnboundedSender<Result<ToSeat, Status>>>,
}

impl<C, I> SeatGame<C, I>
where
    C: Stream<Item = Result<Bytes, Status>> + Unpin,
    I: Fn(),
{
    pub(crate) const fn new(
        calls: C,
        answers: mpsc::Sender<Result<Bytes, Status>>,
        arrivals: mpsc::Receiver<Arrival>,
        attends: watch::Receiver<Option<u64>>,
        invite: I,
    ) -> Self {
        Self {
            calls,
            answers,
            arrivals,
            attends,
            invite,
            heard: Vec::new(),
            returns: 0,
        }
    }

    /// Plays it to its end.
    pub(crate) async fn play(mut self) -> SeatEnd {
        let mut link: Option<Link> = None;
        let mut is_taken = false;
        let mut is_over = false;
        // Of a bot that is away, or has to end its side.
        let mut deadline: Option<Instant> = None;
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        (self.invite)();
        self.attends.mark_unchanged();
        if self.attends.borrow().is_none() {
            return self.gone().await;
        }
        loop {
            let late = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.answers.closed() => {
                    dismiss(link, &Status::cancelled("the game was cut off"));
                    return SeatEnd::CutOff;
                }
                Some(arrival) = self.arrivals.recv() => {
                    if is_over {
                        continue;
                    }
                    match self.arrive(arrival, is_taken).await {
                        Ok(new) => link = Some(new),
                        Err(end) => return end,
                    }
                    (is_taken, deadline) = (true, None);
                    beat.reset();
                }
                call = self.calls.next(), if !is_over => match call {
                    Some(Ok(call)) => self.call(call, link.as_ref()),
                    Some(Err(_)) => {
                        dismiss(link, &Status::cancelled("the game was cut off"));
                        return SeatEnd::CutOff;
                    }
                    None => {
                        let Some(link) = &mut link else {
                            return SeatEnd::Over;
                        };
                        link.down = None;
                        is_over = true;
                        deadline = Some(Instant::now() + AFTER_GAME);
                    }
                },
                message = next(&mut link) => match message {
                    Some(Ok(FromSeat { message: Some(Up::Answer(answer)) })) => {
                        self.answered(answer).await;
                    }
                    Some(Ok(FromSeat { message: Some(Up::Failure(failure)) })) => {
                        let _ = self.answers.send(Err(status(failure))).await;
                        return SeatEnd::Failed;
                    }
                    Some(Ok(_)) => {}
                    None if is_over => return SeatEnd::Over,
                    None => return SeatEnd::HungUp,
                    // It sent more than it may.
                    Some(Err(status)) if status.code() == Code::OutOfRange => {
                        let status = Status::new(status.code(), status.message());
                        let _ = self.answers.send(Err(status)).await;
                        return SeatEnd::Failed;
                    }
                    Some(Err(_)) if is_over => return SeatEnd::Over,
                    Some(Err(_)) if self.returns == MOST_RETURNS => return SeatEnd::HungUp,
                    Some(Err(_)) => {
                        link = None;
                        deadline = Some(Instant::now() + BACK_WITHIN);
                        (self.invite)();
                    }
                },
                Ok(()) = self.attends.changed() => {
                    let is_there = self.attends.borrow_and_update().is_some();
                    if link.is_none() && is_there {
                        (self.invite)();
                    } else if !is_taken && !is_there {
                        return self.gone().await;
                    }
                }
                _ = beat.tick(), if link.is_some() => {
                    if let Some(down) = link.as_ref().and_then(|link| link.down.as_ref()) {
                        let _ = down.send(Ok(ToSeat { call: None }));
                    }
                }
                () = late => {
                    return if is_over { SeatEnd::Over } else { SeatEnd::HungUp };
                }
            }
        }
    }

    /// Tells the bot what it has not heard.
    async fn arrive(&mut self, arrival: Arrival, is_taken: bool) -> Result<Link, SeatEnd> {
        let Arrival {
            calls,
            answer,
            up,
            down,
        } = arrival;
        if is_taken {
            if self.returns == MOST_RETURNS {
                let words = format!("a bot may come back to a game {MOST_RETURNS} times");
                let _ = down.send(Err(Status::resource_exhausted(words)));
                return Err(SeatEnd::HungUp);
            }
            self.returns += 1;
        }
        let is_lost = |heard: &HeardCall, number| heard.number == number && heard.answer.is_none();
        let number = number_of(&answer);
        if number.is_some() && self.heard.iter().any(|heard| is_lost(heard, number)) {
            self.answered(answer).await;
        }
        let known = usize::try_from(calls).unwrap_or(usize::MAX);
        for heard in self.heard.iter().skip(known) {
            let call = match &heard.answer {
                Some(answer) if known == 0 => with_past_answer(&heard.call, answer),
                _ => heard.call.clone(),
            };
            let _ = down.send(Ok(ToSeat { call: Some(call) }));
        }
        Ok(Link {
            up,
            down: Some(down),
        })
    }

    fn call(&mut self, call: Bytes, link: Option<&Link>) {
        if let Some(down) = link.and_then(|link| link.down.as_ref()) {
            let call = Some(call.clone());
            let _ = down.send(Ok(ToSeat { call }));
        }
        // What the referee sends can be read.
        let number = CallEnvelope::decode(&*call).ok().and_then(|it| it.number);
        self.heard.push(HeardCall {
            call,
            number,
            answer: None,
        });
    }

    /// Hands an answer on, and keeps it if it is the first to a question that was asked: what else
    /// comes is judged by the referee.
    async fn answered(&mut self, answer: Bytes) {
        if let Some(number) = number_of(&answer) {
            let mut heard = self.heard.iter_mut().rev();
            let asked = heard.find(|heard| heard.number == Some(number));
            if let Some(asked) = asked.filter(|asked| asked.answer.is_none()) {
                asked.answer = Some(answer.clone());
            }
        }
        let _ = self.answers.send(Ok(answer)).await;
    }

    async fn gone(&self) -> SeatEnd {
        let _ = self.answers.send(Err(breaks())).await;
        SeatEnd::Gone
    }
}

/// The next message of the bot in this seat.
async fn next(link: &mut Option<Link>) -> Option<Result<FromSeat, Status>> {
    match link {
        Some(link) => link.up.next().await,
        None => pending().await,
    }
}

fn dismiss(link: Option<Link>, why: &Status) {
    if let Some(down) = link.and_then(|link| link.down) {
        let _ = down.send(Err(why.clone()));
    }
}

fn number_of(answer: &Bytes) -> Option<u32> {
    let envelope = AnswerEnvelope::decode(answer.clone()).ok()?;
    envelope.number
}

/// A call that was answered before. A field that is added to an encoded message is one of it.
fn with_past_answer(call: &Bytes, answer: &Bytes) -> Bytes {
    let past = CallEnvelope {
        past_answer: Some(answer.clone()),
        ..CallEnvelope::default()
    };
    let mut bytes = BytesMut::with_capacity(call.len() + past.encoded_len());
    bytes.put_slice(call);
    past.encode(&mut bytes).expect("the buffer grows");
    bytes.freeze()
}

/// The status of a bot. One that says that all is well has hung up.
fn status(failure: Failure) -> Status {
    let mut words = failure.message;
    if words.len() > LONGEST_WORDS {
        words.truncate(words.floor_char_boundary(LONGEST_WORDS));
    }
    let code = i32::try_from(failure.code).unwrap_or_default();
    Status::new(Code::from_i32(code), words)
}
