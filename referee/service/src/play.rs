//! Plays one game: asks, waits, and lets the sitting judge.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use referee_core::{Foul, FoulKind, PerSeat, Record, Seat, SetupError, ThinkingTime};
use referee_games::{Fixture, Judgement, Next, Question, SeatReply, Sitting};
use tokio::sync::mpsc;

use crate::{
    bot::{Bot, GameSlot, NoSlot},
    connection::Broken,
    heartbeat::Heartbeat,
    pool::{CutOff, Pool, Shard},
    process::GameOutput,
    shortage::{Shortage, ShortageWait, lost_too_often},
    stream::{SeatStream, TimedReply},
};

/// Most times that a game is begun: more often than any bot has processes that may have died.
const MOST_ATTEMPTS: u32 = 1000;
/// Longest time until a bot closes its stream when the game is over.
pub const CLOSE_GRACE: Duration = Duration::from_secs(1);
/// Time until the last words of bots have arrived, where those are wanted: most have closed their
/// streams by then.
const LAST_WORDS_GRACE: Duration = Duration::from_millis(50);

/// A game and who is to play it.
#[derive(Clone)]
pub struct SeatedGame {
    /// The game that is to be played.
    pub fixture: Fixture,
    /// The bots, in order of the seats.
    pub bots: Vec<Arc<Bot>>,
    /// Gets its public events while it is played.
    pub watch: Option<mpsc::UnboundedSender<Live>>,
}

/// An event of a game that everybody may know of while it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// It begins. If it is played again, what was told before is void.
    Started,
    /// A seat answered in a way that everybody may see.
    Played {
        /// The seat.
        seat: Seat,
        /// The question's number.
        number: u32,
        /// The answer in the game's notation.
        notation: String,
        /// Duration of the answer.
        thought: Duration,
    },
}

/// The reason why a game could not be played. It is never a bot's fault.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// Its set-up is invalid.
    #[error("could not begin: {0}")]
    Setup(#[from] SetupError),
    /// It was cut off.
    #[error(transparent)]
    CutOff(#[from] CutOff),
    /// This machine lacked what its bots need, for too long.
    #[error(transparent)]
    Shortage(#[from] Shortage),
}

impl SeatedGame {
    /// Plays it on one of the pool's threads. If the returned future is dropped, the game is
    /// cut off and its streams are cancelled.
    ///
    /// # Errors
    ///
    /// [`GameError`]. What a bot does wrong is a foul in the record, not an error.
    pub async fn play(self, pool: &Pool) -> Result<Record, GameError> {
        let played = pool.run(|shard| async move { self.on(&shard, None).await });
        played.await?
    }

    /// Plays it likewise, and gives for each seat what its bot has printed meanwhile: at most
    /// [`GAME_LOG_LIMIT`](crate::GAME_LOG_LIMIT) bytes, without the middle where it is more. A bot that
    /// runs elsewhere has none.
    ///
    /// # Errors
    ///
    /// As for [`play`](Self::play).
    pub async fn play_with_logs(self, pool: &Pool) -> Result<(Record, Vec<String>), GameError> {
        let played = pool.run(|shard| async move {
            let mut outputs = Vec::new();
            let record = self.on(&shard, Some(&mut outputs)).await?;
            tokio::time::sleep(LAST_WORDS_GRACE).await;
            let logs = outputs.iter().map(SeatOutput::text).collect();
            Ok((record, logs))
        });
        played.await?
    }

    /// Plays it on this thread. `outputs` gets where the output of each seat is.
    async fn on(
        &self,
        shard: &Shard,
        mut outputs: Option<&mut Vec<SeatOutput>>,
    ) -> Result<Record, GameError> {
        let mut patience = ShortageWait::default();
        for _ in 0..MOST_ATTEMPTS {
            let table = self.take_seats(shard, &mut patience).await?;
            if let Some(outputs) = &mut outputs {
                **outputs = self.outputs(&table);
            }
            match self.attempt(shard, table).await? {
                Ok(record) => return Ok(record),
                Err(Lost::Before) => {}
                Err(Lost::ByUs(shortage)) => patience.wait(shortage).await?,
            }
        }
        Err(lost_too_often(MOST_ATTEMPTS).into())
    }

    /// The output of each seat, from here on.
    fn outputs(&self, table: &PerSeat<SeatState>) -> Vec<SeatOutput> {
        let seats = table.iter().zip(&self.bots);
        let outputs = seats.map(|((_, state), bot)| match state {
            SeatState::Playing(slot, _) => slot.output().map_or(SeatOutput::None, SeatOutput::Game),
            SeatState::Absent(_) => SeatOutput::Start(bot.output_of_start()),
            SeatState::Out => SeatOutput::None,
        });
        outputs.collect()
    }

    /// Plays it once, unless a process is lost for a reason that is not the bot's.
    async fn attempt(
        &self,
        shard: &Shard,
        mut table: PerSeat<SeatState>,
    ) -> Result<Result<Record, Lost>, SetupError> {
        let mut sitting = Sitting::new(self.fixture.clone())?;
        self.tell(|| Live::Started);
        loop {
            match sitting.advance() {
                Next::Tell(calls) => {
                    for (seat, call) in calls {
                        if let SeatState::Playing(_, stream) = &table[seat] {
                            stream.tell(call);
                        }
                    }
                }
                Next::Ask(questions) => {
                    let answers = ask(&mut table, questions, &shard.heartbeat).await;
                    let mut heard = Vec::new();
                    for answer in answers {
                        match answer.heard {
                            Ok(reply) => heard.push((answer.about, reply)),
                            Err(lost) => return Ok(Err(lost)),
                        }
                    }
                    for (about, reply) in heard {
                        let state = &mut table[about.seat];
                        self.hear(shard, &mut sitting, state, about, reply);
                    }
                }
                Next::Over(finished) => {
                    for (seat, call) in finished.last_calls {
                        if let SeatState::Playing(slot, stream) =
                            std::mem::replace(&mut table[seat], SeatState::Out)
                        {
                            slot.wakes();
                            stream.tell(call);
                            // The bot's slot is free when it has closed its stream,
                            // too; the game does not wait for that.
                            shard.closing.spawn(async move {
                                stream.close(CLOSE_GRACE).await;
                                drop(slot);
                            });
                        }
                    }
                    let mut record = finished.record;
                    record.header.sandbox = self.of_bots(Bot::walls);
                    record.header.identity = self.of_bots(Bot::identity);
                    return Ok(Ok(record));
                }
            }
        }
    }

    /// The text about each bot, if there is one about any.
    fn of_bots(&self, say: impl Fn(&Bot) -> Option<String>) -> PerSeat<Option<String>> {
        let words: Vec<Option<String>> = self.bots.iter().map(|bot| say(bot)).collect();
        if words.iter().all(Option::is_none) {
            return PerSeat::default();
        }
        words.into()
    }

    /// Finds a process for every seat and opens its stream. Bots that lack one are started side
    /// by side. Slots are taken all at once: a game that waits for one bot holds no slot of another.
    async fn take_seats(
        &self,
        shard: &Shard,
        patience: &mut ShortageWait,
    ) -> Result<PerSeat<SeatState>, Shortage> {
        let mut absent: Vec<Option<Foul>> = vec![None; self.bots.len()];
        loop {
            let blocked = match self.try_seats(shard, &absent) {
                Ok(seats) => return Ok(seats),
                Err(blocked) => blocked,
            };
            let preparing = blocked.iter().map(|&seat| {
                let bot = &self.bots[seat];
                let others = self.bots.iter().zip(&absent);
                let present =
                    others.filter(|(other, foul)| foul.is_none() && Arc::ptr_eq(other, bot));
                bot.prepare(shard, present.count())
            });
            let prepared = join_all(preparing.collect::<Vec<_>>()).await;
            let mut lacks = None;
            for (seat, prepared) in blocked.into_iter().zip(prepared) {
                match prepared {
                    Ok(()) => {}
                    Err(NoSlot::Foul(foul)) => absent[seat] = Some(foul),
                    Err(NoSlot::Shortage(shortage)) => lacks = Some(shortage),
                }
            }
            if let Some(shortage) = lacks {
                patience.wait(shortage).await?;
            }
        }
    }

    /// Takes a slot for every seat whose bot is not absent, or none and gives the seats that have
    /// to wait, one of each bot. All games take them in one order of the bots.
    fn try_seats(
        &self,
        shard: &Shard,
        absent: &[Option<Foul>],
    ) -> Result<PerSeat<SeatState>, Vec<usize>> {
        let mut order: Vec<usize> = (0..self.bots.len()).collect();
        order.sort_by_key(|&seat| self.bots[seat].number());
        let mut slots: Vec<(usize, GameSlot)> = Vec::new();
        let mut blocked: Vec<usize> = Vec::new();
        for seat in order {
            let bot = &self.bots[seat];
            let waits = blocked
                .last()
                .is_some_and(|&last| Arc::ptr_eq(&self.bots[last], bot));
            if absent[seat].is_some() || waits {
                continue;
            }
            let others: Vec<&GameSlot> = slots.iter().map(|(_, slot)| slot).collect();
            match bot.try_slot(shard.id, &others) {
                Some(slot) => slots.push((seat, slot)),
                None => blocked.push(seat),
            }
        }
        if !blocked.is_empty() {
            return Err(blocked);
        }
        slots.sort_by_key(|(seat, _)| *seat);
        let mut slots = slots.into_iter();
        let path = self.fixture.kind.path();
        let largest = self.fixture.limits.answer_bytes;
        let states = absent.iter().map(|foul| match foul {
            Some(foul) => SeatState::Absent(foul.clone()),
            None => {
                let (_, slot) = slots.next().expect("every other seat has a slot");
                let stream = SeatStream::open(slot.connection.clone(), path, largest);
                SeatState::Playing(Box::new(slot), stream)
            }
        });
        Ok(states.collect::<Vec<_>>().into())
    }

    /// Lets the sitting judge what came back.
    fn hear(
        &self,
        shard: &Shard,
        sitting: &mut Sitting,
        state: &mut SeatState,
        about: AboutAnswer,
        reply: SeatReply,
    ) {
        let AboutAnswer {
            seat,
            number,
            thought,
        } = about;
        match sitting.hear(seat, reply, thought) {
            Judgement::Ready(ready) => {
                if let SeatState::Playing(slot, _) = state {
                    slot.learned(ready.max_games);
                }
            }
            Judgement::Accepted { notation, public } => {
                shard.moves.fetch_add(1, Ordering::Relaxed);
                if public {
                    self.tell(|| Live::Played {
                        seat,
                        number,
                        notation,
                        thought: thought.counted,
                    });
                }
            }
            Judgement::Fouled(kind) => {
                // It may still be thinking about this game, or flooding us.
                if retires(kind) {
                    state.retire();
                }
                // Dropping the stream cancels it at once.
                *state = SeatState::Out;
            }
        }
    }

    fn tell(&self, live: impl FnOnce() -> Live) {
        if let Some(watch) = &self.watch {
            let _ = watch.send(live());
        }
    }
}

/// True if nothing more is played with the process after this foul.
const fn retires(kind: FoulKind) -> bool {
    match kind {
        FoulKind::Unreachable
        | FoulKind::NoStart
        | FoulKind::Unsupported
        | FoulKind::Flooded
        | FoulKind::Interfered
        | FoulKind::MemoryExceeded
        | FoulKind::Late => true,
        FoulKind::Crashed
        | FoulKind::HungUp
        | FoulKind::Resigned
        | FoulKind::ErrorStatus
        | FoulKind::Malformed
        | FoulKind::WrongNumber
        | FoulKind::Unsolicited
        | FoulKind::Oversized
        | FoulKind::Illegal => false,
    }
}

/// The output of a bot in one game.
enum SeatOutput {
    Game(GameOutput),
    /// It did not start, and has printed this.
    Start(String),
    None,
}

impl SeatOutput {
    fn text(&self) -> String {
        match self {
            Self::Game(output) => output.text(),
            Self::Start(text) => text.clone(),
            Self::None => String::new(),
        }
    }
}

/// A seat of one game.
pub(crate) enum SeatState {
    Playing(Box<GameSlot>, SeatStream),
    /// No bot could be started or reached; this is why.
    Absent(Foul),
    Out,
}

impl SeatState {
    /// The process in this seat plays no further game.
    pub(crate) fn retire(&self) {
        if let Self::Playing(slot, _) = self {
            slot.retire();
        }
    }
}

/// The reply of a seat.
pub(crate) struct SeatAnswer {
    pub(crate) about: AboutAnswer,
    pub(crate) heard: Result<SeatReply, Lost>,
}

/// The question that was answered, and the duration of the answer.
#[derive(Clone, Copy)]
pub(crate) struct AboutAnswer {
    seat: Seat,
    number: u32,
    pub(crate) thought: ThinkingTime,
}

/// The reason why a process answers no more, which is not the bot's fault.
pub(crate) enum Lost {
    /// It had ended before the game began: it had played others before.
    Before,
    ByUs(Shortage),
}

/// Asks all of them at once and waits for all of them.
async fn ask(
    table: &mut PerSeat<SeatState>,
    mut questions: Vec<Question>,
    heartbeat: &Heartbeat,
) -> Vec<SeatAnswer> {
    // Nearly always there is one question.
    if questions.len() == 1
        && let Some(question) = questions.pop()
    {
        return vec![ask_one(&mut table[question.seat], question, heartbeat).await];
    }
    let asking = table.iter_mut().filter_map(|(seat, state)| {
        let at = questions.iter().position(|asked| asked.seat == seat)?;
        let question = questions.swap_remove(at);
        Some(ask_one(state, question, heartbeat))
    });
    let asking: Vec<_> = asking.collect();
    join_all(asking).await
}

pub(crate) async fn ask_one(
    state: &mut SeatState,
    question: Question,
    heartbeat: &Heartbeat,
) -> SeatAnswer {
    let (seat, number, limit) = (question.seat, question.number, question.limit);
    let (heard, thought) = match state {
        SeatState::Playing(slot, stream) => {
            slot.wakes();
            let TimedReply {
                heard,
                thought,
                excuse,
            } = stream.ask(question, heartbeat).await;
            if heard.is_ok() {
                slot.rests();
            }
            if number == 0 && heard.is_err() {
                slot.retire();
            }
            let heard = match heard {
                Ok(SeatReply::Answer(answer)) => Ok(slot
                    .answered(thought, limit, excuse, heartbeat)
                    .map_or(SeatReply::Answer(answer), SeatReply::Foul)),
                Err(Broken::ByBot(how)) if number == 0 && slot.was_proven() => {
                    tracing::info!(%how, "a bot's process had ended before the game began");
                    Err(Lost::Before)
                }
                failed => slot.judged(failed).await.map_err(Lost::ByUs),
            };
            (heard, thought)
        }
        SeatState::Absent(foul) => (Ok(SeatReply::Foul(foul.clone())), ThinkingTime::default()),
        SeatState::Out => unreachable!("a seat that has left is not asked"),
    };
    let about = AboutAnswer {
        seat,
        number,
        thought,
    };
    SeatAnswer { about, heard }
}
