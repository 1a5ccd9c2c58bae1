//! The dispatcher, as a worker sees it: where it gets its work and reports to.

use std::error::Error;

use crate::lease::{
    GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, LiveUpdate, ReportReply,
};
use referee_bots::archive::ArchiveHash;

/// Hands out chunks of games and takes what comes of them. On one machine this is
/// the dispatcher itself.
pub trait Dispatch: Send + Sync {
    /// Gives a worker a chunk. Where there is none, waits for a while until there
    /// may be one.
    fn lease(
        &self,
        request: LeaseRequest,
    ) -> impl Future<Output = Result<LeaseReply, DispatchError>> + Send;

    /// Says that a worker still plays a chunk; false where it has lost it.
    fn renew(&self, lease: LeaseId) -> impl Future<Output = Result<bool, DispatchError>> + Send;

    /// Waits until a lease is known to be lost, without asking.
    fn lost(&self, lease: LeaseId) -> impl Future<Output = ()> + Send {
        let _ = lease;
        std::future::pending()
    }

    /// Takes a finished game. Reporting it again changes nothing.
    fn report(
        &self,
        report: GameReport,
    ) -> impl Future<Output = Result<ReportReply, DispatchError>> + Send;

    /// Takes back a chunk; what was not played of it is given to another worker.
    fn give_back(
        &self,
        give_back: GiveBack,
    ) -> impl Future<Output = Result<(), DispatchError>> + Send;

    /// The packed bytes of a bot's archive.
    fn archive(
        &self,
        hash: ArchiveHash,
    ) -> impl Future<Output = Result<Vec<u8>, DispatchError>> + Send {
        let missing = format!("archive {hash} is not to be had here");
        std::future::ready(Err(DispatchError::new(missing)))
    }

    /// True if a game of a lease still has to be played.
    fn is_wanted(
        &self,
        lease: LeaseId,
        game: GameKey,
    ) -> impl Future<Output = Result<bool, DispatchError>> + Send;

    /// Takes what everybody may know of a running game. It must not block.
    fn live(&self, update: LiveUpdate) {
        let _ = update;
    }
}

/// Reason why the dispatcher did not answer as it should.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DispatchError(Box<dyn Error + Send + Sync>);

impl DispatchError {
    /// An error of a dispatcher.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// The dispatcher's own error.
    #[must_use]
    pub fn inner(&self) -> &(dyn Error + 'static) {
        &*self.0
    }
}
