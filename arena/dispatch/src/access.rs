//! The right to work: of whoever has the token of a worker or a certificate with its name, or of
//! everybody.

use std::time::SystemTime;

use arena_store::WorkerRow;
use referee_net::{Peer, Token, TokenHash};
use tonic::{Request, Status};

/// The access of workers: who may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerAccess {
    /// Whoever has the token of a worker, or a certificate of the listener's authority: then
    /// its common name is the worker's name.
    Known,
    /// Everybody, under the name that they give.
    Open,
}

/// Reason why a worker is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// There is no token.
    #[error(
        "there is no token: `arena workers add NAME` makes one on the arena's machine, and \
         --token-file names its file here"
    )]
    NoToken,
    /// No worker has this token.
    #[error("no worker has this token: `arena workers add NAME` makes a new one")]
    Unknown,
    /// Its token is no longer valid.
    #[error("the token of {0} has expired: `arena workers add {0}` makes a new one")]
    Expired(String),
    /// It was taken out.
    #[error("{0} was revoked: `arena workers admit {0}` lets it work again")]
    Revoked(String),
    /// It reported a game that was not played so.
    #[error("{name} was shut out, because {why}; `arena workers admit {name}` lets it work again")]
    ShutOut {
        /// Its name.
        name: String,
        /// The act for which it was shut out.
        why: String,
    },
}

/// A request's evidence of its sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    /// The hash of its token.
    pub(crate) token: Option<Token>,
    /// The common name of its certificate.
    pub(crate) certificate: Option<String>,
}

/// The proof that a session has to show with every request.
#[derive(Clone, Debug)]
pub(crate) enum SessionProof {
    Token(TokenHash),
    Certificate(String),
    Nothing,
}

impl Credentials {
    /// The credentials in a request.
    pub(crate) fn of<T>(request: &Request<T>) -> Result<Self, Status> {
        let token = Token::of_call(request.metadata())
            .map_err(|error| Status::unauthenticated(error.to_string()))?;
        let peer = request.extensions().get::<Peer>();
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        Ok(Self {
            token,
            certificate: certificate.and_then(|shown| shown.common_name.clone()),
        })
    }

    /// The proof that its sender shows with every request.
    pub(crate) fn proof(&self) -> SessionProof {
        match (&self.token, &self.certificate) {
            (Some(token), _) => SessionProof::Token(token.hash()),
            (None, Some(name)) => SessionProof::Certificate(name.clone()),
            (None, None) => SessionProof::Nothing,
        }
    }
}

impl SessionProof {
    /// True if these credentials have it. The time that it takes says nothing of a token.
    pub(crate) fn is_in(&self, credentials: &Credentials) -> bool {
        match self {
            Self::Token(hash) => {
                (credentials.token.as_ref()).is_some_and(|token| hash.is_of(token))
            }
            Self::Certificate(name) => credentials.certificate.as_ref() == Some(name),
            Self::Nothing => true,
        }
    }
}

/// The worker with this token. Every worker is looked at, and each in the same time.
pub(crate) fn worker_with<'w>(token: &Token, workers: &'w [WorkerRow]) -> Option<&'w WorkerRow> {
    let mut found = None;
    for worker in workers {
        let hash = worker
            .token_hash
            .as_ref()
            .and_then(|hash| hash.parse().ok());
        if hash.is_some_and(|hash: TokenHash| hash.is_of(token)) {
            found = Some(worker);
        }
    }
    found
}

/// Checks that a worker may work now.
pub(crate) fn check(worker: &WorkerRow, now: SystemTime) -> Result<(), AccessError> {
    let name = worker.name.clone();
    if let Some(why) = &worker.shut_out {
        return Err(AccessError::ShutOut {
            name,
            why: why.clone(),
        });
    }
    if worker.revoked {
        return Err(AccessError::Revoked(name));
    }
    let expires = worker.expires_unix_ms;
    if expires.is_some_and(|expires| arena_tournament::unix_ms(now) >= expires) {
        return Err(AccessError::Expired(name));
    }
    Ok(())
}

impl From<AccessError> for Status {
    fn from(error: AccessError) -> Self {
        let words = error.to_string();
        match error {
            AccessError::NoToken | AccessError::Unknown => Self::unauthenticated(words),
            _ => Self::permission_denied(words),
        }
    }
}
