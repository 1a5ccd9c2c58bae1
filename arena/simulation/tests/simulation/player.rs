//! A simulated worker: its process joins, plays games by functions, and may be killed at any
//! time. What a game is depends on its seed alone, whoever plays it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arena_simulation::network::{self, Network};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use referee::PlayError;
use referee_core::{Record, Seat, Seed, Verdict, pack};
use referee_games::{GAMES, Next, SeatReply, Sitting, answer, ready};
use referee_worker::{
    Abilities, ChunkGame, Games, Launcher, Machine, Packed, Reach, Scheme, Schemes, Stop, Summary,
    Trust, WorkError, Worker,
    lease::{Lease, SessionId},
    remote::{RemoteDispatch, RemoteOptions},
};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::watch::Watch;

/// The port of the arena.
pub(crate) const PORT: u16 = 80;

/// How a worker cheats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// Its records say another result.
    Result,
    /// It plays with another seed.
    Seed,
}

/// A worker's machine.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) games_at_once: usize,
    /// When it joins first.
    pub(crate) joins_after: Duration,
    /// How long it works before it leaves and joins again, where it does.
    pub(crate) leaves_after: Option<Duration>,
    /// How long a game takes, at most.
    pub(crate) longest_game: Duration,
    pub(crate) forgery: Option<Forgery>,
    pub(crate) watch: Watch,
    /// How many processes it has had.
    pub(crate) processes: Arc<AtomicU64>,
}

impl Player {
    /// One process of it.
    pub(crate) async fn work(self, network: Network) -> turmoil::Result {
        if self.processes.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(self.joins_after).await;
        }
        while self.session(&network).await? {}
        // A later crash finds it and starts it again.
        std::future::pending().await
    }

    /// From joining to leaving; false where it may not come back.
    async fn session(&self, network: &Network) -> turmoil::Result<bool> {
        let session = self.next_session();
        self.watch.begins(&self.name, session);
        let (watch, name) = (self.watch.clone(), self.name.clone());
        network.listen_in(move |connection, bytes| {
            watch.heard(&name, session, connection, bytes);
        });
        let channel = network.connect_lazy(&network::endpoint("arena", PORT)?);
        let machine = self.machine();
        let options = RemoteOptions {
            name: self.name.clone(),
            session,
            machine: machine.clone(),
            bearer: None,
            gauge: Box::new(|| (0, Duration::ZERO)),
            jitter_seed: u64::from_be_bytes(session.0[..8].try_into()?),
        };
        let remote = Arc::new(RemoteDispatch::new(channel, options, Arc::new(schemes())));
        let (stop, leave) = (Stop::default(), CancellationToken::new());
        let worker = Worker {
            name: self.name.clone(),
            session: Some(session),
            can: Arc::new(Abilities::Remote(machine)),
            scope: None,
            games_at_once: self.games_at_once,
            dispatch: remote.clone(),
            games: Arc::new(self.games(session)),
            stop: stop.clone(),
        };
        let working = async {
            let worked = worker.run().await;
            leave.cancel();
            worked
        };
        let stopping = async {
            match self.leaves_after {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
            stop.finish();
        };
        let (worked, attended) = tokio::select! {
            biased;
            ended = async { tokio::join!(working, remote.attend(&leave)) } => ended,
            () = async { stopping.await; std::future::pending().await } => unreachable!(),
        };
        match (worked, attended) {
            (Ok(()), Ok(())) => Ok(true),
            (_, Err(refused)) => {
                self.watch.refuses(&self.name, &refused.to_string());
                Ok(false)
            }
            (Err(error), Ok(())) if error.to_string().contains("refuses") => {
                self.watch.refuses(&self.name, &error.to_string());
                Ok(false)
            }
            (Err(error), Ok(())) => Err(error.into()),
        }
    }

    fn next_session(&self) -> SessionId {
        let process = self.processes.fetch_add(1, Ordering::Relaxed);
        let hash = Sha256::new()
            .chain_update(self.seed.to_le_bytes())
            .chain_update(process.to_le_bytes())
            .finalize();
        let mut session = [0; 16];
        session.copy_from_slice(&hash[..16]);
        SessionId(session)
    }

    fn machine(&self) -> Machine {
        Machine {
            host: self.name.clone(),
            cores: 1,
            games_at_once: self.games_at_once as u32,
            games: GAMES
                .iter()
                .map(|game| game.info().name.to_owned())
                .collect(),
            ..Machine::default()
        }
    }

    fn games(&self, session: SessionId) -> Functions {
        let seed = u128::from_be_bytes(session.0) as u64;
        Functions {
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
            longest: self.longest_game,
            forgery: self.forgery,
        }
    }
}

/// Plays games by functions.
pub(crate) struct Functions {
    chance: Mutex<ChaCha8Rng>,
    longest: Duration,
    forgery: Option<Forgery>,
}

impl Functions {
    /// Games that take no time.
    pub(crate) fn at_once() -> Self {
        Self {
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(0)),
            longest: Duration::ZERO,
            forgery: None,
        }
    }
}

impl Games for Functions {
    type Bots = ();

    async fn take(&self, _: &Lease) -> Result<(), WorkError> {
        Ok(())
    }

    async fn play(&self, (): &(), game: ChunkGame<'_>) -> Result<Record, PlayError> {
        let time = {
            let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
            chance.next_u64() % (self.longest.as_millis() as u64 + 1)
        };
        tokio::time::sleep(Duration::from_millis(time)).await;
        let mut fixture = game.fixture;
        if self.forgery == Some(Forgery::Seed) {
            fixture.seed = Seed::new([7; 32]);
        }
        let mut record = played(Sitting::new(fixture)?);
        if self.forgery == Some(Forgery::Result)
            && let Verdict::Finished { outcome, .. } = &mut record.result.verdict
        {
            outcome.scores[Seat::new(0)] += 1;
        }
        Ok(record)
    }

    async fn pack(&self, record: Record, wants_record: bool) -> Option<Packed> {
        let (text, play_hash) = record.sealed();
        let packed = wants_record.then(|| pack::pack(&text));
        Some((Summary::of(&record, play_hash), packed))
    }

    async fn give_back(&self, (): ()) -> Vec<Option<u64>> {
        Vec::new()
    }
}

/// Plays to the end. A move depends on the seed, the seat and the number of the question.
fn played(mut sitting: Sitting) -> Record {
    let seed = sitting.fixture().seed;
    loop {
        let questions = match sitting.advance() {
            Next::Tell(_) => continue,
            Next::Ask(questions) => questions,
            Next::Over(finished) => return finished.record,
        };
        for question in questions {
            let said = match question.number {
                0 => ready(),
                number => {
                    let legal = sitting.legal(question.seat);
                    let drawn = drawn(&seed, question.seat, number) % legal.len() as u64;
                    answer(number, &legal[drawn as usize].1)
                }
            };
            let thought = Duration::from_millis(1);
            sitting.hear(question.seat, SeatReply::Answer(said), thought);
        }
    }
}

fn drawn(seed: &Seed, seat: Seat, number: u32) -> u64 {
    let hash = Sha256::new()
        .chain_update(seed.bytes())
        .chain_update([seat.index() as u8])
        .chain_update(number.to_le_bytes())
        .finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

/// The only kind of bot that there is in a simulation.
pub(crate) fn schemes() -> Schemes {
    Schemes::with(vec![Scheme {
        prefixes: &["sim:"],
        form: "sim:NAME",
        names: Vec::new(),
        read: Box::new(|_, name| Ok(Arc::new(Function(name.to_owned())))),
    }])
}

/// A bot that is a function.
#[derive(Debug)]
struct Function(String);

impl Launcher for Function {
    fn default_name(&self) -> String {
        self.0.clone()
    }

    fn trust(&self) -> Trust {
        Trust::BuiltIn
    }

    fn reach(&self) -> Reach {
        Reach::Program {
            program: "simulated".into(),
            arguments: vec![self.0.clone().into()],
        }
    }

    fn travels_with(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}
