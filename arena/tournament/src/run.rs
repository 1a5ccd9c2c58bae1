//! Runs a plan on this machine, on the path that many machines take: lease a chunk,
//! play, report.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_events::run::StopCause;
use arena_ladder::Entrant;
use arena_store::{Commit, Counter, Store, StoreError, Tournament, TournamentState};
use referee::Pool;
use referee_bots::{Entry, LaunchContext, LaunchOptions};
use referee_worker::{Abilities, Stop, WorkerGroup, WorkerIdentity, bucket};
use tokio::time::Instant;

use crate::{
    DispatchOptions, Dispatcher, Observer, Plan, Results, RunEvent, StoredResults, TournamentError,
    dispatch::RunCounters, error::invalid, unix_ms,
};

/// Time between two looks at the number of running games.
const GLANCE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// Options of a run; they change nothing of what is played.
#[derive(Debug)]
pub struct RunOptions {
    /// Most games that are played at once; the number of cores, or of those of bots, if it is not
    /// said.
    pub concurrency: Option<usize>,
    /// The context in which bots are started and reached. Archives must be there already.
    pub launch: LaunchOptions,
    /// Name of the workers of this process, before a number.
    pub worker: String,
    /// True if public moves of running games are told, in games without secrets.
    pub live: bool,
    /// True if a bot whose file is missing or is of the wrong kind is refused before anything is
    /// played. Otherwise it does not start in any of its games.
    pub checks_files: bool,
}

impl RunOptions {
    /// As many games at once as there are cores, no public moves; files are checked.
    #[must_use]
    pub fn new(launch: LaunchOptions) -> Self {
        Self {
            concurrency: None,
            launch,
            worker: "worker".to_owned(),
            live: false,
            checks_files: true,
        }
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing is left to be played.
    Complete,
    /// It was stopped before.
    Stopped,
}

/// The summary of a run, beside its results.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// The end of the run.
    pub end: RunEnd,
    /// The most memory that a process of each bot has added, in bytes, where it was
    /// measured.
    pub memory: BTreeMap<Entrant, u64>,
}

/// Plays what is left of a plan, until it is complete or stopped.
///
/// # Errors
///
/// Only for our own failures; what a bot does wrong is a result.
pub async fn run<R: Results>(
    plan: Arc<Plan>,
    results: R,
    options: RunOptions,
    stop: Stop,
    observer: Arc<dyn Observer>,
) -> Result<RunSummary, TournamentError> {
    play(plan, results, Arc::default(), options, stop, observer).await
}

async fn play<R: Results>(
    plan: Arc<Plan>,
    results: R,
    counters: Arc<RunCounters>,
    options: RunOptions,
    stop: Stop,
    observer: Arc<dyn Observer>,
) -> Result<RunSummary, TournamentError> {
    plan.check_folder()?;
    if options.checks_files {
        plan.check_files()?;
    }
    let folder = plan.definition.directory.clone();
    let context = options.launch.open(folder)?;
    must_be_there(&context, &plan)?;
    let dispatch_options = DispatchOptions {
        live: options.live,
        ..DispatchOptions::default()
    };
    let dispatcher = Dispatcher::open(
        plan.clone(),
        results,
        dispatch_options,
        observer.clone(),
        counters.clone(),
    );
    let dispatcher = Arc::new(dispatcher.await?);
    dispatcher.tell_begun();
    let concurrency = match plan.series {
        true => 1,
        false => options
            .concurrency
            .unwrap_or_else(|| WorkerGroup::default_concurrency(context.cores())),
    };
    let workers = WorkerGroup::start(context, concurrency)?;
    let who = WorkerIdentity {
        name: options.worker,
        session: None,
        can: Arc::new(Abilities::Local),
        scope: None,
    };
    let working = workers.run(dispatcher.clone(), who, &stop);
    let mut watch = RunWatch {
        plan: &plan,
        dispatcher: &dispatcher,
        pool: workers.pool(),
        counters: &counters,
        stop: &stop,
        observer: &*observer,
        told: BTreeSet::new(),
        is_stopping: false,
    };
    let worked = tokio::select! {
        worked = working => worked,
        never = watch.run() => match never {},
    };
    watch.tell_set_aside();
    let closed = dispatcher.close().await;
    workers.close().await;
    worked?;
    closed?;
    Ok(RunSummary {
        end: match dispatcher.is_over() {
            true => RunEnd::Complete,
            false => RunEnd::Stopped,
        },
        memory: dispatcher.memory(),
    })
}

/// Refuses a run of bots whose archives are not on this machine.
fn must_be_there(context: &LaunchContext, plan: &Plan) -> Result<(), TournamentError> {
    let missing = context
        .missing(plan.entries())
        .map_err(|error| TournamentError::system("could not look for archives", error))?;
    let Some(missing) = missing.first() else {
        return Ok(());
    };
    let of = |bot: &&Entry| bot.launcher().archive() == Some(missing);
    let name = plan.entries().find(of).map_or("a bot", |bot| &bot.name);
    invalid(format!(
        "{name}: its archive {missing} is not on this machine; bots that are packed are played          with from a store, by `arena bots` and `arena tournament`"
    ))
}

/// Plays a stored tournament from where the store says that it is, until it is over or
/// stopped.
///
/// # Errors
///
/// Somebody else runs it, or we fail; what a bot does wrong is a result.
pub async fn run_stored(
    store: &Store,
    tournament: &Tournament,
    plan: Arc<Plan>,
    options: RunOptions,
    stop: Stop,
    observer: Arc<dyn Observer>,
) -> Result<RunEnd, TournamentError> {
    let claim = match store.claim(tournament.id).await {
        Err(StoreError::Claimed { who, .. }) => {
            return invalid(format!(
                "{} is being run by {who}; stop that one first, or wait until it is done",
                tournament.name
            ));
        }
        claim => claim?,
    };
    // Another may have completed it before this one had the claim.
    let now = store.tournament(&tournament.name).await?;
    if now.is_some_and(|now| now.state.is_final()) {
        claim.release().await;
        return Ok(RunEnd::Complete);
    }
    plan.check_files()?;
    let counters = Arc::new(RunCounters::default());
    let seen = count_commits(&counters, &observer);
    let results = StoredResults::writing(store, tournament.id, seen);
    let results = results.await?;
    let running = store.set_state(
        tournament.id,
        TournamentState::Running,
        unix_ms(SystemTime::now()),
    );
    running.await?;
    let outcome = play(plan, results, counters, options, stop, observer).await;
    let state = match &outcome {
        Ok(outcome) if outcome.end == RunEnd::Complete => TournamentState::Over,
        _ => TournamentState::Stopped,
    };
    let stored = store.set_state(tournament.id, state, unix_ms(SystemTime::now()));
    let stored = stored.await;
    claim.release().await;
    let outcome = outcome?;
    stored?;
    tracing::info!(
        tournament = tournament.name,
        state = state.word(),
        "a run has ended"
    );
    Ok(outcome.end)
}

/// Counts how long the store's transactions take, and tells the observer.
pub fn count_commits(
    counters: &Arc<RunCounters>,
    observer: &Arc<dyn Observer>,
) -> Box<dyn Fn(&Commit) + Send + Sync> {
    let (counters, observer) = (counters.clone(), observer.clone());
    Box::new(move |commit| {
        observer.event(RunEvent::Committed(commit.took));
        let took = bucket(commit.took.as_micros() as u64);
        counters.count(Counter::CommitTime(took));
    })
}

/// Looks after a run once a second: how late we are, who has been set aside, whether
/// its time is up.
struct RunWatch<'a, R> {
    plan: &'a Plan,
    dispatcher: &'a Dispatcher<R>,
    pool: &'a Pool,
    counters: &'a RunCounters,
    stop: &'a Stop,
    observer: &'a dyn Observer,
    /// Entrants that are known to be set aside.
    told: BTreeSet<Entrant>,
    /// True if it is known that no more games are begun.
    is_stopping: bool,
}

impl<R: Results> RunWatch<'_, R> {
    async fn run(&mut self) -> std::convert::Infallible {
        let time = self.plan.definition.time;
        let ends = time.map(|time| Instant::now() + time);
        let mut last = Instant::now();
        loop {
            tokio::select! {
                () = tokio::time::sleep(GLANCE) => {}
                () = self.stop.finishing(), if !self.is_stopping => {
                    self.tell_stopping(StopCause::Asked);
                }
            }
            self.observer.event(RunEvent::Running {
                games: self.pool.running(),
                moves: self.pool.moves(),
            });
            if last.elapsed() < SECOND {
                continue;
            }
            let late = self.pool.worst_delay_since(last);
            last = Instant::now();
            self.observer.event(RunEvent::RefereeDelay(late));
            let late = bucket(late.as_micros() as u64);
            self.counters.count(Counter::RefereeDelay(late));
            self.tell_set_aside();
            if ends.is_some_and(|ends| Instant::now() >= ends) && !self.stop.is_finishing() {
                self.tell_stopping(StopCause::TimeUp);
                self.stop.finish();
            }
        }
    }

    fn tell_set_aside(&mut self) {
        for set_aside in self.dispatcher.set_aside() {
            if self.told.insert(set_aside.entrant) {
                self.observer.event(RunEvent::SetAside {
                    bot: self.plan.name(set_aside.entrant),
                    set_aside: &set_aside,
                });
            }
        }
    }

    fn tell_stopping(&mut self, cause: StopCause) {
        self.is_stopping = true;
        self.observer.event(RunEvent::Stopping(cause));
    }
}
