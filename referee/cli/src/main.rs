//! `referee`: plays the games that it is asked to play.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use referee::{Access, Serve, referee_threads};
use referee_bots::SpecError;
use referee_cli::{
    End, GateArgs, Hidden, SocketsArgs, TryAgain, Usage, WorkArgs,
    net::{BotDialArgs, TlsListenArgs, TokenListenArgs},
    on_runtime, usage, write_termination_message,
};
use referee_net::{Bounds, ServerTls, Token, TokenError};
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
    /// Serve `arena.v1.Referee/PlayGame`, health and reflection
    Serve(Box<ServeArgs>),
    /// Play what an arena hands out, until it is stopped
    Work(Box<WorkArgs>),
    /// Let clients with a certificate reach a bot's Unix socket over TLS
    Gate(Box<GateArgs>),
    /// Let every user connect to sockets that this user's bot makes
    Sockets(SocketsArgs),
    /// Write a new token to a new file that only you may read
    Token {
        /// The file.
        file: PathBuf,
    },
    #[command(flatten)]
    Hidden(Hidden),
}

#[derive(Args)]
struct ServeArgs {
    /// Where to listen; port 0 lets the system choose.
    #[arg(long, env = "REFEREE_LISTEN", default_value = "127.0.0.1:50050")]
    listen: String,
    /// How many threads to play games on.
    #[arg(long, env = "REFEREE_THREADS", default_value_t = referee_threads())]
    threads: usize,
    /// How many games to play at once; further ones are refused.
    #[arg(long, env = "REFEREE_MAX_GAMES", default_value_t = 1024)]
    max_games: usize,
    /// How long games that are running may go on after SIGTERM or SIGINT.
    #[arg(long, env = "REFEREE_GRACE", default_value = "30s", value_parser = humantime::parse_duration)]
    grace: Duration,
    #[command(flatten)]
    tls: TlsListenArgs,
    #[command(flatten)]
    tokens: TokenListenArgs,
    #[command(flatten)]
    bots: BotDialArgs,
}

fn main() -> ExitCode {
    if let Some(code) = Hidden::enter_sandbox() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if error.use_stderr() {
                write_termination_message(&error.to_string());
            }
            error.exit();
        }
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()),
        )
        .init();
    let ended = match arguments.verb {
        Verb::Serve(serve) => on_runtime(serve.run()),
        Verb::Token { file } => new_token(&file),
        Verb::Work(work) => on_runtime(work.run()),
        Verb::Gate(gate) => on_runtime(gate.run()),
        Verb::Sockets(sockets) => on_runtime(sockets.run()),
        Verb::Hidden(verb) => verb.run(),
    };
    match ended {
        Ok(end) => end.into(),
        Err(error) => {
            let words = format!("referee: {error:#}");
            anstream::eprintln!("{words}");
            write_termination_message(&words);
            let end = if error.is::<Usage>() || error.is::<SpecError>() {
                End::Usage
            } else if error.is::<TryAgain>() {
                End::TryAgain
            } else {
                End::Failed
            };
            end.into()
        }
    }
}

impl ServeArgs {
    async fn run(self) -> anyhow::Result<End> {
        let access = self.access()?;
        let is_open = access.tokens.is_none()
            && !access
                .tls
                .as_ref()
                .is_some_and(ServerTls::wants_certificates);
        let serve = Serve {
            threads: self.threads,
            max_games: self.max_games,
            grace: self.grace,
            access,
        };
        let listen = self.listen;
        let listener = tokio::net::TcpListener::bind(&listen)
            .await
            .with_context(|| {
                format!("could not listen on {listen}: expected HOST:PORT with a free port")
            })?;
        let address = listener.local_addr()?;
        if !address.ip().to_canonical().is_loopback() {
            warn_of_strangers(is_open, self.bots.has_list());
        }
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
        println!("listening on tcp:{address}");
        serve.run(listener, stop).await?;
        Ok(End::Done)
    }

    /// Who may call, and which bots may be dialled.
    fn access(&self) -> anyhow::Result<Access> {
        let standard = Bounds::default();
        // One client may have as many games as there are to be, and asks for health besides.
        let streams = u32::try_from(self.max_games).unwrap_or(u32::MAX);
        let streams = streams.saturating_add(16);
        Ok(Access {
            tls: self.tls.load()?,
            tokens: self.tokens.load()?,
            bots: self.bots.load()?,
            bounds: Bounds {
                streams_per_connection: standard.streams_per_connection.max(streams),
                ..standard
            },
        })
    }
}

/// Says what people on other machines can do here.
fn warn_of_strangers(is_open: bool, has_list: bool) {
    if is_open {
        tracing::warn!(
            "whoever reaches this port can have games played: give --token-file, or --tls-cert, \
             --tls-key and --tls-client-ca"
        );
    }
    if is_open && !has_list {
        tracing::warn!(
            "whoever can have games played can make this machine dial any address: say with \
             --bots where bots are"
        );
    }
}

fn new_token(file: &Path) -> anyhow::Result<End> {
    let written = Token::generate().and_then(|token| {
        token.write_new(file)?;
        Ok(token)
    });
    match written {
        Ok(token) => {
            println!("wrote a new token to {}", file.display());
            println!(
                "its SHA-256, by which a server may know it: {}",
                token.hash()
            );
            Ok(End::Done)
        }
        Err(error @ TokenError::File { .. }) => usage(error.to_string()),
        Err(error) => Err(error.into()),
    }
}
