//! The arguments of the web page.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use arena_tournament::parse_limit;
use clap::Args;
use http::HeaderName;
use ipnet::IpNet;

use crate::address::parse_address;

/// Largest number of connections that are open at once.
const CONNECTIONS: usize = 4_000;

/// The web page of `arena serve`.
#[derive(Args)]
pub struct PageArgs {
    /// Where the web page is; port 0 lets the system choose [default: 127.0.0.1:8080, if that is
    /// free].
    #[arg(long, env = "ARENA_PAGE", value_name = "ADDRESS", value_parser = parse_address)]
    pub page: Option<SocketAddr>,
    /// Serve no web page.
    #[arg(long, conflicts_with = "page")]
    pub no_page: bool,
    /// A host name under which the page is reached, besides localhost and addresses.
    #[arg(
        long = "page-name",
        env = "ARENA_PAGE_NAME",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub page_names: Vec<String>,
    /// A proxy before the page, as an address or a network: the addresses that it writes into
    /// X-Forwarded-For tell people apart. Without it all that come through a proxy are one.
    #[arg(
        long = "page-proxy",
        env = "ARENA_PAGE_PROXY",
        value_name = "ADDRESS",
        value_delimiter = ',',
        value_parser = parse_network
    )]
    pub page_proxies: Vec<IpNet>,
    /// The header in which this proxy says who a person is whom it has asked for a password, as in
    /// X-Remote-User: the `id` of the person in contests. The proxy has to take the header away from
    /// what others send.
    #[arg(
        long = "page-user-header",
        env = "ARENA_PAGE_USER_HEADER",
        value_name = "HEADER",
        requires = "page_proxies"
    )]
    pub page_user_header: Option<HeaderName>,
    /// Nobody plays on the page.
    #[arg(long, env = "ARENA_NO_PLAY")]
    pub no_play: bool,
    /// A bot that people may play against on the page, besides the built-in ones.
    #[arg(long, value_name = "NAME=SPEC", conflicts_with_all = ["no_play", "no_page"])]
    pub offer: Vec<String>,
    /// Whoever is away from a game on the page for so long has resigned.
    #[arg(long, default_value = "10m", value_parser = parse_limit)]
    pub away: Duration,
    /// How many games people play at once on the page.
    #[arg(long, default_value_t = 100)]
    pub people: usize,
    /// Where games of people are kept [default: arena-runs/people].
    #[arg(long, value_name = "FOLDER")]
    pub people_folder: Option<PathBuf>,
    /// How much space records of games of people may take, in MiB. The oldest are removed.
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    pub people_records: u64,
    /// How long records of games of people are kept.
    #[arg(long, default_value = "90d", value_parser = parse_limit, value_name = "TIME")]
    pub people_age: Duration,
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| "expected an address or a network, as in 127.0.0.1 or 10.0.0.0/8".to_owned())
}

impl PageArgs {
    /// The folder of people's games.
    pub fn folder(&self) -> PathBuf {
        let folder = self.people_folder.clone();
        folder.unwrap_or_else(|| PathBuf::from("arena-runs/people"))
    }

    /// True if people may play on it.
    pub const fn has_play(&self) -> bool {
        !self.no_play
    }

    /// Largest numbers of games of people and of connections, if there are enough files.
    pub const fn wanted(&self) -> (usize, usize) {
        let people = if self.has_play() { self.people } else { 0 };
        (people, CONNECTIONS)
    }
}
