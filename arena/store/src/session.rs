//! Every statement of the store goes through here: a connection of a pool, and transactions
//! on it. A connection returns to its pool only when it is known to have no open transaction.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::{
    FutureExt as _, StreamExt as _, TryStreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use sqlx::{
    Any, AnyConnection, AnyPool, Either, Executor, SqlStr,
    any::{AnyArguments, AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo},
    pool::PoolConnection,
};

use crate::{FaultMoment, StatementFault, StoreError};

/// Longest time that a database may take to roll back. A server that does not answer would keep the
/// place of the connection in its pool.
const ROLLBACK_LIMIT: Duration = Duration::from_secs(5);

/// Says of each statement, by its text, whether it fails.
pub type StatementFaults = dyn Fn(&str) -> Option<StatementFault> + Send + Sync;

type QueryStep = Either<AnyQueryResult, AnyRow>;

/// A connection of a pool.
pub(crate) struct PooledConnection {
    connection: PoolConnection<Any>,
    faults: Option<Arc<StatementFaults>>,
}

impl PooledConnection {
    pub(crate) async fn of(
        pool: &AnyPool,
        faults: Option<Arc<StatementFaults>>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection: pool.acquire().await?,
            faults,
        })
    }

    /// True if it leads to SQLite, and not to PostgreSQL.
    pub(crate) fn is_sqlite(&self) -> bool {
        self.connection.backend_name() == "SQLite"
    }

    /// Runs a statement, unless it is to fail.
    async fn run(
        &mut self,
        faults: &StatementFaults,
        sql: SqlStr,
        arguments: Option<AnyArguments>,
    ) -> Result<Vec<QueryStep>, sqlx::Error> {
        let connection: &mut AnyConnection = &mut self.connection;
        let fault = faults(sql.as_str());
        if let Some(fault) = fault
            && fault.moment != FaultMoment::After
        {
            if fault.moment == FaultMoment::Ends {
                // Where there was no transaction it fails, as it should.
                let _ = connection.execute("ROLLBACK").await;
            }
            return Err(fault.error());
        }
        let steps = connection
            .fetch_many((sql, arguments))
            .try_collect()
            .await?;
        fault.map_or(Ok(steps), |fault| Err(fault.error()))
    }

    /// Ends whatever transaction there is. False where it is not certain that there is none.
    async fn roll_back(&mut self) -> bool {
        if self.execute("ROLLBACK").await.is_ok() {
            return true;
        }
        // After some errors SQLite has ended the transaction itself, and refuses to roll back.
        // Where another one can begin and end, there was none.
        self.is_sqlite()
            && self.execute("BEGIN").await.is_ok()
            && self.execute("ROLLBACK").await.is_ok()
    }

    /// Gives a connection back whose transaction was not committed, or closes it. The only
    /// connection of a database in memory has nothing but memory to fail, and stays.
    async fn settle(mut self, is_only_one: bool) {
        for _ in 0..if is_only_one { 5 } else { 1 } {
            let clean = tokio::time::timeout(ROLLBACK_LIMIT, self.roll_back());
            if clean.await.unwrap_or(false) {
                return;
            }
        }
        if is_only_one {
            tracing::error!("a transaction in memory could not be rolled back");
            return;
        }
        tracing::warn!("a transaction could not be rolled back; its connection is closed");
        self.connection.close_on_drop();
    }
}

impl fmt::Debug for PooledConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl<'c> Executor<'c> for &'c mut PooledConnection {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        mut query: E,
    ) -> BoxStream<'e, Result<QueryStep, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + sqlx::Execute<'q, Any>,
    {
        let Some(faults) = self.faults.clone() else {
            return self.connection.fetch_many(query);
        };
        let arguments = query.take_arguments().map_err(sqlx::Error::Encode);
        let sql = query.sql();
        let run = async move { self.run(&*faults, sql, arguments?).await };
        stream::once(run)
            .map_ok(|steps| stream::iter(steps.into_iter().map(Ok)))
            .try_flatten()
            .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, Result<Option<AnyRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + sqlx::Execute<'q, Any>,
    {
        if self.faults.is_none() {
            return self.connection.fetch_optional(query);
        }
        let rows = self.fetch(query).try_collect();
        rows.map(|rows| rows.map(|rows: Vec<AnyRow>| rows.into_iter().next()))
            .boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        self.connection.prepare_with(sql, parameters)
    }
}

/// A transaction. Where it is dropped without a commit it is rolled back, and only then its
/// connection returns to the pool.
///
/// It is not that of `sqlx`, which counts transactions apart from the database: after a
/// rollback that fails it takes the connection for one with an open transaction, for ever.
#[derive(Debug)]
pub(crate) struct Transaction {
    /// None when it has ended.
    session: Option<PooledConnection>,
    /// True if its connection is the only one, with which the database would be gone.
    is_only_one: bool,
}

impl Transaction {
    pub(crate) async fn begin(
        session: PooledConnection,
        begin: &'static str,
        is_only_one: bool,
    ) -> Result<Self, StoreError> {
        // Whether the statement fails or is never heard of, what it began is ended.
        let mut transaction = Self {
            session: Some(session),
            is_only_one,
        };
        transaction.execute(begin).await?;
        Ok(transaction)
    }

    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        self.execute("COMMIT").await?;
        self.session = None;
        Ok(())
    }
}

impl std::ops::Deref for Transaction {
    type Target = PooledConnection;

    fn deref(&self) -> &PooledConnection {
        self.session.as_ref().expect("a commit consumes it")
    }
}

impl std::ops::DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut PooledConnection {
        self.session.as_mut().expect("a commit consumes it")
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            tokio::spawn(session.settle(self.is_only_one));
        }
    }
}
