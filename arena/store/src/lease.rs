//! Leases: which worker has which chunk, and until when.

use arena_ladder::MatchId;
use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError, TournamentId,
    session::Transaction,
    sql::{Statement, damaged, number, signed},
};

/// A chunk of work: groups of one match, with all of their seatings or with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChunkKey {
    /// The match.
    #[serde(rename = "match")]
    pub matchup: MatchId,
    /// The number of its first group.
    pub first_group: u64,
    /// Number of its groups; their numbers are consecutive.
    pub groups: u64,
    /// The seating that is played, or None for all of them.
    pub seating: Option<u32>,
}

/// The newest attempt at a chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The chunk.
    pub chunk: ChunkKey,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The holder of the lease.
    #[serde(flatten)]
    pub holder: LeaseHolder,
}

/// The holder of a lease, and the end of its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseHolder {
    /// The worker.
    pub worker: String,
    /// Its session, where it is a process of its own that may live on when the arena is
    /// killed.
    pub session: Option<[u8; 16]>,
    /// When the lease ends, in milliseconds since 1970. This is for people: what decides is
    /// the clock of the arena that gave it.
    pub until_unix_ms: i64,
}

impl Store {
    /// Leases a chunk to a worker, even if another worker has it, and returns the
    /// number of the attempt, from 1. From now on games of earlier attempts are
    /// [`Stale`](crate::Reported::Stale), also after a restart.
    ///
    /// # Errors
    ///
    /// The database fails, or has no such tournament.
    pub async fn lease(
        &self,
        id: TournamentId,
        chunk: &ChunkKey,
        holder: &LeaseHolder,
    ) -> Result<u32, StoreError> {
        let mut transaction = self.writing().await?;
        // Waits until reports that are being written are stored.
        self.lock_tournament(&mut transaction, id).await?;
        let row = sqlx::query(
            "INSERT INTO leases (tournament, matchup, first_group, group_count, seating,
                 attempt, worker, until_ms, session)
             VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8)
             ON CONFLICT (tournament, first_group, seating, group_count, matchup)
             DO UPDATE SET attempt = leases.attempt + 1, worker = excluded.worker,
                 until_ms = excluded.until_ms, session = excluded.session
             RETURNING attempt",
        )
        .bind(id.0)
        .bind(i64::from(chunk.matchup.0))
        .bind(signed(chunk.first_group)?)
        .bind(signed(chunk.groups)?)
        .bind(seating(chunk))
        .bind(&holder.worker)
        .bind(holder.until_unix_ms)
        .bind(holder.session.map(hex::encode))
        .fetch_one(&mut *transaction)
        .await?;
        let attempt = number(&row, "attempt")?;
        transaction.commit().await?;
        Ok(attempt)
    }

    /// Extends a lease. Returns false if the chunk has been leased again since, or
    /// was released.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn renew(
        &self,
        id: TournamentId,
        chunk: &ChunkKey,
        attempt: u32,
        until_unix_ms: i64,
    ) -> Result<bool, StoreError> {
        self.change_lease(
            "UPDATE leases SET until_ms = $7
             WHERE tournament = $1 AND matchup = $2 AND first_group = $3 AND group_count = $4
                 AND seating = $5 AND attempt = $6 AND worker IS NOT NULL",
            id,
            chunk,
            attempt,
            until_unix_ms,
        )
        .await
    }

    /// Ends the lease of a chunk that is done or given up. Returns false if the chunk
    /// has been leased again since, or was released before.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn release(
        &self,
        id: TournamentId,
        chunk: &ChunkKey,
        attempt: u32,
    ) -> Result<bool, StoreError> {
        self.change_lease(
            "UPDATE leases SET worker = NULL, until_ms = $7
             WHERE tournament = $1 AND matchup = $2 AND first_group = $3 AND group_count = $4
                 AND seating = $5 AND attempt = $6 AND worker IS NOT NULL",
            id,
            chunk,
            attempt,
            0,
        )
        .await
    }

    /// All leases that have not been released, in order of their groups.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn leases(&self, id: TournamentId) -> Result<Vec<Lease>, StoreError> {
        let rows = sqlx::query(
            "SELECT matchup, first_group, group_count, seating, attempt, worker, until_ms, session
             FROM leases WHERE tournament = $1 AND worker IS NOT NULL
             ORDER BY first_group, seating, group_count, matchup",
        )
        .bind(id.0)
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Lease {
                    chunk: read(row)?,
                    attempt: number(row, "attempt")?,
                    holder: LeaseHolder {
                        worker: row.try_get("worker")?,
                        session: session(row)?,
                        until_unix_ms: row.try_get("until_ms")?,
                    },
                })
            })
            .collect()
    }

    async fn change_lease(
        &self,
        update: &'static str,
        id: TournamentId,
        chunk: &ChunkKey,
        attempt: u32,
        until_unix_ms: i64,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.writing().await?;
        let changed = sqlx::query(update)
            .bind(id.0)
            .bind(i64::from(chunk.matchup.0))
            .bind(signed(chunk.first_group)?)
            .bind(signed(chunk.groups)?)
            .bind(seating(chunk))
            .bind(i64::from(attempt))
            .bind(until_unix_ms)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(changed.rows_affected() > 0)
    }
}

/// The newest attempt at each of these chunks, for those that were ever leased.
pub(crate) async fn newest(
    transaction: &mut Transaction,
    id: TournamentId,
    chunks: impl IntoIterator<Item = ChunkKey>,
) -> Result<Vec<(ChunkKey, u32)>, StoreError> {
    let mut select = Statement::new(
        "SELECT matchup, first_group, group_count, seating, attempt FROM leases WHERE tournament = ",
    );
    select.bind(id.0);
    select.text(" AND (first_group, seating, group_count, matchup) IN (VALUES ");
    select.rows(chunks, |row, chunk| {
        row.bind(chunk.first_group.cast_signed());
        row.bind(seating(&chunk));
        row.bind(chunk.groups.cast_signed());
        row.bind(i64::from(chunk.matchup.0));
    });
    select.text(")");
    let rows = select
        .query(transaction)?
        .fetch_all(&mut **transaction)
        .await?;
    rows.iter()
        .map(|row| Ok((read(row)?, number(row, "attempt")?)))
        .collect()
}

fn read(row: &AnyRow) -> Result<ChunkKey, StoreError> {
    let seating: i64 = row.try_get("seating")?;
    Ok(ChunkKey {
        matchup: MatchId(number(row, "matchup")?),
        first_group: number(row, "first_group")?,
        groups: number(row, "group_count")?,
        seating: u32::try_from(seating).ok(),
    })
}

fn session(row: &AnyRow) -> Result<Option<[u8; 16]>, StoreError> {
    let text: Option<&str> = row.try_get("session")?;
    let Some(text) = text else { return Ok(None) };
    let mut bytes = [0; 16];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| damaged("a session", &text))?;
    Ok(Some(bytes))
}

/// -1 for all seatings: in a key null would not be equal to null.
fn seating(chunk: &ChunkKey) -> i64 {
    chunk.seating.map_or(-1, i64::from)
}
