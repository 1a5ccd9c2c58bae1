//! `arena tournament`: many bots, a schedule, and a store that holds all of it.

use std::{
    fs,
    io::{self, BufReader, BufWriter, IsTerminal as _},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use arena_events::{
    Event,
    run::{RunCommand, RunStartedEvent},
    schedule::ScheduleEvent,
    tournament::{TournamentEvent, VerifiedEvent},
};
use arena_ladder::ScheduleShape;
use arena_store::{
    NewTournament, Store, StoreError, Tournament as StoredTournament, TournamentState,
};
use arena_tournament::{
    Context, Definition, Plan, Planned, RunEnd, Snapshot, StoredResults, chance, events,
    export_moves, parse_limit, run_stored, secret_root, unix_ms, verify,
};
use clap::{Args, Subcommand, ValueEnum};
use referee_core::Root;
use referee_games::game_name;

use super::Format;
use crate::{
    End,
    bots::schemes,
    metrics,
    play::{exit_code, note_isolation, run_options, show_root, started, typed_root},
    report::{self, plural},
    reporter::Reporter,
    show, stop, usage,
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
    /// Remove one from the store, with its results and records
    Remove(Remove),
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
    #[arg(long, default_value = "10s", value_parser = parse_limit)]
    grace: Duration,
    /// With --format json: print the public moves of running games too.
    #[arg(long)]
    live: bool,
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

#[derive(Args)]
pub(crate) struct Remove {
    /// Its name.
    name: String,
    /// Remove it without asking.
    #[arg(long)]
    yes: bool,
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
            Self::Remove(remove) => remove.run().await,
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
        if !path.contains("://") && !Path::new(path).exists() {
            return Ok(None);
        }
        self.open().await.map(Some)
    }

    /// Opens it and finds a tournament in it.
    pub(crate) async fn find(&self, name: &str) -> anyhow::Result<(Store, StoredTournament)> {
        let store = self.open_existing().await?;
        if let Some(tournament) = store.tournament(name).await? {
            return Ok((store, tournament));
        }
        let all = store.tournaments().await?;
        let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
        let hint = match (arena_tournament::closest(name, &names), &names[..]) {
            (Some(like), _) => format!("did you mean {like}?"),
            (None, []) => "it has none".to_owned(),
            (None, _) => "`arena tournament list` shows all".to_owned(),
        };
        usage(format!(
            "there is no tournament \"{name}\" in {}: {hint}",
            store.location()
        ))
    }
}

impl Run {
    async fn run(self) -> anyhow::Result<End> {
        // Who asks for what is not possible leaves no store behind.
        let known = self.go_on.store.open_if_there().await?;
        let schemes = schemes()?;
        let directory = std::env::current_dir()?;
        let context = Context {
            schemes: &schemes,
            directory: &directory,
            store: known.as_ref(),
        };
        let mut planned = Planned::read(&self.file, context).await?;
        if let Some(name) = &self.name {
            planned.rename(name)?;
        }
        let typed = typed_root(self.seed.as_deref(), self.seed_file.as_deref())?;
        if self.dry_run {
            return dry_run(&planned, typed.as_ref(), self.go_on.format);
        }
        self.go_on.can_serve()?;
        let store = match known {
            Some(store) => store,
            None => self.go_on.store.open().await?,
        };
        if let Some(known) = store.tournament(&planned.name).await? {
            return usage(exists(&known, &planned, &self.file));
        }
        let reproduction = typed.is_some();
        let root = typed.map_or_else(secret_root, Ok)?;
        let created = create(&store, &planned, root, reproduction).await?;
        let end = self.go_on.go_on(&store, &created).await;
        // Of SQLite's files one is left then.
        store.close().await;
        end
    }
}

/// There is a tournament of this name: what to do.
fn exists(known: &StoredTournament, planned: &Planned, file: &Path) -> String {
    let same_definition = Definition::of(known).is_ok_and(|known| known == planned.definition);
    let differs = match same_definition && known.entrants == planned.entrants {
        true => String::new(),
        false => format!(
            "; {} says something else now, and what is stored holds for it",
            file.display()
        ),
    };
    format!(
        "there is a tournament \"{0}\" already{differs}: `arena tournament resume {0}` goes on \
         with it, and --name gives this one another name",
        planned.name
    )
}

/// Writes a tournament into the store. Nothing has been played.
async fn create(
    store: &Store,
    planned: &Planned,
    root: Root,
    reproduction: bool,
) -> anyhow::Result<StoredTournament> {
    let kind = planned.definition.kind()?;
    let new = NewTournament {
        name: planned.name.clone(),
        game: kind.info().name.to_owned(),
        rules_version: kind.info().rules_version,
        definition: serde_json::to_value(&planned.definition)?,
        root,
        reproduction,
        entrants: planned.entrants.clone(),
        created_unix_ms: unix_ms(SystemTime::now()),
    };
    match store.create(&new).await {
        // Somebody was quicker.
        Err(error @ StoreError::Exists { .. }) => usage(error.to_string()),
        created => Ok(created?),
    }
}

/// Shows what would be played.
fn dry_run(planned: &Planned, root: Option<&Root>, format: Format) -> anyhow::Result<End> {
    let entrants = planned.entrants.len();
    let definition = &planned.definition;
    let schedule = definition.schedule(entrants, root.map_or([0; 32], chance))?;
    let names = planned.entrants.iter().map(|entrant| entrant.name.clone());
    let names: Vec<String> = names.collect();
    let kind = definition.kind()?;
    let in_group = definition.seatings.games(kind.info().seats.into()) as u64;
    let by_chance = root.is_none() && matches!(definition.shape, ScheduleShape::Ladder { .. });
    match format {
        Format::Text => {
            let line = format!(
                "{}: {}, {entrants} bots, {}",
                planned.name,
                kind.info().title,
                match schedule.planned() {
                    Some(deals) => format!(
                        "at most {deals} deals, {} games{}",
                        deals * in_group,
                        if definition.breaks_ties() {
                            ", and more where a match is tied"
                        } else {
                            ""
                        }
                    ),
                    None => "without an end".to_owned(),
                }
            );
            report::line(&line)?;
            show::schedule(&*schedule, &names)?;
            if by_chance {
                report::text("\nwho meets in the first round is left to chance\n")?;
            }
        }
        Format::Json => report::event(Event::Schedule(ScheduleEvent {
            tournament: planned.name.clone(),
            game: game_name(kind.info().name),
            rounds: events::rounds(&*schedule, &names),
            bots: names,
            planned_groups: schedule.planned(),
            planned_games: schedule.planned().map(|deals| deals * in_group),
            breaks_ties: definition.breaks_ties(),
            left_to_chance: by_chance,
        }))?,
    }
    Ok(End::Done)
}

impl Resume {
    async fn run(self) -> anyhow::Result<End> {
        self.go_on.can_serve()?;
        let (store, tournament) = self.go_on.store.find(&self.name).await?;
        if tournament.state == TournamentState::Over {
            report::note(&format!(
                "{} is over; nothing is left to be played",
                self.name
            ));
            let shown = Shown::of(&store, tournament).await?;
            shown.show(self.go_on.format)?;
            return Ok(shown.exit_code());
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

    async fn go_on(&self, store: &Store, tournament: &StoredTournament) -> anyhow::Result<End> {
        let name = &tournament.name;
        let plan = Plan::of(tournament, &schemes()?)?;
        note_isolation(&plan);
        let json = self.format == Format::Json;
        let stop = stop::on_signals(Some(self.grace))?;
        if json {
            report::event(Event::RunStarted(
                self.started(store, tournament, &plan).await?,
            ))?;
        }
        if let Some(address) = self.metrics {
            metrics::serve(address)?;
        }
        let folder = || Path::new("arena-runs").join(name).join("logs");
        let logs = self.logs.clone().unwrap_or_else(folder);
        let concurrency = self.concurrency.map(|games| games as usize);
        let options = run_options(concurrency, Some(logs), self.live && json)?;
        let game = game_name(plan.kind.info().name);
        let reporter = Reporter::new(&game, Some(name), json, &stop).with_bots(&plan);
        let reporter = Arc::new(reporter);
        let ran = run_stored(store, tournament, plan, options, stop, reporter.clone()).await;
        // Whoever no longer reads along does not stop a tournament.
        let _ = reporter.finish();
        let end = ran?;
        let Some(tournament) = store.tournament(name).await? else {
            anyhow::bail!("{name} is no longer in the store");
        };
        let shown = Shown::of(store, tournament).await?;
        shown.show(self.format)?;
        shown.warn();
        if end == RunEnd::Stopped {
            anstream::eprintln!("stopped; `arena tournament resume {name}` goes on with it");
            return Ok(End::Interrupted);
        }
        if let Some(root) = &shown.tournament.root
            && !shown.tournament.reproduction
        {
            show_root(&shown.tournament.commitment, root);
        }
        Ok(shown.exit_code())
    }

    /// How a run begins, for programs.
    async fn started(
        &self,
        store: &Store,
        tournament: &StoredTournament,
        plan: &Plan,
    ) -> anyhow::Result<RunStartedEvent> {
        let games = store.tournaments().await?.into_iter();
        let games = games
            .filter(|one| one.id == tournament.id)
            .map(|one| one.games);
        Ok(RunStartedEvent {
            tournament: Some(tournament.name.clone()),
            rules_version: tournament.rules_version,
            shape: Some(events::shape(&plan.definition.shape)),
            stored_games: games.sum(),
            bots: tournament.entrants.iter().map(events::entrant).collect(),
            filler: Some(plan.definition.filler.clone()),
            root_commitment: Some(tournament.commitment.clone()),
            reproduction: tournament.reproduction,
            ..started(RunCommand::Tournament, plan)?
        })
    }
}

/// A stored tournament that is shown.
struct Shown {
    tournament: StoredTournament,
    snapshot: Snapshot,
    /// Whether an arena plays it now.
    is_claimed: bool,
}

impl Shown {
    async fn of(store: &Store, tournament: StoredTournament) -> anyhow::Result<Self> {
        let results = StoredResults::of(store, tournament.id);
        let definition = Definition::of(&tournament)?;
        let names = tournament
            .entrants
            .iter()
            .map(|entrant| entrant.name.clone());
        let root = tournament.root.as_ref();
        let snapshot = Snapshot::of(&results, &definition, names.collect(), root).await?;
        Ok(Self {
            snapshot,
            is_claimed: store.is_claimed(tournament.id).await?,
            tournament,
        })
    }

    /// Its table, and what belongs to it.
    fn show(&self, format: Format) -> anyhow::Result<()> {
        match format {
            Format::Json => {
                let stored = events::Stored {
                    tournament: &self.tournament,
                    is_claimed: self.is_claimed,
                };
                let bots = self.tournament.entrants.iter().map(events::entrant);
                let standings = self.snapshot.standings_event(Some(&stored), bots.collect());
                report::event(standings)?;
                report::event(self.snapshot.figures_event(Some(&self.tournament.name)))
            }
            Format::Text => show::standings(&self.snapshot),
        }
    }

    /// What to beware of, on standard error.
    fn warn(&self) {
        let name = &self.tournament.name;
        show::warnings(&self.snapshot, |first| {
            format!("{name} {}.{}", first.group, first.seating)
        });
    }

    fn exit_code(&self) -> End {
        match self.tournament.state {
            TournamentState::Over => exit_code(&self.snapshot, RunEnd::Complete),
            _ => End::Done,
        }
    }

    /// What it is and how far it has come.
    fn introduce(&self) -> anyhow::Result<()> {
        let (tournament, snapshot) = (&self.tournament, &self.snapshot);
        let state = state(tournament.state, self.is_claimed);
        let about = match snapshot.definition.breaks_ties() {
            true => "about",
            false => "at most",
        };
        let of = |planned: u64| format!(" of {about} {planned}");
        let line = format!(
            "{}: {}, {} bots, {}, {}{} deals",
            tournament.name,
            snapshot.definition.kind()?.info().title,
            snapshot.names.len(),
            state,
            snapshot.count.groups,
            snapshot.count.planned.map_or_else(String::new, of),
        );
        report::line(&line)?;
        if state == "interrupted" {
            report::line(&format!(
                "its arena was killed; `arena tournament resume {}` goes on with it",
                tournament.name
            ))?;
        }
        report::text(&format!(
            "begun {}\n\n",
            show::date(tournament.created_unix_ms)
        ))
    }

    /// By what its deals were drawn.
    fn root(&self) -> anyhow::Result<()> {
        match self.tournament.reproduction {
            true => report::text("\na reproduction, by a seed that was typed\n"),
            false => report::text(&format!(
                "\nwith a secret root, sha256\n  {}\n",
                self.tournament.commitment
            )),
        }
    }
}

impl Status {
    async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        let shown = Shown::of(&store, tournament).await?;
        if self.format == Format::Json {
            shown.show(self.format)?;
            return Ok(End::Done);
        }
        shown.introduce()?;
        shown.show(self.format)?;
        show::figures(&shown.snapshot)?;
        if self.schedule {
            match &shown.snapshot.schedule {
                Some(schedule) => show::schedule(&**schedule, &shown.snapshot.names)?,
                None => report::text("\nthe schedule can't be shown before the root is opened\n")?,
            }
        }
        shown.root()?;
        shown.warn();
        Ok(End::Done)
    }
}

impl List {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let mut rows = Vec::new();
        for one in store.tournaments().await? {
            let is_claimed = store.is_claimed(one.id).await?;
            match self.format {
                Format::Json => report::event(Event::Tournament(TournamentEvent {
                    tournament: one.name,
                    game: game_name(&one.game),
                    state: events::state(one.state, is_claimed),
                    created_unix_ms: one.created_unix_ms,
                    games: one.games,
                }))?,
                Format::Text => rows.push([
                    report::shorten(&one.name, 28),
                    game_name(&one.game),
                    state(one.state, is_claimed).to_owned(),
                    one.games.to_string(),
                    show::date(one.created_unix_ms),
                ]),
            }
        }
        if self.format == Format::Text && rows.is_empty() {
            report::text("no tournament yet; `arena tournament run FILE.toml` plays one\n")?;
        } else if self.format == Format::Text {
            report::plain_table(&["name", "game", "state", "games", "begun"], rows)?;
        }
        Ok(End::Done)
    }
}

/// How far a tournament has come, in a word.
const fn state(state: TournamentState, is_claimed: bool) -> &'static str {
    match (state, is_claimed) {
        (TournamentState::Running, false) => "interrupted",
        _ => state.word(),
    }
}

impl Named {
    async fn verify(self) -> anyhow::Result<End> {
        /// So many faults are told.
        const TOLD: usize = 20;
        let (store, tournament) = self.store.find(&self.name).await?;
        let found = verify(&store, &tournament).await?;
        let proved = found.faults.is_empty();
        let over = tournament.state == TournamentState::Over;
        let (name, games) = (&tournament.name, plural(found.games, "game"));
        if self.format == Format::Json {
            let is_claimed = store.is_claimed(tournament.id).await?;
            report::event(Event::Verified(VerifiedEvent {
                tournament: name.clone(),
                state: events::state(tournament.state, is_claimed),
                root_commitment: tournament.commitment.clone(),
                proved,
                games: found.games.into(),
                faults: found.faults,
            }))?;
        } else if proved {
            let so_far = if over { "" } else { " so far" };
            let root = &tournament.commitment;
            report::line(&format!(
                "{name}: proved{so_far}, {games} of the root with hash {root}"
            ))?;
        } else {
            let count = found.faults.len();
            let faults = plural(count as u64, "fault");
            report::line(&format!("{name}: NOT PROVED, {faults} in {games}"))?;
            for fault in found.faults.iter().take(TOLD) {
                let place = match (fault.group, fault.seating) {
                    (Some(group), Some(seating)) => format!("group {group}, seating {seating}: "),
                    (Some(group), None) => format!("group {group}: "),
                    (None, _) => String::new(),
                };
                report::line(&format!("  {place}{}", show::fault(&fault.fault)))?;
            }
            if count > TOLD {
                report::line(&format!("  and {} more", count - TOLD))?;
            }
        }
        Ok(if proved { End::Done } else { End::No })
    }
}

impl Remove {
    async fn run(self) -> anyhow::Result<End> {
        let (store, tournament) = self.store.find(&self.name).await?;
        if !self.yes && !confirmed(&tournament.name)? {
            return usage(format!(
                "{} is kept: say --yes to remove it with its results and records",
                tournament.name
            ));
        }
        match store.remove(tournament.id).await {
            Err(StoreError::Claimed { who, .. }) => {
                return usage(format!(
                    "{} is being run by {who}; stop that first",
                    self.name
                ));
            }
            removed => removed?,
        }
        store.close().await;
        report::text(&format!("{} is removed\n", tournament.name))?;
        Ok(End::Done)
    }
}

/// Asks at a terminal; elsewhere the answer is no.
fn confirmed(name: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    anstream::eprint!("remove {name} with all its results and records? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
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
        tournament: &StoredTournament,
        mut out: impl std::io::Write + Send,
    ) -> anyhow::Result<()> {
        match self.how {
            As::Jsonl => store.export(tournament.id, &mut out).await.map_err(bare)?,
            As::Csv => store.csv(tournament.id, &mut out).await.map_err(bare)?,
            As::Moves => export_moves(store, tournament, &mut out).await?,
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
        report::line(&format!(
            "{}: read; `arena tournament verify {0}` proves it",
            imported.name
        ))?;
        Ok(End::Done)
    }
}
