//! Metrics over TLS, as Prometheus fetches them. Without TLS they are in `tournaments.rs`.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::SystemTime,
};

use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};

use crate::{site::Site, vocabulary::*};

/// The answer to somebody with this certificate, or without one.
fn fetched(arena: &Arena, address: SocketAddr, name: Option<&str>) -> std::io::Result<String> {
    let file = |name: &str| arena.path(&format!("tls/{name}"));
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(file("ca.pem")).unwrap();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match name {
        None => config.with_no_client_auth(),
        Some(name) => {
            let certificate = CertificateDer::from_pem_file(file(&format!("{name}.pem")));
            let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key")));
            let chain = vec![certificate.unwrap()];
            config.with_client_auth_cert(chain, key.unwrap()).unwrap()
        }
    };
    let host = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), host).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(address)?);
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn metrics_over_tls_are_for_those_with_a_certificate() {
    let mut site = Site::new();
    done(&site.arena.run("certs init tls"));
    done(&site.arena.run("certs server tls --name localhost"));
    done(&site.arena.run("certs client tls prometheus"));
    let address = free_address();
    site.serve(&format!(
        "--open --concurrency 0 --metrics {address} --metrics-tls-cert tls/localhost.pem \
         --metrics-tls-key tls/localhost.key --metrics-tls-client-ca tls/ca.pem"
    ));
    let mut text = String::new();
    let is_served = || {
        text = fetched(&site.arena, address, Some("prometheus")).unwrap_or_default();
        text.contains("arena_workers_connected 0") && text.contains("arena_certificate")
    };
    wait_until_or("metrics are served", || site.log(), is_served);
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    let end = "arena_certificate_expiry_timestamp_seconds{file=\"tls/localhost.pem\"} ";
    let (_, end) = text.split_once(end).unwrap_or_else(|| panic!("{text}"));
    let end: f64 = end.lines().next().unwrap().parse().unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    assert!(end > now.unwrap().as_secs_f64(), "{end}");
    fetched(&site.arena, address, None).unwrap_err();
    let mut plain = TcpStream::connect(address).unwrap();
    plain.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("arena_"));
}

#[test]
fn tls_of_metrics_without_metrics_is_refused() {
    let arena = Arena::new();
    let line = "serve --metrics-tls-cert a.pem --metrics-tls-key a.key";
    refused(&arena.run(line), "--metrics <ADDRESS>");
    let line = "serve --metrics 127.0.0.1:0 --metrics-tls-client-ca ca.pem";
    refused(&arena.run(line), "--metrics-tls-cert");
    let line = "serve --metrics 127.0.0.1:0 --metrics-tls-cert a.pem --metrics-tls-key a.key";
    refused(&arena.run(line), "could not read a certificate in PEM");
}
