//! Plays a record again: the same answers must give the same messages and the same
//! verdict.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use referee_core::{
    AnyWatcher, Event, Foul, GameKind, Header, Limits, Malformed, PerSeat, Record, Scene, Seat,
    ThinkingTime,
};

use crate::{
    Fixture, GAMES, Judgement, Next, Question, SeatAction, SeatReply, Sitting, game,
    sitting::BEHAVIOR_VERSION,
};

/// The game at one move.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The seat that moved.
    pub seat: Seat,
    /// The action of the seat.
    pub action: SeatAction,
    /// Duration of the answer.
    pub thought: Duration,
    /// Number of events of the record that came before it.
    pub at: usize,
    /// The table before the move, with all secrets visible.
    pub before: Scene,
}

/// A difference between a record and the game when it is played again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Its game is not known here.
    #[error("there is no game \"{found}\" here; there are {known}")]
    Game {
        /// Its name.
        found: String,
        /// The games that are known.
        known: String,
    },
    /// It was made with another version of the rules or of the referee.
    #[error("it was made by version {found} of the {what}; this is version {here}")]
    Version {
        /// The version that is another one: of the rules or of the referee.
        what: &'static str,
        /// The version in the record.
        found: u32,
        /// The version here.
        here: u32,
    },
    /// No game can begin with its set-up.
    #[error("its set-up: {0}")]
    Setup(String),
    /// An event is different.
    #[error("event {at}: expected {expected}, found {found}")]
    Event {
        /// Its number, from 1.
        at: usize,
        /// The event when the game is played again.
        expected: String,
        /// The event or result in the record.
        found: String,
    },
    /// The result is different.
    #[error("the result: expected {expected}, found {found}")]
    Result {
        /// The result when the game is played again.
        expected: String,
        /// The event or result in the record.
        found: String,
    },
}

impl Mismatch {
    /// The error that there is no game with this name.
    pub(crate) fn unknown(name: &str) -> Self {
        let known = GAMES.iter().map(|game| game.info().name);
        Self::Game {
            found: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }
}

/// The reply to a question, as the record has it.
#[derive(Clone, Debug)]
pub struct RecordedReply {
    /// The answer or the foul.
    pub heard: SeatReply,
    /// Duration of the answer.
    pub thought: ThinkingTime,
    /// The move in the notation of the game; `None` for a foul, or for the answer to
    /// `GameStart`.
    pub notation: Option<String>,
}

/// The next event when a record is played again.
pub enum Retraced<'a> {
    /// A seat is sent a notice.
    Told {
        /// The seat.
        seat: Seat,
        /// The whole message.
        call: &'a Bytes,
    },
    /// A seat has been asked, and its answer has not been judged yet.
    Asked {
        /// The game as it stands.
        sitting: &'a Sitting,
        /// The question.
        question: &'a Question,
        /// The reply to the question.
        said: &'a RecordedReply,
    },
    /// The answer has been judged.
    Judged {
        /// The question.
        question: &'a Question,
        /// The reply to the question.
        said: &'a RecordedReply,
        /// The judgement of the referee.
        judgement: &'a Judgement,
    },
}

/// Plays a record again and draws nothing, so it takes a fraction of the time of [`replay`].
///
/// # Errors
///
/// [`Mismatch`] at the first difference, the same as in [`replay`].
pub fn verify(record: &Record) -> Result<(), Mismatch> {
    played_again(record, |_| {}).map(drop)
}

/// Plays a record again, passes every move to `watch`, and returns the game at its end.
///
/// # Errors
///
/// [`Mismatch`] at the first difference.
pub fn replay(record: &Record, mut watch: impl FnMut(Moment)) -> Result<Sitting, Mismatch> {
    let mut before = None;
    retrace(record, |step| match step {
        Retraced::Told { .. } => {}
        Retraced::Asked { sitting, .. } => before = Some((sitting.events(), sitting.open_scene())),
        Retraced::Judged {
            question,
            said,
            judgement,
        } => {
            let Some((at, before)) = before.take() else {
                return;
            };
            let Some(action) = SeatAction::of(judgement, &said.heard) else {
                return;
            };
            watch(Moment {
                seat: question.seat,
                action,
                thought: said.thought.counted,
                at,
                before,
            });
        }
    })
}

/// Plays a record again and passes each event to `watch` together with the game at that
/// moment, so that other continuations can be tried. Returns the game at its end.
///
/// # Errors
///
/// [`Mismatch`] at the first difference.
pub fn retrace(record: &Record, watch: impl FnMut(Retraced<'_>)) -> Result<Sitting, Mismatch> {
    played_again(record, watch)
}

/// Plays a record again with another move limit and without a budget. Every answer
/// counts as if it came at once, so that nobody is late with a shorter limit. The
/// result is not compared with the record.
///
/// # Errors
///
/// [`Mismatch`] if the record is not of a possible game.
pub fn retrace_within(
    record: &Record,
    per_move: Duration,
    watch: impl FnMut(Retraced<'_>),
) -> Result<(), Mismatch> {
    let limits = Limits {
        per_move,
        budget: None,
        ..record.header.limits
    };
    let mut sitting = seated(record, limits)?;
    conduct(&mut sitting, record, |_| ThinkingTime::default(), watch)?;
    Ok(())
}

/// The game of a record at its end, after it was played again and nothing was different.
fn played_again(record: &Record, watch: impl FnMut(Retraced<'_>)) -> Result<Sitting, Mismatch> {
    let mut sitting = seated(record, record.header.limits)?;
    let finished = conduct(&mut sitting, record, |said| said.thought, watch)?;
    compare(&finished, record)?;
    Ok(sitting)
}

/// The game of a record, before its first question.
fn seated(record: &Record, limits: Limits) -> Result<Sitting, Mismatch> {
    let header = &record.header;
    let kind = game(&header.game).ok_or_else(|| Mismatch::unknown(&header.game))?;
    for (what, found, here) in [
        ("rules", header.rules_version, kind.info().rules_version),
        ("referee", header.behavior_version, BEHAVIOR_VERSION),
    ] {
        if found != here {
            return Err(Mismatch::Version { what, found, here });
        }
    }
    Sitting::new(Fixture {
        kind,
        game_id: header.game_id.clone(),
        setup: header.setup.clone(),
        seed: header.seed,
        players: header.players.clone(),
        limits,
        spent: header.spent.clone(),
    })
    .map_err(|error| Mismatch::Setup(error.to_string()))
}

/// Plays the answers of a record and returns the new record.
fn conduct(
    sitting: &mut Sitting,
    record: &Record,
    took: impl Fn(&RecordedReply) -> ThinkingTime,
    mut watch: impl FnMut(Retraced<'_>),
) -> Result<Record, Mismatch> {
    let mut script = script(record);
    let told = |watch: &mut dyn FnMut(Retraced<'_>), calls: &[(Seat, Bytes)]| {
        for (seat, call) in calls {
            watch(Retraced::Told { seat: *seat, call });
        }
    };
    loop {
        match sitting.advance() {
            Next::Tell(calls) => told(&mut watch, &calls),
            Next::Ask(questions) => {
                for question in &questions {
                    let seat = question.seat;
                    let said = script[seat].pop_front().ok_or_else(|| Mismatch::Event {
                        at: record.events.len(),
                        expected: format!(
                            "an answer of seat {seat} to question {}",
                            question.number
                        ),
                        found: "none".to_owned(),
                    })?;
                    watch(Retraced::Asked {
                        sitting,
                        question,
                        said: &said,
                    });
                    let judgement = sitting.hear(seat, said.heard.clone(), took(&said));
                    watch(Retraced::Judged {
                        question,
                        said: &said,
                        judgement: &judgement,
                    });
                }
            }
            Next::Over(finished) => {
                told(&mut watch, &finished.last_calls);
                return Ok(finished.record);
            }
        }
    }
}

/// The answers of each seat, in order.
fn script(record: &Record) -> PerSeat<VecDeque<RecordedReply>> {
    let mut script = PerSeat::new(record.header.players.seats(), |_| VecDeque::new());
    // A foul directly after an answer is the referee's judgement of that answer.
    let mut answered: Option<Seat> = None;
    for event in &record.events {
        match event {
            Event::Answered {
                seat,
                answer,
                notation,
                thought,
                excused,
                ..
            } => {
                script[*seat].push_back(RecordedReply {
                    heard: SeatReply::Answer(answer.clone()),
                    thought: ThinkingTime {
                        counted: *thought,
                        excused: *excused,
                    },
                    notation: notation.clone(),
                });
                answered = Some(*seat);
                continue;
            }
            Event::Fouled {
                seat,
                foul,
                thought,
            } if answered != Some(*seat) => {
                let heard = match foul {
                    Foul::Late { .. } => SeatReply::Nothing,
                    foul => SeatReply::Foul(foul.clone()),
                };
                script[*seat].push_back(RecordedReply {
                    heard,
                    thought: (*thought).into(),
                    notation: None,
                });
            }
            _ => {}
        }
        answered = None;
    }
    script
}

fn compare(expected: &Record, found: &Record) -> Result<(), Mismatch> {
    let mut events = expected.events.iter().zip(&found.events);
    if let Some(at) = events.position(|(expected, found)| expected != found) {
        return Err(Mismatch::Event {
            at: at + 1,
            expected: in_words(expected.events.get(at)),
            found: in_words(found.events.get(at)),
        });
    }
    if expected.events.len() != found.events.len() {
        let at = expected.events.len().min(found.events.len());
        return Err(Mismatch::Event {
            at: at + 1,
            expected: in_words(expected.events.get(at)),
            found: in_words(found.events.get(at)),
        });
    }
    let header = Header {
        sandbox: found.header.sandbox.clone(),
        identity: found.header.identity.clone(),
        ..expected.header.clone()
    };
    if header != found.header {
        return Err(Mismatch::Setup(
            "the header is not in its full form".to_owned(),
        ));
    }
    if expected.result != found.result {
        return Err(Mismatch::Result {
            expected: format!("{:?}", expected.result),
            found: format!("{:?}", found.result),
        });
    }
    Ok(())
}

fn in_words(event: Option<&Event>) -> String {
    event.map_or_else(
        || "the end of the game".to_owned(),
        |event| serde_json::to_string(event).unwrap_or_else(|_| format!("{event:?}")),
    )
}

/// The knowledge of one seat while a record is read: what it was told and what it has answered.
pub struct Knowledge {
    kind: &'static dyn GameKind,
    seat: Seat,
    watch: Option<Box<dyn AnyWatcher>>,
}

impl Knowledge {
    /// The seat before it was told anything.
    #[must_use]
    pub const fn new(kind: &'static dyn GameKind, seat: Seat) -> Self {
        Self {
            kind,
            seat,
            watch: None,
        }
    }

    /// The next event of the record; those of other seats change nothing.
    ///
    /// # Errors
    ///
    /// A call or an answer can't be read.
    pub fn hear(&mut self, event: &Event) -> Result<(), Malformed> {
        let own = self.seat;
        match (event, &mut self.watch) {
            (Event::Asked { seat, call, .. }, watch @ None) if *seat == own => {
                *watch = Some(self.kind.watch(own, call)?);
            }
            (Event::Told { seat, call } | Event::Asked { seat, call, .. }, Some(watch))
                if *seat == own =>
            {
                watch.hear(call)?;
            }
            (
                Event::Answered {
                    seat,
                    number: 1..,
                    answer,
                    notation: Some(_),
                    ..
                },
                Some(watch),
            ) if *seat == own => {
                watch.answered(answer)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The scene to draw; none where the seat was told nothing.
    #[must_use]
    pub fn scene(&self) -> Option<Scene> {
        self.watch.as_ref().map(|watch| watch.scene())
    }
}

/// The scene that a seat knows after these events, the first ones of a record. None where it
/// was told nothing.
///
/// # Errors
///
/// A call or an answer can't be read.
pub fn known_to(
    kind: &'static dyn GameKind,
    seat: Seat,
    events: &[Event],
) -> Result<Option<Scene>, Malformed> {
    let mut knowledge = Knowledge::new(kind, seat);
    for event in events {
        knowledge.hear(event)?;
    }
    Ok(knowledge.scene())
}
