//! Games that people play in their browsers. One is a task that owns it ([`table`]); whoever sits at
//! it is known by a cookie. It is kept in a file with every move, so that it goes on after the arena
//! was started again.

mod context;
pub(crate) mod handlers;
mod kept;
mod options;
mod pages;
mod table;

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;

pub(crate) use kept::SeatedPlayer;
pub use options::{Opponent, PeopleOptions, RecordBounds};

use self::{
    context::TableContext,
    kept::{KeptGame, PlayedGame},
    table::PeopleTable,
};
use crate::{
    advice::Adviser,
    caller::Browser,
    client::Client,
    error::{Full, PageError},
    queue::WorkQueue,
};

/// So many games one browser has at once.
const OF_ONE_BROWSER: usize = 8;
/// So many games are begun from one address and not over, or half of all where that is less.
const OF_ONE_CLIENT: usize = 16;
/// So many times as many are kept with those that are over and still shown.
const STILL_SHOWN: usize = 4;
/// Time between two looks at who is away.
const LOOK: Duration = Duration::from_secs(2);

/// All games of people.
pub(crate) struct People {
    context: Arc<TableContext>,
    tables: Mutex<HashMap<String, Arc<PeopleTable>>>,
}

impl People {
    pub(crate) fn new(options: PeopleOptions, adviser: Adviser, queue: Arc<WorkQueue>) -> Self {
        let context = TableContext {
            options,
            adviser,
            queue,
        };
        Self {
            context: Arc::new(context),
            tables: Mutex::default(),
        }
    }

    /// Begins a game, or goes on with one, where there is room for it.
    fn begin(&self, kept: KeptGame) -> Result<Arc<PeopleTable>, PageError> {
        let kind = referee_games::game(&kept.game).ok_or_else(|| {
            PageError::system(
                "a game of people can't go on",
                format!("no game {}", kept.game),
            )
        })?;
        let mut tables = self.tables.lock();
        tables.retain(|_, table| !table.is_forgotten());
        let running = tables.values().filter(|table| !table.is_over());
        if running.count() >= self.context.options.most {
            return Err(Full::Games.into());
        }
        if tables.len() >= self.context.options.most * STILL_SHOWN {
            // Its record is there.
            let over = tables
                .values()
                .filter_map(|table| Some((table.over_at()?, table.id())));
            let first = over.min().map(|(_, id)| id.to_owned());
            first.map(|id| tables.remove(&id));
        }
        let table = PeopleTable::start(self.context.clone(), kind, kept);
        tables.insert(table.id().to_owned(), table.clone());
        Ok(table)
    }

    /// Checks that a browser may begin another game from this address.
    fn check_room(&self, browser: &Browser, client: Client) -> Result<(), PageError> {
        if self.of_browser(browser).len() >= OF_ONE_BROWSER {
            return Err(Full::GamesOfBrowser.into());
        }
        let of_one = self.context.options.most.div_ceil(2).min(OF_ONE_CLIENT);
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
    fn of_browser(&self, browser: &Browser) -> Vec<Arc<PeopleTable>> {
        let tables = self.tables.lock();
        let own = tables.values().filter(|table| {
            !table.is_over() && table.chairs().iter().any(|chair| chair.is_of(browser))
        });
        let mut own: Vec<_> = own.cloned().collect();
        own.sort_by(|a, b| a.id().cmp(b.id()));
        own
    }

    /// The games that others may watch and that are not over, by those who play them. One with a free
    /// seat is for those who were sent its address.
    fn watched(&self) -> Vec<Arc<PeopleTable>> {
        let tables = self.tables.lock();
        let watched = tables.values().filter(|table| {
            let has_room = table.chairs().iter().any(SeatedPlayer::is_free);
            table.is_watched() && !table.is_over() && !has_room
        });
        let mut watched: Vec<_> = watched.cloned().collect();
        drop(tables);
        watched.sort_by(|a, b| (&a.names, a.id()).cmp(&(&b.names, b.id())));
        watched
    }

    /// The games of a browser that are over, the newest first.
    fn played(&self, browser: &Browser) -> Vec<PlayedGame> {
        let played = kept::played(&self.context.options.folder, browser);
        played.unwrap_or_else(|error| {
            tracing::warn!(%error, "a list of what somebody has played can't be read");
            Vec::new()
        })
    }

    /// A game that is being played, or was a moment ago.
    fn table(&self, id: &str) -> Option<Arc<PeopleTable>> {
        self.tables.lock().get(id).cloned()
    }

    /// Goes on with the games that were being played when the arena ended.
    fn go_on(&self) {
        for kept in kept::read_all(&self.context.options.folder) {
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

    /// Looks who is away, as long as the page is served.
    pub(crate) async fn look_after(&self) {
        self.context.prune();
        self.go_on();
        loop {
            tokio::time::sleep(LOOK).await;
            let tables: Vec<_> = self.tables.lock().values().cloned().collect();
            for table in tables {
                table.resign_who_is_away(self.context.options.grace);
            }
        }
    }

    /// Stops the bots of all games. What was played is in files.
    pub(crate) async fn put_away(&self) {
        let tables: Vec<_> = self.tables.lock().drain().map(|(_, table)| table).collect();
        for table in &tables {
            table.stop();
        }
        for table in tables {
            table.stopped().await;
        }
    }
}

#[cfg(test)]
impl People {
    /// A game by where it is.
    pub(crate) fn table_at(&self, path: &str) -> Option<Arc<PeopleTable>> {
        self.table(path.strip_prefix("/play/")?)
    }
}
