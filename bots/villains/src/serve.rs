//! Serving without a part that a bot should have: the kit always has them all.

use bot_kit::{ListenError, listen, router};
use tonic::service::Routes;

/// Serves these routes and reflection.
pub(crate) async fn without_health(routes: Routes) -> Result<(), ListenError> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(arena_proto::DESCRIPTORS)
        .build_v1()?;
    listen(router(routes).add_service(reflection)).await
}

/// Serves these routes and the health of `service`.
pub(crate) async fn without_reflection(routes: Routes, service: &str) -> Result<(), ListenError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health
        .set_service_status(service, tonic_health::ServingStatus::Serving)
        .await;
    listen(router(routes).add_service(health_service)).await
}
