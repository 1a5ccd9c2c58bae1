//! Group commit: several games share a transaction, and each caller learns what became of
//! their own.

use std::{sync::Arc, time::Duration};

use arena_store::{Commit, CommitPacing, Reported, ResultWriter, StoreError};
use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::vocabulary::{Home, game, games, on_both, tournament};

on_both!(
    games_that_come_together_share_a_transaction,
    a_game_after_a_silence_is_stored_at_once,
    a_bad_game_spoils_nothing_for_the_others,
    an_error_reaches_all_who_wait,
    closing_stores_what_was_handed_in,
);

type Commits = Arc<Mutex<Vec<Commit>>>;

fn seen() -> (Commits, impl Fn(&Commit) + Send + Sync + 'static) {
    let commits = Commits::default();
    let into = commits.clone();
    (commits, move |commit: &Commit| {
        into.lock().push(*commit);
    })
}

/// Never by itself: only what fills it ends a pause.
fn only_when(most_waiting: usize) -> CommitPacing {
    CommitPacing {
        interval: Duration::from_secs(3600),
        most_waiting,
        ..CommitPacing::default()
    }
}

async fn games_that_come_together_share_a_transaction(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let (commits, see) = seen();
    let writer = ResultWriter::start(&store, id, only_when(20), see)
        .await
        .unwrap();
    // The first goes alone, since nothing came before it.
    let first = writer.write(game(99, 0)).await.unwrap();
    assert_eq!((first.reported, first.scored), (Reported::Accepted, None));
    let mut writing = JoinSet::new();
    for game in games(0..20) {
        let writer = writer.clone();
        writing.spawn(async move { writer.write(game).await.unwrap().reported });
    }
    assert_eq!(writing.join_all().await, [Reported::Accepted; 40]);
    let sizes: Vec<_> = commits.lock().iter().map(|commit| commit.games).collect();
    assert_eq!(sizes, [1, 20, 20]);
    assert_eq!(store.scores(id, None, 100).await.unwrap().len(), 20);
    writer.close().await;
}

async fn a_game_after_a_silence_is_stored_at_once(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let pace = CommitPacing {
        interval: Duration::ZERO,
        most_waiting: 1000,
        ..CommitPacing::default()
    };
    let (commits, see) = seen();
    let writer = ResultWriter::start(&store, id, pace, see).await.unwrap();
    for group in 0..5 {
        assert_eq!(
            writer.write(game(group, 0)).await.unwrap().reported,
            Reported::Accepted
        );
        assert_eq!(
            writer.write(game(group, 0)).await.unwrap().reported,
            Reported::Duplicate
        );
    }
    assert_eq!(commits.lock().len(), 10);
}

async fn a_bad_game_spoils_nothing_for_the_others(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let writer = ResultWriter::start(&store, id, only_when(2), |_| {})
        .await
        .unwrap();
    writer.write(game(0, 0)).await.unwrap();
    let mut bad = game(1, 0);
    bad.row.places = vec![1, 9];
    let (one, refused, two) = tokio::join!(
        writer.write(game(2, 0)),
        writer.write(bad),
        writer.write(game(2, 1))
    );
    // The second one completes the group, and has its score.
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(
        (one.reported, two.reported),
        (Reported::Accepted, Reported::Accepted)
    );
    let scores = store.scores(id, None, 10).await.unwrap();
    assert_eq!(two.scored.as_deref(), Some(&scores[0]));
    assert_eq!(two.scored.as_deref().unwrap().score.number, 2);
    assert!(matches!(refused.unwrap_err(), StoreError::BadGame { .. }));
}

async fn an_error_reaches_all_who_wait(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let (commits, see) = seen();
    let writer = ResultWriter::start(&store, id, only_when(4), see)
        .await
        .unwrap();
    writer.write(game(9, 0)).await.unwrap();
    home.run("ALTER TABLE counters RENAME TO elsewhere").await;
    let mut writing = JoinSet::new();
    for game in games(0..2) {
        let writer = writer.clone();
        writing.spawn(async move { writer.write(game).await });
    }
    for reported in writing.join_all().await {
        assert!(matches!(reported.unwrap_err(), StoreError::Database(_)));
    }
    assert!(!commits.lock()[1].stored);
    // Nothing of it is there, and the same games may come again.
    home.run("ALTER TABLE elsewhere RENAME TO counters").await;
    assert_eq!(
        store.incomplete_groups(id).await.unwrap(),
        [(9, vec![0])].into()
    );
    let mut writing = JoinSet::new();
    for game in games(0..2) {
        let writer = writer.clone();
        writing.spawn(async move { writer.write(game).await.unwrap().reported });
    }
    assert_eq!(writing.join_all().await, [Reported::Accepted; 4]);
}

async fn closing_stores_what_was_handed_in(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let writer = ResultWriter::start(&store, id, only_when(1000), |_| {})
        .await
        .unwrap();
    writer.write(game(50, 0)).await.unwrap();
    let mut writing = JoinSet::new();
    for game in games(0..10) {
        let writer = writer.clone();
        writing.spawn(async move { writer.write(game).await });
    }
    // Whether a game is in the queue by now or not, it is stored or refused.
    writer.close().await;
    writer.close().await;
    let mut stored = 0;
    for reported in writing.join_all().await {
        match reported.map(|stored| stored.reported) {
            Ok(Reported::Accepted) => stored += 1,
            Err(StoreError::Closed) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.counters(id).await.unwrap()[0].2, stored + 1);
    let error = writer.write(game(60, 0)).await.unwrap_err();
    assert!(matches!(error, StoreError::Closed));
}
