//! The tournaments that are being played: one dispatcher each, and workers are shared between
//! them. What is to be played is written in the store by people; it is looked at once a
//! second, so that the store alone says it, also after a restart.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_store::{QueuedTournament, StoreError, TournamentId, TournamentState, Wish};
use arena_tournament::{
    DispatchOptions, Dispatcher, HoldTime, LEASE, Observer, OpenMatch, Plan, TournamentError,
    WaitingLineup, WallClock, persist, unix_ms,
};
use parking_lot::Mutex;
use referee_bots::{Schemes, archive::ArchiveHash};
use referee_worker::{
    Dispatch, DispatchError,
    lease::{
        GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, LiveUpdate, ReportReply,
        RunId, SessionId,
    },
};
use tokio::{
    sync::Notify,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use crate::{Pulse, Storage, credit::Allowed, running::RunningTournament};

/// Time between two questions to the store for what is to be played.
const GLANCE: Duration = Duration::from_secs(1);
/// After how long a tournament is tried again when the store or the system was at fault.
const RETRY: Duration = Duration::from_secs(5);
/// For how long the last failure of the store counts where nobody has tried again since.
const TROUBLE: Duration = Duration::from_secs(30);

/// Makes what hears of a tournament that begins, or goes on.
pub type NewObserver =
    Box<dyn Fn(&QueuedTournament, &Arc<Plan>) -> Arc<dyn Observer> + Send + Sync>;

/// Rules by which work is handed out, which change nothing of what is played.
#[derive(Clone, Debug)]
pub struct TournamentOptions {
    /// Longest time that a worker may be silent before its chunk is leased again.
    pub lease: Duration,
    /// True if public moves of running games are told, in games without secrets.
    pub live: bool,
    /// True if workers elsewhere tell them too; it may change at any time.
    pub live_elsewhere: Arc<AtomicBool>,
    /// The clock for times that people see.
    pub clock: WallClock,
}

impl Default for TournamentOptions {
    /// A lease as everywhere; no moves are told.
    fn default() -> Self {
        Self {
            lease: LEASE,
            live: false,
            live_elsewhere: Arc::new(AtomicBool::new(true)),
            clock: WallClock::default(),
        }
    }
}

/// A tournament that is played by pods which are made for it.
pub struct WithPods {
    /// Its number.
    pub id: TournamentId,
    /// Its name.
    pub name: String,
    /// The plan that is played.
    pub plan: Arc<Plan>,
    /// Number of games that its chunks are to have.
    pub games: u64,
    /// Its first matches that can be played.
    pub matches: Vec<OpenMatch>,
}

/// All tournaments of a store that are to be played.
pub struct Tournaments<S: Storage> {
    storage: S,
    schemes: Schemes,
    options: TournamentOptions,
    new_observer: NewObserver,
    running: Mutex<BTreeMap<RunId, Arc<RunningTournament<S>>>>,
    /// True if it is known what is to be played.
    has_looked: AtomicBool,
    /// The names of the tournaments that are to be played.
    wanted: Mutex<BTreeSet<String>>,
    /// Tournaments that could not be played, and when they are tried again: without a time,
    /// when somebody asks for it.
    failed: Mutex<BTreeMap<TournamentId, Option<Instant>>>,
    /// The store's trouble, and when it said so; none where it has taken something since.
    trouble: Mutex<Option<(Instant, String)>>,
    /// There may be new work.
    changed: Arc<Notify>,
    /// A tournament is no longer played.
    ended: Notify,
    /// The turns of [`supervise`](Self::supervise).
    turns: Pulse,
    /// The times at which the store said what is to be played.
    reads: Pulse,
}

impl<S: Storage> Tournaments<S> {
    /// The tournaments of a store; none is played yet.
    #[must_use]
    pub fn new(
        storage: S,
        schemes: Schemes,
        options: TournamentOptions,
        new_observer: NewObserver,
    ) -> Self {
        Self {
            storage,
            schemes,
            options,
            new_observer,
            running: Mutex::default(),
            has_looked: AtomicBool::new(false),
            wanted: Mutex::default(),
            failed: Mutex::default(),
            trouble: Mutex::default(),
            changed: Arc::default(),
            ended: Notify::new(),
            turns: Pulse::default(),
            reads: Pulse::default(),
        }
    }

    /// The store.
    pub const fn storage(&self) -> &S {
        &self.storage
    }

    /// Rules by which work is handed out.
    pub const fn options(&self) -> &TournamentOptions {
        &self.options
    }

    /// The turns of the loop that begins and ends tournaments.
    pub const fn turns(&self) -> &Pulse {
        &self.turns
    }

    /// The times at which the store said what is to be played.
    pub const fn reads(&self) -> &Pulse {
        &self.reads
    }

    /// Does what people ask for until it is stopped; then nothing is played any more. What
    /// can't be done is logged and tried again.
    pub async fn supervise(&self, stop: &CancellationToken) {
        let mut glance = tokio::time::interval(GLANCE);
        glance.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = glance.tick() => self.look().await,
                () = self.changed.notified() => {
                    // Not for every game: a tournament's end is seen soon enough.
                    tokio::time::sleep(GLANCE / 10).await;
                }
            }
            self.turns.beat();
            for running in self.all() {
                if running.dispatcher.is_over() {
                    self.end(&running, TournamentState::Over).await;
                }
            }
        }
        for running in self.all() {
            self.end(&running, TournamentState::Stopped).await;
        }
    }

    /// Begins and ends tournaments as people ask for it.
    async fn look(&self) {
        let queue = match self.storage.queue().await {
            Ok(queue) => queue,
            Err(error) => {
                tracing::warn!(%error, "could not read which tournaments are to be played");
                return;
            }
        };
        self.reads.beat();
        let wanted: BTreeSet<TournamentId> = queue.iter().map(|queued| queued.id).collect();
        let to_play = queue.iter().filter(|queued| queued.wish == Wish::Play);
        *self.wanted.lock() = to_play.map(|queued| queued.name.clone()).collect();
        for queued in &queue {
            self.look_at(queued).await;
        }
        self.has_looked.store(true, Ordering::Release);
        self.failed.lock().retain(|id, _| wanted.contains(id));
        for running in self.all() {
            self.keep_claim(&running).await;
            if !wanted.contains(&running.id) && !running.dispatcher.is_over() {
                self.end(&running, TournamentState::Stopped).await;
            } else if running.is_late() {
                tracing::info!(tournament = running.name, "stop.time is up");
                self.wish(running.id, Wish::Pause).await;
            }
        }
    }

    /// Claims a tournament again where the claim was lost with the database's server. Where
    /// another arena was quicker, that one plays it.
    async fn keep_claim(&self, running: &Arc<RunningTournament<S>>) {
        match running.keep_claim(&self.storage).await {
            Ok(()) => {}
            Err(StoreError::Claimed { who, .. }) => {
                tracing::warn!(tournament = running.name, who, "another arena plays it now");
                if self.remove(running) {
                    running.release(&self.storage).await;
                }
            }
            Err(error) => {
                tracing::warn!(tournament = running.name, %error, "it could not be claimed again");
            }
        }
    }

    async fn look_at(&self, queued: &QueuedTournament) {
        let running = self.running(run_of(queued.id));
        match (queued.wish, running) {
            (Wish::Play, Some(running)) => {
                running.set_priority(queued.priority);
            }
            (Wish::Play, None) => {
                let again = self.failed.lock().get(&queued.id).copied();
                if again.is_some_and(|again| again.is_none_or(|again| Instant::now() < again)) {
                    return;
                }
                if let Err(error) = self.begin(queued).await {
                    self.fail(queued.id, &queued.name, &error).await;
                }
            }
            (Wish::Pause, Some(running)) => self.end(&running, TournamentState::Stopped).await,
            (Wish::Pause, None) => {
                self.failed.lock().remove(&queued.id);
                // An arena was killed while it played it, or could not write that it stopped.
                if queued.state == TournamentState::Running {
                    self.end_unplayed(queued, TournamentState::Stopped).await;
                }
            }
            (Wish::Cancel, Some(running)) => self.end(&running, TournamentState::Cancelled).await,
            (Wish::Cancel, None) => self.end_unplayed(queued, TournamentState::Cancelled).await,
        }
    }

    /// Begins to hand out the work of a tournament, where its results say that it is.
    async fn begin(&self, queued: &QueuedTournament) -> Result<(), TournamentError> {
        let claim = match self.storage.claim(queued.id).await {
            Err(StoreError::Claimed { who, .. }) => {
                // Another arena plays it; when that one ends, this one takes it up.
                tracing::debug!(tournament = queued.name, who, "another arena plays it");
                return Ok(());
            }
            claim => claim?,
        };
        let dispatcher = match self.open(queued).await {
            Ok(Some(dispatcher)) => dispatcher,
            other => {
                self.storage.release(claim).await;
                return other.map(drop);
            }
        };
        let (done, planned) = dispatcher.progress();
        tracing::info!(
            tournament = queued.name,
            done,
            ?planned,
            "it is being played"
        );
        let running = Arc::new(RunningTournament::new(queued, dispatcher, claim));
        self.running.lock().insert(run_of(queued.id), running);
        self.failed.lock().remove(&queued.id);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn open(
        &self,
        queued: &QueuedTournament,
    ) -> Result<Option<Dispatcher<S::Results>>, TournamentError> {
        let tournament = self.storage.tournament(&queued.name).await?;
        let Some(tournament) = tournament.filter(|now| !now.state.is_final()) else {
            return Ok(None);
        };
        let plan = Arc::new(Plan::of(&tournament, &self.schemes)?);
        plan.check_files()?;
        let observer = (self.new_observer)(queued, &plan);
        let counters = Arc::default();
        let clock = self.options.clock.clone();
        let results = self.storage.results(
            queued.id,
            clock.clone(),
            arena_tournament::count_commits(&counters, &observer),
        );
        let results = results.await?;
        let options = DispatchOptions {
            run: run_of(queued.id),
            lease: self.options.lease,
            live: self.options.live,
            live_elsewhere: self.options.live_elsewhere.clone(),
            changed: self.changed.clone(),
            clock: clock.clone(),
        };
        let dispatcher = Dispatcher::open(plan, results, options, observer, counters).await?;
        let at = unix_ms(clock.now());
        let state = TournamentState::Running;
        self.storage.set_state(queued.id, state, at).await?;
        dispatcher.tell_begun();
        Ok(Some(dispatcher))
    }

    /// Hands out no more work of a tournament, and writes down how it ended.
    async fn end(&self, running: &Arc<RunningTournament<S>>, state: TournamentState) {
        if !self.remove(running) {
            return;
        }
        let name = &running.name;
        if let Err(error) = running.dispatcher.close().await {
            tracing::error!(tournament = name, %error, "its results could not be written");
        }
        let at = unix_ms(self.options.clock.now());
        let set = self.storage.set_state(running.id, state, at);
        match set.await {
            Ok(()) => tracing::info!(tournament = name, state = state.word(), "it has ended"),
            // It stays as running, and the next arena takes it up.
            Err(error) => tracing::error!(tournament = name, %error, "could not write its state"),
        }
        running.release(&self.storage).await;
        // Who waits for work of it hears that there is none.
        self.changed.notify_waiters();
    }

    /// Takes a tournament from those that are played, and tells its workers. False where it
    /// was not among them.
    fn remove(&self, running: &RunningTournament<S>) -> bool {
        let was_there = self.running.lock().remove(&run_of(running.id)).is_some();
        if was_there {
            running.set_ended();
            self.ended.notify_waiters();
        }
        was_there
    }

    /// Writes down how a tournament ended that is not played here. Where another arena plays it,
    /// that one ends it.
    async fn end_unplayed(&self, queued: &QueuedTournament, state: TournamentState) {
        let claim = match self.storage.claim(queued.id).await {
            Ok(claim) => claim,
            Err(StoreError::Claimed { .. }) => return,
            Err(error) => {
                tracing::warn!(tournament = queued.name, %error, "it could not be claimed");
                return;
            }
        };
        let at = unix_ms(self.options.clock.now());
        let set = self.storage.set_state(queued.id, state, at);
        if let Err(error) = set.await {
            tracing::warn!(tournament = queued.name, %error, "could not write its state");
        }
        self.storage.release(claim).await;
    }

    /// A tournament can't be played: this is written down. Where the store or the system is
    /// at fault it is tried again soon; else it is left alone until somebody asks for it again.
    async fn fail(&self, id: TournamentId, name: &str, error: &TournamentError) {
        let soon = Some(Instant::now() + RETRY);
        let (again, waits) = match error.waits_for() {
            Some(waits) => {
                tracing::warn!(tournament = name, %error, "it can't be played; it is tried again");
                (soon, waits)
            }
            None => {
                tracing::error!(tournament = name, %error, "it can't be played");
                (None, format!("somebody to mend it: {error}"))
            }
        };
        let written = self.storage.set_waits(id, Some(waits)).await;
        if let Err(error) = &written {
            tracing::warn!(%error, "could not write why a tournament can't be played");
        }
        // Who is to mend it must hear of it: until that is written it is tried again.
        self.failed
            .lock()
            .insert(id, if written.is_ok() { again } else { soon });
    }

    async fn wish(&self, id: TournamentId, wish: Wish) {
        if let Err(error) = self.storage.set_wish(id, Some(wish)).await {
            tracing::warn!(tournament = %id, %error, "could not write what is to become of it");
        }
    }

    /// Gives a worker a chunk of the tournament whose turn it is, if there is one that it can
    /// play: of the highest priority, and of these of the one with the fewest chunks that are
    /// being played.
    async fn try_lease(
        &self,
        request: &LeaseRequest,
        allowed: Allowed,
    ) -> Result<LeaseReply, TournamentError> {
        let limited = |most: u64| LeaseRequest {
            games: request.games.min(most),
            ..request.clone()
        };
        match allowed {
            Allowed::Nothing(Some(_)) => Ok(LeaseReply::Wait),
            Allowed::Everything => self.try_lease_of(request, None).await,
            Allowed::Nothing(None) => self.try_lease_of(request, Some(0)).await,
            Allowed::Games { most, has_none } => {
                let limited = limited(most);
                let reply = self.try_lease_of(&limited, Some(most)).await?;
                match reply {
                    LeaseReply::Wait if has_none => self.try_lease_of(&limited, None).await,
                    reply => Ok(reply),
                }
            }
        }
    }

    /// The same, of at most so many games where that is said. Pods that are made for a tournament
    /// play chunks of the size that was planned for them.
    async fn try_lease_of(
        &self,
        request: &LeaseRequest,
        most: Option<u64>,
    ) -> Result<LeaseReply, TournamentError> {
        let mut running = self.all_of(request);
        running.sort_by_key(|running| {
            (
                std::cmp::Reverse(running.priority()),
                running.dispatcher.leased(),
                running.id,
            )
        });
        for running in &running {
            let most = most.filter(|_| !running.has_pods());
            if most == Some(0) {
                continue;
            }
            let reply = running.dispatcher.try_lease(request, most).await;
            match reply {
                Ok(LeaseReply::Work(lease)) => {
                    self.hear(None);
                    return Ok(LeaseReply::Work(lease));
                }
                // There is no more of this match, whatever there is of the tournament.
                Ok(LeaseReply::Over) if is_of_a_match(request) => return Ok(LeaseReply::Over),
                Ok(LeaseReply::Wait | LeaseReply::Over) => {}
                // The others are in the same store.
                Err(error) if error.may_pass() => {
                    self.hear(Some(&error));
                    return Err(error);
                }
                Err(error) => {
                    self.fail(running.id, &running.name, &error).await;
                    self.end(running, TournamentState::Stopped).await;
                }
            }
        }
        Ok(LeaseReply::Wait)
    }

    /// The tournaments that a worker may be given work of.
    fn all_of(&self, request: &LeaseRequest) -> Vec<Arc<RunningTournament<S>>> {
        let mut running = self.all();
        running.retain(|running| match &request.scope {
            Some(scope) => running.name == scope.tournament,
            // Pods that are made for it play it.
            None => !running.has_pods(),
        });
        running
    }

    /// The same as far as the worker is allowed to have work; where there is none, waits for a
    /// while until there may be some.
    pub(crate) async fn lease_soon(
        &self,
        request: &LeaseRequest,
        allowed: &(dyn Fn() -> Allowed + Send + Sync),
    ) -> Result<LeaseReply, TournamentError> {
        let patience = HoldTime::new(self.options.lease);
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // So that what changes from here on is not missed.
            changed.as_mut().enable();
            let allowed = allowed();
            match self.lease_now(request, allowed).await {
                Ok(LeaseReply::Wait) => {}
                // The database's server is away: whoever waits for work waits for it too.
                Err(error) if error.may_pass() => {
                    tracing::debug!(%error, "no work can be given now");
                    tokio::time::sleep(GLANCE).await;
                    if patience.is_over() {
                        return Ok(LeaseReply::Wait);
                    }
                    continue;
                }
                reply => return reply,
            }
            let running = self.all_of(request);
            let expiry = running.iter();
            let expiry = expiry.filter_map(|running| running.dispatcher.next_change());
            let expiry = match allowed {
                Allowed::Nothing(until) => expiry.chain(until).min(),
                _ => expiry.min(),
            };
            if !patience.wait(changed, expiry).await {
                return Ok(LeaseReply::Wait);
            }
        }
    }

    async fn lease_now(
        &self,
        request: &LeaseRequest,
        allowed: Allowed,
    ) -> Result<LeaseReply, TournamentError> {
        let reply = self.try_lease(request, allowed).await?;
        if let (LeaseReply::Wait, Some(scope)) = (&reply, &request.scope) {
            let tournament = self.storage.tournament(&scope.tournament).await?;
            if tournament.is_none_or(|tournament| tournament.state.is_final()) {
                return Ok(LeaseReply::Over);
            }
        }
        Ok(reply)
    }

    /// Stores a game of a tournament that is being played.
    pub(crate) async fn take(
        &self,
        running: &RunningTournament<S>,
        report: GameReport,
        session: Option<SessionId>,
        worker: Option<&str>,
    ) -> Result<ReportReply, TournamentError> {
        let reply = running.dispatcher.take(report, session, worker).await;
        match &reply {
            Ok(ReportReply::Accepted | ReportReply::Duplicate) => self.hear(None),
            Ok(
                ReportReply::Stale | ReportReply::Ended | ReportReply::NotHeld | ReportReply::Away,
            ) => {}
            Err(error) => self.hear(Some(error)),
        }
        reply
    }

    /// Takes down whether the store takes what is played.
    fn hear(&self, error: Option<&TournamentError>) {
        let trouble = error.and_then(TournamentError::waits_for);
        *self.trouble.lock() = trouble.map(|trouble| (Instant::now(), trouble));
    }

    /// The store's trouble, in words.
    pub(crate) fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock();
        let (when, what) = trouble.as_ref()?;
        (when.elapsed() < TROUBLE).then(|| what.clone())
    }

    /// The lineups that wait for a worker that can play them, by tournament.
    #[must_use]
    pub fn waiting(&self) -> Vec<(String, Vec<WaitingLineup>)> {
        let running = self.all().into_iter();
        running
            .map(|running| (running.name.clone(), running.dispatcher.waiting()))
            .collect()
    }

    /// The bots that are away, by tournament and name.
    #[must_use]
    pub fn away(&self) -> BTreeSet<(String, String)> {
        let all = self.all();
        let away = all.iter().flat_map(|running| {
            let away = running.dispatcher.away().into_iter();
            away.map(|away| {
                let bot = running.dispatcher.plan().name(away.entrant);
                (running.name.clone(), bot.to_owned())
            })
        });
        away.collect()
    }

    /// The tournaments that are played by pods which are made for them, the highest priority
    /// first; nothing where it is not known yet what is to be played. `games` says how many games
    /// a chunk is to have, and `most` how many matches of each are told.
    #[must_use]
    pub fn with_pods(
        &self,
        games: &dyn Fn(&Dispatcher<S::Results>) -> u64,
        most: usize,
    ) -> Option<Vec<WithPods>> {
        if !self.has_looked() {
            return None;
        }
        let mut running = self.all();
        running.retain(|running| running.has_pods());
        running.sort_by_key(|running| (std::cmp::Reverse(running.priority()), running.id));
        let told = running.iter().map(|running| {
            let games = games(&running.dispatcher);
            WithPods {
                id: running.id,
                name: running.name.clone(),
                plan: running.dispatcher.plan().clone(),
                games,
                matches: running.dispatcher.open_matches(games, most),
            }
        });
        Some(told.collect())
    }

    /// In how many chunks what is left of each tournament's open matches would be leased, at most
    /// `most` matches. `games` says how many games a chunk is to have.
    #[must_use]
    pub fn chunks_left(
        &self,
        games: &dyn Fn(&Dispatcher<S::Results>) -> u64,
        most: usize,
    ) -> Vec<(String, u64)> {
        let left = self.all().into_iter().map(|running| {
            let open = running
                .dispatcher
                .open_matches(games(&running.dispatcher), most);
            let chunks = open.iter().map(|open| open.chunks).sum();
            (running.name.clone(), chunks)
        });
        left.collect()
    }

    /// The names of tournaments that are to be played and are not played here just now, as when
    /// another arena has them or the store is away.
    #[must_use]
    pub fn not_here(&self) -> BTreeSet<String> {
        let mut wanted = self.wanted.lock().clone();
        for running in self.all() {
            wanted.remove(&running.name);
        }
        wanted
    }

    /// Says what a tournament waits for that is played by pods which are made for it.
    pub fn set_pods_wait(&self, id: TournamentId, waits: Option<String>) {
        if let Some(running) = self.running(run_of(id)) {
            running.set_pods_wait(waits);
        }
    }

    /// Writes down what a tournament waits for, where that has changed.
    pub(crate) async fn write_waits(
        &self,
        running: &RunningTournament<S>,
        waits: Option<String>,
    ) -> Result<(), StoreError> {
        if !running.set_waits(&waits) {
            return Ok(());
        }
        if let Some(waits) = &waits {
            tracing::warn!(tournament = running.name, waits, "a tournament waits");
        }
        let written = self.storage.set_waits(running.id, waits).await;
        if written.is_err() {
            running.forget_waits();
        }
        written
    }

    /// Tells whoever waits for work that there may be some.
    pub(crate) fn tell_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until a tournament is no longer played.
    pub(crate) async fn an_end(&self) {
        self.ended.notified().await;
    }

    /// True if it is known what is to be played. Before that a worker that has a lease of an
    /// earlier process can't be told whether it has lost it.
    pub(crate) fn has_looked(&self) -> bool {
        self.has_looked.load(Ordering::Acquire)
    }

    pub(crate) fn running(&self, run: RunId) -> Option<Arc<RunningTournament<S>>> {
        self.running.lock().get(&run).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<RunningTournament<S>>> {
        self.running.lock().values().cloned().collect()
    }
}

/// True if a worker works for one match alone.
fn is_of_a_match(request: &LeaseRequest) -> bool {
    (request.scope.as_ref()).is_some_and(|scope| scope.matchup.is_some())
}

/// Name of the leases of a tournament.
const fn run_of(id: TournamentId) -> RunId {
    RunId(id.number())
}

/// For workers in the same process.
impl<S: Storage> Dispatch for Tournaments<S> {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        let leased = self.lease_soon(&request, &|| Allowed::Everything).await;
        leased.map_err(DispatchError::new)
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        match self.running(lease.run) {
            Some(running) => running.dispatcher.renew(lease).await,
            None => Ok(false),
        }
    }

    async fn lost(&self, lease: LeaseId) {
        if let Some(running) = self.running(lease.run) {
            running.ended().await;
        }
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        let Some(running) = self.running(report.lease.run) else {
            return Ok(ReportReply::Ended);
        };
        let report = || self.take(&running, report.clone(), None, None);
        let reported = persist(report).await;
        reported.map_err(DispatchError::new)
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        match self.running(give_back.lease.run) {
            Some(running) => running.dispatcher.give_back(give_back).await,
            None => Ok(()),
        }
    }

    async fn archive(&self, hash: ArchiveHash) -> Result<Vec<u8>, DispatchError> {
        let hash = hash.to_string();
        let read = || async { Ok(self.storage.archive(&hash).await?) };
        let bytes = persist(read).await;
        bytes
            .map_err(DispatchError::new)?
            .ok_or_else(|| DispatchError::new(format!("archive {hash} is not in the store")))
    }

    async fn is_wanted(&self, lease: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        match self.running(lease.run) {
            Some(running) => running.dispatcher.is_wanted(lease, game).await,
            None => Ok(false),
        }
    }

    fn live(&self, update: LiveUpdate) {
        if let Some(running) = self.running(update.lease.run) {
            running.dispatcher.live(update);
        }
    }
}
