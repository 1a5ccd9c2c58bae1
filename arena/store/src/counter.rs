//! Counters: sums over the games of a tournament, besides its results.

use std::{fmt, str::FromStr};

use referee_core::{FoulKind, Seat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Kind of a count, for one entrant or for the tournament.
///
/// In the database and in JSON it is a text such as `ask:12`, `foul:hung-up` or
/// `excused`. A time falls into a bucket, whose number the arena makes; the store
/// adds up and does not interpret it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// `ask:BUCKET`: answers that took this long, of an entrant.
    Thinking(u32),
    /// `foul:KIND`: fouls of this kind, of an entrant.
    Foul(FoulKind),
    /// `seat:SEAT`: games that an entrant played from this seat.
    Seat(Seat),
    /// `ended:HOW`: games that ended in this way.
    Ended(GameEnding),
    /// `points:SEAT`: half points that were won from this seat.
    HalfPoints(Seat),
    /// `excused`: answers of an entrant that were late but for a delay of the referee.
    Excused,
    /// `worker-games:WORKER`: games of an entrant that this worker played.
    WorkerGames(String),
    /// `worker-late:WORKER`: games that it lost there on time.
    WorkerLate(String),
    /// `worker-failed:WORKER`: games that it lost there by not starting or by crashing.
    WorkerFailed(String),
    /// `queue:BUCKET`: chunks that waited this long for a worker.
    QueueWait(u32),
    /// `commit:BUCKET`: transactions of the store that took this long.
    CommitTime(u32),
    /// `late:BUCKET`: seconds in which the referee's largest delay was this long.
    RefereeDelay(u32),
    /// A counter of another version of the arena. It is added up, exported and
    /// imported like the others, so that no version loses what it does not know.
    Other(String),
}

/// The ending of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GameEnding {
    /// `rules`: by the rules, with one winner.
    Rules,
    /// `draw`: by the rules, and several share the first place.
    Draw,
    /// `KIND`: by a foul; where there are several, this is the first one.
    Foul(FoulKind),
}

/// A counter that this version knows, with a value that it can't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no counter")]
pub struct BadCounter(String);

impl Counter {
    /// True if it depends on the run that played a game (delays, load), so that it can't be
    /// computed from the game's record.
    #[must_use]
    pub const fn is_of_the_run(&self) -> bool {
        matches!(
            self,
            Self::QueueWait(_) | Self::CommitTime(_) | Self::RefereeDelay(_)
        )
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thinking(bucket) => write!(f, "ask:{bucket}"),
            Self::Foul(kind) => write!(f, "foul:{}", foul_word(*kind)),
            Self::Seat(seat) => write!(f, "seat:{seat}"),
            Self::Ended(ending) => write!(f, "ended:{ending}"),
            Self::HalfPoints(seat) => write!(f, "points:{seat}"),
            Self::Excused => f.write_str("excused"),
            Self::WorkerGames(worker) => write!(f, "worker-games:{worker}"),
            Self::WorkerLate(worker) => write!(f, "worker-late:{worker}"),
            Self::WorkerFailed(worker) => write!(f, "worker-failed:{worker}"),
            Self::QueueWait(bucket) => write!(f, "queue:{bucket}"),
            Self::CommitTime(bucket) => write!(f, "commit:{bucket}"),
            Self::RefereeDelay(bucket) => write!(f, "late:{bucket}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl FromStr for Counter {
    type Err = BadCounter;

    fn from_str(text: &str) -> Result<Self, BadCounter> {
        let (kind, value) = text.split_once(':').unwrap_or((text, ""));
        let counter = match kind {
            "ask" => value.parse().ok().map(Self::Thinking),
            "foul" => foul(value).map(Self::Foul),
            "seat" => seat(value).map(Self::Seat),
            "ended" => value.parse().ok().map(Self::Ended),
            "points" => seat(value).map(Self::HalfPoints),
            "excused" => value.is_empty().then_some(Self::Excused),
            "worker-games" => Some(Self::WorkerGames(value.to_owned())),
            "worker-late" => Some(Self::WorkerLate(value.to_owned())),
            "worker-failed" => Some(Self::WorkerFailed(value.to_owned())),
            "queue" => value.parse().ok().map(Self::QueueWait),
            "commit" => value.parse().ok().map(Self::CommitTime),
            "late" => value.parse().ok().map(Self::RefereeDelay),
            _ => Some(Self::Other(text.to_owned())),
        };
        counter.ok_or_else(|| BadCounter(text.to_owned()))
    }
}

impl fmt::Display for GameEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules => f.write_str("rules"),
            Self::Draw => f.write_str("draw"),
            Self::Foul(kind) => f.write_str(&foul_word(*kind)),
        }
    }
}

impl FromStr for GameEnding {
    type Err = BadCounter;

    fn from_str(word: &str) -> Result<Self, BadCounter> {
        match word {
            "rules" => Ok(Self::Rules),
            "draw" => Ok(Self::Draw),
            other => match foul(other) {
                Some(kind) => Ok(Self::Foul(kind)),
                None => Err(BadCounter(format!("ended:{other}"))),
            },
        }
    }
}

/// In JSON both are the text that [`Display`](fmt::Display) writes.
macro_rules! as_text {
    ($($type:ty),*) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
                }
            }
        )*
    };
}
as_text!(Counter, GameEnding);

fn seat(index: &str) -> Option<Seat> {
    index.parse().ok().map(Seat::new)
}

fn foul_word(kind: FoulKind) -> String {
    kind.words().replace(' ', "-")
}

fn foul(word: &str) -> Option<FoulKind> {
    FoulKind::ALL
        .into_iter()
        .find(|&kind| foul_word(kind) == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_read_as_what_was_written() {
        let seat = Seat::new(3);
        let fouls = FoulKind::ALL
            .into_iter()
            .flat_map(|kind| [Counter::Foul(kind), Counter::Ended(GameEnding::Foul(kind))]);
        let others = [
            (Counter::Thinking(12), "ask:12"),
            (Counter::Foul(FoulKind::HungUp), "foul:hung-up"),
            (Counter::Seat(seat), "seat:3"),
            (Counter::Ended(GameEnding::Rules), "ended:rules"),
            (Counter::Ended(GameEnding::Draw), "ended:draw"),
            (
                Counter::Ended(GameEnding::Foul(FoulKind::Late)),
                "ended:late",
            ),
            (Counter::HalfPoints(seat), "points:3"),
            (Counter::Excused, "excused"),
            (Counter::WorkerGames("a b".to_owned()), "worker-games:a b"),
            (Counter::WorkerLate("a:b".to_owned()), "worker-late:a:b"),
            (Counter::WorkerFailed("é".to_owned()), "worker-failed:é"),
            (Counter::QueueWait(0), "queue:0"),
            (Counter::CommitTime(900), "commit:900"),
            (Counter::RefereeDelay(4), "late:4"),
            (Counter::Other("moves:2:3".to_owned()), "moves:2:3"),
        ];
        for (counter, text) in &others {
            assert_eq!(counter.to_string(), *text);
        }
        for counter in fouls.chain(others.map(|(counter, _)| counter)) {
            assert_eq!(counter.to_string().parse(), Ok(counter.clone()));
            let json = serde_json::to_string(&counter).unwrap();
            assert_eq!(json, format!("\"{counter}\""));
            assert_eq!(serde_json::from_str::<Counter>(&json).unwrap(), counter);
            if let Counter::Ended(ending) = counter {
                let json = serde_json::to_string(&ending).unwrap();
                assert_eq!(serde_json::from_str::<GameEnding>(&json).unwrap(), ending);
            }
        }
    }

    #[test]
    fn a_known_counter_with_a_value_that_it_cannot_have_is_an_error() {
        for text in [
            "ask:",
            "ask",
            "ask:-1",
            "ask:x",
            "foul:tired",
            "seat:256",
            "ended:",
            "points:one",
            "excused:1",
            "queue:",
            "commit:1.5",
            "late:99999999999",
        ] {
            assert_eq!(text.parse::<Counter>(), Err(BadCounter(text.to_owned())));
        }
    }
}
