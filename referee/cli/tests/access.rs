//! Tests of the callers that `referee serve` lets in, and of the bots that it dials.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use arena_proto::arena::v1::{
    GameEvent, GameSpec, Player, game_event::Event, referee_client::RefereeClient,
};
use nix::unistd::Pid;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use referee_net::{
    Bearer, ClientFiles, ClientTls, DialOptions, ServerTls, Target, TlsFiles, Token, channel,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};
use tonic::{Code, Status, transport::Channel};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

/// Time after which a test gives up waiting.
const AMPLE: Duration = Duration::from_secs(60);

/// A program of ours that listens, and its address.
struct Running {
    child: Child,
    address: SocketAddr,
}

async fn start(command: &mut Command) -> Running {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut said).await.unwrap();
    let address = said.trim().rsplit_once("tcp:").unwrap().1.parse().unwrap();
    Running { child, address }
}

/// `referee serve` with these arguments.
async fn referee(arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let listens = ["serve", "--listen", "127.0.0.1:0", "--threads", "1"];
    start(command.args(listens).args(arguments)).await
}

/// A built-in bot.
async fn bot() -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let command = command.args(["bot", "random"]);
    start(command.env("BOT_LISTEN", "tcp:127.0.0.1:0")).await
}

impl Running {
    fn channel(&self, tls: Option<ClientTls>) -> Channel {
        channel(&self.target(tls.is_some()), tls, &DialOptions::default()).unwrap()
    }

    fn target(&self, tls: bool) -> Target {
        let scheme = if tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address).parse().unwrap()
    }
}

/// Files of an authority and of one certificate of 127.0.0.1, for servers and clients.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let write = |name, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        write("ca.pem", authority.pem());
        write("one.pem", certificate.pem());
        write("one.key", key.serialize_pem());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn client(&self, shows_itself: bool) -> ClientTls {
        let identity = (self.path("one.pem"), self.path("one.key"));
        ClientTls::load(ClientFiles {
            ca: Some(self.path("ca.pem")),
            identity: shows_itself.then_some(identity),
        })
        .unwrap()
    }

    /// The address of a listener that speaks TLS and hands on to this bot without it.
    async fn before(&self, bot: SocketAddr) -> SocketAddr {
        let tls = ServerTls::load(TlsFiles {
            certificate: self.path("one.pem"),
            key: self.path("one.key"),
            client_ca: Some(self.path("ca.pem")),
        });
        let tls = tls.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let tls = tls.clone();
                tokio::spawn(async move {
                    let mut secure = tls.accept(stream).await?;
                    let mut plain = TcpStream::connect(bot).await?;
                    copy_bidirectional(&mut secure, &mut plain).await
                });
            }
        });
        address
    }
}

fn spec(first: &str, second: &str) -> GameSpec {
    GameSpec {
        game_id: "guarded".to_owned(),
        game: "connect_four".to_owned(),
        seed: Some(vec![3; 32].into()),
        players: [("a", first), ("b", second)]
            .map(|(name, address)| Player {
                name: name.to_owned(),
                address: address.to_owned(),
            })
            .to_vec(),
        ..GameSpec::default()
    }
}

/// Has a game played; its record.
async fn play<C>(client: &mut RefereeClient<C>, spec: GameSpec) -> Result<String, Status>
where
    C: tonic::client::GrpcService<tonic::body::Body>,
    C::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    C::ResponseBody: tonic::codegen::Body<Data = tonic::codegen::Bytes> + Send + 'static,
    <C::ResponseBody as tonic::codegen::Body>::Error:
        Into<Box<dyn std::error::Error + Send + Sync>> + Send,
{
    let playing = async {
        let mut events = client.play_game(spec).await?.into_inner();
        let mut record = None;
        while let Some(GameEvent { event }) = events.message().await? {
            if let Some(Event::Finished(finished)) = event {
                record = Some(finished.record);
            }
        }
        Ok(record.unwrap())
    };
    tokio::time::timeout(AMPLE, playing).await.unwrap()
}

#[tokio::test]
async fn only_callers_with_a_token_have_games_played_and_all_may_ask_for_health() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let made = new_token(&path).await;
    assert!(made.status.success());
    let token = Token::read(&path).unwrap();
    let shown = String::from_utf8(made.stdout).unwrap();
    assert!(!shown.contains(token.reveal()), "a token is shown nowhere");
    let referee = referee(&["--token-file", path.to_str().unwrap()]).await;
    let (one, two) = (bot().await, bot().await);
    let [one_at, two_at] = [&one, &two].map(|bot| format!("tcp:{}", bot.address));
    let spec = spec(&one_at, &two_at);

    let other = Token::generate().unwrap();
    for (token, is_known) in [(&token, true), (&other, false)] {
        let bearer = Bearer::new(token, &referee.target(false), false).unwrap();
        let mut client = RefereeClient::with_interceptor(referee.channel(None), bearer);
        let played = play(&mut client, spec.clone()).await;
        let code = played.map_or_else(|status| status.code(), |_| Code::Ok);
        let expected = if is_known {
            Code::Ok
        } else {
            Code::Unauthenticated
        };
        assert_eq!(code, expected);
    }
    let mut stranger = RefereeClient::new(referee.channel(None));
    let status = play(&mut stranger, spec).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated, "{status}");
    let mut health = HealthClient::new(referee.channel(None));
    health.check(HealthCheckRequest::default()).await.unwrap();
}

async fn new_token(path: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.arg("token").arg(path).output().await.unwrap()
}

#[tokio::test]
async fn a_token_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    assert_eq!(new_token(&path).await.status.code(), Some(0));
    let before = std::fs::read(&path).unwrap();
    assert_eq!(new_token(&path).await.status.code(), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn callers_and_bots_are_reached_over_mutual_tls() {
    let files = Certificates::new();
    let [ca, certificate, key] = ["ca.pem", "one.pem", "one.key"].map(|name| files.text(name));
    let referee = referee(&[
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
        "--tls-client-ca",
        &ca,
        "--bots-ca",
        &ca,
        "--bots-cert",
        &certificate,
        "--bots-key",
        &key,
    ])
    .await;
    let (one, two) = (bot().await, bot().await);
    let one_at = format!("grpcs://{}", files.before(one.address).await);
    let two_at = format!("tcp:{}", two.address);
    let mut client = RefereeClient::new(referee.channel(Some(files.client(true))));
    let record = play(&mut client, spec(&one_at, &two_at)).await.unwrap();
    assert!(record.contains("finished"), "{record}");
    let mut stranger = RefereeClient::new(referee.channel(Some(files.client(false))));
    play(&mut stranger, spec(&one_at, &two_at))
        .await
        .unwrap_err();
}

#[tokio::test]
async fn a_bot_whose_authority_is_not_trusted_loses_and_one_without_any_is_refused() {
    let (ours, theirs) = (Certificates::new(), Certificates::new());
    let (one, two) = (bot().await, bot().await);
    let one_at = format!("grpcs://{}", theirs.before(one.address).await);
    let spec = spec(&one_at, &format!("tcp:{}", two.address));
    let trusting = referee(&["--bots-ca", &ours.text("ca.pem")]).await;
    let mut client = RefereeClient::new(trusting.channel(None));
    let record = play(&mut client, spec.clone()).await.unwrap();
    assert!(
        record.contains("no TLS handshake: invalid peer certificate"),
        "{record}"
    );
    let plain = referee(&[]).await;
    let mut client = RefereeClient::new(plain.channel(None));
    let status = play(&mut client, spec).await.unwrap_err();
    assert!(status.message().contains("--bots-ca"), "{status}");
}

#[tokio::test]
async fn only_bots_of_the_list_are_dialled() {
    let (one, two) = (bot().await, bot().await);
    let port = one.address.port();
    let allowed = format!("127.0.0.0/8:{}", two.address.port());
    let by_name = format!("localhost:{port}");
    let referee = referee(&["--bots", &allowed, &by_name]).await;
    let mut client = RefereeClient::new(referee.channel(None));
    let two_at = format!("tcp:{}", two.address);
    let good = spec(&format!("tcp:localhost:{port}"), &two_at);
    let record = play(&mut client, good).await.unwrap();
    assert!(record.contains("finished"), "{record}");
    for address in [
        format!("tcp:127.0.0.1:{port}"),
        format!("tcp:[::ffff:127.0.0.1]:{port}"),
        "tcp:localhost:1".to_owned(),
        "unix:/run/bot.sock".to_owned(),
        "unix:/etc/passwd".to_owned(),
    ] {
        let status = play(&mut client, spec(&address, &two_at))
            .await
            .unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{address}: {status}");
        assert!(
            status.message().contains("not among the addresses"),
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_wrong_file_or_pattern_is_refused_at_the_start() {
    let files = Certificates::new();
    let [ca, key] = ["ca.pem", "one.key"].map(|name| files.text(name));
    let missing = files.text("missing");
    for (arguments, words) in [
        (
            vec!["--tls-cert", &ca, "--tls-key", &key],
            "does not belong to",
        ),
        (vec!["--tls-cert", &ca], "--tls-key"),
        (vec!["--tls-client-ca", &ca], "--tls-cert"),
        (vec!["--token-file", &missing], "missing"),
        (vec!["--token-file", &ca], "chmod 600"),
        (vec!["--bots-ca", &missing], "missing"),
        (vec!["--bots", "everything"], "is no pattern of addresses"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        let command = command.args(["serve", "--listen", "127.0.0.1:0"]);
        let ended = command.args(&arguments).output().await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn a_referee_that_all_can_reach_warns_and_one_with_a_token_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    Token::generate().unwrap().write_new(&path).unwrap();
    let with_token = ["--token-file", path.to_str().unwrap()];
    for (listen, arguments, warns) in [
        ("0.0.0.0:0", &[][..], true),
        ("0.0.0.0:0", &with_token[..], false),
        ("127.0.0.1:0", &[][..], false),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        let command = command.args(["serve", "--grace", "0s", "--listen", listen]);
        let mut referee = start(command.args(arguments)).await;
        let id = Pid::from_raw(i32::try_from(referee.child.id().unwrap()).unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        let mut said = String::new();
        let mut stderr = referee.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).await.unwrap();
        assert_eq!(
            said.contains("--token-file"),
            warns,
            "{listen} {arguments:?}: {said}"
        );
    }
}
