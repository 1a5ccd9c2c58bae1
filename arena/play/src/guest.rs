//! A bot in a game with people: one process, and a stream that is opened anew where a move was
//! taken back.

use std::time::Duration;

use bytes::Bytes;
use referee::{CLOSE_GRACE, ProbeStream, Shortage};
use referee_bots::{BotOptions, Entry, LaunchContext, NotRunning, RunningBot};
use referee_core::{Foul, GameKind, Limits, ThinkingTime};
use referee_games::{Question, SeatReply};

use crate::PeopleGameError;

/// A bot that was started, or could not be.
pub(crate) struct Guest {
    pub(crate) name: String,
    running: Result<RunningBot, Foul>,
    stream: Option<ProbeStream>,
    /// The calls that it was sent so far, with its answers.
    past: Vec<Bytes>,
    /// True if it said that it can be resumed.
    pub(crate) can_resume: bool,
    /// Its next answer may have waited for its start.
    resumed: bool,
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
    ) -> Result<Self, PeopleGameError> {
        let options = BotOptions {
            start_limit: limits.start,
            memory_limit: None,
            measure_memory: false,
            directory: None,
        };
        let running = match context.run(entry, &options, context.next_set()).await {
            Ok(running) => Ok(running),
            Err(NotRunning::Foul(foul)) => Err(foul),
            Err(NotRunning::Shortage(shortage)) => return Err(shortage.into()),
            Err(NotRunning::Socket(error)) => return Err(PeopleGameError::Socket(error)),
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
    ///
    /// # Errors
    ///
    /// We could not find out what its silence means; it may be asked again.
    pub(crate) async fn ask(
        &mut self,
        question: Question,
        start: Duration,
    ) -> Result<(SeatReply, ThinkingTime), Shortage> {
        let stream = match (&self.running, &mut self.stream) {
            (Err(foul), _) => {
                return Ok((SeatReply::Foul(foul.clone()), ThinkingTime::default()));
            }
            (Ok(_), None) => return Ok((SeatReply::Foul(Foul::HungUp), ThinkingTime::default())),
            (Ok(_), Some(stream)) => stream,
        };
        let limit = question.limit;
        let resumed = std::mem::take(&mut self.resumed);
        let extra = if resumed { start } else { Duration::ZERO };
        let asked = Question {
            limit: limit.saturating_add(extra),
            ..question
        };
        let reply = stream.ask(asked).await?;
        let mut thought = reply.thought;
        if resumed && matches!(reply.heard, SeatReply::Answer(_)) && thought.counted >= limit {
            let counted = limit.saturating_sub(Duration::from_micros(1));
            thought = ThinkingTime {
                counted,
                excused: thought.counted - counted,
            };
        }
        Ok((reply.heard, thought))
    }

    /// It answered, and its answer stood.
    pub(crate) fn answered(&mut self, call: Bytes) {
        self.past.push(call);
    }

    /// Stops its process.
    pub(crate) async fn dismiss(self) {
        drop(self.stream);
        if let Ok(running) = self.running {
            running.end().await;
        }
    }
}
