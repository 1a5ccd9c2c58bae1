//! Files of positions, each with what a search and the rest of the game said of it.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, ensure};
use edge::Discs;

/// A position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) board: Discs,
    /// The number of the game.
    pub(crate) game: u32,
    /// The value found by the search that chose the move, in discs for the side to move.
    pub(crate) searched: i8,
    /// The result of the game, in discs for the side to move.
    pub(crate) result: i8,
}

/// The length of a record in a file.
const LENGTH: usize = 24;

impl Record {
    fn write(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&self.board.own.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.board.other.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.game.to_le_bytes());
        bytes[20] = self.searched.cast_unsigned();
        bytes[21] = self.result.cast_unsigned();
        bytes
    }

    fn read(bytes: &[u8; LENGTH]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        Self {
            board: Discs {
                own: word(0),
                other: word(8),
            },
            game: word(16) as u32,
            searched: bytes[20].cast_signed(),
            result: bytes[21].cast_signed(),
        }
    }
}

/// Reads a file of records. What a call that was killed wrote half is left out.
pub(crate) fn read(path: &Path) -> Result<Vec<Record>> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let (records, _) = bytes.as_chunks();
    let records: Vec<Record> = records.iter().map(Record::read).collect();
    let good = |record: &Record| record.board.own & record.board.other == 0;
    ensure!(
        records.iter().all(good),
        "{} is no file of positions: a square has two discs",
        path.display()
    );
    Ok(records)
}

/// A file that games are added to.
pub(crate) struct Games {
    file: BufWriter<File>,
    /// The number of the next game.
    pub(crate) next: u32,
}

impl Games {
    /// Opens or makes it. A game that was written half is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut next = 0;
        if path.exists() {
            let mut records = read(path)?;
            if let Some(last) = records.last().map(|record| record.game) {
                // The last game may be incomplete, so it is played again.
                records.retain(|record| record.game != last);
                next = last;
            }
            let file = File::options().write(true).open(path)?;
            file.set_len((records.len() * LENGTH) as u64)?;
        }
        let file = File::options().append(true).create(true).open(path);
        let file = file.with_context(|| format!("could not write {}", path.display()))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 16, file),
            next,
        })
    }

    pub(crate) fn add(&mut self, records: &[Record]) -> Result<()> {
        self.next += 1;
        for record in records {
            self.file.write_all(&record.write())?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.file.flush()?)
    }
}
