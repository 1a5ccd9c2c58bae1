//! Contests of the store: entries are built here, and judged.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::Context as _;
use arena_build::{BuildError, BuildLimits, Sources, Toolchain, build};
use arena_check::{CheckObserver, CheckOptions, StageReport, check, fix_behind_adapter, words};
use arena_contest::{
    BuildFailure, BuildJob, BuiltEntry, CheckJob, Checking, EntryFinding, Fault, Judge,
};
use arena_events::check::{CheckStage, FindingSeverity};
use arena_store::Store;
use arena_terminal::{beside::ServeArgs, report};
use arena_tournament::{WallClock, find_game};
use referee_bots::{BotOptions, Entry, LaunchContext, Schemes, archive::ArchiveHash};
use referee_cli::{bots::schemes, usage};
use referee_core::Limits;
use referee_sandbox::Sandbox;
use referee_worker::Stop;
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::serve::launch_context;

/// About how long each of the longer stages of a check may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The judge, if contests are to be judged here.
pub(crate) fn judge(args: &ServeArgs, store: &Store) -> anyhow::Result<Option<Judge>> {
    if !args.contest {
        return Ok(None);
    }
    let sandbox = args.launch.around_all([])?.sandbox;
    if !sandbox.walls().missing().is_empty() {
        report::warning(&format!(
            "entries of contests are built with these walls alone: {}; `arena selftest` says what \
             this machine lacks, and --sandbox require refuses to go on without",
            sandbox.walls()
        ));
    }
    let toolchain = match &args.kits {
        None => Toolchain::of_system(),
        Some(checkout) => toolchain(checkout)?,
    };
    report::note("contests of the store are judged here; `arena contest status NAME` says how far");
    let build = move |job: &BuildJob, ends: &AtomicBool| one(job, &toolchain, &sandbox, ends);
    let folder = std::env::current_dir()?;
    let judge = Judge::new(store.clone(), Arc::new(build), folder, WallClock::default());
    let checker = Arc::new(Checker::new(args)?);
    let check = move |job: CheckJob| -> Checking {
        let (checker, stop) = (checker.clone(), Stop::default());
        Box::pin(async move {
            let _ends = EndsWhenDropped(stop.clone());
            // A check does not go from thread to thread.
            let runtime = Handle::current();
            let checking = move || runtime.block_on(checker.check(job, &stop));
            let checked = tokio::task::spawn_blocking(checking).await;
            let checked = checked.map_err(anyhow::Error::from).flatten();
            checked.map_err(|error| format!("{error:#}"))
        })
    };
    Ok(Some(judge.checking(Arc::new(check))))
}

/// Stops a check when it is dropped.
struct EndsWhenDropped(Stop);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.cut_off();
    }
}

/// Checks bots that were built, as `arena check --quick` does.
struct Checker {
    context: LaunchContext,
    schemes: Schemes,
    /// Of what the bot prints that is checked. One is checked at a time.
    logs: TempDir,
}

impl Checker {
    fn new(args: &ServeArgs) -> anyhow::Result<Self> {
        let logs = tempfile::tempdir()
            .context("could not make a folder among the temporary files (TMPDIR)")?;
        let folder = logs.path().to_owned();
        Ok(Self {
            context: launch_context(args, None, folder)?,
            schemes: schemes()?,
            logs,
        })
    }

    async fn check(&self, job: CheckJob, stop: &Stop) -> anyhow::Result<Vec<EntryFinding>> {
        let hash: ArchiveHash = job.hash.parse()?;
        // It is in use as long as the bot plays.
        let archives = self
            .context
            .archives()
            .context("there is no cache of archives")?;
        let _archive = archives.insert(&hash, &job.packed)?;
        let entry = Entry::read(&format!("{}={}", job.name, job.spec), &self.schemes)?;
        let limits = Limits {
            per_move: job.per_move,
            ..Limits::default()
        };
        let bot = BotOptions {
            start_limit: limits.start,
            memory_limit: Some(job.memory_mib * 1024 * 1024),
            measure_memory: false,
            directory: None,
        };
        let options = CheckOptions {
            kinds: Some(vec![find_game(&job.game)?]),
            limits,
            games: 0,
            patience: PATIENCE,
            quick: true,
            root: "check".parse()?,
            records: None,
        };
        let checked = check(&entry, &self.context, &bot, &options, stop, &mut Unheard).await;
        // What it has printed is in the findings.
        for file in fs::read_dir(self.logs.path())?.flatten() {
            let _ = fs::remove_file(file.path());
        }
        let interface = entry.launcher().interface();
        let findings = checked?.findings.into_iter().map(|found| {
            let possible = found.possible();
            let fix = fix_behind_adapter(interface, found.name);
            EntryFinding {
                name: words::name(found.name),
                is_fault: possible.severity == FindingSeverity::Fault,
                seen: words::seen(&found, ToString::to_string),
                expected: possible.expected.clone().into_owned(),
                fix: fix.unwrap_or(&possible.fix).to_owned(),
            }
        });
        Ok(findings.collect())
    }
}

/// Hears nothing: what was found is read in the end.
struct Unheard;

impl CheckObserver for Unheard {
    fn stage_started(&mut self, _: Option<&'static str>, _: CheckStage) {}
    fn stage_ended(&mut self, _: &StageReport) {}
}

fn toolchain(checkout: &Path) -> anyhow::Result<Toolchain> {
    let checkout = match std::path::absolute(checkout) {
        Ok(checkout) if checkout.join("bots").is_dir() => checkout,
        _ => {
            return usage(format!(
                "--kits {}: expected a checkout of Bot Arena, with the folder bots",
                checkout.display()
            ));
        }
    };
    Ok(Toolchain::of_checkout(
        &checkout,
        &checkout.join("target/languages"),
    ))
}

/// Builds what was handed in.
fn one(
    job: &BuildJob,
    toolchain: &Toolchain,
    sandbox: &Sandbox,
    ends: &AtomicBool,
) -> Result<BuiltEntry, BuildFailure> {
    let limits = BuildLimits {
        upload: job.upload,
        ..BuildLimits::default()
    };
    let sources = Sources::read(&job.file, &job.bytes, &limits).map_err(BuildError::from);
    let built = sources
        .and_then(|sources| build(&sources, &job.game, toolchain, sandbox, &limits, ends))
        .map_err(|error| match error {
            BuildError::Fault(fault) => BuildFailure::Theirs {
                fault: Fault {
                    verdict: fault.kind.to_string(),
                    words: fault.why,
                },
                log: fault.log,
            },
            ours => BuildFailure::Ours(ours.to_string()),
        })?;
    Ok(BuiltEntry {
        hash: built.packed.hash.to_string(),
        size: built.packed.size,
        packed: built.packed.bytes,
        spec: built.spec.to_string(),
        log: built.log,
    })
}
