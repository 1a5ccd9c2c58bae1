//! `Referee.PlayGame`, in this process and in its own.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{process::Stdio, sync::Arc, time::Duration};

use arena_proto::{
    arena::v1::{
        GameEvent, GameSpec, Limits, Player, Ready, game_event::Event,
        referee_client::RefereeClient,
    },
    games::connect_four::v1::{
        ConnectFourAnswer, ConnectFourCall, Point,
        connect_four_answer::Answer,
        connect_four_bot_server::{ConnectFourBot, ConnectFourBotServer},
        connect_four_call::Call,
    },
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee::{ServeOptions, ServiceAccess};
use referee_core::Record;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
    sync::{mpsc, watch},
};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{
    Code, Request, Response, Status, Streaming,
    transport::{Channel, Server},
};

/// Time after which a test gives up waiting, and a limit that nobody reaches.
const AMPLE: Duration = Duration::from_secs(60);

/// A bot in this process that plays the leftmost column.
#[derive(Clone)]
struct Leftmost {
    /// Time that it thinks; for ever if there is nothing.
    thinks: Option<Duration>,
    /// Number of open streams.
    open: Arc<watch::Sender<usize>>,
}

#[tonic::async_trait]
impl ConnectFourBot for Leftmost {
    type PlayStream = ReceiverStream<Result<ConnectFourAnswer, Status>>;

    async fn play(
        &self,
        calls: Request<Streaming<ConnectFourCall>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let (answers, outgoing) = mpsc::channel(1);
        let bot = self.clone();
        self.open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            bot.answer(calls.into_inner(), answers).await;
            bot.open.send_modify(|open| *open -= 1);
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }
}

impl Leftmost {
    async fn answer(
        &self,
        mut calls: Streaming<ConnectFourCall>,
        answers: mpsc::Sender<Result<ConnectFourAnswer, Status>>,
    ) {
        while let Ok(Some(ConnectFourCall { number, call, .. })) = calls.message().await {
            let answer = match call {
                Some(Call::Start(_)) => Answer::Ready(Ready::default()),
                Some(Call::GetPoint(ask)) => {
                    match self.thinks {
                        Some(thinks) => tokio::time::sleep(thinks).await,
                        None => return answers.closed().await,
                    }
                    let y = ask.top.iter().position(|&top| top > 0).unwrap();
                    Answer::Point(Point {
                        x: Some(i32::from(ask.top[y]) - 1),
                        y: Some(y as i32),
                    })
                }
                _ => continue,
            };
            let answer = ConnectFourAnswer {
                number,
                answer: Some(answer),
            };
            if answers.send(Ok(answer)).await.is_err() {
                return;
            }
        }
    }
}

/// The address of a new bot, and the number of its open streams.
async fn bot(thinks: Option<Duration>) -> (String, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let (open, seen) = watch::channel(0);
    let bot = Leftmost {
        thinks,
        open: Arc::new(open),
    };
    let serving = Server::builder()
        .add_service(ConnectFourBotServer::new(bot))
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(serving);
    (address, seen)
}

/// The service in this process, until the guard is dropped.
async fn serving(max_games: usize) -> (Channel, DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let serve = ServeOptions {
        threads: 1,
        max_games,
        grace: Duration::ZERO,
        access: ServiceAccess::default(),
    };
    tokio::spawn(serve.run(listener, stop.clone()));
    let channel = Channel::from_shared(address).unwrap();
    (channel.connect().await.unwrap(), stop.drop_guard())
}

fn spec(first: &str, second: &str) -> GameSpec {
    let limit = |time: Duration| Some(time.try_into().unwrap());
    GameSpec {
        game_id: "served".to_owned(),
        game: "connect_four".to_owned(),
        setup_json: String::new(),
        seed: Some(vec![3; 32].into()),
        players: [first, second]
            .map(|address| Player {
                name: address.to_owned(),
                address: address.to_owned(),
            })
            .to_vec(),
        limits: Some(Limits {
            start: limit(AMPLE),
            r#move: limit(60 * AMPLE),
            budget: None,
        }),
    }
}

/// Waits until a game can be played, and plays it.
async fn finishes(client: &mut RefereeClient<Channel>, spec: GameSpec) -> Record {
    let playing = async {
        loop {
            match client.play_game(spec.clone()).await {
                Ok(events) => return record(events.into_inner()).await,
                Err(status) => assert_eq!(status.code(), Code::ResourceExhausted, "{status}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(AMPLE, playing).await.unwrap()
}

/// Hears events to the end; the last one holds the record.
async fn record(mut events: Streaming<GameEvent>) -> Record {
    let mut last = None;
    while let Some(GameEvent { event }) = events.message().await.unwrap() {
        last = event;
    }
    let Some(Event::Finished(finished)) = last else {
        panic!("{last:?}");
    };
    let record = Record::parse(&finished.record).unwrap();
    referee_games::replay(&record, |_| {}).unwrap();
    record
}

#[tokio::test]
async fn a_game_is_told_from_its_start_to_its_record() {
    let (channel, _serving) = serving(8).await;
    let mut client = RefereeClient::new(channel);
    let (first, _) = bot(Some(Duration::ZERO)).await;
    let (second, _) = bot(Some(Duration::ZERO)).await;
    let events = client.play_game(spec(&first, &second)).await.unwrap();
    let record = record(events.into_inner()).await;
    let outcome = record.result.verdict.outcome().unwrap();
    assert_eq!(outcome.reason, "four in a line");
    assert_eq!(record.header.players.as_slice(), [first, second]);
    assert_eq!(record.header.seed.bytes(), &[3; 32]);
}

#[tokio::test]
async fn health_and_reflection_say_what_is_served() {
    use tonic_health::pb::{
        HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
    };
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };

    let (channel, _serving) = serving(8).await;
    let mut health = HealthClient::new(channel.clone());
    for service in ["", "arena.v1.Referee"] {
        let service = service.to_owned();
        let request = HealthCheckRequest { service };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving);
    }

    let mut reflection = ServerReflectionClient::new(channel);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let answers = reflection
        .server_reflection_info(tokio_stream::once(request))
        .await
        .unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let services: Vec<_> = list.service.into_iter().map(|one| one.name).collect();
    assert!(
        services.contains(&"arena.v1.Referee".to_owned()),
        "{services:?}"
    );
}

#[tokio::test]
async fn a_spec_that_is_none_is_refused_with_the_reason() {
    let (channel, _serving) = serving(1).await;
    let mut client = RefereeClient::new(channel);
    let (address, _) = bot(Some(Duration::ZERO)).await;
    type Change = fn(&mut GameSpec);
    let wrong: [(Change, &str); 14] = [
        (
            |spec| spec.game_id = "x".repeat(1 << 19),
            "game_id: expected a name of at most 200 bytes",
        ),
        (
            |spec| spec.game_id = "\u{1b}[31m".to_owned(),
            "without control characters, found \"\\u{1b}[31m\"",
        ),
        (
            |spec| spec.players[1].name = "x".repeat(201),
            "players: expected a name of at most 200 bytes",
        ),
        (
            |spec| spec.setup_json = format!("[{}0]", "0,".repeat(1 << 18)),
            "setup_json: expected at most 65536 bytes of JSON",
        ),
        (
            |spec| spec.setup_json = "[".repeat(100),
            "setup_json: expected JSON of at most 16 levels",
        ),
        (
            |spec| spec.game = "chess".to_owned(),
            "game: expected one of connect_four",
        ),
        (
            |spec| spec.players.truncate(1),
            "players: connect_four has 2 seats, found 1 players",
        ),
        (
            |spec| spec.seed = Some(vec![3; 31].into()),
            "seed: expected 32 bytes, found 31",
        ),
        (
            |spec| spec.setup_json = "{".to_owned(),
            "setup_json: EOF while parsing",
        ),
        (
            |spec| spec.setup_json = r#"{"rows": 3}"#.to_owned(),
            "setup_json: rows must be 4 to",
        ),
        (
            |spec| spec.setup_json = r#"{"height": 9}"#.to_owned(),
            "unknown field `height`",
        ),
        (
            |spec| spec.players[1].address = "localhost".to_owned(),
            "\"localhost\" is no address: expected grpc://HOST:PORT, grpcs://HOST:PORT, tcp:HOST:PORT or",
        ),
        (
            |spec| {
                spec.limits = Some(Limits {
                    r#move: Some(Duration::ZERO.try_into().unwrap()),
                    ..Limits::default()
                });
            },
            "limits.move: expected a positive duration",
        ),
        (|spec| *spec = GameSpec::default(), "found \"\""),
    ];
    for (change, words) in wrong {
        let mut spec = spec(&address, &address);
        change(&mut spec);
        let status = client.play_game(spec).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        assert!(status.message().contains(words), "{status}");
    }
    // A message that is larger than any game is refused before it is read.
    let mut spec_of_mebibytes = spec(&address, &address);
    spec_of_mebibytes.game_id = "x".repeat(3 << 20);
    let status = client.play_game(spec_of_mebibytes).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status}");
    // None of them has taken the place of a game.
    let (other, _) = bot(Some(Duration::ZERO)).await;
    let events = client.play_game(spec(&address, &other)).await.unwrap();
    record(events.into_inner()).await;
}

#[tokio::test]
async fn a_limit_that_nobody_can_mean_is_refused_with_what_was_expected() {
    type Change = fn(&mut Limits, prost_types::Duration);
    let fields: [(&str, Change); 3] = [
        ("start", |limits, time| limits.start = Some(time)),
        ("move", |limits, time| limits.r#move = Some(time)),
        ("budget", |limits, time| limits.budget = Some(time)),
    ];
    const YEAR: i64 = 365 * 24 * 60 * 60;
    let wrong = [
        (0, 0),
        (-1, 0),
        (0, -1),
        (1, -1_000_000_000),
        (YEAR, 1),
        (YEAR + 1, 0),
        (i64::MAX, i32::MAX),
        (i64::MAX, 0),
        (i64::MIN, 0),
        (i64::MIN, i32::MIN),
    ];
    let (channel, _serving) = serving(1).await;
    let mut client = RefereeClient::new(channel);
    let (first, _) = bot(Some(Duration::ZERO)).await;
    let (second, _) = bot(Some(Duration::ZERO)).await;
    for (name, change) in fields {
        for (seconds, nanos) in wrong {
            let mut spec = spec(&first, &second);
            let time = prost_types::Duration { seconds, nanos };
            change(spec.limits.as_mut().unwrap(), time);
            let status = client.play_game(spec).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument, "{status}");
            let words = format!(
                "limits.{name}: expected a positive duration of at most 365 days, \
                 found {seconds} s and {nanos} ns"
            );
            assert_eq!(status.message(), words);
        }
        // A whole year is a limit.
        let mut longest = spec(&first, &second);
        let time = prost_types::Duration {
            seconds: YEAR,
            nanos: 0,
        };
        change(longest.limits.as_mut().unwrap(), time);
        finishes(&mut client, longest).await;
    }
}

/// A game in which the first has played, so the second is thinking.
async fn under_way(
    client: &mut RefereeClient<Channel>,
    first: &str,
    second: &str,
) -> Streaming<GameEvent> {
    let mut events = client
        .play_game(spec(first, second))
        .await
        .unwrap()
        .into_inner();
    for _ in 0..2 {
        events.message().await.unwrap().unwrap();
    }
    events
}

#[tokio::test]
async fn cancelling_the_call_cuts_the_game_off() {
    let (channel, _serving) = serving(1).await;
    let mut client = RefereeClient::new(channel);
    let (first, _) = bot(Some(Duration::ZERO)).await;
    let (second, mut open) = bot(None).await;
    let events = under_way(&mut client, &first, &second).await;
    let refused = client.play_game(spec(&first, &second)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("1 games are running"));

    assert_eq!(*open.borrow(), 1);
    drop(events);
    let cancelled = tokio::time::timeout(AMPLE, open.wait_for(|open| *open == 0)).await;
    cancelled.expect("the bot's stream is cancelled").unwrap();
    let (third, _) = bot(Some(Duration::ZERO)).await;
    finishes(&mut client, spec(&first, &third)).await;
}

/// `referee serve` as a process of its own.
async fn process(grace: &str) -> (Child, Channel) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["serve", "--listen", "127.0.0.1:0", "--threads", "1"])
        .args(["--grace", grace])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut said)
        .await
        .unwrap();
    let address = said.trim().strip_prefix("listening on tcp:").unwrap();
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    (child, channel.connect().await.unwrap())
}

fn terminate(child: &Child) {
    let id = i32::try_from(child.id().unwrap()).unwrap();
    kill(Pid::from_raw(id), Signal::SIGTERM).unwrap();
}

#[tokio::test]
async fn sigterm_lets_a_game_that_runs_come_to_its_end() {
    let (mut child, channel) = process("60s").await;
    let mut client = RefereeClient::new(channel);
    let (first, _) = bot(Some(Duration::from_millis(50))).await;
    let (second, _) = bot(Some(Duration::from_millis(50))).await;
    let events = under_way(&mut client, &first, &second).await;
    terminate(&child);
    let ending = async {
        let record = record(events).await;
        assert_eq!(
            record.result.verdict.outcome().unwrap().reason,
            "four in a line"
        );
        // No new game, whether it still answers or is gone already.
        assert!(client.play_game(spec(&first, &second)).await.is_err());
        child.wait().await.unwrap()
    };
    let status = tokio::time::timeout(AMPLE / 2, ending).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn sigterm_cuts_a_game_off_after_the_grace() {
    let (mut child, channel) = process("200ms").await;
    let mut client = RefereeClient::new(channel);
    let (first, _) = bot(Some(Duration::ZERO)).await;
    let (second, mut open) = bot(None).await;
    let mut events = under_way(&mut client, &first, &second).await;
    terminate(&child);
    let ending = async {
        let status = child.wait().await.unwrap();
        assert!(events.message().await.is_err(), "the game has no end");
        open.wait_for(|open| *open == 0).await.unwrap();
        status
    };
    let status = tokio::time::timeout(AMPLE / 2, ending).await.unwrap();
    assert_eq!(status.code(), Some(0));
}
