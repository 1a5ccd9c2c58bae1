//! `arena tournament export` and `import`: a tournament as text.

use std::{
    io::{self, BufReader, Write as _},
    path::PathBuf,
};

use arena_store::{Store, StoreError, Tournament};
use arena_terminal::{
    ExportOutput, StoreAt,
    beside::{one_of, text_formats},
};
use arena_tournament::{ExportedGames, TournamentError, check_imported, export_games, find_game};
use clap::{Args, builder::PossibleValue};
use referee_bots::open_input;
use referee_core::GameFormat;

use referee_games::game_name;

use crate::{
    End,
    report::{self, plural},
    usage,
};

#[derive(Args)]
pub(crate) struct Export {
    /// Its name.
    name: String,
    /// The format.
    #[arg(long = "as", value_name = "FORMAT", value_parser = one_of(As::all()), default_value = JSONL)]
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

/// The name of the format that import reads.
const JSONL: &str = "jsonl";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum As {
    /// All of it.
    Jsonl,
    /// A table of games.
    Csv,
    /// Its games, for other programs.
    Games(GameFormat),
}

impl As {
    /// All of them, as they are typed.
    fn all() -> impl Iterator<Item = (PossibleValue, Self)> {
        let value = |name, help| PossibleValue::new(name).help(help);
        let jsonl = "All of it, records too, one object a line: what import reads";
        let csv = "One row a game, for a spreadsheet";
        let whole = [
            (value(JSONL, jsonl), Self::Jsonl),
            (value("csv", csv), Self::Csv),
        ];
        let games = text_formats().map(|(value, format)| (value, Self::Games(format)));
        whole.into_iter().chain(games)
    }
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
        if let As::Games(format) = self.how {
            let known = find_game(&tournament.game)?.formats();
            if !known.contains(&format) {
                let names: Vec<&str> = known.iter().map(|format| format.name).collect();
                return usage(format!(
                    "--as {}: games of {} are written as {}",
                    format.name,
                    game_name(&tournament.game),
                    names.join(", ")
                ));
            }
        }
        let mut out = ExportOutput::open(self.output.as_deref(), self.force)?;
        let exported = self.write(&store, &tournament, &mut out).await?;
        let Some((game, why)) = exported.first_left_out else {
            out.finish()?;
            return Ok(End::Done);
        };
        let left_out = format!(
            "{} left out; of {game}: {why}",
            plural(exported.left_out, "game")
        );
        if exported.written == 0 {
            return usage(left_out);
        }
        out.finish()?;
        report::warning(&left_out);
        Ok(End::No)
    }

    /// Writes the tournament, and says which games are left out.
    async fn write(
        &self,
        store: &Store,
        tournament: &Tournament,
        out: &mut ExportOutput,
    ) -> anyhow::Result<ExportedGames> {
        let all = |()| ExportedGames::default();
        let written = match self.how {
            As::Jsonl => store
                .export(tournament.id, out)
                .await
                .map(all)
                .map_err(bare),
            As::Csv => store.csv(tournament.id, out).await.map(all).map_err(bare),
            As::Games(format) => {
                let written = export_games(store, tournament, format.name, out).await;
                written.map_err(|error| match error {
                    TournamentError::Output(error) => error.into(),
                    error => error.into(),
                })
            }
        };
        let written = written.and_then(|left_out| {
            out.flush()?;
            Ok(left_out)
        });
        written.map_err(|error| match error.is::<io::Error>() {
            true => error.context(out.not_written()),
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
