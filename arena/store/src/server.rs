//! The URL of a PostgreSQL server: what may be in it, which files for TLS it names, and what to
//! do when the server refuses a connection.

use std::{fmt, io, path::PathBuf, str::FromStr as _};

use sqlx::{
    any::AnyConnectOptions,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::StoreError;

const MODES: &str = "disable, allow, prefer, require, verify-ca or verify-full";
const PARAMETERS: &str = "sslmode, sslrootcert, sslcert, sslkey, host, hostaddr, port, dbname, \
                          user, password, application_name, options, statement-cache-capacity";
const RESERVED: &str = "in a user name or password write / as %2F, ? as %3F, # as %23, @ as %40 \
                        and % as %25";

/// A server that is not reached by sessions of its own.
pub(crate) const LENT_CONNECTIONS: &str = "this is a pool that lends a connection for one transaction (PgBouncer: pool_mode = \
     transaction), and the claim to run a tournament is a lock of a session; give the server's own \
     address, or set pool_mode = session";

/// The files for TLS that the URL of a store names. All are PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreTlsFiles {
    /// `sslrootcert`: the certificate authorities that may have signed the server's certificate.
    pub ca: Option<PathBuf>,
    /// `sslcert` and `sslkey`: the certificate to show to the server, and its private key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The URL of a server, with known parameters only.
pub(crate) struct ServerUrl {
    /// It may have a password.
    options: AnyConnectOptions,
    shown: String,
    mode: PgSslMode,
    files: StoreTlsFiles,
}

impl StoreTlsFiles {
    /// The files that this URL of a store names: none if it is no URL of PostgreSQL. They are
    /// not read.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`]: the URL is wrong, and what was expected.
    pub fn of_url(url: &str) -> Result<Self, StoreError> {
        if !ServerUrl::is_one(url) {
            return Ok(Self::default());
        }
        ServerUrl::parse(url).map(|server| server.files)
    }
}

impl ServerUrl {
    /// True if it is meant to be one.
    pub(crate) fn is_one(url: &str) -> bool {
        url.starts_with("postgres://") || url.starts_with("postgresql://")
    }

    /// Reads a URL. Nothing of it that may be a secret is in an error.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let shown = without_secrets(url);
        let refused = |why: String| StoreError::Open {
            location: shown.clone(),
            why,
        };
        let mut options = AnyConnectOptions::from_str(url)
            .map_err(|error| refused(format!("{error}; {RESERVED}")))?;
        let files = files(&options).map_err(refused)?;
        let effective = PgConnectOptions::from_str(url).map_err(|error| {
            refused(format!(
                "{error}; expected parameters as PostgreSQL has them"
            ))
        })?;
        let mode = effective.get_ssl_mode();
        let has_files = files != StoreTlsFiles::default();
        if has_files && !has_tls(mode) {
            return Err(refused(
                "sslrootcert, sslcert and sslkey are for TLS only: add sslmode=verify-full, or \
                 leave them out"
                    .to_owned(),
            ));
        }
        // Else the authority would be ignored. This is also what PostgreSQL's own programs do.
        let proves_server = matches!(mode, PgSslMode::Require) && files.ca.is_some();
        if proves_server {
            let mut pairs = options.database_url.query_pairs_mut();
            pairs.append_pair("sslmode", "verify-ca");
        }
        Ok(Self {
            options,
            shown,
            mode: if proves_server {
                PgSslMode::VerifyCa
            } else {
                mode
            },
            files,
        })
    }

    /// Without the password and the parameters.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The options to connect to it.
    pub(crate) const fn options(&self) -> &AnyConnectOptions {
        &self.options
    }

    /// Reason why there is no connection, with a hint for the person who gave the URL.
    pub(crate) fn advice(&self, error: &sqlx::Error) -> String {
        let code = error.as_database_error().and_then(|error| error.code());
        match (error, code.as_deref()) {
            (_, Some("28P01")) => format!("{error}; is the user or the password in the URL wrong?"),
            (_, Some("28000")) => format!(
                "{error}; is the user or the password in the URL wrong? {}",
                self.advice_on_refusal()
            ),
            (_, Some("3D000")) => format!("{error}; make it first, with `createdb`"),
            (sqlx::Error::Tls(error), _) => format!(
                "no TLS with this server ({error}); expected one with `ssl = on`, reached by a \
                 host name or an IP address"
            ),
            (sqlx::Error::Io(error), _) => self.advice_on_connection(error),
            (sqlx::Error::Configuration(why), _) => why.to_string(),
            (_, Some("08P01")) => format!(
                "{error}; if this is a pool of connections, give the server's own address, or \
                 have it ignore the parameter (PgBouncer: ignore_startup_parameters) with \
                 pool_mode = session"
            ),
            _ => error.to_string(),
        }
    }

    /// Advice for a server that does not let us in.
    fn advice_on_refusal(&self) -> &'static str {
        match &self.files.identity {
            _ if !has_tls(self.mode) => {
                "If the server requires TLS, add sslmode=verify-full&sslrootcert=FILE"
            }
            None => {
                "If the server requires a certificate of its clients, add sslcert=FILE&sslkey=FILE"
            }
            Some(_) => "The common name of the certificate in sslcert must be the user's name",
        }
    }

    fn advice_on_connection(&self, error: &io::Error) -> String {
        let is_cut_off = matches!(
            error.kind(),
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
        );
        let ours = match self.files.identity {
            Some(_) => {
                "expected that sslcert is valid now, and signed by an authority of the \
                        server's ssl_ca_file"
            }
            None => "if it requires a certificate of its clients, add sslcert=FILE&sslkey=FILE",
        };
        // TLS tells of its errors so: there is no other kind for them.
        let is_of_tls = error.kind() == io::ErrorKind::InvalidData;
        if is_of_tls && error.to_string().contains("alert") {
            return format!("the server has refused TLS with us ({error}); {ours}");
        }
        if is_of_tls {
            let named = match self.mode {
                PgSslMode::VerifyFull => "a certificate for the host in the URL",
                _ => "a certificate",
            };
            let signed = match self.files.ca {
                Some(_) => "in sslrootcert",
                None => "that this machine trusts (sslrootcert=FILE names another)",
            };
            return format!(
                "TLS with the server has failed ({error}); expected {named} that is valid now, \
                 signed by an authority {signed}"
            );
        }
        // A server that refuses a certificate closes the connection, and its reason may be lost.
        if is_cut_off && has_tls(self.mode) {
            return format!("the server has ended the connection ({error}); {ours}");
        }
        format!("no server answers ({error}); is it running, and are host and port right?")
    }
}

/// Without secrets.
impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerUrl").field(&self.shown).finish()
    }
}

/// A URL without its password and its parameters.
pub(crate) fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    // A password with one of these is cut in two if they are not escaped.
    let (_, after_host) = rest.split_once(['/', '?', '#']).unwrap_or((rest, ""));
    let options = match AnyConnectOptions::from_str(url) {
        Ok(options) if !after_host.contains('@') => options,
        _ => return format!("{scheme}://..."),
    };
    let url = &options.database_url;
    let user = match url.username() {
        "" => String::new(),
        user => format!("{user}@"),
    };
    let host = url.host_str().unwrap_or_default();
    let port = url
        .port()
        .map_or_else(String::new, |port| format!(":{port}"));
    format!("{scheme}://{user}{host}{port}{}", url.path())
}

const fn has_tls(mode: PgSslMode) -> bool {
    matches!(
        mode,
        PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull
    )
}

/// The files that are named, if every parameter is known; else what is wrong.
fn files(options: &AnyConnectOptions) -> Result<StoreTlsFiles, String> {
    let url = &options.database_url;
    if url.fragment().is_some() || url.path().contains('@') {
        return Err(format!("unexpected # or @ in the URL; {RESERVED}"));
    }
    let (mut ca, mut certificate, mut key) = (None, None, None);
    for (name, value) in url.query_pairs() {
        let file = || file(&name, &value);
        match &*name {
            "sslmode" | "ssl-mode" => check_mode(&value)?,
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => ca = Some(file()?),
            "sslcert" | "ssl-cert" => certificate = Some(file()?),
            "sslkey" | "ssl-key" => key = Some(file()?),
            "host"
            | "hostaddr"
            | "port"
            | "dbname"
            | "user"
            | "password"
            | "application_name"
            | "options"
            | "statement-cache-capacity" => {}
            name if name.starts_with("options[") => {}
            name => return Err(unknown(name)),
        }
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(StoreTlsFiles {
            ca,
            identity: Some((certificate, key)),
        }),
        (None, None) => Ok(StoreTlsFiles { ca, identity: None }),
        (Some(_), None) => Err("sslcert needs sslkey=FILE with its private key".to_owned()),
        (None, Some(_)) => Err("sslkey needs sslcert=FILE with its certificate".to_owned()),
    }
}

fn check_mode(mode: &str) -> Result<(), String> {
    let is_known = PgSslMode::from_str(mode).is_ok();
    is_known
        .then_some(())
        .ok_or_else(|| format!("expected sslmode={MODES}"))
}

fn file(name: &str, value: &str) -> Result<PathBuf, String> {
    // A key in a URL could be read by everybody who sees the URL.
    if value.is_empty() || value.contains("-----BEGIN") {
        return Err(format!("expected {name}=FILE, the path of a file in PEM"));
    }
    Ok(PathBuf::from(value))
}

fn unknown(name: &str) -> String {
    let is_a_word = |c: char| c.is_ascii_lowercase() || "-_".contains(c);
    // Else it may be a part of a password.
    if !name.is_empty() && name.chars().all(is_a_word) {
        return format!("unknown parameter {name}; expected {PARAMETERS}");
    }
    format!("unknown parameter after the first ? of the URL; expected {PARAMETERS}; {RESERVED}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            (
                "postgres://me:se@cret@host:5/db?password=x",
                "postgres://me@host:5/db",
            ),
            ("postgres://me@host?password=x/y", "postgres://me@host"),
            // This @ could be the end of a password that is cut in two.
            ("postgres://me@host/db?password=x@y", "postgres://..."),
            ("postgres://me:se/cret@host/db", "postgres://..."),
            ("postgres://me:se?cret@host/db", "postgres://..."),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host", "postgres://host"),
            ("arena.db", "arena.db"),
        ] {
            assert_eq!(without_secrets(url), shown);
            if let Ok(server) = ServerUrl::parse(url) {
                assert!(!format!("{server:?}").contains('x'), "{server:?}");
            }
        }
    }

    #[test]
    fn an_authority_is_never_ignored() {
        let server = |query: &str| ServerUrl::parse(&format!("postgres://host/db?{query}"));
        let mode = |query: &str| {
            let options = server(query).unwrap().options().clone();
            let options = PgConnectOptions::from_str(options.database_url.as_str());
            format!("{:?}", options.unwrap().get_ssl_mode())
        };
        assert_eq!(mode("sslmode=require"), "Require");
        assert_eq!(mode("sslmode=require&sslrootcert=ca.pem"), "VerifyCa");
        assert_eq!(mode("sslrootcert=ca.pem&sslmode=verify-full"), "VerifyFull");
        for query in ["sslmode=prefer&", "sslmode=disable&", ""] {
            let refused = server(&format!("{query}sslrootcert=ca.pem")).unwrap_err();
            assert!(
                refused.to_string().contains("sslmode=verify-full"),
                "{refused}"
            );
        }
    }
}
