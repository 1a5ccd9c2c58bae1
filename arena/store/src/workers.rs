//! Workers that are processes of their own: who may work, and what is known of them.

use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError,
    bots::check_name,
    sql::{damaged, json, number},
};

/// Time for which the data of a process are kept after it was seen last, in milliseconds.
const KEPT_MS: i64 = 7 * 24 * 3600 * 1000;

/// A worker that has been added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRow {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its token, in hexadecimal digits; none where it needs no token.
    pub token_hash: Option<String>,
    /// When it was added, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// When its token ends to be valid, in milliseconds since 1970.
    pub expires_unix_ms: Option<i64>,
    /// True if it was taken out by a person.
    pub revoked: bool,
    /// Reason why it may not work any more, where it reported a game that was not played so.
    pub shut_out: Option<String>,
}

/// Data of one process of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSession {
    /// Its session.
    pub session: [u8; 16],
    /// The worker.
    pub worker: String,
    /// Its machine and what it has done.
    pub about: WorkerStatus,
    /// When it joined, in milliseconds since 1970.
    pub joined_unix_ms: i64,
    /// When it was heard of last, in milliseconds since 1970.
    pub seen_unix_ms: i64,
}

/// A worker's machine, and what its process has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerStatus {
    /// The machine's name.
    pub host: String,
    /// The version of its program.
    pub program: String,
    /// Number of cores that its games may use.
    pub cores: u32,
    /// Memory of the machine, in MiB; 0 where it is not known.
    pub memory_mib: u64,
    /// Number of games that it plays at once.
    pub games_at_once: u32,
    /// Names of the things that it provides to packed bots.
    pub provides: Vec<String>,
    /// The walls around its bots that hold, in words.
    pub isolation: String,
    /// True if its stream is open.
    pub connected: bool,
    /// Number of games that it is playing.
    pub running: u32,
    /// Number of its leased chunks.
    pub leases: u32,
    /// Number of its games that count.
    pub accepted: u64,
    /// Number of games that it reported again.
    pub duplicate: u64,
    /// Number of reports that came too late.
    pub stale: u64,
    /// Number of reports that were refused, because their records do not prove them.
    pub refused: u64,
    /// Its games in the last minute.
    pub games_last_minute: u64,
    /// The worst delay of its referee's threads in the last minute, in microseconds.
    pub worst_delay_us: u64,
}

impl Store {
    /// Adds a worker, or gives one that is there a new token: then it may work again.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadName`]; the database fails.
    pub async fn add_worker(&self, worker: &WorkerRow) -> Result<(), StoreError> {
        check_name("name of a worker", &worker.name)?;
        let mut change = self.writing().await?;
        sqlx::query(
            "INSERT INTO workers (name, token_hash, created_ms, expires_ms, revoked, shut_out)
             VALUES ($1, $2, $3, $4, 0, NULL)
             ON CONFLICT (name) DO UPDATE SET token_hash = excluded.token_hash,
                 created_ms = excluded.created_ms, expires_ms = excluded.expires_ms,
                 revoked = 0, shut_out = NULL",
        )
        .bind(&worker.name)
        .bind(worker.token_hash.as_deref())
        .bind(worker.created_unix_ms)
        .bind(worker.expires_unix_ms)
        .execute(&mut *change)
        .await?;
        change.commit().await
    }

    /// Adds a worker without a token where there is none of this name.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadName`]; the database fails.
    pub async fn meet_worker(&self, name: &str, unix_ms: i64) -> Result<WorkerRow, StoreError> {
        check_name("name of a worker", name)?;
        let mut change = self.writing().await?;
        sqlx::query(
            "INSERT INTO workers (name, token_hash, created_ms, expires_ms, revoked, shut_out)
             VALUES ($1, NULL, $2, NULL, 0, NULL) ON CONFLICT (name) DO NOTHING",
        )
        .bind(name)
        .bind(unix_ms)
        .execute(&mut *change)
        .await?;
        let row = sqlx::query("SELECT * FROM workers WHERE name = $1")
            .bind(name)
            .fetch_one(&mut *change)
            .await?;
        let row = worker(&row)?;
        change.commit().await?;
        Ok(row)
    }

    /// All workers, by name.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        let rows = sqlx::query("SELECT * FROM workers ORDER BY name")
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(worker).collect()
    }

    /// The worker of this name.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn worker(&self, name: &str) -> Result<Option<WorkerRow>, StoreError> {
        let row = sqlx::query("SELECT * FROM workers WHERE name = $1")
            .bind(name)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        row.as_ref().map(worker).transpose()
    }

    /// Takes the right to work from a worker, or gives it back.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn revoke_worker(&self, name: &str, revoked: bool) -> Result<(), StoreError> {
        let update = match revoked {
            true => "UPDATE workers SET revoked = 1 WHERE name = $1",
            false => "UPDATE workers SET revoked = 0, shut_out = NULL WHERE name = $1",
        };
        let mut change = self.writing().await?;
        let changed = sqlx::query(update)
            .bind(name)
            .execute(&mut *change)
            .await?
            .rows_affected();
        change.commit().await?;
        match changed {
            0 => Err(StoreError::Missing {
                what: "worker",
                name: name.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Shuts a worker out, which has reported a game that was not played so.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn shut_out_worker(&self, name: &str, why: &str) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        sqlx::query("UPDATE workers SET shut_out = $2 WHERE name = $1 AND shut_out IS NULL")
            .bind(name)
            .bind(why)
            .execute(&mut *change)
            .await?;
        change.commit().await
    }

    /// Writes down what is known of processes, and forgets those that have not been seen for
    /// a week.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn keep_sessions(
        &self,
        sessions: &[WorkerSession],
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        for session in sessions {
            sqlx::query(
                "INSERT INTO worker_sessions (session, worker, about, joined_ms, seen_ms)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (session) DO UPDATE SET about = excluded.about,
                     seen_ms = excluded.seen_ms",
            )
            .bind(hex::encode(session.session))
            .bind(&session.worker)
            .bind(json(&session.about))
            .bind(session.joined_unix_ms)
            .bind(session.seen_unix_ms)
            .execute(&mut *change)
            .await?;
        }
        sqlx::query("DELETE FROM worker_sessions WHERE seen_ms < $1")
            .bind(unix_ms.saturating_sub(KEPT_MS))
            .execute(&mut *change)
            .await?;
        change.commit().await
    }

    /// Data of the workers' processes, by worker, the newest first.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn sessions(&self) -> Result<Vec<WorkerSession>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM worker_sessions ORDER BY worker, joined_ms DESC, session")
                .fetch_all(&mut self.reader().await?)
                .await?;
        rows.iter().map(session).collect()
    }
}

fn worker(row: &AnyRow) -> Result<WorkerRow, StoreError> {
    Ok(WorkerRow {
        name: row.try_get("name")?,
        token_hash: row.try_get("token_hash")?,
        created_unix_ms: row.try_get("created_ms")?,
        expires_unix_ms: row.try_get("expires_ms")?,
        revoked: number::<i64>(row, "revoked")? != 0,
        shut_out: row.try_get("shut_out")?,
    })
}

fn session(row: &AnyRow) -> Result<WorkerSession, StoreError> {
    let text: &str = row.try_get("session")?;
    let mut session = [0; 16];
    hex::decode_to_slice(text, &mut session).map_err(|_| damaged("a session", &text))?;
    let about: &str = row.try_get("about")?;
    Ok(WorkerSession {
        session,
        worker: row.try_get("worker")?,
        about: serde_json::from_str(about).map_err(|_| damaged("a worker's status", &about))?,
        joined_unix_ms: row.try_get("joined_ms")?,
        seen_unix_ms: row.try_get("seen_ms")?,
    })
}
