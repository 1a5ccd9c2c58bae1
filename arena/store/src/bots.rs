//! The registry: bots that may be entered by name.

use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError,
    error::is_taken,
    sql::{damaged, number},
};

/// A bot to be entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewBot {
    /// What it is called.
    pub name: String,
    /// Which version of it this is, in its author's words.
    pub version: String,
    /// How it is started or reached, as the arena's command line takes it.
    pub spec: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// The games that it plays; none for any.
    pub games: Vec<String>,
}

/// A bot of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotRow {
    /// What was entered.
    #[serde(flatten)]
    pub bot: NewBot,
    /// Whether it was taken out again.
    pub retired: bool,
    /// Whether it is what its bare name means.
    pub newest: bool,
}

impl Store {
    /// Enters a bot, or a new version of one, which is then what its bare name
    /// means.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] where this version was entered before, even if it
    /// has been taken out; [`StoreError::BadName`].
    pub async fn add_bot(&self, bot: &NewBot) -> Result<(), StoreError> {
        check_name("name of a bot", &bot.name)?;
        check_name("version of a bot", &bot.version)?;
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
            Ok(_) => Ok(transaction.commit().await?),
            Err(error) if is_taken(&error) => Err(StoreError::Exists {
                what: "bot",
                name: format!("{}@{}", bot.name, bot.version),
                choice: "version",
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// All bots and versions, by name and then in the order in which they were
    /// entered; those that were taken out as well.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn bots(&self) -> Result<Vec<BotRow>, StoreError> {
        let rows = sqlx::query("SELECT * FROM bots ORDER BY name, number")
            .fetch_all(self.readers())
            .await?;
        let mut bots = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        for at in 0..bots.len() {
            let later = &bots[at + 1..];
            let newest = !bots[at].retired
                && !later
                    .iter()
                    .any(|other| other.bot.name == bots[at].bot.name && !other.retired);
            bots[at].newest = newest;
        }
        Ok(bots)
    }

    /// The bot that `name` means: the newest version that was not taken out, or
    /// with `name@version` that one. None where there is none.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn bot(&self, name: &str) -> Result<Option<BotRow>, StoreError> {
        let (name, version) = parts(name);
        let bots = self.bots().await?;
        Ok(bots.into_iter().find(|row| {
            row.bot.name == name
                && !row.retired
                && version.map_or(row.newest, |version| row.bot.version == version)
        }))
    }

    /// Takes out every version of a bot, or with `name@version` that one, and
    /// says how many those were. Tournaments keep what they have copied.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] where there is none.
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

/// Refuses what could not be typed again, or means something else.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), StoreError> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.trim() != name || name.chars().any(char::is_control) {
        "it has control characters, or spaces at its ends"
    } else if name.contains('@') && what.ends_with("bot") {
        "`@` stands between a bot's name and its version"
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
