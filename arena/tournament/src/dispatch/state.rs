//! The dispatcher's state machine: the games that are open, leased and done. It asks no clock and
//! no store; the time is handed in, and a query changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_ladder::{
    Entrant, Group, GroupScore, Lineup, MatchId, Schedule, ScheduleShape,
    schedule::{MatchStage, SetAside},
};
use arena_store::ScoredGroup;
use referee_worker::lease::{ChunkId, GameKey, LeaseId, RunId, SessionId};

use super::{away::Services, ready::Ready};
use crate::{Plan, TournamentError};

/// At most so many deals are in a chunk.
const MOST_DEALS: u64 = 4096;
/// The same where a chunk is one seating of each: a game counts only when the other
/// seatings of its deal have been played too.
const MOST_DEALS_APART: u64 = 64;
/// The same where a test may end the match, and what has been begun then is in vain.
const MOST_DEALS_TESTED: u64 = 8;
/// So many chunks are looked at for one that a worker can play, at most.
const MOST_LOOKED_AT: usize = 512;
/// So many chunks are cut, at most, before one of the match that a worker works for.
const MOST_AHEAD: usize = 20_000;
/// A session has the longest time that a game can take to report one, and so long besides: to fetch
/// archives, to start bots, and for what its machine lacks.
const PREPARING: Duration = Duration::from_secs(600);
/// So many groups are asked of the schedule to find those of leases from before, beyond as
/// many as these leases have.
const MOST_PASSED_OVER: usize = 10_000;

/// Games between the same bots that are leased together. In a game with secrets they
/// are one seating of each deal, to be played by processes of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) id: ChunkId,
    pub(crate) lineup: Lineup,
    pub(crate) games: Vec<PlannedGame>,
    /// The time at which it could have been leased first.
    pub(crate) since: Instant,
}

/// A game of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedGame {
    pub(crate) group: Arc<Group>,
    pub(crate) seating: u32,
    /// The seat order: for each seat a place in the lineup.
    pub(crate) order: Vec<usize>,
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
    /// The session that has it; none for a worker in this process.
    session: Option<SessionId>,
    /// The worker of the session; none where an earlier process gave it the lease.
    worker: Option<String>,
    until: Instant,
    /// The time at which it was given.
    since: Instant,
    /// Number of its games that have not been reported.
    left: u64,
}

/// The last reports of sessions. They decide until when each has to report a game, whatever it
/// renews.
#[derive(Debug)]
struct Reports {
    /// Longest time in which a session may report no game.
    patience: Duration,
    /// The time at which each session reported a game last.
    last: BTreeMap<SessionId, Instant>,
}

impl Reports {
    /// Until when a game has to be reported. A worker in this process reports whatever it plays.
    fn due(&self, leased: &Leased) -> Option<Instant> {
        let last = self.last.get(&leased.session?).copied();
        Some(last.map_or(leased.since, |last| last.max(leased.since)) + self.patience)
    }

    /// The time at which a lease runs out.
    fn end(&self, leased: &Leased) -> Instant {
        let due = self.due(leased);
        due.map_or(leased.until, |due| due.min(leased.until))
    }
}

/// A lease that a session has lost because of what it did not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostLease {
    /// The session that had it.
    pub session: SessionId,
    /// The lapse for which it was lost.
    pub why: Lapse,
}

/// The lapse of a session: a thing that it did not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lapse {
    /// It did not renew the lease.
    NotRenewed,
    /// It reported no game for longer than any game takes.
    NothingReported,
}

/// The stall of a run that has given out all of its work: what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStall {
    /// The session that has reported nothing for the longest time.
    pub session: SessionId,
    /// Number of games that it has.
    pub games: u64,
    /// For how long it has reported none.
    pub silent: Duration,
    /// After how long its games are given to others.
    pub left: Duration,
}

/// Reason why nothing that a worker says under a lease is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHeld {
    /// The chunk has been leased again since.
    #[error("this lease is over: its chunk was leased again, as attempt {attempt}")]
    LeasedAgain {
        /// The attempt that there is now.
        attempt: u32,
    },
    /// The session does not have it.
    #[error("this session does not have this lease: it has lost it, or never had it")]
    NoLease,
    /// The game is not one of the lease.
    #[error("this game does not belong to this lease")]
    OtherGame,
}

/// A lease that an earlier process gave to a worker which may still play it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierLease {
    pub(crate) id: LeaseId,
    pub(crate) session: SessionId,
}

/// The request of a worker for a chunk.
pub(crate) struct ChunkRequest<'a> {
    /// The worker that asks.
    pub(crate) worker: &'a str,
    /// About so many games.
    pub(crate) games: u64,
    /// Of this match alone, where it is said.
    pub(crate) matchup: Option<u32>,
    /// True if the worker can play the games of a chunk.
    pub(crate) fits: &'a dyn Fn(&Chunk) -> bool,
}

/// A match that can be played, with what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenLineup {
    pub(crate) matchup: u32,
    pub(crate) lineup: Lineup,
    /// Number of groups that lack a score.
    pub(crate) groups: u64,
    /// In how many chunks of the asked size they are leased, about.
    pub(crate) chunks: u64,
}

/// The progress of a group that a reported game has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupProgress {
    /// Its group lacks others.
    Open,
    /// It was the last one of its group.
    Complete,
    /// Its group was not open, or did not lack it.
    Known,
}

pub(crate) struct DispatchState {
    /// The id of the run in leases.
    run: RunId,
    plan: Arc<Plan>,
    schedule: Box<dyn Schedule>,
    seats: usize,
    secrets: bool,
    /// A group that the schedule has named and that is in no chunk yet.
    next: Option<Group>,
    ready: Ready,
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
    /// True if there has been a score since.
    is_stale: bool,
    reports: Reports,
    /// Number of games that each worker elsewhere has and has not reported, where it has some.
    held: BTreeMap<String, u64>,
    /// No lease runs out before.
    looks_at: Option<Instant>,
    /// The time of the last report of a game or, before there is one, of the first lease.
    last_report: Option<Instant>,
    /// Leases that were lost since this was asked last.
    lost: Vec<LostLease>,
    services: Services,
}

impl DispatchState {
    /// Goes on from these results.
    ///
    /// # Errors
    ///
    /// They are not of this plan.
    pub(crate) fn new(
        run: RunId,
        plan: Arc<Plan>,
        stored: BTreeMap<u64, ScoredGroup>,
        begun: BTreeMap<u64, Vec<u32>>,
    ) -> Result<Self, TournamentError> {
        let mut services = Services::new(plan.definition.away, plan.services());
        if !services.is_empty() {
            let now = Instant::now();
            for scored in stored.values() {
                let games = scored.score.games;
                let begun = scored.faults().filter(|(_, faults)| faults.starts < games);
                for (who, _) in begun {
                    services.answered(who, now);
                }
            }
        }
        let mut state = Self {
            services,
            run,
            schedule: plan.schedule()?,
            seats: plan.kind.info().seats.into(),
            secrets: plan.kind.has_secrets(),
            reports: Reports {
                patience: plan.kind.info().longest(&plan.definition.limits) + PREPARING,
                last: BTreeMap::new(),
            },
            held: BTreeMap::new(),
            looks_at: None,
            last_report: None,
            lost: Vec::new(),
            plan,
            next: None,
            ready: Ready::default(),
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

    /// Takes up leases of an earlier process, until then: their workers may go on with them.
    /// `scored` has the groups that were complete at the start.
    ///
    /// # Errors
    ///
    /// The schedule contradicts the results.
    pub(crate) fn adopt(
        &mut self,
        leases: Vec<EarlierLease>,
        scored: &BTreeSet<u64>,
        now: Instant,
        until: Instant,
    ) -> Result<(), TournamentError> {
        let groups = leases
            .iter()
            .flat_map(|lease| lease.id.chunk.group_numbers());
        let mut wanted: BTreeSet<u64> = groups.collect();
        wanted.retain(|group| !scored.contains(group));
        let mut left = wanted.len() + MOST_PASSED_OVER;
        let mut chunks: Vec<Option<Chunk>> = leases.iter().map(|_| None).collect();
        while !wanted.is_empty() && left > 0 {
            self.look_ahead()?;
            let Some(group) = self.next.take() else { break };
            left -= 1;
            wanted.remove(&group.number);
            let mut rest = Vec::new();
            for game in self.open(group) {
                match leases
                    .iter()
                    .position(|lease| covers(&lease.id.chunk, &game))
                {
                    Some(at) => {
                        let of = &leases[at].id.chunk;
                        let chunk = chunks[at].get_or_insert_with(|| Chunk {
                            id: *of,
                            lineup: game.group.lineup.clone(),
                            games: Vec::new(),
                            since: now,
                        });
                        chunk.games.push(game);
                    }
                    None => rest.push(game),
                }
            }
            self.make_ready(rest, self.secrets, now);
        }
        for (lease, chunk) in leases.into_iter().zip(chunks) {
            if let Some(chunk) = chunk {
                let leased = Leased {
                    left: chunk.games.len() as u64,
                    chunk,
                    attempt: Some(lease.id.attempt),
                    session: Some(lease.session),
                    worker: None,
                    until,
                    since: now,
                };
                self.hold(leased);
            }
        }
        Ok(())
    }

    /// The next chunk of what is wanted. It is leased until then; its attempt is still to be
    /// said ([`begin`](Self::begin)). Work of leases that have run out is given again.
    pub(crate) fn lease(
        &mut self,
        wanted: &ChunkRequest<'_>,
        session: Option<SessionId>,
        now: Instant,
        until: Instant,
    ) -> Result<Option<Chunk>, TournamentError> {
        self.expire(now);
        let Some(chunk) = self.chunk(wanted, now)? else {
            return Ok(None);
        };
        self.services.leased(&chunk, now);
        let leased = Leased {
            chunk: chunk.clone(),
            attempt: None,
            session,
            worker: session.map(|_| wanted.worker.to_owned()),
            until,
            since: now,
            left: chunk.games.len() as u64,
        };
        self.last_report.get_or_insert(now);
        self.hold(leased);
        Ok(Some(chunk))
    }

    /// Takes down a lease.
    fn hold(&mut self, leased: Leased) {
        if let Some(worker) = &leased.worker {
            *self.held.entry(worker.clone()).or_default() += leased.left;
        }
        let end = self.reports.end(&leased);
        self.looks_at = Some(self.looks_at.map_or(end, |at| at.min(end)));
        self.leased.insert(leased.chunk.id, leased);
    }

    /// Takes down that so many games of a worker are no longer to be reported.
    fn count_off(&mut self, worker: Option<&str>, games: u64) {
        let Some(worker) = worker else { return };
        if let Some(held) = self.held.get_mut(worker) {
            *held = held.saturating_sub(games);
            if *held == 0 {
                self.held.remove(worker);
            }
        }
    }

    /// Says which attempt at a chunk its lease is.
    pub(crate) fn begin(&mut self, lease: LeaseId) {
        if let Some(leased) = self.leased.get_mut(&lease.chunk) {
            leased.attempt = Some(lease.attempt);
        }
    }

    /// Takes back a chunk whose lease could not be written down.
    pub(crate) fn forgo(&mut self, chunk: ChunkId, now: Instant) {
        let unwritten = |_: &ChunkId, leased: &mut Leased| leased.attempt.is_none();
        let range = chunk..=chunk;
        let unwritten: Vec<_> = self.leased.extract_if(range, unwritten).collect();
        for (_, leased) in unwritten {
            self.count_off(leased.worker.as_deref(), leased.left);
            self.put_back(leased.chunk, now);
        }
    }

    /// Keeps a lease until then; false where it has been lost, is another session's, or its session
    /// has reported nothing for too long.
    pub(crate) fn renew(
        &mut self,
        lease: LeaseId,
        session: Option<SessionId>,
        now: Instant,
        until: Instant,
    ) -> bool {
        if self.held(lease, session).is_err() {
            return false;
        }
        let Some(leased) = self.leased.get_mut(&lease.chunk) else {
            return false;
        };
        let is_kept = self.reports.due(leased).is_none_or(|due| now < due);
        if is_kept {
            leased.until = until;
        }
        is_kept
    }

    /// Takes down that a game of a lease was reported and counts.
    pub(crate) fn reported(&mut self, lease: LeaseId, now: Instant) {
        self.last_report = Some(now);
        if let Some(leased) = self.leased.get_mut(&lease.chunk)
            && leased.left > 0
        {
            leased.left -= 1;
            let worker = leased.worker.clone();
            self.count_off(worker.as_deref(), 1);
        }
    }

    /// Takes down that a session has reported a game, of whatever run: its processes play, and
    /// what waits for a bot has its turn later.
    pub(crate) fn progressed(&mut self, session: SessionId, now: Instant) {
        self.reports.last.insert(session, now);
    }

    /// The leases that were lost since this was asked last.
    pub(crate) fn take_lost(&mut self, now: Instant) -> Vec<LostLease> {
        self.expire(now);
        std::mem::take(&mut self.lost)
    }

    /// Number of games that a worker elsewhere has and has not reported.
    pub(crate) fn held_by(&self, worker: &str) -> u64 {
        self.held.get(worker).copied().unwrap_or_default()
    }

    /// The stall of the run, if there is one: all of its work is given out, and nothing has come of
    /// it for as long as `after`.
    pub(crate) fn stall(&self, after: Duration, now: Instant) -> Option<RunStall> {
        let is_quiet = |since: Instant| now.saturating_duration_since(since) >= after;
        if self.ready.len() > 0 || !self.last_report.is_some_and(is_quiet) {
            return None;
        }
        let of_others = self.leased.values();
        let of_others = of_others.filter_map(|leased| Some((leased.session?, leased)));
        let (session, leased) = of_others.min_by_key(|(_, leased)| self.reports.due(leased))?;
        let left = self.reports.due(leased)?.saturating_duration_since(now);
        let silent = self.reports.patience.saturating_sub(left);
        let leased = self.leased.values();
        let own = leased.filter(|leased| leased.session == Some(session));
        (silent >= after).then(|| RunStall {
            session,
            games: own.map(|leased| leased.left).sum(),
            silent,
            left,
        })
    }

    /// A lease that a session has, with exactly this attempt. Whatever is said under a lease goes
    /// through this.
    fn held(&mut self, lease: LeaseId, session: Option<SessionId>) -> Result<&mut Leased, NotHeld> {
        let leased = self.leased.get_mut(&lease.chunk);
        let leased = leased.filter(|_| lease.run == self.run);
        let leased = leased.ok_or(NotHeld::NoLease)?;
        match leased.attempt {
            Some(attempt) if attempt == lease.attempt && leased.session == session => Ok(leased),
            Some(attempt) if attempt > lease.attempt => Err(NotHeld::LeasedAgain { attempt }),
            _ => Err(NotHeld::NoLease),
        }
    }

    /// Checks that a session has a lease, and that a game belongs to it.
    ///
    /// # Errors
    ///
    /// [`NotHeld`] says why nothing is taken of what it says of the game.
    pub(crate) fn check_game(
        &mut self,
        lease: LeaseId,
        session: Option<SessionId>,
        game: GameKey,
    ) -> Result<(), NotHeld> {
        let open = self.open.get(&game.group);
        let is_missing = open.is_some_and(|open| open.missing.contains(&game.seating));
        let chunk = &self.held(lease, session)?.chunk;
        let is_of_it = match is_missing {
            true => chunk.games.iter().any(|one| one.key() == game),
            // It has been played, perhaps in this chunk before its games were counted anew.
            false => {
                let seating = chunk.id.seating;
                chunk.id.group_numbers().contains(&game.group)
                    && seating.is_none_or(|seating| seating == game.seating)
            }
        };
        is_of_it.then_some(()).ok_or(NotHeld::OtherGame)
    }

    /// The groups of a lease that need not be played any more, or not now.
    pub(crate) fn unwanted(&self, lease: LeaseId, now: Instant) -> Vec<u64> {
        let Some(leased) = self.leased.get(&lease.chunk) else {
            return Vec::new();
        };
        let waits = self.services.wait(&leased.chunk, now);
        let groups = leased.chunk.games.iter().map(|game| game.group.number);
        let groups: BTreeSet<u64> = groups
            .filter(|group| waits || !self.is_wanted(*group))
            .collect();
        groups.into_iter().collect()
    }

    /// The leases of a session.
    pub(crate) fn leases_of(&self, session: SessionId) -> Vec<LeaseId> {
        let leases = self.leased.iter();
        leases
            .filter(|(_, leased)| leased.session == Some(session))
            .filter_map(|(chunk, leased)| {
                Some(LeaseId {
                    run: self.run,
                    chunk: *chunk,
                    attempt: leased.attempt?,
                })
            })
            .collect()
    }

    /// Number of chunks that are leased.
    pub(crate) fn leased(&self) -> usize {
        self.leased.len()
    }

    /// The lineups of chunks that are ready, each once, and since when the first of them has
    /// waited.
    pub(crate) fn ready(&self) -> BTreeMap<Lineup, Instant> {
        let mut ready = BTreeMap::new();
        for chunk in self.ready.iter() {
            let since = ready.entry(chunk.lineup.clone()).or_insert(chunk.since);
            *since = chunk.since.min(*since);
        }
        ready
    }

    /// The group of an open game, and who sits where in it.
    pub(crate) fn game(&self, key: GameKey) -> Option<PlannedGame> {
        let group = &self.open.get(&key.group)?.group;
        let orders = self.plan.definition.seatings.of(self.seats, group.turn);
        Some(PlannedGame {
            group: group.clone(),
            seating: key.seating,
            order: orders.into_iter().nth(key.seating as usize)?,
        })
    }

    /// Takes down that a game has been played. The last one of a group stays open until the
    /// group's score is taken down: where the score can't be read, the game is given out again,
    /// and its second report, which counts for nothing, has the score read.
    pub(crate) fn played(&mut self, key: GameKey) -> GroupProgress {
        let Some(open) = self.open.get_mut(&key.group) else {
            return GroupProgress::Known;
        };
        match (open.missing.contains(&key.seating), open.missing.len()) {
            (false, _) => GroupProgress::Known,
            (true, 1) => GroupProgress::Complete,
            (true, _) => {
                open.missing.remove(&key.seating);
                GroupProgress::Open
            }
        }
    }

    /// Tells the schedule the score of a complete group, once.
    pub(crate) fn score(&mut self, score: &GroupScore) -> Result<(), TournamentError> {
        match self.open.remove(&score.number) {
            Some(_) => {
                self.record(score)?;
                // Scores from before that wait for this one are told too: nobody may ask for work
                // before they have made some.
                self.look_ahead()
            }
            None => Ok(()),
        }
    }

    /// Ends a lease, and says who was to play; games of it that are not stored are ready for
    /// another worker, whatever the worker says of them: the reply to a report can say that it
    /// came too late, as when the arena was just starting, and the lease can be kept all the same.
    ///
    /// # Errors
    ///
    /// The session does not have the lease.
    pub(crate) fn give_back(
        &mut self,
        lease: LeaseId,
        session: Option<SessionId>,
        now: Instant,
    ) -> Result<Lineup, NotHeld> {
        self.held(lease, session)?;
        let leased = self.leased.remove(&lease.chunk);
        let leased = leased.ok_or(NotHeld::NoLease)?;
        self.count_off(leased.worker.as_deref(), leased.left);
        let mut chunk = leased.chunk;
        self.services.ended(chunk.id);
        let lineup = chunk.lineup.clone();
        chunk.games.retain(|game| {
            let open = self.open.get(&game.group.number);
            open.is_some_and(|open| open.missing.contains(&game.seating))
        });
        if !chunk.games.is_empty() {
            self.put_back(chunk, now);
        }
        Ok(lineup)
    }

    /// True if a game still has to be played: its match is not decided, and none of its players is
    /// set aside.
    pub(crate) fn is_wanted(&self, group: u64) -> bool {
        let open = self.open.get(&group);
        open.is_some_and(|open| !self.is_in_vain(group, &open.group.lineup))
    }

    /// True if a game of a lease is to be begun now: it still has to be played, and none of its
    /// bots is away.
    pub(crate) fn is_wanted_now(&self, lease: LeaseId, group: u64, now: Instant) -> bool {
        let leased = self.leased.get(&lease.chunk);
        let waits = leased.is_some_and(|leased| self.services.wait(&leased.chunk, now));
        !waits && self.is_wanted(group)
    }

    /// The bots that run as services.
    pub(crate) fn services(&mut self) -> &mut Services {
        &mut self.services
    }

    /// Number of complete groups, and the most groups that there will be.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.groups_done, self.schedule.planned())
    }

    /// The bots that take no further part.
    pub(crate) fn set_aside(&self) -> &[SetAside] {
        &self.set_aside
    }

    /// True if nothing is left to be played.
    pub(crate) fn is_over(&self) -> bool {
        self.schedule.is_over()
            && self
                .open
                .iter()
                .all(|(number, open)| self.is_in_vain(*number, &open.group.lineup))
    }

    /// True if nothing is left to be played of a match.
    pub(crate) fn is_match_over(&self, matchup: u32) -> bool {
        match self.schedule.stage(MatchId(matchup)) {
            MatchStage::Over => true,
            MatchStage::Pending => self.schedule.is_over(),
            MatchStage::Open { .. } => false,
        }
    }

    /// The first matches that can be played, at most so many. `games` is how many games a chunk
    /// has.
    pub(crate) fn open_matches(&self, games: u64, most: usize) -> Vec<OpenLineup> {
        let numbers = self.schedule.numbers();
        let open = numbers.filter_map(|matchup| {
            let MatchStage::Open {
                lineup,
                groups,
                left,
            } = self.schedule.stage(MatchId(matchup))
            else {
                return None;
            };
            // The schedule is told of scores from before when it names their groups.
            let groups = left.saturating_sub(self.stored.range(groups).count() as u64);
            (groups > 0).then(|| OpenLineup {
                matchup,
                lineup,
                groups,
                chunks: self.chunks(groups, games),
            })
        });
        open.take(most).collect()
    }

    /// In how many chunks so many groups are leased, about.
    fn chunks(&self, groups: u64, games: u64) -> u64 {
        let seatings = self.plan.games_in_group().max(1);
        let is_apart = self.secrets || games < seatings;
        let each = if is_apart { seatings } else { 1 };
        groups.div_ceil(self.deals_in_a_chunk(0, games)) * each
    }

    /// The time at which the first of the leases runs out.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        let ends = self.leased.values().map(|leased| self.reports.end(leased));
        ends.min()
    }

    fn record(&mut self, score: &GroupScore) -> Result<(), TournamentError> {
        self.groups_done += 1;
        self.is_stale = true;
        self.schedule.record(score)?;
        let set_aside = self.schedule.set_aside();
        // At the end nobody may ask for work any more, and it has to be known what is in vain.
        if set_aside != self.set_aside || self.schedule.is_over() {
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

    fn chunk(
        &mut self,
        wanted: &ChunkRequest<'_>,
        now: Instant,
    ) -> Result<Option<Chunk>, TournamentError> {
        loop {
            if std::mem::take(&mut self.is_stale) {
                self.uncounted = self.schedule.uncounted();
            }
            while let Some(mut chunk) = self.take_ready(wanted, now) {
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
            if !self.may_cut_for(wanted.matchup)? || !self.cut(wanted.games, now)? {
                return Ok(None);
            }
        }
    }

    /// Takes the first ready chunk of those that do not wait for a bot.
    fn take_ready(&mut self, wanted: &ChunkRequest<'_>, now: Instant) -> Option<Chunk> {
        let services = &self.services;
        let may_play = |chunk: &Chunk| services.may_play(&chunk.lineup, now);
        self.ready
            .take(wanted.matchup, MOST_LOOKED_AT, &may_play, wanted.fits)
    }

    /// Number of ready chunks that do not wait for a bot.
    fn ready_now(&self) -> usize {
        if !self.services.are_away() {
            return self.ready.len();
        }
        let waits = |chunk: &&Chunk| self.services.is_away(&chunk.lineup);
        self.ready.len() - self.ready.iter().filter(waits).count()
    }

    /// True if further chunks may be cut for a worker that none of the ready ones is for.
    fn may_cut_for(&mut self, matchup: Option<u32>) -> Result<bool, TournamentError> {
        let Some(matchup) = matchup else {
            let has_room = self.ready.len() < MOST_AHEAD;
            return Ok(has_room && self.ready_now() < MOST_LOOKED_AT);
        };
        self.look_ahead()?;
        // Groups are named in the order of their matches, but for those of brackets.
        let is_bracket = matches!(
            self.plan.definition.shape,
            ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {}
        );
        let may_follow = |next: &Group| is_bracket || next.matchup.0 <= matchup;
        Ok(self.next.as_ref().is_some_and(may_follow) && self.ready.len() < MOST_AHEAD)
    }

    /// Cuts the next chunks off the schedule; false where it names no group.
    fn cut(&mut self, games: u64, now: Instant) -> Result<bool, TournamentError> {
        self.look_ahead()?;
        let Some(first) = self.next.take() else {
            return Ok(false);
        };
        let wanted = self.deals_in_a_chunk(first.at, games);
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
        let games_left = groups.into_iter().flat_map(|group| self.open(group));
        let games_left: Vec<PlannedGame> = games_left.collect();
        // Where a worker wants less than a deal, its seatings go to several.
        let apart = self.secrets || games < self.plan.games_in_group();
        self.make_ready(games_left, apart, now);
        Ok(true)
    }

    /// Takes down that a group is to be played, and gives the games that it lacks.
    fn open(&mut self, group: Group) -> Vec<PlannedGame> {
        let group = Arc::new(group);
        let orders = self.plan.definition.seatings.of(self.seats, group.turn);
        let played = self.begun.remove(&group.number).unwrap_or_default();
        let missing: Vec<PlannedGame> = (0..)
            .zip(orders)
            .filter(|(seating, _)| !played.contains(seating))
            .map(|(seating, order)| PlannedGame {
                group: group.clone(),
                seating,
                order,
            })
            .collect();
        let open = OpenGroup {
            missing: missing.iter().map(|game| game.seating).collect(),
            group: group.clone(),
        };
        self.open.insert(group.number, open);
        missing
    }

    /// Makes one chunk of games of one match, or one for each seating.
    fn make_ready(&mut self, games: Vec<PlannedGame>, apart: bool, now: Instant) {
        let mut by_seating: BTreeMap<Option<u32>, Vec<PlannedGame>> = BTreeMap::new();
        for game in games {
            let lot = apart.then_some(game.seating);
            by_seating.entry(lot).or_default().push(game);
        }
        for (seating, mut games) in by_seating {
            let first = &games[0].group;
            let last = games.last().map_or(first.number, |game| game.group.number);
            let id = ChunkId {
                matchup: first.matchup.0,
                first_group: first.number,
                groups: last + 1 - first.number,
                seating,
            };
            let lineup = first.lineup.clone();
            if let Some(seating) = seating.filter(|_| self.secrets) {
                // A process can't count which deal it plays: what one of another seating may have
                // left behind is of no use to it by its place.
                let mut dice = self.plan.dice_for_order(id.first_group, seating);
                dice.shuffle(&mut games);
            }
            self.ready.extend([Chunk {
                id,
                lineup,
                games,
                since: now,
            }]);
        }
    }

    /// Most deals of a chunk of about `games` games that begins with this deal of a match.
    fn deals_in_a_chunk(&self, first: u64, games: u64) -> u64 {
        if self.plan.is_fixed(first) {
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
        // Many may ask for work at once, and each would look at every lease.
        if self.looks_at.is_none_or(|at| now < at) {
            return;
        }
        let reports = &self.reports;
        let late = self
            .leased
            .extract_if(.., |_, leased| reports.end(leased) <= now)
            .collect::<Vec<_>>();
        self.looks_at = self.next_expiry();
        if self.leased.is_empty() {
            self.reports.last.clear();
        }
        for (id, leased) in late {
            self.count_off(leased.worker.as_deref(), leased.left);
            let is_due = self.reports.due(&leased).is_some_and(|due| due <= now);
            let why = match is_due {
                true => Lapse::NothingReported,
                false => Lapse::NotRenewed,
            };
            tracing::warn!(?id, ?why, "a worker has been silent for too long");
            let session = leased.session;
            self.lost
                .extend(session.map(|session| LostLease { session, why }));
            self.put_back(leased.chunk, now);
        }
    }

    /// Makes a chunk ready to be leased again. Games of it that have been played or are in vain are
    /// left out then.
    fn put_back(&mut self, chunk: Chunk, now: Instant) {
        self.services.ended(chunk.id);
        self.ready.put_back(Chunk {
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

impl PlannedGame {
    /// The key that names it.
    pub(crate) fn key(&self) -> GameKey {
        GameKey {
            group: self.group.number,
            seating: self.seating,
        }
    }
}

/// True if a game belongs to a chunk.
fn covers(chunk: &ChunkId, game: &PlannedGame) -> bool {
    let group = &game.group;
    chunk.matchup == group.matchup.0
        && chunk.group_numbers().contains(&group.number)
        && chunk.seating.is_none_or(|seating| seating == game.seating)
}
