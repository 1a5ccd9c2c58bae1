//! Workers that work for one tournament alone.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{sync::Arc, time::Duration};

use arena_dispatch::{TournamentOptions, Tournaments};
use arena_store::{NewEntrant, NewTournament, QueuedTournament, Store, Wish};
use arena_tournament::{Definition, Isolation, Observer, OnKubernetes, Plan, Silent};
use referee_bots::Schemes;
use referee_core::Root;
use referee_worker::{
    Abilities, Dispatch as _,
    lease::{LeaseReply, LeaseRequest, Scope},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Long enough that a request for work is not answered because it has waited for too long.
const LEASE: Duration = Duration::from_secs(24 * 3600);

/// A tournament that is to be played.
fn tournament() -> NewTournament {
    let definition = Definition {
        deals: 1,
        filler: "exec:true".to_owned(),
        ..Definition::round_robin("othello", vec![Value::Null])
    };
    let entrants = ["a", "b"].map(|name| NewEntrant::new(name, "exec:true"));
    let root = Root::new([7; 32]);
    definition
        .tournament("cup", entrants.into(), root, 0)
        .unwrap()
}

/// Plays the tournament, while something is done.
async fn played<T>(
    tournament: &NewTournament,
    doing: impl AsyncFnOnce(&Tournaments<Store>, &Store) -> T,
) -> T {
    let store = Store::open_in_memory().await.unwrap();
    let id = store.create(tournament).await.unwrap().id;
    store.set_wish(id, Some(Wish::Play)).await.unwrap();
    let options = TournamentOptions {
        lease: LEASE,
        ..TournamentOptions::default()
    };
    let observer =
        Box::new(|_: &QueuedTournament, _: &Arc<Plan>| Arc::new(Silent) as Arc<dyn Observer>);
    let tournaments = Tournaments::new(store.clone(), Schemes::with(vec![]), options, observer);
    let stop = CancellationToken::new();
    let done = async {
        let done = doing(&tournaments, &store).await;
        stop.cancel();
        done
    };
    let both = async { tokio::join!(done, tournaments.supervise(&stop)) };
    let both = tokio::time::timeout(Duration::from_secs(60), both).await;
    both.expect("it ends").0
}

fn request(scope: Option<Scope>) -> LeaseRequest {
    LeaseRequest {
        worker: "one".to_owned(),
        session: None,
        can: Arc::new(Abilities::Local),
        games: 100,
        scope,
    }
}

fn of_match(matchup: Option<u32>) -> Option<Scope> {
    Some(Scope {
        tournament: "cup".to_owned(),
        matchup,
    })
}

#[tokio::test]
async fn what_pods_play_is_given_to_them_alone() {
    let mut tournament = tournament();
    let mut definition: Definition = serde_json::from_value(tournament.definition).unwrap();
    definition.kubernetes = Some(OnKubernetes {
        isolation: Isolation::Shared,
        games: Some(4),
    });
    tournament.definition = serde_json::to_value(&definition).unwrap();
    played(&tournament, async |tournaments, _| {
        let games = |_: &_| 4;
        assert!(
            tournaments.with_pods(&games, 9).is_none(),
            "nobody has looked"
        );
        let told = loop {
            match tournaments.with_pods(&games, 9) {
                Some(told) if !told.is_empty() => break told,
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        let open = &told[0].matches[0];
        assert_eq!(
            (&*told[0].name, open.matchup, open.groups, open.chunks),
            ("cup", 0, 1, 1)
        );
        // A worker that plays anything waits; the one that was made for the match does not.
        let anything = tournaments.lease(request(None));
        let anything = tokio::time::timeout(Duration::from_millis(300), anything).await;
        assert!(anything.is_err(), "{anything:?}");
        let of_it = tournaments.lease(request(of_match(Some(0)))).await.unwrap();
        assert!(matches!(of_it, LeaseReply::Work(_)), "{of_it:?}");
    })
    .await;
}

#[tokio::test]
async fn who_waits_for_work_hears_that_its_tournament_has_ended() {
    let reply = played(&tournament(), async |tournaments, store| {
        let all = tournaments.lease(request(of_match(None))).await.unwrap();
        assert!(matches!(all, LeaseReply::Work(_)), "{all:?}");
        let id = store.tournament("cup").await.unwrap().unwrap().id;
        let (waiting, ()) = tokio::join!(tournaments.lease(request(of_match(None))), async {
            store.set_wish(id, Some(Wish::Cancel)).await.unwrap();
        });
        waiting.unwrap()
    })
    .await;
    assert!(matches!(reply, LeaseReply::Over), "{reply:?}");
}
