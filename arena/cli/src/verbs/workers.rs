//! `arena workers`: who may work, who does, and how well.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use arena_events::{
    Event,
    worker::{WorkerEvent, WorkerFailure, WorkerState, WorkerSuspicion},
};
use arena_ladder::Failure;
use arena_store::{Store, StoreError, WorkerRow, WorkerSession, WorkerStatus};
use arena_terminal::{Format, StoreAt};
use arena_tournament::{Suspicion, suspicions, unix_ms};
use clap::{Args, Subcommand};
use referee_net::Token;

use crate::{End, report, show, usage};

/// The machines that work.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Workers {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Verb {
    /// List them (the same without a verb)
    List(List),
    /// Let a worker work: makes a token for it, and a file with the token
    Add(Add),
    /// Take the right to work from a worker; its games are given to others
    Revoke(Change),
    /// Let a worker work again that was revoked or shut out
    Admit(Change),
}

#[derive(Args)]
struct List {
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Args)]
struct Add {
    /// Its name.
    name: String,
    /// The new file that the token is written to; bring it to the worker's machine [default:
    /// NAME.token].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// How long the token is valid.
    #[arg(long, default_value = "90days", value_parser = humantime::parse_duration)]
    expires: Duration,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
struct Change {
    /// Its name.
    name: String,
    #[command(flatten)]
    store: StoreAt,
}

impl Workers {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self.verb {
            None => self.list.run().await,
            Some(Verb::List(list)) => list.run().await,
            Some(Verb::Add(add)) => add.run().await,
            Some(Verb::Revoke(change)) => change.run(true).await,
            Some(Verb::Admit(change)) => change.run(false).await,
        }
    }
}

impl Add {
    async fn run(self) -> anyhow::Result<End> {
        let name = &self.name;
        let file = self.token_file.clone();
        let file = file.unwrap_or_else(|| PathBuf::from(format!("{name}.token")));
        let store = self.store.open().await?;
        let token = Token::generate()?;
        let now = SystemTime::now();
        let worker = WorkerRow {
            name: name.clone(),
            token_hash: Some(token.hash().to_string()),
            created_unix_ms: unix_ms(now),
            expires_unix_ms: Some(unix_ms(now + self.expires)),
            revoked: false,
            shut_out: None,
        };
        // First the file: a token that nobody has would lock a worker out.
        if let Err(error) = token.write_new(&file) {
            return usage(error.to_string());
        }
        match store.add_worker(&worker).await {
            Ok(()) => {}
            Err(error) => {
                let _ = std::fs::remove_file(&file);
                return match error {
                    error @ StoreError::BadName { .. } => usage(error.to_string()),
                    error => Err(error.into()),
                };
            }
        }
        report::line(&format!(
            "{name} may work until {}; bring {} to its machine and start `referee work --arena \
             URL --token-file {}` there",
            show::date(worker.expires_unix_ms.unwrap_or_default()),
            file.display(),
            file.display()
        ))?;
        store.close().await;
        Ok(End::Done)
    }
}

impl Change {
    async fn run(self, revoke: bool) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        match store.revoke_worker(&self.name, revoke).await {
            Ok(()) => {}
            Err(error @ StoreError::Missing { .. }) => {
                return usage(format!(
                    "{error}; `arena workers` lists those that there are"
                ));
            }
            Err(error) => return Err(error.into()),
        }
        report::line(&match revoke {
            true => format!("{} may not work any more", self.name),
            false => format!("{} may work again", self.name),
        })?;
        store.close().await;
        Ok(End::Done)
    }
}

impl List {
    async fn run(self) -> anyhow::Result<End> {
        let store = self.store.open_existing().await?;
        let workers = workers(&store).await?;
        match self.format {
            Format::Json => {
                for worker in workers {
                    report::event(Event::Worker(worker))?;
                }
            }
            Format::Text if workers.is_empty() => {
                report::text("no worker yet; `arena workers add NAME` makes a token for one\n")?;
            }
            Format::Text => {
                let rows = workers.iter().map(row);
                let header = [
                    "worker", "state", "host", "cores", "games", "per min", "late", "refused",
                ];
                report::plain_table(&header, rows)?;
                for worker in &workers {
                    remarks(worker)?;
                }
            }
        }
        store.close().await;
        Ok(End::Done)
    }
}

/// Every worker with what is known of it, by name.
async fn workers(store: &Store) -> anyhow::Result<Vec<WorkerEvent>> {
    let now = unix_ms(SystemTime::now());
    let mut sessions: BTreeMap<String, Vec<WorkerSession>> = BTreeMap::new();
    for session in store.sessions().await? {
        sessions
            .entry(session.worker.clone())
            .or_default()
            .push(session);
    }
    let found = suspicions(store).await?;
    let workers = store.workers().await?.into_iter();
    Ok(workers
        .map(|worker| {
            let sessions = sessions.remove(&worker.name).unwrap_or_default();
            let name = worker.name.clone();
            let of_it = found
                .iter()
                .filter(|one| one.worker.as_ref() == Some(&name));
            WorkerEvent {
                suspicions: of_it.filter_map(suspicion).collect(),
                ..event(worker, &sessions, now)
            }
        })
        .collect())
}

fn suspicion(found: &Suspicion) -> Option<WorkerSuspicion> {
    let test = found.test.test.as_ref()?;
    Some(WorkerSuspicion {
        failure: match found.test.failure {
            Failure::Late => WorkerFailure::Late,
            Failure::Crashed => WorkerFailure::Crashed,
        },
        observed: test.observed,
        expected: test.expected,
        p_value: test.p_value,
    })
}

/// Time after it was seen last for which a worker is believed to be connected, in milliseconds.
const FRESH_MS: i64 = 30_000;

fn event(worker: WorkerRow, sessions: &[WorkerSession], now: i64) -> WorkerEvent {
    let is_connected =
        |session: &&WorkerSession| session.about.connected && now - session.seen_unix_ms < FRESH_MS;
    let connected: Vec<&WorkerSession> = sessions.iter().filter(is_connected).collect();
    let newest = connected.first().copied().or(sessions.first());
    let about = newest.map(|session| session.about.clone());
    let about: WorkerStatus = about.unwrap_or_default();
    let sum = |count: fn(&WorkerStatus) -> u64| {
        let counts = sessions.iter().map(|session| count(&session.about));
        counts.sum::<u64>()
    };
    let is_expired = worker.expires_unix_ms.is_some_and(|expires| now >= expires);
    WorkerEvent {
        state: match () {
            () if worker.shut_out.is_some() => WorkerState::ShutOut,
            () if worker.revoked => WorkerState::Revoked,
            () if is_expired => WorkerState::Expired,
            () if connected.is_empty() => WorkerState::Away,
            () => WorkerState::Working,
        },
        worker: worker.name,
        shut_out: worker.shut_out,
        expires_unix_ms: worker.expires_unix_ms,
        seen_unix_ms: newest.map(|session| session.seen_unix_ms),
        running: connected.iter().map(|session| session.about.running).sum(),
        games_last_minute: connected
            .iter()
            .map(|session| session.about.games_last_minute)
            .sum(),
        worst_delay_us: connected
            .iter()
            .map(|session| session.about.worst_delay_us)
            .max()
            .unwrap_or(0),
        accepted: sum(|about| about.accepted),
        stale: sum(|about| about.stale),
        refused: sum(|about| about.refused),
        cores: connected.iter().map(|session| session.about.cores).sum(),
        games_at_once: connected
            .iter()
            .map(|session| session.about.games_at_once)
            .sum(),
        host: about.host,
        program: about.program,
        provides: about.provides,
        isolation: about.isolation,
        suspicions: Vec::new(),
    }
}

fn row(worker: &WorkerEvent) -> [String; 8] {
    [
        referee_core::shorten(&worker.worker, 20),
        word(worker.state).to_owned(),
        referee_core::shorten(&worker.host, 16),
        worker.cores.to_string(),
        worker.accepted.to_string(),
        worker.games_last_minute.to_string(),
        report::time(worker.worst_delay_us),
        (worker.refused + worker.stale).to_string(),
    ]
}

/// Prints remarks on a worker beside its figures.
fn remarks(worker: &WorkerEvent) -> anyhow::Result<()> {
    let name = &worker.worker;
    if let Some(why) = &worker.shut_out {
        report::line(&format!("{name} was shut out: {why}"))?;
    }
    for found in &worker.suspicions {
        let how = match found.failure {
            WorkerFailure::Late => "lose on time",
            WorkerFailure::Crashed => "crash or do not start",
        };
        report::line(&format!(
            "bots {how} on {name} more often than elsewhere: {} games, where {:.1} were to be \
             expected (p = {:.1e}); is the machine slower, or busy with something else?",
            found.observed, found.expected, found.p_value
        ))?;
    }
    if worker.state == WorkerState::Away
        && let Some(seen) = worker.seen_unix_ms
    {
        report::line(&format!("{name} was seen last at {}", show::date(seen)))?;
    }
    Ok(())
}

const fn word(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Working => "working",
        WorkerState::Away => "away",
        WorkerState::Expired => "expired",
        WorkerState::Revoked => "revoked",
        WorkerState::ShutOut => "shut out",
    }
}
