//! Certificates, a server that says who has called it, and clients.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use referee_net::{
    Bounds, ClientFiles, ClientTls, DialOptions, Peer, ServerTls, TlsFiles, TokenFile, channel,
    incoming,
};
use tokio::net::TcpListener;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tonic::{Request, Status, service::interceptor::InterceptedService, transport::Channel};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

/// Time after which a test gives up waiting, and a limit that nobody reaches.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);

/// An authority that signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Files of a certificate and its key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Its certificate, in a file.
    pub(crate) fn file(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, self.0.pem()).unwrap();
        path
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.0.pem().as_bytes()).unwrap()
    }

    /// A certificate for `localhost` and 127.0.0.1 with this name.
    pub(crate) fn signs(&self, folder: &Path, name: &str) -> Identity {
        self.signs_until(folder, name, 4000)
    }

    /// One that is valid until this year.
    pub(crate) fn signs_until(&self, folder: &Path, name: &str, year: i32) -> Identity {
        let names = ["localhost", "127.0.0.1", name].map(ToOwned::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let identity = Identity {
            certificate: folder.join(format!("{name}.pem")),
            key: folder.join(format!("{name}.key")),
        };
        std::fs::write(&identity.certificate, certificate.pem()).unwrap();
        std::fs::write(&identity.key, key.serialize_pem()).unwrap();
        identity
    }
}

impl Identity {
    pub(crate) fn server(&self, client_ca: Option<&Path>) -> ServerTls {
        ServerTls::load(TlsFiles {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            client_ca: client_ca.map(ToOwned::to_owned),
        })
        .unwrap()
    }

    pub(crate) fn read(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let certificate = CertificateDer::from_pem_file(&self.certificate).unwrap();
        (
            vec![certificate],
            PrivateKeyDer::from_pem_file(&self.key).unwrap(),
        )
    }

    /// Puts this identity where another one is.
    pub(crate) fn replaces(&self, other: &Self) {
        std::fs::rename(&self.certificate, &other.certificate).unwrap();
        std::fs::rename(&self.key, &other.key).unwrap();
    }
}

/// A client that trusts this authority, and shows itself.
pub(crate) fn client(ca: &Path, identity: Option<&Identity>) -> ClientTls {
    ClientTls::load(ClientFiles {
        ca: Some(ca.to_owned()),
        identity: identity.map(|one| (one.certificate.clone(), one.key.clone())),
    })
    .unwrap()
}

/// A server of health checks. Ends with the runtime of its test.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    callers: Arc<Mutex<Vec<Peer>>>,
}

impl Running {
    pub(crate) async fn start(tls: Option<ServerTls>, bounds: Bounds) -> Self {
        Self::with_tokens(tls, bounds, None).await
    }

    pub(crate) async fn with_tokens(
        tls: Option<ServerTls>,
        bounds: Bounds,
        tokens: Option<TokenFile>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let callers: Arc<Mutex<Vec<Peer>>> = Arc::default();
        let heard = callers.clone();
        let hears = move |request: Request<()>| -> Result<Request<()>, Status> {
            if let Some(tokens) = &tokens {
                tokens.check(request.metadata())?;
            }
            let peer = request.extensions().get::<Peer>().unwrap().clone();
            heard.lock().push(peer);
            Ok(request)
        };
        let (_, health) = tonic_health::server::health_reporter();
        let health = health.max_decoding_message_size(bounds.message_bytes);
        let mut server = bounds.server();
        let serving = server
            .add_service(InterceptedService::new(health, hears))
            .serve_with_incoming(incoming(listener, tls, &bounds));
        tokio::spawn(serving);
        Self { address, callers }
    }

    /// A channel to it that nobody has used.
    pub(crate) fn channel(&self, tls: Option<ClientTls>) -> Channel {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let target = format!("{scheme}://{}", self.address).parse().unwrap();
        channel(&target, tls, &DialOptions::default()).unwrap()
    }

    /// Calls it over a new connection.
    pub(crate) async fn call(&self, tls: Option<ClientTls>) -> Result<(), Status> {
        call(&self.channel(tls)).await
    }

    /// Callers since this was asked last.
    pub(crate) fn callers(&self) -> Vec<Peer> {
        std::mem::take(&mut self.callers.lock())
    }
}

/// One call.
pub(crate) async fn call(channel: &Channel) -> Result<(), Status> {
    let mut client = HealthClient::new(channel.clone());
    let checking = client.check(HealthCheckRequest::default());
    tokio::time::timeout(AMPLE, checking)
        .await
        .unwrap()
        .map(|_| ())
}

/// Lets the time pass after which files are looked at again.
pub(crate) async fn a_second_later() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
}
