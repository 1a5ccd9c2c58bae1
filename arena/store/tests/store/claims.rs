//! Only one arena runs a tournament.

use std::{fs::File, time::Duration};

use arena_store::{Claim, Store, StoreError, TournamentId};

use crate::vocabulary::{Home, new_tournament, on_both};

on_both!(
    two_arenas_can_not_claim_one_tournament,
    a_claim_that_is_dropped_is_given_back,
);

async fn two_arenas_can_not_claim_one_tournament(home: &Home) {
    let one = home.open().await;
    let two = home.open().await;
    let a = one.create(&new_tournament("a", 2)).await.unwrap().id;
    let b = one.create(&new_tournament("b", 2)).await.unwrap().id;
    assert!(!two.is_claimed(a).await.unwrap());
    let claim = one.claim(a).await.unwrap();
    for store in [&one, &two] {
        assert!(store.is_claimed(a).await.unwrap());
        assert!(!store.is_claimed(b).await.unwrap());
        let error = store.claim(a).await.unwrap_err();
        assert!(matches!(error, StoreError::Claimed { .. }), "{error}");
        let pid = std::process::id();
        let says = error.to_string();
        assert!(says.contains(&format!("by process {pid} on ")), "{says}");
        assert!(says.contains("stop that one first"), "{says}");
    }
    // Another one is free.
    let other = two.claim(b).await.unwrap();
    claim.release().await;
    let again = two.claim(a).await.unwrap();
    assert!(one.claim(a).await.is_err());
    again.release().await;
    other.release().await;
    for id in [a, b] {
        assert!(!one.is_claimed(id).await.unwrap());
    }
}

async fn a_claim_that_is_dropped_is_given_back(home: &Home) {
    let store = home.open().await;
    let id = store.create(&new_tournament("a", 2)).await.unwrap().id;
    drop(store.claim(id).await.unwrap());
    soon(&store, id).await.release().await;
}

/// The server needs a moment to see that a session has ended.
pub(crate) async fn soon(store: &Store, id: TournamentId) -> Claim {
    for _ in 0..1000 {
        match store.claim(id).await {
            Err(StoreError::Claimed { .. }) => {}
            claimed => return claimed.unwrap(),
        }
    }
    panic!("it was not given back");
}

#[tokio::test]
async fn a_question_whether_it_is_claimed_keeps_nobody_from_a_claim() {
    let home = Home::sqlite();
    let store = home.open().await;
    let id = store.create(&new_tournament("a", 2)).await.unwrap().id;
    // What the question does, only longer.
    let asked = File::create(format!("{}.{id}.lock", home.url())).unwrap();
    asked.lock_shared().unwrap();
    let asking = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop(asked);
    });
    store.claim(id).await.unwrap().release().await;
    asking.await.unwrap();
    assert!(!store.is_claimed(id).await.unwrap());
}
