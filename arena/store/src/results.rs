//! Reading results: groups, counted groups, counters, games, records.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use arena_ladder::{Entrant, Faults, GroupCount, GroupScore, HalfPoints, Lineup, MatchId};
use referee_core::{Foul, Seat};
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, Row as _, any::AnyRow};

use crate::{
    Counter, GameRow, Store, StoreError, TournamentId,
    game::TOLD,
    pack,
    session::Transaction,
    sql::{Statement, damaged, lineup, number, signed, unlist},
};

/// A complete group and its score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoredGroup {
    /// Its match.
    #[serde(rename = "match")]
    pub matchup: MatchId,
    /// The players of the group.
    pub lineup: Lineup,
    /// Its score, with its number.
    pub score: GroupScore,
}

impl ScoredGroup {
    /// The fouls of each entrant in each of its places, beside the number of games
    /// ([`GroupScore::games`]).
    pub fn faults(&self) -> impl Iterator<Item = (Entrant, &Faults)> {
        let places = self.lineup.iter().zip(&self.score.faults);
        places.filter_map(|(who, faults)| Some(((*who)?, faults)))
    }
}

/// The first foul of an entrant, in order of group and seating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstFoul {
    /// The entrant.
    pub entrant: Entrant,
    /// The group of the game.
    pub group: u64,
    /// Which of the group's games it was.
    pub seating: u32,
    /// The foul, with its evidence.
    pub foul: Foul,
}

/// Number of games that differ from each other. A game that a bot did not start has no move, so
/// such games are all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctGames {
    /// Number of different games.
    pub of_all: u64,
    /// Number of games that have a move.
    pub with_moves: u64,
    /// Number of different games among those.
    pub of_those_with_moves: u64,
}

/// Selects games; they come in order of group and seating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Only games after this group and seating, which is the last game of the page
    /// before.
    pub after: Option<(u64, u32)>,
    /// Only games of this match.
    pub matchup: Option<MatchId>,
    /// Only games of this entrant.
    pub entrant: Option<Entrant>,
    /// Only games with a foul.
    pub only_fouls: bool,
}

impl Store {
    /// The groups with some but not all of their games, with the seatings that are
    /// stored. Groups that are neither here nor in [`scores`](Self::scores) have no
    /// game yet.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn incomplete_groups(
        &self,
        id: TournamentId,
    ) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
        let rows = sqlx::query(
            "SELECT grp, seating FROM games WHERE tournament = $1 AND NOT EXISTS
                 (SELECT 1 FROM groups WHERE groups.tournament = games.tournament
                     AND groups.number = games.grp)
             ORDER BY grp, seating",
        )
        .bind(id.0)
        .fetch_all(&mut self.reader().await?)
        .await?;
        let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for row in rows {
            let group = number(&row, "grp")?;
            groups
                .entry(group)
                .or_default()
                .push(number(&row, "seating")?);
        }
        Ok(groups)
    }

    /// Up to `limit` complete groups in order of their numbers, from the first
    /// one above `after`.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn scores(
        &self,
        id: TournamentId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ScoredGroup>, StoreError> {
        let rows = sqlx::query(
            "SELECT number, matchup, lineup, games, points, margins, starts, fouls
             FROM groups WHERE tournament = $1 AND number > $2 ORDER BY number LIMIT $3",
        )
        .bind(id.0)
        .bind(after.map_or(Ok(-1), signed)?)
        .bind(i64::from(limit))
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter().map(read_group).collect()
    }

    /// Counts complete groups with equal lineup, places and margins, except those
    /// whose numbers lie in `without`. In order of lineup, places and margins.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn group_counts(
        &self,
        id: TournamentId,
        without: &[Range<u64>],
    ) -> Result<Vec<GroupCount>, StoreError> {
        let mut moment = self.snapshot().await?;
        let mut counts = count_groups(&mut moment, id, &[]).await?;
        // The number of values in a statement is limited.
        for without in merged(without).chunks(1000) {
            for (key, less) in count_groups(&mut moment, id, without).await? {
                if let Some(count) = counts.get_mut(&key) {
                    *count -= less;
                }
            }
        }
        read_counts(counts)
    }

    /// The same counts of the groups alone whose numbers lie in `within`.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn group_counts_within(
        &self,
        id: TournamentId,
        within: &[Range<u64>],
    ) -> Result<Vec<GroupCount>, StoreError> {
        let mut moment = self.snapshot().await?;
        let mut counts = HashMap::new();
        // The number of values in a statement is limited.
        for within in merged(within).chunks(1000) {
            for (key, more) in count_groups(&mut moment, id, within).await? {
                *counts.entry(key).or_default() += more;
            }
        }
        read_counts(counts)
    }

    /// The largest number of a complete group.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn last_group(&self, id: TournamentId) -> Result<Option<u64>, StoreError> {
        let row = sqlx::query(
            "SELECT number FROM groups WHERE tournament = $1 ORDER BY number DESC LIMIT 1",
        )
        .bind(id.0)
        .fetch_optional(&mut self.reader().await?)
        .await?;
        row.map(|row| number(&row, "number")).transpose()
    }

    /// The sums of the counters of all games that are not withheld, in order of entrant and
    /// counter; None is the tournament.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn counters(
        &self,
        id: TournamentId,
    ) -> Result<Vec<(Option<Entrant>, Counter, i64)>, StoreError> {
        let rows = sqlx::query("SELECT entrant, name, value FROM counters WHERE tournament = $1")
            .bind(id.0)
            .fetch_all(&mut self.reader().await?)
            .await?;
        let mut counters = rows
            .iter()
            .map(|row| {
                let who: i64 = row.try_get("entrant")?;
                let name: &str = row.try_get("name")?;
                Ok((
                    u32::try_from(who).ok().map(Entrant::new),
                    name.parse().map_err(|_| damaged("a counter", &name))?,
                    row.try_get("value")?,
                ))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        // Not by the database: SQLite and PostgreSQL sort text by different rules.
        counters.sort();
        Ok(counters)
    }

    /// Number of different games, judged by [`GameRow::course`], apart from those that are
    /// withheld.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn distinct_games(&self, id: TournamentId) -> Result<DistinctGames, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!(
            "SELECT COUNT(DISTINCT course) AS courses,
                 COUNT(CASE WHEN plies > 0 THEN 1 END) AS moved,
                 COUNT(DISTINCT CASE WHEN plies > 0 THEN course END) AS moved_courses
             FROM games WHERE tournament = $1 AND {TOLD}",
        )))
        .bind(id.0)
        .fetch_one(&mut self.reader().await?)
        .await?;
        Ok(DistinctGames {
            of_all: number(&row, "courses")?,
            with_moves: number(&row, "moved")?,
            of_those_with_moves: number(&row, "moved_courses")?,
        })
    }

    /// The first foul of each entrant that has one in a game that is not withheld.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn first_fouls(&self, id: TournamentId) -> Result<Vec<FirstFoul>, StoreError> {
        let rows = sqlx::query(
            "SELECT entrant, grp, seating, foul FROM first_fouls
             WHERE tournament = $1 ORDER BY entrant",
        )
        .bind(id.0)
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter()
            .map(|row| {
                let foul: &str = row.try_get("foul")?;
                Ok(FirstFoul {
                    entrant: Entrant::new(number(row, "entrant")?),
                    group: number(row, "grp")?,
                    seating: number(row, "seating")?,
                    foul: serde_json::from_str(foul).map_err(|_| damaged("a foul", &foul))?,
                })
            })
            .collect()
    }

    /// Up to `limit` games, without their records. Those that are
    /// [withheld](crate::FinishedGame::withhold) are left out.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn games(
        &self,
        id: TournamentId,
        filter: &GameFilter,
        limit: u32,
    ) -> Result<Vec<GameRow>, StoreError> {
        let mut select = Statement::new("SELECT ");
        select.text(GameRow::COLUMNS);
        select.text(" FROM games WHERE tournament = ").bind(id.0);
        select.text(" AND ").text(TOLD);
        if let Some((group, seating)) = filter.after {
            select.text(" AND (grp, seating) > (");
            select.bind(signed(group)?);
            select.bind(i64::from(seating)).text(")");
        }
        if let Some(matchup) = filter.matchup {
            select.text(" AND matchup = ").bind(i64::from(matchup.0));
        }
        if let Some(entrant) = filter.entrant {
            let within = format!("%,{entrant},%");
            select.text(" AND ',' || lineup || ',' LIKE ").bind(within);
        }
        if filter.only_fouls {
            select.text(" AND fouls IS NOT NULL");
        }
        select.text(" ORDER BY grp, seating LIMIT ");
        select.bind(i64::from(limit));
        let mut reader = self.reader().await?;
        let rows = select.query(&reader)?.fetch_all(&mut reader).await?;
        rows.iter().map(GameRow::read).collect()
    }

    /// The record of a game, packed; None of one that is withheld. It contains the deal's
    /// seed. As long as its group is one of the
    /// [`incomplete_groups`](Self::incomplete_groups), the deal will be played again, and
    /// nobody may see the record.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn packed_record(
        &self,
        id: TournamentId,
        group: u64,
        seating: u32,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let row = sqlx::query(
            "SELECT record FROM records WHERE tournament = $1 AND grp = $2 AND seating = $3
                 AND NOT EXISTS (SELECT 1 FROM withheld
                     WHERE tournament = $1 AND grp = $2 AND seating = $3)",
        )
        .bind(id.0)
        .bind(signed(group)?)
        .bind(i64::from(seating))
        .fetch_optional(&mut self.reader().await?)
        .await?;
        Ok(row.map(|row| row.try_get("record")).transpose()?)
    }

    /// The record of a game as JSON lines; see [`packed_record`](Self::packed_record).
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn record(
        &self,
        id: TournamentId,
        group: u64,
        seating: u32,
    ) -> Result<Option<String>, StoreError> {
        let packed = self.packed_record(id, group, seating).await?;
        packed
            .map(|packed| unpacked(&packed, group, seating))
            .transpose()
    }
}

impl Store {
    /// What the bot in a seat printed in a game; none where that was not kept, or the game is withheld.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn game_log(
        &self,
        id: TournamentId,
        group: u64,
        seating: u32,
        seat: Seat,
    ) -> Result<Option<String>, StoreError> {
        let row = sqlx::query(
            "SELECT log FROM game_logs WHERE tournament = $1 AND grp = $2 AND seating = $3
                 AND seat = $4 AND NOT EXISTS (SELECT 1 FROM withheld
                     WHERE tournament = $1 AND grp = $2 AND seating = $3)",
        )
        .bind(id.0)
        .bind(signed(group)?)
        .bind(i64::from(seating))
        .bind(seat.index() as i64)
        .fetch_optional(&mut self.reader().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let packed: &[u8] = row.try_get("log")?;
        let log = pack::unpack(packed).map_err(|error| {
            StoreError::Damaged(format!("a log of game {group}.{seating}: {error}"))
        })?;
        Ok(Some(log))
    }
}

pub(crate) fn unpacked(packed: &[u8], group: u64, seating: u32) -> Result<String, StoreError> {
    pack::unpack(packed).map_err(|error| {
        StoreError::Damaged(format!("the record of game {group}.{seating}: {error}"))
    })
}

/// Counts groups with equal lineup, places and margins: all groups, or those whose
/// numbers lie in one of these ranges, if there are any.
/// What was counted, in order of lineup, places and margins.
fn read_counts(counts: HashMap<[String; 3], i64>) -> Result<Vec<GroupCount>, StoreError> {
    let mut group_counts = counts
        .into_iter()
        .filter(|(_, groups)| *groups > 0)
        .map(|([who, places, margins], groups)| {
            Ok(GroupCount {
                lineup: lineup(&who)?,
                places: places.split(';').map(unlist).collect::<Result<_, _>>()?,
                margins: unlist(&margins)?,
                groups: groups.cast_unsigned(),
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    group_counts.sort_by(|a, b| {
        let key = |tally: &GroupCount| (tally.lineup.clone(), tally.places.clone());
        key(a).cmp(&key(b)).then_with(|| a.margins.cmp(&b.margins))
    });
    Ok(group_counts)
}

async fn count_groups(
    moment: &mut Transaction,
    id: TournamentId,
    within: &[Range<u64>],
) -> Result<HashMap<[String; 3], i64>, StoreError> {
    let mut select = Statement::new("SELECT lineup, places, margins, COUNT(*) AS count FROM ");
    if within.is_empty() {
        select.text("groups WHERE tournament = ").bind(id.0);
    } else {
        // The ranges come first, so that the database looks each of them up in the key.
        select.text("(VALUES ").rows(within, |row, range| {
            row.bind(range.start.cast_signed());
            row.bind((range.end - 1).cast_signed());
        });
        select.text(") AS span CROSS JOIN groups WHERE tournament = ");
        select.bind(id.0);
        select.text(" AND number BETWEEN span.column1 AND span.column2");
    }
    select.text(" GROUP BY lineup, places, margins");
    let rows = select.query(moment)?.fetch_all(&mut **moment).await?;
    rows.iter()
        .map(|row| {
            let key = [
                row.try_get("lineup")?,
                row.try_get("places")?,
                row.try_get("margins")?,
            ];
            Ok((key, row.try_get("count")?))
        })
        .collect()
}

/// The same numbers in ranges that are not empty and do not overlap, below the
/// largest number that the database can hold.
fn merged(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let most = i64::MAX.cast_unsigned();
    let mut ranges: Vec<Range<u64>> = ranges
        .iter()
        .map(|range| range.start..range.end.min(most))
        .filter(|range| !range.is_empty())
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn read_group(row: &AnyRow) -> Result<ScoredGroup, StoreError> {
    let points: Vec<u32> = unlist(row.try_get("points")?)?;
    let starts: Vec<u32> = unlist(row.try_get("starts")?)?;
    let fouls: Vec<u32> = unlist(row.try_get("fouls")?)?;
    Ok(ScoredGroup {
        matchup: MatchId(number(row, "matchup")?),
        lineup: lineup(row.try_get("lineup")?)?,
        score: GroupScore {
            number: number(row, "number")?,
            games: number(row, "games")?,
            points: points.into_iter().map(HalfPoints).collect(),
            margins: unlist(row.try_get("margins")?)?,
            faults: (starts.into_iter().zip(fouls))
                .map(|(starts, fouls)| Faults { starts, fouls })
                .collect(),
        },
    })
}
