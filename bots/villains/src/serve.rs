//! Serving without a part that a bot should have: the kit always has them all.

use std::{env, time::Duration};

use bot_kit::ListenError;
use tokio::{
    net::{TcpListener, UnixListener},
    signal::unix::{SignalKind, signal},
};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::{
    service::Routes,
    transport::{Server, server::Router},
};

/// How long games may go on after it was asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Serves these routes and reflection.
pub(crate) async fn without_health(routes: Routes) -> Result<(), ListenError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(arena_proto::DESCRIPTORS)
        .build_v1()?;
    serve(router(routes).add_service(reflection)).await
}

/// Serves these routes and the health of `service`.
pub(crate) async fn without_reflection(routes: Routes, service: &str) -> Result<(), ListenError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health
        .set_service_status(service, tonic_health::ServingStatus::Serving)
        .await;
    serve(router(routes).add_service(health_service)).await
}

fn router(routes: Routes) -> Router {
    Server::builder().tcp_nodelay(true).add_routes(routes)
}

async fn serve(router: Router) -> Result<(), ListenError> {
    let address = env::var("BOT_LISTEN").unwrap_or_default();
    let bind = |error| ListenError::Bind {
        address: address.clone(),
        error,
    };
    let serving = async {
        if let Some(path) = address.strip_prefix("unix:") {
            let listener = UnixListener::bind(path).map_err(bind)?;
            println!("listening on unix:{path}");
            let incoming = UnixListenerStream::new(listener);
            let served = router.serve_with_incoming_shutdown(incoming, asked_to_stop());
            let served = served.await;
            let _ = std::fs::remove_file(path);
            served?;
        } else if let Some(host) = address.strip_prefix("tcp:") {
            let listener = TcpListener::bind(host).await.map_err(bind)?;
            println!("listening on tcp:{}", listener.local_addr()?);
            let incoming = TcpListenerStream::new(listener);
            let served = router.serve_with_incoming_shutdown(incoming, asked_to_stop());
            served.await?;
        } else {
            return Err(ListenError::Address(address.clone()));
        }
        Ok(())
    };
    let too_late = async {
        asked_to_stop().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served,
        () = too_late => Ok(()),
    }
}

/// Waits for SIGTERM or SIGINT.
async fn asked_to_stop() {
    let of = |kind| signal(kind).expect("the runtime handles signals");
    let mut terminate = of(SignalKind::terminate());
    let mut interrupt = of(SignalKind::interrupt());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
