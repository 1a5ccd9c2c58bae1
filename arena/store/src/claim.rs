//! Claims: only one arena runs a tournament at a time.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sqlx::{AnyConnection, ConnectOptions as _, Connection as _, Row as _};

use crate::{
    Store, StoreError, TournamentId,
    sql::number,
    store::{Location, StoreBase, backend},
};

/// Number of further attempts to lock a file that is locked, and the pause before each: whoever
/// asks whether it is claimed locks it for a moment.
const RETRIES: u32 = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// The right to run a tournament. It ends when this is dropped and when the process
/// ends, however that happens: then the kernel or the database releases the lock.
#[derive(Debug)]
#[must_use = "dropping it releases the claim"]
pub struct Claim {
    lock: Lock,
}

#[derive(Debug)]
enum Lock {
    /// A locked file beside the database.
    File { _file: File, path: PathBuf },
    /// A database session that is used for nothing else and holds an advisory lock, and the
    /// number of the server's process behind it.
    Session {
        session: Option<AnyConnection>,
        backend: i32,
    },
    /// An entry in the list of a database in memory.
    Memory {
        base: Arc<StoreBase>,
        id: TournamentId,
    },
}

impl Store {
    /// Takes the right to run a tournament.
    ///
    /// # Errors
    ///
    /// [`StoreError::Claimed`] if another claim exists, in this process or any other;
    /// [`StoreError::Missing`].
    pub async fn claim(&self, id: TournamentId) -> Result<Claim, StoreError> {
        let lock = match &self.base.location {
            Location::File(path) => {
                let path = lock_path(path, id);
                let mut file = lock_file(&path)?;
                for _ in 0..RETRIES {
                    if file.is_some() {
                        break;
                    }
                    tokio::time::sleep(RETRY_PAUSE).await;
                    file = lock_file(&path)?;
                }
                file.map(|file| Lock::File { _file: file, path })
            }
            Location::Server { .. } => {
                let mut session = self.base.location.options()?.connect().await?;
                // The lock is valid for the whole database, and each of its schemas may
                // contain a store.
                let row = sqlx::query(
                    "SELECT CASE WHEN
                         pg_try_advisory_lock(hashtext('arena ' || current_schema()), $1)
                     THEN 1 ELSE 0 END AS taken",
                )
                .bind(i32::try_from(id.0).unwrap_or(i32::MAX))
                .fetch_one(&mut session)
                .await?;
                let taken: i32 = row.try_get("taken")?;
                let backend = backend(&mut session).await?;
                (taken == 1).then_some(Lock::Session {
                    session: Some(session),
                    backend,
                })
            }
            Location::Memory => self.base.claimed().insert(id).then(|| Lock::Memory {
                base: self.base.clone(),
                id,
            }),
        };
        let Some(lock) = lock else {
            let who = self.claimant(id).await?;
            return Err(StoreError::Claimed { id: id.0, who });
        };
        // If what follows fails, it is dropped and so released.
        let claim = Claim { lock };
        let mut transaction = self.writing().await?;
        self.lock_tournament(&mut transaction, id).await?;
        sqlx::query(
            "INSERT INTO claims (tournament, host, pid) VALUES ($1, $2, $3)
             ON CONFLICT (tournament) DO UPDATE SET host = excluded.host, pid = excluded.pid",
        )
        .bind(id.0)
        .bind(host())
        .bind(i64::from(std::process::id()))
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(claim)
    }

    /// True if somebody has the right to run a tournament now.
    ///
    /// # Errors
    ///
    /// The database fails.
    #[expect(clippy::disallowed_methods, reason = "the lock is our own file")]
    pub async fn is_claimed(&self, id: TournamentId) -> Result<bool, StoreError> {
        match &self.base.location {
            Location::File(path) => {
                let file = match File::open(lock_path(path, id)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                    file => file?,
                };
                match file.try_lock_shared() {
                    Ok(()) => Ok(false),
                    Err(TryLockError::WouldBlock) => Ok(true),
                    Err(TryLockError::Error(error)) => Err(error.into()),
                }
            }
            Location::Server { .. } => {
                let row = sqlx::query(
                    "SELECT COUNT(*) AS claims FROM pg_locks
                     WHERE locktype = 'advisory' AND granted AND objsubid = 2
                         AND database = (SELECT oid FROM pg_database
                             WHERE datname = current_database())
                         AND classid = hashtext('arena ' || current_schema())::oid
                         AND objid = $1::oid",
                )
                .bind(i32::try_from(id.0).unwrap_or(i32::MAX))
                .fetch_one(&mut self.reader().await?)
                .await?;
                let claims: i64 = row.try_get("claims")?;
                Ok(claims > 0)
            }
            Location::Memory => Ok(self.base.claimed().contains(&id)),
        }
    }

    /// Removes a tournament with everything that it has. Nobody may run it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Claimed`]; the database fails.
    pub async fn remove(&self, id: TournamentId) -> Result<(), StoreError> {
        let claim = self.claim(id).await?;
        let mut change = self.writing().await?;
        for table in [
            "records",
            "withheld",
            "game_logs",
            "games",
            "groups",
            "totals",
            "courses",
            "counters",
            "first_fouls",
            "leases",
            "claims",
            "entrants",
            "contest_runs",
        ] {
            let delete = format!("DELETE FROM {table} WHERE tournament = $1");
            let delete = sqlx::query(sqlx::AssertSqlSafe(delete)).bind(id.0);
            delete.execute(&mut *change).await?;
        }
        sqlx::query("DELETE FROM tournaments WHERE id = $1")
            .bind(id.0)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        claim.release().await;
        Ok(())
    }

    /// The last one who claimed it, in words.
    async fn claimant(&self, id: TournamentId) -> Result<String, StoreError> {
        let row = sqlx::query("SELECT host, pid FROM claims WHERE tournament = $1")
            .bind(id.0)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        match row {
            Some(row) => {
                let host: String = row.try_get("host")?;
                let pid: u32 = number(&row, "pid")?;
                Ok(format!("process {pid} on {host}"))
            }
            None => Ok("another arena".to_owned()),
        }
    }
}

impl Claim {
    /// True if it still holds: a session of a database ends with the database's server, and a
    /// pool of connections may lend another one.
    pub async fn holds(&mut self) -> bool {
        match &mut self.lock {
            Lock::Session {
                session: Some(session),
                backend: own,
            } => backend(session).await.is_ok_and(|now| now == *own),
            _ => true,
        }
    }

    /// Releases the claim, and returns when others can have it. After a drop that may
    /// take a moment longer.
    pub async fn release(mut self) {
        let Lock::Session { session, .. } = &mut self.lock else {
            return;
        };
        let Some(mut session) = session.take() else {
            return;
        };
        // The server may need a moment to see that a session was closed.
        let unlock = sqlx::query("SELECT 1 FROM pg_advisory_unlock_all()");
        let unlocked = unlock.execute(&mut session).await.map(drop);
        if let Err(error) = unlocked.and(session.close().await) {
            tracing::debug!(%error, "could not close the session of a claim");
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        match &self.lock {
            Lock::File { path, .. } => {
                // It is still locked, so no other claim uses it.
                let _ = std::fs::remove_file(path);
            }
            Lock::Memory { base, id } => {
                base.claimed().remove(id);
            }
            Lock::Session { .. } => {}
        }
    }
}

/// The file beside the database that is locked while somebody runs a tournament.
fn lock_path(database: &Path, id: TournamentId) -> PathBuf {
    let mut beside = database.as_os_str().to_owned();
    beside.push(format!(".{id}.lock"));
    PathBuf::from(beside)
}

/// Locks a file, which is created if it is missing; None if it is locked already.
fn lock_file(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The process that had the lock may have removed the file after we opened it;
        // then others would open and lock a new file of this name.
        let found = std::fs::metadata(path);
        let ours = file.metadata()?;
        if found.is_ok_and(|found| (found.dev(), found.ino()) == (ours.dev(), ours.ino())) {
            return Ok(Some(file));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "this machine".to_owned(), |name| name.trim().to_owned())
}
