//! The service of the arena, with a look at what it says.

use arena_dispatch::{DispatchService, Storage};
use arena_proto::arena::v1::{self as proto, dispatch_server::Dispatch, lease_reply::Reply};
use tonic::{Request, Response, Status, Streaming};

use crate::{defect::Defect, watch::Watch};

/// The service, with a look at what it says.
pub(crate) struct Watched<S: Storage> {
    pub(crate) service: DispatchService<S>,
    pub(crate) watch: Watch,
}

#[tonic::async_trait]
impl<S: Storage> Dispatch for Watched<S> {
    type AttendStream = <DispatchService<S> as Dispatch>::AttendStream;
    type FetchArchiveStream = <DispatchService<S> as Dispatch>::FetchArchiveStream;

    async fn attend(
        &self,
        request: Request<Streaming<proto::AttendRequest>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        self.service.attend(request).await
    }

    async fn lease(
        &self,
        request: Request<proto::LeaseRequest>,
    ) -> Result<Response<proto::LeaseReply>, Status> {
        let session = request.get_ref().session.clone();
        let mut response = self.service.lease(request).await?;
        if let Some(Reply::Work(lease)) = &mut response.get_mut().reply {
            self.watch.spoil(lease);
            self.watch.gives(&session, lease);
        }
        Ok(response)
    }

    async fn report(
        &self,
        request: Request<proto::ReportRequest>,
    ) -> Result<Response<proto::ReportReply>, Status> {
        let games = request.get_ref().games.iter();
        let named = |game: &proto::GameReport| {
            let (lease, key) = (game.lease.as_ref()?, game.key.as_ref()?);
            Some((lease.run, (key.group, key.seating)))
        };
        let games: Vec<_> = games.map(named).collect();
        let mut response = self.service.report(request).await?;
        if self.watch.defect == Defect::ConfirmsEverything {
            let replies = &mut response.get_mut().games;
            replies.fill(proto::Reported::Accepted.into());
        }
        let replies: Vec<_> = response.get_ref().games().collect();
        self.watch.answers(&games, &replies);
        Ok(response)
    }

    async fn give_back(
        &self,
        request: Request<proto::GiveBackRequest>,
    ) -> Result<Response<proto::GiveBackReply>, Status> {
        if !request.get_ref().unplayed.is_empty() {
            self.watch.count("given back");
        }
        self.service.give_back(request).await
    }

    async fn fetch_archive(
        &self,
        request: Request<proto::FetchArchiveRequest>,
    ) -> Result<Response<Self::FetchArchiveStream>, Status> {
        self.watch.count("archive fetched");
        self.service.fetch_archive(request).await
    }
}
