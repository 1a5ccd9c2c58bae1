//! A toy of an arena and its workers: a worker leases a chunk for each game, talks on a
//! stream in both directions, and reports until it is told that the game is stored. The
//! store is the real one, and so is all of gRPC.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc, sync::Arc, time::Duration};

use arena_ladder::{Entrant, MatchId};
use arena_proto::{
    arena::v1::{
        GameEvent, GameFinished, GameSpec, GameStarted,
        game_event::Event,
        referee_client::RefereeClient,
        referee_server::{Referee, RefereeServer},
    },
    games::connect_four::v1::{
        ConnectFourAnswer, ConnectFourCall,
        connect_four_bot_client::ConnectFourBotClient,
        connect_four_bot_server::{ConnectFourBot, ConnectFourBotServer},
    },
};
use arena_simulation::{
    Beside, BesideResults, FaultTable, HostClock, Pace, Simulation, SimulationFailure,
    SimulationOptions, Trace, commit_pacing,
    network::{self, HostNetwork},
};
use arena_store::{
    ChunkKey, FinishedGame, GameFilter, GameRow, NewEntrant, NewTournament, Store, TournamentId,
    pack_for_store,
};
use arena_tournament::{Results as _, StoredResults};
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use referee_core::Root;
use referee_worker::lease::ChunkId;
use tonic::{Request, Response, Status, Streaming, transport::Channel};

const PORT: u16 = 80;
/// Shorter than a connection takes to notice that the other end is gone, so that both happen.
const PATIENCE: Duration = Duration::from_secs(3);

/// Settings of a toy tournament.
#[derive(Clone)]
pub(crate) struct Toy {
    pub(crate) workers: u64,
    pub(crate) games_each: u64,
    /// Time that a worker waits before each game.
    pub(crate) pause: Duration,
    pub(crate) faults: FaultTable,
}

impl Toy {
    /// Runs it until every game has been stored, and looks whether each counts once.
    pub(crate) fn run(&self, beside: &Beside, seed: u64) -> Result<Trace, SimulationFailure> {
        let (store, id) = beside.call(new_store());
        let options = SimulationOptions {
            faults: self.faults.clone(),
            test: "every_seed_ends",
            ..SimulationOptions::default()
        };
        let mut simulation = Simulation::new(seed, options);
        let trace = simulation.trace();
        let disk = Disk {
            store: store.clone(),
            id,
            beside: beside.clone(),
            clock: simulation.clock("arena"),
            seed: simulation.draw_seed(),
            trace: trace.clone(),
        };
        simulation.host("arena", move |network| disk.clone().serve(network));
        let done: Rc<RefCell<BTreeSet<String>>> = Rc::default();
        for number in 0..self.workers {
            let worker = Worker {
                name: format!("worker-{number}"),
                pause: self.pause,
                games: number * self.games_each..(number + 1) * self.games_each,
                clock: simulation.clock(&format!("worker-{number}")),
                trace: trace.clone(),
                done: done.clone(),
            };
            let name = worker.name.clone();
            simulation.host(&name, move |network| worker.clone().work(network));
            simulation.link("arena", &name);
        }
        let games = self.workers * self.games_each;
        simulation.run(|_| {
            if (done.borrow().len() as u64) < self.workers {
                return Ok(false);
            }
            let store = store.clone();
            match beside.call(stored(store, id)) {
                counted if counted == (games / 2, games) => Ok(true),
                counted => Err(format!("of {games} games there are {counted:?}")),
            }
        })
    }
}

/// Number of complete groups, and number of games.
async fn stored(store: Store, id: TournamentId) -> (u64, u64) {
    let all = GameFilter::default();
    let games = store.games(id, &all, 10_000).await.expect("games");
    let scores = StoredResults::of(&store, id).scores().await;
    (scores.expect("scores").len() as u64, games.len() as u64)
}

async fn new_store() -> (Store, TournamentId) {
    let store = Store::open_in_memory().await.expect("a store");
    let entrant = |name: &str| NewEntrant::new(name, format!("house:{name}"));
    let new = NewTournament {
        name: "toy".to_owned(),
        game: "bids".to_owned(),
        rules_version: 1,
        definition: Default::default(),
        root: Root::new([7; 32]),
        reproduction: false,
        entrants: vec![entrant("a"), entrant("b")],
        created_unix_ms: 0,
    };
    let id = store.create(&new).await.expect("a tournament").id;
    (store, id)
}

/// Parts that outlive a crash of the arena's host, and that it starts with.
#[derive(Clone)]
struct Disk {
    store: Store,
    id: TournamentId,
    beside: Beside,
    clock: HostClock,
    seed: u64,
    trace: Trace,
}

impl Disk {
    async fn serve(self, network: HostNetwork) -> turmoil::Result {
        let (store, id) = (self.store.clone(), self.id);
        let stored = self.beside.call(async move {
            StoredResults::writing_paced(&store, id, commit_pacing(), |_| {}).await
        })?;
        let stored = stored.with_clock(self.clock.wall_clock());
        let pace = Pace::new(Duration::from_millis(20), self.seed);
        let results = BesideResults::new(stored, self.beside.clone(), pace);
        self.trace.tell("arena", "starts");
        let arena = Arena {
            results: Arc::new(results),
            trace: self.trace,
            clock: self.clock,
        };
        network::server()
            .add_service(RefereeServer::new(arena.clone()))
            .add_service(ConnectFourBotServer::new(arena))
            .serve_with_incoming(network.incoming(PORT).await?)
            .await?;
        Ok(())
    }
}

#[derive(Clone)]
struct Arena {
    results: Arc<BesideResults<StoredResults>>,
    clock: HostClock,
    trace: Trace,
}

#[tonic::async_trait]
impl Referee for Arena {
    type PlayGameStream = BoxStream<'static, Result<GameEvent, Status>>;

    /// Leases the chunk of a game, and stores the game as finished.
    async fn play_game(
        &self,
        request: Request<GameSpec>,
    ) -> Result<Response<Self::PlayGameStream>, Status> {
        let from = request.remote_addr().map(|at| at.ip());
        let game_id = request.into_inner().game_id;
        let number: u64 = game_id.parse().map_err(|_| Status::not_found("no game"))?;
        let game = game(number, &self.clock);
        let chunk = ChunkId {
            matchup: 0,
            first_group: number / 2,
            groups: 1,
            seating: Some((number % 2) as u32),
        };
        let failed = |error: arena_tournament::TournamentError| Status::internal(error.to_string());
        let lease = self.results.lease(chunk, "worker", None, PATIENCE).await;
        let attempt = lease.map_err(failed)?;
        let game = FinishedGame { attempt, ..game };
        let reported = self.results.report(&game_id, game).await.map_err(failed)?;
        let what = format!("game {game_id} of {from:?}, attempt {attempt}: {reported:?}");
        self.trace.tell("arena", what);
        let events = [
            Event::Started(GameStarted { game_id }),
            Event::Finished(GameFinished::default()),
        ];
        let events = events.map(|event| Ok(GameEvent { event: Some(event) }));
        Ok(Response::new(futures_util::stream::iter(events).boxed()))
    }
}

#[tonic::async_trait]
impl ConnectFourBot for Arena {
    type PlayStream = BoxStream<'static, Result<ConnectFourAnswer, Status>>;

    /// Answers every call with its number.
    async fn play(
        &self,
        calls: Request<Streaming<ConnectFourCall>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let answer = |call: Result<ConnectFourCall, Status>| {
            call.map(|call| ConnectFourAnswer {
                number: call.number,
                answer: None,
            })
        };
        Ok(Response::new(calls.into_inner().map(answer).boxed()))
    }
}

#[derive(Clone)]
struct Worker {
    name: String,
    games: std::ops::Range<u64>,
    pause: Duration,
    clock: HostClock,
    trace: Trace,
    done: Rc<RefCell<BTreeSet<String>>>,
}

impl Worker {
    async fn work(self, network: HostNetwork) -> turmoil::Result {
        let endpoint = network::endpoint("arena", PORT)?;
        let channel = network.connect_lazy(&endpoint);
        for game in self.games.clone() {
            tokio::time::sleep(self.pause).await;
            loop {
                let told = match tokio::time::timeout(PATIENCE, play(&channel, game)).await {
                    Ok(Ok(())) => "stored".to_owned(),
                    Ok(Err(status)) => format!("{:?}", status.code()),
                    Err(_) => "no answer".to_owned(),
                };
                let clock = arena_tournament::unix_ms(self.clock.now());
                let what = format!("game {game}: {told} at {clock}");
                self.trace.tell(&self.name, what);
                if told == "stored" {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
        self.done.borrow_mut().insert(self.name);
        // It stays, so that a later crash finds it and starts it again.
        std::future::pending().await
    }
}

/// Plays a game: three calls on a stream in both directions, then the report.
async fn play(channel: &Channel, game: u64) -> Result<(), Status> {
    let calls = calls();
    let mut bot = ConnectFourBotClient::new(channel.clone());
    let mut answers = bot.play(calls).await?.into_inner();
    for number in 0..3 {
        let answer = answers.message().await?;
        if answer.and_then(|answer| answer.number) != Some(number) {
            return Err(Status::data_loss("another answer"));
        }
    }
    let spec = GameSpec {
        game_id: game.to_string(),
        ..GameSpec::default()
    };
    let mut referee = RefereeClient::new(channel.clone());
    let mut events = referee.play_game(spec).await?.into_inner();
    while let Some(event) = events.message().await? {
        if let Some(Event::Finished(_)) = event.event {
            return Ok(());
        }
    }
    Err(Status::data_loss("no end"))
}

/// A call every ten milliseconds.
fn calls() -> impl Stream<Item = ConnectFourCall> + Send + 'static {
    futures_util::stream::iter(0..3).then(|number| async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        ConnectFourCall {
            number: Some(number),
            ..ConnectFourCall::default()
        }
    })
}

fn game(number: u64, clock: &HostClock) -> FinishedGame {
    let (group, seating) = (number / 2, (number % 2) as u32);
    FinishedGame {
        row: GameRow {
            group,
            seating,
            games_in_group: 2,
            matchup: MatchId(0),
            lineup: vec![Some(Entrant::new(0)), Some(Entrant::new(1))],
            order: if seating == 0 { vec![0, 1] } else { vec![1, 0] },
            places: vec![1, 2],
            scores: vec![1, -1],
            reason: "it is a toy".to_owned(),
            fouls: Vec::new(),
            plies: 3,
            thought_us: vec![1, 1],
            course: number,
            play_hash: format!("{number:064x}"),
            worker: None,
            finished_unix_ms: arena_tournament::unix_ms(clock.now()),
            counters: Vec::new(),
        },
        chunk: ChunkKey {
            matchup: MatchId(0),
            first_group: group,
            groups: 1,
            seating: Some(seating),
        },
        attempt: 0,
        record: pack_for_store(&format!("the record of {number}\n")),
        withhold: false,
        logs: Vec::new(),
    }
}
