//! The presence of a bot that somebody else starts: whether it is there yet.

use std::{io, time::Duration};

use referee_net::causes;
use tokio::{
    io::AsyncReadExt as _,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use crate::{address::Address, dial::BotDial, probe::Probe};

/// Longest duration of one look at a bot that is waited for.
const LOOK: Duration = Duration::from_secs(5);
/// Pauses between two looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// Longest time until a server that does not let us in says so. With TLS 1.3 a handshake is
/// done for a client before the server has looked at its certificate (RFC 8446, section 2).
const REFUSAL: Duration = Duration::from_millis(500);

/// The presence of a bot that runs somewhere: how far it can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotPresence {
    /// Nothing takes a connection there, or it does not let us in.
    Absent(String),
    /// Something takes a connection, with TLS where the address has it, and no bot answers.
    Silent(String),
    /// A server of gRPC answers.
    Answering,
}

impl BotDial {
    /// The presence of a bot: how far it can be reached now. The look takes so long at most.
    pub async fn presence(&self, address: &Address, within: Duration) -> BotPresence {
        let deadline = Instant::now() + within;
        match timeout_at(deadline, self.is_let_in(address)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return BotPresence::Absent(causes(&error)),
            Err(_) => return BotPresence::Absent(format!("no connection within {within:?}")),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let probe = match Probe::connect(address, self, left).await {
            Ok(probe) => probe,
            Err(error) => return BotPresence::Silent(error.to_string()),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        match probe.answers(left).await {
            Ok(()) => BotPresence::Answering,
            Err(why) => BotPresence::Silent(why),
        }
    }

    /// The presence of a bot as soon as it answers, or at this moment: how far it can be reached.
    /// There is at least one look, however soon that moment is.
    pub async fn presence_by(&self, address: &Address, deadline: Instant) -> BotPresence {
        let mut pause = PAUSES.0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let found = self.presence(address, left.clamp(PAUSES.1, LOOK)).await;
            if found == BotPresence::Answering || Instant::now() >= deadline {
                return found;
            }
            tracing::debug!(%address, ?found, "the bot is not there yet");
            sleep_until(deadline.min(Instant::now() + pause)).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Opens a connection, and looks whether the other end refuses us.
    async fn is_let_in(&self, address: &Address) -> io::Result<()> {
        let mut socket = self.open(address, None).await?;
        if !matches!(address, Address::Tls(_)) {
            return Ok(());
        }
        match timeout(REFUSAL, socket.read_u8()).await {
            // An alert. Where it only ends, a gate may have found that its bot is not there.
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use nix::unistd::geteuid;
    use tokio::net::{TcpListener, UnixListener};
    use tonic::{service::Routes, transport::Server};

    use super::*;

    /// Far more than an answer on this machine takes.
    const AMPLE: Duration = Duration::from_secs(20);
    /// Nothing comes for so long.
    const SHORT: Duration = Duration::from_millis(300);

    struct BotSocket {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl BotSocket {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("bot.sock");
            Self {
                _folder: folder,
                path,
            }
        }

        fn address(&self) -> Address {
            Address::Unix(self.path.clone())
        }

        fn listen(&self) -> UnixListener {
            UnixListener::bind(&self.path).unwrap()
        }
    }

    fn serve(listener: UnixListener, routes: Routes) {
        let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener);
        let server = Server::builder().add_routes(routes);
        tokio::spawn(server.serve_with_incoming(incoming));
    }

    #[tokio::test]
    async fn a_socket_without_a_listener_is_absent_and_one_that_says_nothing_is_silent() {
        let socket = BotSocket::new();
        let dial = BotDial::default();
        let found = dial.presence(&socket.address(), AMPLE).await;
        assert!(matches!(&found, BotPresence::Absent(why) if why.contains("No such file")));
        let listener = socket.listen();
        let found = dial.presence(&socket.address(), SHORT).await;
        assert!(matches!(found, BotPresence::Silent(_)), "{found:?}");
        drop(listener);
        let found = dial.presence(&socket.address(), AMPLE).await;
        assert!(matches!(&found, BotPresence::Absent(why) if why.contains("refused")));
    }

    #[tokio::test]
    async fn a_server_answers_with_its_health_or_without_a_health_service() {
        let dial = BotDial::default();
        for has_health in [true, false] {
            let socket = BotSocket::new();
            let mut routes = Routes::builder();
            let (_reporter, health) = tonic_health::server::health_reporter();
            if has_health {
                routes.add_service(health);
            }
            serve(socket.listen(), routes.routes());
            let found = dial.presence(&socket.address(), AMPLE).await;
            assert_eq!(found, BotPresence::Answering, "with health: {has_health}");
        }
    }

    #[tokio::test]
    async fn a_server_that_says_that_it_does_not_serve_is_silent() {
        let socket = BotSocket::new();
        let (reporter, health) = tonic_health::server::health_reporter();
        let status = tonic_health::ServingStatus::NotServing;
        reporter.set_service_status("", status).await;
        serve(socket.listen(), Routes::new(health));
        let found = BotDial::default().presence(&socket.address(), AMPLE).await;
        assert_eq!(found, BotPresence::Silent("NOT_SERVING".to_owned()));
    }

    #[tokio::test]
    async fn a_connection_that_is_closed_at_once_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap().to_string());
        tokio::spawn(async move { while listener.accept().await.is_ok() {} });
        let found = BotDial::default().presence(&address, AMPLE).await;
        assert!(matches!(found, BotPresence::Silent(_)), "{found:?}");
    }

    #[tokio::test]
    async fn only_the_expected_user_may_listen() {
        let socket = BotSocket::new();
        serve(socket.listen(), Routes::default());
        let ours = geteuid().as_raw();
        let dial = |user| BotDial {
            user: Some(user),
            ..BotDial::default()
        };
        let found = dial(ours).presence(&socket.address(), AMPLE).await;
        assert_eq!(found, BotPresence::Answering);
        let found = dial(ours + 1).presence(&socket.address(), AMPLE).await;
        let expected = format!(
            "a process of user {ours} listens there, expected one of user {}",
            ours + 1
        );
        assert_eq!(found, BotPresence::Absent(expected));
    }
}
