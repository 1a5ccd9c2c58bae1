//! Plays one game: asks, waits, and lets the sitting judge.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use referee_core::{Foul, FoulKind, PerSeat, Record, Seat, SetupError};
use referee_games::{Fixture, Heard, Hearing, Next, Question, Sitting};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    bot::{Bot, Place},
    heartbeat::Heartbeat,
    pool::{CutOff, Pool, Shard},
    stream::{Reply, Said, SeatStream},
};

/// How often a game is played again for a delay of ours before a late answer
/// counts all the same.
const ATTEMPTS: u32 = 3;
/// How long a bot has to close its stream when the game is over.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// A game and who is to play it.
#[derive(Clone)]
pub struct Game {
    /// What is to be played.
    pub fixture: Fixture,
    /// Who sits where, in order of the seats.
    pub bots: Vec<Arc<Bot>>,
    /// Who is told of it while it goes on.
    pub watch: Option<mpsc::UnboundedSender<Live>>,
}

/// What everybody may know of a game that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// It begins; if it had begun before, that counts for nothing.
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
    /// How often it had to be played again for a delay of ours.
    pub voided: u32,
}

/// Why a game could not be played. It is never a bot's fault.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// It can't begin like this.
    #[error("could not begin: {0}")]
    Setup(#[from] SetupError),
    /// It was cut off.
    #[error(transparent)]
    CutOff(#[from] CutOff),
}

impl Game {
    /// Plays it on one of the pool's threads, again if we were the ones who
    /// failed. If the result is not waited for, the game is cut off and its
    /// streams are cancelled.
    ///
    /// # Errors
    ///
    /// [`PlayError`]; what a bot does wrong is none, but a foul in the record.
    pub async fn play(self, pool: &Pool) -> Result<Played, PlayError> {
        pool.run(|shard| async move {
            let mut attempt = 1;
            loop {
                match self.attempt(&shard, attempt == ATTEMPTS).await? {
                    Some(record) => {
                        return Ok(Played {
                            record,
                            voided: attempt - 1,
                        });
                    }
                    None => attempt += 1,
                }
            }
        })
        .await?
    }

    /// Plays it once. Nothing comes of it where a delay of ours could have
    /// decided it, unless this is the last attempt.
    async fn attempt(&self, shard: &Shard, last: bool) -> Result<Option<Record>, SetupError> {
        let mut sitting = Sitting::new(self.fixture.clone())?;
        let mut table = self.seat_everybody(shard).await;
        self.tell(|| Live::Started);
        loop {
            match sitting.advance() {
                Next::Tell(calls) => {
                    for (seat, call) in calls {
                        if let Chair::Taken(_, stream) = &table[seat] {
                            stream.tell(call);
                        }
                    }
                }
                Next::Ask(questions) => {
                    for (seat, number, reply) in ask(&mut table, questions).await {
                        let chair = &mut table[seat];
                        if !self.hear(&mut sitting, chair, seat, number, reply, shard, last) {
                            return Ok(None);
                        }
                    }
                }
                Next::Over(finished) => {
                    for (seat, call) in finished.goodbyes {
                        if let Chair::Taken(place, stream) =
                            std::mem::replace(&mut table[seat], Chair::Left)
                        {
                            stream.tell(call);
                            // The bot's place is free when it has closed its
                            // stream too; nobody else waits for that.
                            tokio::spawn(async move {
                                stream.close(CLOSE_GRACE).await;
                                drop(place);
                            });
                        }
                    }
                    return Ok(Some(finished.record));
                }
            }
        }
    }

    /// Finds every seat a process and opens its stream.
    async fn seat_everybody(&self, shard: &Shard) -> PerSeat<Chair> {
        let mut places: Vec<Result<Place, Foul>> = Vec::new();
        for bot in &self.bots {
            let others: Vec<&Place> = places.iter().flatten().collect();
            let place = bot.place(shard.id, &others).await;
            places.push(place);
        }
        let path = self.fixture.kind.path();
        let largest = self.fixture.limits.answer_bytes;
        let chairs = places.into_iter().map(|place| match place {
            Ok(place) => {
                let stream = SeatStream::open(place.channel.clone(), path, largest);
                Chair::Taken(place, stream)
            }
            Err(foul) => Chair::Empty(foul),
        });
        chairs.collect::<Vec<_>>().into()
    }

    /// Puts what came back to the sitting; false where the game is void.
    #[expect(clippy::too_many_arguments, reason = "one moment of one game")]
    fn hear(
        &self,
        sitting: &mut Sitting,
        chair: &mut Chair,
        seat: Seat,
        number: u32,
        reply: (Heard, Instant, Duration),
        shard: &Shard,
        last: bool,
    ) -> bool {
        let (heard, asked, thought) = reply;
        let timely = matches!(heard, Heard::Answer(_) | Heard::Nothing);
        match sitting.hear(seat, heard, thought) {
            Hearing::Ready(ready) => {
                if let Chair::Taken(place, _) = chair {
                    place.learned(ready.max_games);
                }
            }
            Hearing::Accepted { notation, public } => {
                if public {
                    self.tell(|| Live::Played {
                        seat,
                        number,
                        notation,
                        thought,
                    });
                }
            }
            Hearing::Fouled(kind) => {
                let late = timely && matches!(kind, FoulKind::Late | FoulKind::NoStart);
                if let Chair::Taken(place, _) = &chair
                    && (late || kind.is_start() || kind == FoulKind::MemoryExceeded)
                {
                    // It may still be thinking about this game.
                    place.retire();
                }
                // Dropping the stream cancels it at once.
                *chair = Chair::Left;
                if late && !last {
                    return !ours(&shard.heartbeat, asked, thought, self.limit(number));
                }
            }
        }
        true
    }

    const fn limit(&self, number: u32) -> Duration {
        if number == 0 {
            self.fixture.limits.start
        } else {
            self.fixture.limits.per_move
        }
    }

    fn tell(&self, live: impl FnOnce() -> Live) {
        if let Some(watch) = &self.watch {
            let _ = watch.send(live());
        }
    }
}

/// Whether an answer that is late would not have been but for us.
fn ours(heartbeat: &Heartbeat, asked: Instant, thought: Duration, limit: Duration) -> bool {
    let delay = heartbeat.worst_since(asked);
    let ours = delay > Duration::ZERO && thought.saturating_sub(delay) < limit;
    // A timer never rings exactly on time: what a healthy thread is late by
    // does not excuse a bot that has not answered at all.
    let ours = ours && delay > Duration::from_millis(5);
    if ours {
        tracing::warn!(?delay, ?thought, "the referee was late; the game is void");
    }
    ours
}

/// A seat of one game.
enum Chair {
    Taken(Place, SeatStream),
    /// Nobody came; this is why.
    Empty(Foul),
    Left,
}

type Heards = Vec<(Seat, u32, (Heard, Instant, Duration))>;

/// Asks all of them at once and waits for all of them.
async fn ask(table: &mut PerSeat<Chair>, mut questions: Vec<Question>) -> Heards {
    // Nearly always it is one.
    if questions.len() == 1
        && let Some(question) = questions.pop()
    {
        let (seat, number) = (question.seat, question.number);
        return vec![(seat, number, ask_one(&mut table[seat], question).await)];
    }
    let asking = table.iter_mut().filter_map(|(seat, chair)| {
        let at = questions.iter().position(|asked| asked.seat == seat)?;
        let question = questions.swap_remove(at);
        Some(async move {
            let number = question.number;
            (seat, number, ask_one(chair, question).await)
        })
    });
    let asking: Vec<_> = asking.collect();
    join_all(asking).await
}

async fn ask_one(chair: &mut Chair, question: Question) -> (Heard, Instant, Duration) {
    let number = question.number;
    match chair {
        Chair::Taken(place, stream) => {
            let Reply {
                heard,
                asked,
                thought,
            } = stream.ask(question).await;
            let heard = match heard {
                Said::Heard(heard) => heard,
                Said::Broken(how) => {
                    if number == 0 {
                        place.retire();
                    }
                    Heard::Foul(place.post_mortem(how).await)
                }
            };
            (heard, asked, thought)
        }
        Chair::Empty(foul) => (Heard::Foul(foul.clone()), Instant::now(), Duration::ZERO),
        Chair::Left => unreachable!("a seat that has left is not asked"),
    }
}
