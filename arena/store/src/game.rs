//! One game as it is stored.

use std::sync::Arc;

use arena_ladder::{Entrant, Lineup, MatchId};
use referee_core::{Seat, SeatFoul};
use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    ChunkKey, Counter, ScoredGroup, StoreError,
    sql::{Statement, damaged, json, lineup, lineup_text, list, number, unlist},
};

/// A game that was played, without its record: one row of the table of games, and
/// one line of an export. Lists are in order of the seats unless stated otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRow {
    /// The group that it belongs to.
    pub group: u64,
    /// Which of the group's games it is, from 0.
    pub seating: u32,
    /// Number of games of the group.
    pub games_in_group: u32,
    /// The group's match.
    #[serde(rename = "match")]
    pub matchup: MatchId,
    /// The players of the group.
    pub lineup: Lineup,
    /// The player in each seat, as an index into the lineup.
    pub order: Vec<usize>,
    /// Places from 1; those who share one have the same.
    pub places: Vec<u8>,
    /// Scores in the game's own unit.
    pub scores: Vec<i32>,
    /// Reason why it ended, in words.
    pub reason: String,
    /// The fouls that were committed.
    pub fouls: Vec<SeatFoul>,
    /// Number of moves that were made.
    pub plies: u32,
    /// The total thinking time of each seat, in microseconds.
    pub thought_us: Vec<u64>,
    /// A hash of its moves: equal for games with the same moves. In JSON 16
    /// hexadecimal digits, since many readers of JSON round large numbers.
    #[serde(with = "hex")]
    pub course: u64,
    /// The play hash of the record.
    pub play_hash: String,
    /// When it ended, in milliseconds since 1970.
    pub finished_unix_ms: i64,
    /// The worker that played it, where that was not the arena's own process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Its additions to the counters of an entrant, or with None of the tournament.
    pub counters: Vec<(Option<Entrant>, Counter, i64)>,
}

/// A game as a worker reports it: with its record, its chunk and its attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    /// The game.
    pub row: GameRow,
    /// The chunk that it was played in.
    pub chunk: ChunkKey,
    /// The attempt at that chunk that it comes from; 0 where none was leased.
    pub attempt: u32,
    /// The record, packed by [`pack`](crate::pack).
    pub record: Vec<u8>,
    /// True if nothing of it may be told before its group is complete or the tournament over: its
    /// deal has secrets, and is still to be played from other seats.
    pub withhold: bool,
    /// For each seat what its bot printed, where that is kept; else none.
    pub logs: Vec<String>,
}

/// The store's answer to a reported game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reported {
    /// It is stored and counts.
    Accepted,
    /// It was stored before; nothing has changed.
    Duplicate,
    /// It is refused: its chunk has been leased to another worker since, or the
    /// tournament is over.
    Stale,
}

/// A report that has been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReport {
    /// The store's answer to it.
    pub reported: Reported,
    /// The score of its group, where it counts and its group is complete with what was stored
    /// together with it.
    pub scored: Option<Arc<ScoredGroup>>,
}

/// The condition, in a statement that reads games, that they may be told of. Every list of
/// games and every sum over them has it; what goes on with a tournament has no need of it.
pub(crate) const TOLD: &str = "NOT EXISTS (SELECT 1 FROM withheld
    WHERE withheld.tournament = games.tournament AND withheld.grp = games.grp
        AND withheld.seating = games.seating)";

/// The scores of a game with these fouls that were counted: see [`GameRow::counted_scores`].
#[must_use]
pub fn counted_scores<'a>(scores: &'a [i32], fouls: &[SeatFoul]) -> Option<&'a [i32]> {
    let is_counted = fouls.is_empty() || scores.iter().any(|score| *score != 0);
    (is_counted && !scores.is_empty()).then_some(scores)
}

impl GameRow {
    /// The scores that were counted. None where a foul ended the game before anything was: then
    /// each score is 0, which is no draw. A void game has none, either.
    #[must_use]
    pub fn counted_scores(&self) -> Option<&[i32]> {
        counted_scores(&self.scores, &self.fouls)
    }

    /// The seat of an entrant; none where it does not play.
    #[must_use]
    pub fn seat_of(&self, entrant: Entrant) -> Option<Seat> {
        let is_of = |place: &usize| self.lineup.get(*place) == Some(&Some(entrant));
        let seat = self.order.iter().position(is_of)?;
        u8::try_from(seat).ok().map(Seat::new)
    }

    /// Checks that the game is consistent, and that a tournament with this many
    /// entrants can have it.
    pub(crate) fn check(&self, entrants: usize) -> Result<(), StoreError> {
        let seats = self.order.len();
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        let counted = self.counters.iter().filter_map(|(who, ..)| *who);
        let stranger = (self.lineup.iter().copied().flatten())
            .chain(counted)
            .find(|entrant| entrant.index() >= entrants);
        let why = if seats == 0 || self.lineup.len() != seats || !sorted.into_iter().eq(0..seats) {
            "its order does not name every place of its lineup once".to_owned()
        } else if [self.places.len(), self.scores.len(), self.thought_us.len()] != [seats; 3] {
            format!("it does not have places, scores and times for each of its {seats} seats")
        } else if self
            .places
            .iter()
            .any(|&place| place == 0 || usize::from(place) > seats)
        {
            format!("places go from 1 to {seats}")
        } else if let Some(stranger) = stranger {
            format!("there is no entrant {stranger}")
        } else if self.fouls.iter().any(|foul| foul.seat.index() >= seats) {
            "it has a foul of a seat that does not exist".to_owned()
        } else if self.seating >= self.games_in_group {
            format!("its group has {} games", self.games_in_group)
        } else if i64::try_from(self.group).is_err() {
            "its group number is above 2^63 - 1".to_owned()
        } else if self.has_nul() {
            "its reason, its play hash or its worker contains a zero byte".to_owned()
        } else {
            return Ok(());
        };
        Err(StoreError::BadGame {
            group: self.group,
            seating: self.seating,
            why,
        })
    }

    /// PostgreSQL stores no text with a zero byte. A bot can write one into the
    /// evidence of its foul, but that is stored as JSON, which escapes it.
    fn has_nul(&self) -> bool {
        let worker = self.worker.as_deref().unwrap_or_default();
        [&self.reason, &self.play_hash, worker]
            .iter()
            .any(|text| text.contains('\0'))
    }

    /// The columns that [`read`](Self::read) reads and [`write`](Self::write) writes.
    pub(crate) const COLUMNS: &str = "grp, seating, games_in_group, matchup, lineup, seats, \
        places, scores, reason, fouls, plies, thought_us, course, play_hash, \
        finished_ms, counters, worker";

    /// Adds the values of these columns to a statement.
    pub(crate) fn write(&self, values: &mut Statement) {
        values.bind(self.group.cast_signed());
        values.bind(i64::from(self.seating));
        values.bind(i64::from(self.games_in_group));
        values.bind(i64::from(self.matchup.0));
        values.bind(lineup_text(&self.lineup));
        values.bind(list(&self.order));
        values.bind(list(&self.places));
        values.bind(list(&self.scores));
        values.bind(self.reason.as_str());
        values.bind((!self.fouls.is_empty()).then(|| json(&self.fouls)));
        values.bind(i64::from(self.plies));
        values.bind(list(&self.thought_us));
        values.bind(self.course.cast_signed());
        values.bind(self.play_hash.as_str());
        values.bind(self.finished_unix_ms);
        values.bind(counters::text(&self.counters));
        values.bind(self.worker.as_deref());
    }

    /// Reads a row with these columns.
    pub(crate) fn read(row: &AnyRow) -> Result<Self, StoreError> {
        Ok(Self {
            group: number(row, "grp")?,
            seating: number(row, "seating")?,
            games_in_group: number(row, "games_in_group")?,
            matchup: MatchId(number(row, "matchup")?),
            lineup: lineup(row.try_get("lineup")?)?,
            order: unlist(row.try_get("seats")?)?,
            places: unlist(row.try_get("places")?)?,
            scores: unlist(row.try_get("scores")?)?,
            reason: row.try_get("reason")?,
            fouls: fouls(row)?,
            plies: number(row, "plies")?,
            thought_us: unlist(row.try_get("thought_us")?)?,
            course: row.try_get::<i64, _>("course")?.cast_unsigned(),
            play_hash: row.try_get("play_hash")?,
            finished_unix_ms: row.try_get("finished_ms")?,
            counters: counters::read(row.try_get("counters")?)?,
            worker: row.try_get("worker")?,
        })
    }
}

/// Reads the column `fouls`, which is null for a game without fouls.
pub(crate) fn fouls(row: &AnyRow) -> Result<Vec<SeatFoul>, StoreError> {
    let fouls: Option<&str> = row.try_get("fouls")?;
    fouls.map_or(Ok(Vec::new()), |fouls| {
        serde_json::from_str(fouls).map_err(|_| damaged("a list of fouls", &fouls))
    })
}

/// What a game adds to the counters, as its column has it:
/// `ended:rules points:0=2,1=0;0 ask:99,102 seat:0;- queue:3`. What counts for nobody in particular
/// comes first, then, after a semicolon each, the number of an entrant, or `-` for nobody, and what
/// counts for it. Neighbours of one kind share its name, and a number of 1 is left out. This is
/// shorter than the JSON that earlier versions wrote, which is read too, and written where the name
/// of a worker has one of these signs.
mod counters {
    use std::fmt::Write as _;

    use arena_ladder::Entrant;

    use crate::{
        Counter, StoreError,
        sql::{damaged, json},
    };

    type Counted = (Option<Entrant>, Counter, i64);

    pub(super) fn text(counters: &[Counted]) -> String {
        let mut text = String::with_capacity(16 * counters.len());
        let mut kind = String::new();
        let mut name = String::new();
        let mut of = None;
        for (who, counter, count) in counters {
            name.clear();
            _ = write!(name, "{counter}");
            if name.contains([' ', ',', ';', '=', '[']) || name.is_empty() {
                return json(counters);
            }
            if *who != of {
                text.push(';');
                match who {
                    Some(entrant) => _ = write!(text, "{entrant}"),
                    None => text.push('-'),
                }
                of = *who;
                kind.clear();
            }
            let value = match name.split_once(':') {
                Some((same, value)) if !kind.is_empty() && same == kind => {
                    text.push(',');
                    value
                }
                _ => {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    name.split_once(':')
                        .map_or("", |(new, _)| new)
                        .clone_into(&mut kind);
                    &name
                }
            };
            text.push_str(value);
            if *count != 1 {
                _ = write!(text, "={count}");
            }
        }
        text
    }

    pub(super) fn read(text: &str) -> Result<Vec<Counted>, StoreError> {
        let read = match text.starts_with('[') {
            true => serde_json::from_str(text).ok(),
            false => read_short(text),
        };
        read.ok_or_else(|| damaged("a list of counters", &text))
    }

    fn read_short(text: &str) -> Option<Vec<Counted>> {
        let mut counters = Vec::new();
        for (at, of) in text.split(';').enumerate() {
            let (who, of) = match at {
                0 => (None, of),
                _ => {
                    let (who, of) = of.split_once(' ')?;
                    match who {
                        "-" => (None, of),
                        entrant => (Some(Entrant::new(entrant.parse().ok()?)), of),
                    }
                }
            };
            for item in of.split(' ').filter(|item| !item.is_empty()) {
                let mut values = item.split(',');
                let first = values.next()?;
                let kind = first.split_once(':').map(|(kind, _)| kind);
                counters.push(counted(who, None, first)?);
                for value in values {
                    counters.push(counted(who, Some(kind?), value)?);
                }
            }
        }
        Some(counters)
    }

    fn counted(who: Option<Entrant>, kind: Option<&str>, item: &str) -> Option<Counted> {
        let (name, count) = match item.split_once('=') {
            Some((name, count)) => (name, count.parse().ok()?),
            None => (item, 1),
        };
        let counter = match kind {
            Some(kind) => format!("{kind}:{name}").parse(),
            None => name.parse(),
        };
        Some((who, counter.ok()?, count))
    }

    #[cfg(test)]
    mod tests {
        use referee_core::Seat;

        use super::*;
        use crate::GameEnding;

        fn some() -> Vec<Counted> {
            let [a, b] = [Some(Entrant::new(0)), Some(Entrant::new(31))];
            let seat = Seat::new;
            vec![
                (None, Counter::Ended(GameEnding::Rules), 1),
                (None, Counter::HalfPoints(seat(0)), 2),
                (None, Counter::HalfPoints(seat(1)), 0),
                (a, Counter::Thinking(99), 1),
                (a, Counter::Thinking(102), 17),
                (a, Counter::Excused, 1),
                (a, Counter::Excused, -3),
                (b, Counter::Thinking(99), 1),
                (b, Counter::Other("new".to_owned()), 5),
                (b, Counter::Other("new:a:b".to_owned()), 1),
                (b, Counter::Other("new:c".to_owned()), 1),
                (b, Counter::WorkerGames("a-1".to_owned()), 1),
                (None, Counter::QueueWait(3), 1),
            ]
        }

        #[test]
        fn what_a_game_counts_is_a_short_text() {
            assert_eq!(
                text(&some()),
                "ended:rules points:0=2,1=0;0 ask:99,102=17 excused excused=-3\
                 ;31 ask:99 new=5 new:a:b,c worker-games:a-1;- queue:3"
            );
            for few in [&some()[..], &some()[3..], &some()[5..7], &[]] {
                assert_eq!(read(&text(few)).unwrap(), few);
                assert_eq!(read(&json(few)).unwrap(), few);
            }
        }

        #[test]
        fn what_has_no_short_text_is_json() {
            for name in ["a b", "a,b", "a;b", "a=b", "[a]", ""] {
                for counter in [
                    Counter::WorkerLate(name.to_owned()),
                    Counter::Other(name.to_owned()),
                ] {
                    let counters = vec![(None, counter, 1)];
                    assert_eq!(read(&text(&counters)).unwrap(), counters, "{name}");
                }
            }
        }

        #[test]
        fn what_is_no_list_of_counters_is_refused() {
            for wrong in [
                "[",
                ";",
                ";0",
                ";x ask:1",
                "ask:x",
                "ask:1=",
                "ask:1=x",
                "new,1",
                "ask:1,x",
                "ask:1,",
                ";0;1 ask:1",
            ] {
                assert!(read(wrong).is_err(), "{wrong}");
            }
        }
    }
}

/// 64 bits as 16 hexadecimal digits.
mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bits: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{bits:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        match u64::from_str_radix(&text, 16) {
            Ok(bits) if text.len() == 16 => Ok(bits),
            _ => Err(serde::de::Error::custom("expected 16 hexadecimal digits")),
        }
    }
}
