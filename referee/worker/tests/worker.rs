//! A worker without a dispatcher: a list of replies stands for it, and what the worker
//! says is written down. Its bots are at addresses where nobody listens, or where nobody
//! answers, so no process is started.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{
    collections::{BTreeSet, VecDeque},
    num::NonZeroU64,
    process::Command,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use referee::{BotDial, Pool};
use referee_bots::{BotAddress, BotOptions, Entry, LaunchOptions, Schemes};
use referee_core::{FoulKind, Limits, Seed};
use referee_worker::{
    Abilities, BotGames, BotPool, ChunkBounds, Dispatch, DispatchError, Packer, Stop, WorkError,
    Worker, WorkerGroup, WorkerIdentity,
    lease::{
        Assignment, ChunkId, GameKey, GameReport, GiveBack, Lease, LeaseId, LeaseReply,
        LeaseRequest, LeasedBot, ReportReply, RunId,
    },
};
use tokio::net::UnixListener;

/// No test waits longer.
const HANGS: Duration = Duration::from_secs(30);

/// Replies to one request after the other. When there is none left, who asks waits for
/// ever.
#[derive(Default)]
struct Replies {
    replies: Mutex<VecDeque<Result<LeaseReply, DispatchError>>>,
    /// Seatings that are not wanted.
    unwanted: BTreeSet<u32>,
    /// The stop that is requested when this seating is about to be played.
    stop: Option<(u32, Stop)>,
    heard: Mutex<Heard>,
}

/// The messages of a worker.
#[derive(Default)]
struct Heard {
    requests: Vec<LeaseRequest>,
    reports: Vec<GameReport>,
    given_back: Vec<GiveBack>,
}

impl Replies {
    fn new(replies: impl IntoIterator<Item = LeaseReply>) -> Self {
        Self {
            replies: Mutex::new(replies.into_iter().map(Ok).collect()),
            ..Self::default()
        }
    }

    fn requests(&self) -> usize {
        self.heard.lock().requests.len()
    }

    /// The seatings that were reported, in order.
    fn reported(&self) -> Vec<u32> {
        let heard = self.heard.lock();
        let seatings = heard.reports.iter().map(|report| report.key.seating);
        let seatings: BTreeSet<u32> = seatings.collect();
        assert_eq!(
            seatings.len(),
            heard.reports.len(),
            "a game was reported twice"
        );
        seatings.into_iter().collect()
    }

    /// The seatings that were given back of the only chunk.
    fn unplayed(&self) -> Vec<u32> {
        let heard = self.heard.lock();
        let [given_back] = &heard.given_back[..] else {
            panic!("{:?}", heard.given_back);
        };
        let unplayed = given_back.unplayed.iter();
        unplayed.map(|game| game.seating).collect()
    }
}

impl Dispatch for Replies {
    async fn lease(&self, request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        self.heard.lock().requests.push(request);
        let reply = self.replies.lock().pop_front();
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }

    async fn renew(&self, _: LeaseId) -> Result<bool, DispatchError> {
        Ok(true)
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        self.heard.lock().reports.push(report);
        Ok(ReportReply::Accepted)
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        self.heard.lock().given_back.push(give_back);
        Ok(())
    }

    async fn is_wanted(&self, _: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        if let Some((seating, stop)) = &self.stop
            && *seating == game.seating
        {
            stop.finish();
        }
        Ok(!self.unwanted.contains(&game.seating))
    }
}

/// A worker that plays one game at a time.
fn worker(dispatch: &Arc<Replies>, stop: &Stop) -> Worker<Replies, BotGames> {
    // It reads its input to the end, as a supervisor does.
    let context = LaunchOptions::new(Command::new("cat"))
        .open(".".into())
        .unwrap();
    Worker {
        name: "worker".to_owned(),
        games_at_once: 1,
        bounds: ChunkBounds::default(),
        dispatch: dispatch.clone(),
        session: None,
        can: Arc::new(Abilities::Local),
        scope: None,
        games: Arc::new(BotGames {
            bots: Arc::new(BotPool::new(context)),
            pool: Arc::new(Pool::new(1).unwrap()),
            packer: Arc::new(Packer::start(1).unwrap()),
        }),
        stop: stop.clone(),
    }
}

async fn run(dispatch: &Arc<Replies>, stop: &Stop) -> Result<(), WorkError> {
    let running = worker(dispatch, stop).run();
    let ended = tokio::time::timeout(HANGS, running).await;
    ended.expect("the worker ends")
}

/// A lease of so many games of one deal between two bots at addresses, which have so
/// long to start.
fn lease(bots: [&str; 2], start_limit: Duration, games: u32) -> LeaseReply {
    let schemes = Schemes::with(Vec::new());
    let bots = bots.map(|spec| LeasedBot {
        name: spec.to_owned(),
        entry: Entry::read(&format!("bot={spec}"), &schemes).unwrap(),
        options: BotOptions {
            start_limit,
            memory_limit: None,
            measure_memory: false,
            directory: None,
        },
        budget: true,
    });
    let chunk = ChunkId {
        matchup: 0,
        first_group: 3,
        groups: 1,
        seating: None,
    };
    let games = (0..games).map(|seating| Assignment {
        key: GameKey { group: 3, seating },
        game_id: format!("game-{seating}"),
        setup: serde_json::Value::Null,
        seed: Seed::new([3; 32]),
        order: vec![0, 1],
    });
    LeaseReply::Work(Box::new(Lease {
        id: LeaseId {
            run: RunId(0),
            chunk,
            attempt: 1,
        },
        valid_for: HANGS,
        game: "connect_four".to_owned(),
        limits: Limits {
            start: start_limit,
            ..Limits::default()
        },
        bots: bots.to_vec(),
        fresh_processes: false,
        series: false,
        records: false,
        logs: false,
        live: false,
        games: games.collect(),
    }))
}

/// A lease whose bots are nowhere, so that every game ends with two fouls.
fn of_nobody(games: u32) -> LeaseReply {
    let bots = ["unix:/nowhere/first", "unix:/nowhere/second"];
    lease(bots, Duration::from_millis(50), games)
}

#[tokio::test]
async fn a_worker_can_run_on_any_thread() {
    fn must_be_send<T: Send>(it: T) -> T {
        it
    }
    let dispatch = Arc::new(Replies::new([LeaseReply::Over]));
    let running = must_be_send(worker(&dispatch, &Stop::default()).run());
    tokio::spawn(running).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_worker_asks_again_until_there_is_no_work_left() {
    let dispatch = Arc::new(Replies::new([
        LeaseReply::Wait,
        LeaseReply::Wait,
        LeaseReply::Over,
        LeaseReply::Wait,
    ]));
    run(&dispatch, &Stop::default()).await.unwrap();
    assert_eq!(dispatch.requests(), 3);
}

#[tokio::test]
async fn a_worker_that_waits_for_a_lease_can_be_stopped() {
    let dispatch = Arc::new(Replies::default());
    let stop = Stop::default();
    let running = tokio::spawn(worker(&dispatch, &stop).run());
    while dispatch.requests() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_finished());
    stop.finish();
    let ended = tokio::time::timeout(HANGS, running).await;
    ended.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_worker_that_is_stopped_already_asks_for_nothing() {
    let dispatch = Arc::new(Replies::new([of_nobody(1)]));
    let stop = Stop::default();
    stop.finish();
    run(&dispatch, &stop).await.unwrap();
    assert_eq!(dispatch.requests(), 0);
}

#[tokio::test]
async fn a_game_that_is_not_known_is_an_error_that_says_why() {
    let LeaseReply::Work(mut lease) = of_nobody(1) else {
        unreachable!("it is work");
    };
    lease.game = "go".to_owned();
    let dispatch = Arc::new(Replies::new([LeaseReply::Work(lease)]));
    let error = run(&dispatch, &Stop::default()).await.unwrap_err();
    let words = "there is no game \"go\" here: the dispatcher is of another version";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn a_dispatcher_that_fails_ends_the_worker() {
    let dispatch = Arc::new(Replies::default());
    let failed = Err(DispatchError::new("the store is full"));
    dispatch.replies.lock().push_back(failed);
    let error = run(&dispatch, &Stop::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "the store is full");
}

#[tokio::test]
async fn every_game_of_a_chunk_is_reported_and_nothing_is_given_back() {
    let dispatch = Arc::new(Replies::new([of_nobody(3), LeaseReply::Over]));
    run(&dispatch, &Stop::default()).await.unwrap();
    assert_eq!(dispatch.reported(), [0, 1, 2]);
    assert_eq!(dispatch.unplayed(), [0; 0]);
    for report in &dispatch.heard.lock().reports {
        assert_eq!(
            (report.lease.chunk.first_group, report.lease.attempt),
            (3, 1)
        );
        assert_eq!(report.record, None);
        let fouls = report.summary.fouls.iter();
        let fouls: Vec<FoulKind> = fouls.map(|foul| foul.foul.kind()).collect();
        assert_eq!(fouls, [FoulKind::Unreachable; 2]);
    }
}

#[tokio::test]
async fn a_record_is_reported_where_the_lease_wants_one() {
    let LeaseReply::Work(mut lease) = of_nobody(1) else {
        unreachable!("it is work");
    };
    lease.records = true;
    let dispatch = Arc::new(Replies::new([LeaseReply::Work(lease), LeaseReply::Over]));
    run(&dispatch, &Stop::default()).await.unwrap();
    let record = dispatch.heard.lock().reports[0].record.clone();
    let text = referee_core::pack::unpack(&record.unwrap()).unwrap();
    assert!(text.contains("\"game-0\""), "{text}");
    assert!(dispatch.heard.lock().reports[0].logs.is_empty());
}

#[tokio::test]
async fn the_log_of_each_seat_is_reported_where_the_lease_wants_it() {
    let LeaseReply::Work(mut lease) = of_nobody(2) else {
        unreachable!("it is work");
    };
    lease.logs = true;
    let dispatch = Arc::new(Replies::new([LeaseReply::Work(lease), LeaseReply::Over]));
    run(&dispatch, &Stop::default()).await.unwrap();
    // Bots that run somewhere print nothing here.
    for report in &dispatch.heard.lock().reports {
        assert_eq!(report.logs, ["", ""]);
    }
}

#[tokio::test]
async fn games_that_are_not_wanted_are_neither_played_nor_given_back() {
    let dispatch = Arc::new(Replies {
        unwanted: BTreeSet::from([0, 2]),
        ..Replies::new([of_nobody(4), LeaseReply::Over])
    });
    run(&dispatch, &Stop::default()).await.unwrap();
    assert_eq!(dispatch.reported(), [1, 3]);
    assert_eq!(dispatch.unplayed(), [0; 0]);
}

#[tokio::test]
async fn a_worker_that_is_asked_to_stop_finishes_its_game_and_gives_back_the_rest() {
    let stop = Stop::default();
    let dispatch = Arc::new(Replies {
        stop: Some((1, stop.clone())),
        ..Replies::new([of_nobody(4), LeaseReply::Over])
    });
    run(&dispatch, &stop).await.unwrap();
    assert_eq!(dispatch.reported(), [0, 1]);
    assert_eq!(dispatch.unplayed(), [2, 3]);
    assert_eq!(dispatch.requests(), 1);
}

#[tokio::test]
async fn a_game_that_is_cut_off_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bot");
    let silent = UnixListener::bind(&path).unwrap();
    let address = format!("unix:{}", path.display());
    let stop = Stop::default();
    let work = lease([&address, "unix:/nowhere"], HANGS * 2, 2);
    let dispatch = Arc::new(Replies::new([work]));
    let running = tokio::spawn(worker(&dispatch, &stop).run());
    let connected = tokio::time::timeout(HANGS, silent.accept()).await;
    // Who has connected waits for ever.
    let _connection = connected.unwrap().unwrap();
    stop.cut_off();
    let ended = tokio::time::timeout(HANGS, running).await;
    ended.unwrap().unwrap().unwrap();
    assert_eq!(dispatch.reported(), [0; 0]);
    assert_eq!(dispatch.unplayed(), [0, 1]);
}

/// Workers that play so many games at once within these bounds, until they end.
async fn run_within(bounds: ChunkBounds, at_once: usize, dispatch: &Arc<Replies>) {
    let context = LaunchOptions::new(Command::new("cat"))
        .open(".".into())
        .unwrap();
    let workers = WorkerGroup::start(context, at_once).unwrap();
    let workers = workers.with_bounds(bounds);
    let who = WorkerIdentity {
        name: "worker".to_owned(),
        session: None,
        can: Arc::new(Abilities::Local),
        scope: None,
    };
    let stop = Stop::default();
    let running = workers.run(dispatch.clone(), who, &stop);
    let ended = tokio::time::timeout(HANGS, running).await;
    ended.expect("the workers end").unwrap();
    workers.close().await;
}

#[tokio::test]
async fn workers_end_after_so_many_chunks_in_all() {
    for at_once in [1, 2, 5] {
        let dispatch = Arc::new(Replies::new([
            of_nobody(1),
            LeaseReply::Wait,
            of_nobody(1),
            of_nobody(1),
            of_nobody(1),
            of_nobody(1),
        ]));
        let bounds = ChunkBounds::new(NonZeroU64::new(3), NonZeroU64::new(7));
        run_within(bounds, at_once, &dispatch).await;
        let heard = dispatch.heard.lock();
        assert_eq!(heard.given_back.len(), 3, "{at_once} at once");
        assert_eq!(heard.reports.len(), 3);
        assert_eq!(heard.requests.len(), 4, "three chunks and a wait");
        assert!(heard.requests.iter().all(|request| request.games == 7));
    }
}

#[tokio::test]
async fn workers_without_bounds_go_on_until_there_is_no_work_left() {
    let over = [LeaseReply::Over, LeaseReply::Over];
    let leases = (0..4).map(|_| of_nobody(1)).chain(over);
    let dispatch = Arc::new(Replies::new(leases.collect::<Vec<_>>()));
    run_within(ChunkBounds::default(), 2, &dispatch).await;
    assert_eq!(dispatch.heard.lock().given_back.len(), 4);
}

/// A lease between bots that we would start, which are called `a` and `b`.
fn of_programs(fresh_processes: bool) -> LeaseReply {
    let LeaseReply::Work(mut lease) = of_nobody(1) else {
        unreachable!("it is work");
    };
    let schemes = Schemes::with(Vec::new());
    for (bot, text) in lease.bots.iter_mut().zip(["a=exec:./no", "b=exec:./no"]) {
        bot.entry = Entry::read(text, &schemes).unwrap();
        bot.name = bot.entry.name.clone();
    }
    lease.fresh_processes = fresh_processes;
    LeaseReply::Work(lease)
}

/// A worker whose bots `a` and `b` run at addresses where nobody is.
fn worker_with_addresses(dispatch: &Arc<Replies>) -> Worker<Replies, BotGames> {
    let at = |path: &str| BotAddress {
        address: path.parse().unwrap(),
        user: None,
    };
    let addresses = [("a", at("unix:/nowhere/a")), ("b", at("unix:/nowhere/b"))];
    let addresses = addresses.map(|(name, at)| (name.to_owned(), at));
    // An empty list of addresses that may be dialled.
    let options = LaunchOptions {
        addresses: addresses.into(),
        dial: BotDial {
            allowed: Some(Arc::default()),
            ..BotDial::default()
        },
        ..LaunchOptions::new(Command::new("cat"))
    };
    let context = options.open(".".into()).unwrap();
    Worker {
        games: Arc::new(BotGames {
            bots: Arc::new(BotPool::new(context)),
            pool: Arc::new(Pool::new(1).unwrap()),
            packer: Arc::new(Packer::start(1).unwrap()),
        }),
        ..worker(dispatch, &Stop::default())
    }
}

#[tokio::test]
async fn bots_that_run_already_are_dialled_whatever_their_specs_and_the_list_say() {
    let dispatch = Arc::new(Replies::new([
        of_programs(false),
        of_programs(false),
        LeaseReply::Over,
    ]));
    let running = worker_with_addresses(&dispatch).run();
    tokio::time::timeout(HANGS, running).await.unwrap().unwrap();
    let heard = dispatch.heard.lock();
    assert_eq!(heard.reports.len(), 2);
    for report in &heard.reports {
        let fouls = report.summary.fouls.iter();
        let fouls: Vec<String> = fouls.map(|foul| format!("{:?}", foul.foul)).collect();
        let says = |name: &str| {
            let says = format!("nothing answers at unix:/nowhere/{name}");
            fouls.iter().any(|foul| foul.contains(&says))
        };
        assert!(says("a") && says("b"), "{fouls:?}");
    }
}

#[tokio::test]
async fn a_bot_that_runs_already_plays_one_chunk_that_wants_fresh_processes() {
    let dispatch = Arc::new(Replies::new([of_programs(true), of_programs(true)]));
    let running = worker_with_addresses(&dispatch).run();
    let ended = tokio::time::timeout(HANGS, running).await.unwrap();
    let error = ended.unwrap_err().to_string();
    let says = "with the bot a at unix:/nowhere/a: expected a fresh process";
    assert!(error.contains(says), "{error}");
    assert_eq!(dispatch.heard.lock().reports.len(), 1);
}
