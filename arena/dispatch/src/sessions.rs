//! The processes of workers that have joined.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use arena_proto::arena::v1::{self as proto, attend_reply::Message};
use arena_store::{WorkerSession, WorkerStatus};
use parking_lot::Mutex;
use referee_worker::{
    Abilities,
    lease::{LeaseId, ReportReply, RunId, SessionId},
    remote::wire,
};
use tokio::{sync::mpsc, time::Instant};
use tonic::Status;

use crate::access::SessionProof;

/// Time that a process whose stream is closed is remembered.
const REMEMBERED: Duration = Duration::from_secs(600);
/// Length of the parts in which the figures of the last minute are counted.
const PART: Duration = Duration::from_secs(10);
const PARTS: usize = 6;

/// Largest size of all that the processes of one worker say of themselves, in bytes.
const MOST_SAID: usize = 4 * 1024 * 1024;

/// Sender of the messages that go down a stream.
pub(crate) type Down = mpsc::Sender<Result<proto::AttendReply, Status>>;

/// Every process that has joined.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<SessionId, JoinedSession>>);

/// A process that has joined.
pub(crate) struct JoinedSession {
    /// Name of its worker.
    pub(crate) worker: String,
    /// The proof that it shows with every request.
    pub(crate) proof: SessionProof,
    pub(crate) can: Arc<Abilities>,
    /// Its stream, where it is open, and the number of that stream.
    pub(crate) stream: Option<(u64, Down)>,
    pub(crate) leases: BTreeSet<LeaseId>,
    pub(crate) status: WorkerStatus,
    /// Size of what it says of itself, in bytes.
    said: usize,
    pub(crate) joined_unix_ms: i64,
    pub(crate) seen_unix_ms: i64,
    pub(crate) seen: Instant,
    recent: VecDeque<Recent>,
}

/// Work of a process in a part of the last minute.
struct Recent {
    since: Instant,
    games: u64,
    delay: Duration,
}

impl JoinedSession {
    pub(crate) fn new(
        worker: String,
        proof: SessionProof,
        can: Arc<Abilities>,
        status: WorkerStatus,
        said: usize,
        unix_ms: i64,
    ) -> Self {
        Self {
            worker,
            proof,
            can,
            stream: None,
            leases: BTreeSet::new(),
            status,
            said,
            joined_unix_ms: unix_ms,
            seen_unix_ms: unix_ms,
            seen: Instant::now(),
            recent: VecDeque::new(),
        }
    }

    /// Takes down that it was heard of.
    pub(crate) fn heard(&mut self, unix_ms: i64, running: u32, delay: Duration) {
        self.seen = Instant::now();
        self.seen_unix_ms = unix_ms;
        self.status.running = running;
        let recent = self.recent();
        recent.delay = recent.delay.max(delay);
    }

    /// Takes down what became of a game that it reported.
    pub(crate) fn reported(&mut self, reply: ReportReply) {
        match reply {
            ReportReply::Accepted => {
                self.status.accepted += 1;
                self.recent().games += 1;
            }
            ReportReply::Duplicate => self.status.duplicate += 1,
            // A lease that has run out may be known no more.
            ReportReply::Stale | ReportReply::NotHeld => self.status.stale += 1,
            // That is no fault of the worker.
            ReportReply::Ended | ReportReply::Away => {}
        }
    }

    fn recent(&mut self) -> &mut Recent {
        let now = Instant::now();
        let is_old = |recent: &Recent| now.duration_since(recent.since) >= PART;
        if self.recent.back().is_none_or(is_old) {
            self.recent.push_back(Recent {
                since: now,
                games: 0,
                delay: Duration::ZERO,
            });
        }
        while self.recent.len() > PARTS {
            self.recent.pop_front();
        }
        self.recent.back_mut().expect("one was pushed")
    }

    /// Sends a message down its stream. A worker that reads nothing loses its stream, and
    /// joins again.
    pub(crate) fn send(&mut self, message: Message) {
        let message = proto::AttendReply {
            message: Some(message),
        };
        let sent = self
            .stream
            .as_ref()
            .map(|(_, down)| down.try_send(Ok(message)));
        if let Some(Err(_)) = sent {
            self.stream = None;
        }
    }

    /// Tells it that it has lost leases.
    pub(crate) fn lose(&mut self, lost: Vec<LeaseId>) {
        for lease in &lost {
            self.leases.remove(lease);
        }
        self.send(Message::Standing(proto::Standing {
            lost: lost.into_iter().map(wire::from_lease_id).collect(),
            unwanted: Vec::new(),
        }));
    }
}

impl Sessions {
    /// Calls a function with a session, where there is one of this name.
    pub(crate) fn with<T>(
        &self,
        id: SessionId,
        call: impl FnOnce(&mut JoinedSession) -> T,
    ) -> Option<T> {
        self.0.lock().get_mut(&id).map(call)
    }

    /// A process has joined, or has opened its stream again; that one replaces the last.
    ///
    /// # Errors
    ///
    /// The session is another worker's, or this worker has too many.
    pub(crate) fn join(
        &self,
        id: SessionId,
        mut session: JoinedSession,
        number: u64,
        down: Down,
    ) -> Result<(), Status> {
        session.stream = Some((number, down));
        let mut sessions = self.0.lock();
        let before = sessions.get(&id);
        if before.is_some_and(|before| before.worker != session.worker) {
            return Err(Status::permission_denied(
                "this session belongs to another worker",
            ));
        }
        make_room(&mut sessions, id, &session)?;
        if let Some(before) = sessions.remove(&id) {
            session.leases = before.leases;
            session.joined_unix_ms = before.joined_unix_ms;
            session.recent = before.recent;
            session.status.accepted = before.status.accepted;
            session.status.duplicate = before.status.duplicate;
            session.status.stale = before.status.stale;
            session.status.refused = before.status.refused;
        }
        sessions.insert(id, session);
        Ok(())
    }

    /// A stream has ended.
    pub(crate) fn stream_ended(&self, id: SessionId, number: u64) {
        self.with(id, |session| {
            if session
                .stream
                .as_ref()
                .is_some_and(|(now, _)| *now == number)
            {
                session.stream = None;
            }
        });
    }

    /// Forgets a process.
    pub(crate) fn remove(&self, id: SessionId) -> Option<JoinedSession> {
        self.0.lock().remove(&id)
    }

    /// Tells every process that it has lost its leases of these runs' end.
    pub(crate) fn lose_runs(&self, is_running: impl Fn(RunId) -> bool) {
        for session in self.0.lock().values_mut() {
            let leases = session.leases.iter().copied();
            let lost: Vec<LeaseId> = leases.filter(|lease| !is_running(lease.run)).collect();
            if !lost.is_empty() {
                session.lose(lost);
            }
        }
    }

    /// Abilities of the processes whose streams are open.
    pub(crate) fn abilities(&self) -> Vec<Arc<Abilities>> {
        let sessions = self.0.lock();
        let open = sessions.values().filter(|session| session.stream.is_some());
        open.map(|session| session.can.clone()).collect()
    }

    /// True if a worker has a process here.
    pub(crate) fn has(&self, worker: &str) -> bool {
        self.0
            .lock()
            .values()
            .any(|session| session.worker == worker)
    }

    /// The processes, with their names.
    pub(crate) fn names(&self) -> Vec<(SessionId, String)> {
        let sessions = self.0.lock();
        let names = sessions.iter();
        names
            .map(|(id, session)| (*id, session.worker.clone()))
            .collect()
    }

    /// Data of each process, for people. Those that have been gone for long are forgotten.
    pub(crate) fn describe(&self) -> Vec<WorkerSession> {
        let mut sessions = self.0.lock();
        sessions
            .retain(|_, session| session.stream.is_some() || session.seen.elapsed() < REMEMBERED);
        let sessions = sessions.iter_mut();
        sessions
            .map(|(id, session)| {
                session.recent();
                let recent = session.recent.iter();
                let status = WorkerStatus {
                    connected: session.stream.is_some(),
                    leases: session.leases.len() as u32,
                    games_last_minute: recent.clone().map(|recent| recent.games).sum(),
                    worst_delay_us: recent
                        .map(|recent| recent.delay.as_micros() as u64)
                        .max()
                        .unwrap_or_default(),
                    ..session.status.clone()
                };
                WorkerSession {
                    session: id.0,
                    worker: session.worker.clone(),
                    about: status,
                    joined_unix_ms: session.joined_unix_ms,
                    seen_unix_ms: session.seen_unix_ms,
                }
            })
            .collect()
    }
}

/// Forgets those processes of a new one's worker that have been gone for the longest time, until
/// what is kept of them all is short enough.
fn make_room(
    sessions: &mut BTreeMap<SessionId, JoinedSession>,
    id: SessionId,
    new: &JoinedSession,
) -> Result<(), Status> {
    let is_other =
        |other: &SessionId, session: &JoinedSession| *other != id && session.worker == new.worker;
    let others = sessions.iter().filter(|(id, one)| is_other(id, one));
    let mut said: usize = others.map(|(_, one)| one.said).sum();
    while said + new.said > MOST_SAID {
        let others = sessions.iter().filter(|(id, one)| is_other(id, one));
        let gone = others.filter(|(_, one)| one.stream.is_none());
        let oldest = gone.min_by_key(|(_, one)| one.seen).map(|(id, _)| *id);
        let Some(oldest) = oldest.and_then(|oldest| sessions.remove(&oldest)) else {
            return Err(Status::resource_exhausted(
                "this worker has as many processes as it may have",
            ));
        };
        said -= oldest.said;
    }
    Ok(())
}
