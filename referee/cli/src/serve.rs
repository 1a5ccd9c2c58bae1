//! The referee as a service: where it listens, whom it lets in, which bots it dials.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use referee::{ServeOptions, ServiceAccess, referee_threads};
use referee_net::{Bounds, ServerTls};
use tokio_util::sync::CancellationToken;

use crate::{
    End,
    net::{BotDialArgs, TlsListenArgs, TokenListenArgs},
    stop::EndSignals,
    text::say,
};

/// A server that plays the games that it is asked for.
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 lets the system choose.
    #[arg(long, env = "REFEREE_LISTEN", default_value = "127.0.0.1:50050")]
    listen: String,
    /// How many threads to play games on [default: half of the number of cores].
    #[arg(long, env = "REFEREE_THREADS")]
    threads: Option<usize>,
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

impl ServeArgs {
    /// Serves until SIGTERM or SIGINT.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let access = self.access()?;
        let is_open = access.tokens.is_none()
            && !access
                .tls
                .as_ref()
                .is_some_and(ServerTls::wants_certificates);
        let serve = ServeOptions {
            threads: self.threads.unwrap_or_else(referee_threads),
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
        let mut signals = EndSignals::listen()?;
        let stopping = stop.clone();
        tokio::spawn(async move {
            signals.next().await;
            tracing::info!("stopping: no new games");
            stopping.cancel();
        });
        say(&format!("listening on tcp:{address}"))?;
        serve.run(listener, stop).await?;
        Ok(End::Done)
    }

    /// The callers that are let in, and the bots that may be dialled.
    fn access(&self) -> anyhow::Result<ServiceAccess> {
        let standard = Bounds::default();
        // One client may have as many games as there are to be, and asks for health besides.
        let streams = u32::try_from(self.max_games).unwrap_or(u32::MAX);
        let streams = streams.saturating_add(16);
        Ok(ServiceAccess {
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
