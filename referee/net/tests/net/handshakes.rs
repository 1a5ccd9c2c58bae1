//! Tests of the clients that are let in, and of the servers that a client trusts.

use std::{io, path::Path, sync::Arc};

use referee_net::{Bounds, ClientFiles, ClientTls, PeerCertificate, ServerTls, TlsFiles};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

use crate::common::{AMPLE, Authority, Identity, Running, client};

#[tokio::test]
async fn a_client_that_trusts_the_authority_calls_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(None);
    let server = Running::start(Some(tls), Bounds::default()).await;
    server.call(Some(client(&ca, None))).await.unwrap();
    let [caller] = &server.callers()[..] else {
        panic!("one call was made")
    };
    assert!(caller.address.unwrap().ip().is_loopback());
    assert_eq!(caller.certificate, None);
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = Authority::new().file(folder.path(), "other.pem");
    let tls = Authority::new().signs(folder.path(), "server").server(None);
    let server = Running::start(Some(tls), Bounds::default()).await;
    let error = server.call(Some(client(&other, None))).await.unwrap_err();
    // Which of the two it is depends on whether both authorities have the same name.
    let why = error.message();
    assert!(
        why.contains("no authority that is trusted here has signed the server's certificate"),
        "{why}"
    );
}

#[tokio::test]
async fn a_server_of_another_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(None);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = tls.accept(stream).await;
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let tls = client(&ca, None);
    let error = tls.connect("elsewhere.example", stream).await.unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

#[tokio::test]
async fn with_mutual_tls_the_server_knows_its_caller_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(Some(&ca));
    assert!(tls.wants_certificates());
    let server = Running::start(Some(tls), Bounds::default()).await;
    let worker = authority.signs(folder.path(), "worker-7");
    server.call(Some(client(&ca, Some(&worker)))).await.unwrap();
    let expected = PeerCertificate {
        common_name: Some("worker-7".to_owned()),
        names: ["localhost", "127.0.0.1", "worker-7"]
            .map(ToOwned::to_owned)
            .into(),
    };
    assert_eq!(server.callers()[0].certificate, Some(expected));
}

#[tokio::test]
async fn with_mutual_tls_a_client_without_a_good_certificate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(Some(&ca));
    let server = Running::start(Some(tls), Bounds::default()).await;
    let stranger = Authority::new().signs(folder.path(), "stranger");
    for identity in [None, Some(&stranger)] {
        server.call(Some(client(&ca, identity))).await.unwrap_err();
    }
    assert!(server.callers().is_empty());
}

#[tokio::test]
async fn a_client_whose_certificate_has_expired_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(Some(&ca));
    let server = Running::start(Some(tls), Bounds::default()).await;
    for (year, expected) in [(4000, "answered"), (2020, "CertificateExpired")] {
        let worker = authority.signs_until(folder.path(), "worker", year);
        let heard = raw_client(&ca, &worker, server.address).await;
        let heard = heard.map_or_else(|error| error.to_string(), |()| "answered".to_owned());
        assert!(heard.contains(expected), "{year}: {heard}");
    }
}

/// Connects without our own client, which would not load such a certificate, and hears
/// whether the server begins HTTP/2.
async fn raw_client(
    ca: &Path,
    identity: &Identity,
    address: std::net::SocketAddr,
) -> io::Result<()> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(ca).unwrap())
        .unwrap();
    let chain = vec![CertificateDer::from_pem_file(&identity.certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_file(&identity.key).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .unwrap();
    let stream = TcpStream::connect(address).await?;
    let connector = TlsConnector::from(Arc::new(config));
    let name = "localhost".try_into().unwrap();
    let mut stream = connector.connect(name, stream).await?;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await?;
    let mut frame = [0; 9];
    let heard = tokio::time::timeout(AMPLE, stream.read_exact(&mut frame)).await;
    heard.unwrap().map(|_| ())
}

#[tokio::test]
async fn a_server_whose_certificate_has_expired_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let identity = authority.signs_until(folder.path(), "server", 2020);
    let chain = vec![CertificateDer::from_pem_file(&identity.certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_file(&identity.key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = TlsAcceptor::from(Arc::new(config)).accept(stream).await;
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let tls = client(&ca, None);
    let error = tls.connect("localhost", stream).await.unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
}

#[tokio::test]
async fn plain_text_and_tls_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let tls = authority.signs(folder.path(), "server").server(None);
    let secure = Running::start(Some(tls), Bounds::default()).await;
    secure.call(None).await.unwrap_err();
    let plain = Running::start(None, Bounds::default()).await;
    plain.call(Some(client(&ca, None))).await.unwrap_err();
    // Both still serve those who come as they should.
    secure.call(Some(client(&ca, None))).await.unwrap();
    plain.call(None).await.unwrap();
}

#[test]
fn a_wrong_file_is_named_with_what_was_expected_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let good = authority.signs(folder.path(), "good");
    let other = authority.signs(folder.path(), "other");
    let old = authority.signs_until(folder.path(), "old", 2020);
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "-----BEGIN CERTIFICATE-----\n!\n").unwrap();
    let missing = folder.path().join("missing");
    let cases = [
        (&missing, &good.key, &ca, "missing: No such file"),
        (
            &garbage,
            &good.key,
            &ca,
            "garbage: expected a certificate in PEM",
        ),
        (
            &good.key,
            &good.key,
            &ca,
            "good.key: expected a certificate in PEM, found none",
        ),
        (
            &good.certificate,
            &good.certificate,
            &ca,
            "good.pem: expected a private key in PEM",
        ),
        (
            &good.certificate,
            &other.key,
            &ca,
            "other.key: expected the private key of the",
        ),
        (
            &old.certificate,
            &old.key,
            &ca,
            "found one that was valid until",
        ),
        (
            &good.certificate,
            &good.key,
            &garbage,
            "garbage: expected a certificate",
        ),
        (
            &good.certificate,
            &good.key,
            &missing,
            "missing: No such file",
        ),
    ];
    for (certificate, key, client_ca, words) in cases {
        let error = ServerTls::load(TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: Some(client_ca.clone()),
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.contains("; "), "it says what to do: {error}");
    }
    let error = ClientTls::load(ClientFiles {
        ca: Some(missing),
        identity: None,
    });
    assert!(error.unwrap_err().to_string().contains("missing"));
}
