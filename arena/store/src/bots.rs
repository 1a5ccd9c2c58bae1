//! The registry: bots that tournaments can enter by name.

use std::collections::HashSet;

use referee_core::is_printable;
use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError,
    error::is_taken,
    sql::{damaged, number},
};

/// A bot to be registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewBot {
    /// Its name.
    pub name: String,
    /// Its version, as its author calls it.
    pub version: String,
    /// Its SPEC: the way to start or reach it, as on the command line.
    pub spec: String,
    /// Its owner.
    pub owner: Option<String>,
    /// The games that it plays; empty for every game.
    pub games: Vec<String>,
}

/// A bot of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotRow {
    /// The bot as it was registered.
    #[serde(flatten)]
    pub bot: NewBot,
    /// True if it has been removed.
    pub retired: bool,
    /// True if its name without a version means this one.
    pub newest: bool,
}

impl Store {
    /// Registers a bot, or a new version of one. From then on the name without a
    /// version means this one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if this version was registered before, even if it has
    /// been removed; [`StoreError::BadName`].
    pub async fn add_bot(&self, bot: &NewBot) -> Result<(), StoreError> {
        check_name("name of a bot", &bot.name)?;
        check_name("version of a bot", &bot.version)?;
        if let Some(owner) = &bot.owner {
            check_name("owner", owner)?;
        }
        let games = serde_json::to_string(&bot.games).expect("strings can be written");
        let mut transaction = self.writing().await?;
        self.lock_table(
            &mut transaction,
            "LOCK TABLE bots IN SHARE ROW EXCLUSIVE MODE",
        )
        .await?;
        let added = sqlx::query(
            "INSERT INTO bots (name, version, spec, owner, games, number, retired)
             SELECT $1, $2, $3, $4, $5, COALESCE(MAX(number), 0) + 1, 0 FROM bots",
        )
        .bind(&bot.name)
        .bind(&bot.version)
        .bind(&bot.spec)
        .bind(bot.owner.as_deref())
        .bind(games)
        .execute(&mut *transaction)
        .await;
        match added {
            Ok(_) => transaction.commit().await,
            Err(error) if is_taken(&error) => Err(StoreError::Exists {
                what: "bot",
                name: format!("{}@{}", bot.name, bot.version),
                choice: "version",
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// All bots and versions, including removed ones, by name and then in the order in
    /// which they were registered.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn bots(&self) -> Result<Vec<BotRow>, StoreError> {
        let rows = sqlx::query("SELECT * FROM bots ORDER BY name, number")
            .fetch_all(&mut self.reader().await?)
            .await?;
        with_newest(&rows)
    }

    /// The bot that `name` means: the newest version that has not been removed, or
    /// with `name@version` that version. None if there is no such bot.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn bot(&self, name: &str) -> Result<Option<BotRow>, StoreError> {
        let (name, version) = parts(name);
        let rows = sqlx::query("SELECT * FROM bots WHERE name = $1 ORDER BY number")
            .bind(name)
            .fetch_all(&mut self.reader().await?)
            .await?;
        Ok(with_newest(&rows)?.into_iter().find(|row| {
            !row.retired && version.map_or(row.newest, |version| row.bot.version == version)
        }))
    }

    /// Removes every version of a bot, or with `name@version` that version, and
    /// returns how many versions those were. Tournaments keep their copies.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] if there is no such bot.
    pub async fn remove_bot(&self, name: &str) -> Result<u64, StoreError> {
        let (bare, version) = parts(name);
        let mut transaction = self.writing().await?;
        let retired = sqlx::query(
            "UPDATE bots SET retired = 1
             WHERE name = $1 AND retired = 0 AND ($2 = 0 OR version = $3)",
        )
        .bind(bare)
        .bind(i64::from(version.is_some()))
        .bind(version.unwrap_or(""))
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        if retired == 0 {
            return Err(StoreError::Missing {
                what: "bot",
                name: name.to_owned(),
            });
        }
        Ok(retired)
    }
}

/// Refuses names that are hard to type, and names with a second meaning.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), StoreError> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.trim() != name || !name.chars().all(is_printable) {
        "it contains control characters, or begins or ends with a space"
    } else if name.contains('@') && what.ends_with("bot") {
        "`@` separates a bot's name from its version"
    } else if name.chars().count() > 200 {
        "it has more than 200 characters"
    } else {
        return Ok(());
    };
    Err(StoreError::BadName {
        what,
        name: name.to_owned(),
        why,
    })
}

/// Rows in order of their numbers.
fn with_newest(rows: &[AnyRow]) -> Result<Vec<BotRow>, StoreError> {
    let mut bots = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let mut later = HashSet::new();
    for row in bots.iter_mut().rev().filter(|row| !row.retired) {
        row.newest = later.insert(row.bot.name.clone());
    }
    Ok(bots)
}

fn parts(name: &str) -> (&str, Option<&str>) {
    match name.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (name, None),
    }
}

fn read(row: &AnyRow) -> Result<BotRow, StoreError> {
    let games: &str = row.try_get("games")?;
    Ok(BotRow {
        bot: NewBot {
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            spec: row.try_get("spec")?,
            owner: row.try_get("owner")?,
            games: serde_json::from_str(games).map_err(|_| damaged("a list of games", &games))?,
        },
        retired: number::<i64>(row, "retired")? != 0,
        newest: false,
    })
}
