//! The address on which a bot listens, and its stop.

use std::{env, fs, io, path::Path, time::Duration};

use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::{
    net::{TcpListener, TcpStream, UnixListener},
    signal::unix::{SignalKind, signal},
};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::{
    service::Routes,
    transport::{Server, server::Router},
};

use crate::join::ArenaToJoin;

/// The address on which a bot listens when `BOT_LISTEN` is not set.
const DEFAULT_ADDRESS: &str = "tcp:127.0.0.1:50051";
/// Longest time that games may go on after the bot was asked to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Reason why a bot could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// `BOT_LISTEN` is not an address.
    #[error("BOT_LISTEN is \"{0}\": expected unix:PATH or tcp:HOST:PORT")]
    Address(String),
    /// The address can't be listened on.
    #[error("could not listen on {address}: {error}")]
    Bind {
        /// The address.
        address: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The arena that `BOT_JOIN` names can't be joined.
    #[error("could not join: {0}")]
    Join(String),
    /// The transport failed.
    #[error("could not serve: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// The system failed.
    #[error("could not serve: {0}")]
    Io(#[from] io::Error),
    /// Reflection could not be set up.
    #[error("could not describe itself: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Serves these routes, health for `services`, and reflection, as [`listen`] does; or to the arena
/// that `BOT_JOIN` names, where it names one. `descriptors` has those of games that are not in
/// [`arena_proto`].
///
/// # Errors
///
/// [`ListenError`].
pub async fn serve(
    routes: Routes,
    services: &[&str],
    descriptors: &[&'static [u8]],
) -> Result<(), ListenError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    for service in services {
        health
            .set_service_status(*service, tonic_health::ServingStatus::Serving)
            .await;
    }
    let mut reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(arena_proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
    for more in descriptors {
        if *more != arena_proto::DESCRIPTORS {
            reflection = reflection.register_encoded_file_descriptor_set(more);
        }
    }
    // What is served, and not all that the files describe.
    let served = services.iter().filter(|service| !service.is_empty());
    let reflection = served
        .chain(&[
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
        ])
        .fold(reflection, |reflection, service| {
            reflection.with_service_name(*service)
        })
        .build_v1()?;
    let router = router(routes)
        .add_service(health_service)
        .add_service(reflection);
    match ArenaToJoin::of_environment()? {
        Some(arena) => arena.join(router, services, stop_signal()?.shared()).await,
        None => listen(router).await,
    }
}

/// A server of these routes and nothing else.
pub fn router(routes: Routes) -> Router {
    Server::builder().add_routes(routes)
}

/// Serves where `BOT_LISTEN` says, until SIGTERM or SIGINT; says on standard output
/// where it listens.
///
/// # Errors
///
/// [`ListenError`].
#[expect(clippy::print_stdout, reason = "it is the whole program of a bot")]
pub async fn listen(router: Router) -> Result<(), ListenError> {
    let address = env::var("BOT_LISTEN").unwrap_or_else(|_| DEFAULT_ADDRESS.to_owned());
    let stop = stop_signal()?.shared();
    let bind = |error| ListenError::Bind {
        address: address.clone(),
        error,
    };
    let serving = async {
        if let Some(path) = address.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            // A socket that a dead process left behind would be in the way.
            remove_socket(path.as_ref()).map_err(bind)?;
            let listener = UnixListener::bind(path).map_err(bind)?;
            println!("listening on unix:{path}");
            let incoming = accepted(UnixListenerStream::new(listener));
            let served = router.serve_with_incoming_shutdown(incoming, stop.clone());
            let served = served.await;
            let _ = fs::remove_file(path);
            served?;
        } else if let Some(host) = address.strip_prefix("tcp:") {
            let listener = TcpListener::bind(host).await.map_err(bind)?;
            println!("listening on tcp:{}", listener.local_addr()?);
            let incoming = accepted(over_tcp(listener));
            let served = router.serve_with_incoming_shutdown(incoming, stop.clone());
            served.await?;
        } else {
            return Err(ListenError::Address(address.clone()));
        }
        Ok(())
    };
    let too_long = async {
        stop.clone().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served,
        () = too_long => Ok(()),
    }
}

/// The pause after a connection could not be accepted: at the limit of open files the next one
/// can't be accepted either.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The connections to a listener. One that can't be accepted is no end.
#[expect(
    clippy::print_stderr,
    reason = "the log of a bot is its standard error"
)]
fn accepted<S>(incoming: impl Stream<Item = io::Result<S>>) -> impl Stream<Item = io::Result<S>> {
    incoming.filter_map(|accepted| async move {
        if let Err(error) = &accepted {
            eprintln!("could not accept a connection: {error}");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
        accepted.ok().map(Ok)
    })
}

/// The connections to a port. Small messages are sent at once: an answer that waited until the one
/// before it was confirmed would take 40 ms. The server sets that only where it listens itself.
fn over_tcp(listener: TcpListener) -> impl Stream<Item = io::Result<TcpStream>> {
    TcpListenerStream::new(listener).map(|accepted| {
        let stream = accepted?;
        stream.set_nodelay(true)?;
        Ok(stream)
    })
}

/// Listens for SIGTERM and SIGINT; the future ends when one of them comes.
#[expect(
    clippy::disallowed_methods,
    reason = "it is the whole program of a bot"
)]
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

fn remove_socket(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_sent_over_tcp_does_not_wait_for_more() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its number");
        let mut incoming = Box::pin(over_tcp(listener));
        let (connected, accepted) = tokio::join!(TcpStream::connect(address), incoming.next());
        connected.expect("it listens");
        let stream = accepted.expect("it goes on").expect("it is accepted");
        assert!(stream.nodelay().expect("an option"));
    }
}
