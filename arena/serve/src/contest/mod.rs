//! Contests of the store: entries are built here or in pods, and judged.

mod pods;

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
    BuildFailure, BuildJob, BuildSources, BuiltEntry, CheckJob, Checking, EntryFinding, Fault,
    Judge,
};
use arena_events::check::{CheckStage, FindingSeverity};
use arena_kubernetes::Settings;
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

use self::pods::EntryPods;
use crate::serve::launch_context;

/// About how long each of the longer stages of a check may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The judge, if contests are to be judged here. Where there is a cluster, entries are built and
/// checked in pods, and play there.
pub(crate) fn judge(
    args: &ServeArgs,
    store: &Store,
    cluster: Option<&(kube::Client, Settings)>,
) -> anyhow::Result<Option<Judge>> {
    if !args.contest {
        return Ok(None);
    }
    report::note("contests of the store are judged here; `arena contest status NAME` says how far");
    let folder = std::env::current_dir()?;
    let new_judge = |build: Arc<BuildSources>| {
        Judge::new(store.clone(), build, folder.clone(), WallClock::default())
    };
    let checker = Arc::new(Checker::new()?);
    if let Some((client, settings)) = cluster {
        let pods = EntryPods::new(client.clone(), settings.clone(), args)?;
        let pods = Arc::new(pods);
        let builds = pods.clone();
        let build = move |job: &BuildJob, ends: &AtomicBool| builds.build(job, ends);
        let check = checking(move |job, stop| {
            let (pods, checker) = (pods.clone(), checker.clone());
            async move { pods.check(&checker, job, &stop).await }
        });
        let judge = new_judge(Arc::new(build)).on_kubernetes();
        return Ok(Some(judge.checking(Arc::new(check))));
    }
    let sandbox = args.launch.around_all([])?.sandbox;
    if !sandbox.walls().missing().is_empty() {
        report::warning(&format!(
            "entries of contests are built with these walls alone: {}; `arena selftest` says what \
             this machine lacks, and --sandbox require refuses to go on without",
            sandbox.walls()
        ));
    }
    let toolchain = toolchain(args.kits.as_deref())?;
    let build =
        move |job: &BuildJob, ends: &AtomicBool| build_here(job, &toolchain, &sandbox, None, ends);
    let context = Arc::new(launch_context(args, None, checker.logs.path().to_owned())?);
    let check = checking(move |job, stop| {
        let (checker, context) = (checker.clone(), context.clone());
        async move { checker.check_here(&context, &job, &stop).await }
    });
    Ok(Some(new_judge(Arc::new(build)).checking(Arc::new(check))))
}

/// A check that runs on a thread of its own, and ends when it is dropped.
fn checking<F, Checked>(check: F) -> impl Fn(CheckJob) -> Checking
where
    F: Fn(CheckJob, Stop) -> Checked + Clone + Send + Sync + 'static,
    Checked: Future<Output = anyhow::Result<Vec<EntryFinding>>>,
{
    move |job| {
        let (check, stop) = (check.clone(), Stop::default());
        Box::pin(async move {
            let _ends = EndsWhenDropped(stop.clone());
            // A check does not go from thread to thread.
            let runtime = Handle::current();
            let checking = move || runtime.block_on(check(job, stop));
            let checked = tokio::task::spawn_blocking(checking).await;
            let checked = checked.map_err(anyhow::Error::from).flatten();
            checked.map_err(|error| format!("{error:#}"))
        })
    }
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
    schemes: Schemes,
    /// Of what the bot prints that is checked. One is checked at a time.
    logs: TempDir,
}

impl Checker {
    fn new() -> anyhow::Result<Self> {
        let logs = tempfile::tempdir()
            .context("could not make a folder among the temporary files (TMPDIR)")?;
        let schemes = schemes()?;
        Ok(Self { schemes, logs })
    }

    async fn check_here(
        &self,
        context: &LaunchContext,
        job: &CheckJob,
        stop: &Stop,
    ) -> anyhow::Result<Vec<EntryFinding>> {
        let hash: ArchiveHash = job.hash.parse()?;
        // It is in use as long as the bot plays.
        let archives = context.archives();
        let archives = archives.context("there is no cache of archives")?;
        let _archive = archives.insert(&hash, &job.packed)?;
        self.check(context, job, stop).await
    }

    /// Checks a bot that is started, or is there, as this context has it.
    async fn check(
        &self,
        context: &LaunchContext,
        job: &CheckJob,
        stop: &Stop,
    ) -> anyhow::Result<Vec<EntryFinding>> {
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
        let checked = check(&entry, context, &bot, &options, stop, &mut Unheard).await;
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

/// The compilers of this machine, and the kits of a checkout.
pub(crate) fn toolchain(kits: Option<&Path>) -> anyhow::Result<Toolchain> {
    let Some(checkout) = kits else {
        return Ok(Toolchain::of_system());
    };
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

/// Builds what was handed in. With `memory` it may take so many bytes, and not the usual ones.
pub(crate) fn build_here(
    job: &BuildJob,
    toolchain: &Toolchain,
    sandbox: &Sandbox,
    memory: Option<u64>,
    ends: &AtomicBool,
) -> Result<BuiltEntry, BuildFailure> {
    let usual = BuildLimits::default();
    let limits = BuildLimits {
        upload: job.upload,
        memory: memory.unwrap_or(usual.memory),
        ..usual
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
