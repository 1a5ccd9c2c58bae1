//! Standings of tournaments, computed from all results when somebody looks, and kept for as long as
//! that took ten times over: a large tournament costs the same share of a core as a small one,
//! however many look.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_events::{Event, figures::FiguresEvent, standings::StandingsEvent};
use arena_store::{Store, Tournament, TournamentSummary};
use arena_tournament::{Definition, RatingsAfter, Snapshot, StoredResults, events};
use parking_lot::Mutex;
use referee_worker::Buckets;
use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking};

use crate::error::PageError;

/// Shortest time for which standings are kept.
const LEAST: Duration = Duration::from_millis(500);
/// So many times as long as they took to compute they are kept.
const SHARE: u32 = 10;
/// Of so many tournaments they are kept.
const MOST: usize = 64;

/// A tournament as it stands.
pub(crate) struct TournamentStanding {
    pub(crate) tournament: Tournament,
    pub(crate) definition: Definition,
    pub(crate) standings: StandingsEvent,
    pub(crate) figures: FiguresEvent,
    /// The history of its ratings.
    pub(crate) history: Vec<RatingsAfter>,
    /// The times that each bot's answers took, by number.
    pub(crate) thinking: Vec<Buckets>,
    /// Changes with all of this; as the header `ETag` has it.
    pub(crate) tag: String,
    /// Number of games that there were.
    games: u64,
}

/// A reading, and how long it is good.
pub(crate) struct KeptReading<T> {
    pub(crate) value: Arc<T>,
    made: Instant,
    took: Duration,
}

/// A place for what one reads at a time.
pub(crate) struct Slot<T> {
    pub(crate) kept: Mutex<Option<KeptReading<T>>>,
    pub(crate) reading: Arc<tokio::sync::Mutex<()>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            reading: Arc::default(),
        }
    }
}

impl<T> Slot<T> {
    /// What was read last, if it is good.
    pub(crate) fn kept(&self, is_good: fn(&KeptReading<T>) -> bool) -> Option<Arc<T>> {
        let kept = self.kept.lock();
        let kept = kept.as_ref().filter(|kept| is_good(kept));
        kept.map(|kept| kept.value.clone())
    }
}

type StandingSlot = Arc<Slot<TournamentStanding>>;

/// The standings of all tournaments that are looked at.
pub(crate) struct StandingsCache {
    shared: Arc<SharedStandings>,
    list: tokio::sync::Mutex<Option<KeptReading<Vec<TournamentSummary>>>>,
}

struct SharedStandings {
    store: Store,
    slots: Mutex<HashMap<String, StandingSlot>>,
    /// One tournament's are computed at a time, however many are looked at: what is played meanwhile
    /// has the other cores.
    turn: Semaphore,
}

impl<T> KeptReading<T> {
    /// A value that has just been read; the reading began at `began`.
    pub(crate) fn since(began: Instant, value: T) -> Self {
        Self {
            value: Arc::new(value),
            made: Instant::now(),
            took: began.elapsed(),
        }
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.made.elapsed() < self.lasts()
    }

    /// True if it is good while somebody makes it anew.
    pub(crate) fn is_fresh_enough(&self) -> bool {
        self.made.elapsed() < 2 * self.lasts()
    }

    fn lasts(&self) -> Duration {
        LEAST.max(self.took * SHARE)
    }
}

impl StandingsCache {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            shared: Arc::new(SharedStandings {
                store,
                slots: Mutex::default(),
                turn: Semaphore::new(1),
            }),
            list: tokio::sync::Mutex::default(),
        }
    }

    /// All tournaments as they were a moment ago, the newest first.
    pub(crate) async fn tournaments(&self) -> Result<Arc<Vec<TournamentSummary>>, PageError> {
        let mut list = self.list.lock().await;
        if let Some(kept) = list.as_ref()
            && kept.is_fresh()
        {
            return Ok(kept.value.clone());
        }
        let began = Instant::now();
        let kept = KeptReading::since(began, self.shared.store.tournaments().await?);
        Ok(list.insert(kept).value.clone())
    }

    /// A tournament as it stood a moment ago. Whoever asks waits for it only where it was not looked at
    /// for a while; otherwise it is computed anew beside them.
    pub(crate) async fn of(&self, name: &str) -> Result<Arc<TournamentStanding>, PageError> {
        let slot = self.shared.slot(name);
        if let Some(fresh) = slot.kept(KeptReading::is_fresh) {
            return Ok(fresh);
        }
        let recent = slot.kept(KeptReading::is_fresh_enough);
        let reading = match (slot.reading.clone().try_lock_owned(), recent) {
            (Err(_), Some(recent)) => return Ok(recent),
            (Ok(reading), Some(recent)) => {
                let (shared, slot, name) = (self.shared.clone(), slot.clone(), name.to_owned());
                tokio::spawn(async move {
                    let read = shared.read(&slot, &name).await;
                    drop(reading);
                    if let Err(error) = read {
                        tracing::debug!(name, %error, "no new standings");
                    }
                });
                return Ok(recent);
            }
            (Ok(reading), None) => reading,
            (Err(_), None) => slot.reading.clone().lock_owned().await,
        };
        // Somebody else may just have read it.
        if let Some(fresh) = slot.kept(KeptReading::is_fresh) {
            return Ok(fresh);
        }
        let read = self.shared.read(&slot, name).await;
        drop(reading);
        read
    }
}

impl SharedStandings {
    fn slot(&self, name: &str) -> StandingSlot {
        let mut slots = self.slots.lock();
        if slots.len() >= MOST && !slots.contains_key(name) {
            // Those that nobody waits for are computed again when somebody looks.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        slots.entry(name.to_owned()).or_default().clone()
    }

    fn forget(&self, name: &str) {
        let mut slots = self.slots.lock();
        slots.remove(name);
    }

    /// Reads a tournament into its slot, or keeps what is there where nothing has changed.
    async fn read(
        &self,
        slot: &Slot<TournamentStanding>,
        name: &str,
    ) -> Result<Arc<TournamentStanding>, PageError> {
        let Some(tournament) = self.store.listed_tournament(name).await? else {
            self.forget(name);
            return Err(PageError::NotFound(format!(
                "there is no tournament \"{name}\""
            )));
        };
        let games = self.store.game_count(tournament.id).await?;
        {
            let mut kept = slot.kept.lock();
            let same = kept.as_mut().filter(|kept| {
                let is_recent = kept.made.elapsed() < Duration::from_secs(10);
                kept.value.games == games
                    && kept.value.tournament == tournament
                    && (tournament.state.is_final() || is_recent)
            });
            if let Some(same) = same {
                if tournament.state.is_final() {
                    same.made = Instant::now();
                }
                return Ok(same.value.clone());
            }
        }
        let began = Instant::now();
        let kept = KeptReading::since(began, self.compute(tournament, games).await?);
        let standing = kept.value.clone();
        *slot.kept.lock() = Some(kept);
        Ok(standing)
    }

    /// On a thread of its own: folding a schedule over many scores takes long.
    async fn compute(
        &self,
        tournament: Tournament,
        games: u64,
    ) -> Result<TournamentStanding, PageError> {
        let _turn = self.turn.acquire().await;
        let store = self.store.clone();
        let runtime = Handle::current();
        spawn_blocking(move || runtime.block_on(compute(&store, tournament, games)))
            .await
            .map_err(|error| PageError::system("the standings could not be computed", error))?
    }
}

async fn compute(
    store: &Store,
    tournament: Tournament,
    games: u64,
) -> Result<TournamentStanding, PageError> {
    let results = StoredResults::of(store, tournament.id);
    let definition = Definition::of(&tournament)?;
    let names = tournament.entrants.iter().map(|bot| bot.name.clone());
    let root = tournament.root.as_ref();
    let snapshot = Snapshot::of(&results, &definition, names.collect(), root).await?;
    let is_claimed = store.is_claimed(tournament.id).await?;
    let bots = tournament.entrants.iter().map(|bot| {
        let mut bot = events::entrant(bot);
        bot.spec = public_spec(&bot.spec);
        bot
    });
    let stored = events::StoredRun {
        tournament: &tournament,
        is_claimed,
    };
    let Event::Standings(standings) = snapshot.standings_event(Some(&stored), bots.collect())
    else {
        return Err(PageError::system("the standings", "they are another event"));
    };
    let Event::Figures(figures) = snapshot.figures_event(Some(&tournament.name)) else {
        return Err(PageError::system("the figures", "they are another event"));
    };
    let history = snapshot.rating_history();
    let thinking = snapshot.figures.bots.iter();
    let thinking = thinking.map(|bot| bot.thinking.clone()).collect();
    // Quoted, as RFC 9110 wants it.
    let tag = format!(
        "\"{}-{games}-{:?}-{}\"",
        tournament.id,
        standings.state,
        tournament.over_unix_ms.unwrap_or_default()
    );
    Ok(TournamentStanding {
        definition,
        standings,
        figures,
        history,
        thinking,
        tag,
        tournament,
        games,
    })
}

/// The part of a SPEC that everybody may know: a command line or an address is for its owner.
fn public_spec(spec: &str) -> String {
    match spec.split_once(':') {
        Some(("house", _)) => spec.to_owned(),
        Some((kind, _)) => format!("{kind}:…"),
        None => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_not_told() {
        assert_eq!(public_spec("house:uct?time=1s"), "house:uct?time=1s");
        assert_eq!(public_spec("exec:./bot --token s3cret"), "exec:…");
        assert_eq!(public_spec("grpc://10.0.0.7:50051"), "grpc:…");
    }
}
