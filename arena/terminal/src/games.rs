//! Which games a verb is about: records, folders of records, or games of a tournament.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::StoreAt;
use anyhow::Context as _;
use arena_events::run::RunFile;
use arena_store::{GameFilter, Store, Tournament};
use arena_tournament::{FILLER, occasion};
use clap::Args;
use referee_bots::read_input_text;
use referee_cli::usage;
use referee_core::{Occasion, Record, printable};
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
        /// Of what it was a game, and when it was played.
        occasion: Occasion,
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
    /// A tournament, with the first of its games.
    Tournament(String, Vec<ListedGame>),
}

/// A game of a tournament, in a list.
pub struct ListedGame {
    /// GROUP.SEATING
    pub name: String,
    /// Names of the players, by seat.
    pub players: Vec<String>,
    /// The first of them; none where several share the first place.
    pub winner: Option<String>,
    /// Number of moves.
    pub plies: u32,
    /// Reason why it ended, in words.
    pub end: String,
}

/// The most bytes of `run.json`; it has all set-ups.
const LARGEST_RUN_FILE: u64 = 64 * 1024 * 1024;

/// Most games of a tournament that are listed.
pub const MOST_LISTED: u32 = 1000;

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
        if let [name] = &self.games[..]
            && !name.contains('/')
            && !Path::new(name).exists()
        {
            if let Some(games) = self.listed(name).await? {
                return Ok(FoundGames::Tournament(name.clone(), games));
            }
            // No record is called so.
            if !name.contains('.') {
                return usage(format!(
                    "{name}: there is no such file and no such tournament; `arena tournament \
                     list` shows them"
                ));
            }
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

    /// The first games of a tournament; none where there is none of this name.
    async fn listed(&self, name: &str) -> anyhow::Result<Option<Vec<ListedGame>>> {
        // A file is meant, and no database is asked.
        if name.contains(".jsonl") {
            return Ok(None);
        }
        let Some(store) = self.store.open_if_there().await? else {
            return Ok(None);
        };
        let listed = listed(&store, name).await;
        store.close().await;
        listed
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
            Self::Tournament(name, _) => usage(format!(
                "{name} is a tournament: expected one game, {name} GROUP.SEATING; \
                 `arena replay show {name}` lists them"
            )),
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

async fn listed(store: &Store, name: &str) -> anyhow::Result<Option<Vec<ListedGame>>> {
    let Some(tournament) = store.tournament(name).await? else {
        return Ok(None);
    };
    let filter = GameFilter::default();
    let rows = store.games(tournament.id, &filter, MOST_LISTED).await?;
    let games = rows.iter().map(|row| {
        let name = |place: &usize| match row.lineup[*place] {
            Some(entrant) => tournament.entrants[entrant.index()].name.clone(),
            None => FILLER.to_owned(),
        };
        let players: Vec<String> = row.order.iter().map(name).collect();
        let mut first = (0..players.len()).filter(|seat| row.places[*seat] == 1);
        let winner = match (first.next(), first.next()) {
            (Some(seat), None) => Some(printable(&players[seat])),
            _ => None,
        };
        let foul = row.fouls.first().map(|foul| foul.foul.kind().words());
        ListedGame {
            name: format!("{}.{}", row.group, row.seating),
            players: players.iter().map(|name| printable(name)).collect(),
            winner,
            plies: row.plies,
            end: foul.map_or_else(|| printable(&row.reason), str::to_owned),
        }
    });
    Ok(Some(games.collect()))
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
            Some(text) => {
                let filter = GameFilter {
                    after: before(group, seating),
                    ..GameFilter::default()
                };
                let row = store.games(id, &filter, 1).await?;
                found.push(FoundGame::Stored {
                    name: game,
                    occasion: occasion(Some(name), row.first().map(|row| row.finished_unix_ms)),
                    text,
                });
            }
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
            Self::Stored { name, text, .. } => {
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

/// Of what games were a part, and when: as the store says it, or the file `run.json` beside a
/// record, which is read once for all records of its folder.
#[derive(Default)]
pub struct Occasions {
    of_folders: BTreeMap<PathBuf, Occasion>,
}

impl Occasions {
    /// That of a game; empty where nothing says it.
    pub fn of(&mut self, game: &FoundGame) -> Occasion {
        let path = match game {
            FoundGame::Stored { occasion, .. } => return occasion.clone(),
            FoundGame::File(path) => path,
        };
        let path = std::path::absolute(path).unwrap_or_default();
        let Some(folder) = path.parent() else {
            return Occasion::default();
        };
        if let Some(known) = self.of_folders.get(folder) {
            return known.clone();
        }
        let found = of_run(folder).unwrap_or_default();
        self.of_folders.insert(folder.to_owned(), found.clone());
        found
    }
}

/// The run whose records a folder has; none where nothing says so.
fn of_run(folder: &Path) -> Option<Occasion> {
    let text = read_input_text(&folder.join("run.json"), LARGEST_RUN_FILE).ok()?;
    let file: RunFile = serde_json::from_str(&text).ok()?;
    let name = folder.file_name()?.to_str()?;
    Some(occasion(Some(&printable(name)), file.began_unix_ms))
}

/// The last game that can be before this one of a tournament.
fn before(group: u64, seating: u32) -> Option<(u64, u32)> {
    match seating.checked_sub(1) {
        Some(seating) => Some((group, seating)),
        None => group.checked_sub(1).map(|group| (group, u32::MAX)),
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
