//! `arena serve`: plays every tournament that is queued in a store, with workers on any
//! machine and with this one.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use arena_dispatch::{
    Examines, Pulse, Replays, ServiceOptions, TournamentOptions, Tournaments, WorkerAccess, serve,
};
use arena_kubernetes::{Settings, StatusMap};
use arena_lobby::{Lobby, LobbyFolder};
use arena_store::{QueuedTournament, Store};
use arena_terminal::{Format, Reporter, beside::ServeArgs, metrics, report, worker_name};
use arena_tournament::{LEASE, Observer, RunEvent};
use arena_web::{Hub, HubObserver};
use referee::{Cores, core_count};
use referee_bots::{LaunchContext, LaunchOptions};
use referee_cli::{
    End,
    bots::{lobby_folder, schemes},
    files::FileShares,
    random_bytes, stop, usage,
};
use referee_games::game_name;
use referee_net::{Bounds, NamedTokens};
use referee_worker::{Abilities, Stop, WorkerGroup, WorkerIdentity};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use crate::{
    contest,
    declared::Declared,
    health::{self, Health},
    page::{self, Page},
    pods,
};

/// Longest time in which the server of a store that is started together with the arena can be
/// reached.
const SERVER_STARTS_WITHIN: Duration = Duration::from_secs(60);
/// The name under which metrics and events have the tournaments of contests, all together.
const OF_CONTESTS: &str = "contests";
/// Largest number of workers.
const WORKERS: usize = 20_000;

pub(crate) async fn run(args: &ServeArgs) -> anyhow::Result<End> {
    args.format.prints_moves(args.live)?;
    let metrics = args.metrics.listen().await?;
    let tls = args.tls.load()?;
    if tls.is_none() && !args.open && !args.listen.ip().is_loopback() {
        report::warning(
            "workers send their tokens without TLS here: give --tls-cert and --tls-key (`arena \
             certs` makes them), or listen on 127.0.0.1 behind a tunnel",
        );
    }
    let listener = tokio::net::TcpListener::bind(args.listen).await;
    let listener = listener.or_else(|error| usage(format!("--listen {}: {error}", args.listen)))?;
    let address = listener.local_addr()?;
    let probes = health::listen(args.health).await?;
    let page = page::listen(&args.page)?;
    let store = open_store(args).await?;
    let stop = stop::on_signals(Some(args.grace))?;
    let hub = page.as_ref().map(|page| page.hub.clone());
    let tournaments = Arc::new(tournaments(args, store.clone(), hub, &stop)?);
    let turns = Arc::new(Pulse::default());
    if let Some(listener) = probes {
        let health = Health {
            tournaments: tournaments.clone(),
            cluster: turns.clone(),
        };
        health.serve(listener);
    }
    let settings = args.kubernetes.as_ref();
    let settings = settings.map(|file| pods::settings(file.as_deref()));
    let settings = settings.transpose()?;
    if let Some(metrics) = metrics {
        metrics.serve()?;
        let settings = settings.clone().unwrap_or_default();
        let certificates = [args.tls.certificate(), args.metrics.certificate()];
        let certificates = certificates.into_iter().flatten().cloned();
        let (store, tournaments) = (store.clone(), tournaments.clone());
        tokio::spawn(count(store, tournaments, settings, certificates.collect()));
    }
    let cluster = match settings {
        Some(settings) => Some((pods::client().await?, settings)),
        None => None,
    };
    let declared = declared(args, &store, cluster.as_ref())?;
    let judge = contest::judge(args, &store, cluster.as_ref())?;
    let cluster = match cluster {
        Some((client, settings)) => {
            Some(pods::controller(client, settings, tournaments.clone(), turns).await?)
        }
        None => None,
    };
    let shares = file_shares(args, page.is_some())?;
    let local = workers(args, shares.games)?;
    let options = ServiceOptions {
        access: if args.open {
            WorkerAccess::Open
        } else {
            WorkerAccess::Known
        },
        replays: match args.replay {
            1 => Replays::All,
            of => Replays::OneIn(of),
        },
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
    let lobby = lobby(args, &url, &end)?;
    let page = match page {
        Some(page) => Some(serve_page(args, page, shares, end.clone()).await?),
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
        messages: arena_lobby::MESSAGES.to_vec(),
        ..Bounds::default()
    };
    let serving = serve(
        tournaments.clone(),
        options,
        listener,
        tls,
        &bounds,
        lobby,
        end.clone(),
    );
    let having_pods = async {
        if let Some(cluster) = &cluster {
            cluster.run(&end).await;
            if args.remove {
                pods::remove(cluster).await;
            }
        }
    };
    let reading_files = async {
        if let Some(declared) = &declared {
            declared.run(&end).await;
        }
    };
    let judging = async {
        if let Some(judge) = &judge {
            judge.run(&end).await;
        }
    };
    let (worked, served, (), (), ()) =
        tokio::join!(playing, serving, having_pods, reading_files, judging);
    if let Some(workers) = local {
        workers.close().await;
    }
    if let Some(page) = page {
        let ended = tokio::task::spawn_blocking(|| page.join()).await?;
        ended.map_err(|_| anyhow::anyhow!("the page's thread has panicked"))??;
    }
    drop((tournaments, declared, judge));
    store.close().await;
    worked?;
    served.context("could not serve")?;
    Ok(End::Interrupted)
}

/// The service that bots join, if they are to join here.
fn lobby(args: &ServeArgs, url: &str, end: &CancellationToken) -> anyhow::Result<Routes> {
    let Some(file) = &args.lobby else {
        return Ok(Routes::default());
    };
    let tokens = NamedTokens::load(file).or_else(|error| usage(error.to_string()))?;
    let lobby = Lobby::open(tokens, LobbyFolder::new(lobby_folder()), end.clone())
        .or_else(|error| usage(error.to_string()))?;
    report::note(&format!(
        "bots join with BOT_JOIN={url} and BOT_TOKEN_FILE, and play as lobby:NAME; `arena lobby` \
         shows who attends"
    ));
    Ok(lobby.routes())
}

/// The folder with files of tournaments, if there is to be one.
fn declared(
    args: &ServeArgs,
    store: &Store,
    cluster: Option<&(kube::Client, Settings)>,
) -> anyhow::Result<Option<Declared>> {
    let Some(folder) = &args.tournaments else {
        return Ok(None);
    };
    let status = cluster.map(|(client, settings)| StatusMap::new(client.clone(), settings));
    let declared = Declared {
        folder: folder.clone(),
        store: store.clone(),
        schemes: schemes()?,
        status,
    };
    declared.check()?;
    Ok(Some(declared))
}

fn tournaments(
    args: &ServeArgs,
    store: Store,
    hub: Option<Arc<Hub>>,
    stop: &Stop,
) -> anyhow::Result<Tournaments<Store>> {
    let prints_moves = args.live;
    let options = TournamentOptions {
        lease: args.lease.max(LEASE / 60),
        live: prints_moves || hub.is_some(),
        // Who works elsewhere sends moves only where somebody sees them.
        live_elsewhere: match &hub {
            Some(hub) if !prints_moves => hub.is_watched(),
            _ => Arc::new(AtomicBool::new(true)),
        },
        ..TournamentOptions::default()
    };
    let (events, stop) = (args.format == Format::Json, stop.clone());
    // Those of this machine, if it plays.
    let walls = match args.concurrency {
        Some(0) => None,
        _ => Some(args.launch.around_all([])?.walls().clone()),
    };
    let new_observer = move |queued: &QueuedTournament, plan: &Arc<arena_tournament::Plan>| {
        let game = game_name(plan.kind.info().name);
        // What a contest plays is shown by the contest alone, and not by the page and its metrics.
        let hub = hub.as_ref().filter(|_| queued.contest.is_none());
        let name = match queued.contest {
            Some(_) => OF_CONTESTS,
            None => &queued.name,
        };
        let reporter = Reporter::new(&game, Some(name), events, &stop);
        let reporter = reporter.with_bots(plan, walls.as_ref());
        Arc::new(Observers {
            reporter: reporter.without_bar(),
            prints_moves,
            page: hub.map(|hub| hub.observer(name, plan)),
        }) as Arc<dyn Observer>
    };
    let new_observer = Box::new(new_observer);
    Ok(Tournaments::new(store, schemes()?, options, new_observer))
}

/// Connections to the store, whose server may start at the same time, or again meanwhile.
async fn open_store(args: &ServeArgs) -> anyhow::Result<Store> {
    args.store.open_within(SERVER_STARTS_WITHIN).await
}

/// Serves the page in a thread of its own, with connections to the store of its own.
async fn serve_page(
    args: &ServeArgs,
    page: Page,
    shares: FileShares,
    end: CancellationToken,
) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
    let store = open_store(args).await?;
    let context = match args.page.has_play() {
        false => None,
        true => launch_context(args, None, logs(args)?)
            .inspect_err(|error| {
                report::warning(&format!("nobody can play on the page: {error:#}"));
            })
            .ok(),
    };
    page::serve(&args.page, args.contest, page, store, context, shares, end)
}

/// The files that may be open, divided between those who need them.
fn file_shares(args: &ServeArgs, has_page: bool) -> anyhow::Result<FileShares> {
    let (people, viewers) = match has_page {
        true => args.page.wanted(),
        false => (0, 0),
    };
    let games = match args.concurrency {
        Some(games) => games as usize,
        None => WorkerGroup::default_concurrency(args.pin.cores()?.as_ref()),
    };
    Ok(FileShares::within_limit(FileShares {
        games,
        people,
        workers: WORKERS,
        viewers,
    }))
}

/// The workers of this process, if it is to play.
fn workers(args: &ServeArgs, games: usize) -> anyhow::Result<Option<WorkerGroup>> {
    if games == 0 {
        return Ok(None);
    }
    let context = launch_context(args, args.pin.cores()?, logs(args)?)?;
    Ok(Some(WorkerGroup::start(context, games)?))
}

/// The folder of what bots print.
fn logs(args: &ServeArgs) -> anyhow::Result<PathBuf> {
    let logs = match &args.logs {
        Some(logs) => logs.clone(),
        None => PathBuf::from("arena-runs/serve/logs"),
    };
    Ok(std::path::absolute(logs)?)
}

/// The launcher of bots on this machine, whose output goes to this folder.
pub(crate) fn launch_context(
    args: &ServeArgs,
    cores: Option<Cores>,
    logs: PathBuf,
) -> anyhow::Result<LaunchContext> {
    let hidden = args.store.files().into_iter().chain([
        logs.clone(),
        PathBuf::from("arena-runs"),
        args.page.folder(),
    ]);
    let hidden = hidden.chain(args.lobby.clone());
    let launch = LaunchOptions {
        logs: Some(logs),
        archives: Some(Arc::new(args.cache.open()?)),
        cores,
        ..args.launch.options(Some(args.launch.around_all(hidden)?))?
    };
    Ok(launch.open(std::env::current_dir()?)?)
}

/// The observers of a tournament.
struct Observers {
    reporter: Reporter,
    /// True if the reporter hears of moves.
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

/// Keeps the metrics of workers as the store has them, of what is left to be played, and of when
/// certificates end: their files may change.
async fn count(
    store: Store,
    tournaments: Arc<Tournaments<Store>>,
    settings: Settings,
    certificates: Vec<PathBuf>,
) {
    let mut known = BTreeSet::new();
    let mut away = BTreeSet::new();
    loop {
        tokio::time::sleep(Duration::from_secs(2)).await;
        metrics::certificates(&certificates);
        metrics::all_away(tournaments.away(), &mut away);
        metrics::left(&pods::chunks_left(&settings, &tournaments), &mut known);
        match store.sessions().await {
            Ok(sessions) => metrics::workers(&sessions),
            Err(error) => tracing::debug!(%error, "could not read what is known of workers"),
        }
    }
}
