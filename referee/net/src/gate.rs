//! A gate: TCP with TLS outside, a Unix socket inside. It passes bytes on and reads none of them.
//! So a program that has neither a key nor TLS is reached over a network by those who show a
//! certificate.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, future::ready};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream, UnixStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    listen::{Incoming, RemarkLimiter, accepted, incoming_unread, shown},
    tls::ServerTls,
};

/// Pause where the queue of the socket is full.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// A gate: the origin and the target of connections.
#[derive(Clone, Debug)]
pub struct Gate {
    /// TLS, with the rule of who may connect.
    pub tls: ServerTls,
    /// The addresses that may connect, whatever they show; all of them, if there is none. Others
    /// are closed at once.
    pub from: Vec<IpAddr>,
    /// The socket that bytes are passed on to.
    pub to: PathBuf,
    /// Most connections that are open at once, with those whose handshake is under way. Further
    /// ones are closed at once.
    pub connections: usize,
    /// Longest time of a connection for the TLS handshake, and then until the socket takes it.
    pub handshake: Duration,
}

impl Gate {
    /// The usual bounds: a referee has one connection for each of its threads.
    #[must_use]
    pub const fn new(tls: ServerTls, from: Vec<IpAddr>, to: PathBuf) -> Self {
        Self {
            tls,
            from,
            to,
            connections: 64,
            handshake: Duration::from_secs(10),
        }
    }

    /// Passes bytes on until `stop`, and for connections that are open then until `grace` is over.
    /// A connection whose socket is not there is closed after its handshake.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        let mut connections = JoinSet::new();
        {
            let trouble = Arc::new(Mutex::new(RemarkLimiter::default()));
            let from = self.from;
            let mut strangers = RemarkLimiter::default();
            let accepted = accepted(listener).filter(move |accepted| {
                let is_let_in = match accepted {
                    Ok((_, address)) => is_among(*address, &from),
                    Err(_) => true,
                };
                if let (false, Ok((_, address))) = (is_let_in, accepted) {
                    strangers.make(|left_out| {
                        tracing::warn!(
                            from = %shown(*address), left_out,
                            "closed a connection: it is from none of the addresses that may connect"
                        );
                    });
                }
                ready(is_let_in)
            });
            let incoming = incoming_unread(accepted, self.tls, self.connections, self.handshake);
            let mut incoming = pin!(incoming);
            let mut stop = pin!(stop);
            let to: Arc<Path> = self.to.into();
            loop {
                let peer = tokio::select! {
                    () = &mut stop => break,
                    peer = incoming.next() => peer,
                };
                let Some(peer) = peer else {
                    break;
                };
                while connections.try_join_next().is_some() {}
                let (to, trouble) = (to.clone(), trouble.clone());
                let within = self.handshake;
                connections.spawn(async move {
                    if let Err(error) = pass_on(peer, &to, within).await {
                        let mut trouble = trouble.lock();
                        trouble.make(|left_out| {
                            tracing::warn!(
                                to = %to.display(), %error, left_out,
                                "closed a connection: nothing takes one at the socket"
                            );
                        });
                    }
                });
            }
        }
        let rest = async { while connections.join_next().await.is_some() {} };
        if timeout(grace, rest).await.is_err() {
            tracing::warn!("connections that are still open are closed");
        }
    }
}

/// True if an address is one of these, or if there are none.
fn is_among(address: Option<SocketAddr>, from: &[IpAddr]) -> bool {
    let canonical = |ip: IpAddr| ip.to_canonical();
    from.is_empty()
        || address.is_some_and(|address| {
            let ip = canonical(address.ip());
            from.iter().any(|one| canonical(*one) == ip)
        })
}

/// Passes bytes on both ways until both ends have ended.
///
/// # Errors
///
/// Nothing takes a connection at the socket.
async fn pass_on(mut peer: Incoming<TcpStream>, to: &Path, within: Duration) -> io::Result<()> {
    let connecting = timeout(within, connect(to)).await;
    let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let mut inner = match connected {
        Ok(inner) => inner,
        Err(error) => {
            // The other end sees an end, and not a connection that broke.
            let _ = timeout(within, peer.shutdown()).await;
            return Err(error);
        }
    };
    if let Err(error) = copy_bidirectional(&mut peer, &mut inner).await {
        tracing::debug!(%error, "a connection broke");
    }
    Ok(())
}

async fn connect(to: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(to).await {
            // Its queue of connections is full (connect(2)).
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(QUEUE_PAUSE).await,
            connected => return connected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_in_their_shortest_form() {
        let from: Vec<IpAddr> = vec!["10.0.0.7".parse().unwrap(), "fd00::7".parse().unwrap()];
        for (address, is_let_in) in [
            ("10.0.0.7:5", true),
            ("[::ffff:10.0.0.7]:5", true),
            ("[fd00::7]:5", true),
            ("10.0.0.8:5", false),
            ("[::1]:5", false),
        ] {
            let address = Some(address.parse().unwrap());
            assert_eq!(is_among(address, &from), is_let_in, "{address:?}");
            assert!(is_among(address, &[]));
        }
        assert!(!is_among(None, &from));
    }
}
