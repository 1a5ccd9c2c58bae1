//! The web page of `arena serve`, and games of people on it.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
};

use anyhow::Context as _;
use arena_review::InProcessBot;
use arena_store::Store;
use arena_terminal::{BuiltIn, beside::PageArgs, report};
use arena_web::{ChooseBot, Hub, Opponent, PeopleOptions, RecordBounds, SiteOptions};
use referee_bots::{Entry, LaunchContext, is_of_a_name};
use referee_cli::{bots::schemes, files::FileShares, usage};
use referee_games::GAMES;
use tokio_util::sync::CancellationToken;

use crate::adviser;

/// Address of the page if nothing is said.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// A page that can be served.
pub(crate) struct Page {
    listener: TcpListener,
    pub(crate) hub: Arc<Hub>,
}

/// Binds its address. None where there is to be no page, or where nobody asked for it and the
/// usual address is taken.
pub(crate) fn listen(args: &PageArgs) -> anyhow::Result<Option<Page>> {
    if args.no_page {
        return Ok(None);
    }
    let address = args.page.unwrap_or(ADDRESS);
    match TcpListener::bind(address) {
        Ok(listener) => {
            let at = listener.local_addr()?;
            report::note(&format!("the web page is at http://{at}/"));
            Ok(Some(Page {
                listener,
                hub: Arc::default(),
            }))
        }
        Err(error) if args.page.is_some() => usage(format!("--page {address}: {error}")),
        Err(error) => {
            report::warning(&format!(
                "no web page: {address}: {error}; --page ADDRESS serves it elsewhere, --no-page \
                 says that none is wanted"
            ));
            Ok(None)
        }
    }
}

/// Serves it in a thread of its own until it is stopped. `context` starts the bots of games that
/// people play; without it nobody plays. `contests` says that those of the store are shown.
pub(crate) fn serve(
    args: &PageArgs,
    contests: bool,
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
            opponents: opponents(args)?,
            folder: std::path::absolute(args.folder())?,
            records: RecordBounds {
                bytes: args.people_records.saturating_mul(1 << 20),
                age: args.people_age,
            },
            grace: args.away,
            most: shares.people,
        }),
    };
    let options = SiteOptions {
        store,
        hub: page.hub,
        people,
        adviser: adviser::in_processes()?,
        contests,
        names: args.page_names.clone(),
        proxies: args.page_proxies.clone(),
        user_header: args.page_user_header.clone(),
        connections: shares.viewers,
    };
    arena_web::serve(options, page.listener, stop).context("could not serve the page")
}

/// The opponents that the operator offers, then the built-in bots, the strongest first.
fn opponents(args: &PageArgs) -> anyhow::Result<Vec<Opponent>> {
    let schemes = schemes()?;
    let mut opponents = Vec::new();
    for entry in Entry::read_all(&args.offer, &schemes)
        .or_else(|error| usage(format!("--offer: {error}")))?
    {
        opponents.push(Opponent {
            game: None,
            strength: None,
            entry,
        });
    }
    for kind in &GAMES {
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
