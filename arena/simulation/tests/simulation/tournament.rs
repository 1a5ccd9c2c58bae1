//! A simulated tournament: an arena and its workers, all of them the real thing over a
//! network that is not. A seed decides what is played, by whom, and what goes wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use arena_dispatch::{
    Access, DispatchService, Examines, Replays, ServiceOptions, TournamentOptions, Tournaments,
};
use arena_ladder::{ScheduleShape, Seatings, SetAsideRule};
use arena_proto::arena::v1::dispatch_server::DispatchServer;
use arena_simulation::{
    Beside, Failure, FaultTable, HostClock, Options, Simulation, Trace,
    network::{self, Network},
};
use arena_store::{
    GameFilter, GameRow, NewEntrant, NewTournament, ScoredGroup, Store, TournamentId, Wish,
};
use arena_tournament::{Definition, Results as _, Silent, StoredResults};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use referee_core::{Limits, Root};
use tokio_util::sync::CancellationToken;

use crate::{
    player::{Forgery, PORT, Player, schemes},
    reference,
    storage::BesideStorage,
    watch::{Defect, Watch, Watched},
};

/// How long a lease is kept without a sign of its worker.
const LEASE: Duration = Duration::from_secs(8);
/// When the last incident ends.
const FAULTS: Duration = Duration::from_secs(30);
/// How long a step of the simulation is. A shorter one takes longer in real time, also where
/// nothing happens.
const TICK: Duration = Duration::from_millis(20);
/// How long a tournament may then take to its end.
const RECOVERY: Duration = Duration::from_secs(120);

/// A simulated tournament.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedTournament {
    seed: u64,
    root: [u8; 32],
    game: &'static str,
    shape: ScheduleShape,
    entrants: usize,
    deals: u64,
    workers: Vec<SimulatedWorker>,
    faults: FaultTable,
    pub(crate) defect: Defect,
}

#[derive(Clone, Debug)]
struct SimulatedWorker {
    games_at_once: usize,
    joins_after: Duration,
    leaves_after: Option<Duration>,
    forgery: Option<Forgery>,
}

/// What came of it, whoever played.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    /// By group and seating.
    games: BTreeMap<(u64, u32), CameOut>,
    groups: BTreeMap<u64, ScoredGroup>,
}

/// How a game came out: its play hash, places and scores.
type CameOut = (String, Vec<u8>, Vec<i32>);

/// A simulation that has ended well.
pub(crate) struct Ended {
    pub(crate) trace: Trace,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) refused: BTreeSet<String>,
}

impl SimulatedTournament {
    /// The one of this seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let mut below = |n: u64| chance.next_u64() % n;
        let (game, entrants) = match below(6) {
            0 => ("mahjong", 3),
            1 => ("big_two", 4),
            2 => ("othello", 3),
            _ => ("connect_four", 3 + below(3) as usize),
        };
        let shape = match below(4) {
            0 if game != "big_two" => ScheduleShape::Swiss { rounds: Some(2) },
            1 if game != "big_two" => ScheduleShape::SingleElimination { third_place: true },
            _ => ScheduleShape::RoundRobin {},
        };
        let count = 2 + below(3);
        let mut workers: Vec<SimulatedWorker> = (0..count)
            .map(|_| SimulatedWorker {
                games_at_once: 1 + below(3) as usize,
                joins_after: Duration::from_millis(below(3) * below(8000)),
                leaves_after: (below(3) == 0).then(|| Duration::from_millis(2000 + below(20_000))),
                forgery: None,
            })
            .collect();
        if below(3) == 0 {
            workers.push(SimulatedWorker {
                games_at_once: 1,
                joins_after: Duration::from_millis(below(5000)),
                leaves_after: None,
                forgery: Some(match below(2) {
                    0 => Forgery::Result,
                    _ => Forgery::Seed,
                }),
            });
        }
        let deals = 3 + below(6);
        let mut root = [0; 32];
        chance.fill_bytes(&mut root);
        Self {
            seed,
            root,
            game,
            shape,
            entrants,
            deals,
            workers,
            faults: FaultTable::everything(FAULTS),
            defect: Defect::None,
        }
    }

    /// Runs it, and looks whether it came out as where nothing goes wrong.
    pub(crate) fn check(&self, beside: &Beside) -> Result<Ended, Failure> {
        let bots: Vec<String> = (0..self.entrants)
            .map(|number| format!("bot-{number}=sim:bot-{number}"))
            .collect();
        let expected = reference::table(self.definition(), &bots, Root::new(self.root));
        self.run(beside, Some(&expected))
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, beside: &Beside, expected: Option<&Table>) -> Result<Ended, Failure> {
        let (store, id) = beside.call(self.clone().store());
        let options = Options {
            faults: self.faults.clone(),
            limit: FAULTS + RECOVERY,
            test: "a_tournament_ends",
            tick: TICK,
            ..Options::default()
        };
        let mut simulation = Simulation::new(self.seed, options);
        let trace = simulation.trace();
        trace.tell("simulation", format_args!("{self:?}"));
        let root = Root::new(self.root);
        let watch = Watch::new(trace.clone(), self.defect, self.game, &root);
        let arena = Arena {
            store: store.clone(),
            beside: beside.clone(),
            clock: simulation.clock("arena"),
            seed: simulation.draw_seed(),
            watch: watch.clone(),
        };
        simulation.host("arena", move |network| arena.clone().serve(network));
        for (number, worker) in self.workers.iter().enumerate() {
            let name = match worker.forgery {
                None => format!("worker-{number}"),
                Some(_) => format!("forger-{number}"),
            };
            let player = Player {
                name: name.clone(),
                seed: simulation.draw_seed(),
                games_at_once: worker.games_at_once,
                joins_after: worker.joins_after,
                leaves_after: worker.leaves_after,
                longest_game: Duration::from_millis(2500),
                forgery: worker.forgery,
                watch: watch.clone(),
                processes: Arc::default(),
            };
            simulation.host(&name, move |network| player.clone().work(network));
            simulation.link("arena", &name);
        }
        let trace = simulation.run(|_| {
            if let Some(broken) = watch.broken() {
                return Err(broken);
            }
            if !watch.is_over() {
                return Ok(false);
            }
            let (games, groups) = beside.call(results(store.clone(), id));
            let found = self.table(&games, groups)?;
            if let Some(expected) = expected {
                compare(&found, expected)?;
            }
            Ok(true)
        })?;
        let ended = Ended {
            trace,
            counts: watch.counts(),
            refused: watch.refused(),
        };
        Ok(ended)
    }

    /// The table, where each game was played once, and by somebody who plays fair.
    fn table(
        &self,
        games: &[GameRow],
        groups: BTreeMap<u64, ScoredGroup>,
    ) -> Result<Table, String> {
        let by_forger = |row: &&GameRow| {
            let worker = row.worker.as_deref();
            worker.is_none_or(|worker| !worker.starts_with("worker-"))
        };
        if let Some(row) = games.iter().find(by_forger) {
            let (group, seating) = (row.group, row.seating);
            return Err(format!(
                "game {group}.{seating} counts, and was reported by {:?}",
                row.worker
            ));
        }
        let table = Table::new(games, groups)?;
        if let (ScheduleShape::RoundRobin {}, false) = (&self.shape, self.game == "big_two") {
            let n = self.entrants as u64;
            let planned = n * (n - 1) / 2 * self.deals * 2;
            if games.len() as u64 != planned {
                return Err(format!(
                    "the schedule has {planned} games, {} were stored",
                    games.len()
                ));
            }
        }
        Ok(table)
    }

    fn definition(&self) -> Definition {
        let kind = referee_games::game(self.game).expect("a game");
        let setup = kind.setup(&serde_json::Value::Null);
        Definition {
            game: self.game.to_owned(),
            shape: self.shape.clone(),
            deals: self.deals,
            seatings: Seatings::Rotations,
            setups: vec![setup.expect("the standard set-up")],
            limits: Limits::default(),
            memory_mib: None,
            sprt: None,
            patience: SetAsideRule::default(),
            filler: "sim:filler".to_owned(),
            time: None,
            directory: PathBuf::new(),
        }
    }

    async fn store(self) -> (Store, TournamentId) {
        let store = Store::open_in_memory().await.expect("a store");
        let kind = referee_games::game(self.game).expect("a game");
        let entrant = |number| NewEntrant {
            name: format!("bot-{number}"),
            version: "1".to_owned(),
            spec: format!("sim:bot-{number}"),
            owner: None,
            identity: None,
        };
        let new = NewTournament {
            name: "simulated".to_owned(),
            game: self.game.to_owned(),
            rules_version: kind.info().rules_version,
            definition: serde_json::to_value(self.definition()).expect("a definition"),
            root: Root::new(self.root),
            reproduction: false,
            entrants: (0..self.entrants).map(entrant).collect(),
            created_unix_ms: 0,
        };
        let id = store.create(&new).await.expect("a tournament").id;
        let wished = store.set_wish(id, Some(Wish::Play)).await;
        wished.expect("a wish");
        (store, id)
    }
}

impl Table {
    /// The table of these games.
    pub(crate) fn new(
        games: &[GameRow],
        groups: BTreeMap<u64, ScoredGroup>,
    ) -> Result<Self, String> {
        let rows = games.iter().map(|row| {
            let came_out = (
                row.play_hash.clone(),
                row.places.clone(),
                row.scores.clone(),
            );
            ((row.group, row.seating), came_out)
        });
        let by_key: BTreeMap<_, _> = rows.collect();
        if by_key.len() != games.len() {
            return Err("a game counts twice".to_owned());
        }
        Ok(Self {
            games: by_key,
            groups,
        })
    }
}

/// Everything that was stored.
async fn results(store: Store, id: TournamentId) -> (Vec<GameRow>, BTreeMap<u64, ScoredGroup>) {
    let games = store.games(id, &GameFilter::default(), 100_000).await;
    let groups = StoredResults::of(&store, id).scores().await;
    (games.expect("games"), groups.expect("scores"))
}

/// Whether a table is that of an undisturbed run.
fn compare(found: &Table, expected: &Table) -> Result<(), String> {
    for (key, game) in &expected.games {
        match found.games.get(key) {
            None => return Err(format!("game {}.{} is lost", key.0, key.1)),
            Some(found) if found != game => {
                return Err(format!(
                    "game {}.{} came out as {found:?}, undisturbed as {game:?}",
                    key.0, key.1
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(key) = found
        .games
        .keys()
        .find(|key| !expected.games.contains_key(key))
    {
        return Err(format!("game {}.{} is not in the schedule", key.0, key.1));
    }
    for (group, score) in &expected.groups {
        let found = found.groups.get(group);
        if found != Some(score) {
            return Err(format!(
                "group {group} has the score {found:?}, undisturbed {score:?}"
            ));
        }
    }
    Ok(())
}

/// What outlives a crash of the arena's host.
#[derive(Clone)]
struct Arena {
    store: Store,
    beside: Beside,
    clock: HostClock,
    seed: u64,
    watch: Watch,
}

impl Arena {
    async fn serve(self, network: Network) -> turmoil::Result {
        let storage = BesideStorage::new(self.store, self.beside, self.watch.clone(), self.seed);
        let options = TournamentOptions {
            lease: LEASE,
            live: false,
            clock: self.clock.wall_clock(),
        };
        let observer = Box::new(|_: &str, _: &arena_tournament::Plan| Arc::new(Silent) as Arc<_>);
        let tournaments = Arc::new(Tournaments::new(storage, schemes(), options, observer));
        let mut sample_seed = [0; 32];
        sample_seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        let options = ServiceOptions {
            access: Access::Open,
            replays: Replays::All,
            sample_seed,
            examines: Examines::Inline,
            plays_here: false,
        };
        let stop = CancellationToken::new();
        let service = DispatchService::new(tournaments.clone(), options, stop.clone());
        let watched = Watched {
            service: service.clone(),
            watch: self.watch,
        };
        let incoming = network.incoming(PORT).await?;
        let serving = network::server()
            .add_service(DispatchServer::new(watched))
            .serve_with_incoming(incoming);
        let (served, (), ()) =
            tokio::join!(serving, service.look_after(), tournaments.supervise(&stop));
        Ok(served?)
    }
}
