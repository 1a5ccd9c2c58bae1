//! `arena serve`: plays every tournament that is queued in a store, with workers on any
//! machine and with this one.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use arena_dispatch::{
    Access, Examines, Replays, ServiceOptions, TournamentOptions, Tournaments, serve,
};
use arena_kubernetes::Settings;
use arena_store::Store;
use arena_tournament::{LEASE, Observer, RunEvent, parse_limit};
use arena_web::{Hub, HubObserver};
use clap::Args;
use referee::{Cores, core_count};
use referee_bots::{LaunchContext, LaunchOptions};
use referee_cli::{
    CacheArgs, LaunchArgs, PinArgs, files::FileShares, net::TlsListenArgs, random_bytes,
};
use referee_games::game_name;
use referee_net::Bounds;
use referee_worker::{Abilities, Stop, WorkerIdentity, Workers};
use tokio_util::sync::CancellationToken;

use super::{
    Format,
    metrics::MetricsAt,
    page::{Page, PageArgs},
    store::StoreAt,
};
use crate::{
    End, bots::schemes, metrics, play::worker_name, pods, report, reporter::Reporter, stop, usage,
};

/// How many workers there are at most.
const WORKERS: usize = 20_000;

#[derive(Args)]
pub(crate) struct Serve {
    /// Where workers reach this arena; port 0 lets the system choose.
    #[arg(
        long,
        env = "ARENA_LISTEN",
        default_value = "127.0.0.1:50060",
        value_name = "ADDRESS"
    )]
    listen: SocketAddr,
    #[command(flatten)]
    tls: TlsListenArgs,
    /// Let every worker in, under the name that it gives. Without this a worker needs a token
    /// (`arena workers add NAME`) or a certificate.
    #[arg(long)]
    open: bool,
    /// How many games this machine plays at once; 0 leaves all of them to workers [default:
    /// the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u32).range(..=100_000))]
    concurrency: Option<u32>,
    /// Which games of workers are replayed before they count: all, or 1/N of them by chance.
    #[arg(long, default_value = "1/10", value_parser = parse_replays, value_name = "all|1/N")]
    replay: Replays,
    /// How long a worker may be silent before its games are given to others.
    #[arg(long, default_value = "60s", value_parser = parse_limit)]
    lease: Duration,
    /// Have the Kubernetes cluster that this machine is configured for, or is in, play the
    /// tournaments that say so. The file has settings; `arena kubernetes settings` prints the
    /// defaults.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    kubernetes: Option<Option<PathBuf>>,
    #[command(flatten)]
    store: StoreAt,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    pin: PinArgs,
    /// Where the output of bots on this machine goes [default: arena-runs/serve/logs].
    #[arg(long)]
    logs: Option<PathBuf>,
    /// How long games on this machine may go on after SIGTERM before they are cut off.
    #[arg(long, default_value = "10s", value_parser = parse_limit)]
    grace: Duration,
    #[command(flatten)]
    metrics: MetricsAt,
    #[command(flatten)]
    page: PageArgs,
    /// With --format json: print the public moves of running games too, where no hands are
    /// hidden.
    #[arg(long)]
    live: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

fn parse_replays(text: &str) -> Result<Replays, String> {
    if text == "all" {
        return Ok(Replays::All);
    }
    match text.strip_prefix("1/").map(str::parse) {
        Some(Ok(1)) => Ok(Replays::All),
        Some(Ok(n)) if n > 1 => Ok(Replays::OneIn(n)),
        _ => Err("expected all, or a share as in 1/10".to_owned()),
    }
}

impl Serve {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let metrics = self.metrics.listen().await?;
        let tls = self.tls.load()?;
        if tls.is_none() && !self.open && !self.listen.ip().is_loopback() {
            report::warning(
                "workers send their tokens without TLS here: give --tls-cert and --tls-key (`arena \
                 certs` makes them), or listen on 127.0.0.1 behind a tunnel",
            );
        }
        let listener = tokio::net::TcpListener::bind(self.listen).await;
        let listener =
            listener.or_else(|error| usage(format!("--listen {}: {error}", self.listen)))?;
        let address = listener.local_addr()?;
        let page = self.page.listen()?;
        let store = self.store.open().await?;
        let stop = stop::on_signals(Some(self.grace))?;
        let hub = page.as_ref().map(|page| page.hub.clone());
        let tournaments = Arc::new(self.tournaments(store.clone(), hub, &stop)?);
        let settings = self.kubernetes.as_ref();
        let settings = settings.map(|file| pods::settings(file.as_deref()));
        let settings = settings.transpose()?;
        if let Some(metrics) = metrics {
            metrics.serve()?;
            let settings = settings.clone().unwrap_or_default();
            tokio::spawn(count(store.clone(), tournaments.clone(), settings));
        }
        let cluster = match settings {
            Some(settings) => Some(pods::controller(settings, tournaments.clone()).await?),
            None => None,
        };
        let shares = self.file_shares(page.is_some())?;
        let local = self.workers(shares.games)?;
        let options = ServiceOptions {
            access: if self.open {
                Access::Open
            } else {
                Access::Known
            },
            replays: self.replay,
            sample_seed: random_bytes()?,
            examines: Examines::OnThreads(core_count()),
            plays_here: local.is_some(),
        };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        report::note(&format!(
            "workers join with `referee work --arena {url}`; `arena tournament submit FILE` queues \
             a tournament, `arena workers` shows who works"
        ));
        let end = CancellationToken::new();
        let page = match page {
            Some(page) => Some(self.serve_page(page, shares, end.clone()).await?),
            None => None,
        };
        let playing = async {
            let worked = match &local {
                None => {
                    stop.finishing().await;
                    Ok(())
                }
                Some(workers) => {
                    let who = WorkerIdentity {
                        name: worker_name(),
                        session: None,
                        can: Arc::new(Abilities::Local),
                        scope: None,
                    };
                    workers.run(tournaments.clone(), who, &stop).await
                }
            };
            end.cancel();
            worked
        };
        let bounds = Bounds {
            connections: shares.workers,
            ..Bounds::default()
        };
        let serving = serve(
            tournaments.clone(),
            options,
            listener,
            tls,
            &bounds,
            end.clone(),
        );
        let having_pods = async {
            if let Some(cluster) = &cluster {
                cluster.run(&end).await;
            }
        };
        let (worked, served, ()) = tokio::join!(playing, serving, having_pods);
        if let Some(workers) = local {
            workers.close().await;
        }
        if let Some(page) = page {
            let ended = tokio::task::spawn_blocking(|| page.join()).await?;
            ended.map_err(|_| anyhow::anyhow!("the page's thread has panicked"))??;
        }
        drop(tournaments);
        store.close().await;
        worked?;
        served.context("could not serve")?;
        Ok(End::Interrupted)
    }

    fn tournaments(
        &self,
        store: Store,
        hub: Option<Arc<Hub>>,
        stop: &Stop,
    ) -> anyhow::Result<Tournaments<Store>> {
        let prints_moves = self.live && self.format == Format::Json;
        let options = TournamentOptions {
            lease: self.lease.max(LEASE / 60),
            live: prints_moves || hub.is_some(),
            // Who works elsewhere sends moves only where somebody sees them.
            live_elsewhere: match &hub {
                Some(hub) if !prints_moves => hub.is_watched(),
                _ => Arc::new(AtomicBool::new(true)),
            },
            ..TournamentOptions::default()
        };
        let (events, stop) = (self.format == Format::Json, stop.clone());
        let new_observer = move |name: &str, plan: &Arc<arena_tournament::Plan>| {
            let game = game_name(plan.kind.info().name);
            let reporter = Reporter::new(&game, Some(name), events, &stop).with_bots(plan);
            Arc::new(Observers {
                reporter: reporter.without_bar(),
                prints_moves,
                page: hub.as_ref().map(|hub| hub.observer(name, plan)),
            }) as Arc<dyn Observer>
        };
        let new_observer = Box::new(new_observer);
        Ok(Tournaments::new(store, schemes()?, options, new_observer))
    }

    /// Serves the page in a thread of its own, with connections to the store of its own.
    async fn serve_page(
        &self,
        page: Page,
        shares: FileShares,
        end: CancellationToken,
    ) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
        let store = self.store.open().await?;
        let context = match self.page.has_play() {
            false => None,
            true => self
                .launch_context(None)
                .inspect_err(|error| {
                    report::warning(&format!("nobody can play on the page: {error:#}"));
                })
                .ok(),
        };
        self.page.serve(page, store, context, shares, end)
    }

    /// The files that may be open, divided between those who need them.
    fn file_shares(&self, has_page: bool) -> anyhow::Result<FileShares> {
        let (people, viewers) = match has_page {
            true => self.page.wanted(),
            false => (0, 0),
        };
        let games = match self.concurrency {
            Some(games) => games as usize,
            None => Workers::default_concurrency(self.pin.cores()?.as_ref()),
        };
        Ok(FileShares::within_limit(FileShares {
            games,
            people,
            workers: WORKERS,
            viewers,
        }))
    }

    /// The workers of this process, if it is to play.
    fn workers(&self, games: usize) -> anyhow::Result<Option<Workers>> {
        if games == 0 {
            return Ok(None);
        }
        let context = self.launch_context(self.pin.cores()?)?;
        Ok(Some(Workers::start(context, games)?))
    }

    /// What starts bots on this machine.
    fn launch_context(&self, cores: Option<Cores>) -> anyhow::Result<LaunchContext> {
        let logs = match &self.logs {
            Some(logs) => logs.clone(),
            None => PathBuf::from("arena-runs/serve/logs"),
        };
        let logs = std::path::absolute(logs)?;
        let hidden = self.store.files().into_iter().chain([
            logs.clone(),
            PathBuf::from("arena-runs"),
            self.page.folder(),
        ]);
        let launch = LaunchOptions {
            logs: Some(logs),
            archives: Some(Arc::new(self.cache.open()?)),
            cores,
            ..self.launch.options(Some(self.launch.around_all(hidden)?))?
        };
        Ok(launch.open(std::env::current_dir()?)?)
    }
}

/// Who hears of a tournament.
struct Observers {
    reporter: Reporter,
    /// Whether the reporter hears of moves.
    prints_moves: bool,
    page: Option<HubObserver>,
}

impl Observer for Observers {
    fn event(&self, event: RunEvent<'_>) {
        if self.prints_moves || !matches!(event, RunEvent::Live { .. }) {
            self.reporter.event(event);
        }
        if let Some(page) = &self.page {
            page.event(event);
        }
    }
}

/// Keeps the metrics of workers as the store has them, and of what is left to be played.
async fn count(store: Store, tournaments: Arc<Tournaments<Store>>, settings: Settings) {
    let mut known = BTreeSet::new();
    loop {
        tokio::time::sleep(Duration::from_secs(2)).await;
        metrics::left(&pods::chunks_left(&settings, &tournaments), &mut known);
        match store.sessions().await {
            Ok(sessions) => metrics::workers(&sessions),
            Err(error) => tracing::debug!(%error, "could not read what is known of workers"),
        }
    }
}
