//! Tests of what a listener takes, and what it refuses.

use std::{io, time::Duration};

use futures_util::StreamExt as _;
use referee_net::{Bounds, DialOptions, channel_through, incoming_from};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    net::TcpStream,
    sync::mpsc,
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Request};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::common::{AMPLE, Authority, Running, call, client};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Waits until the other end has closed the connection, and gives what it said.
async fn closed(mut stream: TcpStream) -> usize {
    let mut heard = Vec::new();
    let reading = stream.read_to_end(&mut heard);
    let _ = tokio::time::timeout(AMPLE, reading)
        .await
        .expect("it is closed");
    heard.len()
}

#[tokio::test]
async fn whoever_does_not_begin_in_time_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let tls = Authority::new().signs(folder.path(), "server").server(None);
    let bounds = Bounds {
        handshake: Duration::from_millis(50),
        ..Bounds::default()
    };
    for tls in [None, Some(tls)] {
        let server = Running::start(tls, bounds.clone()).await;
        for said in [&b""[..], &PREFACE[..20], b"\x16\x03\x01"] {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(said).await.unwrap();
            closed(stream).await;
        }
    }
}

#[tokio::test]
async fn what_is_not_http_2_is_closed_at_once() {
    let bounds = Bounds {
        handshake: 60 * AMPLE,
        ..Bounds::default()
    };
    let server = Running::start(None, bounds).await;
    for said in [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &"\u{16}".repeat(24),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        assert_eq!(closed(stream).await, 0, "after {said:?}");
    }
    server.call(None).await.unwrap();
}

#[tokio::test]
async fn a_slow_handshake_holds_nobody_else_up() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(None);
    let bounds = Bounds {
        handshake: 60 * AMPLE,
        ..Bounds::default()
    };
    let server = Running::start(Some(tls), bounds).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        slow.push(TcpStream::connect(server.address).await.unwrap());
    }
    server.call(Some(client(&ca, None))).await.unwrap();
}

#[tokio::test]
async fn further_connections_are_closed_until_there_is_room() {
    let bounds = Bounds {
        connections: 2,
        handshake: 60 * AMPLE,
        ..Bounds::default()
    };
    let server = Running::start(None, bounds).await;
    let open = server.channel(None);
    call(&open).await.unwrap();
    // One that has not begun counts too.
    let silent = TcpStream::connect(server.address).await.unwrap();
    let third = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(closed(third).await, 0);
    server.call(None).await.unwrap_err();
    call(&open).await.unwrap();
    drop(silent);
    let served = async {
        while server.call(None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AMPLE, served).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let bounds = Bounds {
        message_bytes: 1000,
        ..Bounds::default()
    };
    let server = Running::start(None, bounds).await;
    let mut client = HealthClient::new(server.channel(None));
    for (bytes, code) in [(900, Code::NotFound), (1100, Code::OutOfRange)] {
        let service = "x".repeat(bytes);
        let status = client
            .check(HealthCheckRequest { service })
            .await
            .unwrap_err();
        assert_eq!(status.code(), code, "{status}");
    }
}

#[tokio::test]
async fn headers_that_are_too_large_are_refused() {
    let bounds = Bounds {
        header_bytes: 2000,
        ..Bounds::default()
    };
    let server = Running::start(None, bounds).await;
    let channel = server.channel(None);
    for (bytes, is_heard) in [(1000, true), (3000, false), (100_000, false)] {
        let mut request = Request::new(HealthCheckRequest::default());
        let value = "x".repeat(bytes).parse().unwrap();
        request.metadata_mut().insert("long", value);
        let mut client = HealthClient::new(channel.clone());
        let called = tokio::time::timeout(AMPLE, client.check(request)).await;
        assert_eq!(called.unwrap().is_ok(), is_heard, "{bytes}");
        assert_eq!(server.callers().len(), usize::from(is_heard), "{bytes}");
    }
    call(&channel).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_can_not_be_accepted_is_no_end() {
    let (connections, accepted) = mpsc::unbounded_channel();
    let mut incoming = Box::pin(incoming_from(
        UnboundedReceiverStream::new(accepted),
        None,
        &Bounds::default(),
    ));
    let (mut client, server) = tokio::io::duplex(1024);
    connections
        .send(Err(io::Error::other("too many open files")))
        .unwrap();
    connections.send(Ok((server, None))).unwrap();
    client.write_all(PREFACE).await.unwrap();
    client.write_all(b"more").await.unwrap();
    let mut ready = incoming.next().await.unwrap().unwrap();
    // Nothing of what was looked at is lost.
    let mut heard = vec![0; PREFACE.len() + 4];
    ready.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard, [PREFACE, b"more"].concat());
    drop(connections);
    assert!(incoming.next().await.is_none());
}

#[tokio::test]
async fn a_network_of_ones_own_can_be_listened_to_and_dialled() {
    let (connections, accepted) = mpsc::unbounded_channel::<io::Result<(DuplexStream, _)>>();
    let bounds = Bounds::default();
    let incoming = incoming_from(UnboundedReceiverStream::new(accepted), None, &bounds);
    let (_, health) = tonic_health::server::health_reporter();
    let serving = bounds
        .server()
        .add_service(health)
        .serve_with_incoming(incoming);
    tokio::spawn(serving);
    let target = "http://arena.example:50052".parse().unwrap();
    let connect = move |host: String, port| {
        let connections = connections.clone();
        async move {
            assert_eq!((&*host, port), ("arena.example", 50052));
            let (client, server) = tokio::io::duplex(1024);
            connections.send(Ok((server, None))).unwrap();
            Ok(client)
        }
    };
    let channel = channel_through(&target, None, &DialOptions::default(), connect).unwrap();
    let mut client = HealthClient::new(channel);
    client.check(HealthCheckRequest::default()).await.unwrap();
}
