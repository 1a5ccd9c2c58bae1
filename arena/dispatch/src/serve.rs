//! Serves the dispatch of work until it is stopped.

use std::{sync::Arc, time::Duration};

use arena_proto::arena::v1::dispatch_server::DispatchServer;
use referee_net::{Bounds, ServerTls, incoming};
use referee_worker::remote::limits;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use crate::{DispatchService, ServiceOptions, Storage, Tournaments};

/// The largest question about its health, in bytes.
const LARGEST_QUESTION: usize = 1024;
/// Time that streams have to end when it is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// Plays the tournaments of a store with the workers that join at this listener, until it is
/// stopped. Workers in this process may call `tournaments` at the same time. `others` are served
/// there too; the largest messages of their calls are in `bounds`.
///
/// # Errors
///
/// The transport failed.
pub async fn serve<S: Storage>(
    tournaments: Arc<Tournaments<S>>,
    options: ServiceOptions,
    listener: TcpListener,
    tls: Option<ServerTls>,
    bounds: &Bounds,
    others: Routes,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let service = DispatchService::new(tournaments.clone(), options, stop.clone());
    let (health, health_service) = tonic_health::server::health_reporter();
    health
        .set_serving::<DispatchServer<DispatchService<S>>>()
        .await;
    let bounds = &Bounds {
        message_bytes: LARGEST_QUESTION,
        messages: [&limits::MESSAGES, &bounds.messages[..]].concat(),
        ..bounds.clone()
    };
    let serving = bounds
        .server()
        .add_routes(others)
        .add_service(health_service)
        .add_service(service.clone().into_server())
        .serve_with_incoming_shutdown(
            incoming(listener, tls, bounds),
            stop.clone().cancelled_owned(),
        );
    let serving = async {
        tokio::select! {
            biased;
            served = serving => served,
            () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
        }
    };
    let (served, (), ()) =
        tokio::join!(serving, service.look_after(), tournaments.supervise(&stop));
    served
}
