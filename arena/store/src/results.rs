//! Reading results: groups, counted groups, counters, games, records.

use std::{collections::BTreeMap, ops::Range};

use arena_ladder::{
    Entrant, Faults, GroupCount, GroupCounts, GroupScore, HalfPoints, Lineup, MatchId,
};
use referee_core::{Foul, Seat};
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, Row as _, any::AnyRow};

use crate::{
    Counter, GameRow, Store, StoreError, TournamentId,
    game::TOLD,
    pack,
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

/// The place of a group in the order in which groups became complete. Groups that were completed by
/// one transaction are in order of their numbers, and none comes later before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupMark {
    /// The transaction; -1 where it has no number yet.
    pub change: i64,
    /// The number of the group.
    pub group: u64,
}

/// A complete group with everything that is counted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteGroup {
    /// Its place among those that are complete.
    pub mark: GroupMark,
    /// Its score.
    pub scored: ScoredGroup,
    /// For each of its games, by seating, the places in order of the lineup.
    pub places: Vec<Vec<u8>>,
}

impl CompleteGroup {
    /// The group as one count.
    #[must_use]
    pub fn count(&self) -> GroupCount {
        let ScoredGroup { lineup, score, .. } = &self.scored;
        GroupCount::new(lineup.clone(), self.places.clone(), &score.margins, 1)
    }
}

/// The course of a game: games with the same one went the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// As [`GameRow::course`].
    pub course: u64,
    /// True if the game has a move. A game that a bot did not start has none, so such games are all the same.
    pub has_moves: bool,
}

/// A game of a group that lacks others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunGame {
    /// Its group.
    pub group: u64,
    /// Which of the group's games it is.
    pub seating: u32,
    /// Its course; none if it is [withheld](crate::FinishedGame::withhold).
    pub course: Option<Course>,
}

impl BegunGame {
    /// The seatings of each group.
    #[must_use]
    pub fn by_group(games: &[Self]) -> BTreeMap<u64, Vec<u32>> {
        let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for game in games {
            groups.entry(game.group).or_default().push(game.seating);
        }
        groups
    }
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
        let games = self.begun_games(id, &[EVERY_GROUP]).await?;
        Ok(BegunGame::by_group(&games))
    }

    /// The games of groups that lack others and whose numbers lie in `within`, in order of group and seating.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn begun_games(
        &self,
        id: TournamentId,
        within: &[Range<u64>],
    ) -> Result<Vec<BegunGame>, StoreError> {
        let mut moment = self.snapshot().await?;
        let mut games = Vec::new();
        for within in merged(within).chunks(RANGES_AT_ONCE) {
            let mut select = Statement::new("SELECT grp, seating, course, plies, CASE WHEN ");
            select.text(TOLD).text(" THEN 1 ELSE 0 END AS told FROM ");
            in_ranges(&mut select, within, id, "games", "grp");
            select.text(
                " AND NOT EXISTS (SELECT 1 FROM groups
                     WHERE groups.tournament = games.tournament AND groups.number = games.grp)
                 ORDER BY grp, seating",
            );
            for row in select.query(&moment)?.fetch_all(&mut *moment).await? {
                games.push(BegunGame {
                    group: number(&row, "grp")?,
                    seating: number(&row, "seating")?,
                    course: match number::<u64>(&row, "told")? {
                        0 => None,
                        _ => Some(course(&row)?),
                    },
                });
            }
        }
        Ok(games)
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

    /// Up to `limit` complete groups in the order in which they became so, from the first one behind `after`.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn complete_groups(
        &self,
        id: TournamentId,
        after: Option<GroupMark>,
        limit: u32,
    ) -> Result<Vec<CompleteGroup>, StoreError> {
        let [change, group] = values(after)?;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT {COMPLETE} FROM groups WHERE tournament = $1 AND (change, number) > ($2, $3)
             ORDER BY change, number LIMIT $4",
        )))
        .bind(id.0)
        .bind(change)
        .bind(group)
        .bind(i64::from(limit))
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter().map(read_complete).collect()
    }

    /// The complete groups that came out the same, counted, in order of lineup and places.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn group_counts(&self, id: TournamentId) -> Result<Vec<GroupCount>, StoreError> {
        let mut counts = GroupCounts::default();
        let mut after = None;
        loop {
            let page = self.complete_groups(id, after, 10_000).await?;
            let Some(last) = page.last() else {
                return Ok(counts.iter().collect());
            };
            after = Some(last.mark);
            counts.extend(page.iter().map(CompleteGroup::count));
        }
    }

    /// The courses of the games of all groups that became complete after one and up to another, in any order.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn courses(
        &self,
        id: TournamentId,
        after: Option<GroupMark>,
        to: GroupMark,
    ) -> Result<Vec<Course>, StoreError> {
        let [change, group] = values(after)?;
        let [to_change, to_group] = values(Some(to))?;
        // As two texts: to hand over a row for each game takes five times as long as to find it.
        let row = sqlx::query(
            "SELECT string_agg(CASE WHEN plies > 0 THEN CAST(course AS TEXT) END, ',') AS moved,
                 string_agg(CASE WHEN plies = 0 THEN CAST(course AS TEXT) END, ',') AS unmoved
             FROM groups CROSS JOIN games
             WHERE groups.tournament = $1 AND (change, number) > ($2, $3)
                 AND (change, number) <= ($4, $5)
                 AND games.tournament = groups.tournament AND games.grp = groups.number",
        )
        .bind(id.0)
        .bind(change)
        .bind(group)
        .bind(to_change)
        .bind(to_group)
        .fetch_one(&mut self.reader().await?)
        .await?;
        let mut courses = Vec::new();
        for (column, has_moves) in [("moved", true), ("unmoved", false)] {
            let of_column: Option<&str> = row.try_get(column)?;
            let of_column: Vec<i64> = unlist(of_column.unwrap_or(""))?;
            courses.extend(of_column.into_iter().map(|course| Course {
                course: course.cast_unsigned(),
                has_moves,
            }));
        }
        Ok(courses)
    }

    /// The complete groups whose numbers lie in `within`, in order of their numbers.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn complete_groups_within(
        &self,
        id: TournamentId,
        within: &[Range<u64>],
    ) -> Result<Vec<CompleteGroup>, StoreError> {
        let mut moment = self.snapshot().await?;
        let mut groups = Vec::new();
        for within in merged(within).chunks(RANGES_AT_ONCE) {
            let mut select = Statement::new("SELECT ");
            select.text(COMPLETE).text(" FROM ");
            in_ranges(&mut select, within, id, "groups", "number");
            select.text(" ORDER BY number");
            for row in select.query(&moment)?.fetch_all(&mut *moment).await? {
                groups.push(read_complete(&row)?);
            }
        }
        Ok(groups)
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

/// The columns of [`read_complete`].
const COMPLETE: &str =
    "change, number, matchup, lineup, games, points, margins, starts, fouls, places";

/// Every number that a group can have.
pub const EVERY_GROUP: Range<u64> = 0..u64::MAX;

/// Number of ranges in a statement: the number of its values is limited.
const RANGES_AT_ONCE: usize = 1000;

/// Appends the rows of a tournament in a table whose `column` lies in one of these ranges, with the condition.
fn in_ranges(
    select: &mut Statement,
    within: &[Range<u64>],
    id: TournamentId,
    table: &str,
    column: &str,
) {
    // The ranges come first, so that the database looks each of them up in the key.
    select.text("(VALUES ").rows(within, |row, range| {
        row.bind(range.start.cast_signed());
        row.bind((range.end - 1).cast_signed());
    });
    select.text(") AS span CROSS JOIN ").text(table);
    select.text(" WHERE tournament = ").bind(id.0);
    select.text(" AND ").text(column);
    select.text(" BETWEEN span.column1 AND span.column2");
}

/// A mark as the values of its columns; without one, below all of them.
fn values(mark: Option<GroupMark>) -> Result<[i64; 2], StoreError> {
    match mark {
        Some(mark) => Ok([mark.change, signed(mark.group)?]),
        None => Ok([-1, -1]),
    }
}

fn course(row: &AnyRow) -> Result<Course, StoreError> {
    let course: i64 = row.try_get("course")?;
    let plies: i64 = row.try_get("plies")?;
    Ok(Course {
        course: course.cast_unsigned(),
        has_moves: plies > 0,
    })
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

fn read_complete(row: &AnyRow) -> Result<CompleteGroup, StoreError> {
    let scored = read_group(row)?;
    let places: &str = row.try_get("places")?;
    Ok(CompleteGroup {
        mark: GroupMark {
            change: row.try_get("change")?,
            group: scored.score.number,
        },
        places: places.split(';').map(unlist).collect::<Result<_, _>>()?,
        scored,
    })
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
