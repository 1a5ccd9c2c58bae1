//! The dispatcher: hands out the chunks of one run and takes what comes back. What is
//! to be played next is the schedule's; what has been played is in the results alone,
//! so that a run that was stopped in any way goes on from there.

mod counters;
mod state;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use arena_ladder::Entrant;
use arena_ladder::schedule::SetAside;
use arena_store::{Counter, FinishedGame, GameRow, Reported};
use referee_worker::{
    Dispatch, DispatchError, Summary, bucket,
    lease::{
        GameKey, GameReport, GiveBack, Lease, LeaseId, LeaseReply, LeaseRequest, LiveUpdate,
        ReportReply,
    },
};
use tokio::{sync::Notify, time::Instant};

pub use counters::RunCounters;
pub(crate) use counters::game_counters;

use self::state::{ChunkGame, Progress, State};
use crate::{
    Observer, Plan, Results, RunEvent, TournamentError,
    observe::{EndedGame, FoulNotice},
    results::key,
    unix_ms,
};

/// How long a worker may be silent before its chunk is leased again.
pub const LEASE: Duration = Duration::from_secs(60);

/// Hands out the work of one run.
pub struct Dispatcher<R> {
    plan: Arc<Plan>,
    results: R,
    options: DispatchOptions,
    observer: Arc<dyn Observer>,
    counters: Arc<RunCounters>,
    /// Never held while anything is waited for.
    state: Mutex<State>,
    told: Mutex<Told>,
    changed: Notify,
}

/// How work is handed out, which changes nothing of what is played.
#[derive(Clone, Copy, Debug)]
pub struct DispatchOptions {
    /// How long a worker may be silent before its chunk is leased again.
    pub lease: Duration,
    /// Whether public moves of running games are told, in games without secrets.
    pub live: bool,
}

/// What the observer has been told, and what is withheld from it.
#[derive(Default)]
struct Told {
    /// Games of deals that have seatings to come, by group.
    withheld: BTreeMap<u64, Vec<EndedGame>>,
    /// Who has committed a foul.
    fouled: BTreeSet<Entrant>,
    /// The most memory that a process of each bot has added, in bytes.
    memory: BTreeMap<Entrant, u64>,
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
        let state = State::new(
            plan.clone(),
            results.scores().await?,
            results.begun().await?,
        )?;
        let fouls = results.first_fouls().await?;
        let told = Told {
            fouled: fouls.into_iter().map(|foul| foul.entrant).collect(),
            ..Told::default()
        };
        Ok(Self {
            plan,
            results,
            options,
            observer,
            counters,
            state: Mutex::new(state),
            told: Mutex::new(told),
            changed: Notify::new(),
        })
    }

    /// How many groups are complete, and how many there will be at most.
    pub fn progress(&self) -> (u64, Option<u64>) {
        self.state().progress()
    }

    /// Who takes no further part.
    pub fn set_aside(&self) -> Vec<SetAside> {
        self.state().set_aside().to_vec()
    }

    /// Whether nothing is left to be played.
    pub fn is_over(&self) -> bool {
        self.state().is_over()
    }

    /// The most memory that a process of each bot has added, in bytes, where it was
    /// measured.
    pub fn memory(&self) -> BTreeMap<Entrant, u64> {
        self.told().memory.clone()
    }

    /// Writes what is still to be written, and tells of games of deals whose other
    /// seatings will never be played.
    ///
    /// # Errors
    ///
    /// The results can't be written.
    pub async fn close(&self) -> Result<(), TournamentError> {
        self.results.close().await?;
        let withheld = std::mem::take(&mut self.told().withheld);
        if self.results.can_go_on() && !self.is_over() {
            return Ok(());
        }
        for game in withheld.into_values().flatten() {
            self.tell(&game);
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn try_lease(&self, request: &LeaseRequest) -> Result<LeaseReply, TournamentError> {
        let now = std::time::Instant::now();
        let chunk = {
            let mut state = self.state();
            let until = now + self.options.lease;
            let Some(chunk) = state.lease(request.games, now, until)? else {
                return Ok(match state.is_over() {
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
        let leased = self
            .results
            .lease(chunk.id, &request.worker, self.options.lease);
        let id = LeaseId {
            chunk: chunk.id,
            attempt: leased.await?,
        };
        self.state().begin(id);
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
            // Not even of the last seating: it is played again where the referee was late or
            // the worker is lost.
            live: self.options.live && !plan.kind.has_secrets(),
            games: chunk
                .games
                .iter()
                .map(|game| plan.assignment(&game.group, game.seating, &game.order))
                .collect(),
        })))
    }

    async fn take(&self, report: GameReport) -> Result<ReportReply, TournamentError> {
        let GameReport {
            lease,
            key: game,
            summary,
            record,
        } = report;
        let Some(planned) = self.state().game(game) else {
            return Ok(ReportReply::Stale);
        };
        let group = &planned.group;
        let game_id = self.plan.game_id(group.matchup.0, group.at, game.seating);
        let thinking = summary.thinking.clone();
        let row = self.row(&planned, summary);
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
        };
        let reported = self.results.report(&game_id, finished).await?;
        tracing::debug!(game = game_id, ?reported, "a game is stored");
        match reported {
            Reported::Stale => return Ok(ReportReply::Stale),
            Reported::Duplicate => return Ok(ReportReply::Duplicate),
            Reported::Accepted => {}
        }
        let progress = self.state().played(game);
        if progress == Progress::Complete {
            let scored = self.results.score(game.group).await?.ok_or_else(|| {
                TournamentError::Inconsistent(format!(
                    "the results have no score of group {}, which is complete",
                    game.group
                ))
            })?;
            self.state().score(&scored.score)?;
            self.changed.notify_waiters();
        }
        let ended = EndedGame {
            players: self.players(&planned),
            record: self.results.record_file(&game_id),
            game_id,
            row,
            thinking,
        };
        self.observer.event(RunEvent::Counted);
        self.tell_when_public(ended, &planned, progress == Progress::Complete)
            .await?;
        Ok(ReportReply::Accepted)
    }

    /// Tells of a game; in a game with secrets as soon as all seatings of its deal are over.
    /// This is the only way to the observer of what came of a game.
    async fn tell_when_public(
        &self,
        game: EndedGame,
        planned: &ChunkGame,
        is_complete: bool,
    ) -> Result<(), TournamentError> {
        if !self.plan.kind.has_secrets() {
            self.tell(&game);
            return Ok(());
        }
        let group = game.row.group;
        let mut public = {
            let mut told = self.told();
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
    fn earlier(&self, planned: &ChunkGame, row: GameRow) -> EndedGame {
        let group = &planned.group;
        let game_id = self.plan.game_id(group.matchup.0, group.at, row.seating);
        let seated = ChunkGame {
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
            if self.told().fouled.insert(entrant) {
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
    fn row(&self, game: &ChunkGame, summary: Summary) -> GameRow {
        let group = &game.group;
        let counters = game_counters(&summary, |seat| group.lineup[game.order[seat]]);
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
            finished_unix_ms: unix_ms(SystemTime::now()),
            counters,
        }
    }

    fn players(&self, game: &ChunkGame) -> Vec<String> {
        let lineup = &game.group.lineup;
        let places = game.order.iter();
        places
            .map(|&place| self.plan.player(lineup[place], place))
            .collect()
    }
}

impl<R: Results> Dispatch for Dispatcher<R> {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        let patience = Instant::now() + self.options.lease / 4;
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // So that what changes from here on is not missed.
            changed.as_mut().enable();
            let reply = self.try_lease(&request).await;
            let reply = reply.map_err(DispatchError::new)?;
            if !matches!(reply, LeaseReply::Wait) {
                return Ok(reply);
            }
            // The lease of another worker may run out.
            let expiry = self.state().next_expiry().map(Instant::from_std);
            let until = expiry.map_or(patience, |expiry| expiry.min(patience));
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(until) => {
                    if Instant::now() >= patience {
                        return Ok(LeaseReply::Wait);
                    }
                }
            }
        }
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        let until = std::time::Instant::now() + self.options.lease;
        if !self.state().renew(lease, until) {
            return Ok(false);
        }
        let renewed = self.results.renew(lease, self.options.lease).await;
        renewed.map_err(DispatchError::new)
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        self.take(report).await.map_err(DispatchError::new)
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        let GiveBack {
            lease,
            unplayed,
            memory,
        } = give_back;
        {
            let chunk = self.state().lineup(lease.chunk);
            let mut told = self.told();
            for (who, peak) in chunk.into_iter().flatten().zip(memory) {
                if let (Some(who), Some(peak)) = (who, peak) {
                    let most = told.memory.entry(who).or_insert(0);
                    *most = peak.max(*most);
                }
            }
        }
        let now = std::time::Instant::now();
        if !self.state().give_back(lease, &unplayed, now) {
            return Ok(());
        }
        self.changed.notify_waiters();
        if let Err(error) = self.results.release(lease).await {
            tracing::warn!(%error, "a lease could not be given back and will run out");
        }
        Ok(())
    }

    async fn is_wanted(&self, _: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        Ok(self.state().is_wanted(game.group))
    }

    fn live(&self, update: LiveUpdate) {
        // Of a group that has been scored meanwhile nothing is told.
        let Some(planned) = self.state().game(update.key) else {
            return;
        };
        self.observer.event(RunEvent::Live {
            matchup: planned.group.matchup,
            update: &update,
        });
    }
}
