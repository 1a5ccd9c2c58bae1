//! A listener within bounds: TLS, the number of connections, and the time that each has to
//! begin. `page.rs` serves HTTP/1.1 on it, everything else speaks HTTP/2.

use std::{
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    Stream, StreamExt as _,
    future::BoxFuture,
    stream::{self, FuturesUnordered},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until, timeout},
};
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::either::Either;
use tonic::transport::{Server, server::Connected};
use tower::layer::util::{Identity, Stack};

use crate::{
    budget::Budget,
    tls::{PeerCertificate, ServerTls},
};

/// The first bytes of a client (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Pause after a connection could not be accepted: at the limit of open files the next one
/// can't be accepted either.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Shortest interval between two logs of one kind of trouble: others may cause it as often as
/// they like.
const REMARK_INTERVAL: Duration = Duration::from_secs(10);
/// Most bytes that a client may send on one stream before we have read them.
const STREAM_WINDOW: u32 = 256 * 1024;
/// Most bytes that a client may send on one connection before we have read them. All
/// connections together may have as many of them waiting as there may be connections.
const CONNECTION_WINDOW: u32 = STREAM_WINDOW;

/// Bounds of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most connections that are open at once, with those whose handshake is under way. Further
    /// ones are closed at once.
    pub connections: usize,
    /// Most calls that are open at once on one connection. Clients hold further ones back.
    pub streams_per_connection: u32,
    /// The largest list of headers of one call, in bytes. A call with more is refused.
    pub header_bytes: u32,
    /// The largest message, in bytes: hand it to each service as its
    /// `max_decoding_message_size`.
    pub message_bytes: usize,
    /// The largest message of single methods, by their path, in bytes: those that callers need
    /// credentials for. What they may have in memory is not taken by others.
    pub messages: Vec<(&'static str, usize)>,
    /// Most bytes that the messages of all calls may have in memory, over all connections. One
    /// caller may have a quarter of them; methods that are not listed a sixteenth.
    pub bytes_in_flight: usize,
    /// Longest time until a message has come. A call whose message takes longer is ended.
    pub body: Duration,
    /// Longest time of a connection for the TLS handshake and the beginning of HTTP/2. One that
    /// takes longer is closed.
    pub handshake: Duration,
    /// After this time without a word a client is asked whether it is there, and has the
    /// same time to answer. A connection without an answer is closed.
    pub idle: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1024,
            streams_per_connection: 1024,
            header_bytes: 16 * 1024,
            message_bytes: 4 * 1024 * 1024,
            messages: Vec::new(),
            bytes_in_flight: 64 * 1024 * 1024,
            body: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }
}

impl Bounds {
    /// A server that keeps to them. A call may last as long as it likes: games are streams.
    #[must_use]
    pub fn server(&self) -> Server<Stack<Budget, Identity>> {
        Server::builder()
            .layer(Budget::new(self))
            .max_concurrent_streams(self.streams_per_connection)
            .concurrency_limit_per_connection(self.streams_per_connection as usize)
            .http2_max_header_list_size(self.header_bytes)
            .http2_keepalive_interval(Some(self.idle))
            .http2_keepalive_timeout(Some(self.idle))
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
    }
}

/// The other end of a connection. A handler finds it in its request:
/// `request.extensions().get::<Peer>()`.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Its address, where it has one.
    pub address: Option<SocketAddr>,
    /// The certificate that it has shown, where the listener wants one.
    pub certificate: Option<PeerCertificate>,
}

/// A connection that has begun, over TLS where the listener has it.
pub struct Incoming<S> {
    stream: Transport<S>,
    /// The part of the preface that is still to be handed on: it was read to see that it comes.
    preface: &'static [u8],
    peer: Peer,
    /// Room for another connection when this one is dropped.
    _room: OwnedSemaphorePermit,
}

/// A stream without TLS, or one with it.
type Transport<S> = Either<S, Box<TlsStream<S>>>;

/// The connections to a listener. See [`incoming_from`].
pub fn incoming(
    listener: TcpListener,
    tls: Option<ServerTls>,
    bounds: &Bounds,
) -> impl Stream<Item = io::Result<Incoming<TcpStream>>> + Send + use<> {
    incoming_from(accepted(listener), tls, bounds)
}

/// The connections to a listener of HTTP/1.1: at most so many at once, each with so much time
/// for the TLS handshake. What they say first is not looked at.
pub fn incoming_http_1(
    listener: TcpListener,
    tls: Option<ServerTls>,
    connections: usize,
    handshake: Duration,
) -> impl Stream<Item = Incoming<TcpStream>> + Send + use<> {
    let accepted = accepted(listener);
    Accepting::new(accepted, Protocol::Http1, tls, connections, handshake).stream()
}

/// Those connections that do the TLS handshake in time, at most so many at once. What they say
/// then is not looked at: whoever gets it speaks HTTP/2.
pub(crate) fn incoming_unread<A>(
    accepted: A,
    tls: ServerTls,
    connections: usize,
    handshake: Duration,
) -> impl Stream<Item = Incoming<TcpStream>> + Send + use<A>
where
    A: Stream<Item = io::Result<(TcpStream, Option<SocketAddr>)>> + Send,
{
    let tls = Some(tls);
    Accepting::new(accepted, Protocol::Unread, tls, connections, handshake).stream()
}

/// Those connections of any kind that begin to speak HTTP/2 in time, with TLS where that is
/// given. Handshakes run side by side. A connection that fails is logged and is no end: there
/// is one where `accepted` ends.
pub fn incoming_from<A, S>(
    accepted: A,
    tls: Option<ServerTls>,
    bounds: &Bounds,
) -> impl Stream<Item = io::Result<Incoming<S>>> + Send + use<A, S>
where
    A: Stream<Item = io::Result<(S, Option<SocketAddr>)>> + Send,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (connections, handshake) = (bounds.connections, bounds.handshake);
    let accepting = Accepting::new(accepted, Protocol::Http2, tls, connections, handshake);
    accepting.stream().map(Ok)
}

/// The protocol of a listener.
#[derive(Clone, Copy)]
enum Protocol {
    Http1,
    Http2,
    /// HTTP/2, for somebody behind us.
    Unread,
}

struct Accepting<A, S> {
    /// Nothing after its end.
    accepted: Option<Pin<Box<A>>>,
    handshakes: FuturesUnordered<BoxFuture<'static, Handshake<S>>>,
    room: Arc<Semaphore>,
    protocol: Protocol,
    tls: Option<ServerTls>,
    connections: usize,
    within: Duration,
    /// Nothing is accepted before.
    paused_until: Option<Instant>,
    remarks: Remarks,
}

/// A connection that is ready, or who failed and why.
type Handshake<S> = Result<Incoming<S>, (Option<SocketAddr>, io::Error)>;

/// Times of the last log of each kind of trouble.
#[derive(Default)]
struct Remarks {
    accept: RemarkLimiter,
    full: RemarkLimiter,
    handshake: RemarkLimiter,
}

/// One kind of trouble.
#[derive(Default)]
pub(crate) struct RemarkLimiter {
    last: Option<Instant>,
    left_out: u64,
}

impl<A, S> Accepting<A, S>
where
    A: Stream<Item = io::Result<(S, Option<SocketAddr>)>> + Send,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    fn new(
        accepted: A,
        protocol: Protocol,
        tls: Option<ServerTls>,
        connections: usize,
        within: Duration,
    ) -> Self {
        Self {
            accepted: Some(Box::pin(accepted)),
            handshakes: FuturesUnordered::new(),
            room: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
            protocol,
            tls,
            connections,
            within,
            paused_until: None,
            remarks: Remarks::default(),
        }
    }

    /// All connections that get ready.
    fn stream(self) -> impl Stream<Item = Incoming<S>> + Send {
        stream::unfold(self, |mut accepting| async move {
            let next = accepting.next().await?;
            Some((next, accepting))
        })
    }

    /// The next connection that is ready.
    async fn next(&mut self) -> Option<Incoming<S>> {
        loop {
            let is_open = self.accepted.is_some();
            let accepted = &mut self.accepted;
            let paused_until = self.paused_until;
            let next = async {
                if let Some(until) = paused_until {
                    sleep_until(until).await;
                }
                match accepted {
                    Some(accepted) => accepted.next().await,
                    None => None,
                }
            };
            tokio::select! {
                Some(done) = self.handshakes.next() => match done {
                    Ok(ready) => return Some(ready),
                    Err((from, error)) => self.remarks.handshake.make(|left_out| {
                        tracing::warn!(
                            from = %shown(from), %error, left_out,
                            "a connection did not begin as it should, or was not let in"
                        );
                    }),
                },
                accepted = next, if is_open => {
                    self.paused_until = None;
                    match accepted {
                        Some(Ok((stream, from))) => self.begin(stream, from),
                        Some(Err(error)) => {
                            self.paused_until = Some(Instant::now() + ACCEPT_PAUSE);
                            self.remarks.accept.make(|left_out| {
                                tracing::warn!(%error, left_out, "could not accept a connection");
                            });
                        }
                        None => self.accepted = None,
                    }
                }
                else => return None,
            }
        }
    }

    fn begin(&mut self, stream: S, address: Option<SocketAddr>) {
        let Ok(room) = self.room.clone().try_acquire_owned() else {
            let connections = self.connections;
            self.remarks.full.make(|left_out| {
                tracing::warn!(
                    from = %shown(address), left_out,
                    "closed a connection: {connections} are open, which is as many as there may be"
                );
            });
            return;
        };
        let (protocol, tls, within) = (self.protocol, self.tls.clone(), self.within);
        self.handshakes.push(Box::pin(async move {
            let begun = timeout(within, begun(stream, protocol, tls)).await;
            let begun = begun.unwrap_or_else(|_| {
                let words = format!("it took more than {within:?} to begin");
                Err(io::Error::new(io::ErrorKind::TimedOut, words))
            });
            let (stream, certificate) = begun.map_err(|error| (address, error))?;
            Ok(Incoming {
                stream,
                preface: match protocol {
                    Protocol::Http1 | Protocol::Unread => &[],
                    Protocol::Http2 => PREFACE,
                },
                peer: Peer {
                    address,
                    certificate,
                },
                _room: room,
            })
        }));
    }
}

/// The connections that a listener takes, with the addresses of those who connect.
pub(crate) fn accepted(
    listener: TcpListener,
) -> impl Stream<Item = io::Result<(TcpStream, Option<SocketAddr>)>> + Send {
    TcpListenerStream::new(listener).map(|accepted| {
        let stream = accepted?;
        // Else small messages wait for each other. A connection that broke already has no
        // address any more, and its handshake will say so.
        let _ = stream.set_nodelay(true);
        let address = stream.peer_addr().ok();
        Ok((stream, address))
    })
}

/// Does the TLS handshake, if there is one, and reads the preface of HTTP/2.
async fn begun<S>(
    stream: S,
    protocol: Protocol,
    tls: Option<ServerTls>,
) -> io::Result<(Transport<S>, Option<PeerCertificate>)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut stream, certificate) = match tls {
        None => (Either::Left(stream), None),
        Some(tls) => {
            let stream = match protocol {
                Protocol::Http1 => tls.accept_http_1(stream).await?,
                Protocol::Http2 | Protocol::Unread => tls.accept(stream).await?,
            };
            let certificate = PeerCertificate::of(&stream);
            (Either::Right(Box::new(stream)), certificate)
        }
    };
    if let Protocol::Http1 | Protocol::Unread = protocol {
        return Ok((stream, certificate));
    }
    let mut said = [0; PREFACE.len()];
    stream.read_exact(&mut said).await?;
    if said == *PREFACE {
        return Ok((stream, certificate));
    }
    // The first byte of a TLS handshake (RFC 8446, section 5.1).
    let words = match said[0] {
        0x16 => "expected HTTP/2 without TLS, found TLS: connect to http://, not https://",
        _ => "expected HTTP/2, as gRPC speaks it, found something else",
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, words))
}

pub(crate) fn shown(address: Option<SocketAddr>) -> String {
    address.map_or_else(|| "an unknown address".to_owned(), |one| one.to_string())
}

impl RemarkLimiter {
    /// Makes it, with how many were left out since the last one; or leaves it out.
    pub(crate) fn make(&mut self, make: impl FnOnce(u64)) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < REMARK_INTERVAL) {
            self.left_out += 1;
            return;
        }
        self.last = Some(now);
        make(std::mem::take(&mut self.left_out));
    }
}

impl<S> Incoming<S> {
    /// The other end of the connection.
    pub const fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl<S> Connected for Incoming<S> {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl<S> fmt::Debug for Incoming<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Incoming<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.preface.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let (now, later) = self
            .preface
            .split_at(self.preface.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.preface = later;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Incoming<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
