//! Which games a verb is about: records, folders of records, or games of a tournament.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::StoreAt;
use anyhow::Context as _;
use arena_store::{Store, Tournament};
use clap::Args;
use referee_cli::usage;
use referee_core::{Record, printable};
use referee_worker::{ReadError, read_record};

/// Games that are recorded.
#[derive(Args)]
pub struct GameArgs {
    /// A record (.jsonl or .jsonl.zst), a folder of records, or a tournament and a game of it
    /// as GROUP.SEATING.
    #[arg(required = true, value_name = "FILE|FOLDER|TOURNAMENT GROUP.SEATING")]
    games: Vec<String>,
    #[command(flatten)]
    store: StoreAt,
}

/// A game that can be read.
pub enum FoundGame {
    /// In a file of its own.
    File(PathBuf),
    /// In a store.
    Stored {
        /// Its name: TOURNAMENT GROUP.SEATING.
        name: String,
        /// The record as JSON lines.
        text: String,
    },
}

/// The games that were typed.
pub enum FoundGames {
    /// Games that are named one by one.
    Games(Vec<FoundGame>),
    /// All records of a folder.
    Folder(PathBuf, Vec<FoundGame>),
}

impl GameArgs {
    /// Finds what was typed, and reads no file.
    pub async fn find(&self) -> anyhow::Result<FoundGames> {
        if let [first, rest @ ..] = &self.games[..]
            && !rest.is_empty()
            && !Path::new(first).exists()
            && let Some(games) = rest
                .iter()
                .map(|game| numbers(game))
                .collect::<Option<Vec<_>>>()
        {
            return Ok(FoundGames::Games(self.stored(first, &games).await?));
        }
        if let [folder] = &self.games[..]
            && Path::new(folder).is_dir()
        {
            return Ok(FoundGames::Folder(
                folder.into(),
                records_of(Path::new(folder))?,
            ));
        }
        let mut found = Vec::new();
        for path in &self.games {
            match Path::new(path) {
                folder if folder.is_dir() => found.extend(records_of(folder)?),
                file => found.push(FoundGame::File(file.to_owned())),
            }
        }
        Ok(FoundGames::Games(found))
    }

    /// The one game that was typed.
    pub async fn one(&self) -> anyhow::Result<FoundGame> {
        self.find().await?.one()
    }

    async fn stored(&self, name: &str, games: &[(u64, u32)]) -> anyhow::Result<Vec<FoundGame>> {
        let store = self.store.open_existing().await?;
        let found = stored(&store, name, games).await;
        store.close().await;
        found
    }
}

impl FoundGames {
    /// The game, where there is one.
    pub fn one(self) -> anyhow::Result<FoundGame> {
        match self {
            Self::Games(mut games) if games.len() == 1 => Ok(games.remove(0)),
            Self::Games(games) => usage(format!("expected one game, found {}", games.len())),
            Self::Folder(folder, _) => {
                let folder = folder.display();
                usage(format!(
                    "{folder} is a folder: expected one game; `arena replay show {folder}` lists \
                     those in it"
                ))
            }
        }
    }
}

async fn stored(store: &Store, name: &str, games: &[(u64, u32)]) -> anyhow::Result<Vec<FoundGame>> {
    let Some(Tournament { id, state, .. }) = store.tournament(name).await? else {
        return usage(format!(
            "{name}: there is no such file and no such tournament in {}; `arena tournament list` \
             shows them",
            store.location()
        ));
    };
    // Deals that are still to be played from other seats.
    let secret = match state {
        state if state.is_final() => BTreeMap::new(),
        _ => store.incomplete_groups(id).await?,
    };
    let mut found = Vec::new();
    for &(group, seating) in games {
        let game = format!("{name} {group}.{seating}");
        if secret.contains_key(&group) {
            return usage(format!(
                "{game}: its deal is still to be played from other seats; it can be seen after that"
            ));
        }
        match store.record(id, group, seating).await? {
            Some(text) => found.push(FoundGame::Stored { name: game, text }),
            None => return usage(format!("{game}: there is no such game in the tournament")),
        }
    }
    Ok(found)
}

impl FoundGame {
    /// Its name in output and errors.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => printable(&path.display().to_string()),
            Self::Stored { name, .. } => name.clone(),
        }
    }

    /// Its file; none where it lies in a store.
    pub fn file(&self) -> Option<String> {
        matches!(self, Self::File(_)).then(|| self.name())
    }

    /// Reads its record, with texts that can be shown. That there is no such file is an
    /// error of usage.
    pub fn read(&self) -> anyhow::Result<Record> {
        let record = match self {
            Self::File(path) => match read_record(path) {
                Err(error @ ReadError::Open { .. }) => return usage(error.to_string()),
                read => read?,
            },
            Self::Stored { name, text } => {
                Record::parse(text).with_context(|| format!("{name} is no record"))?
            }
        };
        Ok(record.printable())
    }

    /// Reads its record; whatever is wrong with it is an error of usage.
    pub fn read_typed(&self) -> anyhow::Result<Record> {
        self.read().or_else(|error| usage(format!("{error:#}")))
    }
}

/// A game of a tournament: GROUP.SEATING.
fn numbers(text: &str) -> Option<(u64, u32)> {
    let (group, seating) = text.split_once('.')?;
    Some((group.parse().ok()?, seating.parse().ok()?))
}

/// The records in a folder, by name.
fn records_of(folder: &Path) -> anyhow::Result<Vec<FoundGame>> {
    let files = fs::read_dir(folder)
        .or_else(|error| usage(format!("could not read {}: {error}", folder.display())))?;
    let mut paths = Vec::new();
    for file in files {
        let path = file?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return usage(format!("{}: the folder has no records", folder.display()));
    }
    paths.sort();
    Ok(paths.into_iter().map(FoundGame::File).collect())
}
