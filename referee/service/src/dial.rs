//! The dialling of a bot's address: with or without TLS, and only if that is allowed.

use std::{borrow::Cow, io, os::unix::fs::FileTypeExt as _, path::Path, sync::Arc, time::Duration};

use referee_net::{AllowList, ClientTls};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, duplex},
    net::{TcpStream, UnixStream},
    sync::mpsc,
};

use crate::{address::Address, proc::belongs_to};

/// Number of bytes that wait at each end of a pipe in memory, as in a Unix socket.
const PIPE: usize = 64 * 1024;
/// Pause where a listener's queue is full.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// Settings for dialling bots that run somewhere.
#[derive(Clone, Debug, Default)]
pub struct BotDial {
    /// The authorities that we trust at `grpcs://` addresses, and the certificate that we
    /// show there. Without TLS files such addresses are refused.
    pub tls: Option<ClientTls>,
    /// The addresses that may be dialled; all of them, if there is no list.
    pub allowed: Option<Arc<AllowList>>,
    /// The user whose process must listen at a Unix socket; any user's may, if there is none.
    pub user: Option<u32>,
    /// For bots that are tasks of this process: every connection is a pipe in memory, whose
    /// other end is sent here, whatever the address is.
    pub pipes: Option<mpsc::UnboundedSender<DuplexStream>>,
}

pub(crate) trait BotSocket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> BotSocket for S {}

impl BotDial {
    /// Checks that this address may be dialled now. [`BotDial::open`] looks again at what it
    /// dials: a name may lead elsewhere by then.
    ///
    /// # Errors
    ///
    /// Why it is refused. That it can't be reached is no reason.
    pub(crate) async fn check(&self, address: &Address) -> Result<(), String> {
        if matches!(address, Address::Tls(_)) {
            self.tls().map_err(|error| error.to_string())?;
        }
        let Some(allowed) = &self.allowed else {
            return Ok(());
        };
        let found = match address {
            Address::Unix(path) => allowed.socket(path).map(|_| ()),
            Address::Tcp(authority) | Address::Tls(authority) => {
                let (host, port) = host_and_port(authority)?;
                allowed.resolve(host, port).await.map(|_| ())
            }
        };
        match found {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// Opens a socket to an address. Where `leader` is the process that was started for it,
    /// only this process and its descendants may listen there.
    pub(crate) async fn open(
        &self,
        address: &Address,
        leader: Option<u32>,
    ) -> io::Result<Box<dyn BotSocket>> {
        if let Some(pipes) = &self.pipes {
            let (ours, theirs) = duplex(PIPE);
            return match pipes.send(theirs) {
                Ok(()) => Ok(Box::new(ours)),
                Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
            };
        }
        match address {
            Address::Unix(path) => {
                let path = match &self.allowed {
                    Some(allowed) => Cow::Owned(allowed.socket(path)?),
                    None => Cow::Borrowed(&**path),
                };
                let socket = dial_unix(&path).await?;
                if let Some(leader) = leader {
                    check_listener(&path, &socket, leader)?;
                }
                if let Some(user) = self.user {
                    check_user(&socket, user)?;
                }
                Ok(Box::new(socket))
            }
            Address::Tcp(authority) => Ok(Box::new(self.tcp(authority).await?)),
            Address::Tls(authority) => {
                let tls = self.tls()?;
                let (host, _) = host_and_port(authority).map_err(io::Error::other)?;
                let socket = self.tcp(authority).await?;
                let secure = tls.connect(host, socket).await;
                let secure = secure
                    .map_err(|error| io::Error::other(format!("no TLS handshake: {error}")))?;
                Ok(Box::new(secure))
            }
        }
    }

    async fn tcp(&self, authority: &str) -> io::Result<TcpStream> {
        let socket = match &self.allowed {
            None => TcpStream::connect(authority).await?,
            Some(allowed) => {
                let (host, port) = host_and_port(authority).map_err(io::Error::other)?;
                // What was looked at is what is dialled, whatever the name leads to later.
                let found = allowed.resolve(host, port).await?;
                TcpStream::connect(&found[..]).await?
            }
        };
        socket.set_nodelay(true)?;
        Ok(socket)
    }

    fn tls(&self) -> io::Result<&ClientTls> {
        self.tls.as_ref().ok_or_else(|| {
            io::Error::other(
                "grpcs:// wants TLS: name the certificate authority of the bots (--bots-ca FILE)",
            )
        })
    }
}

fn host_and_port(authority: &str) -> Result<(&str, u16), String> {
    let parts = authority.rsplit_once(':');
    parts
        .and_then(|(host, port)| Some((host, port.parse().ok()?)))
        .ok_or_else(|| format!("expected HOST:PORT, found {authority}"))
}

async fn dial_unix(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            // Its queue of connections is full (connect(2)): that is the bot's delay, not
            // our shortage.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tokio::time::sleep(QUEUE_PAUSE).await;
            }
            connected => return connected,
        }
    }
}

/// Checks that a process of this user listens on a socket. A link may lead to a socket of
/// another bot, but not to one of the same user.
fn check_user(socket: &UnixStream, user: u32) -> io::Result<()> {
    // For a connected socket these are of the process that called listen (unix(7)).
    let found = socket.peer_cred()?.uid();
    if found == user {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "a process of user {found} listens there, expected one of user {user}"
    )))
}

/// Checks that the bot itself listens on its socket, and not somebody else, to whom a link or
/// a socket of that name leads.
fn check_listener(path: &Path, socket: &UnixStream, leader: u32) -> io::Result<()> {
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::other(
            "it is a link, not a socket of the bot's own",
        ));
    }
    // For a connected socket these are of the process that called listen (unix(7)).
    let listener = socket.peer_cred()?.pid();
    match listener.and_then(|id| u32::try_from(id).ok()) {
        Some(id) if belongs_to(id, leader)? => Ok(()),
        Some(id) => Err(io::Error::other(format!(
            "process {id} listens there, which is neither the bot's process {leader} nor \
             started by it"
        ))),
        None => Err(io::Error::other("nobody knows which process listens there")),
    }
}
