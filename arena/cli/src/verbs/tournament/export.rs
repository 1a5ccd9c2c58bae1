//! `arena tournament export` and `import`: a tournament as text.

use std::{
    io::{self, BufReader, BufWriter, Write},
    path::PathBuf,
};

use arena_store::{Store, StoreError, Tournament};
use arena_terminal::{OutputFile, StoreAt};
use arena_tournament::{TournamentError, check_imported, export_moves};
use clap::{Args, ValueEnum};
use referee_bots::open_input;

use crate::{End, report, usage};

#[derive(Args)]
pub(crate) struct Export {
    /// Its name.
    name: String,
    /// The format.
    #[arg(long = "as", value_enum, default_value_t = As::Jsonl)]
    how: As,
    /// The file to write [default: standard output].
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
    /// All of it, records too, one object a line: what import reads.
    Jsonl,
    /// One row a game, for a spreadsheet.
    Csv,
    /// One line a game: its moves in the notation that is usual for the game.
    Moves,
}

#[derive(Args)]
pub(crate) struct Import {
    /// The file that export has written.
    file: PathBuf,
    /// Its name in this store [default: the name that it had].
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    store: StoreAt,
}

impl Export {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        match &self.output {
            None => {
                let out = BufWriter::new(io::stdout());
                self.write(&store, &tournament, out, report::NOT_WRITTEN)
                    .await?;
            }
            Some(path) => {
                let mut file = OutputFile::open(path, self.force)?;
                let failed = file.not_written();
                self.write(&store, &tournament, BufWriter::new(&mut file), &failed)
                    .await?;
                file.finish()?;
            }
        }
        Ok(End::Done)
    }

    /// Writes the tournament; `failed` is the beginning of the error where that can't be done.
    async fn write(
        &self,
        store: &Store,
        tournament: &Tournament,
        mut out: impl Write + Send,
        failed: &str,
    ) -> anyhow::Result<()> {
        let written = match self.how {
            As::Jsonl => store.export(tournament.id, &mut out).await.map_err(bare),
            As::Csv => store.csv(tournament.id, &mut out).await.map_err(bare),
            As::Moves => match export_moves(store, tournament, &mut out).await {
                Err(TournamentError::Output(error)) => Err(error.into()),
                written => written.map_err(Into::into),
            },
        };
        let written = written.and_then(|()| Ok(out.flush()?));
        written.map_err(|error| match error.is::<io::Error>() {
            true => error.context(failed.to_owned()),
            false => error,
        })
    }
}

/// The error of a write, without that of the store: whoever reads no further is no failure of ours.
fn bare(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io(error) => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code).into(),
            None => io::Error::from(error.kind()).into(),
        },
        error => error.into(),
    }
}

impl Import {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let what = self.file.display();
        let file = open_input(&self.file).or_else(|error| usage(format!("{what}: {error}")))?;
        let store = self.store.open().await?;
        let check =
            |imported: &Tournament| check_imported(imported).map_err(|error| error.to_string());
        let imported = store
            .import(&mut BufReader::new(file), self.name.as_deref(), check)
            .await
            .or_else(|error| match error {
                StoreError::Import { .. }
                | StoreError::Exists { .. }
                | StoreError::BadName { .. } => usage(format!("{what}: {error}")),
                error => {
                    Err(anyhow::Error::from(error).context(format!("could not read in {what}")))
                }
            })?;
        store.close().await;
        report::line(&format!(
            "{}: read; `arena tournament verify {0}` proves it",
            imported.name
        ))?;
        Ok(End::Done)
    }
}
