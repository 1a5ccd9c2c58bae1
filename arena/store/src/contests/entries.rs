//! What is handed in, and what comes of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Row as _, any::AnyRow};

use super::{
    By, ContestId, Contestant, NewContestRun, PersonNumber, missing, people::read_contestants,
};
use crate::{
    Store, StoreError, TournamentId,
    session::Transaction,
    sql::{damaged, number, signed},
};

/// The beginning of the name of an entry as a bot; its number follows.
pub const ENTRY_BOT: &str = "entry-";

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    /// It waits to be built.
    Received,
    /// It is being built and checked.
    Building,
    /// It plays its exam.
    Playing,
    /// It has a score.
    Judged,
    /// It could not be built or started.
    Failed,
    /// A trial that was applied or dropped.
    Settled,
}

impl EntryState {
    const ALL: [Self; 6] = [
        Self::Received,
        Self::Building,
        Self::Playing,
        Self::Judged,
        Self::Failed,
        Self::Settled,
    ];

    /// The state in a word, as in the database and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Building => "building",
            Self::Playing => "playing",
            Self::Judged => "judged",
            Self::Failed => "failed",
            Self::Settled => "settled",
        }
    }

    /// True if nothing more comes of it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Judged | Self::Failed | Self::Settled)
    }
}

/// Which entries' details are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailsOf {
    /// Those of all.
    All,
    /// Those of one contestant.
    Contestant(u64),
    /// Those of one entry.
    Entry(u64),
}

/// Something that is handed in.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The person who hands it in.
    pub person: PersonNumber,
    /// The contestant for whom.
    pub contestant: u64,
    /// The part of the exam that it is for, from 1; 0 is the whole.
    pub part: u32,
    /// The name of the file.
    pub file: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Their SHA-256, in hexadecimal digits.
    pub hash: &'a str,
    /// When it came, in milliseconds since 1970.
    pub received_unix_ms: i64,
}

/// An entry's place, as the rules of the contest give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// False for one that came after the deadline.
    pub official: bool,
    /// True if it takes one of the counted places.
    pub counted: bool,
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The number within the contest.
    pub number: u64,
    /// The contestant.
    pub contestant: u64,
    /// The person who handed it in.
    pub person: PersonNumber,
    /// The part of the exam that it is for, from 1; 0 is the whole.
    pub part: u32,
    /// When it came, in milliseconds since 1970.
    pub received_unix_ms: i64,
    /// Its place.
    pub place: Place,
    /// Its state.
    pub state: EntryState,
    /// The number of times that it was taken up.
    pub attempt: u32,
    /// The name of the file that was handed in.
    pub file: String,
    /// Its SHA-256, in hexadecimal digits.
    pub hash: String,
    /// What came of it, in few words; the store does not interpret it. There is more in
    /// [`Store::entry_details`].
    pub outcome: Option<Value>,
    /// How its bot is started.
    pub spec: Option<String>,
    /// Its score.
    pub score: Option<i64>,
    /// The entry that it judges anew; none where it was handed in.
    pub trial_of: Option<u64>,
}

impl Store {
    /// Takes in what is handed in, if `decide` says so, which is told the contestant and all that it
    /// has handed in before. Nobody else hands in for this contest meanwhile, so that two at once
    /// can't take one place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails. What `decide` refuses is no error of the store.
    pub async fn hand_in<R>(
        &self,
        id: ContestId,
        new: &NewEntry<'_>,
        decide: impl FnOnce(&Contestant, &[Entry]) -> Result<Place, R> + Send,
    ) -> Result<Result<Entry, R>, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let contestants = read_contestants(&mut change, id).await?;
        let contestant = contestants.iter().find(|one| one.number == new.contestant);
        let Some(contestant) = contestant else {
            return missing("contestant", &new.contestant);
        };
        let before = sqlx::query(select("contestant = $2 AND trial_of IS NULL"))
            .bind(id.0)
            .bind(signed(new.contestant)?)
            .fetch_all(&mut *change)
            .await?;
        let before: Vec<Entry> = before.iter().map(entry).collect::<Result<_, _>>()?;
        let place = match decide(contestant, &before) {
            Ok(place) => place,
            Err(refused) => return Ok(Err(refused)),
        };
        let row = sqlx::query(
            "INSERT INTO entries (contest, number, contestant, person, part, received_ms, official,
                 counted, state, attempt, file, hash)
             SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10
             FROM entries WHERE contest = $11 RETURNING *",
        )
        .bind(id.0)
        .bind(signed(new.contestant)?)
        .bind(signed(new.person)?)
        .bind(i64::from(new.part))
        .bind(new.received_unix_ms)
        .bind(i64::from(place.official))
        .bind(i64::from(place.counted))
        .bind(EntryState::Received.word())
        .bind(new.file)
        .bind(new.hash)
        .bind(id.0)
        .fetch_one(&mut *change)
        .await?;
        let entry = entry(&row)?;
        sqlx::query("INSERT INTO uploads (contest, entry, bytes) VALUES ($1, $2, $3)")
            .bind(id.0)
            .bind(signed(entry.number)?)
            .bind(new.bytes)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(Ok(entry))
    }

    /// What was handed in for a contest, by number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn entries(&self, id: ContestId) -> Result<Vec<Entry>, StoreError> {
        let rows = sqlx::query(select("trial_of IS NULL"))
            .bind(id.0)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(entry).collect()
    }

    /// The trials of a contest that are neither applied nor dropped, by number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn trials(&self, id: ContestId) -> Result<Vec<Entry>, StoreError> {
        let rows = sqlx::query(select("trial_of IS NOT NULL AND state <> 'settled'"))
            .bind(id.0)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(entry).collect()
    }

    /// The entries that are not judged yet, by number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn open_entries(&self, id: ContestId) -> Result<Vec<Entry>, StoreError> {
        let rows = sqlx::query(select("state IN ('received', 'building', 'playing')"))
            .bind(id.0)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(entry).collect()
    }

    /// One entry.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn entry(&self, id: ContestId, number: u64) -> Result<Entry, StoreError> {
        let row = sqlx::query(select("number = $2"))
            .bind(id.0)
            .bind(signed(number)?)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        match row {
            Some(row) => entry(&row),
            None => missing("entry", &number),
        }
    }

    /// All that builds and games said of the entries of a contest, or of one contestant's, by number;
    /// the store does not interpret it.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn entry_details(
        &self,
        id: ContestId,
        of: DetailsOf,
    ) -> Result<BTreeMap<u64, Value>, StoreError> {
        let (filter, number_of) = match of {
            DetailsOf::All => ("$2 = -1", -1),
            DetailsOf::Contestant(contestant) => ("contestant = $2", signed(contestant)?),
            DetailsOf::Entry(entry) => ("number = $2", signed(entry)?),
        };
        let select = format!(
            "SELECT number, details FROM entries
             WHERE contest = $1 AND {filter} AND details IS NOT NULL"
        );
        let rows = sqlx::query(AssertSqlSafe(select))
            .bind(id.0)
            .bind(number_of)
            .fetch_all(&mut self.reader().await?)
            .await?;
        let details = rows.iter().map(|row| {
            let text: &str = row.try_get("details")?;
            let details = serde_json::from_str(text)
                .map_err(|_| damaged("what was said of an entry", &text))?;
            Ok((number(row, "number")?, details))
        });
        details.collect()
    }

    /// What was handed in, as it came; none where the person was forgotten.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn upload(&self, id: ContestId, entry: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let row = sqlx::query("SELECT bytes FROM uploads WHERE contest = $1 AND entry = $2")
            .bind(id.0)
            .bind(signed(entry)?)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Takes an entry up to build it. None where somebody else has done so, or it is further on;
    /// `attempt` is the one that is known.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn take_entry(
        &self,
        id: ContestId,
        number: u64,
        attempt: u32,
    ) -> Result<Option<Entry>, StoreError> {
        let mut change = self.writing().await?;
        let row = sqlx::query(
            "UPDATE entries SET state = 'building', attempt = attempt + 1
             WHERE contest = $1 AND number = $2 AND attempt = $3
                 AND state IN ('received', 'building') RETURNING *",
        )
        .bind(id.0)
        .bind(signed(number)?)
        .bind(i64::from(attempt))
        .fetch_optional(&mut *change)
        .await?;
        change.commit().await?;
        row.as_ref().map(entry).transpose()
    }

    /// Puts an entry that was built into play: its bot, and the tournaments that are its exam, which
    /// are to be played. All or nothing. False where another attempt has it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`]; the database fails.
    pub async fn begin_exam(
        &self,
        id: ContestId,
        entry: &Entry,
        spec: &str,
        outcome: &Value,
        details: &Value,
        runs: &[NewContestRun],
    ) -> Result<bool, StoreError> {
        let mut change = self.writing().await?;
        let begun = sqlx::query(
            "UPDATE entries SET state = 'playing', spec = $4, outcome = $5, details = $6
             WHERE contest = $1 AND number = $2 AND attempt = $3 AND state = 'building'",
        )
        .bind(id.0)
        .bind(signed(entry.number)?)
        .bind(i64::from(entry.attempt))
        .bind(spec)
        .bind(outcome.to_string())
        .bind(details.to_string())
        .execute(&mut *change)
        .await?;
        if begun.rows_affected() == 0 {
            return Ok(false);
        }
        for run in runs {
            self.insert_run(&mut change, id, Some(entry.number), run)
                .await?;
        }
        change.commit().await?;
        Ok(true)
    }

    /// Ends an entry: with its score, or without one where it could not be built or started. An
    /// entry that failed takes no counted place any more. Without details they stay as they are. False
    /// where another attempt has it, or it has ended before.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn end_entry(
        &self,
        id: ContestId,
        entry: &Entry,
        outcome: &Value,
        details: Option<&Value>,
        score: Option<i64>,
    ) -> Result<bool, StoreError> {
        let state = match score {
            Some(_) => EntryState::Judged,
            None => EntryState::Failed,
        };
        let mut change = self.writing().await?;
        let ended = sqlx::query(
            "UPDATE entries SET state = $4, outcome = $5, score = $6,
                 counted = CASE WHEN $7 = 1 THEN 0 ELSE counted END,
                 details = COALESCE($8, details)
             WHERE contest = $1 AND number = $2 AND attempt = $3
                 AND state NOT IN ('judged', 'failed')",
        )
        .bind(id.0)
        .bind(signed(entry.number)?)
        .bind(i64::from(entry.attempt))
        .bind(state.word())
        .bind(outcome.to_string())
        .bind(score)
        .bind(i64::from(score.is_none()))
        .bind(details.map(ToString::to_string))
        .execute(&mut *change)
        .await?;
        change.commit().await?;
        Ok(ended.rows_affected() > 0)
    }

    /// Lets an entry wait again after a failure of our own. False where another attempt has it, or it
    /// has ended before.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn put_back(
        &self,
        id: ContestId,
        entry: &Entry,
        outcome: &Value,
    ) -> Result<bool, StoreError> {
        let mut change = self.writing().await?;
        let back = sqlx::query(
            "UPDATE entries SET state = 'received', outcome = $4
             WHERE contest = $1 AND number = $2 AND attempt = $3
                 AND state NOT IN ('judged', 'failed')",
        )
        .bind(id.0)
        .bind(signed(entry.number)?)
        .bind(i64::from(entry.attempt))
        .bind(outcome.to_string())
        .execute(&mut *change)
        .await?;
        change.commit().await?;
        Ok(back.rows_affected() > 0)
    }

    /// Lets entries be judged anew: each gets a trial, a copy that is judged as all others while the
    /// entry stays as it is. Those that have a trial already get no other, and those whose person was
    /// forgotten get none. Gives how many were begun.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`]; the database fails.
    pub async fn begin_trials(
        &self,
        id: ContestId,
        entries: &[u64],
        at_unix_ms: i64,
        by: By<'_>,
    ) -> Result<u64, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let mut begun = 0;
        for &number in entries {
            let row = sqlx::query(
                "INSERT INTO entries (contest, number, contestant, person, part, received_ms,
                     official, counted, state, attempt, file, hash, trial_of)
                 SELECT contest, (SELECT MAX(number) FROM entries WHERE contest = $1) + 1,
                     contestant, person, part, $2, 0, 0, 'received', 0, file, hash, number
                 FROM entries WHERE contest = $3 AND number = $4 AND trial_of IS NULL
                     AND state IN ('judged', 'failed') AND EXISTS
                         (SELECT 1 FROM uploads WHERE uploads.contest = entries.contest
                              AND entry = entries.number)
                     AND NOT EXISTS
                         (SELECT 1 FROM entries AS trial WHERE trial.contest = $5
                              AND trial.trial_of = $6 AND trial.state <> 'settled')
                 RETURNING number",
            )
            .bind(id.0)
            .bind(at_unix_ms)
            .bind(id.0)
            .bind(signed(number)?)
            .bind(id.0)
            .bind(signed(number)?)
            .fetch_optional(&mut *change)
            .await?;
            let Some(row) = row else { continue };
            sqlx::query(
                "INSERT INTO uploads (contest, entry, bytes)
                 SELECT contest, $1, bytes FROM uploads WHERE contest = $2 AND entry = $3",
            )
            .bind(row.try_get::<i64, _>(0)?)
            .bind(id.0)
            .bind(signed(number)?)
            .execute(&mut *change)
            .await?;
            begun += 1;
        }
        if begun > 0 {
            let what = format!("{begun} entries are judged anew");
            self.log(&mut change, id, by, &what).await?;
        }
        change.commit().await?;
        Ok(begun)
    }

    /// Settles the trials that are judged: with `apply` each entry becomes what its trial is, else it
    /// stays as it is. All or nothing. Gives how many there were.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn settle_trials(
        &self,
        id: ContestId,
        apply: bool,
        by: By<'_>,
    ) -> Result<u64, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let rows = sqlx::query(select(
            "trial_of IS NOT NULL AND state IN ('judged', 'failed')",
        ))
        .bind(id.0)
        .fetch_all(&mut *change)
        .await?;
        let trials: Vec<Entry> = rows.iter().map(entry).collect::<Result<_, _>>()?;
        for trial in &trials {
            if let (true, Some(of)) = (apply, trial.trial_of) {
                // One that fails now takes no counted place any more, and one that failed does.
                sqlx::query(
                    "UPDATE entries SET state = $3, outcome = $4, spec = $5, score = $6,
                         counted = CASE WHEN $7 = 1 THEN official ELSE 0 END,
                         details = (SELECT trial.details FROM entries AS trial
                             WHERE trial.contest = $8 AND trial.number = $9)
                     WHERE contest = $1 AND number = $2",
                )
                .bind(id.0)
                .bind(signed(of)?)
                .bind(trial.state.word())
                .bind(trial.outcome.as_ref().map(ToString::to_string))
                .bind(trial.spec.as_deref())
                .bind(trial.score)
                .bind(i64::from(trial.score.is_some()))
                .bind(id.0)
                .bind(signed(trial.number)?)
                .execute(&mut *change)
                .await?;
                let words = trial.score.map_or_else(
                    || "no points: it failed".to_owned(),
                    |score| format!("{score} points"),
                );
                let what = format!("entry {of} has {words}, as it was judged anew");
                self.log(&mut change, id, by, &what).await?;
            }
            sqlx::query("UPDATE entries SET state = 'settled' WHERE contest = $1 AND number = $2")
                .bind(id.0)
                .bind(signed(trial.number)?)
                .execute(&mut *change)
                .await?;
        }
        change.commit().await?;
        Ok(trials.len() as u64)
    }

    /// Inserts a tournament of a contest, to be played.
    pub(super) async fn insert_run(
        &self,
        change: &mut Transaction,
        id: ContestId,
        entry: Option<u64>,
        run: &NewContestRun,
    ) -> Result<TournamentId, StoreError> {
        let tournament = self
            .insert_tournament(change, &run.tournament.created())
            .await?;
        sqlx::query("UPDATE tournaments SET wish = 'play', priority = $2 WHERE id = $1")
            .bind(tournament.0)
            .bind(run.priority)
            .execute(&mut **change)
            .await?;
        sqlx::query(
            "INSERT INTO contest_runs (tournament, contest, kind, entry, part)
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(tournament.0)
        .bind(id.0)
        .bind(run.kind.word())
        .bind(entry.map(signed).transpose()?)
        .bind(i64::from(run.part))
        .execute(&mut **change)
        .await?;
        Ok(tournament)
    }
}

/// The entries of the contest `$1` for which something holds, by number, without their details.
fn select(holds: &str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!(
        "SELECT number, contestant, person, part, received_ms, official, counted, state, attempt,
             file, hash, outcome, spec, score, trial_of
         FROM entries WHERE contest = $1 AND {holds} ORDER BY number"
    ))
}

fn entry(row: &AnyRow) -> Result<Entry, StoreError> {
    let word: &str = row.try_get("state")?;
    let state = EntryState::ALL.into_iter().find(|one| one.word() == word);
    let outcome: Option<&str> = row.try_get("outcome")?;
    let trial_of: Option<i64> = row.try_get("trial_of")?;
    let read =
        |text| serde_json::from_str(text).map_err(|_| damaged("what came of an entry", &text));
    Ok(Entry {
        number: number(row, "number")?,
        contestant: number(row, "contestant")?,
        person: number(row, "person")?,
        part: number(row, "part")?,
        received_unix_ms: row.try_get("received_ms")?,
        place: Place {
            official: row.try_get::<i64, _>("official")? != 0,
            counted: row.try_get::<i64, _>("counted")? != 0,
        },
        state: state.ok_or_else(|| damaged("the state of an entry", &word))?,
        attempt: number(row, "attempt")?,
        file: row.try_get("file")?,
        hash: row.try_get("hash")?,
        outcome: outcome.map(read).transpose()?,
        spec: row.try_get("spec")?,
        score: row.try_get("score")?,
        trial_of: trial_of.map(i64::cast_unsigned),
    })
}
