//! Contests of the store: entries are built here, and judged.

use std::{path::Path, sync::Arc, sync::atomic::AtomicBool};

use arena_build::{BuildError, BuildLimits, Sources, Toolchain, build};
use arena_contest::{BuildFailure, BuildJob, BuiltEntry, Fault, Judge};
use arena_store::Store;
use arena_terminal::{beside::ServeArgs, report};
use arena_tournament::WallClock;
use referee_cli::usage;
use referee_sandbox::Sandbox;

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
    let clock = WallClock::default();
    Ok(Some(Judge::new(
        store.clone(),
        Arc::new(build),
        folder,
        clock,
    )))
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
