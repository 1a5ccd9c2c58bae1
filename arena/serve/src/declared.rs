//! Tournaments that the files of a folder declare, as in a ConfigMap under version control. Each is
//! queued once and stays as it was made then; what became of each file is told.

use std::{collections::BTreeMap, fs, io, path::PathBuf, time::Duration};

use anyhow::Context as _;
use arena_kubernetes::StatusMap;
use arena_store::{Store, Tournament, TournamentState, Wish};
use arena_terminal::report;
use arena_tournament::{Context, Planned, TournamentError, events, secret_root};
use referee_bots::Schemes;
use referee_cli::usage;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Time between two looks at the folder. What becomes of the files is no news of seconds.
const EVERY: Duration = Duration::from_secs(10);
/// The most files that are looked at.
const MOST_FILES: usize = 1000;

/// The folder, and where the status of its files goes.
pub(crate) struct Declared {
    pub(crate) folder: PathBuf,
    pub(crate) store: Store,
    pub(crate) schemes: Schemes,
    /// In a cluster.
    pub(crate) status: Option<StatusMap>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FileStatus {
    /// The tournament that it declares, where that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament: Option<String>,
    /// True if the tournament is stored as the file declares it.
    accepted: bool,
    /// The state of the tournament, as `arena tournament list` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The reason why it is not accepted, or what the tournament waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl FileStatus {
    /// That of the first file that is not looked at.
    fn one_too_many() -> Self {
        Self {
            tournament: None,
            accepted: false,
            state: None,
            message: Some(format!(
                "expected at most {MOST_FILES} files: this one and those behind it by name are \
                 not looked at; remove those whose tournaments are over"
            )),
        }
    }
}

impl Declared {
    /// Checks that there is a folder.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match self.folder.is_dir() {
            true => Ok(()),
            false => usage(format!(
                "--tournaments {}: expected a folder with files of tournaments (*.toml)",
                self.folder.display()
            )),
        }
    }

    /// Looks at the folder until it is stopped.
    pub(crate) async fn run(&self, stop: &CancellationToken) {
        let mut told = BTreeMap::new();
        let mut written = None;
        loop {
            match self.look().await {
                Ok(seen) => {
                    tell(&told, &seen);
                    told = seen;
                    if written.as_ref() != Some(&told)
                        && let Some(status) = &self.status
                    {
                        match status.write(&in_json(&told)).await {
                            Ok(()) => written = Some(told.clone()),
                            Err(error) => {
                                tracing::warn!(%error, "could not write what became of files");
                            }
                        }
                    }
                }
                Err(error) => tracing::warn!("the files of tournaments: {error:#}"),
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Queues what is declared for the first time, and says what became of each file, by name.
    async fn look(&self) -> anyhow::Result<BTreeMap<String, FileStatus>> {
        let directory = std::env::current_dir()?;
        let mut seen = BTreeMap::new();
        let files = self.files().context("could not read the folder")?;
        for (at, (name, path)) in files.into_iter().enumerate() {
            if at == MOST_FILES {
                seen.insert(name, FileStatus::one_too_many());
                break;
            }
            let context = Context {
                schemes: &self.schemes,
                directory: &directory,
                store: Some(&self.store),
                on: None,
            };
            let status = match Planned::read(&path, context).await {
                Ok(planned) => self.declare(&planned).await?,
                Err(TournamentError::Store(error)) => return Err(error.into()),
                Err(error) => FileStatus {
                    tournament: None,
                    accepted: false,
                    state: None,
                    message: Some(error.to_string()),
                },
            };
            seen.insert(name, status);
        }
        Ok(seen)
    }

    /// The first files by name, one more than are looked at. In the folder of a ConfigMap each is a
    /// link, and what is hidden is not meant.
    fn files(&self) -> io::Result<BTreeMap<String, PathBuf>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if name.ends_with(".toml") && !name.starts_with('.') && path.is_file() {
                files.insert(name, path);
            }
            if files.len() > MOST_FILES + 1 {
                files.pop_last();
            }
        }
        Ok(files)
    }

    async fn declare(&self, planned: &Planned) -> anyhow::Result<FileStatus> {
        let stored = match self.store.tournament(&planned.name).await? {
            Some(stored) => stored,
            None => planned.create(&self.store, secret_root()?, false).await?,
        };
        let accepted = planned.is_stored_as(&stored);
        // It was made just now, or by a process that has ended before it could ask for it.
        let is_new = stored.state == TournamentState::Created && stored.wish.is_none();
        let stored = match accepted && is_new {
            true => {
                self.store.set_wish(stored.id, Some(Wish::Play)).await?;
                self.store
                    .tournament(&planned.name)
                    .await?
                    .unwrap_or(stored)
            }
            false => stored,
        };
        let message = match accepted {
            true => stored.waits.clone(),
            false => Some(
                "the file differs from the tournament of this name, which stays as it was made; \
                 give it another name to have it played"
                    .to_owned(),
            ),
        };
        Ok(FileStatus {
            tournament: Some(stored.name.clone()),
            accepted,
            state: Some(self.state(&stored).await?),
            message,
        })
    }

    async fn state(&self, stored: &Tournament) -> anyhow::Result<String> {
        let is_claimed = self.store.is_claimed(stored.id).await?;
        let state = events::state(stored.state, is_claimed, stored.wish);
        let state = serde_json::to_value(state)?;
        Ok(state.as_str().unwrap_or_default().to_owned())
    }
}

/// Says what is new.
fn tell(told: &BTreeMap<String, FileStatus>, seen: &BTreeMap<String, FileStatus>) {
    for (file, status) in seen {
        let before = told.get(file);
        if before.is_some_and(|before| before.accepted == status.accepted) {
            continue;
        }
        let tournament = status.tournament.as_deref().unwrap_or("a tournament");
        match (status.accepted, &status.message) {
            (false, Some(why)) => report::warning(&format!("{file} is not accepted: {why}")),
            _ => report::note(&format!(
                "{file} declares {tournament}, which is queued once"
            )),
        }
    }
}

/// The status of each file as a line of JSON.
fn in_json(seen: &BTreeMap<String, FileStatus>) -> BTreeMap<String, String> {
    let lines = seen.iter().map(|(file, status)| {
        let line = serde_json::to_string(status).expect("a status is JSON");
        (file.clone(), line)
    });
    lines.collect()
}
