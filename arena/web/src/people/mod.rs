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
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_play::{Player, Seating};
use parking_lot::Mutex;
use referee_bots::{Entry, LaunchContext};
use referee_core::{GameInfo, GameKind, Limits};

pub(crate) use handlers::routes;
#[cfg(test)]
pub(crate) use kept::Chair as SeatedPlayer;

use self::{
    kept::{Chair, KeptGame},
    table::Table,
};
use crate::{
    advice::Adviser,
    caller::Browser,
    client::Client,
    error::{Full, PageError},
    queue::WorkQueue,
    site::Site,
};

/// So many games one browser has at once.
const OF_ONE_BROWSER: usize = 8;
/// So many games are begun from one address and not over, or half of all where that is less.
const OF_ONE_CLIENT: usize = 16;
/// So many times as many are kept with those that are over and still shown.
const STILL_SHOWN: usize = 4;
/// Whoever is asked has resigned where nothing was played for so long, even if their page is open.
const STANDSTILL: Duration = Duration::from_secs(2 * 3600);
/// No game lasts longer: whoever is asked then has resigned.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
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
    /// Where games are kept.
    pub folder: PathBuf,
    /// Which records of games are kept there.
    pub records: RecordBounds,
    /// Whoever is away for so long has resigned.
    pub grace: Duration,
    /// So many games are played at once.
    pub most: usize,
}

/// Which records are kept of games that are over: the newest ones.
#[derive(Clone, Copy, Debug)]
pub struct RecordBounds {
    /// All together have no more bytes.
    pub bytes: u64,
    /// None is older.
    pub age: Duration,
}

/// All games of people.
pub(crate) struct People {
    options: PeopleOptions,
    /// Gives hints, and tells people what they can expect.
    adviser: Adviser,
    queue: Arc<WorkQueue>,
    tables: Mutex<HashMap<String, Arc<Table>>>,
}

impl People {
    pub(crate) fn new(options: PeopleOptions, adviser: Adviser, queue: Arc<WorkQueue>) -> Self {
        Self {
            options,
            adviser,
            queue,
            tables: Mutex::default(),
        }
    }

    /// The bots that play a game.
    fn opponents(&self, game: &GameInfo) -> impl Iterator<Item = &Opponent> {
        let all = self.options.opponents.iter();
        all.filter(move |one| {
            one.game.is_none_or(|name| name == game.name) && one.entry.check_plays(game).is_ok()
        })
    }

    /// Begins a game, or goes on with one, where there is room for it.
    fn begin(self: &Arc<Self>, kept: KeptGame) -> Result<Arc<Table>, PageError> {
        let kind = referee_games::game(&kept.game).ok_or_else(|| {
            PageError::system(
                "a game of people can't go on",
                format!("no game {}", kept.game),
            )
        })?;
        let mut tables = self.tables.lock();
        tables.retain(|_, table| !table.is_forgotten());
        let running = tables.values().filter(|table| !table.is_over());
        if running.count() >= self.options.most {
            return Err(Full::Games.into());
        }
        if tables.len() >= self.options.most * STILL_SHOWN {
            // Its record is there.
            let over = tables
                .values()
                .filter_map(|table| Some((table.over_at()?, table.id())));
            let first = over.min().map(|(_, id)| id.to_owned());
            first.map(|id| tables.remove(&id));
        }
        let table = Table::start(self.clone(), kind, kept);
        tables.insert(table.id().to_owned(), table.clone());
        Ok(table)
    }

    /// Whether a browser may begin another game from this address.
    fn check_room(&self, browser: &Browser, client: Client) -> Result<(), PageError> {
        if self.of_browser(browser).len() >= OF_ONE_BROWSER {
            return Err(Full::GamesOfBrowser.into());
        }
        let of_one = self.options.most.div_ceil(2).min(OF_ONE_CLIENT);
        let tables = self.tables.lock();
        let own = tables
            .values()
            .filter(|table| table.client() == Some(client));
        let (mut running, mut all) = (0, 0);
        for table in own.filter(|table| !table.is_forgotten()) {
            all += 1;
            running += usize::from(!table.is_over());
        }
        match running < of_one && all < of_one * STILL_SHOWN {
            true => Ok(()),
            false => Err(Full::GamesOfClient.into()),
        }
    }

    /// The games of a browser that are not over.
    fn of_browser(&self, browser: &Browser) -> Vec<Arc<Table>> {
        let tables = self.tables.lock();
        let own = tables.values().filter(|table| {
            !table.is_over() && table.chairs().iter().any(|chair| chair.is_of(browser))
        });
        let mut own: Vec<_> = own.cloned().collect();
        own.sort_by(|a, b| a.id().cmp(b.id()));
        own
    }

    /// A game that is being played, or was a moment ago.
    fn table(&self, id: &str) -> Option<Arc<Table>> {
        self.tables.lock().get(id).cloned()
    }

    /// Removes the records that are too many or too old.
    fn prune(&self) {
        let (folder, bounds) = (self.options.folder.clone(), self.options.records);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = kept::prune(&folder, bounds, SystemTime::now()) {
                tracing::error!(%error, "old records of games of people can't be removed");
            }
        });
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

#[cfg(test)]
impl People {
    /// A game by where it is.
    pub(crate) fn table_at(&self, path: &str) -> Option<Arc<Table>> {
        self.table(path.strip_prefix("/play/")?)
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
    people.prune();
    people.go_on();
    loop {
        tokio::time::sleep(LOOK).await;
        let tables: Vec<_> = people.tables.lock().values().cloned().collect();
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
    let tables: Vec<_> = people
        .tables
        .lock()
        .drain()
        .map(|(_, table)| table)
        .collect();
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
