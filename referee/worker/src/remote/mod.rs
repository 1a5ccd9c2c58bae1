//! A dispatcher on another machine, over `arena.v1.Dispatch`. What fails for a while is tried
//! again, with pauses that differ from worker to worker; results are kept until they are
//! taken. The arena alone judges leases: a worker goes on until it is told that one is lost.

mod attendance;
pub mod limits;
mod reporter;
pub mod wire;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use arena_proto::arena::v1::{self as proto, dispatch_client::DispatchClient};
use backon::{BackoffBuilder as _, ExponentialBuilder};
use parking_lot::Mutex;
use referee_net::Bearer;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Status, transport::Channel};

use crate::{
    Dispatch, DispatchError, Machine,
    lease::{
        GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, LiveUpdate, ReportReply,
        SessionId,
    },
};
use referee_bots::{
    Schemes,
    archive::{ArchiveHash, MOST_PACKED_BYTES},
};

use self::{limits::Within as _, wire::BadMessage};

/// The log message of a worker that waits for bots before it joins.
pub const WAITING_FOR_BOTS: &str = "waiting for bots that others start";
/// The log message of a worker each time that it does not reach the arena.
pub const NO_CONNECTION: &str = "no connection to the arena; it is tried again";

/// Longest time of a call; a request for work waits for a quarter of a lease.
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// The pauses between attempts: the first one and the longest one, before the jitter.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Number of tries to give a lease back; a lease that can't be given back runs out.
const GIVE_BACK_TRIES: usize = 4;
/// Live moves that wait to be sent, at most. Further ones are dropped.
const LIVE_QUEUE: usize = 1024;
/// Reports that wait to be sent, at most. Then workers wait, and keep their results.
const REPORT_QUEUE: usize = 1024;
/// The largest message that is read or written, in bytes.
const LARGEST_MESSAGE: usize = 64 * 1024 * 1024;

/// The identity of a worker's process, towards an arena, and its settings.
pub struct RemoteOptions {
    /// The name that it would like to have, where neither a token nor a certificate says it.
    pub name: String,
    /// Its session.
    pub session: SessionId,
    /// Its machine, and what it can play.
    pub machine: Machine,
    /// The token that every request has.
    pub bearer: Option<Bearer>,
    /// Reads the worker's activity, for the arena.
    pub gauge: Gauge,
    /// The seed of the random part of pauses.
    pub jitter_seed: u64,
}

/// The activity of a worker: the number of games that it is playing, and the worst delay of
/// its referee's threads since the last time it was asked.
pub type Gauge = Box<dyn Fn() -> (u32, Duration) + Send + Sync>;

/// A dispatcher on another machine.
pub struct RemoteDispatch {
    shared: Arc<RemoteShared>,
    /// Taken by [`attend`](Self::attend).
    receivers: Mutex<Option<Receivers>>,
}

struct Receivers {
    reports: mpsc::Receiver<Unsent>,
    live: mpsc::Receiver<LiveUpdate>,
}

/// A game that is to be reported, and who waits for the answer.
struct Unsent {
    report: GameReport,
    answer: oneshot::Sender<ReportReply>,
}

struct RemoteShared {
    channel: Channel,
    options: RemoteOptions,
    schemes: Arc<Schemes>,
    held: Mutex<BTreeMap<LeaseId, HeldLease>>,
    reports: mpsc::Sender<Unsent>,
    live: mpsc::Sender<LiveUpdate>,
    joined: watch::Sender<Joined>,
}

/// A lease that this process has.
#[derive(Default)]
struct HeldLease {
    lost: CancellationToken,
    /// Groups that need not be played any more.
    unwanted: BTreeSet<u64>,
}

/// The state of joining: whether the arena knows this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Joined {
    #[default]
    NotYet,
    Yes {
        /// Its name there.
        name: String,
    },
    Refused(WorkerRefusal),
}

/// The arena does not let this worker work; trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arena refuses this worker: {0}")]
pub struct WorkerRefusal(String);

impl RemoteDispatch {
    /// A dispatcher that is reached through this channel. Bots of its leases are read by
    /// these schemes. Nothing happens before [`attend`](Self::attend).
    #[must_use]
    pub fn new(channel: Channel, options: RemoteOptions, schemes: Arc<Schemes>) -> Self {
        let (reports, unsent) = mpsc::channel(REPORT_QUEUE);
        let (live, moves) = mpsc::channel(LIVE_QUEUE);
        Self {
            shared: Arc::new(RemoteShared {
                channel,
                options,
                schemes,
                held: Mutex::default(),
                reports,
                live,
                joined: watch::Sender::default(),
            }),
            receivers: Mutex::new(Some(Receivers {
                reports: unsent,
                live: moves,
            })),
        }
    }

    /// Keeps the stream to the arena open, renews leases and sends reports, until `leave` is
    /// called off or the arena refuses this worker. What is in the queue then is lost, and
    /// its games are played again.
    ///
    /// # Errors
    ///
    /// [`WorkerRefusal`] says why.
    ///
    /// # Panics
    ///
    /// The second time that it is called.
    pub async fn attend(&self, leave: &CancellationToken) -> Result<(), WorkerRefusal> {
        let receivers = self.receivers.lock().take();
        let Receivers { reports, live } = receivers.expect("a process attends once");
        tokio::select! {
            biased;
            attended = attendance::attend(&self.shared, live, leave) => attended,
            refused = reporter::report(&self.shared, reports) => Err(refused),
        }
    }

    /// The name of this worker at the arena, as soon as it has joined.
    ///
    /// # Errors
    ///
    /// [`WorkerRefusal`] says why it has not.
    pub async fn joined(&self) -> Result<String, WorkerRefusal> {
        self.shared.joined().await
    }
}

impl RemoteShared {
    fn client(&self) -> DispatchClient<Channel> {
        DispatchClient::new(self.channel.clone())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE)
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(bearer) = &self.options.bearer {
            bearer.add_to(request.metadata_mut());
        }
        request
    }

    fn session(&self) -> Vec<u8> {
        self.options.session.0.to_vec()
    }

    /// Pauses between attempts, without an end.
    fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_jitter()
            .with_jitter_seed(self.options.jitter_seed)
            .without_max_times()
            .build()
    }

    async fn joined(&self) -> Result<String, WorkerRefusal> {
        let mut joined = self.joined.subscribe();
        loop {
            match &*joined.borrow_and_update() {
                Joined::Yes { name } => return Ok(name.clone()),
                Joined::Refused(why) => return Err(why.clone()),
                Joined::NotYet => {}
            }
            if joined.changed().await.is_err() {
                return Err(WorkerRefusal("this worker has left".to_owned()));
            }
        }
    }

    /// The refusal, if a call that failed so is refused for good; then everybody is told.
    fn refused(&self, status: &Status) -> Option<WorkerRefusal> {
        if !matches!(
            status.code(),
            Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
        ) {
            return None;
        }
        Some(self.refuse(status.message()))
    }

    fn refuse(&self, why: &str) -> WorkerRefusal {
        let refused = WorkerRefusal(referee_core::printable(why));
        let said = Joined::Refused(refused.clone());
        self.joined.send_replace(said);
        refused
    }

    /// Makes a call until it is answered; a call must change nothing the second time.
    async fn persist<T, F>(&self, mut call: impl FnMut() -> F) -> Result<T, WorkerRefusal>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let mut pauses = self.pauses();
        loop {
            self.joined().await?;
            let status = match within(CALL_LIMIT, call()).await {
                Ok(reply) => return Ok(reply),
                Err(status) => status,
            };
            if let Some(refused) = self.refused(&status) {
                return Err(refused);
            }
            tracing::debug!(%status, "the arena is tried again");
            tokio::time::sleep(pauses.next().unwrap_or(LONGEST_PAUSE)).await;
        }
    }
}

async fn within<T>(
    limit: Duration,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let called = tokio::time::timeout(limit, call).await;
    called.unwrap_or_else(|_| Err(Status::deadline_exceeded("there was no answer")))
}

impl Dispatch for RemoteDispatch {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        let shared = &self.shared;
        let message = proto::LeaseRequest {
            session: shared.session().into(),
            games: request.games,
            scope: request.scope.map(wire::from_scope),
        };
        let ask = || async {
            let request = shared.request(message.clone());
            shared.client().lease(request).await
        };
        let reply = shared.persist(ask).await.map_err(DispatchError::new)?;
        let reply = reply.into_inner();
        let within = reply.within();
        within.map_err(|error| DispatchError::new(BadLease(error)))?;
        let reply = reply.reply;
        let Some(proto::lease_reply::Reply::Work(lease)) = reply else {
            return Ok(match reply {
                Some(proto::lease_reply::Reply::Over(_)) => LeaseReply::Over,
                _ => LeaseReply::Wait,
            });
        };
        let id = wire::lease_id(lease.id).map_err(DispatchError::new)?;
        shared.held.lock().insert(id, HeldLease::default());
        match wire::lease(lease, &shared.schemes) {
            Ok(lease) => Ok(LeaseReply::Work(Box::new(lease))),
            Err(error) => {
                shared.held.lock().remove(&id);
                Err(DispatchError::new(BadLease(error)))
            }
        }
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        // The stream renews all leases together.
        Ok(self.shared.held.lock().contains_key(&lease))
    }

    async fn lost(&self, lease: LeaseId) {
        let lost = self
            .shared
            .held
            .lock()
            .get(&lease)
            .map(|held| held.lost.clone());
        if let Some(lost) = lost {
            lost.cancelled().await;
        }
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        let (answer, answered) = oneshot::channel();
        let unsent = Unsent { report, answer };
        let sent = self.shared.reports.send(unsent).await;
        let left = || WorkerRefusal("this worker has left".to_owned());
        sent.map_err(|_| DispatchError::new(left()))?;
        answered.await.map_err(|_| DispatchError::new(left()))
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        let shared = &self.shared;
        if shared.held.lock().remove(&give_back.lease).is_none() {
            // It was lost.
            return Ok(());
        }
        let message = wire::from_give_back(shared.options.session, &give_back);
        for pause in shared.pauses().take(GIVE_BACK_TRIES) {
            let request = shared.request(message.clone());
            match within(CALL_LIMIT, shared.client().give_back(request)).await {
                Ok(_) => return Ok(()),
                Err(status) if status.code() == Code::NotFound => {
                    tracing::info!(%status, "a chunk was not given back");
                    return Ok(());
                }
                Err(status) => {
                    if let Some(refused) = shared.refused(&status) {
                        return Err(DispatchError::new(refused));
                    }
                    tracing::debug!(%status, "a chunk could not be given back");
                }
            }
            tokio::time::sleep(pause).await;
        }
        tracing::warn!("a chunk could not be given back; its lease will run out");
        Ok(())
    }

    async fn archive(&self, hash: ArchiveHash) -> Result<Vec<u8>, DispatchError> {
        let shared = &self.shared;
        let message = proto::FetchArchiveRequest {
            session: shared.session().into(),
            hash: hash.to_string(),
        };
        let fetch = || async {
            let request = shared.request(message.clone());
            let mut parts = shared.client().fetch_archive(request).await?.into_inner();
            let mut bytes = Vec::new();
            while let Some(part) = parts.message().await? {
                let within = part.within();
                within.map_err(|error| Status::permission_denied(error.to_string()))?;
                bytes.extend_from_slice(&part.part);
                if bytes.len() as u64 > MOST_PACKED_BYTES {
                    return Err(Status::permission_denied("an archive is too large"));
                }
            }
            Ok(bytes)
        };
        shared.persist(fetch).await.map_err(DispatchError::new)
    }

    async fn is_wanted(&self, lease: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        let held = self.shared.held.lock();
        let held = held.get(&lease);
        Ok(held.is_some_and(|held| !held.unwanted.contains(&game.group)))
    }

    fn live(&self, update: LiveUpdate) {
        // Where the arena is slow, moves are dropped: games never wait for it.
        let _ = self.shared.live.try_send(update);
    }
}

/// The arena has sent a lease that can't be played.
#[derive(Debug, thiserror::Error)]
#[error("could not read a lease of the arena: {0}")]
struct BadLease(#[source] BadMessage);
