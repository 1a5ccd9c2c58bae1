//! A channel to a gRPC server at `http://HOST:PORT` or `https://HOST:PORT`.

use std::{fmt, future::Future, io, net::IpAddr, str::FromStr, time::Duration};

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::{
    plain::Plain,
    tls::{ClientTls, bare},
};

/// The largest header list of a server, in bytes: headers and trailers of gRPC are small.
const HEADERS_LIMIT: u32 = 16 * 1024;

/// The address of a server, and whether it has TLS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    tls: bool,
    /// With brackets, if it is an IPv6 address.
    host: String,
    port: u16,
}

/// A text that is no address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no address of a server: expected https://HOST:PORT or http://HOST:PORT")]
pub struct BadTarget(String);

/// The time limits of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialOptions {
    /// Longest time for connecting, with the TLS handshake.
    pub connect_timeout: Duration,
    /// After this time without a word the server is asked whether it is there, and has the
    /// same time to answer.
    pub keepalive: Duration,
}

/// Reason why there is no channel.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// TLS is asked for, and nobody said whom to trust.
    #[error("{0} wants TLS: say which certificate authority to trust")]
    NoTls(Target),
    /// Files for TLS are given for a server without it.
    #[error("{0} has no TLS, but files for TLS are given: write https:// or leave them out")]
    Plain(Target),
    /// The address makes no URI.
    #[error("could not use the address {0}: {1}")]
    Address(Target, String),
}

impl Default for DialOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            keepalive: Duration::from_secs(30),
        }
    }
}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let bad = || BadTarget(text.chars().take(200).collect());
        let uri: Uri = text.trim().parse().map_err(|_| bad())?;
        let is_bare = uri.path() == "/" && uri.query().is_none();
        let target = Self::of(&uri, false).filter(|_| is_bare);
        target.ok_or_else(bad)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl Target {
    /// The server of a URI. Where it names no port, there is no server unless it may be the usual one.
    pub(crate) fn of(uri: &Uri, may_be_usual: bool) -> Option<Self> {
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return None,
        };
        let host = uri.host().filter(|host| !host.is_empty())?;
        let authority = uri.authority()?.as_str();
        let port = match authority == host {
            true if may_be_usual => usual_port(tls),
            _ => uri.port_u16().filter(|port| *port > 0)?,
        };
        (!authority.contains('@')).then(|| Self {
            tls,
            host: host.to_owned(),
            port,
        })
    }

    /// The host, and the port unless it is the usual one.
    pub(crate) fn authority(&self) -> String {
        match self.port == usual_port(self.tls) {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// True if TLS is spoken there.
    #[must_use]
    pub const fn has_tls(&self) -> bool {
        self.tls
    }

    /// The host: a name or an IP address, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        bare(&self.host)
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// True if nothing that is sent there leaves this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.host().parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => self.host.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// The port of HTTP (RFC 9110, section 4.2).
const fn usual_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// A channel to a server over TCP. It connects when it is used, again after the connection
/// broke, and each time with what the files of `tls` hold then.
///
/// # Errors
///
/// [`DialError`]: the address and `tls` do not fit each other.
pub fn channel(
    target: &Target,
    tls: Option<ClientTls>,
    options: &DialOptions,
) -> Result<Channel, DialError> {
    channel_through(target, tls, options, |host, port| async move {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    })
}

/// The same through streams that `connect` opens to a host and a port.
///
/// # Errors
///
/// As [`channel`].
pub fn channel_through<C, F, S>(
    target: &Target,
    tls: Option<ClientTls>,
    options: &DialOptions,
    connect: C,
) -> Result<Channel, DialError>
where
    C: Fn(String, u16) -> F + Send + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    check_tls(target, tls.as_ref())?;
    let bad = |error: &dyn fmt::Display| DialError::Address(target.clone(), error.to_string());
    let origin: Uri = target.to_string().parse().map_err(|error| bad(&error))?;
    let endpoint = Endpoint::from_shared(target.to_string()).map_err(|error| bad(&error))?;
    let endpoint = endpoint
        .origin(origin)
        .connect_timeout(options.connect_timeout)
        .http2_keep_alive_interval(options.keepalive)
        .keep_alive_timeout(options.keepalive)
        .keep_alive_while_idle(true)
        .http2_max_header_list_size(HEADERS_LIMIT);
    let (host, port) = (target.host().to_owned(), target.port);
    let connector = service_fn(move |_: Uri| {
        let (host, tls) = (host.clone(), tls.clone());
        let connecting = connect(host.clone(), port);
        async move {
            let stream = connecting.await?;
            let stream: Box<dyn Duplex> = match tls {
                None => Box::new(Plain::new(stream)),
                Some(tls) => {
                    let connected = tls.connect(&host, stream).await;
                    Box::new(connected.map_err(told)?)
                }
            };
            Ok::<_, io::Error>(TokioIo::new(stream))
        }
    });
    Ok(endpoint.connect_with_connector_lazy(connector))
}

/// Checks that a server and its TLS fit each other.
pub(crate) fn check_tls(target: &Target, tls: Option<&ClientTls>) -> Result<(), DialError> {
    match (target.tls, tls) {
        (true, None) => Err(DialError::NoTls(target.clone())),
        (false, Some(_)) => Err(DialError::Plain(target.clone())),
        (true, Some(_)) | (false, None) => Ok(()),
    }
}

/// The error of a handshake, with what to do. One that ended without a word of TLS: then the server
/// may have none.
pub(crate) fn told(error: io::Error) -> io::Error {
    let is_silent = matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
    );
    let said = error.to_string();
    let what_to_do = if is_silent || said.contains("InvalidContentType") {
        "if the server has no TLS, write http:// instead of https://"
    } else if said.contains("UnknownIssuer") || said.contains("BadSignature") {
        "no authority that is trusted here has signed the server's certificate: --ca FILE names \
         the one that has"
    } else {
        return error;
    };
    io::Error::new(error.kind(), format!("{said}; {what_to_do}"))
}

/// A connection, with TLS or without.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers_are_read() {
        for (text, shown, host, loopback) in [
            ("https://arena.example:50052", "", "arena.example", false),
            (
                "http://localhost:1/",
                "http://localhost:1",
                "localhost",
                true,
            ),
            ("http://127.8.0.1:80", "", "127.8.0.1", true),
            ("https://[::1]:443", "", "::1", true),
            (
                "http://[::ffff:127.0.0.1]:443",
                "",
                "::ffff:127.0.0.1",
                true,
            ),
            ("http://[2001:db8::1]:443", "", "2001:db8::1", false),
            ("http://127.0.0.1.example:5", "", "127.0.0.1.example", false),
        ] {
            let target: Target = text.parse().unwrap();
            let shown = if shown.is_empty() { text } else { shown };
            assert_eq!(target.to_string(), shown);
            assert_eq!(target.host(), host);
            assert_eq!(target.is_loopback(), loopback, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        for text in [
            "",
            "arena.example:50052",
            "grpc://arena.example:50052",
            "https://arena.example",
            "https://:50052",
            "https://arena.example:0",
            "https://arena.example:70000",
            "https://arena.example:5/path",
            "https://arena.example:5/?query",
            "https://me@arena.example:5",
            "https://a b:5",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text:?}");
        }
    }

    #[tokio::test]
    async fn tls_and_its_absence_must_be_meant() {
        let options = DialOptions::default();
        let target = "https://arena.example:5".parse().unwrap();
        let why = channel(&target, None, &options).unwrap_err().to_string();
        assert!(why.contains("which certificate authority"), "{why}");
    }
}
