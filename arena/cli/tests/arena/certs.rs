//! Certificates that a person makes, and what they are good for.

use std::{fs, os::unix::fs::PermissionsExt as _};

use referee_net::{ClientFiles, ClientTls, PeerCertificate, ServerTls, TlsFiles};

use crate::vocabulary::*;

/// A handshake between the server and the client of a folder; the name that the client is
/// known by.
async fn handshake(arena: &Arena, server: &str, host: &str) -> PeerCertificate {
    use referee_net::incoming_from;
    use tokio_stream::StreamExt as _;

    let file = |name: &str| arena.path(&format!("tls/{name}"));
    let server = ServerTls::load(TlsFiles {
        certificate: file(&format!("{server}.pem")),
        key: file(&format!("{server}.key")),
        client_ca: Some(file("ca.pem")),
    });
    let client = ClientTls::load(ClientFiles {
        ca: Some(file("ca.pem")),
        identity: Some((file("worker-1.pem"), file("worker-1.key"))),
    });
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let bounds = referee_net::Bounds::default();
    let accepted = tokio_stream::once(Ok((theirs, None)));
    let mut incoming = Box::pin(incoming_from(accepted, Some(server.unwrap()), &bounds));
    let client = client.unwrap();
    let dialled = async {
        use tokio::io::AsyncWriteExt as _;
        let mut stream = client.connect(host, ours).await.unwrap();
        stream
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .unwrap();
        stream
    };
    let (_open, ready) = tokio::join!(dialled, incoming.next());
    use tonic::transport::server::Connected as _;
    ready.unwrap().unwrap().connect_info().certificate.unwrap()
}

#[tokio::test]
async fn an_authority_a_server_and_a_client_that_are_made_trust_each_other() {
    let arena = Arena::new();
    let said = done(&arena.run("certs init tls"));
    assert!(said.contains("arena certs server tls"), "{said}");
    done(&arena.run("certs server tls --name referee.example --name 127.0.0.1 --days 30"));
    done(&arena.run("certs client tls worker-1"));
    for host in ["referee.example", "127.0.0.1"] {
        let peer = handshake(&arena, "referee.example", host).await;
        assert_eq!(peer.common_name.as_deref(), Some("worker-1"));
    }
    for key in ["ca.key", "referee.example.key", "worker-1.key"] {
        let file = fs::metadata(arena.path(&format!("tls/{key}"))).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{key}");
    }
    // Renewed, they still do.
    done(&arena.run("certs server tls --name referee.example --name 127.0.0.1 --force"));
    handshake(&arena, "referee.example", "127.0.0.1").await;
}

#[test]
fn nothing_is_written_over_unless_that_is_asked_for() {
    let arena = Arena::new();
    done(&arena.run("certs init tls"));
    done(&arena.run("certs client tls worker-1"));
    let files = ["ca.pem", "ca.key", "worker-1.pem", "worker-1.key"];
    let read = || files.map(|file| fs::read(arena.path(&format!("tls/{file}"))).unwrap());
    let before = read();
    refused(
        &arena.run("certs init tls"),
        "is there already; --force writes over it",
    );
    refused(
        &arena.run("certs client tls worker-1"),
        "is there already; --force writes over it",
    );
    assert_eq!(read(), before);
    done(&arena.run("certs client tls worker-1 --force"));
    let after = read();
    assert_eq!(after[..2], before[..2]);
    assert!(after[2] != before[2] && after[3] != before[3]);
}

#[test]
fn what_is_no_name_or_has_no_authority_is_refused() {
    let arena = Arena::new();
    refused(
        &arena.run("certs client tls worker-1"),
        "arena certs init tls",
    );
    done(&arena.run("certs init tls"));
    for name in ["ca", "../x", ".x", "a/b", "''"] {
        let output = arena.run(&format!("certs client tls -- {name}"));
        refused(&output, "is no name of a client");
    }
    for name in ["ca", "a/b", "host:5", "https://host", "..", "''"] {
        let output = arena.run(&format!("certs server tls --name {name}"));
        refused(&output, "expected a host name or an IP address");
    }
    refused(&arena.run("certs client tls a --days 0"), "--days");
    fs::write(arena.path("tls/ca.key"), "x").unwrap();
    refused(&arena.run("certs client tls a"), "no certificate authority");
}
