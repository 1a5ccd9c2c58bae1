//! Work that a worker is given that has done nothing yet, over the network.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{sync::Arc, time::Duration};

use arena_dispatch::{
    Examines, Replays, ServiceOptions, TournamentOptions, Tournaments, WorkerAccess, serve,
};
use arena_proto::arena::v1::{
    self as proto, attend_request::Message, dispatch_client::DispatchClient, lease_reply::Reply,
};
use arena_store::{NewEntrant, QueuedTournament, Store, Wish};
use arena_tournament::{Definition, Observer, Plan, Silent};
use futures_util::StreamExt as _;
use referee_bots::Schemes;
use referee_core::Root;
use referee_net::{Bounds, DialOptions, channel};
use referee_worker::remote::wire;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::{Code, service::Routes, transport::Channel};

/// When a test gives up waiting.
const AMPLE: Duration = Duration::from_secs(14);
/// Long enough for what must not happen, where the machine is slow too.
const WHILE: Duration = Duration::from_millis(300);

/// An arena that plays 200 deals of Connect Four, and takes every worker.
async fn arena() -> Channel {
    let definition = Definition {
        deals: 200,
        filler: "tcp:127.0.0.1:1".to_owned(),
        ..Definition::round_robin("connect_four", vec![Value::Null])
    };
    let store = Store::open_in_memory().await.unwrap();
    let entrants = [("a", 1), ("b", 2)];
    let entrants =
        entrants.map(|(name, port)| NewEntrant::new(name, format!("tcp:127.0.0.1:{port}")));
    let new = definition.tournament("cup", entrants.into(), Root::new([7; 32]), 0);
    let new = new.unwrap();
    let id = store.create(&new).await.unwrap().id;
    store.set_wish(id, Some(Wish::Play)).await.unwrap();
    let observer =
        Box::new(|_: &QueuedTournament, _: &Arc<Plan>| Arc::new(Silent) as Arc<dyn Observer>);
    let options = TournamentOptions::default();
    let tournaments = Tournaments::new(store, Schemes::with(vec![]), options, observer);
    let options = ServiceOptions {
        access: WorkerAccess::Open,
        replays: Replays::All,
        sample_seed: [0; 32],
        examines: Examines::OnThreads(1),
        plays_here: false,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (bounds, stop) = (Bounds::default(), CancellationToken::new());
        serve(
            Arc::new(tournaments),
            options,
            listener,
            None,
            &bounds,
            Routes::default(),
            stop,
        )
        .await
    });
    channel(&target.parse().unwrap(), None, &DialOptions::default()).unwrap()
}

/// A worker's process, whose stream is open as long as this is kept.
async fn joined(channel: &Channel, session: u8) -> tonic::Streaming<proto::AttendReply> {
    let join = proto::Join {
        session: vec![session; 16].into(),
        name: format!("worker-{session}"),
        version: Some(wire::own_version()),
        machine: Some(proto::Machine {
            bots: vec!["127.0.0.1:*".to_owned()],
            ..proto::Machine::default()
        }),
    };
    let join = proto::AttendRequest {
        message: Some(Message::Join(join)),
    };
    loop {
        let messages = tokio_stream::once(join.clone()).chain(futures_util::stream::pending());
        match DispatchClient::new(channel.clone()).attend(messages).await {
            Ok(stream) => return stream.into_inner(),
            // It is just starting.
            Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The next lease of a worker that asks for as much as there is; none where it is not answered.
async fn leased(channel: &Channel, session: u8, within: Duration) -> Option<proto::Lease> {
    let request = proto::LeaseRequest {
        session: vec![session; 16].into(),
        games: u64::MAX,
        scope: None,
    };
    let mut client = DispatchClient::new(channel.clone());
    let reply = tokio::time::timeout(within, client.lease(request))
        .await
        .ok()?;
    match reply.unwrap().into_inner().reply {
        Some(Reply::Work(lease)) => Some(lease),
        reply => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_has_reported_nothing_can_not_lease_everything() {
    let channel = arena().await;
    let _streams = (joined(&channel, 1).await, joined(&channel, 2).await);
    let lease = leased(&channel, 1, AMPLE).await.unwrap();
    assert_eq!(lease.games.len(), 64);
    assert!(leased(&channel, 1, WHILE).await.is_none());
    // Another worker is not held up by that.
    assert_eq!(leased(&channel, 2, AMPLE).await.unwrap().games.len(), 64);
}

#[tokio::test]
async fn what_is_said_under_anothers_lease_is_refused_with_a_reason() {
    let channel = arena().await;
    let _streams = (joined(&channel, 1).await, joined(&channel, 2).await);
    let lease = leased(&channel, 1, AMPLE).await.unwrap();
    let mut client = DispatchClient::new(channel.clone());
    let game = proto::GameReport {
        lease: lease.id,
        key: lease.games[0].key,
        // It is not even looked at: a record that is none has a worker shut out.
        record: vec![7; 10].into(),
        logs: Vec::new(),
    };
    let report = |session: u8| proto::ReportRequest {
        session: vec![session; 16].into(),
        games: vec![game.clone()],
    };
    let reply = client.report(report(2)).await.unwrap().into_inner();
    assert_eq!(
        reply.games().collect::<Vec<_>>(),
        [proto::Reported::NotHeld]
    );
    let give_back = proto::GiveBackRequest {
        session: vec![2; 16].into(),
        lease: lease.id,
        unplayed: Vec::new(),
        memory: vec![
            proto::MemoryPeak {
                bytes: Some(u64::MAX)
            };
            2
        ],
    };
    let refused = client.give_back(give_back).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert!(
        refused.message().contains("does not have this lease"),
        "{refused}"
    );
    // The one that has it is believed to have sent this.
    let refused = client.report(report(1)).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(
        refused.message().contains("worker-1 was shut out"),
        "{refused}"
    );
}
