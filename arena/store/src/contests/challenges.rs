//! Challenges: a contestant asks for a match against another in the next round of a ladder.

use sqlx::{Row as _, any::AnyRow};

use super::ContestId;
use crate::{
    Store, StoreError,
    session::Transaction,
    sql::{number, signed},
};

/// A contestant's wish to meet another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Its number within the contest, from 1.
    pub number: u64,
    /// Who asks for it.
    pub contestant: u64,
    /// Whom it is to meet.
    pub opponent: u64,
    /// When it was asked for, in milliseconds since 1970.
    pub at_unix_ms: i64,
    /// The round in which they met; none as long as they have not.
    pub round: Option<u32>,
}

impl Store {
    /// Adds a challenge, if `decide` says so, which is told all that the same contestant has asked for
    /// before. Nobody else changes this contest meanwhile.
    ///
    /// # Errors
    ///
    /// The database fails. What `decide` refuses is no error of the store.
    pub async fn challenge<R>(
        &self,
        id: ContestId,
        contestant: u64,
        opponent: u64,
        at_unix_ms: i64,
        decide: impl FnOnce(&[Challenge]) -> Result<(), R> + Send,
    ) -> Result<Result<Challenge, R>, StoreError> {
        let mut change = self.writing().await?;
        self.lock_contest(&mut change, id).await?;
        let before = sqlx::query(
            "SELECT * FROM contest_challenges WHERE contest = $1 AND contestant = $2
             ORDER BY number",
        )
        .bind(id.0)
        .bind(signed(contestant)?)
        .fetch_all(&mut *change)
        .await?;
        let before: Vec<Challenge> = before.iter().map(read).collect::<Result<_, _>>()?;
        if let Err(refused) = decide(&before) {
            return Ok(Err(refused));
        }
        let row = sqlx::query(
            "INSERT INTO contest_challenges (contest, number, contestant, opponent, at_ms)
             SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3, $4 FROM contest_challenges
             WHERE contest = $5 RETURNING *",
        )
        .bind(id.0)
        .bind(signed(contestant)?)
        .bind(signed(opponent)?)
        .bind(at_unix_ms)
        .bind(id.0)
        .fetch_one(&mut *change)
        .await?;
        let added = read(&row)?;
        change.commit().await?;
        Ok(Ok(added))
    }

    /// The challenges of a contest that no round has played, in their order.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn open_challenges(&self, id: ContestId) -> Result<Vec<Challenge>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM contest_challenges WHERE contest = $1 AND round IS NULL ORDER BY number",
        )
        .bind(id.0)
        .fetch_all(&mut self.reader().await?)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Writes down that a round plays these challenges.
    pub(super) async fn play_challenges(
        &self,
        change: &mut Transaction,
        id: ContestId,
        round: u32,
        challenges: &[u64],
    ) -> Result<(), StoreError> {
        for challenge in challenges {
            sqlx::query(
                "UPDATE contest_challenges SET round = $1 WHERE contest = $2 AND number = $3",
            )
            .bind(i64::from(round))
            .bind(id.0)
            .bind(signed(*challenge)?)
            .execute(&mut **change)
            .await?;
        }
        Ok(())
    }
}

fn read(row: &AnyRow) -> Result<Challenge, StoreError> {
    let round: Option<i64> = row.try_get("round")?;
    Ok(Challenge {
        number: number(row, "number")?,
        contestant: number(row, "contestant")?,
        opponent: number(row, "opponent")?,
        at_unix_ms: row.try_get("at_ms")?,
        round: round.map(|round| round as u32),
    })
}
