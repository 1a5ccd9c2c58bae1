//! The addresses that may be dialled.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use ipnet::IpNet;

use crate::tls::bare;

/// Addresses that may be dialled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList(Vec<AddressPattern>);

/// Some addresses: `HOST:PORT`, `IP/BITS:PORT` or `unix:FOLDER/`, where `*` is any port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressPattern {
    /// A host name, as it is written in an address, whatever it resolves to.
    Host {
        /// The name.
        name: String,
        /// The port; any, if there is none.
        port: Option<u16>,
    },
    /// Addresses of a network, also where a name resolves to one of them.
    Network {
        /// The network.
        network: IpNet,
        /// The port; any, if there is none.
        port: Option<u16>,
    },
    /// Unix sockets below a folder.
    Folder(PathBuf),
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no pattern of addresses: expected HOST:PORT, HOST:*, 10.0.0.0/8:*, \
     [fd00::/8]:50051 or unix:/FOLDER/"
)]
pub struct BadPattern(String);

impl FromStr for AddressPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let bad = || BadPattern(text.chars().take(200).collect());
        let text = text.trim();
        if let Some(folder) = text.strip_prefix("unix:") {
            let folder = folder.strip_prefix("//").unwrap_or(folder);
            let is_one = folder.starts_with('/') && folder.ends_with('/');
            return is_one.then(|| Self::Folder(folder.into())).ok_or_else(bad);
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
        let port = match port {
            "*" => None,
            port => Some(port.parse().ok().filter(|port| *port > 0).ok_or_else(bad)?),
        };
        let inner = bare(host);
        let is_bracketed = inner.len() < host.len();
        if let Some(network) = network(inner) {
            // Without brackets nobody can tell where an IPv6 address ends.
            let is_v6 = matches!(network, IpNet::V6(_));
            return (is_v6 == is_bracketed)
                .then_some(Self::Network { network, port })
                .ok_or_else(bad);
        }
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if host.is_empty() || !host.chars().all(of_a_name) {
            return Err(bad());
        }
        let name = host.to_owned();
        Ok(Self::Host { name, port })
    }
}

impl fmt::Display for AddressPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = match self {
            Self::Folder(folder) => return write!(f, "unix:{}", folder.display()),
            Self::Host { name, port } => {
                write!(f, "{name}:")?;
                port
            }
            Self::Network { network, port } => {
                match network {
                    IpNet::V4(network) => write!(f, "{network}:")?,
                    IpNet::V6(network) => write!(f, "[{network}]:")?,
                }
                port
            }
        };
        match port {
            Some(port) => write!(f, "{port}"),
            None => f.write_str("*"),
        }
    }
}

impl FromIterator<AddressPattern> for AllowList {
    fn from_iter<I: IntoIterator<Item = AddressPattern>>(patterns: I) -> Self {
        Self(patterns.into_iter().collect())
    }
}

impl AllowList {
    /// The addresses of a host that may be dialled. A name is resolved once, and what is given
    /// back is what was looked at: dial that, and no name. All addresses count where the name
    /// itself is allowed, else those of allowed networks.
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or ([`io::ErrorKind::PermissionDenied`]) none of its
    /// addresses is allowed.
    pub async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let host = bare(host);
        let by_name = self.allows_name(host, port);
        if !by_name && !self.has_network(port) {
            // A name that can't be allowed is not resolved: DNS would carry it away.
            return Err(not_allowed(&format!("{host}:{port}")));
        }
        let found: Vec<_> = tokio::net::lookup_host((host, port)).await?.collect();
        if found.is_empty() {
            let words = format!("{host} has no address");
            return Err(io::Error::new(io::ErrorKind::NotFound, words));
        }
        let allowed = found.into_iter();
        let allowed: Vec<_> = allowed
            .filter(|found| by_name || self.allows_address(*found))
            .collect();
        if allowed.is_empty() {
            return Err(not_allowed(&format!("{host}:{port}")));
        }
        Ok(allowed)
    }

    /// The Unix socket that a path leads to, if it may be dialled: dial what is given back.
    ///
    /// # Errors
    ///
    /// There is nothing at the path, or ([`io::ErrorKind::PermissionDenied`]) it leads to no
    /// allowed folder.
    pub fn socket(&self, path: &Path) -> io::Result<PathBuf> {
        let refused = || not_allowed(&format!("unix:{}", path.display()));
        let folders = self.0.iter().filter_map(|pattern| match pattern {
            AddressPattern::Folder(folder) if is_below(path, folder) => Some(folder),
            _ => None,
        });
        let mut folders = folders.peekable();
        // Before the system is asked: whether there is anything elsewhere is not told.
        if folders.peek().is_none() {
            return Err(refused());
        }
        // Links may lead out of the folder.
        let real = path.canonicalize()?;
        let is_in = |folder: &PathBuf| {
            let folder = folder.canonicalize();
            folder.is_ok_and(|folder| is_below(&real, &folder))
        };
        if folders.any(is_in) {
            return Ok(real);
        }
        Err(refused())
    }

    /// The patterns.
    pub fn patterns(&self) -> impl Iterator<Item = &AddressPattern> {
        self.0.iter()
    }

    /// True if `HOST:PORT` may be dialled as far as that can be said without resolving a name:
    /// its name is allowed, or it is an address in an allowed network.
    #[must_use]
    pub fn names(&self, authority: &str) -> bool {
        let parts = authority.rsplit_once(':');
        let parts = parts.and_then(|(host, port)| Some((bare(host), port.parse().ok()?)));
        parts.is_some_and(|(host, port)| {
            let ip = host.parse::<IpAddr>();
            self.allows_name(host, port)
                || ip.is_ok_and(|ip| self.allows_address(SocketAddr::new(ip, port)))
        })
    }

    /// True if a Unix socket may be dialled, as far as that can be said from its path.
    #[must_use]
    pub fn names_socket(&self, path: &Path) -> bool {
        let mut patterns = self.0.iter();
        patterns.any(
            |pattern| matches!(pattern, AddressPattern::Folder(folder) if is_below(path, folder)),
        )
    }

    fn allows_name(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|pattern| {
            matches!(pattern, AddressPattern::Host { name, port: allowed }
                if name.eq_ignore_ascii_case(host) && allowed.is_none_or(|one| one == port))
        })
    }

    fn allows_address(&self, address: SocketAddr) -> bool {
        let (ip, port) = (address.ip().to_canonical(), address.port());
        self.0.iter().any(|pattern| {
            matches!(pattern, AddressPattern::Network { network, port: allowed }
                if network.contains(&ip) && allowed.is_none_or(|one| one == port))
        })
    }

    fn has_network(&self, port: u16) -> bool {
        self.0.iter().any(|pattern| {
            matches!(pattern, AddressPattern::Network { port: allowed, .. }
                if allowed.is_none_or(|one| one == port))
        })
    }
}

/// True if a path is below a folder, as both are written.
fn is_below(path: &Path, folder: &Path) -> bool {
    let goes_up = path.components().any(|one| one == Component::ParentDir);
    path.starts_with(folder) && !goes_up
}

/// A network, or one address.
fn network(text: &str) -> Option<IpNet> {
    let network = text.parse().ok();
    network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

fn not_allowed(address: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{address} is not among the addresses of bots that are allowed here"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> AllowList {
        patterns.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn patterns_are_read_and_written() {
        for text in [
            "bot.example:50051",
            "localhost:*",
            "10.0.0.0/8:*",
            "[fd00::/8]:50051",
            "unix:/run/bots/",
        ] {
            assert_eq!(text.parse::<AddressPattern>().unwrap().to_string(), text);
        }
        let one: AddressPattern = "127.0.0.1:5".parse().unwrap();
        assert_eq!(one.to_string(), "127.0.0.1/32:5");
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "*",
            "*:*",
            "bot.example",
            "bot.example:",
            "bot.example:0",
            "bot.example:70000",
            "10.0.0.0/33:*",
            "fd00::/8:*",
            "::1:50051",
            "[10.0.0.0/8]:*",
            "[::1]",
            "[bot.example]:5",
            "a b:5",
            "http://bot.example:5",
            "unix:run/bots/",
            "unix:/run/bots",
        ] {
            assert!(text.parse::<AddressPattern>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_may_be_dialled_can_be_said_without_resolving_names() {
        let list = list(&[
            "python:50051",
            "10.0.0.0/8:*",
            "[fd00::/8]:5",
            "unix:/run/bots/",
        ]);
        for yes in ["python:50051", "PYTHON:50051", "10.1.2.3:7", "[fd00::1]:5"] {
            assert!(list.names(yes), "{yes}");
        }
        for no in [
            "python:50052",
            "python",
            "11.1.2.3:7",
            "[fd00::1]:6",
            "other:50051",
            "",
        ] {
            assert!(!list.names(no), "{no}");
        }
        assert!(list.names_socket(Path::new("/run/bots/a.sock")));
        assert!(!list.names_socket(Path::new("/run/bots/../a.sock")));
        assert!(!list.names_socket(Path::new("/run/a.sock")));
    }

    async fn allows(list: &AllowList, host: &str, port: u16) -> bool {
        match list.resolve(host, port).await {
            Ok(found) => {
                assert!(!found.is_empty());
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
                false
            }
        }
    }

    #[tokio::test]
    async fn addresses_are_matched_by_network_and_port() {
        let list = list(&["10.0.0.0/8:*", "[fd00::/8]:50051", "192.0.2.1:7"]);
        for (host, port, expected) in [
            ("10.255.0.1", 1, true),
            ("::ffff:10.1.1.1", 1, true),
            ("[::ffff:10.1.1.1]", 1, true),
            ("11.0.0.1", 1, false),
            ("[fd12::1]", 50051, true),
            ("[fd12::1]", 50052, false),
            ("192.0.2.1", 7, true),
            ("192.0.2.1", 8, false),
            ("192.0.2.2", 7, false),
        ] {
            assert_eq!(allows(&list, host, port).await, expected, "{host}:{port}");
        }
    }

    #[tokio::test]
    async fn a_name_is_matched_as_it_is_written_or_by_what_it_resolves_to() {
        assert!(allows(&list(&["localhost:5"]), "LocalHost", 5).await);
        assert!(!allows(&list(&["localhost:5"]), "localhost", 6).await);
        assert!(!allows(&list(&["localhost:5"]), "127.0.0.1", 5).await);
        let loopback = list(&["127.0.0.0/8:*", "[::1]:*"]);
        assert!(allows(&loopback, "localhost", 5).await);
        let elsewhere = list(&["10.0.0.0/8:*"]);
        assert!(!allows(&elsewhere, "localhost", 5).await);
        // Other spellings of an address lead to the same one.
        assert!(!allows(&elsewhere, "127.1", 5).await);
    }

    #[tokio::test]
    async fn an_empty_list_allows_nothing() {
        let none = AllowList::default();
        assert!(!allows(&none, "127.0.0.1", 5).await);
        assert!(none.socket(Path::new("/run/bot.sock")).is_err());
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        for one in [&inside, &outside] {
            std::fs::create_dir(one).unwrap();
            std::fs::write(one.join("bot.sock"), "").unwrap();
        }
        std::os::unix::fs::symlink(outside.join("bot.sock"), inside.join("link")).unwrap();
        let list = list(&[&format!("unix:{}/", inside.display())]);
        assert!(list.socket(&inside.join("bot.sock")).is_ok());
        for path in ["link", "../out/bot.sock", "../out/missing", "/missing"] {
            let error = list.socket(&inside.join(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{path}");
        }
        let error = list.socket(&inside.join("missing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
