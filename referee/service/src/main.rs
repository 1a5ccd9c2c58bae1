//! `referee serve`: plays the games that it is asked to play.

use std::{io::IsTerminal as _, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use referee::Serve;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Plays games between bots over gRPC and says who broke which rule.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example:\n  referee serve --listen 0.0.0.0:50050"
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Serve `arena.v1.Referee/PlayGame`, health and reflection.
    Serve {
        /// Where to listen; port 0 lets the system choose.
        #[arg(long, env = "REFEREE_LISTEN", default_value = "127.0.0.1:50050")]
        listen: String,
        /// How many threads to play games on.
        #[arg(long, env = "REFEREE_THREADS", default_value_t = default_threads())]
        threads: usize,
        /// How many games to play at once; further ones are refused.
        #[arg(long, env = "REFEREE_MAX_GAMES", default_value_t = 1024)]
        max_games: usize,
        /// How long games that are running may go on after SIGTERM or SIGINT.
        #[arg(long, env = "REFEREE_GRACE", default_value = "30s", value_parser = humantime::parse_duration)]
        grace: Duration,
    },
}

/// Half of the cores: the bots need the others.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()),
        )
        .init();
    let Verb::Serve {
        listen,
        threads,
        max_games,
        grace,
    } = Arguments::parse().verb;
    let serve = Serve {
        threads,
        max_games,
        grace,
    };
    match run(&listen, serve).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("referee: {error:#}");
            ExitCode::from(3)
        }
    }
}

async fn run(listen: &str, serve: Serve) -> anyhow::Result<()> {
    // What decides the deals is in our memory, and bots may run as the same
    // user.
    nix::sys::prctl::set_dumpable(false)?;
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .with_context(|| {
            format!("could not listen on {listen}: expected HOST:PORT with a free port")
        })?;
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: no new games");
        stopping.cancel();
    });
    println!("listening on tcp:{}", listener.local_addr()?);
    serve.run(listener, stop).await?;
    Ok(())
}
