//! One game that a bot plays against nobody: the other seats answer at random, and
//! leave when enough has been seen.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use referee::{ATTEMPTS, CLOSE_GRACE, Closed, Probe, ProbeReply, ProbeStream, Resumption};
use referee_core::{Dice, Foul, GameKind, Limits, PerSeat, Record, Seat, Seed};
use referee_games::{
    Calls, Fixture, Judgement, Next, Question, SeatReply, Sitting, answer, past, ready,
};
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

/// What a later version of the protocol may add to a call: a number in field 1000
/// and a text in field 1001.
const UNKNOWN_FIELDS: &[u8] = &[0xC0, 0x3E, 1, 0xCA, 0x3E, 3, b'n', b'e', b'w'];
/// A notice that is unknown today: an empty message in field 999.
const UNKNOWN_NOTICE: &[u8] = &[0xBA, 0x3E, 0];

/// What is played, and where the bot sits.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) kind: &'static dyn GameKind,
    pub(super) setup: serde_json::Value,
    pub(super) seed: Seed,
    pub(super) seat: Seat,
    /// What to call the bot.
    pub(super) name: String,
    pub(super) id: String,
    pub(super) limits: Limits,
    /// Where a stream is closed that nobody waits for.
    pub(super) closing: TaskTracker,
}

/// What is unusual about how it is played.
#[derive(Clone, Default)]
pub(super) struct Manner {
    /// After so many answers of the bot the others leave; with 0 at the start.
    pub(super) leave_after: Option<usize>,
    /// From then on they leave too, after its first answer.
    pub(super) leave_at: Option<Instant>,
    /// The bot is sent what it can't know.
    pub(super) future: bool,
    /// The limit that counts, where the one that is told is shorter.
    pub(super) judged_by: Option<Duration>,
    /// When all of these are ready, the first question is put.
    pub(super) together: Option<Arc<Barrier>>,
    /// Before this answer, from 0, the game is kept as it stands.
    pub(super) fork_at: Option<usize>,
    /// So long after its first question the bot's stream is cancelled.
    pub(super) cancel_after: Option<Duration>,
    /// Don't wait until the bot closes its stream.
    pub(super) hasty: bool,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Came {
    /// How long it took to be ready.
    pub(super) ready_after: Duration,
    pub(super) ready: Option<ReadyInfo>,
    /// What the bot did wrong.
    pub(super) foul: Option<Foul>,
    /// How its process was found to be gone before it was ready.
    pub(super) gone: Option<Foul>,
    /// At which question.
    pub(super) at: String,
    /// How long each answer took.
    pub(super) thoughts: Vec<Duration>,
    /// How often each call was sent.
    pub(super) calls: BTreeMap<String, u32>,
    /// How it ended its stream; nothing where nobody waited for it.
    pub(super) closed: Option<Closed>,
    /// Whether the others left before the rules ended the game.
    pub(super) cut_short: bool,
    pub(super) record: Option<Record>,
    pub(super) fork: Option<Fork>,
    /// Its first answer after it was resumed may have been late because it was starting.
    pub(super) unjudged: bool,
    pub(super) excused: bool,
}

/// What a bot says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadyInfo {
    pub(super) bot: String,
    pub(super) version: String,
    pub(super) max_games: Option<u32>,
    pub(super) can_resume: bool,
}

/// A game in the middle, and what the bot was sent so far, with its answers.
pub(super) struct Fork {
    sitting: Sitting,
    past: Vec<Bytes>,
}

/// Plays it; again where the bot was late by a delay of ours.
pub(super) async fn play(probe: &Probe, terms: &Terms, manner: &Manner) -> anyhow::Result<Came> {
    for attempt in 1.. {
        let fixture = Fixture {
            kind: terms.kind,
            game_id: terms.id.clone(),
            setup: terms.setup.clone(),
            seed: terms.seed,
            players: PerSeat::new(terms.kind.info().seats, |seat| {
                if seat == terms.seat {
                    terms.name.clone()
                } else {
                    "arena".to_owned()
                }
            }),
            limits: terms.limits,
            spent: PerSeat::default(),
        };
        let sitting = Sitting::new(fixture)?;
        let mut playing = Playing::new(probe, terms, manner, sitting);
        // The others wait for it once.
        playing.together = manner.together.as_ref().filter(|_| attempt == 1);
        let came = playing.play().await;
        if !came.excused || attempt == ATTEMPTS {
            return Ok(came);
        }
    }
    unreachable!("there is a last attempt")
}

/// Catches the bot up with a game in the middle on a new stream, and plays on.
pub(super) async fn resume(probe: &Probe, terms: &Terms, manner: &Manner, fork: &Fork) -> Came {
    let mut came = Came::default();
    let mut resumption = Resumption::new(terms.limits.start);
    for _ in 0..ATTEMPTS {
        let sitting = fork.sitting.fork();
        let mut playing = Playing::new(probe, terms, manner, sitting);
        for call in &fork.past {
            playing.send(call.clone());
        }
        if let (Some(line), Some(time)) = (&mut playing.line, resumption.settle()) {
            line.settle(time).await;
        }
        playing.resumption = Some(&mut resumption);
        came = playing.play().await;
        if !came.unjudged && !came.excused {
            break;
        }
    }
    came
}

struct Playing<'a> {
    terms: &'a Terms,
    manner: &'a Manner,
    calls: Calls,
    sitting: Sitting,
    /// The bot's stream, until it is out of the game.
    line: Option<ProbeStream>,
    past: Vec<Bytes>,
    dice: Dice,
    together: Option<&'a Arc<Barrier>>,
    /// Until the first question to a bot that was resumed.
    resumption: Option<&'a mut Resumption>,
    came: Came,
}

impl<'a> Playing<'a> {
    fn new(probe: &Probe, terms: &'a Terms, manner: &'a Manner, sitting: Sitting) -> Self {
        let path = terms.kind.path();
        Self {
            terms,
            manner,
            calls: Calls::of(path),
            sitting,
            line: Some(probe.open(path, terms.limits.answer_bytes)),
            past: Vec::new(),
            dice: Dice::new(&terms.seed),
            together: None,
            resumption: None,
            came: Came::default(),
        }
    }

    async fn play(mut self) -> Came {
        // Where the game is in the middle, its questions have been put already.
        if self.ask_all(self.sitting.pending()).await.is_break() {
            return self.came;
        }
        loop {
            match self.sitting.advance() {
                Next::Tell(calls) => {
                    for (seat, call) in calls {
                        if seat == self.terms.seat {
                            self.tell(call);
                        }
                    }
                }
                Next::Ask(questions) => {
                    if self.ask_all(questions).await.is_break() {
                        return self.came;
                    }
                }
                Next::Over(finished) => {
                    for (seat, call) in finished.last_calls {
                        if seat == self.terms.seat {
                            self.tell(call);
                        }
                    }
                    if let Some(line) = self.line.take() {
                        let closed = line.close(CLOSE_GRACE);
                        self.came.closed = if self.manner.hasty {
                            // It is told all the same.
                            self.terms.closing.spawn(closed);
                            None
                        } else {
                            Some(closed.await)
                        };
                    }
                    let foul = finished.record.result.verdict.foul(self.terms.seat);
                    self.came.foul = foul.cloned();
                    self.came.record = Some(finished.record);
                    return self.came;
                }
            }
        }
    }

    /// Every seat is asked, in the order that a record has.
    async fn ask_all(&mut self, questions: Vec<Question>) -> ControlFlow<()> {
        for question in questions {
            if question.seat == self.terms.seat {
                self.ask(question).await?;
            } else {
                self.answer(&question);
            }
        }
        ControlFlow::Continue(())
    }

    /// One of the other seats answers, or leaves.
    fn answer(&mut self, question: &Question) {
        let answered = self.came.thoughts.len();
        let late = self
            .manner
            .leave_at
            .is_some_and(|end| Instant::now() >= end);
        let most = self.manner.leave_after;
        let enough = most.is_some_and(|most| answered >= most) || (late && answered > 0);
        let starting = question.number == 0;
        let heard = if enough && (!starting || self.manner.leave_after == Some(0)) {
            self.came.cut_short = true;
            SeatReply::Foul(Foul::HungUp)
        } else if starting {
            SeatReply::Answer(ready())
        } else {
            let legal = self.sitting.legal(question.seat);
            let pick = self.dice.below(legal.len() as u32) as usize;
            SeatReply::Answer(answer(question.number, &legal[pick].1))
        };
        self.sitting.hear(question.seat, heard, Duration::ZERO);
    }

    /// The bot is asked. It breaks off where the game is not to be played to its
    /// end.
    async fn ask(&mut self, question: Question) -> ControlFlow<()> {
        use ControlFlow::{Break, Continue};
        self.count(&question.call);
        let number = question.number;
        self.came.at = match self.calls.name(&question.call) {
            Some(name) => format!("at question {number}, {name}"),
            None => format!("at question {number}"),
        };
        if number > 0 && self.manner.fork_at == Some(self.came.thoughts.len()) {
            self.came.fork = Some(Fork {
                sitting: self.sitting.fork(),
                past: self.past.clone(),
            });
        }
        let told = question.limit;
        let resumption = self.resumption.take();
        let extra = resumption
            .as_ref()
            .map_or(Duration::ZERO, |one| one.extra());
        let asked = Question {
            limit: match self.manner.judged_by {
                Some(limit) if number > 0 => limit,
                _ => told + extra,
            },
            call: self.as_sent(question.call.clone()),
            ..question.clone()
        };
        let Some(line) = &mut self.line else {
            unreachable!("who has left is not asked");
        };
        if let Some(wait) = self.manner.cancel_after.filter(|_| number > 0) {
            line.tell(asked.call);
            tokio::time::sleep(wait).await;
            self.line = None;
            return Break(());
        }
        let replied = line.ask(asked).await;
        let ProbeReply {
            heard,
            thought,
            excused,
        } = replied;
        if number == 0
            && let Some(together) = self.together
        {
            let all = self.terms.limits.start + CLOSE_GRACE;
            let _ = tokio::time::timeout(all, together.wait()).await;
        }
        if let SeatReply::Foul(foul @ (Foul::Crashed { .. } | Foul::MemoryExceeded { .. })) = &heard
            && number == 0
        {
            self.came.gone = Some(foul.clone());
        }
        if let Some(resumption) = resumption
            && resumption.must_repeat(&heard, thought, told)
        {
            self.came.unjudged = true;
            return Break(());
        }
        let judged = match self.manner.judged_by {
            Some(limit) if number > 0 && thought < limit => {
                thought.min(told.saturating_sub(Duration::from_micros(1)))
            }
            _ => thought,
        };
        match self.sitting.hear(self.terms.seat, heard.clone(), judged) {
            Judgement::Ready(ready) => {
                self.came.ready_after = thought;
                self.came.ready = Some(ReadyInfo {
                    bot: ready.bot,
                    version: ready.version,
                    max_games: ready.max_games,
                    can_resume: ready.can_resume,
                });
            }
            Judgement::Accepted { .. } => self.came.thoughts.push(thought),
            Judgement::Fouled(_) => {
                // Dropping the stream cancels it.
                self.line = None;
                if excused {
                    self.came.excused = true;
                    return Break(());
                }
            }
        }
        if let SeatReply::Answer(bytes) = &heard {
            self.past.push(past(&question.call, bytes));
        }
        if self.manner.future && number > 0 {
            self.send(Bytes::from_static(UNKNOWN_NOTICE));
        }
        Continue(())
    }

    fn tell(&mut self, call: Bytes) {
        self.count(&call);
        self.past.push(call.clone());
        let call = self.as_sent(call);
        self.send(call);
    }

    fn send(&self, call: Bytes) {
        if let Some(line) = &self.line {
            line.tell(call);
        }
    }

    fn as_sent(&self, call: Bytes) -> Bytes {
        if self.manner.future {
            [&call[..], UNKNOWN_FIELDS].concat().into()
        } else {
            call
        }
    }

    fn count(&mut self, call: &Bytes) {
        if let Some(name) = self.calls.name(call) {
            *self.came.calls.entry(name.to_owned()).or_default() += 1;
        }
    }
}
