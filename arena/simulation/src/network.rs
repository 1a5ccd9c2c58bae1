//! gRPC over the simulated network: what a tonic server listens with, and what a tonic
//! client connects with.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::stream::{self, Stream};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::{
    Channel, Endpoint, Error, Server, Uri,
    server::{Connected, TcpConnectInfo},
};
use turmoil::net::{TcpListener, TcpStream};

/// How long a connection is silent before it is asked for a sign of life, and how long it
/// then has. Without this nobody notices a message that was lost: the simulated TCP
/// sends nothing again, so that a connection which has lost a message is stuck for good.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// A server that notices when a client is gone.
pub fn server() -> Server {
    Server::builder()
        .http2_keepalive_interval(Some(SIGN_OF_LIFE))
        .http2_keepalive_timeout(Some(SIGN_OF_LIFE))
}

/// The connections that come in at a port of this host, for
/// [`serve_with_incoming`](tonic::transport::server::Router::serve_with_incoming).
///
/// # Errors
///
/// The port is taken.
pub async fn incoming(
    port: u16,
) -> io::Result<impl Stream<Item = io::Result<Connection>> + Send + 'static> {
    let listener = TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), port)).await?;
    Ok(stream::unfold(listener, |listener| async move {
        let accepted = listener.accept().await;
        Some((accepted.map(|(stream, _)| Connection(stream)), listener))
    }))
}

/// An endpoint for a port of a host, which notices when the server is gone.
///
/// # Errors
///
/// The name of the host is none.
pub fn endpoint(host: &str, port: u16) -> Result<Endpoint, Error> {
    Ok(Endpoint::from_shared(format!("http://{host}:{port}"))?
        .connect_timeout(2 * SIGN_OF_LIFE)
        .http2_keep_alive_interval(SIGN_OF_LIFE)
        .keep_alive_timeout(SIGN_OF_LIFE)
        .keep_alive_while_idle(true))
}

/// Connects over the simulated network.
///
/// # Errors
///
/// Nobody listens there, or the network is cut.
pub async fn connect(endpoint: &Endpoint) -> Result<Channel, Error> {
    endpoint
        .connect_with_connector(tower::service_fn(dial))
        .await
}

/// The same at the first call, and again after a connection has failed.
#[must_use]
pub fn connect_lazy(endpoint: &Endpoint) -> Channel {
    endpoint.connect_with_connector_lazy(tower::service_fn(dial))
}

async fn dial(to: Uri) -> io::Result<TokioIo<TcpStream>> {
    let port = to.port_u16().unwrap_or(80);
    let host = to.host().unwrap_or_default().to_owned();
    Ok(TokioIo::new(TcpStream::connect((host, port)).await?))
}

/// A connection that has come in.
#[derive(Debug)]
pub struct Connection(TcpStream);

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        TcpConnectInfo {
            local_addr: self.0.local_addr().ok(),
            remote_addr: self.0.peer_addr().ok(),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
