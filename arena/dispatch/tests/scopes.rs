//! Workers that work for one tournament alone.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{sync::Arc, time::Duration};

use arena_dispatch::{TournamentOptions, Tournaments};
use arena_ladder::{ScheduleShape, Seatings, SetAsideRule};
use arena_store::{NewEntrant, NewTournament, Store, Wish};
use arena_tournament::{Definition, Observer, Plan, Silent};
use referee_core::{Limits, Root};
use referee_worker::{
    Abilities, Dispatch as _, Schemes,
    lease::{LeaseReply, LeaseRequest, Scope},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Long enough that a request for work is not answered because it has waited for too long.
const LEASE: Duration = Duration::from_secs(24 * 3600);

/// A tournament that is to be played.
fn tournament() -> NewTournament {
    let kind = referee_games::game("othello").unwrap();
    let definition = Definition {
        game: "othello".to_owned(),
        shape: ScheduleShape::RoundRobin {},
        deals: 1,
        seatings: Seatings::Rotations,
        setups: vec![kind.setup(&Value::Null).unwrap()],
        limits: Limits::default(),
        memory_mib: None,
        sprt: None,
        patience: SetAsideRule::default(),
        filler: "exec:true".to_owned(),
        time: None,
        directory: std::env::temp_dir(),
    };
    let entrant = |name: &str| NewEntrant {
        name: name.to_owned(),
        version: "1".to_owned(),
        spec: "exec:true".to_owned(),
        owner: None,
        identity: None,
    };
    NewTournament {
        name: "cup".to_owned(),
        game: "othello".to_owned(),
        rules_version: kind.info().rules_version,
        definition: serde_json::to_value(&definition).unwrap(),
        root: Root::new([7; 32]),
        reproduction: false,
        entrants: vec![entrant("a"), entrant("b")],
        created_unix_ms: 0,
    }
}

#[tokio::test]
async fn who_waits_for_work_hears_that_its_tournament_has_ended() {
    let store = Store::open_in_memory().await.unwrap();
    let id = store.create(&tournament()).await.unwrap().id;
    store.set_wish(id, Some(Wish::Play)).await.unwrap();
    let options = TournamentOptions {
        lease: LEASE,
        ..TournamentOptions::default()
    };
    let observer = Box::new(|_: &str, _: &Plan| Arc::new(Silent) as Arc<dyn Observer>);
    let tournaments = Tournaments::new(store.clone(), Schemes::with(vec![]), options, observer);
    let request = LeaseRequest {
        worker: "one".to_owned(),
        session: None,
        can: Arc::new(Abilities::Local),
        games: 100,
        scope: Some(Scope {
            tournament: "cup".to_owned(),
            matchup: None,
        }),
    };
    let stop = CancellationToken::new();
    let working = async {
        let all = tournaments.lease(request.clone()).await.unwrap();
        assert!(matches!(all, LeaseReply::Work(_)), "{all:?}");
        let (waiting, ()) = tokio::join!(tournaments.lease(request), async {
            store.set_wish(id, Some(Wish::Cancel)).await.unwrap();
        });
        stop.cancel();
        waiting.unwrap()
    };
    let both = async { tokio::join!(working, tournaments.supervise(&stop)) };
    let both = tokio::time::timeout(Duration::from_secs(60), both).await;
    let (reply, ()) = both.expect("it hears of it");
    assert!(matches!(reply, LeaseReply::Over), "{reply:?}");
}
