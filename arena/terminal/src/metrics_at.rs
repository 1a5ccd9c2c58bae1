//! Address at which a verb serves metrics.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use referee_cli::usage;
use referee_net::{ServerTls, TlsFiles};
use tokio::net::TcpListener;

use crate::{address::parse_address, metrics, report};

/// Where metrics are served, if they are. TLS is apart from that of workers: whoever reads
/// metrics is no worker.
#[derive(Args)]
pub struct MetricsAt {
    /// Serve metrics for Prometheus at http://ADDRESS/metrics.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    metrics: Option<SocketAddr>,
    /// Serve them at https://ADDRESS/metrics: the server's certificate, as PEM. The files are
    /// read again when they change.
    #[arg(long, value_name = "FILE", requires_all = ["metrics", "metrics_tls_key"])]
    metrics_tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "metrics_tls_cert")]
    metrics_tls_key: Option<PathBuf>,
    /// Serve metrics only to clients that show a certificate of this certificate authority.
    #[arg(long, value_name = "FILE", requires = "metrics_tls_cert")]
    metrics_tls_client_ca: Option<PathBuf>,
}

/// Listener at which metrics will be served.
pub struct MetricsListener {
    listener: TcpListener,
    tls: Option<ServerTls>,
}

impl MetricsAt {
    /// Listens if there are to be metrics, so that a mistake is told before anything else is
    /// done.
    pub async fn listen(&self) -> anyhow::Result<Option<MetricsListener>> {
        let Some(address) = self.metrics else {
            return Ok(None);
        };
        let tls = self.tls()?;
        if tls.is_none() && !address.ip().is_loopback() {
            report::warning(
                "everybody who reaches it can read the metrics, without TLS: give \
                 --metrics-tls-cert, --metrics-tls-key and --metrics-tls-client-ca (`arena certs` \
                 makes them), or listen on 127.0.0.1",
            );
        }
        match TcpListener::bind(address).await {
            Ok(listener) => Ok(Some(MetricsListener { listener, tls })),
            Err(error) => usage(format!("--metrics {address}: {error}")),
        }
    }

    /// The certificate that is shown, if one is.
    #[must_use]
    pub const fn certificate(&self) -> Option<&PathBuf> {
        self.metrics_tls_cert.as_ref()
    }

    fn tls(&self) -> anyhow::Result<Option<ServerTls>> {
        let (Some(certificate), Some(key)) = (&self.metrics_tls_cert, &self.metrics_tls_key) else {
            return Ok(None);
        };
        let loaded = ServerTls::load(TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: self.metrics_tls_client_ca.clone(),
        });
        loaded.map(Some).or_else(|error| usage(error.to_string()))
    }
}

impl MetricsListener {
    /// Serves metrics from now on.
    pub fn serve(self) -> anyhow::Result<()> {
        metrics::serve(self.listener, self.tls)
    }
}
