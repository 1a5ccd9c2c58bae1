//! The lobby as bots reach it, and its sockets as the referee does.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    time::Duration,
};

use arena_lobby::{Lobby, LobbyFolder, MESSAGES};
use arena_proto::{
    arena::v1::{
        AnswerEnvelope, CallEnvelope, FromBot, FromSeat, Hello, Invitation, Take, ToBot, ToSeat,
        from_bot::Message as Up, from_seat::Message as SeatUp, lobby_client::LobbyClient,
        to_bot::Message as Down,
    },
    opaque::OpaqueCodec,
};
use bytes::Bytes;
use prost::Message as _;
use referee_net::{Bearer, Bounds, DialOptions, NamedTokens, Token, channel, incoming};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::mpsc, time::timeout};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{
    Code, Request, Status, Streaming,
    client::Grpc,
    codegen::{InterceptedService, http::uri::PathAndQuery},
    transport::{Channel, Endpoint},
};

/// When a test gives up waiting.
const AMPLE: Duration = Duration::from_secs(20);
const SERVICE: &str = "games.connect_four.v1.ConnectFourBot";

type Client = LobbyClient<InterceptedService<Channel, Bearer>>;

/// A lobby for the bots "ann" and "bob".
struct Place {
    address: SocketAddr,
    folder: TempDir,
    tokens: [Token; 2],
}

impl Place {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = [(); 2].map(|()| Token::generate().unwrap());
        let lines = ["ann", "bob"].iter().zip(&tokens);
        let lines: String = lines
            .map(|(name, token)| format!("{name} {}\n", token.reveal()))
            .collect();
        let file = folder.path().join("tokens");
        let mut options = fs::File::options();
        let mut opened = options.write(true).create(true).mode(0o600).open(&file);
        std::io::Write::write_all(opened.as_mut().unwrap(), lines.as_bytes()).unwrap();
        let known = NamedTokens::load(&file).unwrap();
        let place = LobbyFolder::new(folder.path().join("lobby"));
        let lobby = Lobby::open(known, place, CancellationToken::new()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let bounds = Bounds {
                messages: MESSAGES.to_vec(),
                ..Bounds::default()
            };
            let server = bounds.server().add_routes(lobby.routes());
            server
                .serve_with_incoming(incoming(listener, None, &bounds))
                .await
        });
        Self {
            address,
            folder,
            tokens,
        }
    }

    fn client(&self, token: &Token) -> Client {
        let target = format!("http://{}", self.address).parse().unwrap();
        let bearer = Bearer::new(token, &target, false).unwrap();
        let channel = channel(&target, None, &DialOptions::default()).unwrap();
        LobbyClient::with_interceptor(channel, bearer)
    }

    fn folder(&self) -> LobbyFolder {
        LobbyFolder::new(self.folder.path().join("lobby"))
    }

    /// The stream that a referee opens to a bot.
    async fn referee(&self, name: &str) -> Game {
        let address = format!("unix://{}", self.folder().socket(name).display());
        let channel = Endpoint::from_shared(address).unwrap().connect_lazy();
        let mut grpc = Grpc::new(channel);
        grpc.ready().await.unwrap();
        let (calls, going) = mpsc::unbounded_channel();
        let path: PathAndQuery = format!("/{SERVICE}/Play").parse().unwrap();
        let calls_of_it = Request::new(UnboundedReceiverStream::new(going));
        let answers = grpc.streaming(calls_of_it, path, OpaqueCodec).await;
        Game {
            calls,
            answers: answers.unwrap().into_inner(),
        }
    }
}

struct Game {
    calls: mpsc::UnboundedSender<Bytes>,
    answers: Streaming<Bytes>,
}

/// A control stream.
struct Control {
    up: mpsc::UnboundedSender<FromBot>,
    down: Streaming<ToBot>,
}

async fn attend(mut client: Client, services: &[&str]) -> Result<Control, Status> {
    let (up, going) = mpsc::unbounded_channel();
    let hello = Hello {
        services: services.iter().map(|one| (*one).to_owned()).collect(),
        program: "a test".to_owned(),
    };
    let message = Some(Up::Hello(hello));
    up.send(FromBot { message }).unwrap();
    let down = client.attend(UnboundedReceiverStream::new(going)).await?;
    let mut control = Control {
        up,
        down: down.into_inner(),
    };
    match control.next().await {
        Ok(Some(Down::Greeting(_))) => Ok(control),
        Ok(other) => panic!("expected a greeting, found {other:?}"),
        Err(status) => Err(status),
    }
}

impl Control {
    /// The next message but pings.
    async fn next(&mut self) -> Result<Option<Down>, Status> {
        loop {
            let message = timeout(AMPLE, self.down.message()).await.unwrap()?;
            match message.and_then(|message| message.message) {
                Some(Down::Ping(_)) => {}
                other => return Ok(other),
            }
        }
    }

    async fn invitation(&mut self) -> Invitation {
        match self.next().await.unwrap() {
            Some(Down::Invitation(invitation)) => invitation,
            other => panic!("expected an invitation, found {other:?}"),
        }
    }
}

struct Seat {
    up: mpsc::UnboundedSender<FromSeat>,
    down: Streaming<ToSeat>,
}

async fn take(mut client: Client, key: &Bytes) -> Result<Seat, Status> {
    let (up, going) = mpsc::unbounded_channel();
    let take = Take {
        key: key.clone(),
        ..Take::default()
    };
    let message = Some(SeatUp::Take(take));
    up.send(FromSeat { message }).unwrap();
    let down = client.play(UnboundedReceiverStream::new(going)).await?;
    let down = down.into_inner();
    Ok(Seat { up, down })
}

fn call() -> Bytes {
    let call = CallEnvelope {
        number: Some(0),
        ..CallEnvelope::default()
    };
    call.encode_to_vec().into()
}

fn answer() -> Bytes {
    let answer = AnswerEnvelope {
        number: Some(0),
        ready: None,
    };
    answer.encode_to_vec().into()
}

#[tokio::test]
async fn one_token_does_not_sit_in_the_seat_of_another() {
    let place = Place::new().await;
    let [ann, bob] = &place.tokens;
    let mut control = attend(place.client(ann), &[SERVICE]).await.unwrap();
    let mut others = attend(place.client(bob), &[SERVICE]).await.unwrap();
    let mut game = place.referee("ann").await;
    game.calls.send(call()).unwrap();
    let invitation = control.invitation().await;
    assert_eq!(invitation.service, SERVICE);
    // Whoever else has the key has nothing of it, and nothing of the game.
    let stolen = take(place.client(bob), &invitation.key).await;
    assert_eq!(stolen.err().unwrap().code(), Code::NotFound);
    let guessed = take(place.client(ann), &Bytes::from_static(&[7; 16])).await;
    assert_eq!(guessed.err().unwrap().code(), Code::NotFound);
    let mut seat = take(place.client(ann), &invitation.key).await.unwrap();
    let heard = timeout(AMPLE, seat.down.message()).await.unwrap();
    assert_eq!(heard.unwrap().unwrap().call, Some(call()));
    let message = Some(SeatUp::Answer(answer()));
    seat.up.send(FromSeat { message }).unwrap();
    let heard = timeout(AMPLE, game.answers.message()).await.unwrap();
    assert_eq!(heard.unwrap(), Some(answer()));
    let invited = timeout(Duration::from_millis(100), others.next()).await;
    assert!(invited.is_err(), "{invited:?}");
}

#[tokio::test]
async fn who_is_not_known_does_not_attend() {
    let place = Place::new().await;
    let stranger = Token::generate().unwrap();
    let refused = attend(place.client(&stranger), &[SERVICE]).await;
    assert_eq!(refused.err().unwrap().code(), Code::Unauthenticated);
    let refused = take(place.client(&stranger), &Bytes::new()).await;
    assert_eq!(refused.err().unwrap().code(), Code::Unauthenticated);
    assert!(!place.folder().socket("ann").exists());
}

#[tokio::test]
async fn services_that_are_no_names_are_refused() {
    let place = Place::new().await;
    let many = vec![SERVICE; 65];
    let cases: [&[&str]; 5] = [&[], &["{x}"], &["a/b"], &[SERVICE, SERVICE], &many];
    for services in cases {
        let refused = attend(place.client(&place.tokens[0]), services).await;
        assert_eq!(refused.err().unwrap().code(), Code::InvalidArgument);
    }
}

#[tokio::test]
async fn a_newer_stream_takes_the_place_of_an_older_one() {
    let place = Place::new().await;
    let ann = &place.tokens[0];
    let mut older = attend(place.client(ann), &[SERVICE]).await.unwrap();
    let mut newer = attend(place.client(ann), &[SERVICE]).await.unwrap();
    let told = older.next().await.unwrap();
    assert!(matches!(told, Some(Down::Superseded(_))), "{told:?}");
    let _game = place.referee("ann").await;
    newer.invitation().await;
}

#[tokio::test]
async fn nothing_answers_for_a_bot_that_has_left() {
    let place = Place::new().await;
    let control = attend(place.client(&place.tokens[0]), &[SERVICE]).await;
    let socket = place.folder().socket("ann");
    let folder = fs::metadata(place.folder().path()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    // A game of which it has been told nothing breaks, so that it can be played later.
    let mut game = place.referee("ann").await;
    drop(control);
    let broken = timeout(AMPLE, game.answers.message()).await.unwrap();
    let broken = broken.unwrap_err();
    assert!(std::error::Error::source(&broken).is_some(), "{broken:?}");
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_bot_that_drains_is_invited_no_more_and_ends_its_game() {
    let place = Place::new().await;
    let ann = &place.tokens[0];
    let mut control = attend(place.client(ann), &[SERVICE]).await.unwrap();
    let mut game = place.referee("ann").await;
    game.calls.send(call()).unwrap();
    let key = control.invitation().await.key;
    let seat = take(place.client(ann), &key).await.unwrap();
    let message = Some(Up::Drain(arena_proto::arena::v1::Drain {}));
    control.up.send(FromBot { message }).unwrap();
    let is_gone = async {
        while place.folder().socket("ann").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(AMPLE, is_gone).await.unwrap();
    let message = Some(SeatUp::Answer(answer()));
    seat.up.send(FromSeat { message }).unwrap();
    let heard = timeout(AMPLE, game.answers.message()).await.unwrap();
    assert_eq!(heard.unwrap(), Some(answer()));
    // It ends its side of the control stream, and waits for the arena to do the same.
    let (up, _) = mpsc::unbounded_channel();
    drop(std::mem::replace(&mut control.up, up));
    assert_eq!(control.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_folder_is_that_of_one_lobby() {
    let place = Place::new().await;
    let known = NamedTokens::load(&place.folder.path().join("tokens")).unwrap();
    let second = Lobby::open(known, place.folder(), CancellationToken::new());
    let why = second.err().unwrap().to_string();
    assert!(why.contains("another arena"), "{why}");
}
