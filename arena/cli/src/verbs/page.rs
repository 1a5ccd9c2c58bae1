//! The web page of `arena serve`, and games of people on it.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use arena_review::InProcessBot;
use arena_store::Store;
use arena_tournament::parse_limit;
use arena_web::{ChooseBot, Hub, Opponent, PeopleOptions, RecordBounds, SiteOptions};
use clap::Args;
use ipnet::IpNet;
use referee_bots::{Entry, LaunchContext, is_of_a_name};
use referee_cli::files::FileShares;
use referee_games::GAMES;
use tokio_util::sync::CancellationToken;

use crate::{adviser, bots::schemes, built_in::BuiltIn, report, usage};

/// How many connections are open at once.
const CONNECTIONS: usize = 4_000;
/// Where the page is if nothing is said.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

#[derive(Args)]
pub(crate) struct PageArgs {
    /// Where the web page is; port 0 lets the system choose [default: 127.0.0.1:8080, if that is
    /// free].
    #[arg(long, env = "ARENA_PAGE", value_name = "ADDRESS")]
    page: Option<SocketAddr>,
    /// Serve no web page.
    #[arg(long, conflicts_with = "page")]
    no_page: bool,
    /// A host name under which the page is reached, besides localhost and addresses.
    #[arg(
        long = "page-name",
        env = "ARENA_PAGE_NAME",
        value_name = "NAME",
        value_delimiter = ','
    )]
    page_names: Vec<String>,
    /// A proxy before the page, as an address or a network: the addresses that it writes into
    /// X-Forwarded-For tell people apart. Without it all that come through a proxy are one.
    #[arg(
        long = "page-proxy",
        env = "ARENA_PAGE_PROXY",
        value_name = "ADDRESS",
        value_delimiter = ',',
        value_parser = parse_network
    )]
    page_proxies: Vec<IpNet>,
    /// Nobody plays on the page.
    #[arg(long, env = "ARENA_NO_PLAY")]
    no_play: bool,
    /// A bot that people may play against on the page, besides the built-in ones.
    #[arg(long, value_name = "NAME=SPEC", conflicts_with = "no_play")]
    offer: Vec<String>,
    /// Whoever is away from a game on the page for so long has resigned.
    #[arg(long, default_value = "10m", value_parser = parse_limit)]
    away: Duration,
    /// How many games people play at once on the page.
    #[arg(long, default_value_t = 100)]
    people: usize,
    /// Where games of people are kept [default: arena-runs/people].
    #[arg(long, value_name = "FOLDER")]
    people_folder: Option<PathBuf>,
    /// How much space records of games of people may take, in MiB. The oldest are removed.
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    people_records: u64,
    /// How long records of games of people are kept.
    #[arg(long, default_value = "90d", value_parser = parse_limit, value_name = "TIME")]
    people_age: Duration,
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| "expected an address or a network, as in 127.0.0.1 or 10.0.0.0/8".to_owned())
}

/// A page that can be served.
pub(crate) struct Page {
    listener: TcpListener,
    pub(crate) hub: Arc<Hub>,
}

impl PageArgs {
    /// Binds its address. None where there is to be no page, or where nobody asked for it and the
    /// usual address is taken.
    pub(crate) fn listen(&self) -> anyhow::Result<Option<Page>> {
        if self.no_page {
            return Ok(None);
        }
        let address = self.page.unwrap_or(ADDRESS);
        match TcpListener::bind(address) {
            Ok(listener) => {
                let at = listener.local_addr()?;
                report::note(&format!("the web page is at http://{at}/"));
                Ok(Some(Page {
                    listener,
                    hub: Arc::default(),
                }))
            }
            Err(error) if self.page.is_some() => usage(format!("--page {address}: {error}")),
            Err(error) => {
                report::warning(&format!(
                    "no web page: {address}: {error}; --page ADDRESS serves it elsewhere, --no-page \
                     says that none is wanted"
                ));
                Ok(None)
            }
        }
    }

    /// The folder of people's games.
    pub(crate) fn folder(&self) -> PathBuf {
        let folder = self.people_folder.clone();
        folder.unwrap_or_else(|| PathBuf::from("arena-runs/people"))
    }

    /// Whether people may play on it.
    pub(crate) const fn has_play(&self) -> bool {
        !self.no_play
    }

    /// How many games of people and how many connections there may be, if there are enough files.
    pub(crate) const fn wanted(&self) -> (usize, usize) {
        let people = if self.has_play() { self.people } else { 0 };
        (people, CONNECTIONS)
    }

    /// Serves it in a thread of its own until it is stopped. `context` starts the bots of games that
    /// people play; without it nobody plays.
    pub(crate) fn serve(
        &self,
        page: Page,
        store: Store,
        context: Option<LaunchContext>,
        shares: FileShares,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
        let people = match context {
            None => None,
            Some(context) => Some(PeopleOptions {
                context,
                opponents: self.opponents()?,
                folder: std::path::absolute(self.folder())?,
                records: RecordBounds {
                    bytes: self.people_records.saturating_mul(1 << 20),
                    age: self.people_age,
                },
                grace: self.away,
                most: shares.people,
            }),
        };
        let options = SiteOptions {
            store,
            hub: page.hub,
            people,
            adviser: adviser::in_processes()?,
            names: self.page_names.clone(),
            proxies: self.page_proxies.clone(),
            connections: shares.viewers,
        };
        arena_web::serve(options, page.listener, stop).context("could not serve the page")
    }

    /// What the operator offers, then the built-in bots, the strongest first.
    fn opponents(&self) -> anyhow::Result<Vec<Opponent>> {
        let schemes = schemes()?;
        let mut opponents = Vec::new();
        for entry in Entry::read_all(&self.offer, &schemes)
            .or_else(|error| usage(format!("--offer: {error}")))?
        {
            opponents.push(Opponent {
                game: None,
                strength: None,
                entry,
            });
        }
        for kind in GAMES {
            let strengths = house_bots::strengths(kind.info());
            let of = strengths.len();
            for (below, spec) in strengths.iter().enumerate().rev() {
                let name: String = spec.chars().take_while(|c| is_of_a_name(*c)).collect();
                let entry = Entry::read(&format!("{name}=house:{spec}"), &schemes)?;
                opponents.push(Opponent {
                    game: Some(kind.info().name),
                    strength: Some((below + 1, of)),
                    entry,
                });
            }
        }
        Ok(opponents)
    }
}

/// Hints come from the strongest built-in bot.
pub(crate) fn hinter() -> ChooseBot {
    Arc::new(|game| built_in(house_bots::best(game)))
}

/// Games are evaluated by the built-in bots that have estimates.
pub(crate) fn analyst() -> ChooseBot {
    Arc::new(|game| built_in(house_bots::analyst(game)?))
}

fn built_in(spec: &str) -> Option<(String, Arc<dyn InProcessBot>)> {
    let bot = house_bots::bot(spec).ok()?;
    Some((format!("house:{spec}"), Arc::new(BuiltIn(bot))))
}
