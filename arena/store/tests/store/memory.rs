//! A database in memory, for tests and simulations.

use arena_store::{CommitPacing, ResultWriter, Store, StoreError};

use crate::{
    leases::holder,
    vocabulary::{chunk, games, new_tournament, tournament},
};

#[tokio::test]
async fn every_database_in_memory_is_a_new_one_and_clones_share_it() {
    let one = Store::open_in_memory().await.unwrap();
    let two = Store::open_in_memory().await.unwrap();
    let made = tournament(&one, 2).await;
    let seen = one.clone().tournament("a tournament").await.unwrap();
    assert_eq!(seen.unwrap().id, made.id);
    assert!(two.tournament("a tournament").await.unwrap().is_none());
    assert_eq!(one.location(), "memory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_and_read_at_once_in_memory_is_all_there() {
    let store = Store::open_in_memory().await.unwrap();
    let id = tournament(&store, 2).await.id;
    let pacing = CommitPacing {
        interval: std::time::Duration::ZERO,
        most_waiting: 1,
        ..CommitPacing::default()
    };
    let writer = ResultWriter::start(&store, id, pacing, |_| {});
    let writer = writer.await.unwrap();
    let games = games(0..20).into_iter().map(|game| {
        let (writer, store) = (writer.clone(), store.clone());
        tokio::spawn(async move {
            writer.write(game).await.unwrap();
            store.scores(id, None, 100).await.unwrap();
        })
    });
    for game in games.collect::<Vec<_>>() {
        game.await.unwrap();
    }
    assert_eq!(store.scores(id, None, 100).await.unwrap().len(), 20);
    let first = writer.lease(chunk(50, 1), &holder("a", 1)).await.unwrap();
    let second = writer.lease(chunk(50, 1), &holder("b", 2)).await.unwrap();
    assert_eq!((first, second), (1, 2));
    writer.close().await;
    assert_eq!(store.leases(id).await.unwrap()[0].attempt, second);
}

#[tokio::test]
async fn a_tournament_in_memory_is_claimed_once() {
    let store = Store::open_in_memory().await.unwrap();
    let id = store.create(&new_tournament("a", 2)).await.unwrap().id;
    let claim = store.claim(id).await.unwrap();
    assert!(store.is_claimed(id).await.unwrap());
    let error = store.claim(id).await.unwrap_err();
    assert!(matches!(error, StoreError::Claimed { .. }), "{error}");
    drop(claim);
    assert!(!store.is_claimed(id).await.unwrap());
    store.claim(id).await.unwrap().release().await;
    assert!(!store.is_claimed(id).await.unwrap());
}
