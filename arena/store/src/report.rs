//! Taking results: all that a game changes, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::SeatFoul;
use sqlx::{Any, Transaction};

use crate::{
    ChunkKey, Filed, FinishedGame, State, Store, StoreError, TournamentId,
    game::{Played, score},
    lease,
    sql::{Statement, lineup_text, list, number},
};

/// How many games go into one statement: SQLite takes 32,766 values.
const AT_ONCE: usize = 500;

type Change = Transaction<'static, Any>;
type Key = (u64, u32);

impl Store {
    /// Stores games: result, record, counters, and the score of each group that
    /// they complete, in one transaction. All of them are stored or none. What
    /// became of each is said in the order of the games.
    ///
    /// Reporting a game again changes nothing, so after an error, or when no
    /// answer came, the same games may be reported again.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadGame`] where a game contradicts itself or the games of its
    /// group; the database fails, or has no such tournament.
    pub async fn report(
        &self,
        id: TournamentId,
        games: Vec<FinishedGame>,
    ) -> Result<Vec<Filed>, StoreError> {
        self.report_all(id, &games).await
    }

    /// The same; the caller keeps the games, and may report them again.
    pub(crate) async fn report_all(
        &self,
        id: TournamentId,
        games: &[FinishedGame],
    ) -> Result<Vec<Filed>, StoreError> {
        let mut change = self.writing().await?;
        let (state, entrants) = self.lock_tournament(&mut change, id).await?;
        for game in games {
            game.check(entrants)?;
        }
        let mut filed = Vec::with_capacity(games.len());
        for games in games.chunks(AT_ONCE) {
            if state == State::Over {
                filed.extend(games.iter().map(|_| Filed::Stale));
            } else {
                filed.extend(write(&mut change, id, games).await?);
            }
        }
        change.commit().await?;
        Ok(filed)
    }
}

/// Stores games that have been checked.
pub(crate) async fn write(
    change: &mut Change,
    id: TournamentId,
    games: &[FinishedGame],
) -> Result<Vec<Filed>, StoreError> {
    let stale = stale(change, id, games).await?;
    // The first of those that are the same game.
    let mut candidates: BTreeMap<Key, &FinishedGame> = BTreeMap::new();
    for game in games.iter().filter(|game| !is_stale(&stale, game)) {
        candidates.entry(key(game)).or_insert(game);
    }
    let taken = insert_games(change, id, &candidates).await?;
    let accepted: Vec<&FinishedGame> = candidates
        .into_iter()
        .filter(|(key, _)| taken.contains(key))
        .map(|(_, game)| game)
        .collect();
    if !accepted.is_empty() {
        insert_records(change, id, &accepted).await?;
        add_to_counters(change, id, &accepted).await?;
        keep_first_fouls(change, id, &accepted).await?;
        complete_groups(change, id, &accepted).await?;
    }
    // Each key is accepted once: the first of its games.
    let mut left = taken;
    Ok(games
        .iter()
        .map(|game| {
            if is_stale(&stale, game) {
                Filed::Stale
            } else if left.remove(&key(game)) {
                Filed::Accepted
            } else {
                Filed::Duplicate
            }
        })
        .collect())
}

fn key(game: &FinishedGame) -> Key {
    (game.group, game.seating)
}

fn is_stale(newest: &BTreeMap<ChunkKey, u32>, game: &FinishedGame) -> bool {
    newest
        .get(&game.chunk)
        .is_some_and(|&newest| game.attempt < newest)
}

/// The newest attempt at each piece of work.
async fn stale(
    change: &mut Change,
    id: TournamentId,
    games: &[FinishedGame],
) -> Result<BTreeMap<ChunkKey, u32>, StoreError> {
    let chunks: BTreeSet<ChunkKey> = games.iter().map(|game| game.chunk).collect();
    if chunks.is_empty() {
        return Ok(BTreeMap::new());
    }
    Ok(lease::newest(change, id, chunks)
        .await?
        .into_iter()
        .collect())
}

/// Which of the games were not there.
async fn insert_games(
    change: &mut Change,
    id: TournamentId,
    games: &BTreeMap<Key, &FinishedGame>,
) -> Result<BTreeSet<Key>, StoreError> {
    if games.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut insert = Statement::new(
        "INSERT INTO games (tournament, grp, seating, games_in_group, matchup, lineup, seats,
             places, scores, reason, fouls, plies, thought_us, course, play_hash, voided,
             finished_ms, counters) VALUES ",
    );
    insert.rows(games.values(), |row, game| {
        row.bind(id.0).text(", ").bind(game.group.cast_signed());
        row.text(", ").bind(i64::from(game.seating));
        row.text(", ").bind(i64::from(game.games_in_group));
        row.text(", ").bind(i64::from(game.matchup.0));
        row.text(", ").bind(lineup_text(&game.lineup));
        row.text(", ").bind(list(&game.order));
        row.text(", ").bind(list(&game.places));
        row.text(", ").bind(list(&game.scores));
        row.text(", ").bind(game.reason.as_str());
        row.text(", ").bind(fouls_text(&game.fouls));
        row.text(", ").bind(i64::from(game.plies));
        row.text(", ").bind(list(&game.thought_us));
        row.text(", ").bind(game.course.cast_signed());
        row.text(", ").bind(game.play_hash.as_str());
        row.text(", ").bind(i64::from(game.voided));
        row.text(", ").bind(game.finished_unix_ms);
        row.text(", ").bind(json(&game.counters));
    });
    insert.text(" ON CONFLICT (tournament, grp, seating) DO NOTHING RETURNING grp, seating");
    let rows = insert.query(change)?.fetch_all(&mut **change).await?;
    rows.iter()
        .map(|row| Ok((number(row, "grp")?, number(row, "seating")?)))
        .collect()
}

async fn insert_records(
    change: &mut Change,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let mut insert =
        Statement::new("INSERT INTO records (tournament, grp, seating, record) VALUES ");
    insert.rows(games, |row, game| {
        row.bind(id.0).text(", ").bind(game.group.cast_signed());
        row.text(", ").bind(i64::from(game.seating));
        row.text(", ").bind(game.record.as_slice());
    });
    insert.query(change)?.execute(&mut **change).await?;
    Ok(())
}

async fn add_to_counters(
    change: &mut Change,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let mut sums: BTreeMap<(i64, &str), i64> = BTreeMap::new();
    for (who, name, more) in games.iter().flat_map(|game| &game.counters) {
        let who = who.map_or(-1, |entrant| entrant.index() as i64);
        let sum = sums.entry((who, name)).or_default();
        *sum = sum.saturating_add(*more);
    }
    let sums: Vec<_> = sums.into_iter().collect();
    for sums in sums.chunks(AT_ONCE) {
        let mut upsert =
            Statement::new("INSERT INTO counters (tournament, entrant, name, value) VALUES ");
        upsert.rows(sums, |row, ((who, name), sum)| {
            row.bind(id.0).text(", ").bind(*who);
            row.text(", ").bind(*name).text(", ").bind(*sum);
        });
        upsert.text(
            " ON CONFLICT (tournament, entrant, name)
              DO UPDATE SET value = counters.value + excluded.value",
        );
        upsert.query(change)?.execute(&mut **change).await?;
    }
    Ok(())
}

async fn keep_first_fouls(
    change: &mut Change,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let mut firsts: BTreeMap<usize, (Key, &SeatFoul)> = BTreeMap::new();
    for game in games {
        for foul in &game.fouls {
            // A house bot that fills a place is nobody.
            if let Some(entrant) = game.lineup[game.order[foul.seat.index()]] {
                let first = firsts.entry(entrant.index()).or_insert((key(game), foul));
                if key(game) < first.0 {
                    *first = (key(game), foul);
                }
            }
        }
    }
    if firsts.is_empty() {
        return Ok(());
    }
    let mut upsert =
        Statement::new("INSERT INTO first_fouls (tournament, entrant, grp, seating, foul) VALUES ");
    upsert.rows(firsts, |row, (entrant, ((group, seating), foul))| {
        row.bind(id.0).text(", ").bind(entrant as i64);
        row.text(", ").bind(group.cast_signed());
        row.text(", ").bind(i64::from(seating));
        row.text(", ").bind(json(&foul.foul));
    });
    upsert.text(
        " ON CONFLICT (tournament, entrant) DO UPDATE
          SET grp = excluded.grp, seating = excluded.seating, foul = excluded.foul
          WHERE excluded.grp < first_fouls.grp
              OR (excluded.grp = first_fouls.grp AND excluded.seating < first_fouls.seating)",
    );
    upsert.query(change)?.execute(&mut **change).await?;
    Ok(())
}

/// Writes the scores of groups whose last game has come. The games are read from
/// the table: those of one group may come from two workers at the same moment,
/// and whoever writes second, which the lock on the tournament decides, sees both.
async fn complete_groups(
    change: &mut Change,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let touched: BTreeSet<u64> = games.iter().map(|game| game.group).collect();
    let mut select = Statement::new("SELECT ");
    select.text(Played::COLUMNS);
    select.text(" FROM games WHERE tournament = ").bind(id.0);
    select.text(" AND grp IN (VALUES ");
    select.rows(touched, |row, group| {
        row.bind(group.cast_signed());
    });
    select.text(") ORDER BY grp, seating");
    let mut groups: BTreeMap<u64, Vec<Played>> = BTreeMap::new();
    for row in select.query(change)?.fetch_all(&mut **change).await? {
        let group = number(&row, "grp")?;
        groups.entry(group).or_default().push(Played::read(&row)?);
    }

    let mut complete = Vec::new();
    for (group, games) in groups {
        let first = &games[0];
        let same = |game: &Played| {
            (game.games_in_group, game.matchup) == (first.games_in_group, first.matchup)
                && game.lineup == first.lineup
        };
        if !games.iter().all(same) {
            return Err(StoreError::BadGame {
                group,
                seating: 0,
                why: "the games of its group disagree about match, lineup or number".to_owned(),
            });
        }
        if games.len() == first.games_in_group as usize {
            complete.push((group, games));
        }
    }
    if complete.is_empty() {
        return Ok(());
    }

    let mut insert = Statement::new(
        "INSERT INTO groups (tournament, number, matchup, lineup, games, points, margins,
             starts, fouls, places) VALUES ",
    );
    insert.rows(complete, |row, (group, games)| {
        let score = score(group, &games);
        let places: Vec<String> = games
            .iter()
            .map(|game| list(game.places_by_lineup()))
            .collect();
        row.bind(id.0).text(", ").bind(group.cast_signed());
        row.text(", ").bind(i64::from(games[0].matchup.0));
        row.text(", ").bind(lineup_text(&games[0].lineup));
        row.text(", ").bind(i64::from(score.games));
        row.text(", ")
            .bind(list(score.points.iter().map(|points| points.0)));
        row.text(", ").bind(list(&score.margins));
        row.text(", ")
            .bind(list(score.faults.iter().map(|faults| faults.starts)));
        row.text(", ")
            .bind(list(score.faults.iter().map(|faults| faults.fouls)));
        row.text(", ").bind(places.join(";"));
    });
    insert.query(change)?.execute(&mut **change).await?;
    Ok(())
}

fn fouls_text(fouls: &[SeatFoul]) -> Option<String> {
    (!fouls.is_empty()).then(|| json(fouls))
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("what has no maps can be written")
}
