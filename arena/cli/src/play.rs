//! Runs whose results stay in memory: matches, exams, the demo, the self-test. What a
//! person has typed ([`RunArgs`]) is resolved ([`Settings`]) and handed to the engine.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use arena_events::{
    VERSION,
    run::{
        ExamPlan, MissingWall, RunBot, RunCommand, RunEndedEvent, RunFile, RunIsolation,
        RunOutcome as EndName, RunSandbox, RunStartedEvent,
    },
};
use arena_ladder::{
    Decision, ScheduleShape, Seatings, SetAsideRule, Sprt,
    schedule::{SetAside, SetAsideReason},
};
use arena_store::FirstFoul;
use arena_terminal::{
    Reporter, SeenOfRun, Written, move_limit, secrets::SEED, setup_help, start_limit, worker_name,
};
use arena_tournament::{
    Definition, MemoryResults, Plan, RunEnd, RunOptions, Snapshot, events, needs_own_deals,
    parse_limit, read_openings, run, secret_root, unix_ms, usual_setup,
};
use clap::Args;
use referee::{BotSandbox, Cores};
use referee_bots::{
    Entry, LaunchOptions, Schemes, archive::ArchiveCache, read_input_text, write_whole,
};
use referee_cli::{LaunchArgs, PinArgs, bots, files, sandbox};
use referee_core::{GameKind, Limits, Root, file_name};
use referee_games::game_name;
use referee_sandbox::Walls;
use referee_worker::{RecordFolder, Stop};

use crate::{End, report, show, usage};

/// The most bytes of a file with a root.
const LARGEST_SEED: u64 = 4096;

/// How a run is played, whatever is played.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// Play the same deals again: a number, a word, or the root that an earlier
    /// run showed at its end.
    #[arg(long, env = SEED, hide_env = true)]
    seed: Option<String>,
    /// The same, read from a file that only you can read.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// How much memory a bot process may add after it has started, in MiB.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_limit: Option<u64>,
    /// How many games are played at once [default: the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    concurrency: Option<u64>,
    #[command(flatten)]
    pin: PinArgs,
    /// The set-up.
    #[arg(long, help = setup_help(), allow_hyphen_values = true, value_parser = Written)]
    setup: Option<String>,
    /// A list of set-ups, one a line, written as for --setup: each deal takes the next. Empty lines
    /// and lines that begin with # are skipped.
    #[arg(long, value_name = "FILE", conflicts_with = "setup")]
    openings: Option<PathBuf>,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    records: RecordArgs,
}

/// How long bots may take.
#[derive(Args)]
pub(crate) struct LimitArgs {
    /// The time limit for one move; an answer at exactly this time is late.
    #[arg(long, env = "ARENA_MOVE_LIMIT", default_value = move_limit(), value_parser = parse_limit)]
    move_limit: Duration,
    /// The time limit for a bot to start and say that it is ready.
    #[arg(long, env = "ARENA_START_LIMIT", default_value = start_limit(), value_parser = parse_limit)]
    start_limit: Duration,
}

/// Where records go.
#[derive(Args, Clone, Default)]
pub(crate) struct RecordArgs {
    /// Where records and logs go [default: a new folder in arena-runs].
    #[arg(long)]
    records: Option<PathBuf>,
    /// Keep no records.
    #[arg(long, conflicts_with = "records")]
    no_records: bool,
}

/// Settings that were typed, with everything that follows from them and from the machine.
pub(crate) struct Settings {
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) schemes: Schemes,
    pub(crate) root: Root,
    /// True if the root was typed.
    pub(crate) reproduction: bool,
    /// True if the root is not to be shown: it stays in its file.
    pub(crate) hides_root: bool,
    pub(crate) limits: Limits,
    pub(crate) memory_mib: Option<u64>,
    pub(crate) concurrency: Option<usize>,
    /// Set-ups of the deals, in turn. Empty where none is named.
    pub(crate) setups: Vec<serde_json::Value>,
    pub(crate) records: RecordArgs,
    /// Arguments of the launchers of bots.
    pub(crate) launch: LaunchArgs,
    /// The cores of the referee and of bots, where each is to have its own.
    pub(crate) cores: Option<Cores>,
    /// Files that bots must not see.
    pub(crate) hidden: Vec<PathBuf>,
    /// The folder that relative paths begin at.
    pub(crate) directory: PathBuf,
    /// True if a bot whose file is missing is refused before anything is played.
    pub(crate) checks_files: bool,
    /// The archives of bots that are packed.
    pub(crate) archives: Option<Arc<ArchiveCache>>,
}

/// Result of a run.
pub(crate) struct PlayedRun {
    setups: Vec<serde_json::Value>,
    pub(crate) snapshot: Snapshot,
    pub(crate) results: MemoryResults,
    pub(crate) outcome: arena_tournament::RunSummary,
    pub(crate) seen: SeenOfRun,
}

impl RunArgs {
    /// The list of set-ups, where there is one.
    pub(crate) fn openings(&self) -> Option<&Path> {
        self.openings.as_deref()
    }

    /// Resolves what was typed for this game.
    pub(crate) fn resolve(&self, kind: &'static dyn GameKind) -> anyhow::Result<Settings> {
        let mut settings = Settings::defaults(kind)?;
        if let Some(root) = typed_root(self.seed.as_deref(), self.seed_file.as_deref())? {
            settings.root = root;
            settings.reproduction = true;
        }
        settings.hides_root = self.seed_file.is_some();
        settings.hidden.extend(self.seed_file.clone());
        settings.launch = self.launch.clone();
        if let Some(file) = &self.openings {
            settings.setups = read_openings(file, &settings.directory, kind)?;
            // They may be whole deals.
            settings.hidden.push(file.clone());
        }
        if let Some(text) = &self.setup {
            let setup = kind.opening(text);
            settings.setups = vec![setup.or_else(|error| usage(format!("--setup: {error}")))?];
        }
        settings.limits = self.limits.limits();
        settings.memory_mib = self.memory_limit;
        settings.concurrency = self.concurrency.map(|games| games as usize);
        settings.records = self.records.clone();
        settings.cores = self.pin.cores()?;
        Ok(settings)
    }
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            start: self.start_limit,
            per_move: self.move_limit,
            ..Limits::default()
        }
    }
}

/// The root that was typed, or lies in a file.
pub(crate) fn typed_root(seed: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<Root>> {
    let (what, text) = match (seed, file) {
        (Some(seed), _) => ("--seed".to_owned(), seed.to_owned()),
        (None, Some(file)) => {
            let what = format!("--seed-file {}", file.display());
            let text = read_input_text(file, LARGEST_SEED);
            let text = text.or_else(|error| usage(format!("{what}: {error}")))?;
            (what, text)
        }
        (None, None) => return Ok(None),
    };
    let root = text
        .parse()
        .or_else(|error| usage(format!("{what}: {error}")))?;
    Ok(Some(root))
}

impl Settings {
    /// Nothing but defaults, and no records.
    pub(crate) fn unrecorded(kind: &'static dyn GameKind) -> anyhow::Result<Self> {
        Ok(Self {
            records: RecordArgs {
                records: None,
                no_records: true,
            },
            ..Self::defaults(kind)?
        })
    }

    /// Nothing but defaults.
    pub(crate) fn defaults(kind: &'static dyn GameKind) -> anyhow::Result<Self> {
        Ok(Self {
            kind,
            schemes: bots::schemes()?,
            root: secret_root()?,
            reproduction: false,
            hides_root: false,
            limits: Limits::default(),
            memory_mib: None,
            concurrency: None,
            setups: Vec::new(),
            records: RecordArgs::default(),
            launch: LaunchArgs::default(),
            cores: None,
            hidden: Vec::new(),
            directory: std::env::current_dir().context("the folder of this process is gone")?,
            checks_files: true,
            archives: None,
        })
    }

    /// A plan of these bots: who meets whom, and how many deals a match has at most.
    pub(crate) fn plan(
        &self,
        bots: Vec<Entry>,
        shape: ScheduleShape,
        deals: u64,
        seatings: Seatings,
        sprt: Option<Sprt>,
    ) -> anyhow::Result<Plan> {
        let setups = match &self.setups[..] {
            [] => vec![usual_setup(self.kind, &bots)?],
            named => named.to_vec(),
        };
        // A match is played to its end whatever a bot does; a test needs bots that play.
        let never = SetAsideRule {
            starts: u32::MAX,
            fouls: u32::MAX,
        };
        let definition = Definition {
            shape,
            deals,
            seatings,
            limits: self.limits,
            memory_mib: self.memory_mib,
            sprt,
            patience: match sprt {
                None => never,
                Some(_) => SetAsideRule {
                    fouls: u32::MAX,
                    ..SetAsideRule::default()
                },
            },
            directory: self.directory.clone(),
            ..Definition::round_robin(self.kind.info().name, setups)
        };
        let root = self.root.clone();
        Ok(Plan::new(definition, bots, root, &self.schemes)?)
    }

    /// From which seatings these bots play, and how many deals.
    pub(crate) fn isolated(&self, bots: &[Entry], of: Seatings, deals: u64) -> (Seatings, u64) {
        match needs_own_deals(self.kind, bots) {
            true => {
                let games = of.games(self.kind.info().seats.into()) as u64;
                (Seatings::Single, deals * games)
            }
            false => (of, deals),
        }
    }

    /// Checks that the bots play the game, and that their files are there where that is
    /// checked before anything is played.
    pub(crate) fn check_bots(&self, bots: &[Entry]) -> anyhow::Result<()> {
        for bot in bots {
            bot.check_plays(self.kind.info())?;
            if bot.launcher().archive().is_some() && self.archives.is_none() {
                return usage(format!(
                    "{}: a bot that is packed is in a store, and is played with by `arena bots` \
                     and `arena tournament`; name its files here, as in exec:./my_bot",
                    bot.name
                ));
            }
            if self.checks_files {
                bot.check_files(&self.directory)?;
            }
        }
        Ok(())
    }

    /// A folder for the records of this run, where they are kept.
    pub(crate) fn folder(&self, verb: &str) -> anyhow::Result<Option<RunFolder>> {
        let named = self.records.records.as_deref();
        let kept = !self.records.no_records;
        kept.then(|| RunFolder::create(named, verb)).transpose()
    }

    /// The same for one of several bots, in the folder that is named.
    pub(crate) fn folder_of(&self, verb: &str, bot: &str) -> anyhow::Result<Option<RunFolder>> {
        match &self.records.records {
            Some(named) => {
                let own = named.join(file_name(bot));
                RunFolder::create(Some(&own), verb).map(Some)
            }
            None => self.folder(verb),
        }
    }

    /// The hash of the root, or the root itself, of a run whose root was not typed: the
    /// last that is said of it.
    pub(crate) fn show_root(&self) {
        if !self.reproduction {
            show_root(&self.root.commitment(), &self.root);
        }
    }

    /// The beginning of a run of this plan, for programs.
    pub(crate) fn started(
        &self,
        command: RunCommand,
        plan: &Plan,
        folder: Option<&RunFolder>,
        exam: Option<ExamPlan>,
    ) -> anyhow::Result<RunStartedEvent> {
        Ok(RunStartedEvent {
            reproduction: self.reproduction,
            records: folder.map(|folder| folder.path().display().to_string()),
            exam,
            ..started(command, plan, self.sandbox(plan, folder)?.as_ref())?
        })
    }

    /// The walls around the bots of a plan.
    pub(crate) fn sandbox(
        &self,
        plan: &Plan,
        folder: Option<&RunFolder>,
    ) -> anyhow::Result<Option<BotSandbox>> {
        let folder = folder.map(|folder| folder.path().to_owned());
        let hidden = self.hidden.iter().cloned().chain(folder);
        self.launch
            .around(plan.bots.iter().map(|bot| &bot.entry), hidden)
    }

    /// Plays a plan; its records go to the folder.
    pub(crate) async fn play(
        &self,
        plan: Plan,
        folder: Option<&RunFolder>,
        live: bool,
        stop: &Stop,
        reporter: Reporter,
    ) -> anyhow::Result<PlayedRun> {
        let results = match folder {
            None => MemoryResults::new(),
            Some(folder) => {
                let records = RecordFolder::new(folder.path().to_owned());
                MemoryResults::with_folder(records, plan.kind.has_secrets())
            }
        };
        let logs = folder.map(RunFolder::logs);
        let launch = LaunchOptions {
            logs: logs.map(std::path::absolute).transpose()?,
            archives: self.archives.clone(),
            cores: self.cores.clone(),
            ..self.launch.options(self.sandbox(&plan, folder)?)?
        };
        let options = RunOptions {
            checks_files: self.checks_files,
            ..run_options(launch, self.kind, self.concurrency, live)
        };
        play_into(results, plan, options, stop, reporter).await
    }
}

/// The beginning of a run of a plan, for programs: all that the plan itself says.
pub(crate) fn started(
    command: RunCommand,
    plan: &Plan,
    sandbox: Option<&BotSandbox>,
) -> anyhow::Result<RunStartedEvent> {
    let definition = &plan.definition;
    let planned = plan.schedule()?.planned();
    let bots = plan.bots.iter().map(|bot| RunBot {
        name: bot.entry.name.clone(),
        version: None,
        spec: bot.entry.spec.clone(),
        owner: None,
    });
    Ok(RunStartedEvent {
        command,
        tournament: None,
        game: game_name(plan.kind.info().name),
        rules_version: plan.kind.info().rules_version,
        shape: None,
        deals: definition.deals,
        seatings: events::seatings(definition.seatings),
        planned_groups: planned,
        planned_games: planned.map(|groups| groups * plan.games_in_group()),
        stored_games: 0,
        setup_count: definition.setups.len() as u64,
        limits: events::limits(&definition.limits, definition.memory_mib),
        bots: bots.collect(),
        filler: None,
        root_commitment: Some(plan.root.commitment()),
        reproduction: false,
        sprt: definition.sprt.as_ref().map(events::sprt),
        time_limit_us: definition.time.map(events::us),
        isolation: isolation(plan, sandbox),
        sandbox: sandbox.map(|sandbox| walls_event(sandbox.walls())),
        records: None,
        exam: None,
    })
}

/// The hash of a root and the root itself, on standard error.
pub(crate) fn show_root(commitment: &str, root: &Root) {
    report::tell(&format!(
        "root committed, sha256:\n  {commitment}\nroot, to be typed as --seed:\n  {}",
        root.reveal()
    ));
}

/// Plays a plan and reads off what came of it.
pub(crate) async fn play_into(
    results: MemoryResults,
    plan: Plan,
    options: RunOptions,
    stop: &Stop,
    reporter: Reporter,
) -> anyhow::Result<PlayedRun> {
    let plan = Arc::new(plan);
    let reporter = Arc::new(reporter);
    let ran = run(
        plan.clone(),
        results.clone(),
        options,
        stop.clone(),
        reporter.clone(),
    );
    let ran = ran.await;
    let seen = reporter.finish()?;
    Ok(PlayedRun {
        setups: plan.definition.setups.clone(),
        outcome: ran?,
        snapshot: Snapshot::of_plan(&results, &plan).await?,
        results,
        seen,
    })
}

/// Options of a run on this machine.
pub(crate) fn run_options(
    launch: LaunchOptions,
    kind: &dyn GameKind,
    concurrency: Option<usize>,
    live: bool,
) -> RunOptions {
    RunOptions {
        concurrency: concurrency.map(|games| files::games_at_once(games, kind.info().seats)),
        worker: worker_name(),
        live,
        ..RunOptions::new(launch)
    }
}

/// Says what walls are around the bots, and where games with secrets are less than isolated.
pub(crate) fn note_isolation(plan: &Plan, sandbox: Option<&BotSandbox>) {
    sandbox::note(sandbox);
    match isolation(plan, sandbox) {
        RunIsolation::FreshProcesses => report::note(
            "not isolated: every seating of a deal is played by fresh processes, but a bot may \
             find what it has left there in an earlier one",
        ),
        RunIsolation::OwnDeals => report::note(
            "a bot that the arena does not start would remember a deal from one seating to the \
             next, so every game has a deal of its own and counts by itself",
        ),
        _ => {}
    }
}

fn isolation(plan: &Plan, sandbox: Option<&BotSandbox>) -> RunIsolation {
    let bots = || plan.bots.iter().map(|bot| &bot.entry);
    if !plan.kind.has_secrets() {
        RunIsolation::NotNeeded
    } else if needs_own_deals(plan.kind, bots()) {
        RunIsolation::OwnDeals
    } else if !sandbox::forgets(bots(), sandbox) {
        RunIsolation::FreshProcesses
    } else {
        RunIsolation::Full
    }
}

impl PlayedRun {
    /// The end of the run, for programs. The root and the set-ups are told here and not before.
    pub(crate) fn ended(&self, settings: &Settings, folder: Option<&RunFolder>) -> RunEndedEvent {
        RunEndedEvent {
            root: (!settings.hides_root).then(|| settings.root.reveal()),
            setups: Some(self.setups.clone()),
            records: folder.map(|folder| folder.path().display().to_string()),
            ..run_ended(&self.snapshot, &self.seen, self.outcome.end)
        }
    }

    /// Prints the warnings, on standard error.
    pub(crate) fn warn(&self) {
        show::warnings(&self.snapshot, |first: &FirstFoul| {
            let name = self.snapshot.name(first.entrant);
            let game = self.seen.first_fouls.get(name).cloned();
            game.unwrap_or_else(|| format!("{}.{}", first.group, first.seating))
        });
    }

    /// Prints the rest, on standard error, and returns the end of the program.
    pub(crate) fn close(&self, folder: Option<&RunFolder>) -> End {
        self.warn();
        if let Some(folder) = folder {
            report::tell(&format!("records: {}", folder.path().display()));
        }
        if self.outcome.end == RunEnd::Stopped {
            report::tell(&format!(
                "stopped after {}",
                report::plural(self.seen.games, "game")
            ));
            let (half, _) = self.snapshot.half_played;
            if half > 0 {
                let deals = match half {
                    1 => "1 deal was".to_owned(),
                    many => format!("{many} deals were"),
                };
                report::warning(&format!(
                    "{deals} not played from every seating, and not counted"
                ));
            }
        }
        exit_code(&self.snapshot, self.outcome.end)
    }
}

/// The end of a run, for programs, without its root, set-ups and records.
pub(crate) fn run_ended(snapshot: &Snapshot, seen: &SeenOfRun, end: RunEnd) -> RunEndedEvent {
    let count = &snapshot.count;
    let given_up = |one: &SetAside| matches!(one.why, SetAsideReason::NoStart { .. });
    // A bot that never started has met nobody, so there may be no pair.
    let is_duel = snapshot.names.len() == 2;
    let never = snapshot.never_started().into_iter();
    RunEndedEvent {
        end: match end {
            RunEnd::Stopped if seen.is_timed_out => EndName::TimedOut,
            RunEnd::Stopped => EndName::Stopped,
            RunEnd::Complete if is_duel && decision(snapshot).is_some() => EndName::Decided,
            RunEnd::Complete if is_duel && snapshot.set_aside.iter().any(given_up) => {
                EndName::NotStarted
            }
            RunEnd::Complete => EndName::Completed,
        },
        games: seen.games,
        excluded_games: count.stored_games - count.games - count.half_games,
        half_deals: count.half_groups,
        never_started: never.map(|who| snapshot.name(who).to_owned()).collect(),
        root: None,
        setups: None,
        records: None,
    }
}

/// The fouls that make the answer of a run a no.
#[derive(Args)]
pub(crate) struct FoulArgs {
    /// Exit code 1 if any bot committed a foul.
    #[arg(long)]
    fail_on_foul: bool,
}

impl FoulArgs {
    /// The end of the program, where this was it without them; `has_fouls` if a bot committed one.
    pub(crate) fn end(&self, end: End, has_fouls: bool) -> End {
        match end {
            End::Done if self.fail_on_foul && has_fouls => End::No,
            end => end,
        }
    }
}

/// The end of the program after a run: 130 where it was stopped; 1 where a bot never started or was
/// set aside, nobody has played, or the test of a match between two did not accept H1; else 0.
pub(crate) fn exit_code(snapshot: &Snapshot, end: RunEnd) -> End {
    if end == RunEnd::Stopped {
        return End::Interrupted;
    }
    let played = snapshot.count.stored_games > 0;
    let well = snapshot.set_aside.is_empty() && snapshot.never_started().is_empty();
    let tested = snapshot.standings.duel().is_some() && snapshot.definition.sprt.is_some();
    let passed = !tested || decision(snapshot) == Some(Decision::AcceptH1);
    if played && well && passed {
        End::Done
    } else {
        End::No
    }
}

/// The hypothesis that the test of a match between two has accepted.
fn decision(snapshot: &Snapshot) -> Option<Decision> {
    snapshot.tests.first().copied().flatten()?.decision
}

/// The folder of one run: its records, the bots' logs, and `run.json`.
#[derive(Clone, Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    began: SystemTime,
}

impl RunFolder {
    /// A folder that is named by a person, which must be new or empty, or one
    /// under `arena-runs` that is named by the time.
    pub(crate) fn create(named: Option<&Path>, verb: &str) -> anyhow::Result<Self> {
        let folder = match named {
            Some(folder) => {
                let used = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
                if used {
                    return usage(format!(
                        "--records {}: the folder is not empty; name a new one, so that nothing is lost",
                        folder.display()
                    ));
                }
                folder.to_owned()
            }
            None => Self::unused(verb)?,
        };
        if let Err(error) = fs::create_dir_all(folder.join("logs")) {
            return usage(format!(
                "could not make the folder {}: {error}; name another with --records, or ask for no records",
                folder.display()
            ));
        }
        Ok(Self {
            path: folder,
            began: SystemTime::now(),
        })
    }

    fn unused(verb: &str) -> anyhow::Result<PathBuf> {
        let now = humantime::format_rfc3339_seconds(SystemTime::now())
            .to_string()
            .replace(':', "-");
        let runs = Path::new("arena-runs");
        fs::create_dir_all(runs).context("could not make the folder arena-runs")?;
        // Two runs may begin in the same second.
        for number in 1_u32.. {
            let more = match number {
                1 => String::new(),
                _ => format!("-{number}"),
            };
            let folder = runs.join(format!("{now}-{verb}{more}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).context("could not make a folder in arena-runs"),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of the bots' output.
    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// The first of its records, by name.
    pub(crate) fn a_record(&self) -> anyhow::Result<Option<PathBuf>> {
        let paths = fs::read_dir(&self.path)?.map(|file| file.map(|file| file.path()));
        let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
        Ok(paths.into_iter().min())
    }

    /// Removes the folder of the logs if it is empty.
    pub(crate) fn drop_empty_logs(&self) {
        // One that holds something stays.
        let _ = fs::remove_dir(self.logs());
    }
}

/// Writes into its folder, if it has one, what a run is.
pub(crate) fn describe(
    folder: Option<&RunFolder>,
    started: &RunStartedEvent,
    ended: Option<RunEndedEvent>,
) -> anyhow::Result<()> {
    let Some(folder) = folder else {
        return Ok(());
    };
    let file = RunFile {
        version: VERSION,
        began_unix_ms: Some(unix_ms(folder.began)),
        started: started.clone(),
        ended,
    };
    let path = folder.path().join("run.json");
    let text = serde_json::to_string_pretty(&file)?;
    write_whole(&path, text.as_bytes())
        .with_context(|| format!("could not write {}", path.display()))
}

/// The walls of a run, for programs.
pub(crate) fn walls_event(walls: &Walls) -> RunSandbox {
    let missing = walls.missing().into_iter().map(|one| MissingWall {
        wall: one.wall.to_string(),
        consequence: one.consequence,
        remedy: one.remedy,
        reason: one.reason,
    });
    RunSandbox {
        walls: walls.to_string(),
        missing: missing.collect(),
    }
}
