//! gRPC over the simulated network: what a tonic server listens with, and what a tonic
//! client connects with.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::stream::{self, Stream};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::{
    Channel, Endpoint, Error, Server, Uri,
    server::{Connected, TcpConnectInfo},
};
use tower::Service;
use turmoil::net::{TcpListener, TcpStream};

/// Time that a connection is silent before it is asked for a sign of life, and time that it then
/// has. Without this nobody notices a message that was lost: the simulated TCP sends nothing again,
/// so that a connection which has lost a message is stuck for good.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// A server that notices when a client is gone.
pub fn server() -> Server {
    Server::builder()
        .http2_keepalive_interval(Some(SIGN_OF_LIFE))
        .http2_keepalive_timeout(Some(SIGN_OF_LIFE))
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

/// The connections of one host, from its start to its end.
///
/// They are listed so that they can be closed in order when the process is killed: the
/// order in which tokio drops the tasks of a runtime differs from run to run, and each
/// message that closes a connection draws how long it is under way.
#[derive(Clone, Default)]
pub struct HostNetwork {
    open: Arc<Mutex<Opened>>,
}

#[derive(Default)]
struct Opened {
    sockets: Vec<Weak<SharedSocket>>,
    /// Number of connections so far.
    number: u64,
    heard: Option<ArrivalListener>,
}

/// A listener, told of what arrives: the number of the connection, and the bytes.
type ArrivalListener = Arc<dyn Fn(u64, &[u8]) + Send + Sync>;

/// None when it has been closed by [`HostNetwork::close`].
type SharedSocket = Mutex<Option<TcpStream>>;

impl HostNetwork {
    /// The connections that come in at a port of this host, for
    /// [`serve_with_incoming`](tonic::transport::server::Router::serve_with_incoming).
    ///
    /// # Errors
    ///
    /// The port is taken.
    pub async fn incoming(
        &self,
        port: u16,
    ) -> io::Result<impl Stream<Item = io::Result<SimulatedConnection>> + Send + 'static> {
        let listener = TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), port)).await?;
        let start = (listener, self.clone());
        Ok(stream::unfold(start, |(listener, network)| async move {
            let accepted = listener.accept().await;
            let connection = accepted.map(|(stream, _)| network.add(stream));
            Some((connection, (listener, network)))
        }))
    }

    /// Connects over the simulated network.
    ///
    /// # Errors
    ///
    /// Nobody listens there, or the network is cut.
    pub async fn connect(&self, endpoint: &Endpoint) -> Result<Channel, Error> {
        endpoint.connect_with_connector(self.connector()).await
    }

    /// The same at the first call, and again after a connection has failed.
    #[must_use]
    pub fn connect_lazy(&self, endpoint: &Endpoint) -> Channel {
        endpoint.connect_with_connector_lazy(self.connector())
    }

    /// Calls a function with everything that arrives over connections that are opened from
    /// now on: the number of the connection, and the bytes.
    pub fn listen_in(&self, heard: impl Fn(u64, &[u8]) + Send + Sync + 'static) {
        self.open.lock().heard = Some(Arc::new(heard));
    }

    /// Closes all connections in the order in which they were opened. It must be called on
    /// the host.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut self.open.lock().sockets);
        for socket in open.iter().filter_map(Weak::upgrade) {
            drop(socket.lock().take());
        }
    }

    fn connector(
        &self,
    ) -> impl Service<
        Uri,
        Response = TokioIo<SimulatedConnection>,
        Error = io::Error,
        Future = impl Future<Output = io::Result<TokioIo<SimulatedConnection>>> + Send + 'static,
    > + Send
    + 'static {
        let network = self.clone();
        tower::service_fn(move |to: Uri| {
            let network = network.clone();
            async move {
                let port = to.port_u16().unwrap_or(80);
                let host = to.host().unwrap_or_default().to_owned();
                let stream = TcpStream::connect((host, port)).await?;
                Ok(TokioIo::new(network.add(stream)))
            }
        })
    }

    fn add(&self, stream: TcpStream) -> SimulatedConnection {
        let info = TcpConnectInfo {
            local_addr: stream.local_addr().ok(),
            remote_addr: stream.peer_addr().ok(),
        };
        let socket = Arc::new(Mutex::new(Some(stream)));
        let mut open = self.open.lock();
        open.sockets.retain(|socket| socket.strong_count() > 0);
        open.sockets.push(Arc::downgrade(&socket));
        open.number += 1;
        let (number, heard) = (open.number, open.heard.clone());
        SimulatedConnection {
            socket,
            info,
            number,
            heard,
        }
    }
}

/// A connection, from either end.
pub struct SimulatedConnection {
    socket: Arc<SharedSocket>,
    info: TcpConnectInfo,
    number: u64,
    heard: Option<ArrivalListener>,
}

impl SimulatedConnection {
    /// Hands it to `poll`, unless it has been closed.
    fn with<T>(
        &self,
        poll: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut *self.socket.lock() {
            Some(stream) => poll(Pin::new(stream)),
            None => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }
}

impl Connected for SimulatedConnection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.info.clone()
    }
}

impl AsyncRead for SimulatedConnection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.with(|stream| stream.poll_read(context, buffer));
        let new = &buffer.filled()[before..];
        if let Some(heard) = &self.heard
            && !new.is_empty()
        {
            heard(self.number, new);
        }
        read
    }
}

impl AsyncWrite for SimulatedConnection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}

impl fmt::Debug for HostNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open.lock().sockets.len();
        f.debug_struct("Network").field("open", &open).finish()
    }
}

impl fmt::Debug for SimulatedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
