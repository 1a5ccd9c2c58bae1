//! Plays one game: asks, waits, and lets the sitting judge.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use referee_core::{Foul, FoulKind, PerSeat, Record, Seat, SetupError};
use referee_games::{Fixture, Judgement, Next, Question, SeatReply, Sitting};
use tokio::sync::mpsc;

use crate::{
    bot::{Bot, Slot},
    heartbeat::Heartbeat,
    pool::{CutOff, Pool, Shard},
    stream::SeatStream,
};

/// How many times a game is played at most. A late answer is excused by a delay of the
/// referee, and the game played again; in the last attempt it counts.
pub const ATTEMPTS: u32 = 3;
/// How long a bot has to close its stream when the game is over.
pub const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// A game and who is to play it.
#[derive(Clone)]
pub struct Game {
    /// What is to be played.
    pub fixture: Fixture,
    /// Who sits where, in order of the seats.
    pub bots: Vec<Arc<Bot>>,
    /// Gets its public events while it is played.
    pub watch: Option<mpsc::UnboundedSender<Live>>,
}

/// What everybody may know of a game while it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// It begins. If it is played again, what was told before is void.
    Started,
    /// A seat answered in a way that everybody may see.
    Played {
        /// Who.
        seat: Seat,
        /// The question's number.
        number: u32,
        /// The answer in the game's notation.
        notation: String,
        /// How long it took.
        thought: Duration,
    },
}

/// A game that was played to its end.
#[derive(Debug)]
pub struct Played {
    /// The whole of it.
    pub record: Record,
    /// How often it was played again because of a delay of the referee.
    pub voided: u32,
}

/// Why a game could not be played. It is never a bot's fault.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// Its set-up is invalid.
    #[error("could not begin: {0}")]
    Setup(#[from] SetupError),
    /// It was cut off.
    #[error(transparent)]
    CutOff(#[from] CutOff),
}

impl Game {
    /// Plays it on one of the pool's threads, and again where the referee itself failed.
    /// If the returned future is dropped, the game is cut off and its streams are
    /// cancelled.
    ///
    /// # Errors
    ///
    /// [`PlayError`]. What a bot does wrong is a foul in the record, not an error.
    pub async fn play(self, pool: &Pool) -> Result<Played, PlayError> {
        pool.run(|shard| async move {
            let mut attempt = 1;
            loop {
                match self.attempt(&shard, attempt == ATTEMPTS).await? {
                    Attempt::Over(record) => {
                        return Ok(Played {
                            record: *record,
                            voided: attempt - 1,
                        });
                    }
                    Attempt::Void => attempt += 1,
                    Attempt::NotBegun => {}
                }
            }
        })
        .await?
    }

    /// Retires the processes where the game has secrets: the same deal will be played
    /// again, by processes that have not seen a part of it.
    fn retire_processes(&self, table: &PerSeat<SeatState>) {
        if self.fixture.kind.has_secrets() {
            table.iter().for_each(|(_, state)| state.retire());
        }
    }

    /// Plays it once. It is void where a delay of the referee may have decided it, unless
    /// this is the last attempt.
    async fn attempt(&self, shard: &Shard, last: bool) -> Result<Attempt, SetupError> {
        let mut sitting = Sitting::new(self.fixture.clone())?;
        let mut table = self.open_streams(shard).await;
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
                    if answers.iter().any(|answer| answer.heard.is_none()) {
                        return Ok(Attempt::NotBegun);
                    }
                    for answer in answers {
                        let state = &mut table[answer.seat];
                        if !self.hear(&mut sitting, state, answer, last) {
                            self.retire_processes(&table);
                            return Ok(Attempt::Void);
                        }
                    }
                }
                Next::Over(finished) => {
                    for (seat, call) in finished.last_calls {
                        if let SeatState::Playing(slot, stream) =
                            std::mem::replace(&mut table[seat], SeatState::Out)
                        {
                            stream.tell(call);
                            // The bot's slot is free when it has closed its stream,
                            // too; the game does not wait for that.
                            shard.closing.spawn(async move {
                                stream.close(CLOSE_GRACE).await;
                                drop(slot);
                            });
                        }
                    }
                    return Ok(Attempt::Over(Box::new(finished.record)));
                }
            }
        }
    }

    /// Finds a process for every seat and opens its stream. All games take slots in one
    /// order of the bots, so that no two games wait for each other.
    async fn open_streams(&self, shard: &Shard) -> PerSeat<SeatState> {
        let mut order: Vec<usize> = (0..self.bots.len()).collect();
        order.sort_by_key(|&seat| Arc::as_ptr(&self.bots[seat]).addr());
        let mut slots: Vec<(usize, Result<Slot, Foul>)> = Vec::new();
        for seat in order {
            let others: Vec<&Slot> = slots
                .iter()
                .filter_map(|(_, slot)| slot.as_ref().ok())
                .collect();
            let slot = self.bots[seat].slot(shard.id, &others).await;
            slots.push((seat, slot));
        }
        slots.sort_by_key(|(seat, _)| *seat);
        let path = self.fixture.kind.path();
        let largest = self.fixture.limits.answer_bytes;
        let states = slots.into_iter().map(|(_, slot)| match slot {
            Ok(slot) => {
                let stream = SeatStream::open(slot.channel.clone(), path, largest);
                SeatState::Playing(slot, stream)
            }
            Err(foul) => SeatState::Absent(foul),
        });
        states.collect::<Vec<_>>().into()
    }

    /// Lets the sitting judge what came back; false where the game is void.
    fn hear(
        &self,
        sitting: &mut Sitting,
        state: &mut SeatState,
        answer: SeatAnswer,
        last: bool,
    ) -> bool {
        let SeatAnswer {
            seat,
            number,
            heard,
            thought,
            excused,
        } = answer;
        let heard = heard.expect("a game that has not begun is not judged");
        let timely = matches!(heard, SeatReply::Answer(_) | SeatReply::Nothing);
        match sitting.hear(seat, heard, thought) {
            Judgement::Ready(ready) => {
                if let SeatState::Playing(slot, _) = state {
                    slot.learned(ready.max_games);
                }
            }
            Judgement::Accepted { notation, public } => {
                if public {
                    self.tell(|| Live::Played {
                        seat,
                        number,
                        notation,
                        thought,
                    });
                }
            }
            Judgement::Fouled(kind) => {
                let late = timely && matches!(kind, FoulKind::Late | FoulKind::NoStart);
                if late || kind.is_start() || kind == FoulKind::MemoryExceeded {
                    // It may still be thinking about this game.
                    state.retire();
                }
                // Dropping the stream cancels it at once.
                *state = SeatState::Out;
                return !(late && excused) || last;
            }
        }
        true
    }

    fn tell(&self, live: impl FnOnce() -> Live) {
        if let Some(watch) = &self.watch {
            let _ = watch.send(live());
        }
    }
}

/// A seat of one game.
pub(crate) enum SeatState {
    Playing(Slot, SeatStream),
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

/// What came back from a seat.
pub(crate) struct SeatAnswer {
    seat: Seat,
    number: u32,
    /// None where the process had ended before the game began: it had played
    /// others before.
    pub(crate) heard: Option<SeatReply>,
    pub(crate) thought: Duration,
    /// It is late only because of a delay of the referee.
    pub(crate) excused: bool,
}

/// The result of one attempt to play a game.
enum Attempt {
    Over(Box<Record>),
    /// A delay of the referee may have decided it.
    Void,
    /// A process had died since its last game. It is retired, so this can happen only as
    /// often as there are processes.
    NotBegun,
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
    let (seat, number) = (question.seat, question.number);
    let (heard, thought, excused) = match state {
        SeatState::Playing(slot, stream) => {
            let reply = stream.ask(question, heartbeat).await;
            if number == 0 && reply.heard.is_err() {
                slot.retire();
            }
            let heard = match reply.heard {
                Ok(heard) => Some(heard),
                Err(how) if number == 0 && slot.was_proven() => {
                    tracing::info!(%how, "a bot's process had ended before the game began");
                    None
                }
                Err(how) => Some(SeatReply::Foul(slot.post_mortem(how).await)),
            };
            (heard, reply.thought, reply.excused)
        }
        SeatState::Absent(foul) => (Some(SeatReply::Foul(foul.clone())), Duration::ZERO, false),
        SeatState::Out => unreachable!("a seat that has left is not asked"),
    };
    SeatAnswer {
        seat,
        number,
        heard,
        thought,
        excused,
    }
}
