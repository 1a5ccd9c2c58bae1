//! Arguments of a program that listens and dials: files for TLS, tokens, and which bots may
//! be dialled. Secrets are in files alone, never on the command line.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use referee::BotDial;
use referee_net::{
    AddressPattern, Bearer, ClientFiles, ClientTls, ServerTls, Target, TlsError, TlsFiles, Token,
    TokenFile,
};

use crate::usage;

/// TLS of a listener. The files are read again when they change.
#[derive(Args, Clone, Debug, Default)]
pub struct TlsListenArgs {
    /// Listen with TLS: the server's certificate, as PEM. Files of certificates, keys and
    /// tokens are read again when they change.
    #[arg(
        long,
        env = "ARENA_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// The private key of the server's certificate, as PEM.
    #[arg(
        long,
        env = "ARENA_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
    /// Let in only clients that show a certificate of this certificate authority.
    #[arg(
        long,
        env = "ARENA_TLS_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_client_ca: Option<PathBuf>,
}

/// TLS to a server.
#[derive(Args, Clone, Debug, Default)]
pub struct TlsDialArgs {
    /// The certificate authority of the server at https://, as PEM; without it those count
    /// that this machine trusts.
    #[arg(long, env = "ARENA_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The certificate to show to a server that wants one, as PEM.
    #[arg(long, env = "ARENA_CERT", value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The private key of the certificate to show, as PEM.
    #[arg(long, env = "ARENA_KEY", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

/// Tokens of callers.
#[derive(Args, Clone, Debug, Default)]
pub struct TokenListenArgs {
    /// Callers must have a token of this file, which holds one a line.
    #[arg(long, env = "ARENA_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// The token that a caller sends.
#[derive(Args, Clone, Debug, Default)]
pub struct TokenDialArgs {
    /// Send the token of this file.
    #[arg(long, env = "ARENA_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Send the token also to another machine without TLS: whoever is between can read it.
    #[arg(long)]
    plaintext: bool,
}

/// TLS to bots at grpcs:// addresses.
#[derive(Args, Clone, Debug, Default)]
pub struct BotsTlsArgs {
    /// The certificate authority of the bots at grpcs:// addresses, as PEM.
    #[arg(long, env = "ARENA_BOTS_CA", value_name = "FILE")]
    bots_ca: Option<PathBuf>,
    /// The certificate to show to bots, as PEM.
    #[arg(long, env = "ARENA_BOTS_CERT", value_name = "FILE", requires_all = ["bots_key", "bots_ca"])]
    bots_cert: Option<PathBuf>,
    /// The private key of the certificate to show to bots, as PEM.
    #[arg(
        long,
        env = "ARENA_BOTS_KEY",
        value_name = "FILE",
        requires = "bots_cert"
    )]
    bots_key: Option<PathBuf>,
}

/// How bots are dialled, and which of them may be.
#[derive(Args, Clone, Debug, Default)]
pub struct BotDialArgs {
    /// The addresses of bots that may be dialled; without it all may be. HOST:PORT is
    /// compared with the address as it is written, 10.0.0.0/8:* and [fd00::/8]:* also with
    /// what a name resolves to, unix:/FOLDER/ with the path of a socket.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',', env = "REFEREE_BOTS")]
    bots: Vec<AddressPattern>,
    #[command(flatten)]
    tls: BotsTlsArgs,
}

impl TlsListenArgs {
    /// The certificate that is shown, if one is.
    #[must_use]
    pub const fn certificate(&self) -> Option<&PathBuf> {
        self.tls_cert.as_ref()
    }

    /// Reads the files, if there are to be any.
    ///
    /// # Errors
    ///
    /// A file is wrong.
    pub fn load(&self) -> anyhow::Result<Option<ServerTls>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        wrong_file(ServerTls::load(TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            client_ca: self.tls_client_ca.clone(),
        }))
        .map(Some)
    }
}

impl TlsDialArgs {
    /// Reads the files that this server needs.
    ///
    /// # Errors
    ///
    /// A file is wrong, or there are files for a server without TLS.
    pub fn load(&self, server: &Target) -> anyhow::Result<Option<ClientTls>> {
        if server.has_tls() {
            return client(self.ca.as_ref(), self.cert.as_ref(), self.key.as_ref()).map(Some);
        }
        if self.ca.is_some() || self.cert.is_some() {
            return usage(format!(
                "{server} has no TLS, but files for TLS are given: write https:// or leave them \
                 out"
            ));
        }
        Ok(None)
    }
}

impl TokenListenArgs {
    /// Reads the tokens, if there are to be any.
    ///
    /// # Errors
    ///
    /// The file is wrong.
    pub fn load(&self) -> anyhow::Result<Option<TokenFile>> {
        let Some(path) = &self.token_file else {
            return Ok(None);
        };
        match TokenFile::load(path) {
            Ok(tokens) => Ok(Some(tokens)),
            Err(error) => usage(error.to_string()),
        }
    }
}

impl TokenDialArgs {
    /// The layer that adds the token to each call to this server, if there is to be one.
    ///
    /// # Errors
    ///
    /// The file is wrong, or the token would cross a network in plain text.
    pub fn load(&self, server: &Target) -> anyhow::Result<Option<Bearer>> {
        let Some(path) = &self.token_file else {
            return Ok(None);
        };
        let token = Token::read(path);
        match token.and_then(|token| Bearer::new(&token, server, self.plaintext)) {
            Ok(bearer) => Ok(Some(bearer)),
            Err(error) => usage(error.to_string()),
        }
    }
}

impl BotsTlsArgs {
    /// Reads the files, if there are to be any. All addresses may be dialled.
    ///
    /// # Errors
    ///
    /// A file is wrong.
    pub fn load(&self) -> anyhow::Result<BotDial> {
        let ca = self.bots_ca.as_ref();
        // Bots are nobody's web servers: what the machine trusts says nothing about them.
        let tls = match ca {
            None => None,
            Some(_) => Some(client(ca, self.bots_cert.as_ref(), self.bots_key.as_ref())?),
        };
        Ok(BotDial {
            tls,
            ..BotDial::default()
        })
    }
}

impl BotDialArgs {
    /// True if there is a list of addresses that may be dialled.
    #[must_use]
    pub fn has_list(&self) -> bool {
        !self.bots.is_empty()
    }

    /// Reads the files, if there are to be any.
    ///
    /// # Errors
    ///
    /// A file is wrong.
    pub fn load(&self) -> anyhow::Result<BotDial> {
        let allowed = self.has_list().then(|| self.bots.iter().cloned().collect());
        Ok(BotDial {
            allowed: allowed.map(Arc::new),
            ..self.tls.load()?
        })
    }
}

fn client(
    ca: Option<&PathBuf>,
    certificate: Option<&PathBuf>,
    key: Option<&PathBuf>,
) -> anyhow::Result<ClientTls> {
    wrong_file(ClientTls::load(ClientFiles {
        ca: ca.cloned(),
        identity: certificate.cloned().zip(key.cloned()),
    }))
}

/// A file that is wrong is the mistake of whoever named it.
fn wrong_file<T>(loaded: Result<T, TlsError>) -> anyhow::Result<T> {
    loaded.or_else(|error| usage(error.to_string()))
}
