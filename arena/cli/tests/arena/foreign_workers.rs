//! Workers that are not as they should be: twins, those of another version, those that forge, and
//! those that report when nobody wants it. The last ones are parts of this test.

use std::{fs, sync::Arc, time::Duration};

use arena_proto::arena::v1::{
    self as proto, attend_request::Message, dispatch_client::DispatchClient,
};
use referee::GameError;
use referee_core::{PerSeat, Record, Seat, Verdict, pack};
use referee_games::{Fixture, Sitting, game};
use referee_net::{DialOptions, Target, channel};
use referee_worker::{
    Abilities, ChunkBounds, Dispatch as _, Games, LeasedGame, Machine, PackedResult, Stop, Summary,
    WorkError, Worker,
    lease::{GameReport, Lease, LeaseReply, LeaseRequest, ReportReply, SessionId},
    remote::{RemoteDispatch, RemoteOptions, wire},
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, transport::Channel};

use crate::{site::Site, vocabulary::*};

fn channel_to(site: &Site) -> Channel {
    let arena: Target = site.url().parse().unwrap();
    channel(&arena, None, &DialOptions::default()).unwrap()
}

#[test]
fn the_leases_of_a_killed_twin_run_out_while_the_other_one_works_on() {
    // Without walls, so that bots see the folder that holds a game up.
    let mut site = Site::without_walls();
    let hold = site.add_held("held", "honest --by-callbacks");
    let more = "deals = 20\nlimits.move = \"10m\"";
    site.cup("cup.toml", "connect-four", more, &["held", "house:random"]);
    site.run("tournament run cup.toml --name alone --seed 41");
    site.run("tournament submit cup.toml --seed 41");
    site.run("workers add one");
    site.serve("--concurrency 0 --replay all");

    let first = hold.join("match-0000-deal-0000-game-0");
    fs::write(&first, "").unwrap();
    let twin = "--token-file one.token --concurrency 1";
    let killed = site.worker(&format!("{twin} --logs logs"));
    wait_until_or(
        "the first game is held up",
        || site.log(),
        || {
            let logs = fs::read_dir(site.arena.path("logs")).into_iter().flatten();
            let mut logs = logs.flatten().map(|log| fs::read_to_string(log.path()));
            logs.any(|log| {
                log.is_ok_and(|log| log.contains("waits in match-0000-deal-0000-game-0"))
            })
        },
    );
    site.worker(twin);
    // They are of the other twin: the first one plays one game at a time.
    wait_until_or(
        "games are stored",
        || site.log(),
        || site.progress("cup").0 > 0,
    );
    site.kill(killed);
    fs::remove_file(&first).unwrap();
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
    let log = site.log();
    assert!(
        log.contains("a worker has been silent for too long"),
        "{log}"
    );
    let counted = || {
        let workers = site.workers();
        assert_eq!(workers.len(), 1, "{workers:?}");
        assert_eq!(workers[0]["refused"], 0, "{workers:?}");
        workers[0]["accepted"].as_u64().unwrap()
    };
    // What is known of workers is written down every two seconds.
    wait_until("all games are counted once", || counted() == 40);
}

#[test]
fn a_worker_of_another_version_is_told_which_one_is_expected() {
    let mut site = Site::new();
    site.serve("--open --concurrency 0");
    let runtime = Runtime::new().unwrap();
    let own = wire::own_version();
    let (protocol, behavior) = (own.protocol, own.behavior);
    let rules = own.rules["othello"];
    let join = |change: fn(&mut proto::Version)| {
        let mut version = wire::own_version();
        version.program = "another program".to_owned();
        change(&mut version);
        runtime.block_on(refused_join(&site, version))
    };
    for (change, says) in [
        (
            (|version| version.protocol += 1) as fn(&mut proto::Version),
            format!("has protocol {protocol} and referee behaviour {behavior}"),
        ),
        (
            |version| version.behavior += 1,
            format!("has {protocol} and {}; install", behavior + 1),
        ),
        (
            |version| *version.rules.get_mut("othello").unwrap() += 1,
            format!("has version {rules} of the rules of othello"),
        ),
    ] {
        let status = join(change);
        let words = status.message();
        assert_eq!(status.code(), Code::FailedPrecondition, "{words}");
        assert!(words.contains(&says), "expected {says:?} in {words}");
        assert!(
            words.contains("the worker (another program) has"),
            "{words}"
        );
        assert!(
            words.ends_with("install the same version on both"),
            "{words}"
        );
    }
    assert_eq!(site.workers().len(), 0);
}

/// Joins as a worker of this version, and gives the arena's refusal.
async fn refused_join(site: &Site, version: proto::Version) -> Status {
    let join = proto::Join {
        session: vec![1; 16].into(),
        name: "foreign".to_owned(),
        version: Some(version),
        machine: Some(proto::Machine::default()),
    };
    let request = proto::AttendRequest {
        message: Some(Message::Join(join)),
    };
    let mut last = None;
    // The arena may just be starting.
    for _ in 0..1000 {
        let mut client = DispatchClient::new(channel_to(site));
        let requests = tokio_stream::once(request.clone());
        match client.attend(requests).await {
            Err(status) if status.code() == Code::Unavailable => last = Some(status),
            Err(status) => return status,
            Ok(_) => panic!("it was let in"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the arena does not answer: {last:?}");
}

#[test]
fn a_worker_that_forges_is_named_and_shut_out_and_others_play_its_games() {
    let mut site = Site::new();
    let bots = ["house:random", "house:random"];
    site.cup("cup.toml", "connect-four", "deals = 20", &bots);
    site.run("tournament run cup.toml --name alone --seed 43");
    site.run("tournament submit cup.toml --seed 43");
    // A chunk that were not given back would not run out before this test fails.
    site.serve_leases("1h", "--open --concurrency 0 --replay all");
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let why = runtime.block_on(Foreign::new(&site, "forger", 1).forge());
    let proof = "it reported game 0.0 of cup with a record that does not prove it";
    assert!(
        why.contains("forger was shut out, because") && why.contains(proof),
        "{why}"
    );
    let about = &site.workers()[0];
    assert_eq!(
        (&about["worker"], &about["state"]),
        (&"forger".into(), &"shut_out".into())
    );
    assert!(
        about["shut_out"].as_str().unwrap().contains(proof),
        "{about}"
    );
    // Nor does another process of this name come in.
    let again = runtime.block_on(Foreign::new(&site, "forger", 2).forge());
    assert!(again.contains("forger was shut out"), "{again}");

    site.worker("--name honest");
    site.wait_for("cup", "over");
    site.is_as("cup", "alone");
    let export = events(&site.run("tournament export cup"));
    let games = of_type(&export, "game");
    assert_eq!(games.len(), 40);
    assert!(games.iter().all(|game| game["worker"] == "honest"));
}

#[test]
fn a_process_reports_no_games_of_its_twin_and_none_after_the_end() {
    let mut site = Site::new();
    let bots = ["house:random", "house:random"];
    site.cup("cup.toml", "connect-four", "deals = 20", &bots);
    site.run("tournament submit cup.toml --seed 47");
    site.serve("--open --concurrency 0 --replay all");
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let (foreign, twin) = (Foreign::new(&site, "one", 1), Foreign::new(&site, "one", 2));
    for process in [&foreign, &twin] {
        let dispatch = process.dispatch.clone();
        runtime.spawn(async move { dispatch.attend(&CancellationToken::new()).await });
    }
    let lease = runtime.block_on(foreign.lease());
    let report = |from: &Foreign, at| {
        let reporting = from.dispatch.report(reported(&lease, at));
        runtime.block_on(reporting).unwrap()
    };
    assert_eq!(report(&twin, 0), ReportReply::NotHeld);
    assert_eq!(site.progress("cup").0, 0);
    assert_eq!(report(&foreign, 0), ReportReply::Accepted);
    assert_eq!(report(&foreign, 0), ReportReply::Duplicate);
    assert_eq!(report(&foreign, 1), ReportReply::Accepted);
    let before = site.run("tournament export cup");
    site.run("tournament pause cup");
    site.wait_for("cup", "paused");
    assert_eq!(report(&foreign, 2), ReportReply::Ended);
    site.run("tournament cancel cup");
    site.wait_for("cup", "cancelled");
    assert_eq!(report(&foreign, 2), ReportReply::Ended);
    let games = |export: &str| of_type(&events(export), "game");
    assert_eq!(games(&before).len(), 2);
    assert_eq!(games(&site.run("tournament export cup")), games(&before));
    // What comes after a pause or an end is no fault of the worker.
    wait_until("the reports are counted", || {
        let about = &site.workers()[0];
        assert_eq!(about["refused"], 0, "{about}");
        about["accepted"] == 2 && about["stale"] == 1
    });
}

/// A worker that is a part of this test.
struct Foreign {
    dispatch: Arc<RemoteDispatch>,
    session: SessionId,
    can: Arc<Abilities>,
}

impl Foreign {
    fn new(site: &Site, name: &str, session: u8) -> Self {
        let machine = Machine {
            host: name.to_owned(),
            cores: 1,
            games_at_once: 1,
            games: ["connect_four".to_owned()].into(),
            ..Machine::default()
        };
        let session = SessionId([session; 16]);
        let options = RemoteOptions {
            name: name.to_owned(),
            session,
            machine: machine.clone(),
            bearer: None,
            gauge: Box::new(|| (0, Duration::ZERO)),
            jitter_seed: 0,
        };
        let schemes = Arc::new(
            referee_cli::bots::travelling_schemes(referee_bots::Unpinned::Refuse).unwrap(),
        );
        Self {
            dispatch: Arc::new(RemoteDispatch::new(channel_to(site), options, schemes)),
            session,
            can: Arc::new(Abilities::Remote(machine)),
        }
    }

    /// Works with forged records until the arena refuses it, and gives the words for it.
    async fn forge(self) -> String {
        let worker = Worker {
            name: "foreign".to_owned(),
            session: Some(self.session),
            can: self.can.clone(),
            scope: None,
            games_at_once: 1,
            bounds: ChunkBounds::default(),
            dispatch: self.dispatch.clone(),
            games: Arc::new(Forged),
            stop: Stop::default(),
        };
        let leave = CancellationToken::new();
        let (worked, attended) = tokio::join!(worker.run(), self.dispatch.attend(&leave));
        worked.expect_err("it is refused");
        attended.expect_err("it is refused").to_string()
    }

    /// Waits for a chunk.
    async fn lease(&self) -> Lease {
        loop {
            let request = LeaseRequest {
                worker: "foreign".to_owned(),
                session: Some(self.session),
                can: self.can.clone(),
                games: 4,
                scope: None,
            };
            if let LeaseReply::Work(lease) = self.dispatch.lease(request).await.unwrap() {
                return *lease;
            }
        }
    }
}

/// The report of a game that was played by the rules, without the bots that should play it.
fn reported(lease: &Lease, at: usize) -> GameReport {
    let assignment = &lease.games[at];
    let players = assignment.order.iter();
    let players: Vec<String> = players
        .map(|&place| lease.bots[place].name.clone())
        .collect();
    let fixture = Fixture {
        kind: game(&lease.game).unwrap(),
        game_id: assignment.game_id.clone(),
        setup: assignment.setup.clone(),
        seed: assignment.seed,
        players: PerSeat::from(players),
        limits: lease.limits,
        spent: PerSeat::default(),
    };
    let record = Sitting::new(fixture).unwrap().play_out(|_, _, _| 0);
    let (text, play_hash) = record.sealed();
    GameReport {
        lease: lease.id,
        key: assignment.key,
        summary: Summary::of(&record, play_hash),
        record: Some(pack::pack(&text)),
        logs: Vec::new(),
    }
}

/// Games whose records say another result than that of their moves.
struct Forged;

impl Games for Forged {
    type Bots = ();

    async fn take(&self, _: &Lease) -> Result<(), WorkError> {
        Ok(())
    }

    async fn play(&self, (): &(), game: LeasedGame<'_>) -> Result<Record, GameError> {
        // The first legal move, again and again.
        let mut record = Sitting::new(game.fixture)?.play_out(|_, _, _| 0);
        if let Verdict::Finished { outcome, .. } = &mut record.result.verdict {
            outcome.scores[Seat::new(0)] += 1;
        }
        Ok(record)
    }

    async fn pack(&self, record: Record, _: bool) -> Option<PackedResult> {
        let (text, play_hash) = record.sealed();
        Some((Summary::of(&record, play_hash), Some(pack::pack(&text))))
    }

    async fn give_back(&self, (): ()) -> Vec<Option<u64>> {
        Vec::new()
    }
}
