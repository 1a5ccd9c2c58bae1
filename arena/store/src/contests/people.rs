//! The people of a contest, and those who are ranked.

use serde::{Deserialize, Serialize};
use sqlx::{
    Any, Row as _,
    any::{AnyArguments, AnyRow},
    query::Query,
};

use super::{By, ContestId, ENTRY_BOT, missing};
use crate::{
    Store, StoreError, archives,
    bots::check_name,
    error::is_taken,
    session::Transaction,
    sql::{damaged, number, signed},
};

/// The number of a person within a contest.
pub type PersonNumber = u64;

/// The beginning of the pseudonyms that contestants are given.
const NAMELESS: &str = "contestant ";
/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything, and changes it.
    Organiser,
    /// Hands in.
    Contestant,
    /// Looks on.
    Guest,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Organiser, Self::Contestant, Self::Guest];

    /// The role in a word, as in the database and in files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Organiser => "organiser",
            Self::Contestant => "contestant",
            Self::Guest => "guest",
        }
    }
}

/// A person to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPerson {
    /// What the person may do.
    pub role: Role,
    /// The person's name.
    pub name: String,
    /// The name that the others see; without one it is the team's, or `contestant` and the number.
    pub pseudonym: Option<String>,
    /// The person's number elsewhere, as at a university.
    pub external_id: Option<String>,
    /// The group of the class.
    pub section: Option<String>,
    /// The team; those with the same one are ranked as one.
    pub team: Option<String>,
    /// The SHA-256 of the person's token, in hexadecimal digits.
    pub token_hash: String,
}

/// A person of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The number within the contest.
    pub number: PersonNumber,
    /// What the person may do.
    pub role: Role,
    /// The contestant that the person is, or belongs to. Contestants alone have one.
    pub contestant: Option<u64>,
    /// The name; none where the person was forgotten.
    pub name: Option<String>,
    /// The person's number elsewhere.
    pub external_id: Option<String>,
    /// The group of the class.
    pub section: Option<String>,
    /// The SHA-256 of the token; none where the person can't log in.
    pub token_hash: Option<String>,
}

/// One who is ranked: a person, or a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// The number within the contest.
    pub number: u64,
    /// The name that the others see.
    pub pseudonym: String,
    /// The team's name; none where it is one person.
    pub team: Option<String>,
    /// The moment until which it may hand in, in milliseconds since 1970, where that is not the
    /// contest's.
    pub until_unix_ms: Option<i64>,
    /// Reason why it is out.
    pub disqualified: Option<String>,
}

impl Store {
    /// Adds people, all or none. Those of one team become one contestant, also with those of it
    /// who are there already. Gives their numbers.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadName`]; a pseudonym or an external id is there already
    /// ([`StoreError::Exists`]); [`StoreError::Missing`].
    pub async fn add_people(
        &self,
        id: ContestId,
        people: &[NewPerson],
        by: By<'_>,
    ) -> Result<Vec<PersonNumber>, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let mut known = read_contestants(&mut change, id).await?;
        let persons = read_people(&mut change, id).await?;
        let first = persons.last().map_or(1, |last| last.number + 1);
        let mut ids: Vec<Option<String>> = persons.into_iter().map(|one| one.external_id).collect();
        let mut numbers = Vec::new();
        for (next, new) in (first..).zip(people) {
            check(new)?;
            if new.external_id.is_some() && ids.contains(&new.external_id) {
                return exists("person with the id", new.external_id.as_deref(), "id");
            }
            ids.push(new.external_id.clone());
            let contestant = match new.role {
                Role::Contestant => Some(self.seat(&mut change, id, new, &mut known).await?),
                Role::Organiser | Role::Guest => None,
            };
            let added = sqlx::query(
                "INSERT INTO people (contest, number, role, contestant, name, external_id,
                     section, token_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(id.0)
            .bind(signed(next)?)
            .bind(new.role.word())
            .bind(contestant.map(signed).transpose()?)
            .bind(&new.name)
            .bind(new.external_id.as_deref())
            .bind(new.section.as_deref())
            .bind(&new.token_hash)
            .execute(&mut *change)
            .await;
            match added {
                Err(error) if is_taken(&error) => return exists("token", Some("…"), "token"),
                added => added?,
            };
            numbers.push(next);
        }
        let what = match people.len() {
            1 => "added 1 person".to_owned(),
            many => format!("added {many} people"),
        };
        self.log(&mut change, id, by, &what).await?;
        change.commit().await?;
        Ok(numbers)
    }

    /// The number of the contestant that a new person is or belongs to.
    async fn seat(
        &self,
        change: &mut Transaction,
        id: ContestId,
        new: &NewPerson,
        known: &mut Vec<Contestant>,
    ) -> Result<u64, StoreError> {
        let of_team = |one: &&Contestant| new.team.is_some() && one.team == new.team;
        if let Some(team) = known.iter().find(of_team) {
            return Ok(team.number);
        }
        let number = known.last().map_or(1, |last| last.number + 1);
        let shown = new.pseudonym.clone().or_else(|| new.team.clone());
        let pseudonym = shown.unwrap_or_else(|| nameless(number));
        if known.iter().any(|one| one.pseudonym == pseudonym) {
            return exists("contestant", Some(&pseudonym), "pseudonym");
        }
        let contestant = Contestant {
            number,
            pseudonym,
            team: new.team.clone(),
            until_unix_ms: None,
            disqualified: None,
        };
        sqlx::query(
            "INSERT INTO contestants (contest, number, pseudonym, team) VALUES ($1, $2, $3, $4)",
        )
        .bind(id.0)
        .bind(signed(contestant.number)?)
        .bind(&contestant.pseudonym)
        .bind(contestant.team.as_deref())
        .execute(&mut **change)
        .await?;
        let number = contestant.number;
        known.push(contestant);
        Ok(number)
    }

    /// The people of a contest, by number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn people(&self, id: ContestId) -> Result<Vec<Person>, StoreError> {
        read_people(&mut self.snapshot().await?, id).await
    }

    /// The contestants of a contest, by number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn contestants(&self, id: ContestId) -> Result<Vec<Contestant>, StoreError> {
        read_contestants(&mut self.snapshot().await?, id).await
    }

    /// The person whose token has this hash.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn person_of_token(
        &self,
        token_hash: &str,
    ) -> Result<Option<(ContestId, Person)>, StoreError> {
        let row = sqlx::query("SELECT * FROM people WHERE token_hash = $1")
            .bind(token_hash)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        row.as_ref().map(of_a_contest).transpose()
    }

    /// The people whose external id this is, at most one of each contest. Those whose token was taken
    /// away are not among them: they can't log in.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn people_of_external_id(
        &self,
        external_id: &str,
    ) -> Result<Vec<(ContestId, Person)>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM people WHERE external_id = $1 AND token_hash IS NOT NULL")
                .bind(external_id)
                .fetch_all(&mut self.reader().await?)
                .await?;
        rows.iter().map(of_a_contest).collect()
    }

    /// Gives a person a new token, or with none takes the old one away. Whoever was logged in by
    /// the old one is so no more.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_token(
        &self,
        id: ContestId,
        person: PersonNumber,
        token_hash: Option<&str>,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let changed =
            sqlx::query("UPDATE people SET token_hash = $3 WHERE contest = $1 AND number = $2")
                .bind(id.0)
                .bind(signed(person)?)
                .bind(token_hash)
                .execute(&mut *change)
                .await?;
        if changed.rows_affected() == 0 {
            return missing("person", &person);
        }
        log_out_all(&mut change, id, person).await?;
        let what = match token_hash {
            Some(_) => format!("gave person {person} a new token"),
            None => format!("took the token of person {person} away"),
        };
        self.log(&mut change, id, by, &what).await?;
        change.commit().await
    }

    /// Forgets a person: name, id, group, token, what was handed in, what builds and games said of it,
    /// and what was built of it, unless it is still being played. Results stay, under the contestant's
    /// number. A contestant of which nobody is left is shown by its number.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn forget_person(
        &self,
        id: ContestId,
        person: PersonNumber,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let number_of = signed(person)?;
        let row = sqlx::query(
            "UPDATE people SET name = NULL, external_id = NULL, section = NULL, token_hash = NULL
             WHERE contest = $1 AND number = $2 RETURNING contestant",
        )
        .bind(id.0)
        .bind(number_of)
        .fetch_optional(&mut *change)
        .await?;
        let Some(row) = row else {
            return missing("person", &person);
        };
        log_out_all(&mut change, id, person).await?;
        sqlx::query(
            "DELETE FROM uploads WHERE contest = $1 AND entry IN
                 (SELECT number FROM entries WHERE contest = $2 AND person = $3)",
        )
        .bind(id.0)
        .bind(id.0)
        .bind(number_of)
        .execute(&mut *change)
        .await?;
        sqlx::query("UPDATE entries SET details = NULL WHERE contest = $1 AND person = $2")
            .bind(id.0)
            .bind(number_of)
            .execute(&mut *change)
            .await?;
        remove_bots(&mut change, id, number_of).await?;
        remove_logs(&mut change, id, number_of).await?;
        if let Some(contestant) = row.try_get::<Option<i64>, _>("contestant")? {
            sqlx::query(
                "UPDATE contestants SET pseudonym = $3, team = NULL
                 WHERE contest = $1 AND number = $2 AND NOT EXISTS
                     (SELECT 1 FROM people WHERE contest = $4 AND contestant = $5
                          AND name IS NOT NULL)",
            )
            .bind(id.0)
            .bind(contestant)
            .bind(nameless(contestant.cast_unsigned()))
            .bind(id.0)
            .bind(contestant)
            .execute(&mut *change)
            .await?;
        }
        let what = format!("forgot person {person}");
        self.log(&mut change, id, by, &what).await?;
        change.commit().await
    }

    /// Says until when a contestant may hand in, and the same in words for the log; none is as
    /// everybody may.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn set_until(
        &self,
        id: ContestId,
        contestant: u64,
        until_unix_ms: Option<i64>,
        words: &str,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let what = match until_unix_ms {
            Some(_) => format!("contestant {contestant} may hand in until {words}"),
            None => format!("contestant {contestant} has no extension"),
        };
        let set = "UPDATE contestants SET until_ms = $1 WHERE contest = $2 AND number = $3";
        let set = sqlx::query(set).bind(until_unix_ms);
        self.change_contestant(set, id, contestant, &what, by).await
    }

    /// Changes a contestant by a statement that still lacks the contest and the number, its last
    /// parameters.
    async fn change_contestant(
        &self,
        update: Query<'_, Any, AnyArguments>,
        id: ContestId,
        contestant: u64,
        what: &str,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let update = update.bind(id.0).bind(signed(contestant)?);
        if update.execute(&mut *change).await?.rows_affected() == 0 {
            return missing("contestant", &contestant);
        }
        self.log(&mut change, id, by, what).await?;
        change.commit().await
    }

    /// Takes a contestant out, with the reason; with none it is in again.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadName`] of the reason; [`StoreError::Missing`]; the database fails.
    pub async fn disqualify(
        &self,
        id: ContestId,
        contestant: u64,
        reason: Option<&str>,
        by: By<'_>,
    ) -> Result<(), StoreError> {
        let what = match reason {
            Some(reason) => {
                check_name("reason", reason)?;
                format!("disqualified contestant {contestant}: {reason}")
            }
            None => format!("contestant {contestant} is in again"),
        };
        let set = "UPDATE contestants SET disqualified = $1 WHERE contest = $2 AND number = $3";
        let set = sqlx::query(set).bind(reason);
        self.change_contestant(set, id, contestant, &what, by).await
    }

    /// Logs a person in who has shown the token with the hash `by_token`: until then, whoever has the
    /// secret with the hash `secret_hash` is that person. Logins that have ended are removed. False
    /// where that token is not the person's any more.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn log_in(
        &self,
        id: ContestId,
        person: PersonNumber,
        by_token: &str,
        secret_hash: &str,
        now_unix_ms: i64,
        until_unix_ms: i64,
    ) -> Result<bool, StoreError> {
        let mut change = self.writing().await?;
        // Nobody takes the token away meanwhile.
        self.lock_contest(&mut change, id).await?;
        sqlx::query("DELETE FROM logins WHERE until_ms <= $1")
            .bind(now_unix_ms)
            .execute(&mut *change)
            .await?;
        let logged_in = sqlx::query(
            "INSERT INTO logins (secret_hash, contest, person, until_ms)
             SELECT $1, contest, number, $2 FROM people
             WHERE contest = $3 AND number = $4 AND token_hash = $5",
        )
        .bind(secret_hash)
        .bind(until_unix_ms)
        .bind(id.0)
        .bind(signed(person)?)
        .bind(by_token)
        .execute(&mut *change)
        .await?;
        change.commit().await?;
        Ok(logged_in.rows_affected() > 0)
    }

    /// The person who is logged in by the secret with this hash.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn person_of_login(
        &self,
        secret_hash: &str,
        now_unix_ms: i64,
    ) -> Result<Option<(ContestId, Person)>, StoreError> {
        let row = sqlx::query(
            "SELECT people.* FROM people JOIN logins
                 ON logins.contest = people.contest AND logins.person = people.number
             WHERE secret_hash = $1 AND until_ms > $2 AND token_hash IS NOT NULL",
        )
        .bind(secret_hash)
        .bind(now_unix_ms)
        .fetch_optional(&mut self.reader().await?)
        .await?;
        row.as_ref().map(of_a_contest).transpose()
    }

    /// Ends a login.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn log_out(&self, secret_hash: &str) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        sqlx::query("DELETE FROM logins WHERE secret_hash = $1")
            .bind(secret_hash)
            .execute(&mut *change)
            .await?;
        change.commit().await
    }
}

/// Removes the bots that were built of what a person has handed in, but for those that somebody else
/// has handed in too, and those of tournaments that are not over.
async fn remove_bots(
    change: &mut Transaction,
    id: ContestId,
    person: i64,
) -> Result<(), StoreError> {
    let rows = sqlx::query(
        "SELECT hash FROM archives WHERE EXISTS
             (SELECT 1 FROM entries WHERE contest = $1 AND person = $2
                  AND spec LIKE 'packed:' || archives.hash || '%')
         AND NOT EXISTS (SELECT 1 FROM entries WHERE (contest <> $3 OR person <> $4)
             AND spec LIKE 'packed:' || archives.hash || '%')
         AND NOT EXISTS (SELECT 1 FROM bots WHERE spec LIKE 'packed:' || archives.hash || '%')
         AND NOT EXISTS (SELECT 1 FROM entrants JOIN tournaments ON id = tournament
             WHERE spec LIKE 'packed:' || archives.hash || '%'
                 AND state NOT IN ('over', 'cancelled'))",
    )
    .bind(id.0)
    .bind(person)
    .bind(id.0)
    .bind(person)
    .fetch_all(&mut **change)
    .await?;
    for row in rows {
        archives::delete(change, row.try_get(0)?).await?;
    }
    Ok(())
}

/// Removes what the bots of a person's entries have printed in games.
async fn remove_logs(
    change: &mut Transaction,
    id: ContestId,
    person: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM game_logs WHERE (tournament, entrant) IN
             (SELECT entrants.tournament, entrants.number FROM contest_runs
              JOIN entrants ON entrants.tournament = contest_runs.tournament
              JOIN entries ON entries.contest = contest_runs.contest
                  AND entrants.name = $1 || CAST(entries.number AS TEXT)
              WHERE contest_runs.contest = $2 AND entries.person = $3)",
    )
    .bind(ENTRY_BOT)
    .bind(id.0)
    .bind(person)
    .execute(&mut **change)
    .await?;
    Ok(())
}

/// The pseudonym of a contestant who has none.
fn nameless(number: u64) -> String {
    format!("{NAMELESS}{number}")
}

async fn log_out_all(
    change: &mut Transaction,
    id: ContestId,
    person: PersonNumber,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM logins WHERE contest = $1 AND person = $2")
        .bind(id.0)
        .bind(signed(person)?)
        .execute(&mut **change)
        .await?;
    Ok(())
}

async fn read_people(
    transaction: &mut Transaction,
    id: ContestId,
) -> Result<Vec<Person>, StoreError> {
    let rows = sqlx::query("SELECT * FROM people WHERE contest = $1 ORDER BY number")
        .bind(id.0)
        .fetch_all(&mut **transaction)
        .await?;
    rows.iter().map(person).collect()
}

pub(super) async fn read_contestants(
    transaction: &mut Transaction,
    id: ContestId,
) -> Result<Vec<Contestant>, StoreError> {
    let rows = sqlx::query("SELECT * FROM contestants WHERE contest = $1 ORDER BY number")
        .bind(id.0)
        .fetch_all(&mut **transaction)
        .await?;
    rows.iter().map(contestant).collect()
}

fn check(new: &NewPerson) -> Result<(), StoreError> {
    check_name("name of a person", &new.name)?;
    if let Some(shown) = new.pseudonym.as_ref().or(new.team.as_ref())
        && shown.starts_with(NAMELESS)
    {
        return Err(StoreError::BadName {
            what: "pseudonym",
            name: shown.clone(),
            why: "names that begin so are given to those who have none",
        });
    }
    for (what, text) in [
        ("pseudonym", &new.pseudonym),
        ("id of a person", &new.external_id),
        ("group of a person", &new.section),
        ("team", &new.team),
    ] {
        if let Some(text) = text {
            check_name(what, text)?;
        }
    }
    Ok(())
}

fn exists<T>(
    what: &'static str,
    name: Option<&str>,
    choice: &'static str,
) -> Result<T, StoreError> {
    let name = name.unwrap_or_default().to_owned();
    Err(StoreError::Exists { what, name, choice })
}

fn of_a_contest(row: &AnyRow) -> Result<(ContestId, Person), StoreError> {
    Ok((ContestId(row.try_get("contest")?), person(row)?))
}

fn person(row: &AnyRow) -> Result<Person, StoreError> {
    let word: &str = row.try_get("role")?;
    let role = Role::ALL.into_iter().find(|role| role.word() == word);
    let contestant: Option<i64> = row.try_get("contestant")?;
    Ok(Person {
        number: number(row, "number")?,
        role: role.ok_or_else(|| damaged("a role", &word))?,
        contestant: contestant.map(i64::cast_unsigned),
        name: row.try_get("name")?,
        external_id: row.try_get("external_id")?,
        section: row.try_get("section")?,
        token_hash: row.try_get("token_hash")?,
    })
}

fn contestant(row: &AnyRow) -> Result<Contestant, StoreError> {
    Ok(Contestant {
        number: number(row, "number")?,
        pseudonym: row.try_get("pseudonym")?,
        team: row.try_get("team")?,
        until_unix_ms: row.try_get("until_ms")?,
        disqualified: row.try_get("disqualified")?,
    })
}
