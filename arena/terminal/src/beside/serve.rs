//! The arguments of `arena serve`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use arena_tournament::parse_limit;
use clap::Args;
use referee_cli::{CacheArgs, LaunchArgs, PinArgs, net::TlsListenArgs};

use super::PageArgs;
use crate::{Format, MetricsAt, StoreAt, address::parse_address};

/// An arena that plays what is queued in a store.
#[derive(Args)]
pub struct ServeArgs {
    /// Where workers reach this arena; port 0 lets the system choose.
    #[arg(
        long,
        env = "ARENA_LISTEN",
        default_value = "127.0.0.1:50060",
        value_name = "ADDRESS",
        value_parser = parse_address
    )]
    pub listen: SocketAddr,
    /// TLS for workers.
    #[command(flatten)]
    pub tls: TlsListenArgs,
    /// Let every worker in, under the name that it gives. Without this a worker needs a token
    /// (`arena workers add NAME`) or a certificate.
    #[arg(long)]
    pub open: bool,
    /// How many games this machine plays at once; 0 leaves all of them to workers [default:
    /// the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub concurrency: Option<u32>,
    /// Which games of workers are replayed before they count: all, or 1/N of them by chance.
    #[arg(long, default_value = "1/10", value_parser = parse_replays, value_name = "all|1/N")]
    pub replay: u32,
    /// How long a worker may be silent before its games are given to others.
    #[arg(long, default_value = "60s", value_parser = parse_limit)]
    pub lease: Duration,
    /// Have the Kubernetes cluster that this machine is configured for, or is in, play the
    /// tournaments that say so. The file has settings; `arena kubernetes settings` prints the
    /// defaults.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub kubernetes: Option<Option<PathBuf>>,
    /// When the arena is told to end: remove all Jobs and pods of games, for 20 s at most. Without
    /// this they stay, and the next arena goes on with them.
    #[arg(long, requires = "kubernetes")]
    pub remove: bool,
    /// Let bots that nobody can dial join here (BOT_JOIN), each with its token in this file: one
    /// line NAME TOKEN for each (`arena lobby add NAME` writes it). A bot plays as lobby:NAME, by
    /// a socket in the folder ARENA_LOBBY, or arena-runs/lobby.
    #[arg(long, value_name = "FILE")]
    pub lobby: Option<PathBuf>,
    /// Judge the contests of the store (`arena contest`): build what is handed in, in the sandbox,
    /// play its exams, and show contests on the page. With --kubernetes builds and games are pods.
    #[arg(long)]
    pub contest: bool,
    /// With --contest: a checkout of Bot Arena whose kits are built, for entries that use a kit.
    #[arg(long, value_name = "FOLDER", requires = "contest")]
    pub kits: Option<PathBuf>,
    /// The pod that this arena is in.
    #[command(flatten)]
    pub pod: PodArgs,
    /// Queue the tournament of each file *.toml in this folder, once; files that come later too.
    #[arg(long, value_name = "FOLDER")]
    pub tournaments: Option<PathBuf>,
    /// The store that is played.
    #[command(flatten)]
    pub store: StoreAt,
    /// Where archives of bots are kept.
    #[command(flatten)]
    pub cache: CacheArgs,
    /// How bots are started.
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// The cores.
    #[command(flatten)]
    pub pin: PinArgs,
    /// Where the output of bots on this machine goes [default: arena-runs/serve/logs].
    #[arg(long)]
    pub logs: Option<PathBuf>,
    /// How long games on this machine may go on after SIGTERM before they are cut off.
    #[arg(long, default_value = "10s", value_parser = parse_limit)]
    pub grace: Duration,
    /// Where metrics are served.
    #[command(flatten)]
    pub metrics: MetricsAt,
    /// Tell over plain HTTP whether this arena works, for probes: http://ADDRESS/healthz and
    /// /readyz.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub health: Option<SocketAddr>,
    /// The web page.
    #[command(flatten)]
    pub page: PageArgs,
    /// With --format json: print the public moves of running games too, where no hands are
    /// hidden.
    #[arg(long)]
    pub live: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The pod that an arena is in: what is built for contests belongs to it, and lets in nobody else.
#[derive(Args)]
pub struct PodArgs {
    /// Its name.
    #[arg(long = "pod-name", env = "POD_NAME", hide = true)]
    pub name: Option<String>,
    /// Its number in the cluster.
    #[arg(long = "pod-uid", env = "POD_UID", hide = true)]
    pub uid: Option<String>,
    /// Its address.
    #[arg(long = "pod-ip", env = "POD_IP", hide = true)]
    pub ip: Option<String>,
}

/// The share of games that are replayed, as one in so many.
fn parse_replays(text: &str) -> Result<u32, String> {
    let one_in = match text {
        "all" => Some(1),
        share => share.strip_prefix("1/").and_then(|n| n.parse().ok()),
    };
    one_in
        .filter(|n| *n > 0)
        .ok_or_else(|| "expected all, or a share as in 1/10".to_owned())
}
