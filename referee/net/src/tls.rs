//! TLS on both ends: who a server is, who its clients are, and whom a client trusts. The files
//! may change while the program runs; new connections use what they hold then.

use std::{
    fmt, io,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{
    TlsAcceptor, TlsConnector, client, rustls,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::{CryptoProvider, ring},
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem, pem::PemObject as _},
        server::{NoServerSessionStorage, WebPkiClientVerifier},
        sign::CertifiedKey,
        version::TLS13,
    },
    server,
};
use x509_parser::{
    certificate::X509Certificate,
    extensions::GeneralName,
    prelude::{FromDer as _, ParsedExtension},
};

use crate::{file, reload::Reloaded};

/// The protocol that gRPC is spoken over.
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";
const NO_ROOTS: &str = "install the package ca-certificates, or name a file with certificates \
                        of a certificate authority";

/// The certificate of a server, and the clients that it lets in. All files are PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, followed by those between it and the certificate authority.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// Whoever connects must show a certificate that one of these authorities has signed.
    pub client_ca: Option<PathBuf>,
}

/// The servers that a client trusts, and the certificate that it shows. All files are PEM.
#[derive(Clone, Debug, Default)]
pub struct ClientFiles {
    /// Servers must show a certificate that one of these authorities has signed. Without it
    /// the authorities count that this machine trusts.
    pub ca: Option<PathBuf>,
    /// The client's certificate and its private key, for servers that want one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The server's end of TLS 1.3.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<Reloaded<ServerConfig, TlsError>>,
    wants_certificates: bool,
}

/// The client's end of TLS 1.3.
#[derive(Clone)]
pub struct ClientTls {
    config: Arc<Reloaded<ClientConfig, TlsError>>,
}

/// The names in the certificate of a peer. The certificate is valid, and an authority that we
/// trust has signed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerCertificate {
    /// The common name of its subject.
    pub common_name: Option<String>,
    /// Its alternative names: DNS names, IP addresses, mail addresses and URIs.
    pub names: Vec<String>,
}

/// Reason why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read.
    #[error(
        "could not read {expected} from {}: {error}; check the path and that this user may \
         read the file",
        path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// Reason why it can't be read.
        error: io::Error,
    },
    /// A file holds something else.
    #[error("{}: expected {expected}, found {found}; {advice}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The content that was found.
        found: String,
        /// The advice for the user.
        advice: &'static str,
    },
    /// This machine trusts no authority.
    #[error("could not find the certificate authorities that this machine trusts; {NO_ROOTS}")]
    NoRoots,
    /// TLS itself can't be set up.
    #[error("could not set up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

impl ClientFiles {
    /// Reads the files that are named, for a client that is not ours.
    ///
    /// # Errors
    ///
    /// [`TlsError`]: which file is wrong, what was expected and what to do.
    pub fn check(&self) -> Result<(), TlsError> {
        if let Some(ca) = &self.ca {
            authorities(ca)?;
        }
        if let Some((certificate, key)) = &self.identity {
            identity(certificate, key)?;
        }
        Ok(())
    }
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// [`TlsError`]: which file is wrong, what was expected and what to do.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let mut watched = vec![files.certificate.clone(), files.key.clone()];
        watched.extend(files.client_ca.clone());
        let wants_certificates = files.client_ca.is_some();
        let config = Reloaded::load(watched, move || server_config(&files))?;
        Ok(Self {
            config: Arc::new(config),
            wants_certificates,
        })
    }

    /// True if whoever connects must show a certificate.
    #[must_use]
    pub const fn wants_certificates(&self) -> bool {
        self.wants_certificates
    }

    /// Does the handshake with a client, with what the files hold now.
    ///
    /// # Errors
    ///
    /// The connection broke, or the client is not let in.
    pub async fn accept<S>(&self, stream: S) -> io::Result<server::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        TlsAcceptor::from(self.config.present())
            .accept(stream)
            .await
    }

    /// The same, to speak HTTP/1.1.
    pub(crate) async fn accept_http_1<S>(&self, stream: S) -> io::Result<server::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut config = ServerConfig::clone(&self.config.present());
        config.alpn_protocols = vec![HTTP_1.to_vec()];
        TlsAcceptor::from(Arc::new(config)).accept(stream).await
    }
}

impl ClientTls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// [`TlsError`]: which file is wrong, what was expected and what to do.
    pub fn load(files: ClientFiles) -> Result<Self, TlsError> {
        let mut watched: Vec<PathBuf> = files.ca.iter().cloned().collect();
        if let Some((certificate, key)) = &files.identity {
            watched.extend([certificate.clone(), key.clone()]);
        }
        let config = Reloaded::load(watched, move || client_config(&files))?;
        Ok(Self {
            config: Arc::new(config),
        })
    }

    /// Does the handshake with the server of this name (a DNS name or an IP address), with
    /// what the files hold now.
    ///
    /// # Errors
    ///
    /// The connection broke, or the server is not trusted or has another name.
    pub async fn connect<S>(&self, host: &str, stream: S) -> io::Result<client::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        connect(self.config.present(), host, stream).await
    }

    /// The same, to speak HTTP/1.1.
    pub(crate) async fn connect_http_1<S>(
        &self,
        host: &str,
        stream: S,
    ) -> io::Result<client::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut config = ClientConfig::clone(&self.config.present());
        config.alpn_protocols = vec![HTTP_1.to_vec()];
        connect(Arc::new(config), host, stream).await
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls")
            .field("wants_certificates", &self.wants_certificates)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTls").finish_non_exhaustive()
    }
}

impl PeerCertificate {
    /// The certificate that the client of a connection has shown.
    pub(crate) fn of<S>(stream: &server::TlsStream<S>) -> Option<Self> {
        let (_, connection) = stream.get_ref();
        Self::read(connection.peer_certificates()?.first()?)
    }

    fn read(certificate: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let mut common_names = certificate.subject().iter_common_name();
        let common_name = common_names.next().and_then(|name| name.as_str().ok());
        let mut names = Vec::new();
        for extension in certificate.extensions() {
            if let ParsedExtension::SubjectAlternativeName(found) = extension.parsed_extension() {
                names.extend(found.general_names.iter().filter_map(alternative_name));
            }
        }
        Some(Self {
            common_name: common_name.map(ToOwned::to_owned),
            names,
        })
    }
}

/// The time at which the first certificate of a PEM file ends, in seconds since 1970; none where
/// the file has none that can be read.
#[must_use]
pub fn certificate_end(file: &Path) -> Option<i64> {
    let certificate = CertificateDer::pem_file_iter(file).ok()?.next()?.ok()?;
    let (_, certificate) = X509Certificate::from_der(&certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

async fn connect<S>(
    config: Arc<ClientConfig>,
    host: &str,
    stream: S,
) -> io::Result<client::TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let name = ServerName::try_from(bare(host).to_owned())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    TlsConnector::from(config).connect(name, stream).await
}

/// A host without the brackets of an IPv6 address.
pub(crate) fn bare(host: &str) -> &str {
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(host)
}

fn alternative_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) | GeneralName::RFC822Name(name) | GeneralName::URI(name) => {
            Some((*name).to_owned())
        }
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => Some(IpAddr::from(<[u8; 4]>::try_from(*bytes).ok()?).to_string()),
            16 => Some(IpAddr::from(<[u8; 16]>::try_from(*bytes).ok()?).to_string()),
            _ => None,
        },
        _ => None,
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn server_config(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let (chain, key) = identity(&files.certificate, &files.key)?;
    let builder =
        ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13])?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let roots = Arc::new(authorities(ca)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
            let verifier = verifier
                .build()
                .map_err(|error| TlsError::Setup(rustls::Error::General(error.to_string())))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![HTTP_2.to_vec()];
    // A resumed session would not be asked for its certificate again. Connections are few
    // and long, so resuming would save nothing.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

fn client_config(files: &ClientFiles) -> Result<ClientConfig, TlsError> {
    let roots = match &files.ca {
        Some(ca) => authorities(ca)?,
        None => authorities_of_this_machine()?,
    };
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots);
    let mut config = match &files.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let (chain, key) = identity(certificate, key)?;
            builder.with_client_auth_cert(chain, key)?
        }
    };
    config.alpn_protocols = vec![HTTP_2.to_vec()];
    Ok(config)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// A certificate with its chain, and the private key that belongs to it.
fn identity(certificate: &Path, key: &Path) -> Result<Identity, TlsError> {
    const EXPECTED: &str = "a private key in PEM";
    let chain = certificates(certificate)?;
    check_time(certificate, &chain[0])?;
    let (bytes, metadata) = read(key, EXPECTED)?;
    if file::is_open_to_all(&metadata) {
        tracing::warn!(
            file = %key.display(),
            "every user of this machine may read this private key: `chmod 600` it"
        );
    }
    let wrong = |found: String, advice| TlsError::Content {
        path: key.to_owned(),
        expected: EXPECTED,
        found,
        advice,
    };
    let read = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        let advice = "give the file that begins with -----BEGIN PRIVATE KEY-----, without a \
                      passphrase";
        wrong(in_words(&error), advice)
    })?;
    // It says whether the key belongs to the certificate.
    match CertifiedKey::from_der(chain.clone(), read.clone_key(), &provider()) {
        Ok(_) => Ok((chain, read)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(TlsError::Content {
            path: key.to_owned(),
            expected: "the private key of the certificate",
            found: format!("a key that does not belong to {}", certificate.display()),
            advice: "give a certificate and a key that were made together",
        }),
        Err(error) => Err(wrong(
            format!("a key that can't be used: {error}"),
            "make a new key, of the kind ECDSA P-256, Ed25519 or RSA",
        )),
    }
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| TlsError::Content {
            path: path.to_owned(),
            expected: "certificates of certificate authorities",
            found: format!("one that can't be used: {error}"),
            advice: "give the certificate of the authority that signs the other end's \
                     certificates",
        })?;
    }
    Ok(roots)
}

fn authorities_of_this_machine() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs().certs;
    let (added, _) = roots.add_parsable_certificates(found);
    if added == 0 {
        return Err(TlsError::NoRoots);
    }
    Ok(roots)
}

/// The certificates of a file, of which there is at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    const EXPECTED: &str = "a certificate in PEM";
    let (bytes, _) = read(path, EXPECTED)?;
    let wrong = |found: String| TlsError::Content {
        path: path.to_owned(),
        expected: EXPECTED,
        found,
        advice: "give the file that begins with -----BEGIN CERTIFICATE-----",
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let read = read.map_err(|error| wrong(in_words(&error)))?;
    if read.is_empty() {
        return Err(wrong("none".to_owned()));
    }
    for certificate in &read {
        X509Certificate::from_der(certificate)
            .map_err(|error| wrong(format!("one that can't be read: {error}")))?;
    }
    Ok(read)
}

/// Refuses a certificate that nobody would accept any more.
fn check_time(path: &Path, certificate: &[u8]) -> Result<(), TlsError> {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
        return Ok(());
    };
    let end = certificate.validity().not_after;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    if end.timestamp() >= now {
        return Ok(());
    }
    Err(TlsError::Content {
        path: path.to_owned(),
        expected: "a certificate that is valid now",
        found: format!("one that was valid until {end}"),
        advice: "make a new one, or set the clock of this machine",
    })
}

fn read(path: &Path, expected: &'static str) -> Result<(Vec<u8>, std::fs::Metadata), TlsError> {
    file::read(path).map_err(|error| TlsError::Read {
        path: path.to_owned(),
        expected,
        error,
    })
}

/// The mistake in a PEM text, without any part of it: it may be a key.
fn in_words(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "none".to_owned(),
        pem::Error::MissingSectionEnd { .. } => "one that is cut off".to_owned(),
        _ => "text that is no valid PEM".to_owned(),
    }
}
