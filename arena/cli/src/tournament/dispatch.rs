//! Hands out the work of a tournament and takes what comes back: a chunk is
//! leased, played, reported. What is to be played next is the schedule's; what
//! has been played is the store's alone, so that a tournament that was stopped in
//! any way goes on from there.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail};
use arena_ladder::{Entrant, Group, GroupScore, Lineup, Schedule, schedule::SetAside};
use arena_store::{
    ChunkKey, FinishedGame, Reported, ResultWriter, ScoredGroup, Store, TournamentId,
};
use tokio::{
    sync::{Notify, futures::Notified},
    time::Instant,
};

use super::{Definition, table::scores};
use crate::setups::Setups;

/// How long a worker may be silent before its work is given to another.
pub(crate) const LEASE: Duration = Duration::from_secs(60);
/// At most so many deals are in a chunk.
const MOST_DEALS: u64 = 4096;
/// The same where it has one seating of each: what is played counts only when the
/// others have been played too.
const MOST_DEALS_APART: u64 = 64;
/// The same where a test may stop the match, and what is begun then is in vain.
const MOST_DEALS_TESTED: u64 = 8;

/// A game that is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub(crate) group: Group,
    pub(crate) seating: u32,
    /// Who sits where: for each seat a place in the group's lineup.
    pub(crate) order: Vec<usize>,
    /// How many games the group has.
    pub(crate) of: u32,
}

/// A piece of work: games between the same entrants. In a game with secrets it
/// is one seating of each deal, to be played by processes of its own.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) key: ChunkKey,
    pub(crate) lineup: Lineup,
    pub(crate) games: Vec<Assigned>,
    /// When it could have been begun.
    since: Instant,
}

/// A chunk that a worker has.
#[derive(Debug)]
pub(crate) struct Leased {
    pub(crate) chunk: Chunk,
    pub(crate) attempt: u32,
    /// How long the work had waited for a worker.
    pub(crate) waited: Duration,
}

/// What there is for a worker.
#[derive(Debug)]
pub(crate) enum Work {
    /// This.
    Chunk(Box<Leased>),
    /// Nothing until results have come: [`Dispatch::changed`] tells.
    Wait,
    /// Nothing is left.
    Over,
}

/// One tournament's work.
pub(crate) struct Dispatch {
    store: Store,
    id: TournamentId,
    writer: ResultWriter,
    /// Never held while anything is waited for. It is not a mutex that is waited
    /// for by futures: one of many that are polled together might be given it and
    /// not be polled while the others wait for it.
    desk: Mutex<Desk>,
    changed: Notify,
}

/// What is open.
struct Desk {
    schedule: Box<dyn Schedule>,
    definition: Definition,
    setups: Setups,
    seats: usize,
    secrets: bool,
    /// A group that the schedule has named and that is in no chunk yet.
    next: Option<Group>,
    ready: VecDeque<Chunk>,
    leased: BTreeMap<ChunkKey, (Chunk, u32, Instant)>,
    /// Groups that are named and not complete, and the seatings that they lack.
    open: BTreeMap<u64, BTreeSet<u32>>,
    /// What the store held when we began and the schedule has not asked for yet.
    stored: BTreeMap<u64, ScoredGroup>,
    begun: BTreeMap<u64, Vec<u32>>,
    groups_done: u64,
    /// Who is out, as the schedule says.
    out: Vec<SetAside>,
    /// What counts for nobody, as the schedule said when it was asked last: with
    /// many matches that is no small question, so it is once a chunk.
    uncounted: Vec<Range<u64>>,
    /// Whether there has been a score since.
    changed: bool,
}

impl Dispatch {
    /// Takes up a tournament where the store says that it is.
    ///
    /// # Errors
    ///
    /// The store fails, or holds what no such tournament could.
    pub(crate) async fn open(
        store: &Store,
        id: TournamentId,
        writer: ResultWriter,
        definition: &Definition,
        setups: Setups,
        schedule: Box<dyn Schedule>,
    ) -> anyhow::Result<Self> {
        let kind = definition.kind()?;
        let stored = scores(store, id).await?;
        let begun = store.incomplete_groups(id).await?;
        let mut desk = Desk {
            schedule,
            definition: definition.clone(),
            setups,
            seats: kind.info().seats.into(),
            secrets: kind.has_secrets(),
            next: None,
            ready: VecDeque::new(),
            leased: BTreeMap::new(),
            open: BTreeMap::new(),
            stored,
            begun,
            groups_done: 0,
            uncounted: Vec::new(),
            changed: true,
            out: Vec::new(),
        };
        // So that what is known is known before anybody asks.
        desk.look_ahead()?;
        Ok(Self {
            store: store.clone(),
            id,
            writer,
            desk: Mutex::new(desk),
            changed: Notify::new(),
        })
    }

    /// Gives this worker something to do, if possible so many games.
    pub(crate) async fn lease(&self, worker: &str, games: u64) -> anyhow::Result<Work> {
        let (chunk, waited) = {
            let mut desk = self.desk();
            desk.take_back_late();
            let Some(chunk) = desk.chunk(games)? else {
                let over = desk.open.is_empty() && desk.schedule.is_over();
                return Ok(if over { Work::Over } else { Work::Wait });
            };
            // Nobody else is given it while the store writes it down.
            let until = Instant::now() + LEASE;
            let waited = chunk.since.elapsed();
            desk.leased.insert(chunk.key, (chunk.clone(), 0, until));
            (chunk, waited)
        };
        let until = super::unix_ms() + LEASE.as_millis() as i64;
        let attempt = self
            .store
            .lease(self.id, &chunk.key, worker, until)
            .await
            .context("could not lease")?;
        if let Some((_, known, _)) = self.desk().leased.get_mut(&chunk.key) {
            *known = attempt;
        }
        Ok(Work::Chunk(Box::new(Leased {
            chunk,
            attempt,
            waited,
        })))
    }

    /// Says that a worker is still at it; false where it has lost the chunk.
    pub(crate) async fn renew(&self, leased: &Leased) -> anyhow::Result<bool> {
        {
            let mut desk = self.desk();
            match desk.leased.get_mut(&leased.chunk.key) {
                Some((_, attempt, until)) if *attempt == leased.attempt => {
                    *until = Instant::now() + LEASE;
                }
                _ => return Ok(false),
            }
        }
        let until = super::unix_ms() + LEASE.as_millis() as i64;
        let renewed = self
            .store
            .renew(self.id, &leased.chunk.key, leased.attempt, until);
        Ok(renewed.await?)
    }

    /// Takes a finished game; returns when it is stored and what follows from it
    /// is known.
    pub(crate) async fn report(&self, game: FinishedGame) -> anyhow::Result<Reported> {
        let (group, seating) = (game.row.group, game.row.seating);
        let reported = self
            .writer
            .write(game)
            .await
            .context("could not store a game")?;
        // What is there already is there: nobody need wait for it.
        if reported == Reported::Stale {
            return Ok(reported);
        }
        let complete = {
            let mut desk = self.desk();
            desk.open
                .get_mut(&group)
                .is_some_and(|lacks| lacks.remove(&seating) && lacks.is_empty())
        };
        if complete {
            let before = group.checked_sub(1);
            let scores = self.store.scores(self.id, before, 1).await?;
            let scored = scores
                .into_iter()
                .find(|scored| scored.score.number == group);
            let Some(scored) = scored else {
                bail!("the store has no score of group {group}, which is complete");
            };
            let mut desk = self.desk();
            desk.open.remove(&group);
            desk.record(&scored.score)?;
            drop(desk);
            self.changed.notify_waiters();
        }
        Ok(reported)
    }

    /// Takes back a chunk; what of it was not played is ready for another.
    pub(crate) async fn give_back(&self, leased: &Leased, unplayed: Vec<Assigned>) {
        {
            let mut desk = self.desk();
            match desk.leased.get(&leased.chunk.key) {
                Some((_, attempt, _)) if *attempt == leased.attempt => {}
                _ => return,
            }
            desk.leased.remove(&leased.chunk.key);
            desk.put_back(&leased.chunk, unplayed);
        }
        self.changed.notify_waiters();
        let released = self
            .store
            .release(self.id, &leased.chunk.key, leased.attempt);
        if let Err(error) = released.await {
            tracing::warn!(%error, "a lease could not be given back and will run out");
        }
    }

    /// Which of these games need not be played any more: their match is decided,
    /// or a player of theirs is out.
    pub(crate) fn in_vain(&self, group: u64, lineup: &Lineup) -> bool {
        let mut desk = self.desk();
        let vain = desk.in_vain(group, lineup);
        if vain {
            desk.open.remove(&group);
        }
        vain
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there may be more work.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// How many groups are complete, and how many there will be at most.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        let desk = self.desk();
        (desk.groups_done, desk.schedule.planned())
    }

    /// Who takes no further part.
    pub(crate) fn set_aside(&self) -> Vec<SetAside> {
        self.desk().out.clone()
    }

    /// Whether nothing is left to be played.
    pub(crate) fn is_over(&self) -> bool {
        let desk = self.desk();
        desk.open.is_empty() && desk.schedule.is_over()
    }
}

impl Desk {
    fn record(&mut self, score: &GroupScore) -> anyhow::Result<()> {
        self.groups_done += 1;
        self.changed = true;
        self.schedule.record(score)?;
        let out = self.schedule.set_aside();
        if out != self.out {
            self.out = out;
            self.uncounted = self.schedule.uncounted();
        }
        Ok(())
    }

    /// Asks the schedule for its next group, past those that the store holds.
    fn look_ahead(&mut self) -> anyhow::Result<()> {
        while self.next.is_none() {
            let Some(group) = self.schedule.next() else {
                return Ok(());
            };
            let Some(scored) = self.stored.remove(&group.number) else {
                self.next = Some(group);
                return Ok(());
            };
            if scored.lineup != group.lineup {
                bail!(
                    "the store's group {} was played by others than the schedule says: \
                     another version of the arena may have made it",
                    group.number
                );
            }
            self.record(&scored.score)?;
        }
        Ok(())
    }

    /// The next piece of work, of about so many games.
    fn chunk(&mut self, games: u64) -> anyhow::Result<Option<Chunk>> {
        loop {
            if std::mem::take(&mut self.changed) {
                self.uncounted = self.schedule.uncounted();
            }
            while let Some(mut chunk) = self.ready.pop_front() {
                let lineup = chunk.lineup.clone();
                chunk.games.retain(|game| {
                    let vain = self.in_vain(game.group.number, &lineup);
                    if vain {
                        self.open.remove(&game.group.number);
                    }
                    !vain
                });
                if !chunk.games.is_empty() {
                    return Ok(Some(chunk));
                }
            }
            if !self.cut(games)? {
                return Ok(None);
            }
        }
    }

    /// Cuts the next chunks off the schedule; false where it has nothing.
    fn cut(&mut self, games: u64) -> anyhow::Result<bool> {
        self.look_ahead()?;
        let Some(first) = self.next.take() else {
            return Ok(false);
        };
        let a_group = self.definition.seatings.games(self.seats) as u64;
        // One seating of many deals is as many games as deals.
        let each = if self.secrets { 1 } else { a_group.max(1) };
        let most = match self.definition.sprt {
            Some(_) => MOST_DEALS_TESTED,
            None if self.secrets => MOST_DEALS_APART,
            None => MOST_DEALS,
        };
        // A deal that a set-up fixes would be known the second time.
        let alone = self.secrets && self.setups.fixed(first.at).is_some();
        let wanted = if alone {
            1
        } else {
            (games / each).clamp(1, most)
        };
        let mut groups = vec![first];
        while (groups.len() as u64) < wanted {
            self.look_ahead()?;
            let first = &groups[0];
            let fixed = |group: &Group| self.secrets && self.setups.fixed(group.at).is_some();
            match self.next.take() {
                Some(group) if group.matchup == first.matchup && !fixed(&group) => {
                    groups.push(group);
                }
                other => {
                    self.next = other;
                    break;
                }
            }
        }
        let mut by_seating: BTreeMap<Option<u32>, Vec<Assigned>> = BTreeMap::new();
        for group in groups {
            let orders = self.definition.seatings.of(self.seats, group.turn);
            let of = orders.len() as u32;
            let there = self.begun.remove(&group.number).unwrap_or_default();
            let mut lacks = BTreeSet::new();
            for (seating, order) in (0..).zip(orders) {
                if there.contains(&seating) {
                    continue;
                }
                lacks.insert(seating);
                let lot = self.secrets.then_some(seating);
                by_seating.entry(lot).or_default().push(Assigned {
                    group: group.clone(),
                    seating,
                    order,
                    of,
                });
            }
            self.open.insert(group.number, lacks);
        }
        self.ready
            .extend(by_seating.into_iter().map(|(seating, games)| {
                let first = &games[0].group;
                Chunk {
                    key: ChunkKey {
                        matchup: first.matchup,
                        first_group: first.number,
                        groups: games.last().map_or(0, |game| game.group.number) + 1 - first.number,
                        seating,
                    },
                    lineup: first.lineup.clone(),
                    games,
                    since: Instant::now(),
                }
            }));
        Ok(true)
    }

    /// Work of workers that have been silent for too long is ready again.
    fn take_back_late(&mut self) {
        let now = Instant::now();
        let late: Vec<ChunkKey> = self
            .leased
            .iter()
            .filter(|(_, (_, _, until))| *until <= now)
            .map(|(key, _)| *key)
            .collect();
        for key in late {
            if let Some((chunk, ..)) = self.leased.remove(&key) {
                tracing::warn!(?key, "a worker has been silent for too long");
                let games = chunk.games.clone();
                self.put_back(&chunk, games);
            }
        }
    }

    fn put_back(&mut self, chunk: &Chunk, mut games: Vec<Assigned>) {
        let lacking = |game: &Assigned| {
            let group = self.open.get(&game.group.number);
            group.is_some_and(|lacks| lacks.contains(&game.seating))
        };
        games.retain(lacking);
        if !games.is_empty() {
            self.ready.push_front(Chunk {
                games,
                since: Instant::now(),
                ..chunk.clone()
            });
        }
    }

    fn in_vain(&self, group: u64, lineup: &Lineup) -> bool {
        let is_out = |entrant: &Entrant| self.out.iter().any(|aside| aside.entrant == *entrant);
        // They are in order.
        let at = self.uncounted.partition_point(|range| range.end <= group);
        let within = self
            .uncounted
            .get(at)
            .is_some_and(|range| range.contains(&group));
        within || lineup.iter().flatten().any(is_out)
    }
}
