//! A worker: plays what an arena hands out.

use std::{collections::BTreeSet, env, num::NonZeroU64, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use parking_lot::Mutex;
use referee::BotSandbox;
use referee_bots::{Unpinned, archive::ArchiveCache, has_program, image_label, machine_label};
use referee_container::{EngineError, find_socket};
use referee_games::GAMES;
use referee_net::{AddressPattern, AllowList, DialOptions, Target, channel};
use referee_worker::{
    Abilities, ChunkBounds, Machine, Stop, WorkError, WorkerGroup, WorkerIdentity,
    lease::{Scope, SessionId},
    remote::{RemoteDispatch, RemoteOptions, WorkerRefusal},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    BotAtArgs, CacheArgs, End, LaunchArgs, PinArgs, bots, files,
    net::{TlsDialArgs, TokenDialArgs},
    random_bytes, stop, usage,
};

/// Programs that packed bots may need. Those that are found are told to the arena.
const PROGRAMS: &[&str] = &[
    "bash", "bun", "deno", "dotnet", "go", "guile", "java", "julia", "lua", "node", "ocaml",
    "perl", "php", "pypy3", "python3", "ruby", "sbcl", "sh",
];

/// After this time without a word the arena is asked whether it is there, and has the same time
/// to answer: a dead connection is replaced before a lease of the usual 60 seconds runs out.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// A worker.
#[derive(Args, Clone, Debug)]
pub struct WorkArgs {
    /// The arena: http://HOST:PORT, or https:// where it has TLS.
    #[arg(long, env = "ARENA_URL", value_name = "URL")]
    arena: Target,
    #[command(flatten)]
    token: TokenDialArgs,
    #[command(flatten)]
    tls: TlsDialArgs,
    /// What this worker is called where no token says it [default: the machine's name].
    #[arg(long)]
    name: Option<String>,
    /// How many games are played at once [default: the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: Option<u32>,
    #[command(flatten)]
    pin: PinArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    cache: CacheArgs,
    /// Something that this machine has and packed bots may need, once for each. Usual
    /// languages are found without it.
    #[arg(long, value_name = "LABEL")]
    provides: Vec<String>,
    /// The addresses of bots that run as services and that this worker may dial; without it none
    /// may be. HOST:PORT is compared with the address as it is written, 10.0.0.0/8:* with
    /// addresses in numbers, unix:/FOLDER/ with the path of a socket.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',', env = "REFEREE_BOTS")]
    bots: Vec<AddressPattern>,
    #[command(flatten)]
    bots_at: BotAtArgs,
    /// Work for this tournament only, and end when it is over.
    #[arg(long, value_name = "NAME")]
    tournament: Option<String>,
    /// Work for this match of the tournament only, by its number in the schedule.
    #[arg(long = "match", value_name = "NUMBER", requires = "tournament")]
    matchup: Option<u32>,
    /// End after so many chunks of games; 0 is no limit.
    #[arg(
        long,
        env = "REFEREE_CHUNKS",
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true
    )]
    chunks: u64,
    /// Ask for so many games a chunk [default: what takes about 3 seconds].
    #[arg(
        long,
        env = "REFEREE_GAMES",
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..=4096)
    )]
    games: Option<u32>,
    /// Where the bots' output goes [default: nowhere].
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// How long games may go on after SIGTERM before they are cut off.
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    grace: Duration,
}

impl WorkArgs {
    /// Works until it is stopped, or until nothing is left of its part of the work.
    ///
    /// # Errors
    ///
    /// The arena refuses this worker, a file is wrong, a bot that others start is not there, or we
    /// fail.
    pub async fn run(self) -> anyhow::Result<End> {
        let stop = stop::on_signals(Some(self.grace))?;
        let tls = self.tls.load(&self.arena)?;
        let bearer = self.token.load(&self.arena)?;
        let dial = DialOptions {
            keepalive: KEEPALIVE,
            ..DialOptions::default()
        };
        let channel = channel(&self.arena, tls, &dial);
        let channel = channel.or_else(|error| usage(error.to_string()))?;
        let sandbox = self.launch.around_all(self.logs.clone())?;
        let cores = self.pin.cores()?;
        let concurrency = match self.concurrency {
            Some(games) => files::games_of_any_kind_at_once(games as usize),
            None => WorkerGroup::default_concurrency(cores.as_ref()),
        };
        let machine = self.machine(concurrency, &sandbox).await?;
        let mut launch = self.launch.options(Some(sandbox))?;
        self.bots_at.check(&launch.dial)?;
        launch.logs = self.logs.clone().map(std::path::absolute).transpose()?;
        // A folder that can't be made is said before anybody is waited for.
        launch.make_logs()?;
        // A worker that has not joined holds no work back.
        tokio::select! {
            there = self.bots_at.wait(&launch.dial) => there?,
            () = stop.finishing() => return Ok(End::Interrupted),
        }
        launch.dial.allowed = Some(Arc::new(self.may_dial()));
        launch.addresses = self.bots_at.addresses();
        launch.archives = self.archives()?;
        launch.cores = cores;
        let workers = WorkerGroup::start(launch.open(env::current_dir()?)?, concurrency)?;
        let games = self.games.map(u64::from).and_then(NonZeroU64::new);
        let workers = workers.with_bounds(ChunkBounds::new(NonZeroU64::new(self.chunks), games));
        let session = SessionId(random_bytes()?);
        let name = self.name.clone().unwrap_or_else(|| machine.host.clone());
        let can = Arc::new(Abilities::Remote(machine.clone()));
        let pool = workers.pool().clone();
        let last = Mutex::new(Instant::now());
        let options = RemoteOptions {
            name: name.clone(),
            session,
            machine,
            bearer,
            gauge: Box::new(move || {
                let now = Instant::now();
                let since = std::mem::replace(&mut *last.lock(), now);
                let running = u32::try_from(pool.running()).unwrap_or(u32::MAX);
                (running, pool.worst_delay_since(since))
            }),
            jitter_seed: u64::from_be_bytes(random_bytes()?),
        };
        // Bots at addresses are what somebody has started.
        let unpinned = match self.bots_at.is_empty() {
            true => Unpinned::Refuse,
            false => Unpinned::Keep,
        };
        let schemes = Arc::new(bots::travelling_schemes(unpinned)?);
        let dispatch = Arc::new(RemoteDispatch::new(channel, options, schemes));
        let who = WorkerIdentity {
            name,
            session: Some(session),
            can,
            scope: self.tournament.map(|tournament| Scope {
                tournament,
                matchup: self.matchup,
            }),
        };
        let ended = work(&workers, &dispatch, who, &stop, &self.arena).await;
        workers.close().await;
        match ended {
            Ok(()) if stop.is_finishing() => Ok(End::Interrupted),
            Ok(()) => Ok(End::Done),
            Err(error) => match refused(&error) {
                Some(refused) => usage(refused.to_string()),
                None => Err(error),
            },
        }
    }

    fn may_dial(&self) -> AllowList {
        self.bots.iter().cloned().collect()
    }

    /// The folder where packed bots are unpacked; none if the bots are said to run already and
    /// there is no folder for it, as with a read-only root.
    fn archives(&self) -> anyhow::Result<Option<Arc<ArchiveCache>>> {
        match self.cache.open() {
            Ok(cache) => Ok(Some(Arc::new(cache))),
            Err(error) if !self.bots_at.is_empty() && !self.cache.is_named() => {
                tracing::debug!(%error, "this worker plays no packed bots");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn machine(&self, concurrency: usize, sandbox: &BotSandbox) -> anyhow::Result<Machine> {
        let host = nix::unistd::gethostname().ok();
        let host = host.map_or_else(
            || "worker".to_owned(),
            |host| host.to_string_lossy().into_owned(),
        );
        let found = PROGRAMS
            .iter()
            .copied()
            .filter(|program| has_program(program));
        let mut provides: BTreeSet<String> = found.map(str::to_owned).collect();
        provides.insert(machine_label());
        provides.extend(self.provides.iter().cloned());
        // What starts the bots is not asked for by whoever need not start them.
        if self.bots_at.is_empty() {
            provides.extend(images().await?);
        }
        Ok(Machine {
            host,
            cores: u32::try_from(referee::core_count()).unwrap_or(u32::MAX),
            memory_mib: memory_mib().unwrap_or(0),
            games_at_once: u32::try_from(concurrency).unwrap_or(u32::MAX),
            games: GAMES
                .iter()
                .map(|kind| kind.info().name.to_owned())
                .collect(),
            provides,
            bots: self.may_dial(),
            isolation: sandbox.walls().to_string(),
            isolated: sandbox.walls().missing().is_empty(),
        })
    }
}

/// The labels of the images that this machine has.
async fn images() -> anyhow::Result<Vec<String>> {
    if let Err(error @ EngineError::NotFound { .. }) = find_socket() {
        tracing::debug!(%error, "no bots in containers");
        return Ok(Vec::new());
    }
    let containers = bots::containers()?;
    let digests = async { containers.engine().await?.digests().await };
    Ok(match digests.await {
        Ok(digests) => (digests.iter())
            .map(|digest| image_label("", Some(digest)))
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "this worker plays no bots in containers");
            Vec::new()
        }
    })
}

/// Works until there is nothing left, it is stopped, or the arena refuses this worker.
async fn work(
    workers: &WorkerGroup,
    dispatch: &Arc<RemoteDispatch>,
    who: WorkerIdentity,
    stop: &Stop,
    arena: &Target,
) -> anyhow::Result<()> {
    let leave = CancellationToken::new();
    let mut working = std::pin::pin!(async {
        let joined = async {
            let name = dispatch.joined().await?;
            tracing::info!(%arena, name, "joined");
            Ok::<_, WorkerRefusal>(())
        };
        tokio::select! {
            joined = joined => joined?,
            () = stop.finishing() => return Ok(()),
        }
        tokio::select! {
            worked = workers.run(dispatch.clone(), who, stop) => worked?,
            () = too_long(stop) => {
                tracing::warn!("results that the arena has not taken are lost; it has their games \
                    played again");
            }
        }
        Ok::<_, anyhow::Error>(())
    });
    let mut attending = std::pin::pin!(dispatch.attend(&leave));
    tokio::select! {
        worked = &mut working => {
            // The stream outlives the games: it renews their leases.
            leave.cancel();
            attending.await?;
            worked
        }
        refused = &mut attending => {
            refused?;
            working.await
        }
    }
}

/// Waits until running games are cut off, and a little longer, for their results.
async fn too_long(stop: &Stop) {
    /// Longest time until results are reported when everything else has ended.
    const LAST_REPORTS: Duration = Duration::from_secs(3);
    stop.cutting_off().await;
    tokio::time::sleep(LAST_REPORTS).await;
}

/// The arena's refusal of this worker, where that is what happened.
fn refused(error: &anyhow::Error) -> Option<WorkerRefusal> {
    if let Some(refused) = error.downcast_ref::<WorkerRefusal>() {
        return Some(refused.clone());
    }
    match error.downcast_ref::<WorkError>() {
        Some(WorkError::Dispatch(error)) => {
            let source: &(dyn std::error::Error + 'static) = error.inner();
            source.downcast_ref::<WorkerRefusal>().cloned()
        }
        _ => None,
    }
}

/// Memory of this machine, in MiB.
#[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
fn memory_mib() -> Option<u64> {
    let about = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = about
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}
