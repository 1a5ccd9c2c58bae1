//! The tournaments that a contest plays.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{Row as _, any::AnyRow};

use super::ContestId;
use crate::{
    NewTournament, Store, StoreError, TournamentId, TournamentState,
    session::Transaction,
    sql::{damaged, number, signed},
    tournament,
};

/// Of so many rounds of a league the logs of its games are kept: a ladder has thousands.
pub const LOGGED_ROUNDS: u32 = 20;

/// What a tournament is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContestRunKind {
    /// A part of the exam of one entry.
    Exam,
    /// A round of the league: all valid entries that count.
    League,
    /// The final, on fresh deals.
    Final,
}

impl ContestRunKind {
    const ALL: [Self; 3] = [Self::Exam, Self::League, Self::Final];

    /// The kind in a word, as in the database and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exam => "exam",
            Self::League => "league",
            Self::Final => "final",
        }
    }
}

/// A tournament of a contest that is to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct NewContestRun {
    /// What it is for.
    pub kind: ContestRunKind,
    /// The part of the exam, or the number of the league's round.
    pub part: u32,
    /// Tournaments of a higher priority are played first.
    pub priority: i64,
    /// The tournament.
    pub tournament: NewTournament,
}

/// A tournament of a contest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContestRun {
    /// Its number.
    pub tournament: TournamentId,
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: TournamentState,
    /// What it is for.
    pub kind: ContestRunKind,
    /// The entry that is examined.
    pub entry: Option<u64>,
    /// The part of the exam, or the number of the league's round.
    pub part: u32,
    /// When it was made, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// What came of it; the store does not interpret it.
    pub result: Option<Value>,
}

impl Store {
    /// Creates a tournament of a contest that is none of an exam, to be played, in which these challenges
    /// are. None where there is one of this kind and part already.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`]; the database fails.
    pub async fn begin_contest_run(
        &self,
        id: ContestId,
        run: &NewContestRun,
        challenges: &[u64],
    ) -> Result<Option<TournamentId>, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let known = sqlx::query(
            "SELECT 1 FROM contest_runs WHERE contest = $1 AND kind = $2 AND part = $3
                 AND entry IS NULL",
        )
        .bind(id.0)
        .bind(run.kind.word())
        .bind(i64::from(run.part))
        .fetch_optional(&mut *change)
        .await?;
        if known.is_some() {
            return Ok(None);
        }
        let tournament = self.insert_run(&mut change, id, None, run).await?;
        if run.kind == ContestRunKind::League {
            remove_logs(&mut change, id, run.part.saturating_sub(LOGGED_ROUNDS)).await?;
        }
        self.play_challenges(&mut change, id, run.part, challenges)
            .await?;
        change.commit().await?;
        Ok(Some(tournament))
    }

    /// The tournaments of a contest, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn contest_runs(&self, id: ContestId) -> Result<Vec<ContestRun>, StoreError> {
        self.runs("WHERE contest = $1 AND $2 = -1", id, -1).await
    }

    /// The last rounds of the league of a contest and its final, in the order in which they were made:
    /// the two that began last, the last one that has a result, the last one with a result that began
    /// before this moment, and the final. A ladder has thousands of others.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn meetings(
        &self,
        id: ContestId,
        before_unix_ms: Option<i64>,
    ) -> Result<Vec<ContestRun>, StoreError> {
        let last = |which: &str, limit: u32| {
            format!(
                "tournament IN (SELECT r.tournament FROM contest_runs r
                     JOIN tournaments t ON t.id = r.tournament
                     WHERE r.contest = $1 AND r.entry IS NULL AND r.kind = 'league' {which}
                     ORDER BY r.tournament DESC LIMIT {limit})"
            )
        };
        let filter = format!(
            "WHERE contest = $1 AND entry IS NULL
                 AND (kind = 'final' OR {} OR {} OR {})",
            last("", 2),
            last("AND r.result IS NOT NULL", 1),
            last("AND r.result IS NOT NULL AND t.created_ms < $2", 1),
        );
        let before = before_unix_ms.unwrap_or(i64::MAX);
        self.runs(&filter, id, before).await
    }

    /// The last rounds of the league and the final in which this bot has played and that are counted, the
    /// newest first, at most so many; only those that began before this moment.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn meetings_of_bot(
        &self,
        id: ContestId,
        bot: &str,
        before_unix_ms: Option<i64>,
        most: u32,
    ) -> Result<Vec<ContestRun>, StoreError> {
        let rows = sqlx::query(
            "SELECT contest_runs.tournament, kind, entry, part, tournaments.name, state, created_ms,
                 result
             FROM contest_runs JOIN tournaments ON id = contest_runs.tournament
             JOIN entrants ON entrants.tournament = contest_runs.tournament
             WHERE contest = $1 AND entry IS NULL AND result IS NOT NULL
                 AND entrants.name = $2 AND created_ms < $3
             ORDER BY contest_runs.tournament DESC LIMIT $4",
        )
        .bind(id.0)
        .bind(bot)
        .bind(before_unix_ms.unwrap_or(i64::MAX))
        .bind(i64::from(most))
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter().map(run).collect()
    }

    /// A round of the league or a final of a contest, if it is counted.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn meeting(
        &self,
        id: ContestId,
        kind: ContestRunKind,
        part: u32,
    ) -> Result<Option<ContestRun>, StoreError> {
        let filter = format!(
            "WHERE contest = $1 AND part = $2 AND entry IS NULL AND kind = '{}'
                 AND result IS NOT NULL",
            kind.word()
        );
        let runs = self.runs(&filter, id, part.into()).await?;
        Ok(runs.into_iter().next())
    }

    /// The tournaments of an entry, with those of exams that were judged before.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn runs_of_entry(
        &self,
        id: ContestId,
        entry: u64,
    ) -> Result<Vec<ContestRun>, StoreError> {
        self.runs("WHERE contest = $1 AND entry = $2", id, signed(entry)?)
            .await
    }

    /// Writes down what came of a tournament of a contest that is over.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn set_run_result(
        &self,
        run: TournamentId,
        result: &Value,
    ) -> Result<(), StoreError> {
        let mut change = self.writing().await?;
        sqlx::query("UPDATE contest_runs SET result = $2 WHERE tournament = $1")
            .bind(run.0)
            .bind(result.to_string())
            .execute(&mut *change)
            .await?;
        change.commit().await
    }

    async fn runs(
        &self,
        filter: &str,
        id: ContestId,
        second: i64,
    ) -> Result<Vec<ContestRun>, StoreError> {
        let select = format!(
            "SELECT tournament, kind, entry, part, name, state, created_ms, result FROM contest_runs
             JOIN tournaments ON id = tournament {filter} ORDER BY tournament"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(select))
            .bind(id.0)
            .bind(second)
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(run).collect()
    }
}

/// Removes what bots have printed in a round of the league, if there is one.
async fn remove_logs(
    change: &mut Transaction,
    id: ContestId,
    round: u32,
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM game_logs WHERE tournament IN
             (SELECT tournament FROM contest_runs WHERE contest = $1 AND kind = 'league'
                  AND part = $2)",
    )
    .bind(id.0)
    .bind(i64::from(round))
    .execute(&mut **change)
    .await?;
    Ok(())
}

fn run(row: &AnyRow) -> Result<ContestRun, StoreError> {
    let word: &str = row.try_get("kind")?;
    let kind = ContestRunKind::ALL
        .into_iter()
        .find(|one| one.word() == word);
    let entry: Option<i64> = row.try_get("entry")?;
    let result: Option<&str> = row.try_get("result")?;
    let read = |text| {
        serde_json::from_str(text)
            .map_err(|_| damaged("the result of a contest's tournament", &text))
    };
    Ok(ContestRun {
        tournament: TournamentId(row.try_get("tournament")?),
        name: row.try_get("name")?,
        state: tournament::state(row)?,
        kind: kind.ok_or_else(|| damaged("what a tournament of a contest is for", &word))?,
        entry: entry.map(i64::cast_unsigned),
        part: number(row, "part")?,
        created_unix_ms: row.try_get("created_ms")?,
        result: result.map(read).transpose()?,
    })
}
