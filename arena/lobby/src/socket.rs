//! The socket of one bot: what it serves to the referee, which finds a bot as any other there.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use arena_proto::opaque::OpaqueService;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::{
    Status, Streaming,
    body::Body,
    codegen::{Service, http, tokio_stream::Stream},
    service::Routes,
    transport::Server,
};

/// A status with this in its metadata is sent to nobody: the stream breaks instead.
const BREAKS: &str = "arena-breaks";

/// Serves these services of a bot until `stop`, and streams that are open then until they end.
/// `play` opens the stream of one seat in one game.
pub(crate) async fn serve<F, P, S>(
    listener: UnixListener,
    services: &[String],
    play: impl Fn(String) -> F,
    stop: CancellationToken,
) where
    F: Fn(Streaming<Bytes>) -> P + Clone + Send + Sync + 'static,
    P: Future<Output = Result<S, Status>> + Send + 'static,
    S: Stream<Item = Result<Bytes, Status>> + Send + 'static,
{
    let (health, health_service) = tonic_health::server::health_reporter();
    let mut routes = Routes::default();
    for service in services {
        health
            .set_service_status(service, tonic_health::ServingStatus::Serving)
            .await;
        let play = Breakable(OpaqueService(play(service.clone())));
        let router = routes.axum_router_mut();
        *router = std::mem::take(router).route_service(&format!("/{service}/Play"), play);
    }
    let serving = Server::builder()
        .add_routes(routes)
        .add_service(health_service)
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), stop.cancelled_owned());
    if let Err(error) = serving.await {
        tracing::warn!(%error, "could not serve the socket of a bot");
    }
}

/// The status that makes a stream break, as if nothing were at the other end any more: the bot has
/// been told nothing, and is not there.
pub(crate) fn breaks() -> Status {
    let mut status = Status::unavailable("the bot is gone");
    let value = tonic::metadata::MetadataValue::from_static("1");
    status.metadata_mut().insert(BREAKS, value);
    status
}

/// A service whose streams can break.
#[derive(Clone)]
struct Breakable<S>(S);

impl<S, B> Service<http::Request<B>> for Breakable<S>
where
    S: Service<http::Request<B>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let answering = self.0.call(request);
        Box::pin(async move { Ok(answering.await?.map(|body| Body::new(BreakableBody(body)))) })
    }
}

struct BreakableBody(Body);

impl HttpBody for BreakableBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(trailers) = frame.trailers_ref()
            && trailers.contains_key(BREAKS)
        {
            // Whose body fails is reset (RFC 9113, section 5.4.2).
            return Poll::Ready(Some(Err(Status::unavailable("the bot is gone"))));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
