//! The first question to a bot that was resumed mid-game. Such a bot sends no Ready that
//! could be waited for, so it may still be starting when it is asked.

use std::time::Duration;

use referee_games::SeatReply;

/// The time that a resumed bot has for its first answer. The bot first has the time to start
/// on top of the limit. Where its answer took longer than the limit alone, nobody knows what
/// the start took of it: it is resumed once more, and asked when it has surely started.
#[derive(Debug)]
pub struct Resumption {
    start_limit: Duration,
    settle: Option<Duration>,
}

impl Resumption {
    /// For a bot that may take so long to start.
    #[must_use]
    pub const fn new(start_limit: Duration) -> Self {
        Self {
            start_limit,
            settle: None,
        }
    }

    /// Pause on the new stream before the first question.
    #[must_use]
    pub const fn settle(&self) -> Option<Duration> {
        self.settle
    }

    /// Time that the first question may take beyond its limit.
    #[must_use]
    pub const fn extra(&self) -> Duration {
        match self.settle {
            None => self.start_limit,
            Some(_) => Duration::ZERO,
        }
    }

    /// True if the bot must be resumed and asked once more before its answer is judged.
    pub fn must_repeat(&mut self, heard: &SeatReply, thought: Duration, limit: Duration) -> bool {
        let repeat =
            self.settle.is_none() && thought >= limit && matches!(heard, SeatReply::Answer(_));
        if repeat {
            self.settle = Some(thought);
        }
        repeat
    }
}
