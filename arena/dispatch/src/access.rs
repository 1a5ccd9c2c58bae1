//! Who may work: a token that the store knows, or nobody asks.

use std::time::SystemTime;

use arena_store::WorkerRow;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tonic::{Status, metadata::MetadataMap};

/// Who may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever has the token of a worker.
    Token,
    /// Everybody, under the name that they give.
    Open,
}

/// Why a worker is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// There is no token.
    #[error("there is no token; `arena workers add NAME` makes one, --token-file names its file")]
    NoToken,
    /// No worker has this token.
    #[error("no worker has this token; `arena workers add NAME` makes one")]
    Unknown,
    /// Its token is no longer valid.
    #[error("the token of {0} has expired; `arena workers add {0}` makes a new one")]
    Expired(String),
    /// It was taken out.
    #[error("{0} was revoked; `arena workers admit {0}` lets it work again")]
    Revoked(String),
    /// It reported a game that was not played so.
    #[error("{name} was shut out: {why}; `arena workers admit {name}` lets it work again")]
    ShutOut {
        /// Its name.
        name: String,
        /// What it did.
        why: String,
    },
}

/// The SHA-256 of the token of a request, where it has one.
pub(crate) fn token_of(metadata: &MetadataMap) -> Option<[u8; 32]> {
    let value = metadata.get("authorization")?.as_bytes();
    let token = value.strip_prefix(b"Bearer ")?;
    Some(Sha256::digest(token).into())
}

/// The worker with this token. Every worker is looked at, and each in the same time.
pub(crate) fn worker_with(token: [u8; 32], workers: &[WorkerRow]) -> Option<&WorkerRow> {
    let mut found = None;
    for worker in workers {
        let Some(hash) = &worker.token_hash else {
            continue;
        };
        let mut theirs = [0; 32];
        if hex::decode_to_slice(hash, &mut theirs).is_ok() && bool::from(theirs.ct_eq(&token)) {
            found = Some(worker);
        }
    }
    found
}

/// Whether a worker may work now.
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
