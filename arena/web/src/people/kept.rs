//! Games of people in files: those that are being played, the records of those that are over, and for
//! each browser the list of those that it has played.
//! The files hold what nobody may see while a game goes on, so their owner alone can read them.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use arena_play::GivenAnswer;
use referee_core::{Record, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::RecordBounds;
use crate::{caller::Browser, client::Client};

/// So many games are in the list of a browser.
const PLAYED: usize = 50;

/// A game as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptGame {
    pub(crate) id: String,
    pub(crate) game: String,
    pub(crate) setup: Value,
    pub(crate) seed: Seed,
    /// By seat.
    pub(crate) names: Vec<String>,
    pub(crate) chairs: Vec<SeatedPlayer>,
    pub(crate) limit_ms: u64,
    pub(crate) is_timed: bool,
    /// True if others may watch it.
    #[serde(default)]
    pub(crate) is_watched: bool,
    /// The client that has begun it; files of older versions do not say.
    #[serde(default)]
    pub(crate) client: Option<Client>,
    /// The time at which it began, in milliseconds since 1970.
    #[serde(default = "now")]
    pub(crate) began_unix_ms: u64,
    pub(crate) answers: Vec<Vec<GivenAnswer>>,
}

/// The player in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeatedPlayer {
    /// Somebody in this browser; nobody yet where there is none.
    Person { browser: Option<Browser> },
    /// The bot that the page offers with this SPEC.
    Bot { spec: String },
}

impl SeatedPlayer {
    pub(crate) fn is_of(&self, browser: &Browser) -> bool {
        matches!(self, Self::Person { browser: Some(own) } if own == browser)
    }

    pub(crate) fn browser(self) -> Option<Browser> {
        match self {
            Self::Person { browser } => browser,
            Self::Bot { .. } => None,
        }
    }

    pub(crate) const fn is_free(&self) -> bool {
        matches!(self, Self::Person { browser: None })
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// A game that is over, in the list of a browser that has played in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlayedGame {
    pub(crate) id: String,
    pub(crate) game: String,
    /// By seat.
    pub(crate) names: Vec<String>,
    /// How it ended for whoever plays there, in English and in Chinese.
    pub(crate) told: [String; 2],
    pub(crate) ended_unix_ms: u64,
}

/// True if a text can be a game's name: nothing else becomes a part of a path.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn game_file(folder: &Path, id: &str) -> PathBuf {
    folder.join("games").join(format!("{id}.json"))
}

fn record_file(folder: &Path, id: &str) -> PathBuf {
    folder.join("records").join(format!("{id}.jsonl"))
}

fn played_file(folder: &Path, browser: &Browser) -> PathBuf {
    folder
        .join("browsers")
        .join(format!("{}.json", browser.hash()))
}

/// Adds a game to the list of a browser.
pub(crate) fn add_played(folder: &Path, browser: &Browser, game: PlayedGame) -> io::Result<()> {
    let mut all = played(folder, browser)?;
    all.insert(0, game);
    all.truncate(PLAYED);
    write_whole(&played_file(folder, browser), &serde_json::to_vec(&all)?)
}

/// The games of a browser that are over and whose records are kept, the newest first.
#[expect(clippy::disallowed_methods, reason = "the file is our own")]
pub(crate) fn played(folder: &Path, browser: &Browser) -> io::Result<Vec<PlayedGame>> {
    let read = match fs::read(played_file(folder, browser)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let mut all: Vec<PlayedGame> = serde_json::from_slice(&read)?;
    all.retain(|game| is_id(&game.id) && record_file(folder, &game.id).exists());
    Ok(all)
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
#[expect(clippy::disallowed_methods, reason = "the file is our own")]
pub(crate) fn read_record(folder: &Path, id: &str) -> io::Result<Option<String>> {
    if !is_id(id) {
        return Ok(None);
    }
    match fs::read_to_string(record_file(folder, id)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Removes records, and lists of what somebody has played, the oldest first, until the rest is within
/// bounds.
pub(crate) fn prune(folder: &Path, bounds: RecordBounds, now: SystemTime) -> io::Result<()> {
    let mut all = Vec::new();
    for kind in ["records", "browsers"] {
        let files = match fs::read_dir(folder.join(kind)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            files => files?,
        };
        for file in files {
            let file = file?;
            // Somebody else may have removed it.
            if let Ok(about) = file.metadata()
                && about.is_file()
            {
                all.push((about.modified()?, about.len(), file.path()));
            }
        }
    }
    all.sort_by(|a, b| b.cmp(a));
    let mut bytes = 0_u64;
    for (modified, length, path) in all {
        bytes = bytes.saturating_add(length);
        let age = now.duration_since(modified).unwrap_or_default();
        if bytes > bounds.bytes || age > bounds.age {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The games that were being played.
#[expect(clippy::disallowed_methods, reason = "the files are our own")]
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// Writes records of 1000 bytes, each a day older than the one before, and gives which of them are
    /// left within bounds.
    fn left_within(bounds: RecordBounds) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let id = |number: u64| format!("{number:032x}");
        for number in 0..10 {
            let path = record_file(folder.path(), &id(number));
            write_whole(&path, &[b' '; 1000]).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(now - DAY * number as u32).unwrap();
        }
        prune(folder.path(), bounds, now).unwrap();
        let is_left = |number: &u64| read_record(folder.path(), &id(*number)).unwrap().is_some();
        (0..10).filter(is_left).collect()
    }

    #[test]
    fn the_oldest_records_go_first_by_their_bytes_and_their_age() {
        let all = RecordBounds {
            bytes: 10_000,
            age: DAY * 30,
        };
        assert_eq!(left_within(all), (0..10).collect::<Vec<_>>());
        let few = RecordBounds {
            bytes: 3_500,
            ..all
        };
        assert_eq!(left_within(few), [0, 1, 2]);
        let young = RecordBounds {
            age: DAY * 4,
            ..all
        };
        assert_eq!(left_within(young), [0, 1, 2, 3, 4]);
        let none = RecordBounds { bytes: 0, ..all };
        assert_eq!(left_within(none), [0_u64; 0]);
    }

    #[test]
    fn a_browser_has_a_list_of_what_it_has_played_and_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let browser = |name: &str| -> Browser { serde_json::from_value(name.into()).unwrap() };
        let (own, other) = (browser("own"), browser("../other"));
        let game = |number: u64| PlayedGame {
            id: format!("{number:032x}"),
            game: "othello".to_owned(),
            names: vec!["ann".to_owned(), "bot".to_owned()],
            told: ["You won".to_owned(), "你赢了".to_owned()],
            ended_unix_ms: number,
        };
        for number in 0..60 {
            write_whole(&record_file(folder.path(), &game(number).id), b"{}").unwrap();
            add_played(folder.path(), &own, game(number)).unwrap();
        }
        add_played(folder.path(), &other, game(3)).unwrap();
        fs::remove_file(record_file(folder.path(), &game(58).id)).unwrap();
        let mut expected: Vec<_> = (10..60).rev().map(game).collect();
        expected.remove(1);
        assert_eq!(played(folder.path(), &own).unwrap(), expected);
        assert_eq!(played(folder.path(), &other).unwrap(), [game(3)]);
        assert_eq!(played(folder.path(), &browser("new")).unwrap(), []);
        // Nothing is written outside of the folder, and the cookie is nowhere.
        let names = fs::read_dir(folder.path().join("browsers")).unwrap();
        let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| name.len() == 64 + 5));
        let none = RecordBounds {
            bytes: 0,
            age: Duration::ZERO,
        };
        prune(folder.path(), none, SystemTime::now()).unwrap();
        assert_eq!(played(folder.path(), &own).unwrap(), []);
        assert!(!played_file(folder.path(), &own).exists());
    }

    #[test]
    fn no_records_are_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let bounds = RecordBounds {
            bytes: 0,
            age: Duration::ZERO,
        };
        prune(folder.path(), bounds, SystemTime::now()).unwrap();
    }
}
