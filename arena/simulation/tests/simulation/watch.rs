//! What must hold at every moment of a simulated tournament, and what is known of it beside
//! the arena: it sees each lease and report when it is written, and every byte that goes down
//! to a worker.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arena_dispatch::{DispatchService, Storage};
use arena_proto::arena::v1::{self as proto, dispatch_server::Dispatch, lease_reply::Reply};
use arena_simulation::Trace;
use arena_store::{ChunkKey, GameRow, Reported, TournamentState};
use referee_core::Root;
use referee_worker::lease::{ChunkId, SessionId};
use tonic::{Request, Response, Status, Streaming};

/// How long a secret is in hexadecimal digits, and so the most bytes that it has on the wire.
const LONGEST: usize = 64;
/// The seeds of so many deals are looked for.
const DEALS: u64 = 512;

/// What is wrong with a simulated arena on purpose, to show that the checks can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Nothing is.
    #[default]
    None,
    /// Reports of lost leases count.
    TakesStaleReports,
    /// With a lease comes the seed of a deal that is not in it.
    TellsSeeds,
    /// With a lease comes the root.
    TellsRoot,
}

/// Watches one simulation. All clones are the same.
#[derive(Clone)]
pub(crate) struct Watch {
    trace: Trace,
    defect: Defect,
    secrets: Arc<Secrets>,
    seen: Arc<Mutex<Seen>>,
}

/// What no worker may be told before its time.
struct Secrets {
    root: [u8; 32],
    seeds: Vec<[u8; 32]>,
    /// The first four bytes of each secret as it is on the wire, and what it is: the deal, or
    /// none for the root.
    begins: HashMap<[u8; 4], Vec<Secret>>,
}

/// A secret as it is on the wire, and its deal; none for the root.
type Secret = (Vec<u8>, Option<u64>);

#[derive(Default)]
struct Seen {
    /// The newest attempt at each chunk.
    attempts: BTreeMap<ChunkId, u32>,
    /// The deals of which each worker has been given a game.
    deals: BTreeMap<String, BTreeSet<u64>>,
    sessions: BTreeMap<SessionId, String>,
    refused: BTreeSet<String>,
    /// The last bytes of each connection.
    tails: BTreeMap<(SessionId, u64), Vec<u8>>,
    counts: BTreeMap<&'static str, u64>,
    is_over: bool,
    broken: Option<String>,
}

impl Watch {
    pub(crate) fn new(trace: Trace, defect: Defect, game: &str, root: &Root) -> Self {
        let seed = |deal| *root.seed(game, deal).bytes();
        let seeds: Vec<[u8; 32]> = (0..DEALS).map(seed).collect();
        let mut secrets = Secrets {
            root: bytes_of(root),
            seeds,
            begins: HashMap::new(),
        };
        let deals = secrets.seeds.clone().into_iter().zip((0..).map(Some));
        for (secret, deal) in deals.chain([(secrets.root, None)]) {
            for form in [secret.to_vec(), hex::encode(secret).into_bytes()] {
                let begin = [form[0], form[1], form[2], form[3]];
                secrets.begins.entry(begin).or_default().push((form, deal));
            }
        }
        Self {
            trace,
            defect,
            secrets: Arc::new(secrets),
            seen: Arc::default(),
        }
    }

    /// What has been broken, if anything has.
    pub(crate) fn broken(&self) -> Option<String> {
        self.seen().broken.clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.seen().is_over
    }

    /// The workers that the arena does not let in any more.
    pub(crate) fn refused(&self) -> BTreeSet<String> {
        self.seen().refused.clone()
    }

    /// How often something has happened.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.seen().counts.clone()
    }

    pub(crate) fn takes_stale_reports(&self) -> bool {
        self.defect == Defect::TakesStaleReports
    }

    /// A process of a worker begins.
    pub(crate) fn begins(&self, worker: &str, session: SessionId) {
        self.trace.tell(worker, format_args!("begins as {session}"));
        let mut seen = self.seen();
        seen.sessions.insert(session, worker.to_owned());
        *seen.counts.entry("begun").or_default() += 1;
    }

    pub(crate) fn refuses(&self, worker: &str, why: &str) {
        self.trace.tell(worker, why);
        self.seen().refused.insert(worker.to_owned());
    }

    /// Says what is broken. What was first is kept.
    pub(crate) fn breaks(&self, what: String) {
        self.trace.tell("watch", &what);
        self.seen().broken.get_or_insert(what);
    }

    pub(crate) fn state(&self, to: TournamentState) {
        self.trace
            .tell("arena", format_args!("it is {}", to.word()));
        self.seen().is_over = to == TournamentState::Over;
    }

    /// A lease has been written.
    pub(crate) fn leased(&self, chunk: ChunkId, attempt: u32, worker: &str) {
        let what = format!("{} leased to {worker}, attempt {attempt}", named(&chunk));
        self.trace.tell("store", what);
        let mut seen = self.seen();
        seen.attempts.insert(chunk, attempt);
        if attempt > 1 {
            *seen.counts.entry("leased again").or_default() += 1;
        }
    }

    /// A report has been written, or not.
    pub(crate) fn reported(
        &self,
        row: &GameRow,
        worker: &str,
        chunk: &ChunkKey,
        attempt: u32,
        reported: Reported,
    ) {
        let chunk = ChunkId {
            matchup: chunk.matchup.0,
            first_group: chunk.first_group,
            groups: chunk.groups,
            seating: chunk.seating,
        };
        let game = format!("{}.{}", row.group, row.seating);
        let what = format!(
            "game {game} of {}, attempt {attempt}, by {worker}: {reported:?}",
            named(&chunk)
        );
        self.trace.tell("store", &what);
        let newest = {
            let mut seen = self.seen();
            let count = match reported {
                Reported::Accepted => "accepted",
                Reported::Duplicate => "duplicate",
                Reported::Stale => "stale",
            };
            *seen.counts.entry(count).or_default() += 1;
            seen.attempts.get(&chunk).copied().unwrap_or_default()
        };
        if attempt < newest && reported != Reported::Stale {
            self.breaks(format!(
                "a stale report was taken: {what}, although there is attempt {newest}"
            ));
        }
    }

    /// A worker's process is about to be told of a lease.
    fn gives(&self, session: &[u8], lease: &proto::Lease) {
        let Some(worker) = self.worker(session) else {
            return;
        };
        let keys = lease.games.iter().filter_map(|game| game.key.as_ref());
        let deals = keys.map(|key| key.group);
        let mut seen = self.seen();
        seen.deals.entry(worker).or_default().extend(deals);
    }

    fn worker(&self, session: &[u8]) -> Option<String> {
        let session = SessionId(session.try_into().ok()?);
        self.seen().sessions.get(&session).cloned()
    }

    /// Bytes have come to a worker. None of them may be a secret.
    pub(crate) fn heard(&self, worker: &str, session: SessionId, connection: u64, new: &[u8]) {
        let at = (session, connection);
        let mut bytes = self.seen().tails.remove(&at).unwrap_or_default();
        bytes.extend_from_slice(new);
        for (found, deal) in self.secrets.within(&bytes) {
            let known = deal.is_some_and(|deal| {
                let seen = self.seen();
                seen.deals
                    .get(worker)
                    .is_some_and(|deals| deals.contains(&deal))
            });
            if !known {
                let what = deal.map_or_else(
                    || "the root".to_owned(),
                    |deal| format!("the seed of deal {deal}, of which it has no game,"),
                );
                self.breaks(format!("{what} came to {worker}, at byte {found}"));
            }
        }
        let keep = bytes.len().saturating_sub(LONGEST - 1);
        bytes.drain(..keep);
        self.seen().tails.insert(at, bytes);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to a lease what its defect says.
    fn spoil(&self, lease: &mut proto::Lease) {
        let secret = match self.defect {
            Defect::TellsRoot => hex::encode(self.secrets.root),
            Defect::TellsSeeds => {
                let keys = lease.games.iter().filter_map(|game| game.key.as_ref());
                let last = keys.map(|key| key.group).max().unwrap_or_default();
                hex::encode(self.secrets.seeds[last as usize + 100])
            }
            Defect::None | Defect::TakesStaleReports => return,
        };
        lease.bots[0].spec.push_str(&secret);
    }
}

impl Secrets {
    /// The secrets in these bytes: where, and which.
    fn within(&self, bytes: &[u8]) -> Vec<(usize, Option<u64>)> {
        let mut found = Vec::new();
        for (at, window) in bytes.windows(4).enumerate() {
            let Some(begin) = window.first_chunk() else {
                continue;
            };
            for (secret, deal) in self.begins.get(begin).into_iter().flatten() {
                if bytes[at..].starts_with(secret) {
                    found.push((at, *deal));
                }
            }
        }
        found
    }
}

/// The service, with a look at what it says.
pub(crate) struct Watched<S: Storage> {
    pub(crate) service: DispatchService<S>,
    pub(crate) watch: Watch,
}

#[tonic::async_trait]
impl<S: Storage> Dispatch for Watched<S> {
    type AttendStream = <DispatchService<S> as Dispatch>::AttendStream;
    type FetchArchiveStream = <DispatchService<S> as Dispatch>::FetchArchiveStream;

    async fn attend(
        &self,
        request: Request<Streaming<proto::AttendRequest>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        self.service.attend(request).await
    }

    async fn lease(
        &self,
        request: Request<proto::LeaseRequest>,
    ) -> Result<Response<proto::LeaseReply>, Status> {
        let session = request.get_ref().session.clone();
        let mut response = self.service.lease(request).await?;
        if let Some(Reply::Work(lease)) = &mut response.get_mut().reply {
            self.watch.gives(&session, lease);
            self.watch.spoil(lease);
        }
        Ok(response)
    }

    async fn report(
        &self,
        request: Request<proto::ReportRequest>,
    ) -> Result<Response<proto::ReportReply>, Status> {
        self.service.report(request).await
    }

    async fn give_back(
        &self,
        request: Request<proto::GiveBackRequest>,
    ) -> Result<Response<proto::GiveBackReply>, Status> {
        self.service.give_back(request).await
    }

    async fn fetch_archive(
        &self,
        request: Request<proto::FetchArchiveRequest>,
    ) -> Result<Response<Self::FetchArchiveStream>, Status> {
        self.service.fetch_archive(request).await
    }
}

fn named(chunk: &ChunkId) -> String {
    let (first, groups) = (chunk.first_group, chunk.groups);
    match chunk.seating {
        Some(seating) => format!("chunk {first}+{groups}.{seating}"),
        None => format!("chunk {first}+{groups}"),
    }
}

fn bytes_of(root: &Root) -> [u8; 32] {
    let bytes = hex::decode(root.reveal()).expect("hexadecimal digits");
    bytes.try_into().expect("a root has 32 bytes")
}
