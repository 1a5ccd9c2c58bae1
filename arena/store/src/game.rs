//! One game as it is stored, and what it does to its group.

use arena_ladder::{Entrant, GroupScore, Lineup, MatchId};
use referee_core::SeatFoul;
use sqlx::{Row as _, any::AnyRow};

use crate::{
    ChunkKey, StoreError,
    sql::{damaged, lineup, number, unlist},
};

/// A game that was played, with all that the store keeps of it. Lists are by
/// seat where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    /// The group that it belongs to.
    pub group: u64,
    /// Which of the group's games it is, from 0.
    pub seating: u32,
    /// How many games the group has.
    pub games_in_group: u32,
    /// The group's match.
    pub matchup: MatchId,
    /// The piece of work that it was played in.
    pub chunk: ChunkKey,
    /// Which attempt at that piece of work it comes from; 0 where none was
    /// leased.
    pub attempt: u32,
    /// Who plays the group.
    pub lineup: Lineup,
    /// Who sat there, as a place in the lineup.
    pub order: Vec<usize>,
    /// Places from 1; those who share one have the same.
    pub places: Vec<u8>,
    /// In the game's own unit.
    pub scores: Vec<i32>,
    /// What ended it, in words.
    pub reason: String,
    /// What was done wrong.
    pub fouls: Vec<SeatFoul>,
    /// How many moves were made.
    pub plies: u32,
    /// What each thought in all, in microseconds.
    pub thought_us: Vec<u64>,
    /// The same for games that went the same way.
    pub course: u64,
    /// The play hash of the record.
    pub play_hash: String,
    /// How often it was begun and counted for nothing before.
    pub voided: u32,
    /// When, in milliseconds since 1970.
    pub finished_unix_ms: i64,
    /// What it adds to which counter.
    pub counters: Vec<(Option<Entrant>, String, i64)>,
    /// The record, as [`pack`](crate::pack) gives it.
    pub record: Vec<u8>,
}

/// What became of a game that was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filed {
    /// It is stored, and counts.
    Accepted,
    /// It was there already, and nothing has changed.
    Duplicate,
    /// It is not taken: its piece of work has since been given to another, or
    /// the tournament is over.
    Stale,
}

/// A game without its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRow {
    /// Its group.
    pub group: u64,
    /// Which of the group's games it is.
    pub seating: u32,
    /// How many games the group has.
    pub games_in_group: u32,
    /// The group's match.
    pub matchup: MatchId,
    /// Who plays the group.
    pub lineup: Lineup,
    /// For each seat the place in the lineup.
    pub order: Vec<usize>,
    /// By seat, from 1.
    pub places: Vec<u8>,
    /// By seat, in the game's own unit.
    pub scores: Vec<i32>,
    /// What ended it, in words.
    pub reason: String,
    /// What was done wrong.
    pub fouls: Vec<SeatFoul>,
    /// How many moves were made.
    pub plies: u32,
    /// By seat, in microseconds.
    pub thought_us: Vec<u64>,
    /// The same for games that went the same way.
    pub course: u64,
    /// The play hash of the record.
    pub play_hash: String,
    /// How often it was begun and counted for nothing before.
    pub voided: u32,
    /// When, in milliseconds since 1970.
    pub finished_unix_ms: i64,
    /// What it adds to which counter.
    pub counters: Vec<(Option<Entrant>, String, i64)>,
}

impl FinishedGame {
    /// Looks whether the game is one of a tournament with so many entrants, and
    /// agrees with itself.
    pub(crate) fn check(&self, entrants: usize) -> Result<(), StoreError> {
        let seats = self.order.len();
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        let counted = self.counters.iter().filter_map(|(who, ..)| *who);
        let stranger = (self.lineup.iter().copied().flatten())
            .chain(counted)
            .find(|entrant| entrant.index() >= entrants);
        let why = if seats == 0 || self.lineup.len() != seats || !sorted.into_iter().eq(0..seats) {
            "its seats are not those of its lineup".to_owned()
        } else if [self.places.len(), self.scores.len(), self.thought_us.len()] != [seats; 3] {
            format!("it does not say for each of its {seats} seats how it went")
        } else if self
            .places
            .iter()
            .any(|&place| place == 0 || usize::from(place) > seats)
        {
            format!("places go from 1 to {seats}")
        } else if let Some(stranger) = stranger {
            format!("there is no entrant {stranger}")
        } else if self.fouls.iter().any(|foul| foul.seat.index() >= seats) {
            "it has a foul of a seat that it does not have".to_owned()
        } else if self.seating >= self.games_in_group {
            format!("its group has {} games", self.games_in_group)
        } else if i64::try_from(self.group).is_err() {
            "the number of its group is too large".to_owned()
        } else if self.has_nul() {
            "it has a text with a zero byte".to_owned()
        } else {
            return Ok(());
        };
        Err(StoreError::BadGame {
            group: self.group,
            seating: self.seating,
            why,
        })
    }

    /// PostgreSQL keeps no text with a zero byte, and a bot can write one into
    /// the evidence of its foul: there JSON escapes it.
    fn has_nul(&self) -> bool {
        self.reason.contains('\0') || self.play_hash.contains('\0')
    }
}

impl GameRow {
    /// The columns that [`read`](Self::read) looks at.
    pub(crate) const COLUMNS: &str = "grp, seating, games_in_group, matchup, lineup, seats, \
        places, scores, reason, fouls, plies, thought_us, course, play_hash, voided, \
        finished_ms, counters";

    pub(crate) fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let fouls: Option<&str> = row.try_get("fouls")?;
        let counters: &str = row.try_get("counters")?;
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
            fouls: fouls.map_or(Ok(Vec::new()), |fouls| {
                serde_json::from_str(fouls).map_err(|_| damaged("a list of fouls", &fouls))
            })?,
            plies: number(row, "plies")?,
            thought_us: unlist(row.try_get("thought_us")?)?,
            course: row.try_get::<i64, _>("course")?.cast_unsigned(),
            play_hash: row.try_get("play_hash")?,
            voided: number(row, "voided")?,
            finished_unix_ms: row.try_get("finished_ms")?,
            counters: serde_json::from_str(counters)
                .map_err(|_| damaged("a list of counters", &counters))?,
        })
    }
}

/// What a group's score is made from: one of its games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) games_in_group: u32,
    pub(crate) matchup: MatchId,
    pub(crate) lineup: Lineup,
    pub(crate) order: Vec<usize>,
    pub(crate) places: Vec<u8>,
    pub(crate) scores: Vec<i32>,
    pub(crate) fouls: Vec<SeatFoul>,
}

impl Played {
    pub(crate) const COLUMNS: &str =
        "grp, seating, games_in_group, matchup, lineup, seats, places, scores, fouls";

    pub(crate) fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let fouls: Option<&str> = row.try_get("fouls")?;
        Ok(Self {
            games_in_group: number(row, "games_in_group")?,
            matchup: MatchId(number(row, "matchup")?),
            lineup: lineup(row.try_get("lineup")?)?,
            order: unlist(row.try_get("seats")?)?,
            places: unlist(row.try_get("places")?)?,
            scores: unlist(row.try_get("scores")?)?,
            fouls: fouls.map_or(Ok(Vec::new()), |fouls| {
                serde_json::from_str(fouls).map_err(|_| damaged("a list of fouls", &fouls))
            })?,
        })
    }

    /// Each one's place, in order of the lineup.
    pub(crate) fn places_by_lineup(&self) -> Vec<u8> {
        let mut by_lineup = vec![0; self.places.len()];
        for (&who, &place) in self.order.iter().zip(&self.places) {
            by_lineup[who] = place;
        }
        by_lineup
    }
}

/// The score of a group, given all of its games in order of their seatings.
pub(crate) fn score(number: u64, games: &[Played]) -> GroupScore {
    let seats = games.first().map_or(0, |game| game.lineup.len());
    let mut score = GroupScore::new(number, seats);
    for game in games {
        score.add_game(
            &game.lineup,
            &game.order,
            &game.places,
            &game.scores,
            &game.fouls,
        );
    }
    score
}
