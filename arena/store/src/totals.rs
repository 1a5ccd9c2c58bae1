//! What was summed over a tournament's results, kept so that nobody sums them from the first one on.
//! The store does not look into it.

use sqlx::Row as _;

use crate::{
    Store, StoreError, TournamentId,
    session::{PooledConnection, Transaction},
    sql::{Statement, damaged, number},
};

/// Sums that were kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTotals {
    /// Its number: it counts up whenever sums are replaced.
    pub revision: u64,
    /// By what, over what and in which form it was summed.
    pub made_by: String,
    /// The sums.
    pub state: String,
}

/// Sums that are to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewTotals<'a> {
    /// The revision from which it was summed on; none if it was summed from the first result on.
    pub replaces: Option<u64>,
    /// As [`KeptTotals::made_by`].
    pub made_by: &'a str,
    /// The sums.
    pub state: &'a str,
    /// Number of parts of the courses, from the first on, that are as they are kept.
    pub same_parts: usize,
    /// The parts after these: different courses, in ascending order.
    pub parts: &'a [Vec<u64>],
}

impl Store {
    /// What was summed over a tournament's results. Groups whose transactions have no number get one,
    /// so that they come after those that were summed.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn kept_totals(&self, id: TournamentId) -> Result<Option<KeptTotals>, StoreError> {
        if lacks_numbers(&mut self.reader().await?, id).await? {
            let mut tx = self.writing().await?;
            let locked = self.lock_tournament(&mut tx, id).await?;
            sqlx::query("UPDATE groups SET change = $1 WHERE tournament = $2 AND change = -1")
                .bind(locked.last_change + 1)
                .bind(id.0)
                .execute(&mut *tx)
                .await?;
            tx.commit().await?;
        }
        let row = sqlx::query("SELECT revision, made_by, state FROM totals WHERE tournament = $1")
            .bind(id.0)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(KeptTotals {
            revision: number(&row, "revision")?,
            made_by: row.try_get("made_by")?,
            state: row.try_get("state")?,
        }))
    }

    /// The different courses of the games in this revision of the sums, in the parts in which they are kept. None if
    /// it was replaced.
    ///
    /// # Errors
    ///
    /// The database fails, or [`StoreError::Damaged`].
    pub async fn kept_courses(
        &self,
        id: TournamentId,
        revision: u64,
    ) -> Result<Option<Vec<Vec<u64>>>, StoreError> {
        let mut moment = self.snapshot().await?;
        if kept_revision(&mut moment, id).await? != Some(revision) {
            return Ok(None);
        }
        let rows = sqlx::query("SELECT courses FROM courses WHERE tournament = $1 ORDER BY part")
            .bind(id.0)
            .fetch_all(&mut *moment)
            .await?;
        let parts = rows.iter().map(|row| unpacked(row.try_get("courses")?));
        parts.collect::<Result<_, _>>().map(Some)
    }

    /// Keeps sums in place of those from which they were summed on. False if somebody else has
    /// replaced these, or a group has no number.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn keep_totals(
        &self,
        id: TournamentId,
        new: NewTotals<'_>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.writing().await?;
        self.lock_tournament(&mut tx, id).await?;
        let kept = kept_revision(&mut tx, id).await?;
        // Who began anew does not know what is there, and replaces all of it.
        if new.replaces.is_some() && kept != new.replaces || lacks_numbers(&mut tx, id).await? {
            return Ok(false);
        }
        let first = match new.replaces {
            Some(_) => new.same_parts,
            None => 0,
        };
        let revision = kept.map_or(1, |kept| kept + 1);
        let mut upsert =
            Statement::new("INSERT INTO totals (tournament, revision, made_by, state) VALUES (");
        upsert.bind(id.0).bind(revision.cast_signed());
        upsert
            .bind(new.made_by.to_owned())
            .bind(new.state.to_owned());
        upsert.text(
            ") ON CONFLICT (tournament) DO UPDATE SET revision = excluded.revision,
                 made_by = excluded.made_by, state = excluded.state",
        );
        upsert.query(&tx)?.execute(&mut *tx).await?;
        sqlx::query("DELETE FROM courses WHERE tournament = $1 AND part >= $2")
            .bind(id.0)
            .bind(first as i64)
            .execute(&mut *tx)
            .await?;
        for (part, courses) in (first..).zip(new.parts) {
            sqlx::query("INSERT INTO courses (tournament, part, courses) VALUES ($1, $2, $3)")
                .bind(id.0)
                .bind(part as i64)
                .bind(
                    courses
                        .iter()
                        .flat_map(|course| course.to_le_bytes())
                        .collect::<Vec<u8>>(),
                )
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(true)
    }
}

/// True if an arena that does not number transactions has completed groups.
async fn lacks_numbers(
    session: &mut PooledConnection,
    id: TournamentId,
) -> Result<bool, StoreError> {
    let one = sqlx::query("SELECT 1 FROM groups WHERE tournament = $1 AND change = -1 LIMIT 1")
        .bind(id.0)
        .fetch_optional(session)
        .await?;
    Ok(one.is_some())
}

async fn kept_revision(tx: &mut Transaction, id: TournamentId) -> Result<Option<u64>, StoreError> {
    let row = sqlx::query("SELECT revision FROM totals WHERE tournament = $1")
        .bind(id.0)
        .fetch_optional(&mut **tx)
        .await?;
    row.map(|row| number(&row, "revision")).transpose()
}

fn unpacked(bytes: &[u8]) -> Result<Vec<u64>, StoreError> {
    let (courses, rest) = bytes.as_chunks::<8>();
    let courses: Vec<u64> = courses.iter().copied().map(u64::from_le_bytes).collect();
    match rest.is_empty() && courses.is_sorted_by(|one, next| one < next) {
        true => Ok(courses),
        false => Err(damaged(
            "a list of courses",
            &format_args!("{} bytes that are not in order", bytes.len()),
        )),
    }
}
