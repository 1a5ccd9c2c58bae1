//! Plays a record again: the same answers to the same machine must give the
//! same messages and the same verdict.

use std::{collections::VecDeque, time::Duration};

use referee_core::{Event, Foul, PerSeat, Record, Scene, Seat};

use crate::{Fixture, GAMES, Heard, Hearing, Next, Sitting, game, sitting::BEHAVIOR_VERSION};

/// The game after one more move.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Who moved.
    pub seat: Seat,
    /// What, in the game's notation; a foul says what it was.
    pub notation: String,
    /// Whether it was a foul.
    pub foul: bool,
    /// How long it took.
    pub thought: Duration,
    /// How many of the record's events came before it.
    pub at: usize,
    /// The table before it was carried out, with nothing covered.
    pub before: Scene,
}

/// Where a record and the game that it tells of differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is of a game that is not known here.
    #[error("there is no game \"{found}\" here; there are {known}")]
    Game {
        /// Its name.
        found: String,
        /// All that are known.
        known: String,
    },
    /// It was made by other rules or another referee.
    #[error("it was made by version {found} of the {what}; this is version {here}")]
    Version {
        /// Of what.
        what: &'static str,
        /// In the record.
        found: u32,
        /// Here.
        here: u32,
    },
    /// No game begins like this.
    #[error("its set-up: {0}")]
    Setup(String),
    /// An event is not what it should be.
    #[error("event {at}: expected {expected}, found {found}")]
    Event {
        /// Counted from 1.
        at: usize,
        /// What happens when the game is played again.
        expected: String,
        /// What the record says.
        found: String,
    },
    /// The end is not what it should be.
    #[error("the result: expected {expected}, found {found}")]
    Result {
        /// What comes out when the game is played again.
        expected: String,
        /// What the record says.
        found: String,
    },
}

/// Plays a record again, shows every moment of it, and gives what to draw at
/// the end.
///
/// # Errors
///
/// [`Mismatch`] at the first difference.
pub fn replay(record: &Record, mut watch: impl FnMut(Moment)) -> Result<Scene, Mismatch> {
    let header = &record.header;
    let kind = game(&header.game).ok_or_else(|| Mismatch::Game {
        found: header.game.clone(),
        known: GAMES
            .iter()
            .map(|game| game.info().name)
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    for (what, found, here) in [
        ("rules", header.rules_version, kind.info().rules_version),
        ("referee", header.behavior_version, BEHAVIOR_VERSION),
    ] {
        if found != here {
            return Err(Mismatch::Version { what, found, here });
        }
    }
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: header.game_id.clone(),
        setup: header.setup.clone(),
        seed: header.seed,
        players: header.players.clone(),
        limits: header.limits,
        spent: header.spent.clone(),
    })
    .map_err(|error| Mismatch::Setup(error.to_string()))?;
    let mut script = script(record);
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Ask(questions) => {
                for question in questions {
                    let seat = question.seat;
                    let (heard, thought) =
                        script[seat].pop_front().ok_or_else(|| Mismatch::Event {
                            at: record.events.len(),
                            expected: format!(
                                "an answer of seat {seat} to question {}",
                                question.number
                            ),
                            found: "none".to_owned(),
                        })?;
                    let at = sitting.events();
                    let before = sitting.open_scene();
                    let foul = match &heard {
                        Heard::Foul(foul) => foul.to_string(),
                        _ => String::new(),
                    };
                    let (notation, foul) = match sitting.hear(seat, heard, thought) {
                        Hearing::Ready(_) => continue,
                        Hearing::Accepted { notation, .. } => (notation, false),
                        Hearing::Fouled(kind) if foul.is_empty() => (kind.words().to_owned(), true),
                        Hearing::Fouled(_) => (foul, true),
                    };
                    watch(Moment {
                        seat,
                        notation,
                        foul,
                        thought,
                        at,
                        before,
                    });
                }
            }
            Next::Over(finished) => {
                compare(&finished.record, record)?;
                return Ok(sitting.scene());
            }
        }
    }
}

/// What each seat did when it was asked, in order.
fn script(record: &Record) -> PerSeat<VecDeque<(Heard, Duration)>> {
    let mut script = PerSeat::new(record.header.players.seats(), |_| VecDeque::new());
    // A foul right after an answer is what the referee made of the answer.
    let mut answered: Option<Seat> = None;
    for event in &record.events {
        match event {
            Event::Answered {
                seat,
                answer,
                thought,
                ..
            } => {
                script[*seat].push_back((Heard::Answer(answer.clone()), *thought));
                answered = Some(*seat);
                continue;
            }
            Event::Fouled {
                seat,
                foul,
                thought,
            } if answered != Some(*seat) => {
                let heard = match foul {
                    Foul::Late { .. } => Heard::Nothing,
                    foul => Heard::Foul(foul.clone()),
                };
                script[*seat].push_back((heard, *thought));
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
    if expected.header != found.header {
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
