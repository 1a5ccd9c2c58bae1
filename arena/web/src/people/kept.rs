//! Games of people in files: those that are being played, and the records of those that are over.
//! The files hold what nobody may see while a game goes on, so their owner alone can read them.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use arena_play::GivenAnswer;
use referee_core::{Record, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::caller::Browser;

/// A game as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptGame {
    pub(crate) id: String,
    pub(crate) game: String,
    pub(crate) setup: Value,
    pub(crate) seed: Seed,
    /// By seat.
    pub(crate) names: Vec<String>,
    pub(crate) chairs: Vec<Chair>,
    pub(crate) limit_ms: u64,
    pub(crate) is_timed: bool,
    pub(crate) answers: Vec<Vec<GivenAnswer>>,
}

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chair {
    /// Somebody in this browser; nobody yet where there is none.
    Person { browser: Option<Browser> },
    /// The bot that the page offers with this SPEC.
    Bot { spec: String },
}

impl Chair {
    pub(crate) fn is_of(&self, browser: &Browser) -> bool {
        matches!(self, Self::Person { browser: Some(own) } if own == browser)
    }

    pub(crate) const fn is_free(&self) -> bool {
        matches!(self, Self::Person { browser: None })
    }
}

/// Whether a text can be a game's name: nothing else becomes a part of a path.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn game_file(folder: &Path, id: &str) -> PathBuf {
    folder.join("games").join(format!("{id}.json"))
}

fn record_file(folder: &Path, id: &str) -> PathBuf {
    folder.join("records").join(format!("{id}.jsonl"))
}

/// Keeps a game as it stands now.
pub(crate) fn write(folder: &Path, kept: &KeptGame) -> io::Result<()> {
    let bytes = serde_json::to_vec(kept)?;
    write_whole(&game_file(folder, &kept.id), &bytes)
}

/// Keeps the record of a game that is over, and no longer the game.
pub(crate) fn finish(folder: &Path, id: &str, record: &Record) -> io::Result<()> {
    write_whole(&record_file(folder, id), record.to_json_lines().as_bytes())?;
    remove(folder, id)
}

/// Keeps a game no longer.
pub(crate) fn remove(folder: &Path, id: &str) -> io::Result<()> {
    match fs::remove_file(game_file(folder, id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The record of a game that is over.
pub(crate) fn read_record(folder: &Path, id: &str) -> io::Result<Option<String>> {
    if !is_id(id) {
        return Ok(None);
    }
    match fs::read_to_string(record_file(folder, id)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The games that were being played.
pub(crate) fn read_all(folder: &Path) -> Vec<io::Result<KeptGame>> {
    let Ok(files) = fs::read_dir(folder.join("games")) else {
        return Vec::new();
    };
    let files = files.filter_map(Result::ok).map(|file| file.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let read = |path: PathBuf| {
        let kept: KeptGame = serde_json::from_slice(&fs::read(&path)?)?;
        let is_whole = is_id(&kept.id)
            && path == game_file(folder, &kept.id)
            && kept.names.len() == kept.chairs.len();
        match is_whole {
            true => Ok(kept),
            false => Err(io::Error::other(format!("{} is no game", path.display()))),
        }
    };
    files.map(read).collect()
}

/// The file is the old one or the new one, whatever happens.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let new = path.with_extension("new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(new, path)
}
