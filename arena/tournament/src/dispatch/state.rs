//! Which games are open, leased and done: the dispatcher's state machine. It asks no
//! clock and no store; the time is handed in, and a query changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque, btree_map::Entry},
    ops::Range,
    sync::Arc,
    time::Instant,
};

use arena_ladder::{Entrant, Group, GroupScore, Lineup, Schedule, schedule::SetAside};
use arena_store::ScoredGroup;
use referee_worker::lease::{ChunkId, GameKey, LeaseId};

use crate::{Plan, TournamentError};

/// At most so many deals are in a chunk.
const MOST_DEALS: u64 = 4096;
/// The same where a chunk is one seating of each: a game counts only when the other
/// seatings of its deal have been played too.
const MOST_DEALS_APART: u64 = 64;
/// The same where a test may end the match, and what has been begun then is in vain.
const MOST_DEALS_TESTED: u64 = 8;

/// Games between the same bots that are leased together. In a game with secrets they
/// are one seating of each deal, to be played by processes of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) id: ChunkId,
    pub(crate) lineup: Lineup,
    pub(crate) games: Vec<ChunkGame>,
    /// When it could have been leased first.
    pub(crate) since: Instant,
}

/// A game of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChunkGame {
    pub(crate) group: Arc<Group>,
    pub(crate) seating: u32,
    /// Who sits where: for each seat a place in the lineup.
    pub(crate) order: Vec<usize>,
}

impl ChunkGame {
    pub(crate) fn key(&self) -> GameKey {
        GameKey {
            group: self.group.number,
            seating: self.seating,
        }
    }
}

/// A group that the schedule has named and that is not complete.
#[derive(Debug)]
struct OpenGroup {
    group: Arc<Group>,
    /// The seatings that have not been played.
    missing: BTreeSet<u32>,
}

#[derive(Debug)]
struct Leased {
    chunk: Chunk,
    /// None while the store writes the lease down.
    attempt: Option<u32>,
    until: Instant,
}

/// What a reported game has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Its group lacks others.
    Open,
    /// It was the last one of its group.
    Complete,
    /// Its group was not open, or did not lack it.
    Known,
}

pub(crate) struct State {
    plan: Arc<Plan>,
    schedule: Box<dyn Schedule>,
    seats: usize,
    secrets: bool,
    /// A group that the schedule has named and that is in no chunk yet.
    next: Option<Group>,
    ready: VecDeque<Chunk>,
    leased: BTreeMap<ChunkId, Leased>,
    open: BTreeMap<u64, OpenGroup>,
    /// Scores from before that the schedule has not asked for yet.
    stored: BTreeMap<u64, ScoredGroup>,
    /// Seatings from before of groups that are not complete.
    begun: BTreeMap<u64, Vec<u32>>,
    groups_done: u64,
    set_aside: Vec<SetAside>,
    /// Groups that count for nobody, as the schedule said when it was asked last: with
    /// many matches that takes a while, so it is asked once a chunk.
    uncounted: Vec<Range<u64>>,
    /// Whether there has been a score since.
    is_stale: bool,
}

impl State {
    /// Goes on from these results.
    ///
    /// # Errors
    ///
    /// They are not of this plan.
    pub(crate) fn new(
        plan: Arc<Plan>,
        stored: BTreeMap<u64, ScoredGroup>,
        begun: BTreeMap<u64, Vec<u32>>,
    ) -> Result<Self, TournamentError> {
        let mut state = Self {
            schedule: plan.schedule()?,
            seats: plan.kind.info().seats.into(),
            secrets: plan.kind.has_secrets(),
            plan,
            next: None,
            ready: VecDeque::new(),
            leased: BTreeMap::new(),
            open: BTreeMap::new(),
            stored,
            begun,
            groups_done: 0,
            set_aside: Vec::new(),
            uncounted: Vec::new(),
            is_stale: true,
        };
        state.look_ahead()?;
        Ok(state)
    }

    /// The next chunk, of about so many games, which is leased until then; its
    /// attempt is still to be said ([`begin`](Self::begin)). Work of leases that have
    /// run out is given again.
    pub(crate) fn lease(
        &mut self,
        games: u64,
        now: Instant,
        until: Instant,
    ) -> Result<Option<Chunk>, TournamentError> {
        self.expire(now);
        let Some(chunk) = self.chunk(games, now)? else {
            return Ok(None);
        };
        let leased = Leased {
            chunk: chunk.clone(),
            attempt: None,
            until,
        };
        self.leased.insert(chunk.id, leased);
        Ok(Some(chunk))
    }

    /// Says which attempt at a chunk its lease is.
    pub(crate) fn begin(&mut self, lease: LeaseId) {
        if let Some(leased) = self.leased.get_mut(&lease.chunk) {
            leased.attempt = Some(lease.attempt);
        }
    }

    /// Keeps a lease until then; false where it has been lost.
    pub(crate) fn renew(&mut self, lease: LeaseId, until: Instant) -> bool {
        match self.leased.get_mut(&lease.chunk) {
            Some(leased) if leased.attempt == Some(lease.attempt) => {
                leased.until = until;
                true
            }
            _ => false,
        }
    }

    /// The group of an open game, and who sits where in it.
    pub(crate) fn game(&self, key: GameKey) -> Option<ChunkGame> {
        let group = &self.open.get(&key.group)?.group;
        let orders = self.plan.definition.seatings.of(self.seats, group.turn);
        Some(ChunkGame {
            group: group.clone(),
            seating: key.seating,
            order: orders.into_iter().nth(key.seating as usize)?,
        })
    }

    /// Takes down that a game has been played.
    pub(crate) fn played(&mut self, key: GameKey) -> Progress {
        let Some(open) = self.open.get_mut(&key.group) else {
            return Progress::Known;
        };
        match (open.missing.remove(&key.seating), open.missing.is_empty()) {
            (false, _) => Progress::Known,
            (true, true) => Progress::Complete,
            (true, false) => Progress::Open,
        }
    }

    /// Tells the schedule the score of a complete group.
    pub(crate) fn score(&mut self, score: &GroupScore) -> Result<(), TournamentError> {
        self.open.remove(&score.number);
        self.record(score)
    }

    /// Ends a lease; games that were not played are ready for another worker. False
    /// where the lease had been lost.
    pub(crate) fn give_back(&mut self, lease: LeaseId, unplayed: &[GameKey], now: Instant) -> bool {
        let Entry::Occupied(leased) = self.leased.entry(lease.chunk) else {
            return false;
        };
        if leased.get().attempt != Some(lease.attempt) {
            return false;
        }
        let mut chunk = leased.remove().chunk;
        let unplayed: BTreeSet<&GameKey> = unplayed.iter().collect();
        chunk.games.retain(|game| unplayed.contains(&game.key()));
        self.put_back(chunk, now);
        true
    }

    /// Who plays a chunk that is leased.
    pub(crate) fn lineup(&self, chunk: ChunkId) -> Option<Lineup> {
        let leased = self.leased.get(&chunk)?;
        Some(leased.chunk.lineup.clone())
    }

    /// Whether a game still has to be played: its match is not decided, and none of
    /// its players is set aside.
    pub(crate) fn is_wanted(&self, group: u64) -> bool {
        let open = self.open.get(&group);
        open.is_some_and(|open| !self.is_in_vain(group, &open.group.lineup))
    }

    /// How many groups are complete, and how many there will be at most.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.groups_done, self.schedule.planned())
    }

    /// Who takes no further part.
    pub(crate) fn set_aside(&self) -> &[SetAside] {
        &self.set_aside
    }

    /// Whether nothing is left to be played.
    pub(crate) fn is_over(&self) -> bool {
        self.schedule.is_over()
            && self
                .open
                .iter()
                .all(|(number, open)| self.is_in_vain(*number, &open.group.lineup))
    }

    /// When the first of the leases runs out.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.leased.values().map(|leased| leased.until).min()
    }

    fn record(&mut self, score: &GroupScore) -> Result<(), TournamentError> {
        self.groups_done += 1;
        self.is_stale = true;
        self.schedule.record(score)?;
        let set_aside = self.schedule.set_aside();
        if set_aside != self.set_aside {
            self.set_aside = set_aside;
            self.uncounted = self.schedule.uncounted();
        }
        Ok(())
    }

    /// Asks the schedule for its next group that has no score.
    fn look_ahead(&mut self) -> Result<(), TournamentError> {
        while self.next.is_none() {
            let Some(group) = self.schedule.next() else {
                return Ok(());
            };
            let Some(scored) = self.stored.remove(&group.number) else {
                self.next = Some(group);
                return Ok(());
            };
            if scored.lineup != group.lineup {
                return Err(TournamentError::Inconsistent(format!(
                    "group {} was played by other bots than the schedule says",
                    group.number
                )));
            }
            self.record(&scored.score)?;
        }
        Ok(())
    }

    fn chunk(&mut self, games: u64, now: Instant) -> Result<Option<Chunk>, TournamentError> {
        loop {
            if std::mem::take(&mut self.is_stale) {
                self.uncounted = self.schedule.uncounted();
            }
            while let Some(mut chunk) = self.ready.pop_front() {
                chunk.games.retain(|game| {
                    let group = game.group.number;
                    let open = self.open.get(&group);
                    let is_missing = open.is_some_and(|open| open.missing.contains(&game.seating));
                    let is_wanted = self.is_wanted(group);
                    if is_missing && !is_wanted {
                        self.open.remove(&group);
                    }
                    is_missing && is_wanted
                });
                if !chunk.games.is_empty() {
                    return Ok(Some(chunk));
                }
            }
            if !self.cut(games, now)? {
                return Ok(None);
            }
        }
    }

    /// Cuts the next chunks off the schedule; false where it names no group.
    fn cut(&mut self, games: u64, now: Instant) -> Result<bool, TournamentError> {
        self.look_ahead()?;
        let Some(first) = self.next.take() else {
            return Ok(false);
        };
        let wanted = self.deals_in_a_chunk(&first, games);
        let mut groups = vec![first];
        while (groups.len() as u64) < wanted {
            self.look_ahead()?;
            let matchup = groups[0].matchup;
            match self.next.take() {
                Some(group) if group.matchup == matchup && !self.plan.is_fixed(group.at) => {
                    groups.push(group);
                }
                other => {
                    self.next = other;
                    break;
                }
            }
        }
        // Where a worker wants less than a deal, its seatings go to several.
        let apart = self.secrets || games < self.plan.games_in_group();
        let mut by_seating: BTreeMap<Option<u32>, Vec<ChunkGame>> = BTreeMap::new();
        for group in groups.into_iter().map(Arc::new) {
            let orders = self.plan.definition.seatings.of(self.seats, group.turn);
            let played = self.begun.remove(&group.number).unwrap_or_default();
            let mut missing = BTreeSet::new();
            for (seating, order) in (0..).zip(orders) {
                if played.contains(&seating) {
                    continue;
                }
                missing.insert(seating);
                let lot = apart.then_some(seating);
                by_seating.entry(lot).or_default().push(ChunkGame {
                    group: group.clone(),
                    seating,
                    order,
                });
            }
            self.open.insert(group.number, OpenGroup { group, missing });
        }
        self.ready
            .extend(by_seating.into_iter().map(|(seating, games)| {
                let first = &games[0].group;
                let last = games.last().map_or(first.number, |game| game.group.number);
                Chunk {
                    id: ChunkId {
                        matchup: first.matchup.0,
                        first_group: first.number,
                        groups: last + 1 - first.number,
                        seating,
                    },
                    lineup: first.lineup.clone(),
                    games,
                    since: now,
                }
            }));
        Ok(true)
    }

    /// How many deals a chunk of about so many games has.
    fn deals_in_a_chunk(&self, first: &Group, games: u64) -> u64 {
        if self.plan.is_fixed(first.at) {
            // A deal that a set-up fixes would be known the second time.
            return 1;
        }
        if self.plan.series {
            return MOST_DEALS_APART;
        }
        let most = match self.plan.definition.sprt {
            Some(_) => MOST_DEALS_TESTED,
            None if self.secrets => MOST_DEALS_APART,
            None => MOST_DEALS,
        };
        // One seating of many deals is as many games as deals.
        let each = match self.secrets {
            true => 1,
            false => self.plan.games_in_group().max(1),
        };
        (games / each).clamp(1, most)
    }

    /// Work of workers that have been silent for too long is ready again.
    fn expire(&mut self, now: Instant) {
        let late = self
            .leased
            .extract_if(.., |_, leased| leased.until <= now)
            .collect::<Vec<_>>();
        for (id, Leased { chunk, .. }) in late {
            tracing::warn!(?id, "a worker has been silent for too long");
            self.put_back(chunk, now);
        }
    }

    /// What of it has been played or is in vain is left out when it is leased again.
    fn put_back(&mut self, chunk: Chunk, now: Instant) {
        self.ready.push_front(Chunk {
            since: now,
            ..chunk
        });
    }

    fn is_in_vain(&self, group: u64, lineup: &Lineup) -> bool {
        let is_out =
            |entrant: &Entrant| (self.set_aside.iter()).any(|aside| aside.entrant == *entrant);
        // They are in order.
        let at = self.uncounted.partition_point(|range| range.end <= group);
        let within = self.uncounted.get(at);
        within.is_some_and(|range| range.contains(&group)) || lineup.iter().flatten().any(is_out)
    }
}
