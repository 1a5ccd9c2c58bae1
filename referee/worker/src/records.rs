//! Records on disk: one file a game, packed with zstd, never half written.

use std::{
    io,
    path::{Path, PathBuf},
};

use referee_core::{Record, file_name, pack};

use referee_bots::{read_input, write_whole};

/// The ending of a record's file name.
const ENDING: &str = "jsonl.zst";
/// The first bytes of every zstd frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A folder that the records of one run go to.
#[derive(Clone, Debug)]
pub struct RecordFolder(PathBuf);

/// Reason why a file is no record that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It can't be read.
    #[error("could not read {path}: {error}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Its content is no record.
    #[error("{path} {problem}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The mistake in it.
        problem: String,
    },
}

impl RecordFolder {
    /// A folder that is there.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of the record of a game.
    #[must_use]
    pub fn file(&self, game_id: &str) -> PathBuf {
        self.0.join(format!("{}.{ENDING}", file_name(game_id)))
    }

    /// Writes a record and says where it is; not on the thread that asks.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub async fn write(&self, record: Record) -> io::Result<PathBuf> {
        let file = self.file(&record.header.game_id);
        written(file, move || Ok(pack::pack(&record.to_json_lines()))).await
    }

    /// Writes a record that is packed, likewise.
    ///
    /// # Errors
    ///
    /// The file can't be written, or these bytes can't be unpacked.
    pub async fn write_packed(&self, game_id: &str, packed: Vec<u8>) -> io::Result<PathBuf> {
        let for_file = || pack::packed_for_file(packed).map_err(io::Error::other);
        written(self.file(game_id), for_file).await
    }
}

async fn written(
    file: PathBuf,
    content: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static,
) -> io::Result<PathBuf> {
    let write = move || write_whole(&file, &content()?).map(|()| file);
    let written = tokio::task::spawn_blocking(write).await;
    written.map_err(io::Error::other)?
}

/// Reads a record from a file, packed or not.
///
/// # Errors
///
/// [`ReadError`] says what is wrong with the file.
pub fn read_record(path: &Path) -> Result<Record, ReadError> {
    let path = path.to_owned();
    let bytes = match read_input(&path, pack::LARGEST) {
        Ok(bytes) => bytes,
        Err(error) => return Err(ReadError::Open { path, error }),
    };
    let text = if bytes.starts_with(&ZSTD_MAGIC) {
        pack::unpack(&bytes).map_err(|error| format!("is no packed record: {error}"))
    } else {
        String::from_utf8(bytes).map_err(|_| "is no record: it is no text".to_owned())
    };
    let record = text
        .and_then(|text| Record::parse(&text).map_err(|error| format!("is no record: {error}")));
    record.map_err(|problem| ReadError::Content { path, problem })
}
