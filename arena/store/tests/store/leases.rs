//! Leases: late reports of an attempt that was given up are not taken.

use std::time::Duration;

use arena_ladder::MatchId;
use arena_store::{
    ChunkKey, CommitPacing, FinishedGame, Lease, LeaseHolder, Reported, ResultWriter, Store,
    TournamentId,
};

use crate::vocabulary::{Home, chunk, game, on_both, tournament};

on_both!(
    a_report_of_an_older_attempt_is_not_taken_even_after_a_restart,
    a_lease_that_a_crash_has_lost_is_older_than_all_that_follow,
    numbers_of_attempts_do_not_run_out,
    a_lease_is_kept_by_its_newest_attempt_alone,
    pieces_of_work_are_told_apart_by_every_part_of_their_key,
);

fn played(attempt: u32, seating: u32) -> FinishedGame {
    FinishedGame {
        chunk: chunk(0, 4),
        attempt,
        ..game(2, seating)
    }
}

async fn a_report_of_an_older_attempt_is_not_taken_even_after_a_restart(home: &Home) {
    use Reported::{Accepted, Duplicate, Stale};
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let work = chunk(0, 4);
    let writer = writer(&store, id).await;
    let first = writer.lease(work, &holder("one", 100)).await.unwrap();
    assert_eq!(first, 1);
    assert_eq!(reported(&writer, [played(first, 0)]).await, [Accepted]);
    let second = writer.lease(work, &holder("two", 200)).await.unwrap();
    assert_eq!(second, 2);
    writer.close().await;
    store.close().await;

    let store = home.open().await;
    let mixed = vec![played(first, 1), played(second, 0), game(5, 0)];
    let taken = store.report(id, mixed).await.unwrap();
    assert_eq!(taken, [Stale, Duplicate, Accepted]);
    // Nor when the newer one was given back.
    let writer = self::writer(&store, id).await;
    assert!(writer.release(work, second));
    assert_eq!(reported(&writer, [played(first, 1)]).await, [Stale]);
    let third = writer.lease(work, &holder("one", 300)).await.unwrap();
    assert!(third > second, "{third}");
    let twice = [played(second, 1), played(third, 1)];
    assert_eq!(reported(&writer, twice).await, [Stale, Accepted]);
    assert_eq!(store.scores(id, None, 9).await.unwrap().len(), 1);
    assert_eq!(store.counters(id).await.unwrap()[0].2, 3);
}

async fn a_lease_that_a_crash_has_lost_is_older_than_all_that_follow(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let work = chunk(0, 4);
    let crashed = writer(&store, id).await;
    let lost = crashed.lease(work, &holder("lost", 100)).await.unwrap();
    let writer = self::writer(&store, id).await;
    let next = writer.lease(work, &holder("next", 200)).await.unwrap();
    assert!(next > lost, "{next} {lost}");
    let [late, now] = [played(lost, 0), played(next, 0)];
    let expected = [Reported::Stale, Reported::Accepted];
    assert_eq!(reported(&writer, [late, now]).await, expected);
}

async fn numbers_of_attempts_do_not_run_out(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let writer = writer(&store, id).await;
    let mut last = 0;
    for number in 0..25_000 {
        let leased = writer.lease(chunk(number % 7, 1), &holder("a", 1)).await;
        let attempt = leased.unwrap();
        assert!(attempt > last, "{attempt} after {last}");
        last = attempt;
    }
}

async fn a_lease_is_kept_by_its_newest_attempt_alone(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let work = chunk(8, 4);
    let writer = writer(&store, id).await;
    assert!(!writer.renew(work, 1, 50));
    let first = writer.lease(work, &holder("one's", 100)).await.unwrap();
    assert!(writer.renew(work, first, 150));
    let lease = stored(&store, id).await;
    assert_eq!((lease.chunk, lease.attempt), (work, first));
    assert_eq!(lease.holder.worker, "one's");

    let second = writer.lease(work, &holder("two", 200)).await.unwrap();
    assert!(!writer.renew(work, first, 999));
    assert!(!writer.release(work, first));
    writer.close().await;
    let lease = stored(&store, id).await;
    assert_eq!((lease.attempt, lease.holder), (second, holder("two", 200)));

    let writer = self::writer(&store, id).await;
    assert!(writer.renew(work, second, 300));
    assert!(writer.release(work, second));
    assert!(!writer.release(work, second));
    assert!(!writer.renew(work, second, 999));
    writer.close().await;
    assert_eq!(store.leases(id).await.unwrap(), []);
}

async fn pieces_of_work_are_told_apart_by_every_part_of_their_key(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let work = ChunkKey {
        matchup: MatchId(3),
        first_group: 8,
        groups: 4,
        seating: None,
    };
    let others = [
        ChunkKey {
            matchup: MatchId(4),
            ..work
        },
        ChunkKey {
            first_group: 9,
            ..work
        },
        ChunkKey { groups: 5, ..work },
        ChunkKey {
            seating: Some(0),
            ..work
        },
        ChunkKey {
            seating: Some(1),
            ..work
        },
    ];
    let writer = writer(&store, id).await;
    let mut attempts = Vec::new();
    for chunk in others.iter().chain([&work, &work]) {
        attempts.push(writer.lease(*chunk, &holder("a", 1)).await.unwrap());
    }
    // So an attempt at one fences no game of another.
    let mut late = game(8, 0);
    (late.chunk, late.attempt) = (others[3], attempts[3]);
    let mut later = game(8, 1);
    (later.chunk, later.attempt) = (work, attempts[5]);
    let expected = [Reported::Accepted, Reported::Stale];
    assert_eq!(reported(&writer, [late, later]).await, expected);
    assert_eq!(store.leases(id).await.unwrap().len(), others.len() + 1);
}

async fn writer(store: &Store, id: TournamentId) -> ResultWriter {
    ResultWriter::start(store, id, CommitPacing::default(), |_| {})
        .await
        .unwrap()
}

/// What is done with these games, each after the one before.
async fn reported<const N: usize>(
    writer: &ResultWriter,
    games: [FinishedGame; N],
) -> Vec<Reported> {
    let mut all = Vec::new();
    for game in games {
        all.push(writer.write(game).await.unwrap().reported);
    }
    all
}

/// The only lease that is stored, as soon as there is one.
async fn stored(store: &Store, id: TournamentId) -> Lease {
    loop {
        let leases = store.leases(id).await.unwrap();
        if let [lease] = &leases[..] {
            return lease.clone();
        }
        assert!(leases.is_empty(), "{leases:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A worker of this process that has a lease until then.
pub(crate) fn holder(worker: &str, until_unix_ms: i64) -> LeaseHolder {
    LeaseHolder {
        worker: worker.to_owned(),
        session: None,
        until_unix_ms,
    }
}
