//! Games that people play in their browsers. One is a task that owns it ([`table`]); whoever sits at
//! it is known by a cookie. It is kept in a file with every move, so that it goes on after the arena
//! was started again.

mod handlers;
mod kept;
mod pages;
mod table;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arena_play::{Player, Seating};
use referee_core::{GameInfo, GameKind, Limits};
use referee_worker::{Entry, LaunchContext};

pub(crate) use handlers::routes;

use self::{
    kept::{Chair, KeptGame},
    table::Table,
};
use crate::{caller::Browser, error::PageError, evaluation::ChooseBot, site::Site};

/// So many games one browser has at once.
const OF_ONE_BROWSER: usize = 8;
/// How often it is looked who is away.
const LOOK: Duration = Duration::from_secs(2);

/// A bot that people may play against.
#[derive(Clone)]
pub struct Opponent {
    /// The game that it is offered in; none if in all that it plays.
    pub game: Option<&'static str>,
    /// How strong it is among those that are offered in this game, from 1, and how many there are;
    /// none where that is not known.
    pub strength: Option<(usize, usize)>,
    /// The bot.
    pub entry: Entry,
}

/// How people play.
pub struct PeopleOptions {
    /// Starts the bots.
    pub context: LaunchContext,
    /// Whom they may play against. Nobody can name another program.
    pub opponents: Vec<Opponent>,
    /// Who gives hints.
    pub hinter: ChooseBot,
    /// Where games are kept.
    pub folder: PathBuf,
    /// Whoever is away for so long has resigned.
    pub grace: Duration,
    /// So many games are played at once.
    pub most: usize,
}

/// All games of people.
pub(crate) struct People {
    options: PeopleOptions,
    /// Whose estimates tell people what they can expect.
    analyst: ChooseBot,
    tables: Mutex<HashMap<String, Arc<Table>>>,
}

impl People {
    pub(crate) fn new(options: PeopleOptions, analyst: ChooseBot) -> Self {
        Self {
            options,
            analyst,
            tables: Mutex::default(),
        }
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, Arc<Table>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bots that play a game.
    fn opponents(&self, game: &GameInfo) -> impl Iterator<Item = &Opponent> {
        let all = self.options.opponents.iter();
        all.filter(move |one| {
            one.game.is_none_or(|name| name == game.name) && one.entry.check_plays(game).is_ok()
        })
    }

    /// Begins a game.
    fn begin(self: &Arc<Self>, kept: KeptGame) -> Result<Arc<Table>, PageError> {
        let kind = referee_games::game(&kept.game).ok_or_else(|| {
            PageError::system(
                "a game of people can't go on",
                format!("no game {}", kept.game),
            )
        })?;
        let mut tables = self.tables();
        tables.retain(|_, table| !table.is_forgotten());
        let running = tables.values().filter(|table| !table.is_over());
        if running.count() >= self.options.most {
            return Err(PageError::Busy(
                "so many games are being played here that there is no room for another one; try \
                 again later"
                    .to_owned(),
            ));
        }
        let table = Table::start(self.clone(), kind, kept);
        tables.insert(table.id().to_owned(), table.clone());
        Ok(table)
    }

    /// Whether a browser may begin another game.
    fn check_browser(&self, browser: &Browser) -> Result<(), PageError> {
        match self.of_browser(browser).len() {
            0..OF_ONE_BROWSER => Ok(()),
            _ => Err(PageError::Busy(format!(
                "you play {OF_ONE_BROWSER} games already; finish or resign one first"
            ))),
        }
    }

    /// The games of a browser that are not over.
    fn of_browser(&self, browser: &Browser) -> Vec<Arc<Table>> {
        let tables = self.tables();
        let own = tables.values().filter(|table| {
            !table.is_over() && table.chairs().iter().any(|chair| chair.is_of(browser))
        });
        let mut own: Vec<_> = own.cloned().collect();
        own.sort_by(|a, b| a.id().cmp(b.id()));
        own
    }

    /// A game that is being played, or was a moment ago.
    fn table(&self, id: &str) -> Option<Arc<Table>> {
        self.tables().get(id).cloned()
    }

    /// Goes on with the games that were being played when the arena ended.
    fn go_on(self: &Arc<Self>) {
        for kept in kept::read_all(&self.options.folder) {
            match kept {
                Ok(kept) => {
                    let id = kept.id.clone();
                    if let Err(error) = self.begin(kept) {
                        tracing::warn!(id, %error, "a game of people does not go on");
                    }
                }
                Err(error) => tracing::warn!(%error, "a game of people can't be read"),
            }
        }
    }
}

/// What the engine needs to deal or to go on.
fn seating(
    people: &People,
    kind: &'static dyn GameKind,
    kept: &KeptGame,
) -> Result<Seating, PageError> {
    let mut players = Vec::new();
    for (chair, name) in kept.chairs.iter().zip(&kept.names) {
        players.push(match chair {
            Chair::Person { .. } => Player::Person(name.clone()),
            Chair::Bot { spec } => {
                let mut all = people.options.opponents.iter();
                let known = all.find(|one| one.entry.spec == *spec);
                let known = known.ok_or_else(|| {
                    PageError::system("a game of people can't go on", format!("no bot {spec}"))
                })?;
                Player::Bot(known.entry.renamed(name))
            }
        });
    }
    Ok(Seating {
        kind,
        setup: kept.setup.clone(),
        seed: kept.seed,
        game_id: format!("people-{}", kept.id),
        limits: Limits {
            per_move: Duration::from_millis(kept.limit_ms),
            ..Limits::default()
        },
        people_are_timed: kept.is_timed,
        players,
    })
}

/// Looks who is away, as long as the page is served.
pub(crate) async fn look_after(site: &Arc<Site>) {
    let Some(people) = &site.people else {
        return std::future::pending().await;
    };
    people.go_on();
    loop {
        tokio::time::sleep(LOOK).await;
        let tables: Vec<_> = people.tables().values().cloned().collect();
        for table in tables {
            table.resign_who_is_away(people.options.grace);
        }
    }
}

/// Stops the bots of all games. What was played is in files.
pub(crate) async fn put_away(site: &Arc<Site>) {
    let Some(people) = &site.people else {
        return;
    };
    let tables: Vec<_> = people.tables().drain().map(|(_, table)| table).collect();
    for table in &tables {
        table.stop();
    }
    for table in tables {
        table.stopped().await;
    }
}

/// What is not served where nobody may play.
fn of_site(site: &Arc<Site>) -> Result<&Arc<People>, PageError> {
    site.people.as_ref().ok_or_else(|| {
        PageError::NotFound("nobody can play here: the arena was started with --no-play".to_owned())
    })
}
