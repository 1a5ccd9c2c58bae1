//! The address that a bot listens at.

use std::{fmt, path::PathBuf, str::FromStr};

use http::Uri;
use tonic::transport::Endpoint;

/// A bot's address: `unix:PATH`, `tcp:HOST:PORT` or, with TLS, `grpcs://HOST:PORT`.
/// `grpc://HOST:PORT` and `http://HOST:PORT` mean the second, `https://HOST:PORT` the third.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
    /// A host and a port where TLS is spoken.
    Tls(String),
}

/// A text that is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no address: expected grpc://HOST:PORT, grpcs://HOST:PORT, tcp:HOST:PORT or \
     unix:PATH"
)]
pub struct BadAddress(String);

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.to_owned());
        let text = text.trim();
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            // However many slashes a path begins with, one means the same, and two would not
            // read back.
            let path = match path.strip_prefix("//") {
                Some(rest) => format!("/{}", rest.trim_start_matches('/')),
                None => path.to_owned(),
            };
            return if path.is_empty() {
                Err(bad())
            } else {
                Ok(Self::Unix(path.into()))
            };
        }
        let after = |schemes: &[&str]| schemes.iter().find_map(|one| text.strip_prefix(one));
        let secure = after(&["grpcs://", "https://"]);
        let authority = secure.or_else(|| after(&["tcp:", "grpc://", "http://"]));
        let authority = authority.ok_or_else(bad)?;
        let authority = authority.trim_start_matches("//").trim_end_matches('/');
        let port = authority.rsplit_once(':').ok_or_else(bad)?.1;
        let port: u16 = port.parse().map_err(|_| bad())?;
        let uri: Uri = format!("http://{authority}").parse().map_err(|_| bad())?;
        if port == 0 || uri.host().is_none_or(str::is_empty) || uri.path() != "/" {
            return Err(bad());
        }
        Ok(match secure {
            Some(_) => Self::Tls(authority.to_owned()),
            None => Self::Tcp(authority.to_owned()),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(authority) => write!(f, "tcp:{authority}"),
            Self::Tls(authority) => write!(f, "grpcs://{authority}"),
        }
    }
}

impl Address {
    /// The settings of a connection to it. They do not have TLS: that is the affair of the
    /// connector.
    ///
    /// # Errors
    ///
    /// It does not make a URI. An address that was read from a text does.
    pub fn endpoint(&self) -> Result<Endpoint, tonic::transport::Error> {
        let uri = match self {
            Self::Unix(path) => format!("unix://{}", path.display()),
            Self::Tcp(authority) => format!("http://{authority}"),
            Self::Tls(authority) => format!("https://{authority}"),
        };
        Ok(Endpoint::from_shared(uri)?.tcp_nodelay(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, shown) in [
            ("unix:/run/bot.sock", "unix:/run/bot.sock"),
            ("unix:///run/bot.sock", "unix:/run/bot.sock"),
            ("unix://///run/bot.sock", "unix:/run/bot.sock"),
            ("tcp:127.0.0.1:5000", "tcp:127.0.0.1:5000"),
            ("tcp:[::1]:5000", "tcp:[::1]:5000"),
            ("grpc://bot.example:50051", "tcp:bot.example:50051"),
            ("http://localhost:1/", "tcp:localhost:1"),
            ("grpcs://bot.example:50051", "grpcs://bot.example:50051"),
            ("https://[::1]:443/", "grpcs://[::1]:443"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "unix:",
            "tcp:",
            "tcp:host",
            "tcp:host:0",
            "tcp:host:99999",
            "tcp::50",
            "host:50",
            "tcp:a b:50",
            "tcp:host:5/x",
            "grpcs:host:5",
            "grpcs://host",
            "grpcs://host:5/x",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }
}
