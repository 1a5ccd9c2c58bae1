//! The caller is checked before anything of a call's message is read: its headers are enough.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use arena_proto::arena::v1::dispatch_server::DispatchServer;
use arena_store::WorkerRow;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tonic::{
    Request, Status,
    body::Body,
    codegen::{Service, http},
    metadata::MetadataMap,
    server::NamedService,
};

use super::{DispatchService, ServiceState};
use crate::{
    AccessError, Storage, WorkerAccess,
    access::{Credentials, check, worker_with},
};

/// So often the store is asked who may work because somebody is not known, at most.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// So many calls wait for that at once; further ones are to be tried again.
pub(super) const MOST_UNKNOWN: usize = 64;

/// The service, which refuses a call by its headers. Only what passes is read.
pub struct Admitted<S: Storage> {
    inner: DispatchServer<DispatchService<S>>,
    shared: Arc<ServiceState<S>>,
}

impl<S: Storage> Admitted<S> {
    pub(super) const fn new(
        inner: DispatchServer<DispatchService<S>>,
        shared: Arc<ServiceState<S>>,
    ) -> Self {
        Self { inner, shared }
    }
}

impl<S: Storage> Clone for Admitted<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl<S: Storage> NamedService for Admitted<S> {
    const NAME: &'static str = <DispatchServer<DispatchService<S>> as NamedService>::NAME;
}

impl<S: Storage> Service<http::Request<Body>> for Admitted<S> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let Self { mut inner, shared } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            match shared.admit(&parts).await {
                Ok(()) => inner.call(http::Request::from_parts(parts, body)).await,
                Err(refused) => Ok(refused.into_http()),
            }
        })
    }
}

impl<S: Storage> ServiceState<S> {
    /// Checks that the sender of these headers may send anything.
    async fn admit(&self, parts: &http::request::Parts) -> Result<(), Status> {
        let headers = MetadataMap::from_headers(parts.headers.clone());
        let shown = Request::from_parts(headers, parts.extensions.clone(), ());
        let shown = Credentials::of(&shown)?;
        let refused = match self.admits(&shown, &self.workers()) {
            Ok(()) => return Ok(()),
            // Nobody is asked about who shows nothing.
            Err(refused @ AccessError::NoToken) => return Err(refused.into()),
            Err(refused) => refused,
        };
        let Ok(_looking) = self.unknown.try_acquire() else {
            tracing::warn!(%refused, "too many who are not known call at once");
            return Err(Status::unavailable(
                "too many who are not known here call at once; try again",
            ));
        };
        // What a person has just changed counts.
        let workers = self.look_again().await?;
        Ok(self.admits(&shown, &workers)?)
    }

    fn admits(&self, shown: &Credentials, workers: &[WorkerRow]) -> Result<(), AccessError> {
        let now = self.tournaments.options().clock.now();
        let worker = match (&shown.token, &shown.certificate) {
            (Some(token), _) => Some(worker_with(token, workers).ok_or(AccessError::Unknown)?),
            (None, Some(name)) => workers.iter().find(|worker| worker.name == *name),
            (None, None) if self.options.access == WorkerAccess::Known => {
                return Err(AccessError::NoToken);
            }
            (None, None) => None,
        };
        worker.map_or(Ok(()), |worker| check(worker, now))
    }

    /// The known workers, as the store says it now. All who ask at the same time are answered by
    /// one look.
    async fn look_again(&self) -> Result<Arc<Vec<WorkerRow>>, Status> {
        let asked = Instant::now();
        let mut last = self.looked.lock().await;
        if last.is_some_and(|began| began >= asked) {
            return Ok(self.workers());
        }
        if let Some(last) = *last {
            tokio::time::sleep_until(last + LOOK_AGAIN).await;
        }
        let began = Instant::now();
        let workers = self.look_up_workers().await.map_err(|error| {
            tracing::warn!(%error, "could not read who may work");
            Status::unavailable("the arena can't read who may work; try again")
        })?;
        *last = Some(began);
        Ok(workers)
    }
}
