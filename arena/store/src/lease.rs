//! Leases: which worker has which chunk, and until when.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

use arena_ladder::MatchId;
use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError, TournamentId,
    report::AT_ONCE,
    session::Transaction,
    sql::{Statement, damaged, number},
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
    /// The number of the attempt. A later attempt at the same chunk has a higher one.
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
}

/// The leases of a tournament that is being written. Here they are given, kept and ended without a
/// wait; the next commit stores what has changed, before the games that it stores. What a crash
/// leaves unwritten is a lease that nobody knows of: its chunk is leased again, under a higher number.
#[derive(Debug, Default)]
pub(crate) struct LeaseBook {
    held: HashMap<ChunkKey, (u32, LeaseHolder)>,
    /// The chunks whose leases have changed since the last commit, with their newest attempts.
    changed: BTreeMap<ChunkKey, u32>,
    /// The number of the last attempt, and the largest that is reserved.
    last: u32,
    reserved: u32,
}

/// The newest attempt at a chunk, and who holds it; nobody where it was released.
#[derive(Debug)]
pub(crate) struct ChangedLease {
    chunk: ChunkKey,
    attempt: u32,
    holder: Option<LeaseHolder>,
}

/// So many numbers of attempts are reserved at once.
pub(crate) const RESERVED_AT_ONCE: u32 = 10_000;

impl LeaseBook {
    pub(crate) fn of(leases: Vec<Lease>) -> Self {
        let leases = leases.into_iter();
        Self {
            held: leases
                .map(|lease| (lease.chunk, (lease.attempt, lease.holder)))
                .collect(),
            ..Self::default()
        }
    }

    /// From here on there are numbers up to this one, the last of those that were reserved.
    pub(crate) fn reserve(&mut self, up_to: u32) {
        self.last = self.last.max(up_to.saturating_sub(RESERVED_AT_ONCE));
        self.reserved = self.reserved.max(up_to);
    }

    /// Leases a chunk, and says which attempt this is. None where more numbers are to be reserved
    /// first.
    pub(crate) fn lease(&mut self, chunk: ChunkKey, holder: &LeaseHolder) -> Option<u32> {
        if self.last == self.reserved {
            return None;
        }
        self.last += 1;
        self.held.insert(chunk, (self.last, holder.clone()));
        self.changed.insert(chunk, self.last);
        Some(self.last)
    }

    /// Extends a lease; false where it is not this attempt that holds the chunk.
    pub(crate) fn renew(&mut self, chunk: ChunkKey, attempt: u32, until_unix_ms: i64) -> bool {
        match self.held.get_mut(&chunk) {
            Some((held, holder)) if *held == attempt => holder.until_unix_ms = until_unix_ms,
            _ => return false,
        }
        self.changed.insert(chunk, attempt);
        true
    }

    /// Ends a lease; false likewise.
    pub(crate) fn release(&mut self, chunk: ChunkKey, attempt: u32) -> bool {
        let is_held = (self.held.get(&chunk)).is_some_and(|(held, _)| *held == attempt);
        if is_held {
            self.held.remove(&chunk);
            self.changed.insert(chunk, attempt);
        }
        is_held
    }

    /// What the next commit is to store.
    pub(crate) fn take_changed(&mut self) -> Vec<ChangedLease> {
        let changed = mem::take(&mut self.changed).into_iter();
        changed
            .map(|(chunk, attempt)| ChangedLease {
                chunk,
                attempt,
                holder: self.held.get(&chunk).map(|(_, holder)| holder.clone()),
            })
            .collect()
    }

    /// It was not stored: the next commit is to try again, unless it has changed since.
    pub(crate) fn put_back(&mut self, changed: &[ChangedLease]) {
        for lease in changed {
            self.changed.entry(lease.chunk).or_insert(lease.attempt);
        }
    }
}

/// Stores leases that have changed. From here on games of earlier attempts at their chunks are
/// [`Stale`](crate::Reported::Stale).
pub(crate) async fn write(
    transaction: &mut Transaction,
    id: TournamentId,
    changed: &[ChangedLease],
) -> Result<(), StoreError> {
    for changed in changed.chunks(AT_ONCE) {
        let mut upsert = Statement::new(
            "INSERT INTO leases (tournament, matchup, first_group, group_count, seating,
                 attempt, worker, until_ms, session) VALUES ",
        );
        upsert.rows(changed, |row, lease| {
            let chunk = &lease.chunk;
            row.bind(id.0).bind(i64::from(chunk.matchup.0));
            row.bind(chunk.first_group.cast_signed());
            row.bind(chunk.groups.cast_signed());
            row.bind(seating(chunk)).bind(i64::from(lease.attempt));
            let holder = lease.holder.as_ref();
            row.bind(holder.map(|holder| holder.worker.as_str()));
            row.bind(holder.map_or(0, |holder| holder.until_unix_ms));
            row.bind(holder.and_then(|holder| holder.session).map(hex::encode));
        });
        upsert.text(
            " ON CONFLICT (tournament, first_group, seating, group_count, matchup)
              DO UPDATE SET attempt = excluded.attempt, worker = excluded.worker,
                  until_ms = excluded.until_ms, session = excluded.session
              WHERE excluded.attempt >= leases.attempt",
        );
        upsert
            .query(transaction)?
            .execute(&mut **transaction)
            .await?;
    }
    Ok(())
}

/// Reserves numbers of attempts, and says which is the last of them.
pub(crate) async fn reserve(
    transaction: &mut Transaction,
    id: TournamentId,
) -> Result<u32, StoreError> {
    let row = sqlx::query(
        "UPDATE tournaments SET attempts = attempts + $1 WHERE id = $2 RETURNING attempts",
    )
    .bind(i64::from(RESERVED_AT_ONCE))
    .bind(id.0)
    .fetch_one(&mut **transaction)
    .await?;
    number(&row, "attempts")
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
    let chunks: Vec<ChunkKey> = chunks.into_iter().collect();
    let first_groups = chunks.iter().map(|chunk| chunk.first_group.cast_signed());
    select.and_among("first_group", &first_groups.collect::<Vec<_>>());
    select.text(" AND (first_group, seating, group_count, matchup) IN (VALUES ");
    select.rows(&chunks, |row, chunk| {
        row.bind(chunk.first_group.cast_signed());
        row.bind(seating(chunk));
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
