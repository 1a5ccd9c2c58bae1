//! A bot in a game with people: one process, and a stream that is opened anew where a move was
//! taken back.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use referee::{CLOSE_GRACE, ConnectError, Probe, ProbeStream, Process, STOP_GRACE, StartError};
use referee_bots::{BotOptions, Entry, LaunchContext, Source};
use referee_core::{Foul, GameKind, Limits, ThinkingTime};
use referee_games::{Question, SeatReply};

use crate::PlayError;

/// A bot that was started, or could not be.
pub(crate) struct Guest {
    pub(crate) name: String,
    running: Result<Running, Foul>,
    stream: Option<ProbeStream>,
    /// What it was sent so far, with its answers.
    past: Vec<Bytes>,
    /// Whether it said that it can be resumed.
    pub(crate) can_resume: bool,
    /// Its next answer may have waited for its start.
    resumed: bool,
}

struct Running {
    probe: Probe,
    process: Option<Arc<Process>>,
}

impl Guest {
    /// Starts or reaches it.
    ///
    /// # Errors
    ///
    /// Our own failure. A bot that can't be started is one, and says so when it is asked.
    pub(crate) async fn invite(
        entry: &Entry,
        context: &LaunchContext,
        limits: &Limits,
    ) -> Result<Self, PlayError> {
        let options = BotOptions {
            start_limit: limits.start,
            memory_limit: None,
            measure_memory: false,
            directory: None,
        };
        let source = context.source(entry, &options, None, context.next_set());
        let running = match source.map_err(PlayError::Socket)? {
            Source::Running(address) => {
                let connected = Probe::connect(&address, context.dial(), limits.start).await;
                running(connected, None)?
            }
            Source::Process(launch) => match launch.start().await {
                Ok(process) => {
                    let process = Arc::new(process);
                    let connected = Probe::of(process.clone(), limits.start).await;
                    running(connected, Some(process))?
                }
                Err(StartError::Foul(foul)) => Err(foul),
                Err(StartError::Shortage(shortage)) => return Err(shortage.into()),
            },
        };
        Ok(Self {
            name: entry.name.clone(),
            running,
            stream: None,
            past: Vec::new(),
            can_resume: false,
            resumed: false,
        })
    }

    /// Opens its stream. What it was sent before is told with the answers that it gave.
    pub(crate) fn open(&mut self, kind: &'static dyn GameKind, limits: &Limits) {
        let Ok(running) = &self.running else {
            return;
        };
        let stream = running.probe.open(kind.path(), limits.answer_bytes);
        for call in &self.past {
            stream.tell(call.clone());
        }
        self.resumed = !self.past.is_empty();
        self.stream = Some(stream);
    }

    /// Ends its stream, and forgets the game.
    pub(crate) async fn close(&mut self) {
        self.past.clear();
        if let Some(stream) = self.stream.take() {
            stream.close(CLOSE_GRACE).await;
        }
    }

    /// It is out of the game: its stream is cancelled.
    pub(crate) fn leave(&mut self) {
        self.stream = None;
    }

    /// Sends a notice.
    pub(crate) fn tell(&mut self, call: Bytes) {
        if let Some(stream) = &self.stream {
            stream.tell(call.clone());
        }
        self.past.push(call);
    }

    /// Asks it. One that was resumed first has the time to start; nobody knows what of its answer
    /// that was.
    pub(crate) async fn ask(
        &mut self,
        question: Question,
        start: Duration,
    ) -> (SeatReply, ThinkingTime) {
        let stream = match (&self.running, &mut self.stream) {
            (Err(foul), _) => return (SeatReply::Foul(foul.clone()), ThinkingTime::default()),
            (Ok(_), None) => return (SeatReply::Foul(Foul::HungUp), ThinkingTime::default()),
            (Ok(_), Some(stream)) => stream,
        };
        let limit = question.limit;
        let resumed = std::mem::take(&mut self.resumed);
        let extra = if resumed { start } else { Duration::ZERO };
        let asked = Question {
            limit: limit.saturating_add(extra),
            ..question
        };
        let reply = match stream.ask(asked).await {
            Ok(reply) => reply,
            Err(shortage) => {
                // There is nobody else to play on with.
                let detail = shortage.to_string();
                return (
                    SeatReply::Foul(Foul::Crashed { detail }),
                    ThinkingTime::default(),
                );
            }
        };
        let mut thought = reply.thought;
        if resumed && matches!(reply.heard, SeatReply::Answer(_)) && thought.counted >= limit {
            let counted = limit.saturating_sub(Duration::from_micros(1));
            thought = ThinkingTime {
                counted,
                excused: thought.counted - counted,
            };
        }
        (reply.heard, thought)
    }

    /// It answered, and its answer stood.
    pub(crate) fn answered(&mut self, call: Bytes) {
        self.past.push(call);
    }

    /// Stops its process.
    pub(crate) async fn dismiss(self) {
        drop(self.stream);
        if let Ok(Running {
            process: Some(process),
            ..
        }) = self.running
        {
            let _ = process.stop_and_report(STOP_GRACE).await;
            process.ended().await;
        }
    }
}

/// A connection to it, or the foul of a bot that takes none.
fn running(
    connected: Result<Probe, ConnectError>,
    process: Option<Arc<Process>>,
) -> Result<Result<Running, Foul>, PlayError> {
    match connected {
        Ok(probe) => Ok(Ok(Running { probe, process })),
        Err(ConnectError::Shortage(shortage)) => Err(shortage.into()),
        Err(ConnectError::Failed(detail)) => Ok(Err(match process {
            Some(_) => Foul::NoStart { detail },
            None => Foul::Unreachable { detail },
        })),
    }
}
