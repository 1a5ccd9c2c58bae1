//! How many chunks the workers of a process play, and how large these are.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Dispatch, DispatchError,
    lease::{
        GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, LiveUpdate, ReportReply,
    },
};
use referee_bots::archive::ArchiveHash;

/// How much the workers of a process play, where that is not left to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkBounds {
    /// They end after so many chunks in all.
    pub chunks: Option<NonZeroU64>,
    /// They ask for so many games a chunk, however long a game takes.
    pub games: Option<NonZeroU64>,
}

/// A dispatcher that has nothing left when its workers have had their chunks.
pub(crate) struct Bounded<D> {
    dispatch: Arc<D>,
    games: Option<NonZeroU64>,
    /// How many chunks may still be asked for.
    left: Option<AtomicU64>,
}

impl<D> Bounded<D> {
    pub(crate) fn new(dispatch: Arc<D>, bounds: ChunkBounds) -> Self {
        Self {
            dispatch,
            games: bounds.games,
            left: bounds.chunks.map(|chunks| AtomicU64::new(chunks.get())),
        }
    }

    /// Counts a chunk before it is asked for; false where there have been enough.
    fn count(&self) -> bool {
        self.left.as_ref().is_none_or(|left| {
            let less = |left: u64| left.checked_sub(1);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
        })
    }

    /// A chunk that was counted has not come.
    fn uncount(&self) {
        if let Some(left) = &self.left {
            left.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<D: Dispatch> Dispatch for Bounded<D> {
    async fn lease(&self, mut request: LeaseRequest) -> Result<LeaseReply, DispatchError> {
        if !self.count() {
            return Ok(LeaseReply::Over);
        }
        if let Some(games) = self.games {
            request.games = games.get();
        }
        let reply = self.dispatch.lease(request).await;
        if !matches!(reply, Ok(LeaseReply::Work(_))) {
            self.uncount();
        }
        reply
    }

    async fn renew(&self, lease: LeaseId) -> Result<bool, DispatchError> {
        self.dispatch.renew(lease).await
    }

    async fn lost(&self, lease: LeaseId) {
        self.dispatch.lost(lease).await;
    }

    async fn report(&self, report: GameReport) -> Result<ReportReply, DispatchError> {
        self.dispatch.report(report).await
    }

    async fn give_back(&self, give_back: GiveBack) -> Result<(), DispatchError> {
        self.dispatch.give_back(give_back).await
    }

    async fn archive(&self, hash: ArchiveHash) -> Result<Vec<u8>, DispatchError> {
        self.dispatch.archive(hash).await
    }

    async fn is_wanted(&self, lease: LeaseId, game: GameKey) -> Result<bool, DispatchError> {
        self.dispatch.is_wanted(lease, game).await
    }

    fn live(&self, update: LiveUpdate) {
        self.dispatch.live(update);
    }
}
