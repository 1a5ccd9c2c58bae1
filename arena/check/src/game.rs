//! One game in which the other seats answer at random, and leave when enough has been
//! seen.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_events::check::ReadyAnswer;
use bytes::Bytes;
use referee::{
    CLOSE_GRACE, Closed, Probe, ProbeReply, ProbeStream, Resumption, Shortage, proc::CoreWait,
};
use referee_core::{Dice, Foul, GameKind, Limits, PerSeat, Record, Scene, Seat, Seed};
use referee_games::{
    Calls, Fixture, Judgement, Next, Question, SeatReply, Sitting, answer, known_to, past, ready,
};
use tokio::{sync::Barrier, task::spawn_blocking};
use tokio_util::task::TaskTracker;

use crate::{error::CheckError, evidence::AskedQuestion};

/// Fields that a later version of the protocol may add to a call: a number in field 1000 and a text
/// in field 1001.
const UNKNOWN_FIELDS: &[u8] = &[0xC0, 0x3E, 1, 0xCA, 0x3E, 3, b'n', b'e', b'w'];
/// A notice that is unknown today: an empty message in field 999.
const UNKNOWN_NOTICE: &[u8] = &[0xBA, 0x3E, 0];

/// Of an answer that takes longer than this part of its limit it is watched how long the bot
/// waits for a core.
const WATCHED_PART: u32 = 10;

/// The game that is played, and the bot's seat in it.
#[derive(Clone)]
pub(crate) struct GameSetting {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) setup: serde_json::Value,
    pub(crate) seed: Seed,
    /// The bot's seat.
    pub(crate) seat: Seat,
    /// The bot's name in the game.
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) limits: Limits,
    /// The streams that nobody waits for while they close.
    pub(crate) closing: TaskTracker,
}

/// Deviations from the usual way to play a game.
#[derive(Clone, Default)]
pub(crate) struct PlayOptions {
    /// After so many answers of the bot the other seats leave; with 0 at the start.
    pub(crate) leave_after: Option<usize>,
    /// From then on the other seats leave too, after the bot's first answer.
    pub(crate) leave_at: Option<Instant>,
    /// Calls have fields that the bot does not know, and there is an unknown notice.
    pub(crate) unknown_fields: bool,
    /// The limit that counts, where the bot is told a shorter one.
    pub(crate) judged_by: Option<Duration>,
    /// The first question is asked when all of these games have started.
    pub(crate) together: Option<Arc<Barrier>>,
    /// Before this answer, from 0, a copy of the game is made.
    pub(crate) fork_at: Option<usize>,
    /// The bot's stream is cancelled so long after its first question.
    pub(crate) cancel_after: Option<Duration>,
    /// Nobody waits until the bot closes its stream.
    pub(crate) hasty: bool,
}

/// Observations of a game.
#[derive(Default)]
pub(crate) struct GameSeen {
    /// Time until Ready.
    pub(crate) ready_after: Duration,
    pub(crate) ready: Option<ReadyAnswer>,
    /// The bot's foul.
    pub(crate) foul: Option<Foul>,
    /// The foul of a bot whose process ended before Ready.
    pub(crate) gone: Option<Foul>,
    /// The last question to the bot.
    pub(crate) question: Option<AskedQuestion>,
    /// The bot's view of the position when it committed its foul; the public view in a game that it
    /// was resumed in.
    pub(crate) position: Option<Scene>,
    /// Time that each answer took.
    pub(crate) thoughts: Vec<Duration>,
    /// The same without what the bot waited for a core, which a busy machine decides.
    pub(crate) own_thoughts: Vec<Duration>,
    /// Number of times that each call was sent.
    pub(crate) calls: BTreeMap<String, u64>,
    /// The way in which the bot ended its stream; none where nobody waited for it.
    pub(crate) closed: Option<Closed>,
    /// True if the other seats left before the rules ended the game.
    pub(crate) cut_short: bool,
    pub(crate) record: Option<Record>,
    pub(crate) fork: Option<ForkedGame>,
    /// The first answer of a resumed bot may have been late because it was starting.
    pub(crate) unjudged: bool,
}

/// A copy of a game in the middle, and what the bot was sent so far, with its answers.
pub(crate) struct ForkedGame {
    sitting: Sitting,
    past: Vec<Bytes>,
}

/// Plays a game.
///
/// # Errors
///
/// The game has no such set-up.
pub(crate) async fn play(
    probe: &Probe,
    setting: &GameSetting,
    options: &PlayOptions,
) -> Result<GameSeen, CheckError> {
    let fixture = Fixture {
        kind: setting.kind,
        game_id: setting.id.clone(),
        setup: setting.setup.clone(),
        seed: setting.seed,
        players: PerSeat::new(setting.kind.info().seats, |seat| {
            if seat == setting.seat {
                setting.name.clone()
            } else {
                "arena".to_owned()
            }
        }),
        limits: setting.limits,
        spent: PerSeat::default(),
    };
    let sitting = Sitting::new(fixture)?;
    let mut playing = GameInProgress::new(probe, setting, options, sitting);
    playing.together = options.together.as_ref();
    playing.play().await
}

/// Largest number of times that a game is resumed until the first answer of the bot can be judged.
const RESUMED: u32 = 3;

/// Resumes a game in the middle, on a new stream, and plays on.
pub(crate) async fn resume(
    probe: &Probe,
    setting: &GameSetting,
    options: &PlayOptions,
    fork: &ForkedGame,
) -> Result<GameSeen, CheckError> {
    let mut seen = GameSeen::default();
    let mut resumption = Resumption::new(setting.limits.start);
    for _ in 0..RESUMED {
        let sitting = fork.sitting.fork();
        let mut playing = GameInProgress::new(probe, setting, options, sitting);
        for call in &fork.past {
            playing.send(call.clone());
        }
        if let (Some(stream), Some(time)) = (&mut playing.stream, resumption.settle()) {
            stream.settle(time).await;
        }
        playing.resumption = Some(&mut resumption);
        seen = playing.play().await?;
        if !seen.unjudged {
            break;
        }
    }
    Ok(seen)
}

struct GameInProgress<'a> {
    setting: &'a GameSetting,
    options: &'a PlayOptions,
    calls: Calls,
    sitting: Sitting,
    /// The bot's stream, until it is out of the game.
    stream: Option<ProbeStream>,
    past: Vec<Bytes>,
    dice: Dice,
    together: Option<&'a Arc<Barrier>>,
    /// Until the first question to a bot that was resumed.
    resumption: Option<&'a mut Resumption>,
    /// The bot's process, where we started it.
    process: Option<u32>,
    /// Reason why it can't go on, though that is not the bot's fault.
    lost: Option<Shortage>,
    seen: GameSeen,
}

impl<'a> GameInProgress<'a> {
    fn new(
        probe: &Probe,
        setting: &'a GameSetting,
        options: &'a PlayOptions,
        sitting: Sitting,
    ) -> Self {
        let path = setting.kind.path();
        Self {
            setting,
            options,
            calls: Calls::of(setting.kind),
            sitting,
            stream: Some(probe.open(path, setting.limits.answer_bytes)),
            past: Vec::new(),
            dice: Dice::new(&setting.seed),
            together: None,
            resumption: None,
            process: probe.process_id(),
            lost: None,
            seen: GameSeen::default(),
        }
    }

    async fn play(mut self) -> Result<GameSeen, CheckError> {
        self.play_on().await;
        match self.lost {
            Some(shortage) => Err(shortage.into()),
            None => Ok(self.seen),
        }
    }

    /// Plays until it breaks or is over.
    async fn play_on(&mut self) {
        // Where the game is in the middle, its questions have been asked already.
        if self.ask_all(self.sitting.pending()).await.is_break() {
            return;
        }
        loop {
            match self.sitting.advance() {
                Next::Tell(calls) => self.tell(calls),
                Next::Ask(questions) => {
                    if self.ask_all(questions).await.is_break() {
                        return;
                    }
                }
                Next::Over(finished) => {
                    self.tell(finished.last_calls);
                    if let Some(stream) = self.stream.take() {
                        let closed = stream.close(CLOSE_GRACE);
                        self.seen.closed = if self.options.hasty {
                            // The bot is told that the game is over.
                            self.setting.closing.spawn(closed);
                            None
                        } else {
                            Some(closed.await)
                        };
                    }
                    let foul = finished.record.result.verdict.foul(self.setting.seat);
                    self.seen.foul = foul.cloned();
                    // For a seat with secrets this is its hand too.
                    if self.seen.position.is_some()
                        && let Ok(Some(knew)) = known_to(
                            self.setting.kind,
                            self.setting.seat,
                            &finished.record.events,
                        )
                    {
                        self.seen.position = Some(knew);
                    }
                    self.seen.record = Some(finished.record);
                    return;
                }
            }
        }
    }

    /// Asks every seat, in the order of a record.
    async fn ask_all(&mut self, questions: Vec<Question>) -> ControlFlow<()> {
        for question in questions {
            if question.seat == self.setting.seat {
                self.ask(question).await?;
            } else {
                self.answer(&question);
            }
        }
        ControlFlow::Continue(())
    }

    /// One of the other seats answers, or leaves.
    fn answer(&mut self, question: &Question) {
        let answered = self.seen.thoughts.len();
        let leave_at = self.options.leave_at;
        let late = leave_at.is_some_and(|end| Instant::now() >= end);
        let most = self.options.leave_after;
        let enough = most.is_some_and(|most| answered >= most) || (late && answered > 0);
        let starting = question.number == 0;
        let heard = if enough && (!starting || self.options.leave_after == Some(0)) {
            self.seen.cut_short = true;
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

    /// Asks the bot. It breaks where the game is not to be played to its end.
    async fn ask(&mut self, question: Question) -> ControlFlow<()> {
        use ControlFlow::{Break, Continue};
        self.count(&question.call);
        let number = question.number;
        self.seen.question = Some(AskedQuestion {
            number,
            call: self.calls.name(&question.call).map(str::to_owned),
        });
        if number > 0 && self.options.fork_at == Some(self.seen.thoughts.len()) {
            self.seen.fork = Some(ForkedGame {
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
            limit: match self.options.judged_by {
                Some(limit) if number > 0 => limit,
                _ => told + extra,
            },
            call: self.as_sent(question.call.clone()),
            ..question.clone()
        };
        let Some(stream) = &mut self.stream else {
            unreachable!("a seat that has left is not asked");
        };
        if let Some(wait) = self.options.cancel_after.filter(|_| number > 0) {
            stream.tell(asked.call);
            tokio::time::sleep(wait).await;
            self.stream = None;
            return Break(());
        }
        let (ProbeReply { heard, thought }, own_share) =
            match ask_watched(stream, asked, self.process).await {
                Ok(seen) => seen,
                Err(shortage) => {
                    self.lost = Some(shortage);
                    return Break(());
                }
            };
        let thought = thought.counted;
        if number == 0
            && let Some(together) = self.together
        {
            let all = self.setting.limits.start + CLOSE_GRACE;
            let _ = tokio::time::timeout(all, together.wait()).await;
        }
        if let SeatReply::Foul(foul @ (Foul::Crashed { .. } | Foul::MemoryExceeded { .. })) = &heard
            && number == 0
        {
            self.seen.gone = Some(foul.clone());
        }
        if let Some(resumption) = resumption
            && resumption.must_repeat(&heard, thought, told)
        {
            self.seen.unjudged = true;
            return Break(());
        }
        let answers = self.seen.thoughts.len();
        self.judge(&question, &heard, thought);
        if self.seen.thoughts.len() > answers {
            self.seen.own_thoughts.push(thought.mul_f64(own_share));
        }
        if let SeatReply::Answer(bytes) = &heard {
            self.past.push(past(&question.call, bytes));
        }
        if self.options.unknown_fields && number > 0 {
            self.send(Bytes::from_static(UNKNOWN_NOTICE));
        }
        Continue(())
    }

    /// Hands a response to the rules.
    fn judge(&mut self, question: &Question, heard: &SeatReply, thought: Duration) {
        let judged = match self.options.judged_by {
            Some(limit) if question.number > 0 && thought < limit => {
                thought.min(question.limit.saturating_sub(Duration::from_micros(1)))
            }
            _ => thought,
        };
        match self.sitting.hear(self.setting.seat, heard.clone(), judged) {
            Judgement::Ready(ready) => {
                self.seen.ready_after = thought;
                self.seen.ready = Some(ReadyAnswer {
                    bot: ready.bot,
                    version: ready.version,
                    max_games: ready.max_games.map(u64::from),
                    can_resume: ready.can_resume,
                });
            }
            Judgement::Accepted { .. } => self.seen.thoughts.push(thought),
            Judgement::Fouled(_) => {
                // Dropping the stream cancels it.
                self.stream = None;
                self.seen.position = (question.number > 0).then(|| self.sitting.scene());
            }
        }
    }

    /// Sends the bot those of the calls that are its own.
    fn tell(&mut self, calls: Vec<(Seat, Bytes)>) {
        for (_, call) in calls
            .into_iter()
            .filter(|(seat, _)| *seat == self.setting.seat)
        {
            self.count(&call);
            self.past.push(call.clone());
            let call = self.as_sent(call);
            self.send(call);
        }
    }

    fn send(&self, call: Bytes) {
        if let Some(stream) = &self.stream {
            stream.tell(call);
        }
    }

    fn as_sent(&self, call: Bytes) -> Bytes {
        if self.options.unknown_fields {
            [&call[..], UNKNOWN_FIELDS].concat().into()
        } else {
            call
        }
    }

    fn count(&mut self, call: &Bytes) {
        if let Some(name) = self.calls.name(call) {
            *self.seen.calls.entry(name.to_owned()).or_default() += 1;
        }
    }
}

/// Asks, and says which share of the time the bot had a core or needed none, from 0 to 1. That
/// is 1 for a quick answer, and where its process is not ours.
///
/// # Errors
///
/// There is no response, or its process could not be asked for, which is not the bot's fault.
async fn ask_watched(
    stream: &mut ProbeStream,
    question: Question,
    process: Option<u32>,
) -> Result<(ProbeReply, f64), Shortage> {
    let quick = question.limit / WATCHED_PART;
    let waits = move || async move {
        let looked = spawn_blocking(move || process.map(CoreWait::of_family).transpose());
        looked.await.unwrap_or(Ok(None))
    };
    let watch = async {
        tokio::time::sleep(quick).await;
        (Instant::now(), waits().await)
    };
    let asking = stream.ask(question);
    tokio::pin!(asking, watch);
    let mut before = None;
    let reply = loop {
        tokio::select! {
            biased;
            reply = &mut asking => break reply,
            seen = &mut watch, if before.is_none() => before = Some(seen),
        }
    };
    let reply = reply?;
    let Some((began, before)) = before else {
        return Ok((reply, 1.0));
    };
    let Some(before) = before? else {
        return Ok((reply, 1.0));
    };
    let watched = began.elapsed();
    let waited = match waits().await? {
        Some(after) => after.since(&before),
        None => Duration::ZERO,
    };
    Ok((reply, own_share(watched, waited)))
}

/// Which share of a time is left without the waiting, from 0 to 1.
fn own_share(time: Duration, waited: Duration) -> f64 {
    if time.is_zero() {
        return 1.0;
    }
    (1.0 - waited.as_secs_f64() / time.as_secs_f64()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_bot_waits_for_a_core_is_not_its_own_time() {
        for (time, waited, share) in [
            (1000, 0, 1.0),
            (1000, 250, 0.75),
            (1000, 1000, 0.0),
            // Two processes of it waited side by side.
            (1000, 1700, 0.0),
            (0, 0, 1.0),
        ] {
            let [time, waited] = [time, waited].map(Duration::from_millis);
            assert!(
                (own_share(time, waited) - share).abs() < 1e-9,
                "{time:?} {waited:?}"
            );
        }
    }
}
