//! `arena tournament`: many bots, a schedule, and a store that holds all of it.

use std::{
    fs,
    io::{self, BufReader, BufWriter},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use arena_ladder::ScheduleShape;
use arena_store::{GameRow, Store, StoreError, Tournament as Stored, TournamentState};
use clap::{Args, Subcommand, ValueEnum};
use referee_core::Root;
use serde_json::json;

use super::Format;
use crate::{
    End, report,
    run::{RunEnd, positive_duration, secret_root},
    tournament::{self, Manner, Planned, Table},
    usage,
};

#[derive(Subcommand)]
pub(crate) enum Tournament {
    /// Play the tournament that a TOML file describes
    #[command(after_help = FILE_HELP)]
    Run(Run),
    /// Go on with one that was stopped, in whatever way
    Resume(Resume),
    /// The table and the figures of one, while it goes on and after
    Status(Status),
    /// All that are in the store
    List(List),
    /// Prove a whole tournament from its records and its root: exit code 1 if it
    /// is not what it says
    Verify(Named),
    /// Write a whole tournament as text: JSON lines, CSV, or lists of moves
    Export(Export),
    /// Read in what export has written as JSON lines
    Import(Import),
}

/// Which store.
#[derive(Args)]
pub(crate) struct StoreAt {
    /// Where results are kept: a file for SQLite, or postgres://USER@HOST/NAME.
    #[arg(
        long = "store",
        env = "ARENA_STORE",
        hide_env_values = true,
        default_value = "arena.sqlite",
        value_name = "FILE|URL"
    )]
    url: String,
}

#[derive(Args)]
pub(crate) struct Run {
    /// The tournament: `arena tournament run --help` shows one.
    file: PathBuf,
    /// What to call it [default: what the file says, or the file's name].
    #[arg(long)]
    name: Option<String>,
    /// Show the schedule, and play nothing.
    #[arg(long)]
    dry_run: bool,
    /// Play the same deals again: a number, a word, or the root that an earlier
    /// tournament showed at its end. Marks it as a reproduction.
    #[arg(long)]
    seed: Option<String>,
    /// The same from a file that only you can read.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    go_on: GoOn,
}

#[derive(Args)]
pub(crate) struct Resume {
    /// Its name.
    name: String,
    #[command(flatten)]
    go_on: GoOn,
}

/// How it is run.
#[derive(Args)]
pub(crate) struct GoOn {
    #[command(flatten)]
    store: StoreAt,
    /// How many games are played at once [default: the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    concurrency: Option<u64>,
    /// Where the bots' output goes [default: arena-runs/NAME/logs].
    #[arg(long)]
    logs: Option<PathBuf>,
    /// How long games may go on after SIGTERM before they are cut off.
    #[arg(long, default_value = "10s", value_parser = positive_duration)]
    grace: Duration,
    /// Serve metrics for Prometheus at http://ADDRESS/metrics while it runs.
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Status {
    /// Its name.
    name: String,
    /// Show every match of the schedule too.
    #[arg(long)]
    schedule: bool,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Named {
    /// Its name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct Export {
    /// Its name.
    name: String,
    /// As what.
    #[arg(long = "as", value_enum, default_value_t = As::Jsonl)]
    how: As,
    /// Where to [default: standard output].
    #[arg(long, short)]
    output: Option<PathBuf>,
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
    /// What export has written.
    file: PathBuf,
    /// What to call it here [default: as it was called].
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    store: StoreAt,
}

const FILE_HELP: &str = "\
A file, all that it may say (only game, shape and bots must be there):

  name = \"spring\"               # else the file's name
  game = \"connect-four\"
  shape = \"round-robin\"         # or gauntlet, swiss, single-elimination,
                                # double-elimination, ladder
  deals = 10                    # in a match; each from every seating. An
                                # elimination's match is the best of so many
  seatings = \"rotations\"        # or \"all\": for four seats 24
  # rounds = 5                  # swiss, ladder (which has no end without it)
  # challengers = 1             # gauntlet: the first bots against the others
  # third_place = true          # single-elimination
  # openings = \"openings.txt\"   # or setup = { rows = 9, columns = 9 }
  # filler = \"house:random\"     # takes seats that nobody has; does not count

  [limits]
  move = \"3s\"
  start = \"10s\"
  # budget = \"5m\"               # for all moves of a game
  # memory_mib = 512

  [stop]                        # before all deals have been played
  # sprt = { elo0 = 0, elo1 = 10, alpha = 0.05, beta = 0.05, model = \"normalized\" }
  # time = \"2h\"                 # resume goes on

  [set_aside]                   # deals that a bot may fail in every game
  starts = 3                    # by not starting
  fouls = 10                    # in any way, or a fifth of its deals

  [[bots]]
  name = \"uct\"
  bot = \"house:uct?time=100ms\"  # a SPEC, or the name of a registered bot

  [[bots]]
  bot = \"exec:./my_bot --fast\"
  version = \"1.2\"
  owner = \"me\"

Examples:
  arena tournament run spring.toml --dry-run
  arena tournament run spring.toml
  arena tournament resume spring
  arena tournament status spring --format json
  arena tournament run spring.toml --store postgres://arena@localhost/arena";

impl Tournament {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Run(run) => run.run().await,
            Self::Resume(resume) => resume.run().await,
            Self::Status(status) => status.run().await,
            Self::List(list) => list.run().await,
            Self::Verify(named) => named.verify().await,
            Self::Export(export) => export.run().await,
            Self::Import(import) => import.run().await,
        }
    }
}

impl StoreAt {
    /// Opens it, and makes it where there is none.
    pub(crate) async fn open(&self) -> anyhow::Result<Store> {
        if Path::new(&self.url).is_dir() {
            return usage(format!(
                "--store {}: it is a folder; expected a file, as in {}",
                self.url,
                Path::new(&self.url).join("arena.sqlite").display()
            ));
        }
        Store::open(&self.url)
            .await
            .or_else(|error| usage(format!("--store: {error}")))
    }

    /// Opens it, and makes none.
    pub(crate) async fn open_existing(&self) -> anyhow::Result<Store> {
        if let Some(store) = self.open_if_there().await? {
            return Ok(store);
        }
        usage(format!(
            "--store {}: there is no such file; tournaments make one, and --store or ARENA_STORE \
             names another",
            self.url
        ))
    }

    /// Opens it where there is one.
    async fn open_if_there(&self) -> anyhow::Result<Option<Store>> {
        let path = self.url.strip_prefix("sqlite:").unwrap_or(&self.url);
        let path = path.strip_prefix("//").unwrap_or(path);
        if !self.url.contains("://") && !Path::new(path).exists() {
            return Ok(None);
        }
        self.open().await.map(Some)
    }

    /// Opens it and finds a tournament in it.
    async fn find(&self, name: &str) -> anyhow::Result<(Store, Stored)> {
        let store = self.open_existing().await?;
        if let Some(tournament) = store.tournament(name).await? {
            return Ok((store, tournament));
        }
        let all = store.tournaments().await?;
        let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
        let hint = match (house_bots::closest(name, &names), &names[..]) {
            (Some(like), _) => format!("did you mean {like}?"),
            (None, []) => "it has none".to_owned(),
            (None, _) => "`arena tournament list` shows those that there are".to_owned(),
        };
        usage(format!(
            "there is no tournament \"{name}\" in {}: {hint}",
            store.location()
        ))
    }
}

impl Run {
    async fn run(self) -> anyhow::Result<End> {
        // Who asks for what can't be leaves no store behind.
        let known = self.go_on.store.open_if_there().await?;
        let mut planned = Planned::read(&self.file, known.as_ref()).await?;
        if let Some(name) = &self.name {
            planned.called(name)?;
        }
        if self.dry_run {
            return dry_run(&planned, self.root()?.as_ref(), self.go_on.format);
        }
        let typed = self.root()?;
        self.go_on.can_serve()?;
        let store = match known {
            Some(store) => store,
            None => self.go_on.store.open().await?,
        };
        if store.tournament(&planned.name).await?.is_some() {
            return usage(format!(
                "there is a tournament \"{0}\" already: `arena tournament resume {0}` goes on with \
                 it, and --name gives this one another name",
                planned.name
            ));
        }
        let reproduction = typed.is_some();
        let root = match typed {
            Some(root) => root,
            None => secret_root()?,
        };
        let created = tournament::create(&store, &planned, root, reproduction).await?;
        if !reproduction {
            anstream::eprintln!("root committed, sha256:\n  {}", created.commitment);
        }
        let end = self.go_on.go_on(&store, &created).await;
        // Of SQLite's files one is left then.
        store.close().await;
        end
    }

    fn root(&self) -> anyhow::Result<Option<Root>> {
        let (what, text) = match (&self.seed, &self.seed_file) {
            (Some(seed), _) => ("--seed".to_owned(), seed.clone()),
            (None, Some(file)) => {
                let what = format!("--seed-file {}", file.display());
                let text =
                    fs::read_to_string(file).or_else(|error| usage(format!("{what}: {error}")))?;
                (what, text)
            }
            (None, None) => return Ok(None),
        };
        let root = text
            .parse()
            .or_else(|error| usage(format!("{what}: {error}")))?;
        Ok(Some(root))
    }
}

/// Shows what would be played.
fn dry_run(planned: &Planned, root: Option<&Root>, format: Format) -> anyhow::Result<End> {
    let entrants = planned.entrants.len();
    let schedule = planned
        .definition
        .schedule(entrants, root.map_or([0; 32], tournament::chance))?;
    let names: Vec<String> = planned
        .entrants
        .iter()
        .map(|entrant| entrant.name.clone())
        .collect();
    let kind = planned.definition.kind()?;
    let a_group = planned.definition.seatings.games(kind.info().seats.into()) as u64;
    match format {
        Format::Text => {
            let line = format!(
                "{}: {}, {entrants} bots, {}",
                planned.name,
                kind.info().title,
                match schedule.planned() {
                    Some(deals) => format!(
                        "at most {deals} deals, {} games{}",
                        deals * a_group,
                        if planned.definition.breaks_ties() {
                            ", and more where a match is tied"
                        } else {
                            ""
                        }
                    ),
                    None => "without an end".to_owned(),
                }
            );
            report::text(&format!("{}\n", report::wrapped(&line)))?;
            tournament::show_schedule(&*schedule, &names)?;
            if root.is_none() && matches!(planned.definition.shape, ScheduleShape::Ladder { .. }) {
                report::text("\nwho meets in the first round is left to chance\n")?;
            }
        }
        Format::Json => report::event(&json!({
            "type": "schedule",
            "name": planned.name,
            "game": planned.definition.game,
            "bots": names,
            "deals": schedule.planned(),
            "games": schedule.planned().map(|deals| deals * a_group),
            "rounds": schedule.rounds(),
        }))?,
    }
    Ok(End::Done)
}

impl Resume {
    async fn run(self) -> anyhow::Result<End> {
        self.go_on.can_serve()?;
        let (store, tournament) = self.go_on.store.find(&self.name).await?;
        if tournament.state == TournamentState::Over {
            anstream::eprintln!("note: {} is over; nothing is left to be played", self.name);
            let table = Table::of(&store, &tournament).await?;
            return table.show(self.go_on.format);
        }
        let end = self.go_on.go_on(&store, &tournament).await;
        store.close().await;
        end
    }
}

impl GoOn {
    /// Refuses an address where nothing can listen, before a tournament is made.
    fn can_serve(&self) -> anyhow::Result<()> {
        if let Some(address) = self.metrics
            && let Err(error) = TcpListener::bind(address)
        {
            return usage(format!("--metrics {address}: {error}"));
        }
        Ok(())
    }

    async fn go_on(&self, store: &Store, tournament: &Stored) -> anyhow::Result<End> {
        let folder = || Path::new("arena-runs").join(&tournament.name).join("logs");
        let manner = Manner {
            concurrency: self.concurrency.map(|games| games as usize),
            logs: self.logs.clone().unwrap_or_else(folder),
            grace: self.grace,
            metrics: self.metrics,
        };
        let json = self.format == Format::Json;
        let names: Vec<String> = tournament
            .entrants
            .iter()
            .map(|entrant| entrant.name.clone())
            .collect();
        let tell = |game: &GameRow| {
            // Whoever no longer reads along does not stop a tournament.
            let _ = report::event(&tournament::game_event(game, &names));
        };
        let tell: Option<&dyn Fn(&GameRow)> = if json { Some(&tell) } else { None };
        let end = tournament::run(store, tournament, &manner, tell).await?;
        let (name, old) = (&tournament.name, tournament.state);
        let Some(tournament) = store.tournament(name).await? else {
            anyhow::bail!(
                "{name} is no longer in the store, where it was {}",
                old.word()
            );
        };
        let answer = Table::of(store, &tournament).await?.show(self.format)?;
        if end == RunEnd::Stopped {
            anstream::eprintln!("stopped; `arena tournament resume {name}` goes on with it");
            return Ok(End::Interrupted);
        }
        if let Some(root) = &tournament.root
            && !tournament.reproduction
        {
            anstream::eprintln!("root, to be typed as --seed:\n  {}", root.reveal());
        }
        Ok(answer)
    }
}

impl Status {
    async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        let table = Table::of(&store, &tournament).await?;
        if self.format == Format::Text {
            table.introduce()?;
        }
        table.show(self.format)?;
        if self.format == Format::Text {
            table.figures()?;
            if self.schedule {
                table.schedule()?;
            }
        }
        Ok(End::Done)
    }
}

impl List {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let all = store.tournaments().await?;
        if self.format == Format::Json {
            for one in &all {
                report::event(&json!({
                    "type": "tournament",
                    "name": one.name,
                    "game": one.game,
                    "state": one.state.word(),
                    "created_unix_ms": one.created_unix_ms,
                    "games": one.games,
                }))?;
            }
        } else if all.is_empty() {
            report::text("no tournament yet; `arena tournament run FILE.toml` plays one\n")?;
        } else {
            let rows = all.iter().map(|one| {
                [
                    report::shorten(&one.name, 28),
                    one.game.replace('_', "-"),
                    one.state.word().to_owned(),
                    one.games.to_string(),
                    tournament::date(one.created_unix_ms),
                ]
            });
            report::plain_table(&["name", "game", "state", "games", "begun"], rows)?;
        }
        Ok(End::Done)
    }
}

impl Named {
    async fn verify(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        tournament::verify(&store, &tournament, self.format).await
    }
}

impl Export {
    async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        match &self.output {
            None => {
                let out = BufWriter::new(std::io::stdout());
                self.write(&store, &tournament, out).await?;
            }
            Some(path) => {
                // Under another name first, so that there is never half a file.
                let folder = match path.parent() {
                    Some(folder) if folder != Path::new("") => folder,
                    _ => Path::new("."),
                };
                let mut file = tempfile::NamedTempFile::new_in(folder)
                    .or_else(|error| usage(format!("--output {}: {error}", path.display())))?;
                self.write(&store, &tournament, BufWriter::new(&mut file))
                    .await?;
                file.persist(path)
                    .with_context(|| format!("could not write {}", path.display()))?;
            }
        }
        Ok(End::Done)
    }

    async fn write(
        &self,
        store: &Store,
        tournament: &Stored,
        mut out: impl std::io::Write + Send,
    ) -> anyhow::Result<()> {
        match self.how {
            As::Jsonl => store.export(tournament.id, &mut out).await.map_err(bare)?,
            As::Csv => store.csv(tournament.id, &mut out).await.map_err(bare)?,
            As::Moves => tournament::export_moves(store, tournament, &mut out).await?,
        }
        out.flush()?;
        Ok(())
    }
}

/// What the store could not write, as it came from there: whoever reads no
/// further is no failure of ours.
fn bare(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Io(error) => io::Error::from(error.kind()).into(),
        error => error.into(),
    }
}

impl Import {
    async fn run(self) -> anyhow::Result<End> {
        let what = self.file.display();
        let file = fs::File::open(&self.file).or_else(|error| usage(format!("{what}: {error}")))?;
        let store = self.store.open().await?;
        let imported = store
            .import(&mut BufReader::new(file), self.name.as_deref())
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
        let read = format!(
            "{}: read; `arena tournament verify {0}` proves it",
            imported.name
        );
        report::text(&format!("{}\n", report::wrapped(&read)))?;
        Ok(End::Done)
    }
}
