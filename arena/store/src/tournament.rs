//! Tournaments: their definition, entrants and state.

use std::fmt;

use referee_core::Root;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{Any, AssertSqlSafe, Row as _, any::AnyRow};

use crate::{
    Store, StoreError,
    bots::check_name,
    contests::ContestId,
    error::is_taken,
    report,
    session::Transaction,
    sql::{Statement, damaged, number},
    store::Location,
};

/// All columns of a tournament, and the contest that it belongs to.
const SELECT: &str = "SELECT tournaments.*,
    (SELECT contest FROM contest_runs WHERE tournament = tournaments.id) AS contest
    FROM tournaments";

/// The number of a tournament in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TournamentId(pub(crate) i64);

impl TournamentId {
    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0.cast_unsigned()
    }
}

impl fmt::Display for TournamentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The state of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TournamentState {
    /// It has not been started.
    Created,
    /// An arena runs it, or was killed while it ran it.
    Running,
    /// It was stopped and can be resumed.
    Stopped,
    /// It has ended and its root is public. This state is final.
    Over,
    /// A person has ended it before its end, and its root is public. This state is final.
    Cancelled,
}

/// A person's request to the arena that plays all tournaments of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// It is to be played.
    Play,
    /// It is to be left alone until it is to be played again.
    Pause,
    /// It is to be ended for good.
    Cancel,
}

impl Wish {
    const ALL: [Self; 3] = [Self::Play, Self::Pause, Self::Cancel];

    /// The wish in a word, as in the database and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Play => "play",
            Self::Pause => "pause",
            Self::Cancel => "cancel",
        }
    }
}

impl TournamentState {
    /// The state in a word, as in the database and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Over => "over",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn read(word: &str) -> Option<Self> {
        let all = [
            Self::Created,
            Self::Running,
            Self::Stopped,
            Self::Over,
            Self::Cancelled,
        ];
        all.into_iter().find(|state| state.word() == word)
    }

    /// True if no game is played any more and its root is public.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Over | Self::Cancelled)
    }
}

/// An entrant of a tournament: a copy, so that later changes of the registry do not
/// matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewEntrant {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its SPEC: the way to start or reach it.
    pub spec: String,
    /// Its owner.
    pub owner: Option<String>,
    /// Which bot it was when the tournament was made, beyond its name: `sha256:HASH` of its
    /// files, or `built-in VERSION`. None where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
}

impl NewEntrant {
    /// The version of an entrant, if nobody says which.
    pub const FIRST_VERSION: &str = "1";

    /// An entrant of which only its name and its SPEC are known.
    #[must_use]
    pub fn new(name: impl Into<String>, spec: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: Self::FIRST_VERSION.to_owned(),
            spec: spec.into(),
            owner: None,
            identity: None,
        }
    }
}

/// A tournament to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTournament {
    /// Its name.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// Everything else that defines it. The store does not interpret it.
    pub definition: Value,
    /// The root that all seeds are derived from.
    pub root: Root,
    /// True if the root was typed, to reproduce games.
    pub reproduction: bool,
    /// The entrants: an entrant's number is its index in this list.
    pub entrants: Vec<NewEntrant>,
    /// When it was created, in milliseconds since 1970.
    pub created_unix_ms: i64,
}

/// A tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct Tournament {
    /// Its number in this store.
    pub id: TournamentId,
    /// Its name.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// As in [`NewTournament`].
    pub definition: Value,
    /// The hash of the root, which is public from the start.
    pub commitment: String,
    /// The root, which is secret until the tournament is over. None after the import
    /// of an export that was made before that.
    pub root: Option<Root>,
    /// True if the root was typed.
    pub reproduction: bool,
    /// The entrants, by number.
    pub entrants: Vec<NewEntrant>,
    /// Its state.
    pub state: TournamentState,
    /// When it was created, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// When it ended and its root became public, in milliseconds since 1970.
    pub over_unix_ms: Option<i64>,
    /// A person's request to the arena that plays all tournaments.
    pub wish: Option<Wish>,
    /// Tournaments of a higher priority are played first.
    pub priority: i64,
    /// The thing that it waits for, in words, where no worker can play it.
    pub waits: Option<String>,
    /// The contest that it belongs to: nobody sees it but by that contest.
    pub contest: Option<ContestId>,
}

/// A tournament that is not over, and of which a person has asked something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedTournament {
    /// Its number in this store.
    pub id: TournamentId,
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: TournamentState,
    /// The request for it.
    pub wish: Wish,
    /// Tournaments of a higher priority are played first.
    pub priority: i64,
    /// The contest that it belongs to.
    pub contest: Option<ContestId>,
}

/// A line of a list of tournaments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TournamentSummary {
    /// Its number in this store.
    pub id: TournamentId,
    /// Its name.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// Its state.
    pub state: TournamentState,
    /// When it was created, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// Number of its stored games.
    pub games: u64,
    /// A person's request to the arena that plays all tournaments.
    pub wish: Option<Wish>,
    /// Tournaments of a higher priority are played first.
    pub priority: i64,
}

impl NewTournament {
    /// The tournament that it becomes, without its number.
    pub(crate) fn created(&self) -> Tournament {
        Tournament {
            id: TournamentId(0),
            name: self.name.clone(),
            game: self.game.clone(),
            rules_version: self.rules_version,
            definition: self.definition.clone(),
            commitment: self.root.commitment(),
            root: Some(self.root.clone()),
            reproduction: self.reproduction,
            entrants: self.entrants.clone(),
            state: TournamentState::Created,
            created_unix_ms: self.created_unix_ms,
            over_unix_ms: None,
            wish: None,
            priority: 0,
            waits: None,
            contest: None,
        }
    }
}

impl Store {
    /// Creates a tournament.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if the name exists; [`StoreError::BadName`].
    pub async fn create(&self, new: &NewTournament) -> Result<Tournament, StoreError> {
        let mut tournament = new.created();
        let mut transaction = self.writing().await?;
        tournament.id = self
            .insert_tournament(&mut transaction, &tournament)
            .await?;
        transaction.commit().await?;
        Ok(tournament)
    }

    /// Inserts a tournament and its entrants under the next free number, and returns
    /// that number; `new.id` is ignored.
    pub(crate) async fn insert_tournament(
        &self,
        transaction: &mut Transaction,
        new: &Tournament,
    ) -> Result<TournamentId, StoreError> {
        check_name("name of a tournament", &new.name)?;
        self.lock_table(
            transaction,
            "LOCK TABLE tournaments IN SHARE ROW EXCLUSIVE MODE",
        )
        .await?;
        let row = sqlx::query(
            "INSERT INTO tournaments (id, name, game, rules_version, definition, commitment,
                 root, reproduction, state, created_ms, over_ms)
             SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
             FROM tournaments RETURNING id",
        )
        .bind(&new.name)
        .bind(&new.game)
        .bind(i64::from(new.rules_version))
        .bind(new.definition.to_string())
        .bind(&new.commitment)
        .bind(new.root.as_ref().map(Root::reveal))
        .bind(i64::from(new.reproduction))
        .bind(new.state.word())
        .bind(new.created_unix_ms)
        .bind(new.over_unix_ms)
        .fetch_one(&mut **transaction)
        .await
        .map_err(|error| {
            if is_taken(&error) {
                StoreError::Exists {
                    what: "tournament",
                    name: new.name.clone(),
                    choice: "name",
                }
            } else {
                error.into()
            }
        })?;
        let id: i64 = row.try_get(0)?;
        for (number, entrants) in (0_i64..).step_by(500).zip(new.entrants.chunks(500)) {
            let mut insert = Statement::new(
                "INSERT INTO entrants (tournament, number, name, version, spec, owner,
                     identity) VALUES ",
            );
            insert.rows((number..).zip(entrants), |row, (number, entrant)| {
                row.bind(id).bind(number);
                row.bind(entrant.name.as_str());
                row.bind(entrant.version.as_str());
                row.bind(entrant.spec.as_str());
                row.bind(entrant.owner.as_deref());
                row.bind(entrant.identity.as_deref());
            });
            insert
                .query(transaction)?
                .execute(&mut **transaction)
                .await?;
        }
        Ok(TournamentId(id))
    }

    /// The tournament with this name.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn tournament(&self, name: &str) -> Result<Option<Tournament>, StoreError> {
        let mut transaction = self.snapshot().await?;
        let row = sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE name = $1")))
            .bind(name)
            .fetch_optional(&mut *transaction)
            .await?;
        match row {
            Some(row) => Ok(Some(read(&row, &mut transaction).await?)),
            None => Ok(None),
        }
    }

    /// The tournament with this name, unless it belongs to a contest: what everybody may see.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn listed_tournament(&self, name: &str) -> Result<Option<Tournament>, StoreError> {
        let found = self.tournament(name).await?;
        Ok(found.filter(|tournament| tournament.contest.is_none()))
    }

    /// The tournament with this number.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`], or the database fails.
    pub async fn tournament_of(&self, id: TournamentId) -> Result<Tournament, StoreError> {
        Self::tournament_in(&mut self.snapshot().await?, id).await
    }

    /// The tournament with this number, read in a transaction.
    pub(crate) async fn tournament_in(
        transaction: &mut Transaction,
        id: TournamentId,
    ) -> Result<Tournament, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE id = $1")))
            .bind(id.0)
            .fetch_optional(&mut **transaction)
            .await?;
        match row {
            Some(row) => read(&row, transaction).await,
            None => Err(missing(id)),
        }
    }

    /// All tournaments but those of contests, the newest first.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn tournaments(&self) -> Result<Vec<TournamentSummary>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, name, game, state, created_ms, wish, priority,
                 (SELECT COUNT(*) FROM games WHERE tournament = tournaments.id) AS games
             FROM tournaments
             WHERE id NOT IN (SELECT tournament FROM contest_runs) ORDER BY id DESC",
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(TournamentSummary {
                    id: TournamentId(row.try_get("id")?),
                    name: row.try_get("name")?,
                    game: row.try_get("game")?,
                    state: state(row)?,
                    created_unix_ms: row.try_get("created_ms")?,
                    games: number(row, "games")?,
                    wish: wish(row)?,
                    priority: row.try_get("priority")?,
                })
            })
            .collect()
    }

    /// The tournaments that are not over and of which a person has asked something, in the
    /// order in which they are played: by priority, then the oldest first.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn queue(&self) -> Result<Vec<QueuedTournament>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, name, state, wish, priority,
                 (SELECT contest FROM contest_runs WHERE tournament = tournaments.id) AS contest
             FROM tournaments WHERE wish IS NOT NULL AND state NOT IN ('over', 'cancelled')
             ORDER BY priority DESC, id",
        )
        .fetch_all(&mut self.reader().await?)
        .await?;
        let rows = rows.iter().map(|row| {
            Ok(QueuedTournament {
                id: TournamentId(row.try_get("id")?),
                name: row.try_get("name")?,
                state: state(row)?,
                wish: wish(row)?.unwrap_or(Wish::Play),
                priority: row.try_get("priority")?,
                contest: contest(row)?,
            })
        });
        rows.collect()
    }

    /// Writes down what a person asks of a tournament.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_wish(&self, id: TournamentId, to: Option<Wish>) -> Result<(), StoreError> {
        self.change_tournament(
            sqlx::query("UPDATE tournaments SET wish = $2, waits = NULL WHERE id = $1")
                .bind(id.0)
                .bind(to.map(Wish::word)),
            id,
        )
        .await
    }

    /// Changes the definition of a tournament, which is not being played.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_definition(&self, id: TournamentId, to: &Value) -> Result<(), StoreError> {
        self.change_tournament(
            sqlx::query("UPDATE tournaments SET definition = $2 WHERE id = $1")
                .bind(id.0)
                .bind(to.to_string()),
            id,
        )
        .await
    }

    /// Says before or after which others a tournament is played.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_priority(&self, id: TournamentId, to: i64) -> Result<(), StoreError> {
        self.change_tournament(
            sqlx::query("UPDATE tournaments SET priority = $2 WHERE id = $1")
                .bind(id.0)
                .bind(to),
            id,
        )
        .await
    }

    /// Writes down what a tournament waits for, in words, where no worker can play it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_waits(&self, id: TournamentId, waits: Option<&str>) -> Result<(), StoreError> {
        self.change_tournament(
            sqlx::query("UPDATE tournaments SET waits = $2 WHERE id = $1")
                .bind(id.0)
                .bind(waits),
            id,
        )
        .await
    }

    async fn change_tournament(
        &self,
        update: sqlx::query::Query<'_, Any, sqlx::any::AnyArguments>,
        id: TournamentId,
    ) -> Result<(), StoreError> {
        let mut transaction = self.writing().await?;
        let changed = update.execute(&mut *transaction).await?;
        transaction.commit().await?;
        match changed.rows_affected() {
            0 => Err(missing(id)),
            _ => Ok(()),
        }
    }

    /// Number of stored games of a tournament.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn game_count(&self, id: TournamentId) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT COUNT(*) AS games FROM games WHERE tournament = $1")
            .bind(id.0)
            .fetch_one(&mut self.reader().await?)
            .await?;
        number(&row, "games")
    }

    /// Sets the state of a tournament; `at_unix_ms` is stored as its end if it is final.
    /// From then on its games are refused, since its root is public and anybody can
    /// compute its deals.
    ///
    /// # Errors
    ///
    /// [`StoreError::Over`] if its state is final and `to` is another one;
    /// [`StoreError::Missing`].
    pub async fn set_state(
        &self,
        id: TournamentId,
        to: TournamentState,
        at_unix_ms: i64,
    ) -> Result<(), StoreError> {
        let mut transaction = self.writing().await?;
        let was = self.lock_tournament(&mut transaction, id).await?.state;
        if was.is_final() {
            return match to == was {
                true => Ok(()),
                false => Err(StoreError::Over {
                    id: id.0,
                    to: to.word(),
                }),
            };
        }
        sqlx::query("UPDATE tournaments SET state = $2, over_ms = $3, waits = NULL WHERE id = $1")
            .bind(id.0)
            .bind(to.word())
            .bind(to.is_final().then_some(at_unix_ms))
            .execute(&mut *transaction)
            .await?;
        if to.is_final() {
            report::release(&mut transaction, id, None).await?;
        }
        transaction.commit().await
    }

    /// What a transaction has to know before it changes results. Until it ends, other
    /// transactions that call this for the same tournament wait.
    pub(crate) async fn lock_tournament(
        &self,
        transaction: &mut Transaction,
        id: TournamentId,
    ) -> Result<LockedTournament, StoreError> {
        let select = match self.base.location {
            Location::File(_) | Location::Memory => "SELECT state FROM tournaments WHERE id = $1",
            Location::Server { .. } => {
                "SELECT state FROM tournaments WHERE id = $1 FOR NO KEY UPDATE"
            }
        };
        let row = sqlx::query(select)
            .bind(id.0)
            .fetch_optional(&mut **transaction)
            .await?
            .ok_or_else(|| missing(id))?;
        let now = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM entrants WHERE tournament = $1) AS entrants,
                 COALESCE((SELECT change FROM groups WHERE tournament = $1 AND change > 0
                     ORDER BY change DESC LIMIT 1), 0) AS last_change",
        )
        .bind(id.0)
        .fetch_one(&mut **transaction)
        .await?;
        Ok(LockedTournament {
            state: state(&row)?,
            entrants: number(&now, "entrants")?,
            last_change: number(&now, "last_change")?,
        })
    }
}

/// A tournament whose results nobody else changes.
pub(crate) struct LockedTournament {
    pub(crate) state: TournamentState,
    /// Number of its entrants.
    pub(crate) entrants: usize,
    /// The number of the last transaction that completed a group of it; 0 before the first.
    pub(crate) last_change: i64,
}

pub(crate) fn missing(id: TournamentId) -> StoreError {
    StoreError::Missing {
        what: "tournament",
        name: id.to_string(),
    }
}

fn wish(row: &AnyRow) -> Result<Option<Wish>, StoreError> {
    let word: Option<&str> = row.try_get("wish")?;
    let read = |word| {
        let found = Wish::ALL.into_iter().find(|wish| wish.word() == word);
        found.ok_or_else(|| damaged("a wish", &word))
    };
    word.map(read).transpose()
}

fn contest(row: &AnyRow) -> Result<Option<ContestId>, StoreError> {
    let id: Option<i64> = row.try_get("contest")?;
    Ok(id.map(ContestId))
}

pub(crate) fn state(row: &AnyRow) -> Result<TournamentState, StoreError> {
    let word: &str = row.try_get("state")?;
    TournamentState::read(word).ok_or_else(|| damaged("the state of a tournament", &word))
}

async fn read(row: &AnyRow, transaction: &mut Transaction) -> Result<Tournament, StoreError> {
    let id: i64 = row.try_get("id")?;
    let entrants = sqlx::query(
        "SELECT name, version, spec, owner, identity FROM entrants
         WHERE tournament = $1 ORDER BY number",
    )
    .bind(id)
    .fetch_all(&mut **transaction)
    .await?;
    let entrants = entrants.iter().map(|row| {
        Ok(NewEntrant {
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            spec: row.try_get("spec")?,
            owner: row.try_get("owner")?,
            identity: row.try_get("identity")?,
        })
    });
    let definition: &str = row.try_get("definition")?;
    let root: Option<&str> = row.try_get("root")?;
    let root = root
        .map(|root| root.parse().map_err(|_| damaged("a root", &"empty")))
        .transpose()?;
    Ok(Tournament {
        id: TournamentId(id),
        name: row.try_get("name")?,
        game: row.try_get("game")?,
        rules_version: number(row, "rules_version")?,
        definition: serde_json::from_str(definition)
            .map_err(|_| damaged("a definition", &definition))?,
        commitment: row.try_get("commitment")?,
        root,
        reproduction: row.try_get::<i64, _>("reproduction")? != 0,
        entrants: entrants.collect::<Result<_, StoreError>>()?,
        state: state(row)?,
        created_unix_ms: row.try_get("created_ms")?,
        over_unix_ms: row.try_get("over_ms")?,
        wish: wish(row)?,
        priority: row.try_get("priority")?,
        waits: row.try_get("waits")?,
        contest: contest(row)?,
    })
}
