//! Leases: late reports of an attempt that was given up are not taken.

use arena_ladder::MatchId;
use arena_store::{ChunkKey, FinishedGame, LeaseHolder, Reported};

use crate::vocabulary::{Home, chunk, game, on_both, tournament};

on_both!(
    a_report_of_an_older_attempt_is_not_taken_even_after_a_restart,
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
    assert_eq!(
        store.lease(id, &work, &holder("one", 100)).await.unwrap(),
        1
    );
    assert_eq!(
        store.report(id, vec![played(1, 0)]).await.unwrap(),
        [Accepted]
    );
    assert_eq!(
        store.lease(id, &work, &holder("two", 200)).await.unwrap(),
        2
    );
    store.close().await;

    let store = home.open().await;
    let mixed = vec![played(1, 1), played(2, 0), game(5, 0)];
    let reported = store.report(id, mixed).await.unwrap();
    assert_eq!(reported, [Stale, Duplicate, Accepted]);
    // Nor when the newer one was given back.
    assert!(store.release(id, &work, 2).await.unwrap());
    assert_eq!(store.report(id, vec![played(1, 1)]).await.unwrap(), [Stale]);
    assert_eq!(
        store.lease(id, &work, &holder("one", 300)).await.unwrap(),
        3
    );
    let twice = vec![played(2, 1), played(3, 1)];
    let reported = store.report(id, twice).await.unwrap();
    assert_eq!(reported, [Stale, Accepted]);
    assert_eq!(store.scores(id, None, 9).await.unwrap().len(), 1);
    assert_eq!(store.counters(id).await.unwrap()[0].2, 3);
}

async fn a_lease_is_kept_by_its_newest_attempt_alone(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let work = chunk(8, 4);
    assert!(!store.renew(id, &work, 1, 50).await.unwrap());
    store.lease(id, &work, &holder("one's", 100)).await.unwrap();
    assert!(store.renew(id, &work, 1, 150).await.unwrap());
    let leases = store.leases(id).await.unwrap();
    assert_eq!(leases.len(), 1);
    assert_eq!((leases[0].chunk, leases[0].attempt), (work, 1));
    assert_eq!(leases[0].holder.worker, "one's");
    assert_eq!(leases[0].holder.until_unix_ms, 150);

    store.lease(id, &work, &holder("two", 200)).await.unwrap();
    assert!(!store.renew(id, &work, 1, 999).await.unwrap());
    assert!(!store.release(id, &work, 1).await.unwrap());
    assert_eq!(store.leases(id).await.unwrap()[0].holder.until_unix_ms, 200);
    assert!(store.release(id, &work, 2).await.unwrap());
    assert!(!store.release(id, &work, 2).await.unwrap());
    assert!(!store.renew(id, &work, 2, 999).await.unwrap());
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
    assert_eq!(store.lease(id, &work, &holder("a", 1)).await.unwrap(), 1);
    for other in &others {
        assert_eq!(store.lease(id, other, &holder("a", 1)).await.unwrap(), 1);
    }
    assert_eq!(store.lease(id, &work, &holder("b", 1)).await.unwrap(), 2);
    // So an attempt at one fences no game of another.
    let mut late = game(8, 0);
    (late.chunk, late.attempt) = (others[3], 1);
    let mut later = game(8, 1);
    (later.chunk, later.attempt) = (work, 1);
    let reported = store.report(id, vec![late, later]).await.unwrap();
    assert_eq!(reported, [Reported::Accepted, Reported::Stale]);
}

/// A worker of this process that has a lease until then.
pub(crate) fn holder(worker: &str, until_unix_ms: i64) -> LeaseHolder {
    LeaseHolder {
        worker: worker.to_owned(),
        session: None,
        until_unix_ms,
    }
}
