//! Certificates for TLS between our own programs, signed by an authority of one's own.

use std::{
    net::IpAddr,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use arena_terminal::OutputFile;
use clap::{Args, Subcommand};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use referee_bots::read_input_text;
use time::{Duration, OffsetDateTime};

use crate::{End, report, usage};

/// The name of the authority's files.
const AUTHORITY: &str = "ca";
/// The largest certificate or key that is read, in bytes.
const LARGEST: u64 = 64 * 1024;
/// Largest time by which the clock of another machine may be behind.
const CLOCKS_DIFFER: Duration = Duration::HOUR;
/// The longest common name (RFC 5280, appendix A.1).
const LONGEST_NAME: usize = 64;
/// The longest time for which something may be valid: a hundred years.
const MOST_DAYS: i64 = 36_500;

/// Makes certificates for TLS
#[derive(Subcommand)]
pub(crate) enum Certs {
    /// Make a certificate authority: ca.pem, which everybody may have, and ca.key
    Init(InitArgs),
    /// Make a certificate of a server: FIRST-NAME.pem and FIRST-NAME.key
    Server(ServerArgs),
    /// Make a certificate of a client, such as a worker: NAME.pem and NAME.key
    Client(ClientArgs),
}

#[derive(Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    files: FilesArgs,
    /// For how many days the authority is valid.
    #[arg(long, value_name = "N", default_value_t = 3650, value_parser = clap::value_parser!(i64).range(1..=MOST_DAYS))]
    days: i64,
}

#[derive(Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    files: FilesArgs,
    /// A host name or IP address by which clients reach the server; as often as it has them.
    #[arg(long = "name", value_name = "HOST", required = true)]
    names: Vec<String>,
    /// For how many days the certificate is valid.
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=MOST_DAYS))]
    days: i64,
}

#[derive(Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    files: FilesArgs,
    /// The name by which servers know the client.
    name: String,
    /// For how many days the certificate is valid.
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=MOST_DAYS))]
    days: i64,
}

/// Where the files are.
#[derive(Args)]
struct FilesArgs {
    /// The folder of the files.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write over files that are there, as to renew a certificate.
    #[arg(long)]
    force: bool,
}

impl Certs {
    /// Makes it.
    pub(crate) fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Init(init) => init.run(),
            Self::Server(server) => server.run(),
            Self::Client(client) => client.run(),
        }
    }
}

impl InitArgs {
    fn run(self) -> anyhow::Result<End> {
        let folder = &self.files.folder;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| format!("could not make the folder {}", folder.display()))?;
        let files = self.files.open(AUTHORITY)?;
        let mut params = valid(
            CertificateParams::default(),
            "arena certificate authority",
            self.days,
        );
        // It signs certificates of programs and no further authorities.
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        files.write(&certificate.pem(), &key)?;
        let folder = folder.display();
        report::text(&format!(
            "wrote {folder}/ca.pem and {folder}/ca.key\n\
             keep ca.key secret: whoever has it can be any server and any client\n\
             next: arena certs server {folder} --name HOST, with the name of your server\n"
        ))?;
        Ok(End::Done)
    }
}

impl ServerArgs {
    fn run(self) -> anyhow::Result<End> {
        for name in &self.names {
            check_host(name)?;
        }
        let first = self.names[0].replace('*', "_");
        let params = CertificateParams::new(self.names)?;
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        self.files.issue(&first, params, usage, self.days)?;
        let folder = self.files.folder.display();
        report::text(&format!(
            "wrote {folder}/{first}.pem and {folder}/{first}.key\n\
             next: start the server with --tls-cert {folder}/{first}.pem --tls-key \
             {folder}/{first}.key, and give its clients {folder}/ca.pem\n\
             renew it with --force: a server that runs notices new files\n"
        ))?;
        Ok(End::Done)
    }
}

impl ClientArgs {
    fn run(self) -> anyhow::Result<End> {
        let name = &self.name;
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_good = (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(of_a_name)
            && !name.starts_with('.')
            && name != AUTHORITY;
        if !is_good {
            return usage(format!(
                "{name:?} is no name of a client: expected at most {LONGEST_NAME} letters, digits \
                 and -_. that do not begin with a dot, and not \"{AUTHORITY}\""
            ));
        }
        let params = CertificateParams::default();
        let usage = ExtendedKeyUsagePurpose::ClientAuth;
        self.files.issue(name, params, usage, self.days)?;
        let folder = self.files.folder.display();
        report::text(&format!(
            "wrote {folder}/{name}.pem and {folder}/{name}.key\n\
             next: start the server with --tls-client-ca {folder}/ca.pem besides its own \
             certificate, and give the client {name}.pem, {name}.key and ca.pem\n\
             renew it with --force: a client that runs notices new files when it connects\n"
        ))?;
        Ok(End::Done)
    }
}

impl FilesArgs {
    /// Makes a certificate that the authority of the folder signs.
    fn issue(
        &self,
        name: &str,
        params: CertificateParams,
        usage: ExtendedKeyUsagePurpose,
        days: i64,
    ) -> anyhow::Result<()> {
        let authority = self.authority()?;
        let files = self.open(name)?;
        let common: String = name.chars().take(LONGEST_NAME).collect();
        let mut params = valid(params, &common, days);
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        files.write(&certificate.pem(), &key)
    }

    fn authority(&self) -> anyhow::Result<Issuer<'static, KeyPair>> {
        let read = |ending| {
            let path = self.path(AUTHORITY, ending);
            read_input_text(&path, LARGEST).or_else(|error| {
                usage(format!(
                    "could not read {}: {error}; `arena certs init {}` makes a certificate \
                     authority",
                    path.display(),
                    self.folder.display()
                ))
            })
        };
        let (certificate, key) = (read("pem")?, read("key")?);
        let key = KeyPair::from_pem(&key);
        let issuer = key.and_then(|key| Issuer::from_ca_cert_pem(&certificate, key));
        issuer.or_else(|error| {
            usage(format!(
                "ca.pem and ca.key in {} are no certificate authority: {error}",
                self.folder.display()
            ))
        })
    }

    /// Opens the files of a certificate; those that are there are written over only with --force.
    fn open(&self, name: &str) -> anyhow::Result<CertificateFiles> {
        Ok(CertificateFiles {
            certificate: OutputFile::open(&self.path(name, "pem"), self.force)?,
            key: OutputFile::open_private(&self.path(name, "key"), self.force)?,
        })
    }

    fn path(&self, name: &str, ending: &str) -> PathBuf {
        Path::new(&self.folder).join(format!("{name}.{ending}"))
    }
}

/// The files of a certificate, while they are written.
struct CertificateFiles {
    certificate: OutputFile,
    key: OutputFile,
}

impl CertificateFiles {
    /// Writes them, each at once: who reads them sees whole files.
    fn write(self, certificate: &str, key: &KeyPair) -> anyhow::Result<()> {
        self.key.write_whole(key.serialize_pem().as_bytes())?;
        self.certificate.write_whole(certificate.as_bytes())
    }
}

fn valid(mut params: CertificateParams, name: &str, days: i64) -> CertificateParams {
    let now = OffsetDateTime::now_utc();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = now - CLOCKS_DIFFER;
    params.not_after = now + Duration::days(days);
    params
}

/// Refuses what is neither a DNS name nor an IP address. It becomes the name of a file.
fn check_host(name: &str) -> anyhow::Result<()> {
    let labels = name.strip_prefix("*.").unwrap_or(name);
    let of_a_label = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_name = labels.len() < 254
        && labels
            .split('.')
            .all(|label| !label.is_empty() && label.chars().all(of_a_label));
    if (is_name || name.parse::<IpAddr>().is_ok()) && name != AUTHORITY {
        return Ok(());
    }
    usage(format!(
        "--name {name:?}: expected a host name or an IP address without a port, other than \
         \"{AUTHORITY}\""
    ))
}
