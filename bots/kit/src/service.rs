//! A game's gRPC service: one streaming call, whose messages pass through as
//! bytes.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use arena_proto::opaque::OpaqueCodec;
use bytes::Bytes;
use http_body::Body as HttpBody;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Service, StdError, http},
    server::{Grpc, StreamingService},
};

use crate::session::{BotDescription, BotSession, NewPlayer};

/// Serves one game.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) options: Arc<BotDescription>,
    pub(crate) new: Arc<NewPlayer>,
}

impl<B> Service<http::Request<B>> for Served
where
    B: HttpBody + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let play = PlayCall(self.clone());
        Box::pin(async move { Ok(Grpc::new(OpaqueCodec).streaming(play, request).await) })
    }
}

/// The call `Play`.
struct PlayCall(Served);

impl StreamingService<Bytes> for PlayCall {
    type Response = Bytes;
    type ResponseStream = BotSession;
    type Future = std::future::Ready<Result<Response<BotSession>, Status>>;

    fn call(&mut self, calls: Request<Streaming<Bytes>>) -> Self::Future {
        let Served { options, new } = &self.0;
        let session = BotSession::new(calls.into_inner(), options.clone(), new.clone());
        std::future::ready(Ok(Response::new(session)))
    }
}
