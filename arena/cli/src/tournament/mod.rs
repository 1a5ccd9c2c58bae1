//! Tournaments: what one is, how it is played, and what came of it. One machine
//! plays it here, on the path that many take: lease a chunk, play, report.

mod buckets;
mod crew;
mod definition;
mod dispatch;
mod metrics;
mod print;
mod show;
mod table;
mod verify;
mod worker;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use arena_store::{
    CommitPacing, Counter, GameRow, NewEntrant, NewTournament, ResultWriter, Store, StoreError,
    Tournament, TournamentState,
};
use futures_util::future::try_join_all;
use indicatif::ProgressBar;
use referee::{Memory, Pool};
use referee_core::Root;
use tokio::{sync::Semaphore, time::Instant};

pub(crate) use definition::{Definition, Planned, chance};
pub(crate) use print::{duel_lines, estimate};
pub(crate) use show::{date, export_moves, game_event, schedule as show_schedule};
pub(crate) use table::{Table, Test};
pub(crate) use verify::verify;

use self::{
    buckets::bucket,
    crew::Crew,
    dispatch::Dispatch,
    worker::{Counters, Workshop},
};
use crate::{
    entry::{Entry, Start},
    run::{RunEnd, standard_concurrency, threads},
    setups::Setups,
    stop::Stop,
    usage,
};

/// How a tournament is run, which changes nothing of what it is.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// How many games are played at once.
    pub(crate) concurrency: Option<usize>,
    /// Where the bots' output goes.
    pub(crate) logs: PathBuf,
    /// How long games may go on after SIGTERM.
    pub(crate) grace: Duration,
    /// Where metrics are served, if anywhere.
    pub(crate) metrics: Option<SocketAddr>,
}

/// Writes a tournament into the store. Nothing has been played.
///
/// # Errors
///
/// There is one of this name, or the store fails.
pub(crate) async fn create(
    store: &Store,
    planned: &Planned,
    root: Root,
    reproduction: bool,
) -> anyhow::Result<Tournament> {
    let kind = planned.definition.kind()?;
    let created = store
        .create(&NewTournament {
            name: planned.name.clone(),
            game: kind.info().name.to_owned(),
            rules_version: kind.info().rules_version,
            definition: serde_json::to_value(&planned.definition)?,
            root,
            reproduction,
            entrants: planned.entrants.clone(),
            created_unix_ms: unix_ms(),
        })
        .await;
    match created {
        // Somebody was quicker, since we have looked.
        Err(error @ StoreError::Exists { .. }) => usage(error.to_string()),
        created => Ok(created?),
    }
}

/// Plays a tournament from where the store says that it is, until it is over or
/// stopped.
///
/// # Errors
///
/// Somebody else runs it, or we fail; what a bot does wrong is a result.
pub(crate) async fn run(
    store: &Store,
    tournament: &Tournament,
    manner: &Manner,
    tell: Option<&dyn Fn(&GameRow)>,
) -> anyhow::Result<RunEnd> {
    let claim = match store.claim(tournament.id).await {
        Err(StoreError::Claimed { who, .. }) => {
            return usage(format!(
                "{} is being run by {who}; stop that one first, or wait until it is done",
                tournament.name
            ));
        }
        claim => claim?,
    };
    // Another may have brought it to its end before we had it.
    let now = store.tournament(&tournament.name).await?;
    if now.is_some_and(|now| now.state == TournamentState::Over) {
        claim.release().await;
        return Ok(RunEnd::Whole);
    }
    let definition = Definition::of(tournament)?;
    let kind = definition.kind()?;
    let Some(root) = tournament.root.clone() else {
        return usage(format!(
            "{}: its root is not known here, so its deals can't be made",
            tournament.name
        ));
    };
    let entries = entries(tournament)?;
    let filler = Entry::read(&format!("filler={}", definition.filler))?;
    // As seen from here, and not from where the bots are run.
    let logs = std::path::absolute(&manner.logs)?;
    let strangers = filler.is_exec() || entries.iter().any(Entry::is_exec);
    if kind.has_secrets() && strangers {
        anstream::eprintln!(
            "note: not isolated: every seating of a deal is played by fresh processes, but what \
             a bot writes to disk outlives them, and it can read what you can read, the store too"
        );
    }
    if strangers {
        let from = &definition.directory;
        std::env::set_current_dir(from).or_else(|error| {
            usage(format!(
                "its bots are run from the folder {}, and that can't be gone to ({error}); bring \
                 it back, so that no bot loses because it can't be started",
                from.display()
            ))
        })?;
    }
    for entry in &entries {
        entry.must_be_there()?;
    }
    let setups = Setups::new(kind, definition.setups.clone())?;
    let schedule = definition.schedule(entries.len(), chance(&root))?;
    let memory = Memory {
        limit: definition.memory_mib.map(|mib| mib * 1024 * 1024),
        gauge: None,
    };
    std::fs::create_dir_all(&logs)
        .with_context(|| format!("could not make the folder {}", logs.display()))?;
    let start = Start::new(definition.limits.start, memory, Some(logs))?;
    let crew = Crew::new(entries, filler, start, kind.has_secrets());
    let counters = Arc::new(Counters::default());
    let counted = counters.clone();
    let writer = ResultWriter::start(
        store,
        tournament.id,
        CommitPacing::default(),
        move |commit| {
            metrics::committed(commit.took);
            let bucket = bucket(commit.took.as_micros() as u64);
            counted.count(Counter::CommitTime(bucket));
        },
    )
    .await?;
    let dispatch = Dispatch::open(
        store,
        tournament.id,
        writer.clone(),
        &definition,
        setups.clone(),
        schedule,
    )
    .await?;
    let stop = Stop::on_signals(Some(manner.grace))?;
    if let Some(address) = manner.metrics {
        metrics::serve(address)?;
    }
    store
        .set_state(tournament.id, TournamentState::Running, unix_ms())
        .await?;

    let a_group = definition.seatings.games(kind.info().seats.into()) as u64;
    let (done, planned) = dispatch.progress();
    let bar = crate::report::progress(planned.map(|groups| groups * a_group));
    bar.set_position(done * a_group);
    let pool = Pool::new(threads())?;
    let concurrency = manner.concurrency.unwrap_or_else(standard_concurrency);
    let workers = concurrency.min(standard_concurrency()).max(1);
    let workshop = Workshop {
        dispatch: &dispatch,
        definition: &definition,
        setups: &setups,
        root: &root,
        crew: &crew,
        pool: &pool,
        stop: &stop,
        tell,
        progress: &bar,
        packing: Semaphore::new(threads()),
        counters: &counters,
    };
    let names: Vec<String> = (0..workers)
        .map(|number| format!("{}-{number}", here()))
        .collect();
    let working = try_join_all((0..workers).map(|number| {
        // The first ones take what is left over.
        let at_once = concurrency / workers + usize::from(number < concurrency % workers);
        workshop.work(&names[number], at_once)
    }));
    let watching = watch(&workshop, &tournament.entrants, &bar);
    let worked = tokio::select! {
        worked = working => worked.map(|_| ()),
        watched = watching => watched,
    };
    bar.finish_and_clear();
    writer.close().await;
    crew.dismiss().await;
    drop(pool);
    worked?;
    let over = dispatch.is_over();
    let state = if over {
        TournamentState::Over
    } else {
        TournamentState::Stopped
    };
    store.set_state(tournament.id, state, unix_ms()).await?;
    claim.release().await;
    tracing::info!(
        tournament = tournament.name,
        state = state.word(),
        "a run has ended"
    );
    Ok(if over { RunEnd::Whole } else { RunEnd::Stopped })
}

/// Looks after a run once a second: how late we are, who has been set aside,
/// whether its time is up. Never ends.
async fn watch(
    workshop: &Workshop<'_>,
    entrants: &[NewEntrant],
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let ends = workshop.definition.time.map(|time| Instant::now() + time);
    let mut told = BTreeSet::new();
    let mut last = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let late = workshop.pool.worst_delay_since(last);
        last = Instant::now();
        metrics::late(late);
        let bucket = bucket(late.as_micros() as u64);
        workshop.counters.count(Counter::RefereeDelay(bucket));
        for aside in workshop.dispatch.set_aside() {
            if told.insert(aside.entrant) {
                let name = &entrants[aside.entrant.index()].name;
                tracing::info!(bot = name, why = %aside.why, "set aside");
                bar.suspend(|| anstream::eprintln!("note: {name} is set aside: {}", aside.why));
            }
        }
        if ends.is_some_and(|ends| Instant::now() >= ends) && !workshop.stop.is_asked() {
            bar.suspend(|| anstream::eprintln!("note: stop.time is up; finishing what runs"));
            workshop.stop.ask();
        }
    }
}

/// Who takes part, ready to be started.
pub(crate) fn entries(tournament: &Tournament) -> anyhow::Result<Vec<Entry>> {
    let texts: Vec<String> = tournament
        .entrants
        .iter()
        .map(|entrant| format!("{}={}", entrant.name, entrant.spec))
        .collect();
    Entry::read_all(&texts)
}

impl Definition {
    /// What the store keeps of a tournament, looked at again.
    ///
    /// # Errors
    ///
    /// It was made by another version.
    pub(crate) fn of(tournament: &Tournament) -> anyhow::Result<Self> {
        let definition: Self =
            serde_json::from_value(tournament.definition.clone()).with_context(|| {
                format!(
                    "the store's definition of {} can't be read: another version of the arena \
                     may have made it",
                    tournament.name
                )
            })?;
        let rules = definition.kind()?.info().rules_version;
        if rules != tournament.rules_version {
            return usage(format!(
                "{} is played by version {} of the rules, and this arena has version {rules}: \
                 go on with the arena that began it",
                tournament.name, tournament.rules_version
            ));
        }
        Ok(definition)
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

/// This process, as a worker is called.
fn here() -> String {
    let host = nix::unistd::gethostname().unwrap_or_default();
    format!("{}-{}", host.to_string_lossy(), std::process::id())
}
