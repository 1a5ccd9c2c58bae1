//! Contests: their definitions, people, entries, and the tournaments that they play. What the
//! rules of a contest are is not known here; what must be decided within a transaction is handed in
//! as a function.

mod challenges;
mod entries;
mod people;
mod runs;

use std::fmt;

use referee_core::Root;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{Row as _, any::AnyRow};

pub use challenges::Challenge;
pub use entries::{DetailsOf, ENTRY_BOT, Entry, EntryState, NewEntry, Place};
pub use people::{Contestant, NewPerson, Person, PersonNumber, Role};
pub use runs::{ContestRun, ContestRunKind, LOGGED_ROUNDS, NewContestRun};

use crate::{
    Store, StoreError,
    bots::check_name,
    error::is_taken,
    session::Transaction,
    sql::{damaged, number},
    store::Location,
};

/// The number of a contest in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContestId(pub(crate) i64);

impl fmt::Display for ContestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A contest to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewContest {
    /// Its name.
    pub name: String,
    /// Everything that defines it. The store does not interpret it.
    pub definition: Value,
    /// The root of the deals of exams and leagues, which is never told.
    pub root: Root,
    /// The root of the final, which is told when the contest is published.
    pub final_root: Root,
    /// When it is created, in milliseconds since 1970.
    pub created_unix_ms: i64,
}

/// A contest.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// Its number in this store.
    pub id: ContestId,
    /// Its name.
    pub name: String,
    /// As in [`NewContest`].
    pub definition: Value,
    /// As in [`NewContest`].
    pub root: Root,
    /// As in [`NewContest`].
    pub final_root: Root,
    /// When it was created, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// When it was published, in milliseconds since 1970.
    pub published_unix_ms: Option<i64>,
}

/// A line of a contest's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: u64,
    /// When it was written, in milliseconds since 1970.
    pub at_unix_ms: i64,
    /// Who did it.
    pub who: String,
    /// What was done.
    pub what: String,
}

/// Somebody who changes a contest, and when: for its log.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    /// Who.
    pub who: &'a str,
    /// When, in milliseconds since 1970.
    pub at_unix_ms: i64,
}

impl Store {
    /// Creates a contest.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if the name exists; [`StoreError::BadName`].
    pub async fn create_contest(&self, new: &NewContest, who: &str) -> Result<Contest, StoreError> {
        check_name("name of a contest", &new.name)?;
        let mut change = self.writing().await?;
        let lock = "LOCK TABLE contests IN SHARE ROW EXCLUSIVE MODE";
        self.lock_table(&mut change, lock).await?;
        let row = sqlx::query(
            "INSERT INTO contests (id, name, definition, root, final_root, created_ms)
             SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5 FROM contests RETURNING *",
        )
        .bind(&new.name)
        .bind(new.definition.to_string())
        .bind(new.root.reveal())
        .bind(new.final_root.reveal())
        .bind(new.created_unix_ms)
        .fetch_one(&mut *change)
        .await
        .map_err(|error| match is_taken(&error) {
            true => StoreError::Exists {
                what: "contest",
                name: new.name.clone(),
                choice: "name",
            },
            false => error.into(),
        })?;
        let contest = read(&row)?;
        let by = By {
            who,
            at_unix_ms: new.created_unix_ms,
        };
        self.log(&mut change, contest.id, by, "created").await?;
        change.commit().await?;
        Ok(contest)
    }

    /// The contest with this name.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn contest(&self, name: &str) -> Result<Option<Contest>, StoreError> {
        let row = sqlx::query("SELECT * FROM contests WHERE name = $1")
            .bind(name)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// All contests, the newest first.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn contests(&self) -> Result<Vec<Contest>, StoreError> {
        let rows = sqlx::query("SELECT * FROM contests ORDER BY id DESC")
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Changes what defines a contest. `what` changes is for the log.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn change_contest(
        &self,
        id: ContestId,
        definition: &Value,
        what: &str,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        sqlx::query("UPDATE contests SET definition = $2 WHERE id = $1")
            .bind(id.0)
            .bind(definition.to_string())
            .execute(&mut *change)
            .await?;
        self.log(&mut change, id, by, what).await?;
        change.commit().await
    }

    /// Publishes a contest: from then on its final root is told. One that is published stays so.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn publish_contest(&self, id: ContestId, by: By<'_>) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let published = sqlx::query(
            "UPDATE contests SET published_ms = $2 WHERE id = $1 AND published_ms IS NULL",
        )
        .bind(id.0)
        .bind(by.at_unix_ms)
        .execute(&mut *change)
        .await?;
        if published.rows_affected() > 0 {
            self.log(&mut change, id, by, "published").await?;
        }
        change.commit().await
    }

    /// The log of a contest, from its beginning.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn contest_log(&self, id: ContestId) -> Result<Vec<LogLine>, StoreError> {
        let rows = sqlx::query("SELECT * FROM contest_log WHERE contest = $1 ORDER BY number")
            .bind(id.0)
            .fetch_all(&mut self.reader().await?)
            .await?;
        let lines = rows.iter().map(|row| {
            Ok(LogLine {
                number: number(row, "number")?,
                at_unix_ms: row.try_get("at_ms")?,
                who: row.try_get("who")?,
                what: row.try_get("what")?,
            })
        });
        lines.collect()
    }

    /// Appends a line to the log of a contest, which the transaction has locked.
    async fn log(
        &self,
        change: &mut Transaction,
        id: ContestId,
        by: By<'_>,
        what: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO contest_log (contest, number, at_ms, who, what)
             SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3, $4 FROM contest_log
             WHERE contest = $5",
        )
        .bind(id.0)
        .bind(by.at_unix_ms)
        .bind(by.who)
        .bind(what)
        .bind(id.0)
        .execute(&mut **change)
        .await?;
        Ok(())
    }

    /// Until the transaction ends, others that call this for the same contest wait.
    async fn lock_contest(
        &self,
        change: &mut Transaction,
        id: ContestId,
    ) -> Result<(), StoreError> {
        let select = match self.base.location {
            Location::File(_) | Location::Memory => "SELECT id FROM contests WHERE id = $1",
            Location::Server { .. } => "SELECT id FROM contests WHERE id = $1 FOR NO KEY UPDATE",
        };
        let row = sqlx::query(select)
            .bind(id.0)
            .fetch_optional(&mut **change)
            .await?;
        match row {
            Some(_) => Ok(()),
            None => missing("contest", &id),
        }
    }
}

fn missing<T>(what: &'static str, name: &impl fmt::Display) -> Result<T, StoreError> {
    let name = name.to_string();
    Err(StoreError::Missing { what, name })
}

fn read(row: &AnyRow) -> Result<Contest, StoreError> {
    let definition: &str = row.try_get("definition")?;
    Ok(Contest {
        id: ContestId(row.try_get("id")?),
        name: row.try_get("name")?,
        definition: serde_json::from_str(definition)
            .map_err(|_| damaged("the definition of a contest", &definition))?,
        root: root(row, "root")?,
        final_root: root(row, "final_root")?,
        created_unix_ms: row.try_get("created_ms")?,
        published_unix_ms: row.try_get("published_ms")?,
    })
}

fn root(row: &AnyRow, column: &str) -> Result<Root, StoreError> {
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|_| damaged("a root", &"empty"))
}
