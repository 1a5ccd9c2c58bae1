//! The dispatcher: hands out the chunks of one run and takes what comes back. What is
//! to be played next is the schedule's; what has been played is in the results alone,
//! so that a run that was stopped in any way goes on from there.

mod away;
mod counters;
mod patience;
mod ready;
mod state;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_ladder::schedule::SetAside;
use arena_ladder::{Entrant, Lineup};
use arena_store::{BegunGame, Counter, EVERY_GROUP, FinishedGame, GameRow, Reported, StoredReport};
use parking_lot::Mutex;
use referee::Live;
use referee_worker::{
    Abilities, Dispatch, DispatchError, Need, Summary, bucket,
    lease::{
        GameKey, GameReport, GiveBack, Lease, LeaseId, LeaseReply, LeaseRequest, LeasedBot,
        LiveUpdate, ReportReply, RunId, SessionId,
    },
};
use tokio::{sync::Notify, time::Instant};

pub use away::AwayBot;
pub use counters::RunCounters;
pub(crate) use counters::game_counters;
pub use patience::{HoldTime, persist};

use self::away::{Absent, is_absence};
pub(crate) use self::state::PlannedGame;
use self::state::{ChunkRequest, DispatchState, EarlierLease, GroupProgress};
pub use self::state::{Lapse, LostLease, NotHeld, RunStall};
use crate::{
    Observer, Plan, Results, RunEvent, TournamentError, WallClock,
    observe::{EndedGame, FoulNotice},
    results::key,
    unix_ms,
};

/// Longest silence of a worker before its chunk is leased again.
pub const LEASE: Duration = Duration::from_secs(60);

/// Hands out the work of one run.
pub struct Dispatcher<R> {
    plan: Arc<Plan>,
    results: R,
    options: DispatchOptions,
    observer: Arc<dyn Observer>,
    counters: Arc<RunCounters>,
    /// Never held while anything is waited for.
    state: Mutex<DispatchState>,
    told: Mutex<ObserverLog>,
}

/// Options for handing out work; they change nothing of what is played.
#[derive(Clone, Debug)]
pub struct DispatchOptions {
    /// The id of the run in leases.
    pub run: RunId,
    /// Longest silence of a worker before its chunk is leased again.
    pub lease: Duration,
    /// True if public moves of running games are told, in games without secrets.
    pub live: bool,
    /// True if workers elsewhere tell moves too. It may change at any time, and holds for what is
    /// leased from then on.
    pub live_elsewhere: Arc<AtomicBool>,
    /// Is told when there may be new work.
    pub changed: Arc<Notify>,
    /// The clock whose time is shown to people.
    pub clock: WallClock,
}

impl Default for DispatchOptions {
    /// One run, which tells no moves.
    fn default() -> Self {
        Self {
            run: RunId::default(),
            lease: LEASE,
            live: false,
            live_elsewhere: Arc::new(AtomicBool::new(true)),
            changed: Arc::default(),
            clock: WallClock::default(),
        }
    }
}

/// A lineup whose games wait for a worker that can play them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingLineup {
    /// Names of the bots, in order of the lineup.
    pub bots: Vec<String>,
    /// Needs of a worker that can play it.
    pub needs: BTreeSet<Need>,
    /// Time that it has waited.
    pub waited: Duration,
}

/// A match that can be played, with what is left of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenMatch {
    /// Its number in the schedule.
    pub matchup: u32,
    /// The bots, in order of the lineup.
    pub bots: Vec<LeasedBot>,
    /// Number of its deals that are not complete.
    pub groups: u64,
    /// In how many chunks of the asked size they are leased, about: what was given back
    /// half-played makes more of them.
    pub chunks: u64,
}

/// The log of what the observer has been told, and what is withheld from it.
#[derive(Default)]
struct ObserverLog {
    /// Games of deals that have seatings to come, by group.
    withheld: BTreeMap<u64, Vec<EndedGame>>,
    /// Entrants that have committed a foul.
    fouled: BTreeSet<Entrant>,
    /// The most memory that a process of each bot has added, in bytes.
    memory: BTreeMap<Entrant, u64>,
    /// Usual thinking time of all bots of a game together, from the last games.
    usual_game: Option<Duration>,
}

impl<R: Results> Dispatcher<R> {
    /// Takes up a run where its results say that it is.
    ///
    /// # Errors
    ///
    /// The results can't be read, or are not of this plan.
    pub async fn open(
        plan: Arc<Plan>,
        results: R,
        options: DispatchOptions,
        observer: Arc<dyn Observer>,
        counters: Arc<RunCounters>,
    ) -> Result<Self, TournamentError> {
        let scores = results.scores().await?;
        let scored = scores.keys().copied().collect();
        let begun = BegunGame::by_group(&results.begun(&[EVERY_GROUP]).await?);
        let mut state = DispatchState::new(options.run, plan.clone(), scores, begun)?;
        let earlier = results.leases().await?;
        let earlier = earlier.into_iter().map(|(chunk, attempt, session)| {
            let run = options.run;
            EarlierLease {
                id: LeaseId {
                    run,
                    chunk,
                    attempt,
                },
                session,
            }
        });
        let now = now();
        state.adopt(earlier.collect(), &scored, now, now + options.lease)?;
        let fouls = results.first_fouls().await?;
        let told = ObserverLog {
            fouled: fouls.into_iter().map(|foul| foul.entrant).collect(),
            ..ObserverLog::default()
        };
        Ok(Self {
            plan,
            results,
            options,
            observer,
            counters,
            state: Mutex::new(state),
            told: Mutex::new(told),
        })
    }

    /// Number of complete groups, and the most groups that there will be.
    pub fn progress(&self) -> (u64, Option<u64>) {
        self.state.lock().progress()
    }

    /// The bots that take no further part.
    pub fn set_aside(&self) -> Vec<SetAside> {
        self.state.lock().set_aside().to_vec()
    }

    /// The bots that are away: nothing answers at their addresses, and their games wait.
    pub fn away(&self) -> Vec<AwayBot> {
        self.state.lock().services().away(now())
    }

    /// True if nothing is left to be played.
    pub fn is_over(&self) -> bool {
        self.state.lock().is_over()
    }

    /// The most memory that a process of each bot has added, in bytes, where it was
    /// measured.
    pub fn memory(&self) -> BTreeMap<Entrant, u64> {
        self.told.lock().memory.clone()
    }

    /// Writes what is still to be written, and tells of games of deals whose other
    /// seatings will never be played.
    ///
    /// # Errors
    ///
    /// The results can't be written.
    pub async fn close(&self) -> Result<(), TournamentError> {
        self.results.close().await?;
        let withheld = std::mem::take(&mut self.told.lock().withheld);
        if self.results.can_go_on() && !self.is_over() {
            return Ok(());
        }
        for game in withheld.into_values().flatten() {
            self.tell(&game);
        }
        Ok(())
    }

    /// Tells the observer how far the run is when it begins.
    pub fn tell_begun(&self) {
        let (done, planned) = self.progress();
        self.observer.event(RunEvent::Begun {
            done,
            planned,
            games_in_group: self.plan.games_in_group(),
        });
    }

    /// The plan of the run.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// A game that is still to be played, or whose group lacks others.
    pub(crate) fn planned(&self, key: GameKey) -> Option<PlannedGame> {
        self.state.lock().game(key)
    }

    /// True if a worker like this is to tell moves.
    fn is_heard(&self, worker: &Abilities) -> bool {
        let is_here = matches!(worker, Abilities::Local);
        self.options.live && (is_here || self.options.live_elsewhere.load(Ordering::Relaxed))
    }

    /// Checks that a session has a lease with exactly this attempt, and that a game belongs to it.
    /// Otherwise nothing that a worker says of the game is taken, told or counted.
    ///
    /// # Errors
    ///
    /// [`NotHeld`] says why not.
    pub fn check_game(
        &self,
        session: Option<SessionId>,
        lease: LeaseId,
        game: GameKey,
    ) -> Result<(), NotHeld> {
        self.state.lock().check_game(lease, session, game)
    }

    /// Tells what everybody may know of a running game, which a worker elsewhere says.
    ///
    /// # Errors
    ///
    /// The session does not have the lease.
    pub fn tell_live(
        &self,
        session: SessionId,
        lease: LeaseId,
        key: GameKey,
        live: Live,
    ) -> Result<(), NotHeld> {
        self.check_game(Some(session), lease, key)?;
        if self.options.live && !self.plan.kind.has_secrets() {
            self.tell_public(lease, key, live);
        }
        Ok(())
    }

    fn tell_public(&self, lease: LeaseId, key: GameKey, live: Live) {
        let Some(planned) = self.planned(key) else {
            return;
        };
        let players = self.players(&planned);
        if let Live::Played { seat, .. } = &live
            && seat.index() >= players.len()
        {
            return;
        }
        let group = &planned.group;
        let update = LiveUpdate {
            lease,
            key,
            game_id: self.plan.game_id(group.matchup.0, group.at, key.seating),
            players,
            live,
        };
        self.observer.event(RunEvent::Live {
            group,
            update: &update,
        });
    }

    /// Number of chunks that are leased.
    #[must_use]
    pub fn leased(&self) -> usize {
        self.state.lock().leased()
    }

    /// The lineups that wait for a worker, with their needs.
    #[must_use]
    pub fn waiting(&self) -> Vec<WaitingLineup> {
        let now = now();
        let ready = self.state.lock().ready();
        let waiting = ready.into_iter().map(|(lineup, since)| WaitingLineup {
            bots: (lineup.iter().enumerate())
                .map(|(place, who)| self.plan.player(*who, place))
                .collect(),
            needs: self.plan.needs(&lineup),
            waited: now.saturating_duration_since(since),
        });
        waiting.collect()
    }

    /// The first matches that can be played now, in order, at most `most`. `games` is how many
    /// games a worker asks for.
    #[must_use]
    pub fn open_matches(&self, games: u64, most: usize) -> Vec<OpenMatch> {
        let open = self.state.lock().open_matches(games, most).into_iter();
        open.map(|open| OpenMatch {
            matchup: open.matchup,
            bots: self.plan.lineup(&open.lineup),
            groups: open.groups,
            chunks: open.chunks,
        })
        .collect()
    }

    /// Keeps a lease of a worker that is not in this process; false where the worker has lost
    /// it, or it belongs to another session.
    ///
    /// # Errors
    ///
    /// The results can't be written.
    pub async fn renew_for(
        &self,
        session: Option<SessionId>,
        lease: LeaseId,
    ) -> Result<bool, TournamentError> {
        let now = now();
        let until = now + self.options.lease;
        if !self.state.lock().renew(lease, session, now, until) {
            return Ok(false);
        }
        self.results.renew(lease, self.options.lease).await
    }

    /// The groups of a lease that need not be played any more, or not now.
    #[must_use]
    pub fn unwanted(&self, lease: LeaseId) -> Vec<u64> {
        self.state.lock().unwanted(lease, now())
    }

    /// Takes down that a session has reported a game, of whatever run.
    pub fn progressed(&self, session: SessionId) {
        self.state.lock().progressed(session, now());
    }

    /// The leases of workers elsewhere that have run out since this was asked last. Their work is
    /// ready for others.
    pub fn take_lost(&self) -> Vec<LostLease> {
        let lost = self.state.lock().take_lost(now());
        if !lost.is_empty() {
            self.options.changed.notify_waiters();
        }
        lost
    }

    /// Number of games that a worker elsewhere has and has not reported.
    #[must_use]
    pub fn held_by(&self, worker: &str) -> u64 {
        self.state.lock().held_by(worker)
    }

    /// The stall of the run, if there is one: all of its work is given out, and nothing has come of
    /// it for twice the time of a lease.
    #[must_use]
    pub fn stall(&self) -> Option<RunStall> {
        self.state.lock().stall(2 * self.options.lease, now())
    }

    /// Takes back every chunk that a session has, to be given to other workers.
    pub async fn take_back(&self, session: SessionId) {
        let leases = self.state.lock().leases_of(session);
        for lease in leases {
            // Where it has run out meanwhile, there is nothing to take back.
            let _ = self.end_lease(Some(session), lease).await;
        }
    }

    /// Ends a lease, and says who was to play.
    async fn end_lease(
        &self,
        session: Option<SessionId>,
        lease: LeaseId,
    ) -> Result<Lineup, NotHeld> {
        let lineup = self.state.lock().give_back(lease, session, now())?;
        self.options.changed.notify_waiters();
        if let Err(error) = self.results.release(lease).await {
            tracing::warn!(%error, "a lease could not be given back and will run out");
        }
        Ok(lineup)
    }

    /// Gives a worker a chunk that it can play, if there is one now; of at most so many games,
    /// where that is said.
    ///
    /// # Errors
    ///
    /// The results can't be written; the schedule contradicts them.
    pub async fn try_lease(
        &self,
        request: &LeaseRequest,
        most: Option<u64>,
    ) -> Result<LeaseReply, TournamentError> {
        let most = most.unwrap_or(u64::MAX);
        let now = now();
        let chunk = {
            let mut state = self.state.lock();
            let until = now + self.options.lease;
            let matchup = request.scope.as_ref().and_then(|scope| scope.matchup);
            let wanted = ChunkRequest {
                worker: &request.worker,
                games: request.games.min(most),
                matchup,
                fits: &|chunk| {
                    chunk.games.len() as u64 <= most
                        && self.plan.can_play(&request.can, &chunk.lineup)
                },
            };
            let Some(chunk) = state.lease(&wanted, request.session, now, until)? else {
                let is_over = match matchup {
                    Some(matchup) => state.is_match_over(matchup),
                    None => state.is_over(),
                };
                return Ok(match is_over {
                    true => LeaseReply::Over,
                    false => LeaseReply::Wait,
                });
            };
            chunk
        };
        let waited = now.saturating_duration_since(chunk.since);
        self.observer.event(RunEvent::Leased { waited });
        let waited = bucket(waited.as_micros() as u64);
        self.counters.count(Counter::QueueWait(waited));
        let leased = self.results.lease(
            chunk.id,
            &request.worker,
            request.session,
            self.options.lease,
        );
        let attempt = match leased.await {
            Ok(attempt) => attempt,
            Err(error) => {
                // Nobody has it: it does not wait until a lease runs out.
                self.state.lock().forgo(chunk.id, now);
                self.options.changed.notify_waiters();
                return Err(error);
            }
        };
        let id = LeaseId {
            run: self.options.run,
            chunk: chunk.id,
            attempt,
        };
        self.state.lock().begin(id);
        let plan = &self.plan;
        Ok(LeaseReply::Work(Box::new(Lease {
            id,
            valid_for: self.options.lease,
            game: plan.kind.info().name.to_owned(),
            limits: plan.definition.limits,
            bots: plan.lineup(&chunk.lineup),
            fresh_processes: plan.kind.has_secrets() || plan.series,
            series: plan.series,
            records: self.results.keeps_records(),
            logs: plan.definition.logs,
            // Not even of the last seating: it is played again where the referee was late or
            // the worker is lost.
            live: self.is_heard(&request.can) && !plan.kind.has_secrets(),
            games: chunk
                .games
                .iter()
                .map(|game| plan.assignment(&game.group, game.seating, &game.order))
                .collect(),
        })))
    }

    /// Takes back a chunk of a worker; what was not played of it is given to another one.
    ///
    /// # Errors
    ///
    /// The session does not have the lease: nothing is taken, and nothing of the memory is counted.
    pub async fn give_back_for(
        &self,
        session: Option<SessionId>,
        give_back: GiveBack,
    ) -> Result<(), NotHeld> {
        let GiveBack {
            lease,
            // What is not stored is known here.
            unplayed: _,
            memory,
        } = give_back;
        let lineup = self.end_lease(session, lease).await?;
        let mut told = self.told.lock();
        for (who, peak) in lineup.into_iter().zip(memory) {
            if let (Some(who), Some(peak)) = (who, peak) {
                let most = told.memory.entry(who).or_insert(0);
                *most = peak.max(*most);
            }
        }
        Ok(())
    }

    /// Usual thinking time of all bots of a game together, from the last games; none where none has
    /// been reported to this process.
    #[must_use]
    pub fn usual_game(&self) -> Option<Duration> {
        self.told.lock().usual_game
    }

    fn see_length(&self, thought_us: &[u64]) {
        /// Number of games that the mean follows, about.
        const GAMES: u32 = 16;
        let thought = Duration::from_micros(thought_us.iter().sum());
        let mut told = self.told.lock();
        told.usual_game = Some(match told.usual_game {
            None => thought,
            Some(before) => (before * (GAMES - 1) + thought) / GAMES,
        });
    }

    /// The time at which there may be more work without anybody saying so: a lease runs out, or a
    /// bot that is away is tried again.
    #[must_use]
    pub fn next_change(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        let times = [state.next_expiry(), state.services().next_trial(now())];
        times.into_iter().flatten().min().map(Instant::from_std)
    }

    /// Takes down who has answered in a game and who has not, and says whether the game is played
    /// later: nothing answered at the address of one of its bots, which is waited for. A game of
    /// four that the others have played on without it counts: they have seen the deal.
    fn waits(&self, lease: LeaseId, planned: &PlannedGame, summary: &Summary) -> bool {
        let now = now();
        let mut state = self.state.lock();
        let services = state.services();
        if services.is_empty() {
            return false;
        }
        let entrant = |seat: usize| planned.group.lineup[planned.order[seat]];
        let fouls = &summary.fouls;
        let has_none = |seat: &usize| fouls.iter().all(|one| one.seat.index() != *seat);
        let answered = (0..planned.order.len()).filter(has_none);
        let mut back = Vec::new();
        for who in answered.filter_map(entrant) {
            back.extend(services.answered(who, now).map(|after| (who, after)));
        }
        let absent = fouls.iter().filter(|one| is_absence(one.foul.kind()));
        let mut gone = Vec::new();
        let mut waits = false;
        for one in absent.filter(|_| summary.plies == 0) {
            let Some(who) = entrant(one.seat.index()) else {
                continue;
            };
            let found = services.absent(who, &one.foul.to_string(), lease.chunk, now);
            waits |= found != Absent::Counts;
            if found == Absent::Gone {
                let away = services.away(now).into_iter();
                gone.extend(away.filter(|away| away.entrant == who));
            }
        }
        // Nobody is told while others wait for the lock.
        drop(state);
        if !back.is_empty() {
            self.options.changed.notify_waiters();
        }
        for (who, after) in back {
            let bot = self.plan.name(who);
            self.observer.event(RunEvent::Back { bot, after });
        }
        for away in &gone {
            let bot = self.plan.name(away.entrant);
            self.observer.event(RunEvent::Away { bot, away });
        }
        waits
    }

    /// Takes a finished game, as its report says that it came out. `session` and `worker` are
    /// whose it is, where that is not this process.
    ///
    /// # Errors
    ///
    /// The results can't be written.
    pub async fn take(
        &self,
        report: GameReport,
        session: Option<SessionId>,
        worker: Option<&str>,
    ) -> Result<ReportReply, TournamentError> {
        let GameReport {
            lease,
            key: game,
            summary,
            record,
            logs,
        } = report;
        if let Err(why) = self.check_game(session, lease, game) {
            tracing::info!(worker, ?lease, ?game, %why, "a game is not taken");
            return Ok(why.into());
        }
        let Some(planned) = self.state.lock().game(game) else {
            return Ok(ReportReply::Stale);
        };
        if self.waits(lease, &planned, &summary) {
            return Ok(ReportReply::Away);
        }
        let group = &planned.group;
        let game_id = self.plan.game_id(group.matchup.0, group.at, game.seating);
        let thinking = summary.thinking.clone();
        let row = self.row(&planned, summary, worker);
        let finished = FinishedGame {
            row: row.clone(),
            chunk: key(lease.chunk),
            attempt: lease.attempt,
            record: match record {
                Some(record) => record,
                None if !self.results.keeps_records() => Vec::new(),
                None => {
                    return Err(TournamentError::Inconsistent(format!(
                        "the report of {game_id} lacks the record that its lease asked for"
                    )));
                }
            },
            withhold: self.plan.kind.has_secrets() && self.plan.games_in_group() > 1,
            logs: match self.plan.definition.logs {
                true => logs,
                false => Vec::new(),
            },
        };
        let StoredReport { reported, scored } = self.results.report(&game_id, finished).await?;
        tracing::debug!(game = game_id, ?reported, "a game is stored");
        if reported == Reported::Stale {
            return Ok(ReportReply::Stale);
        }
        if reported == Reported::Accepted {
            self.state.lock().reported(lease, now());
        }
        // A duplicate may be new here: whoever took it the first time may have been cut off
        // when it was stored.
        let progress = self.state.lock().played(game);
        if progress == GroupProgress::Complete {
            let scored = match scored {
                Some(scored) => Some(scored),
                None => self.results.score(game.group).await?.map(Arc::new),
            };
            let scored = scored.ok_or_else(|| {
                TournamentError::Inconsistent(format!(
                    "the results have no score of group {}, which is complete",
                    game.group
                ))
            })?;
            self.state.lock().score(&scored.score)?;
            self.options.changed.notify_waiters();
        }
        if reported == Reported::Duplicate {
            return Ok(ReportReply::Duplicate);
        }
        let ended = EndedGame {
            players: self.players(&planned),
            record: self.results.record_file(&game_id),
            game_id,
            row,
            thinking,
        };
        self.observer.event(RunEvent::Counted);
        self.see_length(&ended.row.thought_us);
        self.tell_when_public(ended, &planned, progress == GroupProgress::Complete)
            .await?;
        Ok(ReportReply::Accepted)
    }

    /// Tells of a game; in a game with secrets as soon as all seatings of its deal are over.
    /// This is the only way to the observer of what came of a game.
    async fn tell_when_public(
        &self,
        game: EndedGame,
        planned: &PlannedGame,
        is_complete: bool,
    ) -> Result<(), TournamentError> {
        if !self.plan.kind.has_secrets() {
            self.tell(&game);
            return Ok(());
        }
        let group = game.row.group;
        let mut public = {
            let mut told = self.told.lock();
            told.withheld.entry(group).or_default().push(game);
            match is_complete {
                true => told.withheld.remove(&group).unwrap_or_default(),
                false => return Ok(()),
            }
        };
        if (public.len() as u64) < self.plan.games_in_group() {
            // The others are of an earlier run, which could not tell of them.
            for row in self.results.earlier_games(group).await? {
                if public.iter().all(|game| game.row.seating != row.seating) {
                    public.push(self.earlier(planned, row));
                }
            }
        }
        public.sort_by_key(|game| game.row.seating);
        for game in &public {
            self.tell(game);
        }
        Ok(())
    }

    /// A game of an earlier run, of the group of this one.
    fn earlier(&self, planned: &PlannedGame, row: GameRow) -> EndedGame {
        let group = &planned.group;
        let game_id = self.plan.game_id(group.matchup.0, group.at, row.seating);
        let seated = PlannedGame {
            group: group.clone(),
            seating: row.seating,
            order: row.order.clone(),
        };
        EndedGame {
            players: self.players(&seated),
            record: self.results.record_file(&game_id),
            thinking: vec![BTreeMap::new(); row.order.len()],
            game_id,
            row,
        }
    }

    fn tell(&self, game: &EndedGame) {
        for foul in &game.row.fouls {
            let Some(entrant) = game.row.lineup[game.row.order[foul.seat.index()]] else {
                continue;
            };
            if self.told.lock().fouled.insert(entrant) {
                self.observer.event(RunEvent::FirstFoul(FoulNotice {
                    bot: self.plan.name(entrant),
                    game,
                    foul,
                }));
            }
        }
        self.observer.event(RunEvent::Game(game));
    }

    /// The row of a game that came out so.
    fn row(&self, game: &PlannedGame, summary: Summary, worker: Option<&str>) -> GameRow {
        let group = &game.group;
        let counters = game_counters(&summary, worker, |seat| group.lineup[game.order[seat]]);
        let mut counters: Vec<_> = counters
            .into_iter()
            .map(|((who, counter), count)| (who, counter, count))
            .collect();
        let of_the_run = self.counters.take();
        counters.extend(of_the_run.map(|(counter, count)| (None, counter, count)));
        GameRow {
            group: group.number,
            seating: game.seating,
            games_in_group: self.plan.games_in_group() as u32,
            matchup: group.matchup,
            lineup: group.lineup.clone(),
            order: game.order.clone(),
            places: summary.places,
            scores: summary.scores,
            reason: summary.reason,
            fouls: summary.fouls,
            plies: summary.plies,
            thought_us: summary.thought_us,
            course: summary.course,
            play_hash: summary.play_hash,
            worker: worker.map(str::to_owned),
            finished_unix_ms: unix_ms(self.options.clock.now()),
            counters,
        }
    }

    fn players(&self, game: &PlannedGame) -> Vec<String> {
        let lineup = &game.group.lineup;
        let places = game.order.iter();
        places
            .map(|&place| self.plan.player(lineup[place], place))
            .collect()
    }
}

impl<R: Results> Dispatch for Dispatcher<R> {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        let patience = HoldTime::new(self.options.lease);
        loop {
            let changed = self.options.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // So that what changes from here on is not missed.
            changed.as_mut().enable();
            let reply = persist(|| self.try_lease(&request, None)).await;
            let reply = reply.map_err(DispatchError::new)?;
            if !matches!(reply, LeaseReply::Wait) {
                return Ok(reply);
            }
            if !patience.wait(changed, self.next_change()).await {
                return Ok(LeaseReply::Wait);
            }
        }
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        let renewed = self.renew_for(None, lease).await;
        renewed.map_err(DispatchError::new)
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        let reported = persist(|| self.take(report.clone(), None, None)).await;
        reported.map_err(DispatchError::new)
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        // Where the lease has run out, there is nothing to take back.
        let _ = self.give_back_for(None, give_back).await;
        Ok(())
    }

    async fn is_wanted(&self, lease: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        Ok(self.state.lock().is_wanted_now(lease, game.group, now()))
    }

    fn live(&self, update: LiveUpdate) {
        if self.check_game(None, update.lease, update.key).is_err() {
            return;
        }
        // Of a group that has been scored meanwhile nothing is told.
        let Some(planned) = self.state.lock().game(update.key) else {
            return;
        };
        self.observer.event(RunEvent::Live {
            group: &planned.group,
            update: &update,
        });
    }
}

impl From<NotHeld> for ReportReply {
    fn from(why: NotHeld) -> Self {
        match why {
            NotHeld::LeasedAgain { .. } => Self::Stale,
            NotHeld::NoLease | NotHeld::OtherGame => Self::NotHeld,
        }
    }
}

/// The monotonic time, which stands still in a simulation until it is moved on.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}
