//! The gate of a pod: TLS in front of a bot that listens on a Unix socket.

use std::{net::IpAddr, time::Duration};

use anyhow::Context as _;
use clap::Args;
use referee::Address;
use referee_net::Gate;

use crate::{End, net::TlsListenArgs, stop, text::say, usage};

/// Where a gate listens, and what is behind it.
#[derive(Args, Clone, Debug)]
pub struct GateArgs {
    /// Where to listen; port 0 lets the system choose.
    #[arg(long, env = "GATE_LISTEN", default_value = "0.0.0.0:50051")]
    listen: String,
    /// The socket of the bot: unix:PATH. Where nothing takes a connection there, the client's is
    /// closed after its handshake.
    #[arg(long, env = "GATE_TO", value_name = "ADDRESS")]
    to: Address,
    /// Let in only these addresses, besides the certificate that each client shows.
    #[arg(
        long,
        env = "GATE_FROM",
        value_name = "IP",
        num_args = 1..,
        value_delimiter = ','
    )]
    from: Vec<IpAddr>,
    #[command(flatten)]
    tls: TlsListenArgs,
    /// How long connections that are open may last after SIGTERM or SIGINT.
    #[arg(
        long,
        env = "GATE_GRACE",
        value_name = "TIME",
        default_value = "3s",
        value_parser = humantime::parse_duration
    )]
    grace: Duration,
}

impl GateArgs {
    /// Passes bytes on, until SIGTERM or SIGINT.
    ///
    /// # Errors
    ///
    /// A file for TLS is wrong or missing, or the address can't be listened on.
    pub async fn run(self) -> anyhow::Result<End> {
        let Address::Unix(to) = self.to else {
            return usage(format!(
                "--to {}: expected the bot's Unix socket, as in unix:/run/bot/bot.sock",
                self.to
            ));
        };
        let tls = self.tls.load()?;
        let Some(tls) = tls.filter(referee_net::ServerTls::wants_certificates) else {
            return usage(
                "a gate lets in only clients that show a certificate: give --tls-cert, --tls-key \
                 and --tls-client-ca",
            );
        };
        let stop = stop::at_once_on_signals()?;
        let listen = self.listen;
        let listener = tokio::net::TcpListener::bind(&listen)
            .await
            .with_context(|| {
                format!("could not listen on {listen}: expected HOST:PORT with a free port")
            })?;
        say(&format!("listening on tcp:{}", listener.local_addr()?))?;
        let gate = Gate::new(tls, self.from, to);
        gate.serve(listener, stop.cutting_off(), self.grace).await;
        Ok(End::Done)
    }
}
