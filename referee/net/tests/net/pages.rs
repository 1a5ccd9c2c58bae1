//! A page over HTTP/1.1: who gets it, and who is cut off.

use std::{net::SocketAddr, time::Duration};

use referee_net::{PageBounds, ServerTls, TextPage, serve_pages};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsConnector, rustls};

use crate::common::{AMPLE, Authority, Identity};

/// Bounds that nobody reaches.
fn ample() -> PageBounds {
    PageBounds {
        connections: 100,
        header_bytes: 16 * 1024,
        handshake: 60 * AMPLE,
        request: 60 * AMPLE,
    }
}

/// Serves a page of this length. Ends with the runtime of its test.
async fn serve(tls: Option<ServerTls>, bounds: PageBounds, bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let page = "x".repeat(bytes);
    let paths = &["/metrics", "/away"];
    tokio::spawn(serve_pages(
        listener,
        tls,
        bounds,
        paths,
        move |path| match path {
            "/away" => TextPage::Unavailable(page.clone()),
            _ => TextPage::Ok(page.clone()),
        },
    ));
    address
}

/// The answer of the server to this, until it closes the connection.
async fn heard(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), said: &[u8]) -> String {
    let mut heard = Vec::new();
    let talk = async {
        // A server that is done closes the connection, also before it has read everything.
        let _ = stream.write_all(said).await;
        let _ = stream.read_to_end(&mut heard).await;
    };
    tokio::time::timeout(AMPLE, talk)
        .await
        .expect("it is closed");
    String::from_utf8_lossy(&heard).into_owned()
}

async fn asked(address: SocketAddr, said: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    heard(&mut stream, said).await
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[tokio::test]
async fn the_page_is_at_its_path_and_nowhere_else() {
    let address = serve(None, ample(), 3).await;
    for (request, expected) in [
        ("GET /metrics", "200"),
        ("HEAD /metrics", "200"),
        ("GET /metrics?name=x", "200"),
        ("GET /away", "503"),
        ("GET /", "404"),
        ("GET /metrics/", "404"),
        ("GET /health", "404"),
        ("POST /metrics", "405"),
    ] {
        for version in ["1.0", "1.1"] {
            let said = format!("{request} HTTP/{version}\r\nHost: arena\r\n\r\n");
            let answer = asked(address, said.as_bytes()).await;
            assert_eq!(status(&answer), expected, "{request}: {answer}");
            let has_page = answer.ends_with("\r\n\r\nxxx");
            assert_eq!(
                has_page,
                request.starts_with("GET ") && !expected.starts_with("40")
            );
        }
    }
    let answer = asked(address, b"GET /metrics HTTP/1.0\r\n\r\n").await;
    assert!(answer.contains("content-type: text/plain\r\n"), "{answer}");
    assert_eq!(status(&asked(address, b"no request\r\n\r\n").await), "400");
}

#[tokio::test]
async fn whoever_sends_no_header_in_time_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let tls = Authority::new().signs(folder.path(), "server").server(None);
    let bounds = PageBounds {
        handshake: Duration::from_millis(50),
        ..ample()
    };
    for tls in [None, Some(tls)] {
        let address = serve(tls, bounds.clone(), 3).await;
        for said in [&b""[..], b"GET /metrics HTTP/1.1\r\nHost:", b"\x16\x03\x01"] {
            // hyper's own bound is 30 s.
            let answer = tokio::time::timeout(AMPLE / 4, asked(address, said)).await;
            let answer = answer.expect("it is closed");
            assert!(!answer.contains("200"), "{answer}");
        }
    }
}

#[tokio::test]
async fn whoever_does_not_read_the_page_in_time_is_cut_off() {
    let bounds = PageBounds {
        connections: 1,
        request: Duration::from_millis(500),
        ..ample()
    };
    // More than the buffers between the two hold.
    let address = serve(None, bounds, 32 * 1024 * 1024).await;
    let mut slow = TcpStream::connect(address).await.unwrap();
    let request = b"GET /metrics HTTP/1.1\r\nHost: arena\r\n\r\n";
    slow.write_all(request).await.unwrap();
    // On a slow machine the time may be over before the page begins.
    let _ = slow.read(&mut [0]).await;
    let served = async {
        let request = b"HEAD /metrics HTTP/1.1\r\nHost: arena\r\n\r\n";
        while status(&asked(address, request).await) != "200" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let room = "there is room for another";
    tokio::time::timeout(AMPLE, served).await.expect(room);
    drop(slow);
}

#[tokio::test]
async fn a_header_that_is_too_large_is_refused() {
    let bounds = PageBounds {
        header_bytes: 1000,
        ..ample()
    };
    let address = serve(None, bounds, 3).await;
    for (bytes, expected) in [(900, "200"), (1100, "431"), (10_000_000, "431")] {
        let filler = "x".repeat(bytes);
        let said = format!("GET /metrics HTTP/1.1\r\nHost: arena\r\nX: {filler}\r\n\r\n");
        let answer = asked(address, said.as_bytes()).await;
        // The answer may be lost when the server does not read the rest.
        let is_lost = bytes > 1_000_000 && answer.is_empty();
        assert!(is_lost || status(&answer) == expected, "{bytes}: {answer}");
    }
}

#[tokio::test]
async fn further_connections_are_closed_until_there_is_room_for_a_request() {
    let bounds = PageBounds {
        connections: 2,
        ..ample()
    };
    let address = serve(None, bounds, 3).await;
    let request = b"GET /metrics HTTP/1.1\r\nHost: arena\r\n\r\n";
    let first = TcpStream::connect(address).await.unwrap();
    let second = TcpStream::connect(address).await.unwrap();
    assert_eq!(asked(address, request).await, "");
    drop(first);
    let served = async {
        while status(&asked(address, request).await) != "200" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AMPLE, served).await.unwrap();
    drop(second);
}

/// The answer over TLS to a client that speaks HTTP/1.1 and maybe HTTP/2, as Prometheus does.
async fn over_tls(
    address: SocketAddr,
    authority: &Authority,
    protocols: &[&str],
    identity: Option<&Identity>,
) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let builder = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (chain, key) = identity.read();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = protocols
        .iter()
        .map(|one| one.as_bytes().to_vec())
        .collect();
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(std::sync::Arc::new(config));
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    heard(
        &mut stream,
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    )
    .await
}

#[tokio::test]
async fn the_page_is_served_over_tls_to_those_with_a_certificate_of_the_authority() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, other) = (Authority::new(), Authority::new());
    let ca = authority.file(folder.path(), "ca.pem");
    let server = authority.signs(folder.path(), "server");
    let known = authority.signs(folder.path(), "prometheus");
    let stranger = other.signs(folder.path(), "stranger");

    let open = serve(Some(server.server(None)), ample(), 3).await;
    let guarded = serve(Some(server.server(Some(&ca))), ample(), 3).await;
    for protocols in [&[][..], &["http/1.1"], &["h2", "http/1.1"]] {
        for (address, identity) in [(open, None), (guarded, Some(&known))] {
            let answer = over_tls(address, &authority, protocols, identity).await;
            assert_eq!(status(&answer), "200", "{protocols:?}: {answer}");
            assert!(answer.ends_with("\r\n\r\nxxx"), "{answer}");
        }
    }
    for identity in [None, Some(&stranger)] {
        let answer = over_tls(guarded, &authority, &["http/1.1"], identity).await;
        assert_eq!(answer, "");
    }
    // Nobody gets it without TLS.
    let answer = asked(open, b"GET /metrics HTTP/1.0\r\n\r\n").await;
    assert!(!answer.contains("xxx"), "{answer}");
}
