//! Storing reported games: everything that a game changes, in one transaction.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use arena_ladder::{GroupScore, Lineup, MatchId};
use referee_core::SeatFoul;
use sqlx::Row as _;

use crate::{
    ChunkKey, Counter, ENTRY_BOT, FinishedGame, GameRow, Reported, ScoredGroup, Store, StoreError,
    StoredReport, TournamentId,
    game::{TOLD, fouls},
    lease::{self, ChangedLease},
    pack,
    session::Transaction,
    sql::{self, Statement, json, lineup, lineup_text, list, number, unlist},
};

/// Number of games that are written by one statement: SQLite allows 32,766 values in it.
pub(crate) const AT_ONCE: usize = 500;

type GroupAndSeating = (u64, u32);

impl Store {
    /// Stores games: result, record, counters, and the score of each group that
    /// they complete, in one transaction: all games or none. Returns for each game, in
    /// the same order, what was done with it.
    ///
    /// Reporting a game twice changes nothing, so after an error, or without an
    /// answer, the same games may be reported again.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadGame`] if a game contradicts itself or the games of its group;
    /// the database fails, or has no such tournament.
    pub async fn report(
        &self,
        id: TournamentId,
        games: Vec<FinishedGame>,
    ) -> Result<Vec<Reported>, StoreError> {
        let stored = self.report_all(id, &games, &[]).await?;
        Ok(stored.into_iter().map(|stored| stored.reported).collect())
    }

    /// As [`report`](Self::report), but the caller keeps the games and can retry, and gets the
    /// scores of groups that are complete. What has changed of leases is stored before the games.
    pub(crate) async fn report_all(
        &self,
        id: TournamentId,
        games: &[FinishedGame],
        leases: &[ChangedLease],
    ) -> Result<Vec<StoredReport>, StoreError> {
        let mut tx = self.writing().await?;
        let locked = self.lock_tournament(&mut tx, id).await?;
        lease::write(&mut tx, id, leases).await?;
        for game in games {
            game.row.check(locked.entrants)?;
        }
        let mut reported = Vec::with_capacity(games.len());
        for games in games.chunks(AT_ONCE) {
            if locked.state.is_final() {
                reported.extend(games.iter().map(|_| StoredReport {
                    reported: Reported::Stale,
                    scored: None,
                }));
            } else {
                reported.extend(write(&mut tx, id, games, locked.last_change + 1).await?);
            }
        }
        tx.commit().await?;
        Ok(reported)
    }
}

/// Stores games that have been checked; groups that they complete have the number `change`.
pub(crate) async fn write(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[FinishedGame],
    change: i64,
) -> Result<Vec<StoredReport>, StoreError> {
    let stale = stale(tx, id, games).await?;
    // Of reports of the same game the first one.
    let mut candidates: BTreeMap<GroupAndSeating, &FinishedGame> = BTreeMap::new();
    for game in games.iter().filter(|game| !is_stale(&stale, game)) {
        candidates.entry(key(game)).or_insert(game);
    }
    let groups = candidates.keys().map(|(group, _)| *group).collect();
    let mut groups = stored_groups(tx, id, &groups).await?;
    let is_new = |(group, seating): &GroupAndSeating| {
        let stored = groups.get(group);
        !stored.is_some_and(|stored| stored.places.contains_key(seating))
    };
    let accepted: Vec<&FinishedGame> = candidates
        .into_iter()
        .filter(|(key, _)| is_new(key))
        .map(|(_, game)| game)
        .collect();
    let mut complete = BTreeMap::new();
    if !accepted.is_empty() {
        insert_games(tx, id, &accepted).await?;
        insert_records(tx, id, &accepted).await?;
        insert_logs(tx, id, &accepted).await?;
        let (withheld, told): (Vec<&FinishedGame>, Vec<&FinishedGame>) =
            accepted.iter().partition(|game| game.withhold);
        withhold(tx, id, &withheld).await?;
        let told: Vec<&GameRow> = told.iter().map(|game| &game.row).collect();
        count(tx, id, &told).await?;
        let mut touched = BTreeMap::new();
        for game in &accepted {
            let row = &game.row;
            let group = touched.entry(row.group).or_insert_with(|| {
                let stored = groups.remove(&row.group);
                stored.unwrap_or_else(|| StoredGroup::of(row))
            });
            group.add(row)?;
        }
        complete = complete_groups(tx, id, touched, change).await?;
        if !withheld.is_empty() && !complete.is_empty() {
            let numbers: Vec<u64> = complete.keys().copied().collect();
            release(tx, id, Some(&numbers)).await?;
        }
    }
    // Of reports of the same game only the first one is accepted.
    let mut left: BTreeSet<GroupAndSeating> = accepted.into_iter().map(key).collect();
    Ok(games
        .iter()
        .map(|game| {
            let reported = if is_stale(&stale, game) {
                Reported::Stale
            } else if left.remove(&key(game)) {
                Reported::Accepted
            } else {
                Reported::Duplicate
            };
            let scored = match reported {
                Reported::Accepted => complete.get(&game.row.group).cloned(),
                Reported::Duplicate | Reported::Stale => None,
            };
            StoredReport { reported, scored }
        })
        .collect())
}

fn key(game: &FinishedGame) -> GroupAndSeating {
    (game.row.group, game.row.seating)
}

fn is_stale(newest: &BTreeMap<ChunkKey, u32>, game: &FinishedGame) -> bool {
    newest
        .get(&game.chunk)
        .is_some_and(|&newest| game.attempt < newest)
}

/// The newest attempt at each chunk.
async fn stale(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[FinishedGame],
) -> Result<BTreeMap<ChunkKey, u32>, StoreError> {
    let chunks: BTreeSet<ChunkKey> = games.iter().map(|game| game.chunk).collect();
    if chunks.is_empty() {
        return Ok(BTreeMap::new());
    }
    Ok(lease::newest(tx, id, chunks).await?.into_iter().collect())
}

async fn insert_games(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let mut insert = Statement::new("INSERT INTO games (tournament, ");
    insert.text(GameRow::COLUMNS).text(") VALUES ");
    insert.rows(games, |values, game| {
        values.bind(id.0);
        game.row.write(values);
    });
    insert.query(tx)?.execute(&mut **tx).await?;
    Ok(())
}

async fn insert_records(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let mut insert =
        Statement::new("INSERT INTO records (tournament, grp, seating, record) VALUES ");
    insert.rows(games, |row, game| {
        row.bind(id.0).bind(game.row.group.cast_signed());
        row.bind(i64::from(game.row.seating));
        row.bind(game.record.as_slice());
    });
    insert.query(tx)?.execute(&mut **tx).await?;
    Ok(())
}

/// Inserts what the bots of entrants have printed.
async fn insert_logs(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    let logs = games.iter().flat_map(|game| {
        let seats = (0_i64..).zip(&game.row.order).zip(&game.logs);
        seats.filter_map(|((seat, place), log)| {
            let entrant = game.row.lineup.get(*place).copied().flatten()?;
            (!log.is_empty()).then_some((&game.row, seat, entrant, log))
        })
    });
    let logs: Vec<_> = logs.collect();
    if logs.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new(
        "INSERT INTO game_logs (tournament, grp, seating, seat, entrant, log) VALUES ",
    );
    insert.rows(logs, |row, (game, seat, entrant, log)| {
        row.bind(id.0).bind(game.group.cast_signed());
        row.bind(i64::from(game.seating)).bind(seat);
        row.bind(entrant.index() as i64);
        row.bind(pack::pack(log));
    });
    insert.query(tx)?.execute(&mut **tx).await?;
    // A game may end after the person was forgotten whose bot plays it. The order of the joins is the
    // one in which few rows are looked at: SQLite keeps it where they are CROSS JOINs.
    sqlx::query(
        "DELETE FROM game_logs WHERE tournament = $1 AND entrant IN
             (SELECT entrants.number FROM contest_runs
              CROSS JOIN people CROSS JOIN entries CROSS JOIN entrants
              WHERE contest_runs.tournament = $2
                  AND people.contest = contest_runs.contest AND people.name IS NULL
                  AND entries.contest = people.contest AND entries.person = people.number
                  AND entrants.tournament = contest_runs.tournament
                  AND entrants.name = $3 || CAST(entries.number AS TEXT))",
    )
    .bind(id.0)
    .bind(id.0)
    .bind(ENTRY_BOT)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Takes down that nothing of these games may be told.
async fn withhold(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&FinishedGame],
) -> Result<(), StoreError> {
    if games.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new("INSERT INTO withheld (tournament, grp, seating) VALUES ");
    insert.rows(games, |row, game| {
        row.bind(id.0).bind(game.row.group.cast_signed());
        row.bind(i64::from(game.row.seating));
    });
    insert.query(tx)?.execute(&mut **tx).await?;
    Ok(())
}

/// From here on the withheld games of these groups, or all of them, may be told of.
pub(crate) async fn release(
    tx: &mut Transaction,
    id: TournamentId,
    groups: Option<&[u64]>,
) -> Result<(), StoreError> {
    let within = |statement: &mut Statement| {
        if let Some(groups) = groups {
            let groups: Vec<i64> = groups.iter().map(|group| group.cast_signed()).collect();
            statement.and_among("grp", &groups);
        }
    };
    let mut select = Statement::new("SELECT ");
    select.text(GameRow::COLUMNS);
    select.text(" FROM games WHERE tournament = ").bind(id.0);
    within(&mut select);
    select.text(" AND NOT (").text(TOLD).text(")");
    let rows = select.query(tx)?.fetch_all(&mut **tx).await?;
    let rows = rows.iter().map(GameRow::read);
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    for rows in rows.chunks(AT_ONCE) {
        count(tx, id, &rows.iter().collect::<Vec<_>>()).await?;
    }
    let mut delete = Statement::new("DELETE FROM withheld WHERE tournament = ");
    within(delete.bind(id.0));
    delete.query(tx)?.execute(&mut **tx).await?;
    Ok(())
}

/// Adds games to what is counted over all games.
async fn count(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&GameRow],
) -> Result<(), StoreError> {
    add_to_counters(tx, id, games).await?;
    keep_first_fouls(tx, id, games).await
}

async fn add_to_counters(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&GameRow],
) -> Result<(), StoreError> {
    let mut sums: BTreeMap<(i64, &Counter), i64> = BTreeMap::new();
    for (who, counter, more) in games.iter().flat_map(|game| &game.counters) {
        let who = who.map_or(-1, |entrant| entrant.index() as i64);
        let sum = sums.entry((who, counter)).or_default();
        *sum = sum.saturating_add(*more);
    }
    let sums: Vec<_> = sums.into_iter().collect();
    for sums in sums.chunks(AT_ONCE) {
        let mut upsert =
            Statement::new("INSERT INTO counters (tournament, entrant, name, value) VALUES ");
        upsert.rows(sums, |row, ((who, counter), sum)| {
            row.bind(id.0).bind(*who);
            row.bind(counter.to_string()).bind(*sum);
        });
        upsert.text(
            " ON CONFLICT (tournament, entrant, name)
              DO UPDATE SET value = counters.value + excluded.value",
        );
        upsert.query(tx)?.execute(&mut **tx).await?;
    }
    Ok(())
}

async fn keep_first_fouls(
    tx: &mut Transaction,
    id: TournamentId,
    games: &[&GameRow],
) -> Result<(), StoreError> {
    let mut firsts: BTreeMap<usize, (GroupAndSeating, &SeatFoul)> = BTreeMap::new();
    for game in games {
        let key = (game.group, game.seating);
        for foul in &game.fouls {
            // A house bot that fills a seat is no entrant.
            if let Some(entrant) = game.lineup[game.order[foul.seat.index()]] {
                let first = firsts.entry(entrant.index()).or_insert((key, foul));
                if key < first.0 {
                    *first = (key, foul);
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
        row.bind(id.0).bind(entrant as i64);
        row.bind(group.cast_signed());
        row.bind(i64::from(seating));
        row.bind(json(&foul.foul));
    });
    upsert.text(
        " ON CONFLICT (tournament, entrant) DO UPDATE
          SET grp = excluded.grp, seating = excluded.seating, foul = excluded.foul
          WHERE excluded.grp < first_fouls.grp
              OR (excluded.grp = first_fouls.grp AND excluded.seating < first_fouls.seating)",
    );
    upsert.query(tx)?.execute(&mut **tx).await?;
    Ok(())
}

/// The games of a group that are there, added up.
struct StoredGroup {
    matchup: MatchId,
    lineup: Lineup,
    games_in_group: u32,
    score: GroupScore,
    /// For each game, by seating, the places in order of the lineup.
    places: BTreeMap<u32, String>,
}

impl StoredGroup {
    fn new(number: u64, matchup: MatchId, games_in_group: u32, lineup: Lineup) -> Self {
        Self {
            matchup,
            games_in_group,
            score: GroupScore::new(number, lineup.len()),
            lineup,
            places: BTreeMap::new(),
        }
    }

    /// The group of a game, without a game.
    fn of(game: &GameRow) -> Self {
        let lineup = game.lineup.clone();
        Self::new(game.group, game.matchup, game.games_in_group, lineup)
    }

    fn is_complete(&self) -> bool {
        self.places.len() == self.games_in_group as usize
    }

    /// Adds a game that was just stored.
    fn add(&mut self, game: &GameRow) -> Result<(), StoreError> {
        let same = (self.matchup, self.games_in_group) == (game.matchup, game.games_in_group);
        if !same || self.lineup != game.lineup {
            return Err(StoreError::BadGame {
                group: game.group,
                seating: game.seating,
                why: "the games of its group disagree about match, lineup or number".to_owned(),
            });
        }
        self.add_result(
            game.seating,
            &game.order,
            &game.places,
            &game.scores,
            &game.fouls,
        );
        Ok(())
    }

    fn add_result(
        &mut self,
        seating: u32,
        order: &[usize],
        places: &[u8],
        scores: &[i32],
        fouls: &[SeatFoul],
    ) {
        let mut by_lineup = vec![0; places.len()];
        for (&who, &place) in order.iter().zip(places) {
            by_lineup[who] = place;
        }
        self.places.insert(seating, list(by_lineup));
        self.score
            .add_game(&self.lineup, order, places, scores, fouls);
    }
}

/// Reads what is stored of these groups. Games of one group may come from two workers at the
/// same moment; the one that writes second, which the lock on the tournament decides, sees both.
async fn stored_groups(
    tx: &mut Transaction,
    id: TournamentId,
    groups: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, StoredGroup>, StoreError> {
    let mut stored: BTreeMap<u64, StoredGroup> = BTreeMap::new();
    if groups.is_empty() {
        return Ok(stored);
    }
    let mut select = Statement::new(
        "SELECT grp, seating, matchup, lineup, games_in_group, seats, places, scores, fouls
         FROM games WHERE tournament = ",
    );
    let groups: Vec<i64> = groups.iter().map(|group| group.cast_signed()).collect();
    select.bind(id.0).and_among("grp", &groups);
    for row in select.query(tx)?.fetch_all(&mut **tx).await? {
        let number: u64 = number(&row, "grp")?;
        if let Entry::Vacant(new) = stored.entry(number) {
            let matchup = MatchId(sql::number(&row, "matchup")?);
            let games_in_group = sql::number(&row, "games_in_group")?;
            let lineup = lineup(row.try_get("lineup")?)?;
            new.insert(StoredGroup::new(number, matchup, games_in_group, lineup));
        }
        let order: Vec<usize> = unlist(row.try_get("seats")?)?;
        let places: Vec<u8> = unlist(row.try_get("places")?)?;
        let scores: Vec<i32> = unlist(row.try_get("scores")?)?;
        let group = stored.get_mut(&number).expect("it was just put there");
        let seating = sql::number(&row, "seating")?;
        group.add_result(seating, &order, &places, &scores, &fouls(&row)?);
    }
    Ok(stored)
}

/// Writes the scores of those groups that are complete now, and gives them, by number.
async fn complete_groups(
    tx: &mut Transaction,
    id: TournamentId,
    mut groups: BTreeMap<u64, StoredGroup>,
    change: i64,
) -> Result<BTreeMap<u64, Arc<ScoredGroup>>, StoreError> {
    groups.retain(|_, group| group.is_complete());
    if groups.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut insert = Statement::new(
        "INSERT INTO groups (tournament, number, matchup, lineup, games, points, margins,
             starts, fouls, places, change) VALUES ",
    );
    insert.rows(&groups, |row, (number, group)| {
        let GroupScore {
            games,
            points,
            margins,
            faults,
            ..
        } = &group.score;
        row.bind(id.0).bind(number.cast_signed());
        row.bind(i64::from(group.matchup.0));
        row.bind(lineup_text(&group.lineup));
        row.bind(i64::from(*games));
        row.bind(list(points.iter().map(|points| points.0)));
        row.bind(list(margins));
        row.bind(list(faults.iter().map(|faults| faults.starts)));
        row.bind(list(faults.iter().map(|faults| faults.fouls)));
        let places: Vec<&str> = group.places.values().map(String::as_str).collect();
        row.bind(places.join(";"));
        row.bind(change);
    });
    insert.query(tx)?.execute(&mut **tx).await?;
    let complete = groups.into_iter().map(|(number, group)| {
        let scored = ScoredGroup {
            matchup: group.matchup,
            lineup: group.lineup,
            score: group.score,
        };
        (number, Arc::new(scored))
    });
    Ok(complete.collect())
}
