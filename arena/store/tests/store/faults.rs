//! Statements that fail, one after the other, and a disk that is full: the store is as it was,
//! and goes on when the database does.

use std::{
    fs,
    future::poll_fn,
    io::{ErrorKind, Write as _},
    path::Path,
    process::Command,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use arena_store::{
    CommitPacing, Cure, FaultMoment, Reported, ResultWriter, StatementFault, Store, StoreError,
    TournamentId, TournamentState, pack_for_store,
};
use futures_util::future::try_join_all;
use parking_lot::Mutex;

use crate::{
    leases::holder,
    vocabulary::{Home, chunk, game, games, new_tournament, on_both, tournament},
};

on_both!(
    a_life_with_any_statement_failing_ends_like_one_without,
    a_statement_that_is_dropped_holds_nobody_up,
);

/// Which statement fails: that one of which so many come before it, and those that follow.
#[derive(Default)]
struct Plan {
    before: usize,
    failing: usize,
    moment: Option<FaultMoment>,
    code: &'static str,
}

type Planned = Arc<Mutex<Plan>>;

/// A store whose statements fail as `Planned` says.
fn faulty(store: &Store) -> Planned {
    let planned = Planned::default();
    let plan = planned.clone();
    store.set_faults(Arc::new(move |_| {
        let mut plan = plan.lock();
        let moment = plan.moment?;
        if plan.before > 0 {
            plan.before -= 1;
            return None;
        }
        plan.failing = plan.failing.checked_sub(1)?;
        Some(StatementFault {
            moment,
            code: plan.code,
        })
    }));
    planned
}

/// Calls again until it succeeds, as whoever waits for the store does.
async fn again<T>(mut call: impl AsyncFnMut() -> Result<T, StoreError>) -> T {
    for _ in 0..8 {
        match call().await {
            // A session that holds a claim needs a moment to end.
            Err(StoreError::Claimed { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) if error.may_pass() => {}
            result => return result.unwrap(),
        }
    }
    panic!("the store does not recover")
}

/// Everything that happens to a tournament, and what is stored of it in the end.
async fn life(store: &Store, name: &str) -> String {
    let id = again(
        async || match store.create(&new_tournament(name, 2)).await {
            Err(StoreError::Exists { .. }) => Ok(store.tournament(name).await?.unwrap().id),
            created => Ok(created?.id),
        },
    )
    .await;
    let claim = again(|| store.claim(id)).await;
    again(|| store.set_state(id, TournamentState::Running, 1)).await;
    let chunk = chunk(0, 3);
    let holder = holder("a worker", 5);
    let pacing = CommitPacing::default();
    let writer = again(|| ResultWriter::start(store, id, pacing, |_| {})).await;
    let attempt = again(|| writer.lease(chunk, &holder)).await;
    assert!(writer.renew(chunk, attempt, 7));
    for games in games(0..3).chunks(3) {
        let games = games.iter().cloned().map(|mut game| {
            game.attempt = attempt;
            game.chunk = chunk;
            game.withhold = true;
            game
        });
        let games: Vec<_> = games.collect();
        again(|| try_join_all(games.iter().cloned().map(|game| writer.write(game)))).await;
    }
    assert!(writer.release(chunk, attempt));
    writer.close().await;
    again(|| store.set_waits(id, Some("a test"))).await;
    again(|| store.set_state(id, TournamentState::Over, 9)).await;
    claim.release().await;
    stored(store, id, name).await
}

async fn stored(store: &Store, id: TournamentId, name: &str) -> String {
    let mut text = Vec::new();
    again(async || {
        text.clear();
        store.export(id, &mut text).await
    })
    .await;
    let counters = again(|| store.counters(id)).await;
    let text = String::from_utf8(text).unwrap();
    format!("{}{counters:?}", text.replace(name, "NAME"))
}

async fn a_life_with_any_statement_failing_ends_like_one_without(home: &Home) {
    // In memory nothing waits for a disk.
    let store = match home {
        Home::File(_) => Store::open_in_memory().await.unwrap(),
        Home::Schema { .. } => home.open().await,
    };
    let undisturbed = life(&store, "undisturbed").await;
    let planned = faulty(&store);
    let (full, moments): (_, &[FaultMoment]) = match home {
        Home::File(_) => (
            "13",
            &[FaultMoment::Before, FaultMoment::Ends, FaultMoment::After],
        ),
        Home::Schema { .. } => ("53100", &[FaultMoment::Before, FaultMoment::After]),
    };
    for moment in moments {
        for before in 0.. {
            *planned.lock() = Plan {
                before,
                failing: 1,
                moment: Some(*moment),
                code: full,
            };
            let lived = life(&store, &format!("{moment:?}-{before}")).await;
            assert!(
                lived == undisturbed,
                "{moment:?} {before}: {lived}\n{undisturbed}"
            );
            if planned.lock().failing == 1 {
                assert!(before > 50, "there are few statements in a life: {before}");
                break;
            }
        }
    }
}

async fn a_statement_that_is_dropped_holds_nobody_up(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    for polls in 0..40 {
        // Whoever waited for it is gone at some moment.
        let mut call = Box::pin(store.report(id, games(polls..polls + 2)));
        for _ in 0..polls {
            let polled = poll_fn(|context| Poll::Ready(call.as_mut().poll(context)));
            if polled.await.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(call);
        let written = store.set_waits(id, Some("a test"));
        let written = tokio::time::timeout(Duration::from_secs(20), written).await;
        written.expect("nobody holds a lock").unwrap();
    }
}

#[tokio::test]
async fn a_connection_that_can_not_roll_back_is_closed() {
    let home = Home::sqlite();
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let planned = faulty(&store);
    // Its report fails at its third statement, and the rollback too.
    *planned.lock() = Plan {
        before: 2,
        failing: 3,
        moment: Some(FaultMoment::Before),
        code: "10",
    };
    let error = store.report(id, games(0..1)).await.unwrap_err();
    assert_eq!(error.cure(), Cure::Disk);
    let reported = store.report(id, games(0..1)).await.unwrap();
    assert_eq!(reported, [Reported::Accepted; 2]);
}

/// Runs the test below where a small disk is mounted, which nobody else sees.
#[test]
fn a_full_disk_stops_a_store_until_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("unshare");
    if !is_root() {
        shell.args(["--user", "--map-root-user"]);
    }
    shell
        .args(["--mount", "sh", "-c"])
        .arg("mount -t tmpfs -o size=3m none \"$1\" && exec \"$2\" --exact faults::on_a_small_disk --ignored --nocapture")
        .arg("sh")
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .env(SMALL, folder.path());
    let ended = shell.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let failed = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{failed}"
    );
}

/// Name of the variable that has the path of the small disk.
const SMALL: &str = "ARENA_TEST_SMALL_DISK";

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.contains("\nUid:\t0\t0\t")
}

#[tokio::test]
#[ignore = "the test above runs it on a small disk"]
async fn on_a_small_disk() {
    let folder = std::env::var(SMALL).unwrap();
    let folder = Path::new(&folder);
    let path = folder.join("arena.db");
    let store = Store::open(path.to_str().unwrap()).await.unwrap();
    let id = tournament(&store, 2).await.id;
    for round in 0..3 {
        fill(&folder.join("filler"));
        assert!(store.room().unwrap() < 4096);
        // A game that fails at the commit, and games that do not fit into the memory of the
        // transaction: SQLite ends that one itself.
        let mut large = games(100 + 10 * round..110 + 10 * round);
        for game in &mut large {
            game.record = pack_for_store(&noise(512 * 1024));
        }
        for games in [games(round..round + 1), large] {
            for _ in 0..3 {
                let error = store.report(id, games.clone()).await.unwrap_err();
                assert_eq!(error.cure(), Cure::Room, "{error}");
                let again = store.set_waits(id, Some("room")).await;
                assert!(again.is_ok() || again.is_err_and(|error| error.may_pass()));
            }
        }
        assert_eq!(
            store.scores(id, None, 100).await.unwrap().len(),
            round as usize
        );
        fs::remove_file(folder.join("filler")).unwrap();
        assert!(store.room().unwrap() > 1 << 18);
        let reported = store.report(id, games(round..round + 1)).await.unwrap();
        assert_eq!(reported, [Reported::Accepted; 2]);
    }
    assert_eq!(store.scores(id, None, 100).await.unwrap().len(), 3);
}

/// Writes until there is no room.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    for size in [64 * 1024, 4096, 512] {
        loop {
            match file.write_all(&vec![0; size]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Text that can't be packed into less.
fn noise(bytes: usize) -> String {
    let mut state = 1_u64;
    let mut text = String::with_capacity(bytes);
    while text.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text.push_str(&format!("{:08x}", state >> 32));
    }
    text
}

/// On a server the database itself fails, and ends our sessions.
mod on_postgres_alone {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_that_fails_is_told_from_a_mistake_and_reached_again() {
        let home = Home::postgres().await;
        let store = home.open().await;
        let id = tournament(&store, 2).await.id;
        for (group, (fault, cure)) in (0..).zip([
            (raise("53100"), Cure::Room),
            (raise("53200"), Cure::Server),
            (raise("40001"), Cure::Again),
            (raise("40P01"), Cure::Again),
            (raise("57014"), Cure::Server),
            (raise("58030"), Cure::Disk),
            (raise("XX001"), Cure::Person),
            (
                "PERFORM pg_terminate_backend(pg_backend_pid())".to_owned(),
                Cure::Server,
            ),
        ]) {
            // A sequence counts on where a transaction is rolled back.
            home.run(&format!(
                "DROP SEQUENCE IF EXISTS tries;
                 CREATE SEQUENCE tries;
                 CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
                 BEGIN
                     IF nextval('tries') <= 2 THEN {fault}; END IF;
                     RETURN NULL;
                 END $$;
                 CREATE OR REPLACE TRIGGER fails AFTER INSERT ON games
                     FOR EACH STATEMENT EXECUTE FUNCTION fail();"
            ))
            .await;
            for _ in 0..2 {
                let error = store.report(id, vec![game(group, 0)]).await.unwrap_err();
                assert_eq!(error.cure(), cure, "{fault}: {error}");
            }
            let reported = store.report(id, vec![game(group, 0)]).await.unwrap();
            assert_eq!(reported, [Reported::Accepted], "{fault}");
        }
        store.close().await;
        home.clean().await;
    }

    fn raise(code: &str) -> String {
        format!("RAISE EXCEPTION 'simulated' USING ERRCODE = '{code}'")
    }
}
