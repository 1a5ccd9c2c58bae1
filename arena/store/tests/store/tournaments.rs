//! Tournaments as such.

use arena_store::{NewTournament, StoreError, TournamentState};
use referee_core::Root;
use serde_json::json;

use crate::vocabulary::{Home, entrant, game, games, new_tournament, on_both, tournament};

on_both!(
    a_tournament_is_read_as_it_was_made,
    a_name_is_taken_once,
    what_is_over_stays_over_and_takes_no_games,
    tournaments_do_not_see_each_others_games,
);

async fn a_tournament_is_read_as_it_was_made(home: &Home) {
    let mut odd = entrant("it's; \"odd\" $1 ? ♣");
    odd.owner = Some("me".to_owned());
    let new = NewTournament {
        name: "Peter's \"cup\"; DROP TABLE games; --".to_owned(),
        game: "big-two".to_owned(),
        rules_version: 3,
        definition: json!({"nested": {"text": "a\u{0}b", "n": [1, 2.5, null]}}),
        root: Root::new([42; 32]),
        reproduction: true,
        // More than fit into one statement.
        entrants: (0..1203)
            .map(|number| entrant(&format!("bot{number}")))
            .chain([odd])
            .collect(),
        created_unix_ms: 1_234,
    };
    let store = home.open().await;
    let made = store.create(&new).await.unwrap();
    store.close().await;

    let store = home.open().await;
    let read = store.tournament(&new.name).await.unwrap().unwrap();
    assert_eq!(read, made);
    assert_eq!(read.entrants, new.entrants);
    assert_eq!(read.definition, new.definition);
    assert_eq!(read.root.as_ref(), Some(&new.root));
    assert_eq!(read.commitment, new.root.commitment());
    assert_eq!(
        (read.state, read.reproduction),
        (TournamentState::Created, true)
    );
    assert_eq!(store.tournament("Peter's cup").await.unwrap(), None);
}

async fn a_name_is_taken_once(home: &Home) {
    let store = home.open().await;
    store.create(&new_tournament("one", 2)).await.unwrap();
    let error = store.create(&new_tournament("one", 3)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is a tournament `one` already; choose another name"
    );
    // At the same moment too.
    let other = home.open().await;
    let twice = new_tournament("two", 2);
    let (a, b) = tokio::join!(store.create(&twice), other.create(&twice));
    assert_ne!(a.is_ok(), b.is_ok());
    let three = new_tournament("three", 2);
    let four = new_tournament("four", 2);
    let (a, b) = tokio::join!(store.create(&three), other.create(&four));
    assert_ne!(a.unwrap().id, b.unwrap().id);
    let names = store.tournaments().await.unwrap();
    let mut names: Vec<_> = names.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["four", "one", "three", "two"]);
}

async fn what_is_over_stays_over_and_takes_no_games(home: &Home) {
    use arena_store::Reported::{Accepted, Stale};
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    store
        .set_state(id, TournamentState::Running, 5)
        .await
        .unwrap();
    store
        .set_state(id, TournamentState::Stopped, 6)
        .await
        .unwrap();
    store
        .set_state(id, TournamentState::Running, 7)
        .await
        .unwrap();
    let reported = store.report(id, vec![game(0, 0)]).await.unwrap();
    assert_eq!(reported, [Accepted]);
    store.set_state(id, TournamentState::Over, 8).await.unwrap();
    store.set_state(id, TournamentState::Over, 9).await.unwrap();

    let reported = store.report(id, vec![game(0, 1)]).await.unwrap();
    assert_eq!(reported, [Stale]);
    let error = store
        .set_state(id, TournamentState::Running, 10)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Over { .. }), "{error}");
    let read = store.tournament("a tournament").await.unwrap().unwrap();
    assert_eq!(
        (read.state, read.over_unix_ms),
        (TournamentState::Over, Some(8))
    );
    assert_eq!(store.scores(id, None, 10).await.unwrap(), []);
}

async fn tournaments_do_not_see_each_others_games(home: &Home) {
    let store = home.open().await;
    let one = store.create(&new_tournament("one", 2)).await.unwrap().id;
    let two = store.create(&new_tournament("two", 2)).await.unwrap().id;
    store.report(one, games(0..3)).await.unwrap();
    store.report(two, games(1..2)).await.unwrap();
    let counted: Vec<_> = (store.tournaments().await.unwrap().into_iter())
        .map(|row| (row.name, row.games))
        .collect();
    assert_eq!(counted, [("two".to_owned(), 2), ("one".to_owned(), 6)]);
    assert_eq!(store.scores(two, None, 10).await.unwrap().len(), 1);
    assert_eq!(store.counters(two).await.unwrap()[0].2, 2);
    let tallied: u64 = (store.group_counts(one).await.unwrap().iter())
        .map(|tally| tally.groups)
        .sum();
    assert_eq!(tallied, 3);
}
