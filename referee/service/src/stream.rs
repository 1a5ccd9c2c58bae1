//! One seat's stream: calls down, answers up. The only place that waits for a
//! player, and the only one that measures how long it took.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use arena_proto::opaque::OpaqueCodec;
use bytes::Bytes;
use futures_util::Stream as _;
use http::uri::PathAndQuery;
use referee_core::{Foul, ThinkingTime};
use referee_games::{Question, SeatReply};
use referee_net::causes;
use tokio::{
    sync::mpsc,
    time::{Instant, Sleep, sleep_until},
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming, client::Grpc};

use crate::{
    connection::{BotConnection, Broken, OPENING},
    excuses::Excuse,
    heartbeat::{BEAT, Heartbeat, LateBeat},
    services::games_instead,
    shortage::Shortage,
};

/// A delay of the referee up to this length excuses no late answer.
const USUAL_DELAY: Duration = Duration::from_millis(5);

type Opening = Pin<Box<dyn Future<Output = Result<Response<Streaming<Bytes>>, Status>> + Send>>;

/// A seat's stream in one game. Dropping it cancels it at once.
pub(crate) struct SeatStream {
    connection: BotConnection,
    calls: mpsc::UnboundedSender<Bytes>,
    answers: Answers,
    alarm: Alarm,
    path: &'static str,
    largest: usize,
}

enum Answers {
    /// Most servers send their headers only with the first answer.
    Opening(Opening),
    Open(Box<Streaming<Bytes>>),
    /// It could not be opened.
    Failed(Status),
}

/// The response to a question, or how the connection broke: only the process can tell why.
type StreamResponse = Result<SeatReply, Broken>;

/// The end of a bot's side of a stream when the game was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// In time and without a fault.
    InOrder,
    /// In time, but with what would be this foul during the game.
    Wrongly(Foul),
    /// Not in time.
    Not,
}

/// The reply to a question, with the time that it took.
pub(crate) struct TimedReply {
    pub(crate) heard: StreamResponse,
    /// From handing over the question to reading the answer.
    pub(crate) thought: ThinkingTime,
    /// The excuse for the answer, where it is late without that.
    pub(crate) excuse: Option<Excuse>,
}

impl SeatStream {
    /// Opens a stream without waiting for the bot: many servers send nothing before they
    /// have read the first question.
    pub(crate) fn open(connection: BotConnection, path: &'static str, largest: usize) -> Self {
        let channel = connection.channel.clone();
        let (calls, outgoing) = mpsc::unbounded_channel();
        let opening = Box::pin(async move {
            let mut grpc = Grpc::new(channel).max_decoding_message_size(largest);
            grpc.ready()
                .await
                .map_err(|error| Status::from_error(error.into()))?;
            let outgoing = UnboundedReceiverStream::new(outgoing);
            let path = PathAndQuery::from_static(path);
            grpc.streaming(Request::new(outgoing), path, OpaqueCodec)
                .await
        });
        Self {
            connection,
            calls,
            answers: Answers::Opening(opening),
            alarm: Alarm::default(),
            path,
            largest,
        }
    }

    /// Sends a notice without waiting. Where the connection is broken, the next question
    /// finds that out.
    pub(crate) fn tell(&self, call: Bytes) {
        self.connection.traffic.called(self.largest);
        let _ = self.calls.send(call);
    }

    /// Asks and waits for the answer, at most until the limit. The heartbeat is that of
    /// the calling thread.
    pub(crate) async fn ask(&mut self, question: Question, heartbeat: &Heartbeat) -> TimedReply {
        // What has arrived before the question was sent does not answer it.
        if question.number > 0
            && let Poll::Ready(heard) = poll_fn(|cx| Poll::Ready(self.poll_read(cx))).await
        {
            let heard = heard.map(|heard| match heard {
                SeatReply::Answer(answer) => SeatReply::Foul(Foul::Unsolicited {
                    bytes: answer.len(),
                }),
                other => other,
            });
            return TimedReply {
                heard,
                thought: ThinkingTime::default(),
                excuse: None,
            };
        }
        self.tell(question.call);
        let asked = Instant::now();
        let deadline = asked + question.limit;
        let mut heard = poll_fn(|cx| match self.poll_read(cx) {
            Poll::Pending => {
                let late = self.alarm.poll(deadline, cx);
                late.map(|()| Ok(SeatReply::Nothing))
            }
            heard => heard,
        })
        .await;
        let thought = asked.elapsed();
        if let Ok(SeatReply::Foul(Foul::Unsupported { detail })) = &mut heard
            && let Some(games) = games_instead(&self.connection.channel, self.path).await
        {
            *detail = games;
        }
        // A delay of ours excuses nothing in an answer that came in time.
        if thought < question.limit {
            return TimedReply {
                heard,
                thought: thought.into(),
                excuse: None,
            };
        }
        self.excuse(heard, thought, asked, question.limit, heartbeat)
            .await
    }

    /// Finds how much of a late answer's time was a delay of the referee that the bot has not
    /// caused. For an answer that has not come we wait as much longer.
    async fn excuse(
        &mut self,
        mut heard: StreamResponse,
        mut thought: Duration,
        asked: Instant,
        limit: Duration,
        heartbeat: &Heartbeat,
    ) -> TimedReply {
        let stalls = self.stalls(asked, heartbeat);
        let delay: Duration = stalls.iter().map(|(_, delay)| *delay).sum();
        // A timer never rings exactly on time.
        if delay > USUAL_DELAY && matches!(heard, Ok(SeatReply::Nothing)) {
            let more = poll_fn(|cx| self.poll_read(cx));
            let more = tokio::time::timeout(delay.min(limit), more).await;
            if let Ok(Ok(SeatReply::Answer(answer))) = more {
                heard = Ok(SeatReply::Answer(answer));
                thought = asked.elapsed();
            }
        }
        let counted = thought.saturating_sub(delay);
        let is_answer = matches!(heard, Ok(SeatReply::Answer(_)));
        if !is_answer || delay <= USUAL_DELAY || counted >= limit {
            let thought = thought.into();
            return TimedReply {
                heard,
                thought,
                excuse: None,
            };
        }
        tracing::warn!(?delay, ?thought, "the referee was late");
        let excused = thought - counted;
        let mut excuse: Option<Excuse> = None;
        for (stall, delay) in stalls {
            if delay.is_zero() {
                continue;
            }
            let stop = heartbeat.stop(&stall).await;
            let (from, to) = (stall.from, stall.to);
            let excuse = excuse.get_or_insert(Excuse { from, to, stop });
            excuse.to = to;
            excuse.stop = stop.or(excuse.stop);
        }
        TimedReply {
            heard,
            thought: ThinkingTime { counted, excused },
            excuse,
        }
    }

    /// The stalls of this thread because of which the question or its answer may have lain
    /// here, and for how long: one when it was asked, and one up to now. What the bot has caused
    /// does not count.
    fn stalls(&self, asked: Instant, heartbeat: &Heartbeat) -> Vec<(LateBeat, Duration)> {
        let now = Instant::now();
        let stalls = heartbeat.stalls_since(asked).into_iter();
        let relevant =
            stalls.filter(|stall| stall.from <= asked + BEAT || stall.to + 2 * BEAT >= now);
        let busy = &self.connection.busy;
        let delays = relevant.map(|stall| (stall, busy.excused(&stall, asked, now)));
        delays.collect()
    }

    /// Ends the stream: closes our side, and waits so long until the bot has closed its own.
    pub(crate) async fn close(mut self, grace: Duration) -> Closed {
        drop(std::mem::replace(
            &mut self.calls,
            mpsc::unbounded_channel().0,
        ));
        let mut answered = None;
        let ended = poll_fn(|cx| {
            loop {
                match self.poll_read(cx) {
                    Poll::Ready(Ok(SeatReply::Answer(answer))) => {
                        let bytes = answer.len();
                        answered.get_or_insert(Foul::Unsolicited { bytes });
                    }
                    Poll::Ready(Ok(SeatReply::Foul(foul))) if foul != Foul::HungUp => {
                        return Poll::Ready(Some(foul));
                    }
                    // It has ended. How its process ended is looked at elsewhere.
                    Poll::Ready(Ok(_) | Err(_)) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        let Ok(failed) = tokio::time::timeout(grace, ended).await else {
            return Closed::Not;
        };
        failed.or(answered).map_or(Closed::InOrder, Closed::Wrongly)
    }

    /// Sends what is to be sent, waits so long, and reads nothing.
    pub(crate) async fn settle(&mut self, time: Duration) {
        let mut over = Box::pin(tokio::time::sleep(time));
        poll_fn(|cx| {
            self.poll_open(cx);
            over.as_mut().poll(cx)
        })
        .await;
    }

    /// Nothing is sent before the first call of this.
    fn poll_open(&mut self, cx: &mut Context<'_>) {
        if let Answers::Opening(opening) = &mut self.answers
            && let Poll::Ready(opened) = opening.as_mut().poll(cx)
        {
            self.answers = match opened {
                Ok(response) => Answers::Open(Box::new(response.into_inner())),
                Err(status) => Answers::Failed(status),
            };
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<StreamResponse> {
        self.poll_open(cx);
        let answers = match &mut self.answers {
            Answers::Opening(_) => return Poll::Pending,
            Answers::Failed(status) => {
                let status = status.clone();
                return Poll::Ready(self.broken(&status, true));
            }
            Answers::Open(answers) => answers,
        };
        let next = std::task::ready!(Pin::new(&mut **answers).poll_next(cx));
        Poll::Ready(match next {
            Some(Ok(answer)) => Ok(SeatReply::Answer(answer)),
            Some(Err(status)) => self.broken(&status, false),
            None => Ok(SeatReply::Foul(Foul::HungUp)),
        })
    }

    /// The meaning of a status. A status has a source where the transport made it, and none
    /// where the bot sent it.
    fn broken(&self, status: &Status, opening: bool) -> StreamResponse {
        if let Some(flood) = self.connection.traffic.flood() {
            return Ok(SeatReply::Foul(Foul::Flooded {
                detail: flood.to_owned(),
            }));
        }
        if let Some(source) = std::error::Error::source(status) {
            let how = causes(source);
            let refused = refused(source);
            if refused.is_some()
                && let Some(detail) = self.connection.traffic.headers()
            {
                return Ok(SeatReply::Foul(Foul::Flooded { detail }));
            }
            return match refused {
                Some(h2::Reason::ENHANCE_YOUR_CALM) => Ok(SeatReply::Foul(Foul::Flooded {
                    detail: Foul::evidence(how),
                })),
                Some(
                    h2::Reason::PROTOCOL_ERROR
                    | h2::Reason::FLOW_CONTROL_ERROR
                    | h2::Reason::FRAME_SIZE_ERROR
                    | h2::Reason::COMPRESSION_ERROR
                    | h2::Reason::STREAM_CLOSED,
                ) => Ok(SeatReply::Foul(Foul::Malformed {
                    detail: Foul::evidence(format!(
                        "it broke the rules of HTTP/2, or sent more than 16 KiB of headers: {how}"
                    )),
                })),
                _ => Err(match Shortage::behind(OPENING, source) {
                    Some(shortage) => Broken::ByUs(shortage),
                    None => Broken::ByBot(how),
                }),
            };
        }
        let message = status.message();
        let or = |words| Foul::evidence(if message.is_empty() { words } else { message });
        let foul = match status.code() {
            // tonic makes this one itself for an encoding that it was not offered.
            Code::Unimplemented if message.starts_with("Content is compressed with") => {
                Foul::Malformed {
                    detail: Foul::evidence(message),
                }
            }
            Code::Unimplemented if opening => Foul::Unsupported {
                detail: or("UNIMPLEMENTED"),
            },
            // tonic makes these two itself for a message that it refuses to read; only
            // their texts tell them from a bot's own status.
            Code::OutOfRange if message.starts_with("Error, decoded message length too large") => {
                Foul::Oversized {
                    limit: self.largest,
                }
            }
            Code::Internal
                if message.starts_with("protocol error: received message with")
                    || message.starts_with("Unexpected EOF decoding stream") =>
            {
                Foul::Malformed {
                    detail: Foul::evidence(message),
                }
            }
            code => Foul::ErrorStatus {
                code: code.into(),
                message: or(code.description()),
            },
        };
        Ok(SeatReply::Foul(foul))
    }
}

/// The reason why our transport has refused what the bot sent, if it has: with ENHANCE_YOUR_CALM
/// too much of something, as empty frames or headers without end; else what is no HTTP/2.
fn refused(error: &(dyn std::error::Error + 'static)) -> Option<h2::Reason> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.find_map(|cause| {
        let broken = cause.downcast_ref::<h2::Error>()?;
        broken.reason().filter(|_| broken.is_library())
    })
}

/// A timer for the limit of each question. Setting a timer of the runtime costs more than
/// all other work of a question, and limits are hardly ever reached: so it is left to run
/// from question to question, and set to the current deadline only when it rings.
#[derive(Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self
            .0
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            match sleep.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if sleep.deadline() >= deadline => return Poll::Ready(()),
                Poll::Ready(()) => sleep.as_mut().reset(deadline),
            }
        }
    }
}
