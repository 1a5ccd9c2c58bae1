//! Workers that don't play: a game is played by a function the first time, and known from then
//! on.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use referee::GameError;
use referee_bots::archive::ArchiveHash;
use referee_core::{Record, pack};
use referee_games::{GAMES, Sitting};
use referee_net::{DialOptions, channel};
use referee_worker::{
    Abilities, ChunkBounds, Dispatch, DispatchError, Games, LeasedGame, Machine, PackedResult,
    Stop, Summary, WorkError, Worker,
    lease::{
        GameKey, GameReport, GiveBack, Lease, LeaseId, LeaseReply, LeaseRequest, LiveUpdate,
        ReportReply, SessionId,
    },
    remote::{RemoteDispatch, RemoteOptions},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The games that are known, by what they are called.
pub(crate) type Known = Arc<Mutex<HashMap<String, (Record, PackedResult)>>>;

/// Observations of a worker that doesn't play.
#[derive(Default)]
pub(crate) struct Seen {
    /// Duration of each lease request that got work, but for each worker's first one.
    pub(crate) leases: Vec<Duration>,
    pub(crate) first_leases: Vec<Duration>,
    /// Number of accepted games.
    pub(crate) accepted: u64,
}

/// A worker that doesn't play.
pub(crate) struct KnownGames {
    pub(crate) known: Known,
    /// Number of games that it asks for at once.
    pub(crate) games: u64,
    /// Largest number of games that it reports at once.
    pub(crate) at_once: usize,
    /// Pause before each game.
    pub(crate) pause: Duration,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

impl KnownGames {
    /// Works until nothing is left of the tournament.
    pub(crate) async fn work(self, url: &str, number: u64, tournament: &str) {
        let remote = Arc::new(join(url, number));
        let leave = CancellationToken::new();
        let at_once = self.at_once;
        let worker = Worker {
            name: format!("worker-{number}"),
            session: Some(session(number)),
            can: Arc::new(Abilities::Remote(machine())),
            scope: Some(referee_worker::lease::Scope {
                tournament: tournament.to_owned(),
                matchup: None,
            }),
            games_at_once: at_once,
            bounds: ChunkBounds::default(),
            dispatch: Arc::new(Timed {
                remote: remote.clone(),
                games: self.games,
                has_leased: AtomicBool::new(false),
                seen: self.seen.clone(),
            }),
            games: Arc::new(self),
            stop: Stop::default(),
        };
        let working = async {
            worker.run().await.expect("it works");
            leave.cancel();
        };
        let ((), attended) = tokio::join!(working, remote.attend(&leave));
        attended.expect("it is let in");
    }
}

/// A worker's end of the connection, over a connection of its own.
pub(crate) fn join(url: &str, number: u64) -> RemoteDispatch {
    let target = url.parse().expect("a URL");
    let channel = channel(&target, None, &DialOptions::default()).expect("a channel");
    let options = RemoteOptions {
        name: format!("worker-{number}"),
        session: session(number),
        machine: machine(),
        bearer: None,
        gauge: Box::new(|| (0, Duration::ZERO)),
        jitter_seed: number,
    };
    let schemes =
        referee_cli::bots::travelling_schemes(referee_bots::Unpinned::Refuse).expect("schemes");
    RemoteDispatch::new(channel, options, Arc::new(schemes))
}

/// A session that no worker has had.
fn session(number: u64) -> SessionId {
    let mut id = rand::random::<[u8; 16]>();
    id[..8].copy_from_slice(&number.to_be_bytes());
    SessionId(id)
}

fn machine() -> Machine {
    let games = GAMES.iter().map(|kind| kind.info().name.to_owned());
    Machine {
        host: "bench".to_owned(),
        cores: 1,
        games_at_once: 1,
        games: games.collect(),
        ..Machine::default()
    }
}

impl Games for KnownGames {
    type Bots = ();

    async fn take(&self, _: &Lease) -> Result<(), WorkError> {
        Ok(())
    }

    async fn play(&self, (): &(), game: LeasedGame<'_>) -> Result<Record, GameError> {
        if !self.pause.is_zero() {
            tokio::time::sleep(self.pause).await;
        }
        let id = game.fixture.game_id.clone();
        let known = self.known.lock().get(&id).map(|(record, _)| record.clone());
        if let Some(record) = known {
            return Ok(record);
        }
        let mut chance = StdRng::from_seed(*game.fixture.seed.bytes());
        let sitting = Sitting::new(game.fixture)?;
        let record = sitting.play_out(|_, _, legal| chance.random_range(0..legal));
        let (text, play_hash) = record.sealed();
        let packed = (
            Summary::of(&record, play_hash),
            Some(pack::pack_for_store(&text)),
        );
        self.known.lock().insert(id, (record.clone(), packed));
        Ok(record)
    }

    async fn pack(&self, record: Record, _: bool) -> Option<PackedResult> {
        let known = self.known.lock();
        known
            .get(&record.header.game_id)
            .map(|(_, packed)| packed.clone())
    }

    async fn give_back(&self, (): ()) -> Vec<Option<u64>> {
        Vec::new()
    }
}

/// Takes down how long leases take.
struct Timed {
    remote: Arc<RemoteDispatch>,
    games: u64,
    /// True after the first one: that one waits for the tournament to begin.
    has_leased: AtomicBool,
    seen: Arc<Mutex<Seen>>,
}

impl Dispatch for Timed {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        let begin = Instant::now();
        let games = self.games;
        let leased = self.remote.lease(LeaseRequest { games, ..request }).await;
        if let Ok(LeaseReply::Work(_)) = leased {
            let mut seen = self.seen.lock();
            match self.has_leased.swap(true, Ordering::Relaxed) {
                true => seen.leases.push(begin.elapsed()),
                false => seen.first_leases.push(begin.elapsed()),
            }
        }
        leased
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        self.remote.renew(lease).await
    }

    async fn lost(&self, lease: LeaseId) {
        self.remote.lost(lease).await;
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        let reply = self.remote.report(report).await;
        if let Ok(ReportReply::Accepted) = reply {
            self.seen.lock().accepted += 1;
        }
        reply
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        self.remote.give_back(give_back).await
    }

    async fn archive(&self, hash: ArchiveHash) -> Result<Vec<u8>, DispatchError> {
        self.remote.archive(hash).await
    }

    async fn is_wanted(&self, lease: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        self.remote.is_wanted(lease, game).await
    }

    fn live(&self, update: LiveUpdate) {
        self.remote.live(update);
    }
}
