//! `arena.v1.Dispatch`: what workers elsewhere reach.

mod admit;
mod attend;
mod report;

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::{Arc, Weak, atomic::AtomicU64},
    time::Duration,
};

use arena_proto::arena::v1::{self as proto, dispatch_server::Dispatch as DispatchRpc};
use arena_store::{StoreError, WorkerRow};
use arena_tournament::{Lapse, unix_ms};
use bytes::Bytes;
use futures_util::Stream;
use parking_lot::Mutex;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng as _};
use referee_bots::archive::ArchiveHash;
use referee_worker::{
    Abilities,
    lease::{LeaseReply, LeaseRequest, SessionId},
    remote::{
        limits::Within,
        wire::{self, BadMessage},
    },
};
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

pub use self::admit::Admitted;
use crate::{
    AccessError, Storage, Tournaments, WorkerAccess,
    access::{Credentials, check, worker_with},
    credit::{Allowed, Credits},
    sessions::{JoinedSession, Sessions},
};

/// Time between two updates of the workers' data in the store, and between two checks of their
/// right to work.
const UPKEEP: Duration = Duration::from_secs(2);
/// Number of bytes of an archive that are sent in a message.
const ARCHIVE_PART: usize = 256 * 1024;
/// The largest message that is read or written, in bytes.
pub(crate) const LARGEST_MESSAGE: usize = 64 * 1024 * 1024;

/// Rules by which the service treats workers.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// The workers that may work.
    pub access: WorkerAccess,
    /// Which of the reported games are replayed before they count.
    pub replays: Replays,
    /// Seed of the sample of replayed games. No worker may know it.
    pub sample_seed: [u8; 32],
    /// The place where records are examined.
    pub examines: Examines,
    /// True if the arena's own process plays too.
    pub plays_here: bool,
}

/// Which of the reported games are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replays {
    /// All of them.
    All,
    /// The first ones of each process, and one in so many of the others, by chance.
    OneIn(u32),
}

/// The place where records are examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examines {
    /// On threads of their own, so many at once.
    OnThreads(usize),
    /// On the thread that serves. Nothing else is served meanwhile, so this is for
    /// simulations, in which a thread would end at a time that no seed decides.
    Inline,
}

/// The service.
pub struct DispatchService<S: Storage> {
    shared: Arc<ServiceState<S>>,
}

struct ServiceState<S: Storage> {
    tournaments: Arc<Tournaments<S>>,
    options: ServiceOptions,
    sessions: Sessions,
    credits: Credits,
    /// The known workers, as the store said it last.
    workers: Mutex<Arc<Vec<WorkerRow>>>,
    /// When the store was asked last about somebody who is not known.
    looked: tokio::sync::Mutex<Option<Instant>>,
    /// Room for calls that wait for that.
    unknown: Semaphore,
    /// The archives that are being sent: several workers share one in memory.
    sending: Mutex<BTreeMap<ArchiveHash, Weak<Vec<u8>>>>,
    streams: AtomicU64,
    sample: Mutex<ChaCha20Rng>,
    examiners: Arc<Semaphore>,
    stop: CancellationToken,
}

impl<S: Storage> Clone for DispatchService<S> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<S: Storage> DispatchService<S> {
    /// The service for these tournaments. Its streams end when `stop` is called off.
    #[must_use]
    pub fn new(
        tournaments: Arc<Tournaments<S>>,
        options: ServiceOptions,
        stop: CancellationToken,
    ) -> Self {
        Self {
            shared: Arc::new(ServiceState {
                tournaments,
                sessions: Sessions::default(),
                credits: Credits::default(),
                workers: Mutex::default(),
                looked: tokio::sync::Mutex::default(),
                unknown: Semaphore::new(admit::MOST_UNKNOWN),
                sending: Mutex::default(),
                streams: AtomicU64::new(0),
                sample: Mutex::new(ChaCha20Rng::from_seed(options.sample_seed)),
                examiners: Arc::new(Semaphore::new(match options.examines {
                    Examines::OnThreads(threads) => threads.max(1),
                    Examines::Inline => 1,
                })),
                options,
                stop,
            }),
        }
    }

    /// The service as tonic serves it, with bounds on its messages. Who calls is looked at first.
    #[must_use]
    pub fn into_server(self) -> Admitted<S> {
        let shared = self.shared.clone();
        let server = proto::dispatch_server::DispatchServer::new(self)
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE);
        Admitted::new(server, shared)
    }

    /// Looks after workers until it is stopped: tells them of tournaments that have ended,
    /// closes the streams of those that may not work any more, and writes down what is known
    /// of them.
    pub async fn look_after(&self) {
        let shared = &self.shared;
        loop {
            tokio::select! {
                biased;
                () = shared.stop.cancelled() => break,
                () = shared.tournaments.an_end() => {}
                () = tokio::time::sleep(UPKEEP) => shared.look().await,
            }
            let tournaments = &shared.tournaments;
            let is_running = |run| tournaments.running(run).is_some();
            shared.sessions.lose_runs(is_running);
        }
        shared.look().await;
    }
}

impl<S: Storage> ServiceState<S> {
    async fn look(&self) {
        if let Err(error) = self.look_up_workers().await {
            tracing::warn!(%error, "could not read who may work");
        }
        for (session, worker) in self.sessions.names() {
            if let Err(refused) = self.may_work(&worker) {
                self.dismiss(session, &refused).await;
            }
        }
        self.note_lapses();
        self.credits.tidy(|worker| self.sessions.has(worker));
        self.say_what_waits().await;
        let sessions = self.sessions.describe();
        let now = self.now_ms();
        let kept = self.tournaments.storage().keep_sessions(sessions, now);
        if let Err(error) = kept.await {
            tracing::warn!(%error, "could not write what is known of workers");
        }
    }

    /// Writes down what no worker can play, and what it needs.
    async fn say_what_waits(&self) {
        let able = self.sessions.abilities();
        for running in self.tournaments.all() {
            let waits = self.tournaments.trouble();
            let name = |session| {
                self.sessions
                    .with(session, |session| session.worker.clone())
            };
            let waits = waits.or_else(|| running.waits(&able, self.options.plays_here, name));
            if let Err(error) = self.tournaments.write_waits(&running, waits).await {
                tracing::warn!(%error, "could not write what a tournament waits for");
            }
        }
    }

    /// Work that a worker may be given now.
    fn allowed(&self, worker: &str) -> Allowed {
        self.note_lapses();
        self.credits.allowed(worker, || {
            let running = self.tournaments.all().into_iter();
            running
                .map(|running| running.dispatcher.held_by(worker))
                .sum()
        })
    }

    /// Takes down who has lost leases because nothing was heard of them.
    fn note_lapses(&self) {
        let running = self.tournaments.all();
        let lost = running
            .iter()
            .flat_map(|running| running.dispatcher.take_lost());
        let lapses: BTreeSet<(String, Lapse)> = lost
            .filter_map(|lost| {
                let worker = |session: &mut JoinedSession| session.worker.clone();
                Some((self.sessions.with(lost.session, worker)?, lost.why))
            })
            .collect();
        let lease = self.tournaments.options().lease;
        for (worker, lapse) in lapses {
            tracing::warn!(worker, ?lapse, "a worker has lost leases");
            self.credits.lapsed(&worker, lapse, lease);
        }
    }

    async fn look_up_workers(&self) -> Result<Arc<Vec<WorkerRow>>, StoreError> {
        let workers = Arc::new(self.tournaments.storage().workers().await?);
        self.workers.lock().clone_from(&workers);
        Ok(workers)
    }

    fn workers(&self) -> Arc<Vec<WorkerRow>> {
        self.workers.lock().clone()
    }

    /// Checks that a worker may still work, as far as the store has said.
    fn may_work(&self, name: &str) -> Result<(), AccessError> {
        let now = self.tournaments.options().clock.now();
        let workers = self.workers();
        let worker = workers.iter().find(|worker| worker.name == name);
        worker.map_or(Ok(()), |worker| check(worker, now))
    }

    /// The worker that shows these credentials, or that gives this name where nobody asks.
    async fn identify(&self, shown: &Credentials, name: &str) -> Result<WorkerRow, Status> {
        let unavailable = |error: StoreError| {
            tracing::warn!(%error, "could not read who may work");
            Status::unavailable("the arena can't read who may work; try again")
        };
        let worker = match (&shown.token, &shown.certificate, self.options.access) {
            (Some(token), ..) => {
                let workers = self.look_up_workers().await.map_err(unavailable)?;
                let worker = worker_with(token, &workers).ok_or(AccessError::Unknown)?;
                worker.clone()
            }
            (None, None, WorkerAccess::Known) => return Err(AccessError::NoToken.into()),
            (None, certificate, access) => {
                let name = certificate.as_deref().unwrap_or(name);
                let met = self.tournaments.storage().meet_worker(name, self.now_ms());
                let met = met.await.map_err(|error| match error {
                    error @ StoreError::BadName { .. } => {
                        Status::permission_denied(error.to_string())
                    }
                    error => unavailable(error),
                })?;
                if certificate.is_none() && access == WorkerAccess::Open && met.token_hash.is_some()
                {
                    // Nobody works under the name of somebody who has a token.
                    return Err(AccessError::NoToken.into());
                }
                met
            }
        };
        check(&worker, self.tournaments.options().clock.now())?;
        Ok(worker)
    }

    /// The session that a request names, if it is the sender's. Nothing else is done with a
    /// message before.
    fn session<T: Within>(
        &self,
        request: &Request<T>,
        session: &[u8],
    ) -> Result<(SessionId, String, Arc<Abilities>), Status> {
        request.get_ref().within().map_err(invalid)?;
        let shown = Credentials::of(request)?;
        let id = wire::session(session).map_err(invalid)?;
        let found = self.sessions.with(id, |session| {
            (session.proof.is_in(&shown)).then(|| (session.worker.clone(), session.can.clone()))
        });
        match found {
            Some(Some((worker, can))) => {
                self.may_work(&worker)?;
                Ok((id, worker, can))
            }
            Some(None) => Err(AccessError::Unknown.into()),
            // After a restart of the arena its stream is opened again first.
            None => Err(Status::failed_precondition(
                "this session is not known here; open a stream with Attend first",
            )),
        }
    }

    /// An archive, once in memory however many workers fetch it.
    async fn archive(&self, hash: ArchiveHash) -> Result<Option<Arc<Vec<u8>>>, StoreError> {
        let sending = || self.sending.lock();
        if let Some(bytes) = sending().get(&hash).and_then(Weak::upgrade) {
            return Ok(Some(bytes));
        }
        let read = self
            .tournaments
            .storage()
            .archive(&hash.to_string())
            .await?;
        Ok(read.map(|bytes| {
            let mut sending = sending();
            sending.retain(|_, bytes| bytes.strong_count() > 0);
            // Another call may have read it at the same time.
            if let Some(bytes) = sending.get(&hash).and_then(Weak::upgrade) {
                return bytes;
            }
            let bytes = Arc::new(bytes);
            sending.insert(hash, Arc::downgrade(&bytes));
            bytes
        }))
    }

    /// Ends the work of a process: its chunks are given to others.
    async fn dismiss(&self, session: SessionId, why: &AccessError) {
        let Some(dismissed) = self.sessions.remove(session) else {
            return;
        };
        tracing::warn!(worker = dismissed.worker, %why, "a worker has to leave");
        if let Some((_, down)) = dismissed.stream {
            let _ = down.try_send(Err(why.clone().into()));
        }
        self.take_back(session).await;
    }

    async fn take_back(&self, session: SessionId) {
        for running in self.tournaments.all() {
            running.dispatcher.take_back(session).await;
        }
    }

    fn now_ms(&self) -> i64 {
        unix_ms(self.tournaments.options().clock.now())
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "map_err hands errors over by value"
)]
fn invalid(error: BadMessage) -> Status {
    Status::invalid_argument(error.to_string())
}

/// Our own failure, which may pass: the worker keeps what it has and tries again.
fn failed(error: &dyn std::error::Error) -> Status {
    tracing::warn!(%error, "a worker's request failed");
    Status::unavailable(format!("the arena failed: {error}"))
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl<S: Storage> DispatchRpc for DispatchService<S> {
    type AttendStream = Replies<proto::AttendReply>;
    type FetchArchiveStream = Replies<proto::FetchArchiveReply>;

    async fn attend(
        &self,
        request: Request<Streaming<proto::AttendRequest>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let replies = attend::attend(self.shared.clone(), request).await?;
        Ok(Response::new(replies))
    }

    async fn lease(
        &self,
        request: Request<proto::LeaseRequest>,
    ) -> Result<Response<proto::LeaseReply>, Status> {
        let shared = &self.shared;
        let (session, worker, can) = shared.session(&request, &request.get_ref().session)?;
        let message = request.into_inner();
        let request = LeaseRequest {
            worker: worker.clone(),
            session: Some(session),
            can,
            games: message.games.max(1),
            scope: message.scope.map(wire::scope),
        };
        let allowed = || shared.allowed(&worker);
        let leased = shared.tournaments.lease_soon(&request, &allowed).await;
        let reply = match leased.map_err(|error| failed(&error))? {
            LeaseReply::Work(lease) => {
                let id = lease.id;
                if shared
                    .sessions
                    .with(session, |session| session.leases.insert(id))
                    .is_none()
                {
                    // It was dismissed while it waited.
                    shared.take_back(session).await;
                    return Err(Status::unavailable("this session has ended"));
                }
                proto::lease_reply::Reply::Work(wire::from_lease(&lease))
            }
            LeaseReply::Wait => proto::lease_reply::Reply::Wait(proto::Wait {}),
            LeaseReply::Over => proto::lease_reply::Reply::Over(proto::Over {}),
        };
        Ok(Response::new(proto::LeaseReply { reply: Some(reply) }))
    }

    async fn report(
        &self,
        request: Request<proto::ReportRequest>,
    ) -> Result<Response<proto::ReportReply>, Status> {
        let shared = &self.shared;
        let (session, worker, _) = shared.session(&request, &request.get_ref().session)?;
        let (shared, games) = (shared.clone(), request.into_inner().games);
        // A task of its own, which goes on when the worker is gone: what is stored must be taken
        // down too.
        let reporting =
            tokio::spawn(async move { report::report(&shared, session, &worker, games).await });
        let games = reporting.await.map_err(|error| failed(&error))??;
        Ok(Response::new(proto::ReportReply {
            games: games
                .into_iter()
                .map(|reply| wire::from_reply(reply).into())
                .collect(),
        }))
    }

    async fn give_back(
        &self,
        request: Request<proto::GiveBackRequest>,
    ) -> Result<Response<proto::GiveBackReply>, Status> {
        let shared = &self.shared;
        let (session, ..) = shared.session(&request, &request.get_ref().session)?;
        let give_back = wire::give_back(request.into_inner()).map_err(invalid)?;
        let lease = give_back.lease;
        shared
            .sessions
            .with(session, |session| session.leases.remove(&lease));
        if let Some(running) = shared.tournaments.running(lease.run) {
            let give_back = running.dispatcher.give_back_for(Some(session), give_back);
            give_back
                .await
                .map_err(|why| Status::not_found(why.to_string()))?;
        }
        Ok(Response::new(proto::GiveBackReply {}))
    }

    async fn fetch_archive(
        &self,
        request: Request<proto::FetchArchiveRequest>,
    ) -> Result<Response<Self::FetchArchiveStream>, Status> {
        let shared = &self.shared;
        shared.session(&request, &request.get_ref().session)?;
        let hash = request.into_inner().hash;
        let Ok(hash) = hash.parse::<ArchiveHash>() else {
            return Err(Status::invalid_argument(
                "hash: expected 64 hexadecimal digits",
            ));
        };
        let Some(bytes) = shared.archive(hash).await.map_err(|error| failed(&error))? else {
            return Err(Status::permission_denied(format!(
                "archive {hash} is not in the store of the arena"
            )));
        };
        let parts = (0..bytes.len()).step_by(ARCHIVE_PART).map(move |at| {
            let part = Bytes::copy_from_slice(&bytes[at..bytes.len().min(at + ARCHIVE_PART)]);
            Ok(proto::FetchArchiveReply { part })
        });
        Ok(Response::new(Box::pin(futures_util::stream::iter(parts))))
    }
}
