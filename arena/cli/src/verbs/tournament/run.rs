//! `arena tournament run` and `resume`: play a tournament, from its file or from the store.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arena_events::{
    Event,
    run::{RunCommand, RunStartedEvent},
    schedule::ScheduleEvent,
};
use arena_ladder::{Schedule, ScheduleShape};
use arena_store::{Store, StoreError, Tournament, Wish};
use arena_terminal::{
    Format, MetricsAt, MetricsListener, Reporter, StoreAt, logs_of_tournament, secrets::SEED,
};
use arena_tournament::{
    ChangedBot, Context, Definition, On, Plan, Planned, RunEnd, TournamentError, chance,
    changed_bots, events, parse_limit, run_stored, secret_root,
};
use clap::{Args, ValueEnum};
use referee::BotSandbox;
use referee_bots::{LaunchOptions, SharedFolder, shared_folders};
use referee_cli::{CacheArgs, LaunchArgs, PinArgs};
use referee_core::Root;
use referee_games::game_name;

use super::status::Shown;
use crate::{
    End,
    bots::schemes,
    play::{FoulArgs, note_isolation, run_options, show_root, started, typed_root},
    report::{self, plural},
    show, stop, usage,
    verbs::archives::Archives,
};

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
    /// Where it is played, whatever the file says: kubernetes queues it for the arena that serves
    /// this store with --kubernetes, and waits for its end.
    #[arg(long, value_enum)]
    on: Option<PlayedOn>,
    /// Play the same deals again: a number, a word, or the root that an earlier
    /// tournament showed at its end. Marks it as a reproduction.
    #[arg(long, env = SEED, hide_env = true)]
    seed: Option<String>,
    /// The same, read from a file that only you can read.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    args: PlayArgs,
}

#[derive(Args)]
pub(crate) struct Resume {
    /// Its name.
    name: String,
    #[command(flatten)]
    args: PlayArgs,
}

/// Where a tournament is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlayedOn {
    /// By this program, or by workers of an arena.
    Here,
    /// By pods of a Kubernetes cluster.
    Kubernetes,
}

impl From<PlayedOn> for On {
    fn from(on: PlayedOn) -> Self {
        match on {
            PlayedOn::Here => Self::Here,
            PlayedOn::Kubernetes => Self::Kubernetes,
        }
    }
}

/// How it is run.
#[derive(Args)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    store: StoreAt,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    pin: PinArgs,
    /// How many games are played at once [default: the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    concurrency: Option<u64>,
    /// Where the bots' output goes [default: arena-runs/NAME/logs].
    #[arg(long)]
    logs: Option<PathBuf>,
    /// How long games may go on after SIGTERM before they are cut off.
    #[arg(long, default_value = "10s", value_parser = parse_limit)]
    grace: Duration,
    /// With --format json: print the public moves of running games too, where no hands are
    /// hidden.
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    fouls: FoulArgs,
    #[command(flatten)]
    metrics: MetricsAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) const FILE_HELP: &str = "\
A file with all that it may contain (only game, shape and bots are required):

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

  [run]                         # without it, here
  # on = \"kubernetes\"          # by the arena that serves the store with --kubernetes
  # isolation = \"pod\"          # or \"shared\": bots are containers of one pod; \"services\"
  # games = 32                  # in a chunk

  [stop]                        # before all deals have been played
  # sprt = { elo0 = 0, elo1 = 10, alpha = 0.05, beta = 0.05, model = \"normalized\" }
  # time = \"2h\"                 # resume goes on

  [set_aside]                   # deals that a bot may fail in every game
  starts = 3                    # by not starting
  fouls = 10                    # in any way, or a fifth of its deals
  away = \"10m\"                # a bot at grpc:// that is gone is waited for, in all

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
  arena tournament run class.toml --name \"class-$(date +%F)\"    # every night
  arena tournament resume spring
  arena tournament status spring --format json
  arena tournament run spring.toml --store postgres://arena@localhost/arena";

impl Run {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        // Who asks for what is not possible leaves no store behind.
        self.args.format.prints_moves(self.args.live)?;
        let known = self.args.store.open_if_there().await?;
        let schemes = schemes()?;
        let directory = std::env::current_dir()?;
        let context = Context {
            schemes: &schemes,
            directory: &directory,
            store: known.as_ref(),
            on: self.on.map(Into::into),
        };
        let mut planned = Planned::read(&self.file, context).await?;
        if let Some(name) = &self.name {
            planned.rename(name)?;
        }
        let typed = typed_root(self.seed.as_deref(), self.seed_file.as_deref())?;
        if self.dry_run {
            return dry_run(&planned, typed.as_ref(), self.args.format);
        }
        let metrics = self.args.metrics.listen().await?;
        let store = match known {
            Some(store) => store,
            None => self.args.store.open().await?,
        };
        if let Some(known) = store.tournament(&planned.name).await? {
            return usage(exists(&known, &planned, &self.file));
        }
        let reproduction = typed.is_some();
        let root = typed.map_or_else(secret_root, Ok)?;
        let created = create(&store, &planned, root, reproduction).await?;
        if planned.definition.kubernetes.is_some() {
            store.set_wish(created.id, Some(Wish::Play)).await?;
            let end = self.args.follow(&store, &created.name).await;
            store.close().await;
            return end;
        }
        let secrets = self.secrets(&planned);
        let end = self.args.play(&store, &created, secrets, metrics).await;
        // Of SQLite's files one is left then.
        store.close().await;
        end
    }
}

impl Run {
    /// The files that decide deals.
    fn secrets(&self, planned: &Planned) -> Vec<PathBuf> {
        let file = Some(self.file.clone());
        let files = [file, self.seed_file.clone(), planned.openings.clone()];
        files.into_iter().flatten().collect()
    }
}

/// There is a tournament of this name: what to do.
pub(super) fn exists(known: &Tournament, planned: &Planned, file: &Path) -> String {
    let differs = match planned.is_stored_as(known) {
        true => String::new(),
        false => format!(
            "; {} differs from it now, and the stored definition applies",
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
pub(super) async fn create(
    store: &Store,
    planned: &Planned,
    root: Root,
    reproduction: bool,
) -> anyhow::Result<Tournament> {
    match planned.create(store, root, reproduction).await {
        // Somebody was quicker.
        Err(TournamentError::Store(error @ StoreError::Exists { .. })) => usage(error.to_string()),
        created => Ok(created?),
    }
}

/// Says which bots can read each other's files. In a match of one person's bots that does no harm.
fn warn_of_shared_folders(plan: &Plan) {
    let bots = plan.bots.iter().map(|bot| &bot.entry);
    for SharedFolder { folder, files } in shared_folders(bots, &plan.definition.directory) {
        let files = files.iter().map(|(name, file)| format!("{name} ({file})"));
        report::warning(&format!(
            "bots in one folder can read each other's files: {} in {}; give the bots of each \
             person a folder of their own",
            files.collect::<Vec<_>>().join(", "),
            folder.display()
        ));
    }
}

/// Says which bots are no longer those that entered.
fn warn_of_changes(tournament: &Tournament, plan: &Plan) {
    for ChangedBot { name, was, now } in changed_bots(tournament, plan) {
        let now = now.as_deref().unwrap_or("not there");
        report::warning(&format!(
            "{name} has changed since the tournament was made: it was {was} and is {now}; \
             `arena tournament verify {}` names the games that it plays now",
            tournament.name
        ));
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
                        "at most {}, {}{}",
                        plural(deals, "deal"),
                        plural(deals * in_group, "game"),
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
            left_to_chance: by_chance,
            ..schedule_event(&planned.name, definition, &*schedule, names)?
        }))?,
    }
    Ok(End::Done)
}

/// A schedule for programs.
pub(super) fn schedule_event(
    tournament: &str,
    definition: &Definition,
    schedule: &dyn Schedule,
    names: Vec<String>,
) -> anyhow::Result<ScheduleEvent> {
    let kind = definition.kind()?;
    let in_group = definition.seatings.games(kind.info().seats.into()) as u64;
    Ok(ScheduleEvent {
        tournament: tournament.to_owned(),
        game: game_name(kind.info().name),
        rounds: events::rounds(schedule, &names),
        bots: names,
        planned_groups: schedule.planned(),
        planned_games: schedule.planned().map(|deals| deals * in_group),
        breaks_ties: definition.breaks_ties(),
        left_to_chance: false,
    })
}

impl Resume {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        self.args.format.prints_moves(self.args.live)?;
        let metrics = self.args.metrics.listen().await?;
        let (store, tournament) = self.args.store.find(&self.name).await?;
        if tournament.state.is_final() {
            report::note(&format!(
                "{} is over; nothing is left to be played",
                self.name
            ));
            let shown = Shown::of(&store, tournament).await?;
            shown.show(self.args.format)?;
            return Ok(self.args.end(&shown));
        }
        if Definition::of(&tournament)?.kubernetes.is_some() {
            store.set_wish(tournament.id, Some(Wish::Play)).await?;
            let end = self.args.follow(&store, &tournament.name).await;
            store.close().await;
            return end;
        }
        let end = self
            .args
            .play(&store, &tournament, Vec::new(), metrics)
            .await;
        store.close().await;
        end
    }
}

/// Time between two questions to the store for how far a tournament is that another arena plays.
const GLANCE: Duration = Duration::from_secs(1);

impl PlayArgs {
    /// Waits until a tournament is over that another arena plays, and shows it. Whoever stops
    /// waiting does not stop the tournament.
    async fn follow(&self, store: &Store, name: &str) -> anyhow::Result<End> {
        let stop = stop::on_signals(Some(self.grace))?;
        report::note(&format!(
            "{name} is queued for the arena that serves this store with --kubernetes; Ctrl-C stops \
             waiting, `arena tournament pause {name}` stops it"
        ));
        let progress = report::progress(None, None);
        let mut told = None;
        let tournament = loop {
            let Some(tournament) = store.tournament(name).await? else {
                anyhow::bail!("{name} is no longer in the store");
            };
            if tournament.state.is_final() {
                break tournament;
            }
            progress.set_position(store.game_count(tournament.id).await?);
            if tournament.waits != told {
                if let Some(waits) = &tournament.waits {
                    progress.suspend(|| report::note(&format!("{name} waits for {waits}")));
                }
                told = tournament.waits;
            }
            tokio::select! {
                () = tokio::time::sleep(GLANCE) => {}
                () = stop.finishing() => {
                    progress.finish_and_clear();
                    report::tell(&format!(
                        "{name} is played on; `arena tournament status {name}` shows how far it is"
                    ));
                    return Ok(End::Interrupted);
                }
            }
        };
        progress.finish_and_clear();
        let shown = Shown::of(store, tournament).await?;
        shown.show(self.format)?;
        shown.warn();
        Ok(self.end(&shown))
    }

    /// The end of the program after this tournament.
    fn end(&self, shown: &Shown) -> End {
        self.fouls
            .end(shown.exit_code(), shown.snapshot.has_fouls())
    }

    /// Plays what is left of a tournament; the bots do not see these files, either.
    async fn play(
        &self,
        store: &Store,
        tournament: &Tournament,
        secrets: Vec<PathBuf>,
        metrics: Option<MetricsListener>,
    ) -> anyhow::Result<End> {
        let name = &tournament.name;
        let plan = Plan::of(tournament, &schemes()?)?;
        let logs = self.logs.clone();
        let logs = logs.unwrap_or_else(|| logs_of_tournament(name));
        let hidden = self.store.files().into_iter().chain([logs.clone()]);
        let hidden = hidden.chain(secrets);
        let bots = plan.bots.iter().map(|bot| &bot.entry);
        let sandbox = self.launch.around(bots, hidden)?;
        let archives = Archives::fetch(&self.cache, store, plan.entries()).await?;
        note_isolation(&plan, sandbox.as_ref());
        warn_of_shared_folders(&plan);
        warn_of_changes(tournament, &plan);
        let json = self.format == Format::Json;
        let stop = stop::on_signals(Some(self.grace))?;
        if json {
            report::event(Event::RunStarted(
                self.started(store, tournament, &plan, sandbox.as_ref())
                    .await?,
            ))?;
        }
        if let Some(metrics) = metrics {
            metrics.serve()?;
        }
        let concurrency = self.concurrency.map(|games| games as usize);
        let walls = sandbox.as_ref().map(|sandbox| sandbox.walls().clone());
        let launch = LaunchOptions {
            logs: Some(std::path::absolute(logs)?),
            archives: archives.as_ref().map(|archives| archives.cache.clone()),
            cores: self.pin.cores()?,
            ..self.launch.options(sandbox)?
        };
        let options = run_options(launch, plan.kind, concurrency, self.live);
        let game = game_name(plan.kind.info().name);
        let reporter =
            Reporter::new(&game, Some(name), json, &stop).with_bots(&plan, walls.as_ref());
        let reporter = Arc::new(reporter);
        let ran = run_stored(
            store,
            tournament,
            plan.into(),
            options,
            stop,
            reporter.clone(),
        )
        .await;
        // Whoever no longer reads along does not stop a tournament.
        let seen = reporter.finish().unwrap_or_default();
        let end = ran?;
        let Some(tournament) = store.tournament(name).await? else {
            anyhow::bail!("{name} is no longer in the store");
        };
        let shown = Shown::of(store, tournament).await?;
        if json {
            report::event(Event::RunEnded(shown.ended(&seen, end)))?;
        }
        shown.show(self.format)?;
        shown.warn();
        if end == RunEnd::Stopped {
            report::tell(&format!(
                "stopped; `arena tournament resume {name}` goes on with it"
            ));
            return Ok(End::Interrupted);
        }
        if let Some(root) = &shown.tournament.root
            && !shown.tournament.reproduction
        {
            show_root(&shown.tournament.commitment, root);
        }
        Ok(self.end(&shown))
    }

    /// The beginning of a run, for programs.
    async fn started(
        &self,
        store: &Store,
        tournament: &Tournament,
        plan: &Plan,
        sandbox: Option<&BotSandbox>,
    ) -> anyhow::Result<RunStartedEvent> {
        Ok(RunStartedEvent {
            tournament: Some(tournament.name.clone()),
            rules_version: tournament.rules_version,
            shape: Some(events::shape(&plan.definition.shape)),
            stored_games: store.game_count(tournament.id).await?,
            bots: tournament.entrants.iter().map(events::entrant).collect(),
            filler: Some(plan.definition.filler.clone()),
            root_commitment: Some(tournament.commitment.clone()),
            reproduction: tournament.reproduction,
            ..started(RunCommand::Tournament, plan, sandbox)?
        })
    }
}
