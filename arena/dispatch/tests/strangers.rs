//! Limits of strangers at the port that workers join at.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arena_dispatch::{
    Examines, Replays, ServiceOptions, TournamentOptions, Tournaments, WorkerAccess, serve,
};
use arena_proto::arena::v1 as proto;
use arena_store::{QueuedTournament, Store, WorkerRow};
use arena_tournament::{Observer, Plan, Silent};
use futures_util::StreamExt as _;
use referee_bots::Schemes;
use referee_net::{Bounds, DialOptions, Token, channel};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::{
    Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery, service::Routes,
    transport::Channel,
};

/// When a test gives up waiting, and less than a message may take to come.
const AMPLE: Duration = Duration::from_secs(30);

/// An arena that nobody but the workers of its store may join.
async fn arena() -> (SocketAddr, Store) {
    let store = Store::open_in_memory().await.unwrap();
    let observer =
        Box::new(|_: &QueuedTournament, _: &Arc<Plan>| Arc::new(Silent) as Arc<dyn Observer>);
    let options = TournamentOptions::default();
    let tournaments = Tournaments::new(store.clone(), Schemes::with(vec![]), options, observer);
    let options = ServiceOptions {
        access: WorkerAccess::Known,
        replays: Replays::All,
        sample_seed: [0; 32],
        examines: Examines::OnThreads(1),
        plays_here: false,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let stop = CancellationToken::new();
        let tournaments = Arc::new(tournaments);
        let bounds = Bounds::default();
        let others = Routes::default();
        serve(tournaments, options, listener, None, &bounds, others, stop).await
    });
    (address, store)
}

fn dial(address: SocketAddr) -> Channel {
    let target = format!("http://{address}").parse().unwrap();
    channel(&target, None, &DialOptions::default()).unwrap()
}

/// A report whose body begins with a message of so many bytes and never ends.
async fn report(channel: Channel, token: Option<&Token>, bytes: usize) -> Status {
    let report = proto::ReportRequest {
        session: vec![1; 16].into(),
        games: vec![proto::GameReport {
            record: vec![7; bytes].into(),
            ..proto::GameReport::default()
        }],
    };
    let messages = tokio_stream::once(report).chain(futures_util::stream::pending());
    let mut request = Request::new(messages);
    if let Some(token) = token {
        let value = format!("Bearer {}", token.reveal()).parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    let mut client = Grpc::new(channel).max_encoding_message_size(usize::MAX);
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static("/arena.v1.Dispatch/Report");
    let codec = tonic_prost::ProstCodec::<proto::ReportRequest, proto::ReportReply>::default();
    let calling = client.client_streaming(request, path, codec);
    let called = tokio::time::timeout(AMPLE, calling).await;
    called
        .expect("it is refused before its message has come")
        .unwrap_err()
}

#[tokio::test]
async fn whoever_has_no_token_is_refused_before_a_message_is_read() {
    let (address, store) = arena().await;
    for token in [None, Some(Token::generate().unwrap())] {
        let refused = report(dial(address), token.as_ref(), 8 * 1024 * 1024).await;
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
    }
    // A worker that was added a moment ago is known; its message is too large to be read.
    let token = Token::generate().unwrap();
    let worker = WorkerRow {
        name: "lab".to_owned(),
        token_hash: Some(token.hash().to_string()),
        created_unix_ms: 0,
        expires_unix_ms: None,
        revoked: false,
        shut_out: None,
    };
    store.add_worker(&worker).await.unwrap();
    let refused = report(dial(address), Some(&token), 13 * 1024 * 1024).await;
    assert_eq!(refused.code(), Code::OutOfRange, "{refused}");
}
