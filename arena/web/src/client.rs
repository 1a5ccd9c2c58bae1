//! The client that a request comes from: an address, by which clients are told apart so that one of
//! them can't take what is there for all. Behind a proxy that is trusted it is the one that the
//! proxy forwards.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

const FORWARDED: &str = "x-forwarded-for";
const FORWARDED_SCHEME: &str = "x-forwarded-proto";
/// Whoever has an address of IPv6 has all that begin with so many of its bits.
const OF_ONE_CLIENT: u32 = 64;

/// The address of a client, without what it can choose freely of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Client(IpAddr);

/// The proxies whose word is taken for whom they forward.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) networks: Vec<IpNet>,
    /// The header in which they write who a person is whom they have asked for a password.
    pub(crate) user_header: Option<HeaderName>,
}

/// The one whom a proxy of ours has asked: the name that it has for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxiedUser(pub(crate) String);

impl Client {
    /// An address.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(v6) => {
                let network = v6.to_bits() >> (128 - OF_ONE_CLIENT) << (128 - OF_ONE_CLIENT);
                Ipv6Addr::from_bits(network).into()
            }
            v4 => v4,
        })
    }

    /// This machine.
    pub(crate) const HERE: Self = Self(IpAddr::V4(Ipv4Addr::LOCALHOST));
}

impl Proxies {
    pub(crate) fn trust(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks
            .iter()
            .any(|network| network.contains(&address))
    }

    /// True if a proxy of ours says that a request came to it over TLS.
    pub(crate) fn is_tls(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let last = headers.get_all(FORWARDED_SCHEME).iter().next_back();
        self.trust(peer) && last.is_some_and(|scheme| scheme == "https")
    }

    /// The person whom a proxy of ours has asked who they are. Where the header is there twice, somebody
    /// else has written one of them.
    pub(crate) fn user(&self, peer: IpAddr, headers: &HeaderMap) -> Option<ProxiedUser> {
        let header = self.user_header.as_ref().filter(|_| self.trust(peer))?;
        let mut values = headers.get_all(header).iter();
        let value = values.next().filter(|_| values.next().is_none())?;
        let name = str::from_utf8(value.as_bytes()).ok()?.trim();
        (!name.is_empty()).then(|| ProxiedUser(name.to_owned()))
    }

    /// The client that a request is from. Each proxy appends whom it was called by, so the last
    /// address that is none of our proxies is the client's; what stands before it anybody may have
    /// written.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let mut client = peer;
        let lists = headers.get_all(FORWARDED).iter();
        let lists: Vec<&str> = lists.filter_map(|list| list.to_str().ok()).collect();
        let mut forwarded = lists.iter().rev().flat_map(|list| list.rsplit(','));
        while self.trust(client) {
            match forwarded.next().and_then(read_address) {
                Some(before) => client = before,
                None => break,
            }
        }
        Client::at(client)
    }
}

/// An address as proxies write it: alone, or with a port.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let alone = bare.unwrap_or(text).parse();
    let with_port = || text.parse().map(|at: SocketAddr| at.ip());
    alone.or_else(|_| with_port()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &[&str], peer: &str, forwarded: &[&str]) -> Client {
        let mut headers = HeaderMap::new();
        for list in forwarded {
            headers.append(FORWARDED, list.parse().unwrap());
        }
        proxies_at(proxies).client(peer.parse().unwrap(), &headers)
    }

    fn proxies_at(networks: &[&str]) -> Proxies {
        let networks = networks.iter().map(|network| network.parse().unwrap());
        Proxies {
            networks: networks.collect(),
            user_header: Some(HeaderName::from_static("x-remote-user")),
        }
    }

    fn at(address: &str) -> Client {
        Client::at(address.parse().unwrap())
    }

    #[test]
    fn what_is_forwarded_is_believed_from_a_trusted_proxy_only() {
        let forged = ["203.0.113.9"];
        assert_eq!(client(&[], "198.51.100.1", &forged), at("198.51.100.1"));
        assert_eq!(client(&[], "127.0.0.1", &forged), at("127.0.0.1"));
        let proxy = ["127.0.0.1/32"];
        assert_eq!(client(&proxy, "127.0.0.1", &forged), at("203.0.113.9"));
        assert_eq!(client(&proxy, "198.51.100.1", &forged), at("198.51.100.1"));
        assert_eq!(client(&proxy, "127.0.0.1", &[]), at("127.0.0.1"));
        // As a listener of IPv6 sees it.
        assert_eq!(
            client(&proxy, "::ffff:127.0.0.1", &forged),
            at("203.0.113.9")
        );
    }

    #[test]
    fn what_a_client_writes_itself_stands_before_what_the_proxy_appends() {
        let proxy = ["10.0.0.0/8"];
        let appended = ["1.1.1.1, 2.2.2.2, 203.0.113.9"];
        assert_eq!(client(&proxy, "10.0.0.1", &appended), at("203.0.113.9"));
        let several = ["1.1.1.1", "203.0.113.9, 10.0.0.7"];
        assert_eq!(client(&proxy, "10.0.0.1", &several), at("203.0.113.9"));
        // What is no address names nobody.
        for wrong in ["203.0.113.9, unknown", "203.0.113.9,", "x", ""] {
            assert_eq!(
                client(&proxy, "10.0.0.1", &[wrong]),
                at("10.0.0.1"),
                "{wrong}"
            );
        }
        for with_port in ["203.0.113.9:8080", " 203.0.113.9 "] {
            assert_eq!(client(&proxy, "10.0.0.1", &[with_port]), at("203.0.113.9"));
        }
        for v6 in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(client(&proxy, "10.0.0.1", &[v6]), at("2001:db8::1"));
        }
    }

    #[test]
    fn that_it_was_tls_is_believed_from_a_trusted_proxy_only() {
        let proxies = proxies_at(&["127.0.0.1/32"]);
        let mut headers = HeaderMap::new();
        let is_tls =
            |headers: &HeaderMap, peer: &str| proxies.is_tls(peer.parse().unwrap(), headers);
        assert!(!is_tls(&headers, "127.0.0.1"));
        headers.insert(FORWARDED_SCHEME, "https".parse().unwrap());
        assert!(is_tls(&headers, "127.0.0.1"));
        assert!(!is_tls(&headers, "198.51.100.1"));
        headers.append(FORWARDED_SCHEME, "http".parse().unwrap());
        assert!(!is_tls(&headers, "127.0.0.1"));
    }

    #[test]
    fn who_a_person_is_is_believed_from_a_trusted_proxy_only_and_once() {
        let proxies = proxies_at(&["127.0.0.1/32"]);
        let mut headers = HeaderMap::new();
        let user = |proxies: &Proxies, headers: &HeaderMap, peer: &str| {
            let user = proxies.user(peer.parse().unwrap(), headers);
            user.map(|ProxiedUser(name)| name)
        };
        assert_eq!(user(&proxies, &headers, "127.0.0.1"), None);
        headers.insert("x-remote-user", " ann@uni ".parse().unwrap());
        let found = user(&proxies, &headers, "127.0.0.1");
        assert_eq!(found.as_deref(), Some("ann@uni"));
        assert_eq!(user(&proxies, &headers, "198.51.100.1"), None);
        let none = Proxies {
            user_header: None,
            ..proxies.clone()
        };
        assert_eq!(user(&none, &headers, "127.0.0.1"), None);
        headers.append("x-remote-user", "olga".parse().unwrap());
        assert_eq!(user(&proxies, &headers, "127.0.0.1"), None);
        headers.insert("x-remote-user", "".parse().unwrap());
        assert_eq!(user(&proxies, &headers, "127.0.0.1"), None);
    }

    #[test]
    fn a_network_of_64_bits_of_ipv6_is_one_client() {
        assert_eq!(at("2001:db8:0:1::1"), at("2001:db8:0:1:ffff::2"));
        assert_ne!(at("2001:db8:0:1::1"), at("2001:db8:0:2::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
    }
}
