//! Opening a database: a file of SQLite, or a server of PostgreSQL.

use std::{
    collections::BTreeSet,
    fmt,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    str::FromStr as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use sqlx::{
    AnyConnection, AnyPool, Connection as _, Executor as _, Row as _, SqlSafeStr as _,
    any::{AnyConnectOptions, AnyPoolOptions},
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};

use crate::{
    StatementFaults, StoreError, TournamentId,
    server::{LENT_CONNECTIONS, ServerUrl, without_secrets},
    session::{PooledConnection, Transaction},
};

/// The versions of the tables: number, name, and the SQL that makes it of the one before.
/// `sqlx::migrate!` would read them from the folder, but it builds SQLite and the clients of
/// both databases once more, for the compiler.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "store", include_str!("../migrations/0001_store.sql")),
    (
        2,
        "withheld",
        include_str!("../migrations/0002_withheld.sql"),
    ),
    (3, "excused", include_str!("../migrations/0003_excused.sql")),
    (4, "workers", include_str!("../migrations/0004_workers.sql")),
    (
        5,
        "archives",
        include_str!("../migrations/0005_archives.sql"),
    ),
    (
        6,
        "contests",
        include_str!("../migrations/0006_contests.sql"),
    ),
    (7, "fouls", include_str!("../migrations/0007_fouls.sql")),
    (
        8,
        "game_logs",
        include_str!("../migrations/0008_game_logs.sql"),
    ),
    (9, "leases", include_str!("../migrations/0009_leases.sql")),
    (10, "totals", include_str!("../migrations/0010_totals.sql")),
];
/// The migrator's table. A database with this table is one of ours.
const VERSIONS: &str = "arena_store_versions";

/// Longest time that a database may take to answer when it is opened.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// The settings of every connection to SQLite. With `synchronous = FULL` a commit
/// waits for the disk, so that not even a power cut loses a game that was reported as
/// stored. `NORMAL` is safe against a kill only; in the benchmark its commits were 2 ms
/// shorter, of 50 ms that are allowed, and its CPU time was the same. In WAL mode
/// readers and the writer do not wait for each other.
const PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA busy_timeout = 20000;
    PRAGMA foreign_keys = ON;";

/// A database of bots, tournaments and games. It is cheap to clone; all clones
/// share their connections.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) base: Arc<StoreBase>,
}

pub(crate) struct StoreBase {
    pub(crate) location: Location,
    /// With SQLite one connection: there is only one writer at a time, and waiting for
    /// the connection is shorter than waiting for the lock on the file.
    writers: AnyPool,
    readers: AnyPool,
    /// The tournaments that are claimed, of a database in memory. The others have locks
    /// that hold between processes.
    claimed: Mutex<BTreeSet<TournamentId>>,
    /// Which statements fail, in a test.
    faults: OnceLock<Arc<StatementFaults>>,
}

/// Location of the database, which also tells its SQL dialect.
#[derive(Debug)]
pub(crate) enum Location {
    File(PathBuf),
    Server(ServerUrl),
    Memory,
}

impl Store {
    /// Opens a database, and creates the file and the tables if they are missing.
    /// `url` is a path, `sqlite:PATH`, or `postgres://…`.
    ///
    /// A new file is readable by its owner only, since it contains secrets.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`], [`NotOurs`](StoreError::NotOurs) or
    /// [`Newer`](StoreError::Newer), each of which says what to do.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let location = Location::parse(url)?;
        let lock = match &location {
            Location::File(path) => Some(
                prepare(path)
                    .await
                    .map_err(|error| location.closed(&error))?,
            ),
            Location::Server { .. } | Location::Memory => None,
        };
        let store = Self::open_at(location).await?;
        drop(lock);
        Ok(store)
    }

    /// Opens a new, empty database in memory, which all clones share and which is gone
    /// with the last of them. It is for tests and simulations.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`], for example if there is not enough memory.
    pub async fn open_in_memory() -> Result<Self, StoreError> {
        Self::open_at(Location::Memory).await
    }

    async fn open_at(location: Location) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let (writers, readers) = location.connect().await?;
        let base = StoreBase {
            location,
            writers,
            readers,
            claimed: Mutex::default(),
            faults: OnceLock::new(),
        };
        base.migrate().await?;
        Ok(Self {
            base: Arc::new(base),
        })
    }

    /// From here on some statements fail, which `faults` says. It is for tests and
    /// simulations, which say so once.
    ///
    /// # Panics
    ///
    /// If it was said before.
    pub fn set_faults(&self, faults: Arc<StatementFaults>) {
        let set = self.base.faults.set(faults);
        assert!(set.is_ok(), "faults are set once");
    }

    /// Location of the database, without a password.
    #[must_use]
    pub fn location(&self) -> String {
        self.base.location.shown()
    }

    /// Number of bytes that may still be written on the disk of its file. None where there is no
    /// file, or the system does not say it.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        let Location::File(path) = &self.base.location else {
            return None;
        };
        let disk = nix::sys::statvfs::statvfs(path).ok()?;
        // Some of it is for root alone.
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let room = match is_root {
            true => disk.blocks_free(),
            false => disk.blocks_available(),
        };
        Some(room * disk.fragment_size())
    }

    /// Closes all connections, after the statements that are running.
    pub async fn close(self) {
        self.base.readers.close().await;
        self.base.writers.close().await;
    }

    /// A transaction that writes. With SQLite all other writers wait until it ends.
    pub(crate) async fn writing(&self) -> Result<Transaction, StoreError> {
        let begin = match self.base.location {
            Location::File(_) | Location::Memory => "BEGIN IMMEDIATE",
            Location::Server { .. } => "BEGIN",
        };
        self.begin(&self.base.writers, begin).await
    }

    /// A transaction that reads a snapshot.
    pub(crate) async fn snapshot(&self) -> Result<Transaction, StoreError> {
        let begin = match self.base.location {
            Location::File(_) | Location::Memory => "BEGIN",
            Location::Server { .. } => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.begin(&self.base.readers, begin).await
    }

    async fn begin(&self, pool: &AnyPool, begin: &'static str) -> Result<Transaction, StoreError> {
        let session = PooledConnection::of(pool, self.base.faults.get().cloned()).await?;
        let is_only_one = matches!(self.base.location, Location::Memory);
        Transaction::begin(session, begin, is_only_one).await
    }

    /// A connection for reading with a single statement.
    pub(crate) async fn reader(&self) -> Result<PooledConnection, StoreError> {
        PooledConnection::of(&self.base.readers, self.base.faults.get().cloned()).await
    }

    /// Makes other writers of a table wait until the transaction ends.
    pub(crate) async fn lock_table(
        &self,
        transaction: &mut Transaction,
        lock: &'static str,
    ) -> Result<(), StoreError> {
        if let Location::Server { .. } = self.base.location {
            transaction.execute(lock).await?;
        }
        Ok(())
    }
}

impl Location {
    fn parse(url: &str) -> Result<Self, StoreError> {
        if ServerUrl::is_one(url) {
            return ServerUrl::parse(url).map(Self::Server);
        }
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        let refused = |why: &str| StoreError::Open {
            location: without_secrets(url),
            why: why.to_owned(),
        };
        if path.is_empty() || path.ends_with('/') {
            return Err(refused("this names no file; give a path like arena.db"));
        }
        if path.contains("://") {
            return Err(refused(
                "expected a path, sqlite:PATH or postgres://USER@HOST/DATABASE",
            ));
        }
        let path = std::path::absolute(path).map_err(|error| refused(&error.to_string()))?;
        // One name for each file, so that all paths to it lead to the same locks.
        Ok(Self::File(path.canonicalize().unwrap_or(path)))
    }

    /// The path, or the URL without the password.
    fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(server) => server.shown().to_owned(),
            Self::Memory => "memory".to_owned(),
        }
    }

    fn closed(&self, why: &impl ToString) -> StoreError {
        StoreError::Open {
            location: self.shown(),
            why: why.to_string(),
        }
    }

    /// The pool for writing and the one for reading.
    async fn connect(&self) -> Result<(AnyPool, AnyPool), StoreError> {
        let options = self.options()?;
        match tokio::time::timeout(OPEN_TIMEOUT, self.connect_with(options)).await {
            Ok(connected) => connected.map_err(|error| self.closed(&self.advice(&error))),
            Err(_) => Err(self.closed(&format!(
                "nothing has answered for {OPEN_TIMEOUT:?}; are host and port right?"
            ))),
        }
    }

    async fn connect_with(
        &self,
        options: AnyConnectOptions,
    ) -> Result<(AnyPool, AnyPool), sqlx::Error> {
        // A pool would retry a hopeless connection for half a minute.
        let mut first = AnyConnection::connect_with(&options).await?;
        match self {
            Self::File(_) => {
                first.execute(PRAGMAS).await?;
            }
            Self::Server { .. } => has_own_session(&mut first, &options).await?,
            Self::Memory => {}
        }
        first.close().await?;
        let pool = AnyPoolOptions::new().acquire_timeout(Duration::from_secs(30));
        let with_pragmas = |pool: AnyPoolOptions| {
            pool.test_before_acquire(false)
                .after_connect(|connection, _| {
                    Box::pin(async move { connection.execute(PRAGMAS).await.map(drop) })
                })
        };
        match self {
            // Every connection would have a database of its own, which is gone when it is
            // closed. So there is one, it stays, and readers wait for writers.
            Self::Memory => {
                let pool = with_pragmas(pool)
                    .max_connections(1)
                    .idle_timeout(None)
                    .max_lifetime(None)
                    .connect_with(options)
                    .await?;
                Ok((pool.clone(), pool))
            }
            Self::File(_) => {
                let pool = with_pragmas(pool);
                let writers = pool.clone().max_connections(1);
                let readers = pool.max_connections(4);
                Ok((
                    writers.connect_with(options.clone()).await?,
                    readers.connect_with(options).await?,
                ))
            }
            Self::Server { .. } => {
                let pool = pool.max_connections(8).connect_with(options).await?;
                Ok((pool.clone(), pool))
            }
        }
    }

    pub(crate) fn options(&self) -> Result<AnyConnectOptions, StoreError> {
        let url = match self {
            Self::File(path) => format!("sqlite://{}?mode=rwc", escaped(path)),
            Self::Server(server) => return Ok(server.options().clone()),
            Self::Memory => "sqlite::memory:".to_owned(),
        };
        AnyConnectOptions::from_str(&url).map_err(|error| self.closed(&error))
    }

    /// The error, with a hint for the person who gave the URL.
    fn advice(&self, error: &sqlx::Error) -> String {
        if let Self::Server(server) = self {
            return server.advice(error);
        }
        let code = error.as_database_error().and_then(|error| error.code());
        match code.as_deref() {
            // SQLITE_NOTADB
            Some("26") => "the file is no SQLite database; name another".to_owned(),
            _ => error.to_string(),
        }
    }
}

/// Number of questions that tell a session from connections that a pool lends.
const SESSION_QUESTIONS: u32 = 4;

/// The number of the server's process that answers on a connection. As a simple query: a pool
/// takes no other for sure.
pub(crate) async fn backend(session: &mut AnyConnection) -> Result<i32, sqlx::Error> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid() AS pid");
    row.fetch_one(session).await?.try_get("pid")
}

/// Makes sure that a connection is a session of the server. A claim is a lock of a session, and
/// a pool that lends a connection for one transaction (`pool_mode = transaction` in PgBouncer)
/// would hand it to somebody else: there one process answers on two connections, or two on one.
async fn has_own_session(
    first: &mut AnyConnection,
    options: &AnyConnectOptions,
) -> Result<(), sqlx::Error> {
    let own = backend(first).await?;
    let mut second = AnyConnection::connect_with(options).await?;
    for _ in 0..SESSION_QUESTIONS {
        if backend(&mut second).await? == own || backend(first).await? != own {
            return Err(sqlx::Error::Configuration(LENT_CONNECTIONS.into()));
        }
    }
    second.close().await
}

impl fmt::Debug for StoreBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Base").field(&self.location).finish()
    }
}

impl StoreBase {
    /// The tournaments that are claimed, of a database in memory.
    pub(crate) fn claimed(&self) -> MutexGuard<'_, BTreeSet<TournamentId>> {
        self.claimed.lock()
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let location = &self.location;
        let failed = |error: sqlx::Error| location.closed(&location.advice(&error));
        let tables = match location {
            Location::File(_) | Location::Memory => {
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            }
            Location::Server { .. } => {
                "SELECT CAST(table_name AS TEXT) AS name FROM information_schema.tables
                 WHERE table_schema = current_schema()"
            }
        };
        let tables = sqlx::query(tables)
            .fetch_all(&self.writers)
            .await
            .map_err(failed)?;
        let is_ours = tables
            .iter()
            .any(|row| row.try_get::<&str, _>(0).is_ok_and(|name| name == VERSIONS));
        if !tables.is_empty() && !is_ours {
            return Err(StoreError::NotOurs {
                location: location.shown(),
            });
        }
        let versions = MIGRATIONS.iter().map(|&(version, name, sql)| {
            let sql = sql.into_sql_str();
            Migration::new(version, name.into(), MigrationType::Simple, sql, false)
        });
        let mut migrations = Migrator::with_migrations(versions.collect());
        migrations.dangerous_set_table_name(VERSIONS);
        let known = migrations.iter().map(|migration| migration.version).max();
        match migrations.run(&self.writers).await {
            Ok(()) => Ok(()),
            Err(MigrateError::VersionMissing(found)) => Err(StoreError::Newer {
                location: location.shown(),
                found,
                known: known.unwrap_or(0),
            }),
            Err(error) => Err(location.closed(&error)),
        }
    }
}

/// Creates the folder and the file. The returned lock keeps other processes from
/// creating the file or the tables at the same time: SQLite's migrator has no lock.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder is opened, to be locked"
)]
async fn prepare(path: &Path) -> io::Result<File> {
    let path = path.to_owned();
    let prepare = move || {
        let folder = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        lock.lock()?;
        let made = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        match made {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mode = path.metadata()?.permissions().mode();
                if mode & 0o077 != 0 {
                    tracing::warn!(path = %path.display(), "others may read the store, and with it the seeds of games to come: chmod 600");
                }
            }
            Err(error) => return Err(error),
        }
        Ok(lock)
    };
    match tokio::task::spawn_blocking(prepare).await {
        Ok(prepared) => prepared,
        Err(error) => Err(io::Error::other(error)),
    }
}

/// A path, escaped for a URL.
fn escaped(path: &Path) -> String {
    let mut url = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                url.push(char::from(byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_the_folder_is_in_the_list() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut files: Vec<_> = folder
            .read_dir()
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let listed: Vec<_> = MIGRATIONS
            .iter()
            .map(|(version, name, _)| format!("{version:04}_{name}.sql"))
            .collect();
        assert_eq!(listed, files);
    }

    #[tokio::test]
    async fn foreign_keys_hold_in_memory() {
        let store = Store::open_in_memory().await.unwrap();
        let lease = "INSERT INTO leases (tournament, matchup, first_group, group_count,
             seating, attempt, worker, until_ms) VALUES (1, 0, 0, 1, -1, 1, 'a', 1)";
        let refused = sqlx::query(lease).execute(&store.base.writers).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("FOREIGN KEY"), "{refused}");
    }
}
