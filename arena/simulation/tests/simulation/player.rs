//! A simulated worker: its process joins, leases and reports as the real one, and may be killed at
//! any time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arena_simulation::network::{self, HostNetwork};
use referee_bots::{Launcher, Reach, Scheme, Schemes, Trust};
use referee_games::GAMES;
use referee_net::{Bearer, Token};
use referee_worker::{
    Abilities, ChunkBounds, Machine, Stop, WorkError, Worker,
    lease::SessionId,
    remote::{RemoteDispatch, RemoteOptions},
};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::{
    forger::Forger,
    games::{Archives, Functions},
    scenario::{FAULTS, Forgery, Leave, SimulatedWorker},
    watch::Watch,
};

/// The port of the arena.
pub(crate) const PORT: u16 = 80;
/// After how long a process that has failed is started again.
const RESTART: Duration = Duration::from_secs(3);

/// A worker's machine.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) worker: SimulatedWorker,
    pub(crate) token: Option<Token>,
    pub(crate) seed: u64,
    pub(crate) watch: Watch,
    /// Number of processes that it has had.
    pub(crate) processes: Arc<AtomicU64>,
    pub(crate) archives: Archives,
}

impl Player {
    /// One process of it.
    pub(crate) async fn work(self, network: HostNetwork) -> turmoil::Result {
        if self.processes.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(self.worker.joins_after).await;
        }
        while self.session(&network).await? {}
        // A later crash finds it and starts it again.
        std::future::pending().await
    }

    /// From joining to leaving; false where it may not come back.
    async fn session(&self, network: &HostNetwork) -> turmoil::Result<bool> {
        let session = self.next_session();
        let name = self.worker.name.clone();
        self.watch.begins(&name, session);
        let (watch, listener) = (self.watch.clone(), name.clone());
        network.listen_in(move |connection, bytes| {
            watch.heard(&listener, session, connection, bytes);
        });
        let channel = network.connect_lazy(&network::endpoint("arena", PORT)?);
        if self.worker.forgery == Some(Forgery::Everything) {
            let watch = self.watch.clone();
            let mut forger = Forger::new(name, session, channel, self.bearer()?, watch);
            // Then the tournaments are to end.
            return Ok(forger.run(FAULTS).await && self.watch.now() < FAULTS);
        }
        let machine = self.machine();
        let seed = u64::from_be_bytes(session.0[..8].try_into()?);
        let options = RemoteOptions {
            name: name.clone(),
            session,
            machine: machine.clone(),
            bearer: self.bearer()?,
            gauge: Box::new(|| (0, Duration::ZERO)),
            jitter_seed: seed,
        };
        let remote = Arc::new(RemoteDispatch::new(channel, options, Arc::new(schemes())));
        let (stop, leave) = (Stop::default(), CancellationToken::new());
        let games = Functions::new(!seed, self.worker.forgery, self.archives.clone());
        let worker = Worker {
            name,
            session: Some(session),
            can: Arc::new(Abilities::Remote(machine)),
            scope: None,
            games_at_once: self.worker.games_at_once,
            bounds: ChunkBounds::default(),
            dispatch: remote.clone(),
            games: Arc::new(games),
            stop: stop.clone(),
        };
        let working = async {
            let worked = worker.run().await;
            leave.cancel();
            worked
        };
        let (worked, attended) = tokio::select! {
            biased;
            ended = async { tokio::join!(working, remote.attend(&leave)) } => ended,
            never = self.stop_later(&stop) => match never {},
        };
        match (worked, attended) {
            (Ok(()), Ok(())) => Ok(true),
            (_, Err(refused)) => {
                self.watch.refuses(&self.worker.name, &refused.to_string());
                Ok(false)
            }
            (Err(error), Ok(())) if error.to_string().contains("refuses") => {
                self.watch.refuses(&self.worker.name, &error.to_string());
                Ok(false)
            }
            (Err(WorkError::Archive(error)), Ok(())) => {
                // The process ends, and is started again.
                self.watch.tell(&self.worker.name, &error.to_string());
                self.watch.count("archive refused");
                tokio::time::sleep(RESTART).await;
                Ok(true)
            }
            (Err(error), Ok(())) => Err(error.into()),
        }
    }

    async fn stop_later(&self, stop: &Stop) -> std::convert::Infallible {
        if let Some((time, leave)) = self.worker.leaves {
            tokio::time::sleep(time).await;
            match leave {
                Leave::Finish => stop.finish(),
                Leave::CutOff => stop.cut_off(),
            }
        }
        std::future::pending().await
    }

    fn bearer(&self) -> turmoil::Result<Option<Bearer>> {
        let Some(token) = &self.token else {
            return Ok(None);
        };
        let server = format!("http://arena:{PORT}").parse()?;
        Ok(Some(Bearer::new(token, &server, true)?))
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
            host: self.worker.name.clone(),
            cores: 1,
            games_at_once: self.worker.games_at_once as u32,
            games: GAMES
                .iter()
                .map(|game| game.info().name.to_owned())
                .collect(),
            ..Machine::default()
        }
    }
}

/// The kinds of bots: functions, and those that are in an archive.
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
