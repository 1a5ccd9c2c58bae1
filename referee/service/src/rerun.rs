//! Asks another bot the questions that a seat was asked in a finished game: what does it
//! answer, and how long does it take?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use referee_core::{Foul, ThinkingTime};
use referee_games::{Cue, Judgement, Question, SeatPart, SeatReply};
use tokio::sync::mpsc;

use crate::{
    bot::{Bot, NoSlot},
    play::{CLOSE_GRACE, GameError, Lost, SeatAnswer, SeatState, ask_one},
    pool::{Pool, Shard},
    resume::Resumption,
    stream::SeatStream,
};

/// The reaction of a bot to one question of a part, other than question 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Reanswer {
    /// The number of the move in the whole game, from 1.
    pub ply: usize,
    /// The move that was made in the game, in the game's notation; none where it was a foul.
    pub then: Option<String>,
    /// The bot's own move, or the foul that its answer would be.
    pub now: Result<String, Foul>,
    /// From handing over the question to reading the answer.
    pub thought: Duration,
    /// The limit.
    pub limit: Duration,
}

/// The end of a rerun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RerunEnd {
    /// It was asked every question.
    Whole,
    /// It played another move than the seat, and can't be resumed mid-game (`can_resume` in
    /// its Ready): so the later questions could not be asked.
    CanNotResume,
    /// It could not be started, or not again after it had failed.
    NotStarted(Foul),
}

impl Reanswer {
    /// True if it made the same move.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.now.is_ok() && self.now.as_ref().ok() == self.then.as_ref()
    }
}

/// Asks a bot everything that the seat was asked, and sends each answer to `each`. The game
/// goes on as it was played, whatever the bot answers: after another move it is resumed on a
/// new stream, with the old questions and the answers that the seat gave (`past_answer`);
/// after a foul in a new process.
///
/// # Errors
///
/// [`GameError`], which is never the bot's fault.
pub async fn rerun(
    part: SeatPart,
    bot: Arc<Bot>,
    pool: &Pool,
    each: mpsc::UnboundedSender<Reanswer>,
) -> Result<RerunEnd, GameError> {
    pool.run(|shard| async move {
        let rerun = RerunSeat {
            path: part.kind.path(),
            largest: part.limits.answer_bytes,
            start: part.limits.start,
            bot,
            shard,
            before: Vec::new(),
            seat: None,
            can_resume: false,
        };
        rerun.play(part.cues, &each).await
    })
    .await?
}

struct RerunSeat {
    path: &'static str,
    largest: usize,
    /// Longest time for the start of a bot.
    start: Duration,
    bot: Arc<Bot>,
    shard: Shard,
    /// Messages that are sent first on a new stream: all calls so far, with the seat's answers.
    before: Vec<Bytes>,
    /// The stream, if there is one on which the bot knows what was played so far.
    seat: Option<SeatState>,
    can_resume: bool,
}

impl RerunSeat {
    async fn play(
        mut self,
        cues: Vec<Cue>,
        each: &mpsc::UnboundedSender<Reanswer>,
    ) -> Result<RerunEnd, GameError> {
        for cue in cues {
            let asked = match cue {
                Cue::Told(call) => {
                    if let Some(SeatState::Playing(_, stream)) = &self.seat {
                        stream.tell(call.clone());
                    }
                    self.before.push(call);
                    continue;
                }
                Cue::Asked(asked) => asked,
            };
            if self.seat.is_none() && !self.before.is_empty() && !self.can_resume {
                return Ok(RerunEnd::CanNotResume);
            }
            let (heard, thought) = match self.ask(asked.question.clone()).await {
                Ok(answer) => answer,
                Err(NoSlot::Foul(foul)) => return Ok(RerunEnd::NotStarted(foul)),
                Err(NoSlot::Shortage(shortage)) => return Err(shortage.into()),
            };
            self.before.extend(asked.past());
            let (ply, now) = match (asked.judge(heard, thought), asked.ply) {
                (Ok(Judgement::Accepted { notation, .. }), Some(ply)) => (ply, Ok(notation)),
                (Err(foul), Some(ply)) => {
                    // It may still be thinking about this game.
                    self.seat.iter().for_each(SeatState::retire);
                    (ply, Err(foul))
                }
                (Err(foul), None) => return Ok(RerunEnd::NotStarted(foul)),
                (Ok(judgement), _) => {
                    if let (Judgement::Ready(ready), Some(SeatState::Playing(slot, _))) =
                        (judgement, &self.seat)
                    {
                        self.can_resume = ready.can_resume;
                        slot.learned(ready.max_games);
                    }
                    continue;
                }
            };
            let reanswer = Reanswer {
                ply,
                then: asked.said.notation,
                now,
                thought: thought.counted,
                limit: asked.question.limit,
            };
            if !reanswer.is_same() {
                // On this stream it believes that its own move was played.
                self.seat = None;
            }
            let _ = each.send(reanswer);
        }
        if let Some(SeatState::Playing(slot, stream)) = self.seat.take() {
            stream.close(CLOSE_GRACE).await;
            drop(slot);
        }
        Ok(RerunEnd::Whole)
    }

    /// Asks, and again where the process had ended before the game began.
    async fn ask(&mut self, question: Question) -> Result<(SeatReply, ThinkingTime), NoSlot> {
        let mut resumption = Resumption::new(self.start);
        loop {
            let resumed = self.seat.is_none() && !self.before.is_empty();
            let (state, extra) = match &mut self.seat {
                Some(state) => (state, Duration::ZERO),
                None => {
                    let state = self.open(resumption.settle()).await?;
                    let extra = match resumed {
                        true => resumption.extra(),
                        false => Duration::ZERO,
                    };
                    (self.seat.insert(state), extra)
                }
            };
            let mut asked = question.clone();
            asked.limit += extra;
            let answer = ask_one(state, asked, &self.shard.heartbeat).await;
            let SeatAnswer { heard, about } = answer;
            let thought = about.thought;
            match heard {
                Ok(heard)
                    if !(resumed
                        && resumption.must_repeat(&heard, thought.counted, question.limit)) =>
                {
                    return Ok((heard, thought));
                }
                Ok(_) | Err(Lost::Before) => {}
                Err(Lost::ByUs(shortage)) => return Err(NoSlot::Shortage(shortage)),
            }
            // Nothing came back where the process had ended before the game began.
            self.seat = None;
        }
    }

    /// Opens a stream, sends everything so far, and waits so long.
    async fn open(&mut self, settle: Option<Duration>) -> Result<SeatState, NoSlot> {
        let slot = self.bot.slot(&self.shard).await?;
        let mut stream = SeatStream::open(slot.connection.clone(), self.path, self.largest);
        for call in &self.before {
            stream.tell(call.clone());
        }
        if let Some(time) = settle {
            stream.settle(time).await;
        }
        Ok(SeatState::Playing(Box::new(slot), stream))
    }
}
