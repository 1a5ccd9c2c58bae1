//! The files of bots, packed: kept once each, and handed out in parts.

use referee_core::is_printable;
use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{
    Store, StoreError,
    session::Transaction,
    sql::{damaged, number, signed},
};

/// The most bytes of a part.
pub const ARCHIVE_PART: usize = 1 << 20;

/// An archive to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArchive {
    /// SHA-256 of the unpacked archive, in 64 hexadecimal digits.
    pub hash: String,
    /// Number of its unpacked bytes.
    pub size: u64,
    /// The person who packed it, as user@host.
    pub packed_by: String,
    /// When, in milliseconds since 1970.
    pub packed_unix_ms: i64,
}

/// An archive that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveInfo {
    /// SHA-256 of the unpacked archive, in 64 hexadecimal digits.
    pub hash: String,
    /// Number of its unpacked bytes.
    pub size: u64,
    /// Number of its packed bytes.
    pub packed_size: u64,
    /// The person who packed it first, as user@host.
    pub packed_by: String,
    /// When, in milliseconds since 1970.
    pub packed_unix_ms: i64,
}

impl ArchiveInfo {
    /// Number of parts of its packed bytes. All but the last have [`ARCHIVE_PART`] bytes.
    #[must_use]
    pub const fn parts(&self) -> u64 {
        self.packed_size.div_ceil(ARCHIVE_PART as u64)
    }
}

impl Store {
    /// Keeps an archive, of which `packed` are the bytes; whether it was not there before. What
    /// is there already stays as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadName`]; the database fails.
    pub async fn add_archive(&self, new: &NewArchive, packed: &[u8]) -> Result<bool, StoreError> {
        check(new)?;
        let mut transaction = self.writing().await?;
        self.lock_archives(&mut transaction).await?;
        let known = sqlx::query("UPDATE archives SET added_ms = $1 WHERE hash = $2")
            .bind(new.packed_unix_ms)
            .bind(&new.hash)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        if known == 0 {
            sqlx::query(
                "INSERT INTO archives (hash, size, packed_size, packed_by, packed_ms, added_ms)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(&new.hash)
            .bind(signed(new.size)?)
            .bind(signed(packed.len() as u64)?)
            .bind(&new.packed_by)
            .bind(new.packed_unix_ms)
            .bind(new.packed_unix_ms)
            .execute(&mut *transaction)
            .await?;
            for (part, bytes) in (0_i64..).zip(packed.chunks(ARCHIVE_PART)) {
                sqlx::query("INSERT INTO archive_parts (hash, part, bytes) VALUES ($1, $2, $3)")
                    .bind(&new.hash)
                    .bind(part)
                    .bind(bytes)
                    .execute(&mut *transaction)
                    .await?;
            }
        }
        transaction.commit().await?;
        Ok(known == 0)
    }

    /// Facts about an archive; none if it is not kept.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn archive_info(&self, hash: &str) -> Result<Option<ArchiveInfo>, StoreError> {
        let row = sqlx::query("SELECT * FROM archives WHERE hash = $1")
            .bind(hash)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// All archives, in order of their hashes.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn archives(&self) -> Result<Vec<ArchiveInfo>, StoreError> {
        let rows = sqlx::query("SELECT * FROM archives ORDER BY hash")
            .fetch_all(&mut self.reader().await?)
            .await?;
        rows.iter().map(read).collect()
    }

    /// One part of the packed bytes of an archive, from 0; none if there is no such part.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn archive_part(&self, hash: &str, part: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let row = sqlx::query("SELECT bytes FROM archive_parts WHERE hash = $1 AND part = $2")
            .bind(hash)
            .bind(signed(part)?)
            .fetch_optional(&mut self.reader().await?)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// All packed bytes of an archive; none if it is not kept.
    ///
    /// # Errors
    ///
    /// The database fails, or lacks a part.
    pub async fn archive_bytes(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(info) = self.archive_info(hash).await? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        for part in 0..info.parts() {
            let Some(part) = self.archive_part(hash, part).await? else {
                break;
            };
            bytes.extend(part);
        }
        if bytes.len() as u64 != info.packed_size {
            return Err(damaged("the bytes of an archive", &hash));
        }
        Ok(Some(bytes))
    }

    /// Removes the archives that no registered bot, no tournament and no
    /// entry of a contest names, and that were last
    /// added before a moment, in milliseconds since 1970. Gives their hashes. An archive is
    /// added before the bot that names it, so the moment must leave time for that.
    ///
    /// # Errors
    ///
    /// The database fails.
    pub async fn remove_unused_archives(
        &self,
        added_before_unix_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let mut transaction = self.writing().await?;
        self.lock_archives(&mut transaction).await?;
        // A tournament names bots in its entrants, and one that fills seats in its definition.
        let rows = sqlx::query(
            "SELECT hash FROM archives WHERE added_ms < $1
             AND NOT EXISTS (SELECT 1 FROM bots
                 WHERE retired = 0 AND spec LIKE 'packed:' || hash || '%')
             AND NOT EXISTS (SELECT 1 FROM entrants WHERE spec LIKE 'packed:' || hash || '%')
             AND NOT EXISTS (SELECT 1 FROM entries WHERE spec LIKE 'packed:' || hash || '%')
             AND NOT EXISTS (SELECT 1 FROM tournaments
                 WHERE definition LIKE '%packed:' || hash || '%')
             ORDER BY hash",
        )
        .bind(added_before_unix_ms)
        .fetch_all(&mut *transaction)
        .await?;
        let mut removed: Vec<String> = Vec::new();
        for row in rows {
            let hash: String = row.try_get(0)?;
            delete(&mut transaction, &hash).await?;
            removed.push(hash);
        }
        transaction.commit().await?;
        Ok(removed)
    }

    async fn lock_archives(&self, transaction: &mut Transaction) -> Result<(), StoreError> {
        let lock = "LOCK TABLE archives IN SHARE ROW EXCLUSIVE MODE";
        self.lock_table(transaction, lock).await
    }
}

/// Removes an archive with its parts.
pub(crate) async fn delete(change: &mut Transaction, hash: &str) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM archive_parts WHERE hash = $1",
        "DELETE FROM archives WHERE hash = $1",
    ] {
        let delete = sqlx::query(statement).bind(hash);
        delete.execute(&mut **change).await?;
    }
    Ok(())
}

fn check(new: &NewArchive) -> Result<(), StoreError> {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let bad = |what, name: &str, why| {
        let name = name.to_owned();
        Err(StoreError::BadName { what, name, why })
    };
    if new.hash.len() != 64 || !new.hash.chars().all(is_digit) {
        return bad(
            "hash of an archive",
            &new.hash,
            "it has not 64 hexadecimal digits",
        );
    }
    if new.packed_by.chars().count() > 400 || !new.packed_by.chars().all(is_printable) {
        let why = "it has more than 400 characters or control characters";
        return bad("name of who packed an archive", &new.packed_by, why);
    }
    Ok(())
}

fn read(row: &AnyRow) -> Result<ArchiveInfo, StoreError> {
    Ok(ArchiveInfo {
        hash: row.try_get("hash")?,
        size: number(row, "size")?,
        packed_size: number(row, "packed_size")?,
        packed_by: row.try_get("packed_by")?,
        packed_unix_ms: row.try_get("packed_ms")?,
    })
}
