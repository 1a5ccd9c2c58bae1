//! Standings of tournaments, computed from all results when somebody looks, and kept for as long as
//! that took ten times over: a large tournament costs the same share of a core as a small one,
//! however many look.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use arena_events::{Event, figures::FiguresEvent, standings::StandingsEvent};
use arena_store::{Store, Tournament};
use arena_tournament::{Definition, Snapshot, StoredResults, events};
use referee_worker::Buckets;
use tokio::{runtime::Handle, task::spawn_blocking};

use crate::error::PageError;

/// How long standings are kept at least.
const LEAST: Duration = Duration::from_millis(500);
/// So many times as long as they took to compute they are kept.
const SHARE: u32 = 10;
/// Of so many tournaments they are kept.
const MOST: usize = 64;

/// A tournament as it stands.
pub(crate) struct Standing {
    pub(crate) tournament: Tournament,
    pub(crate) definition: Definition,
    pub(crate) standings: StandingsEvent,
    pub(crate) figures: FiguresEvent,
    /// How long each bot's answers took, by number.
    pub(crate) thinking: Vec<Buckets>,
    /// Changes with all of this.
    pub(crate) tag: String,
}

struct Kept {
    standing: Arc<Standing>,
    /// How many games there were.
    games: u64,
    made: Instant,
    took: Duration,
}

type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// The standings of all tournaments that are looked at.
pub(crate) struct Standings {
    store: Store,
    slots: Mutex<HashMap<String, Slot>>,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        self.made.elapsed() < LEAST.max(self.took * SHARE)
    }
}

impl Standings {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            slots: Mutex::default(),
        }
    }

    /// A tournament as it stood a moment ago.
    pub(crate) async fn of(&self, name: &str) -> Result<Arc<Standing>, PageError> {
        let slot = self.slot(name);
        let mut slot = slot.lock().await;
        if let Some(kept) = slot.as_ref()
            && kept.is_fresh()
        {
            return Ok(kept.standing.clone());
        }
        let Some(tournament) = self.store.tournament(name).await? else {
            self.forget(name);
            return Err(PageError::NotFound(format!(
                "there is no tournament \"{name}\""
            )));
        };
        let games = self.store.game_count(tournament.id).await?;
        if let Some(kept) = slot.as_mut()
            && kept.games == games
            && kept.standing.tournament == tournament
            && (tournament.state.is_final() || kept.made.elapsed() < Duration::from_secs(10))
        {
            return Ok(kept.standing.clone());
        }
        let began = Instant::now();
        let standing = Arc::new(self.compute(tournament, games).await?);
        *slot = Some(Kept {
            standing: standing.clone(),
            games,
            made: Instant::now(),
            took: began.elapsed(),
        });
        Ok(standing)
    }

    fn slot(&self, name: &str) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MOST && !slots.contains_key(name) {
            // Those that nobody waits for are computed again when somebody looks.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        slots.entry(name.to_owned()).or_default().clone()
    }

    fn forget(&self, name: &str) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.remove(name);
    }

    /// On a thread of its own: folding a schedule over many scores takes long.
    async fn compute(&self, tournament: Tournament, games: u64) -> Result<Standing, PageError> {
        let store = self.store.clone();
        let runtime = Handle::current();
        spawn_blocking(move || runtime.block_on(compute(&store, tournament, games)))
            .await
            .map_err(|error| PageError::system("the standings could not be computed", error))?
    }
}

async fn compute(store: &Store, tournament: Tournament, games: u64) -> Result<Standing, PageError> {
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
    let stored = events::Stored {
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
    let thinking = snapshot.figures.bots.iter();
    let thinking = thinking.map(|bot| bot.thinking.clone()).collect();
    let tag = format!(
        "{games}-{:?}-{}",
        standings.state,
        definition_words(&tournament)
    );
    Ok(Standing {
        definition,
        standings,
        figures,
        thinking,
        tag,
        tournament,
    })
}

fn definition_words(tournament: &Tournament) -> String {
    format!(
        "{}-{}",
        tournament.id,
        tournament.over_unix_ms.unwrap_or_default()
    )
}

/// What everybody may know of how a bot is started: a command line or an address is for its owner.
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
