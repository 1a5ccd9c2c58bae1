//! Behaviour that is no foul, and yet not as a bot should be: each kind lacks one thing that an
//! honest villain has.

use std::{
    fs,
    process::ExitStatus,
    time::{Duration, Instant},
};

use arena_proto::{
    arena::v1::{GameOver, GameStart, Ready},
    games::connect_four::v1::{
        ConnectFourAnswer, ConnectFourCall, GetPoint, Point, connect_four_answer::Answer,
        connect_four_call::Call,
    },
    opaque::OpaqueCodec,
};
use bytes::Bytes;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use prost::Message as _;
use tokio::{io::AsyncReadExt as _, sync::mpsc};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{
    Code, Request, Status, Streaming,
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest,
};

use crate::vocabulary::*;

const PLAY: &str = "/games.connect_four.v1.ConnectFourBot/Play";
const SERVICE: &str = "games.connect_four.v1.ConnectFourBot";

/// A villain and a connection to it.
struct Villain {
    running: Running,
    channel: Channel,
}

/// One seat in one game.
struct Game {
    calls: mpsc::UnboundedSender<Bytes>,
    answers: Streaming<Bytes>,
    asked: u32,
}

impl Villain {
    async fn start(line: &str) -> Self {
        let running = running(line, "tcp:127.0.0.1:0").await;
        let address = running.address.strip_prefix("tcp:").unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        Self { running, channel }
    }

    fn id(&self) -> u32 {
        self.running.child.id().unwrap()
    }

    async fn stream(
        &self,
        path: &'static str,
        first: &ConnectFourCall,
    ) -> Result<(mpsc::UnboundedSender<Bytes>, Streaming<Bytes>), Status> {
        let (calls, outgoing) = mpsc::unbounded_channel();
        calls.send(first.encode_to_vec().into()).unwrap();
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.unwrap();
        let outgoing = Request::new(UnboundedReceiverStream::new(outgoing));
        let path = PathAndQuery::from_static(path);
        let answers = grpc.streaming(outgoing, path, OpaqueCodec).await?;
        Ok((calls, answers.into_inner()))
    }

    /// Begins a game; what it says of itself.
    async fn begin(&self) -> Result<(Game, Ready), Status> {
        let (calls, answers) = self.stream(PLAY, &start()).await?;
        let asked = 0;
        let mut game = Game {
            calls,
            answers,
            asked,
        };
        match game.answer().await?.answer {
            Some(Answer::Ready(ready)) => Ok((game, ready)),
            other => panic!("expected Ready, found {other:?}"),
        }
    }

    async fn game(&self) -> Game {
        self.begin().await.unwrap().0
    }

    /// A game from its beginning to its end.
    async fn whole_game(&self) {
        let mut game = self.game().await;
        game.point().await.unwrap();
        game.over();
        assert_eq!(game.answers.message().await.unwrap(), None);
    }

    /// The status of the game's service, as its service for health says.
    async fn health(&self) -> Result<i32, Status> {
        let request = HealthCheckRequest {
            service: SERVICE.to_owned(),
        };
        let answer = HealthClient::new(self.channel.clone()).check(request).await;
        Ok(answer?.into_inner().status)
    }

    async fn reflection(&self) -> Result<(), Status> {
        let list = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let mut client = ServerReflectionClient::new(self.channel.clone());
        let answers = client.server_reflection_info(tokio_stream::iter([list]));
        answers.await?.into_inner().message().await?;
        Ok(())
    }

    /// The rest of a line of its status in /proc.
    fn status(&self, line: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let said = status.lines().find_map(|said| said.strip_prefix(line));
        said.unwrap().trim().to_owned()
    }

    fn anonymous_kilobytes(&self) -> usize {
        let said = self.status("RssAnon:");
        said.trim_end_matches(" kB").parse().unwrap()
    }

    fn terminate(&self) {
        kill(Pid::from_raw(self.id() as i32), Signal::SIGTERM).unwrap();
    }
}

impl Game {
    fn send(&self, call: &ConnectFourCall) {
        self.calls.send(call.encode_to_vec().into()).unwrap();
    }

    /// The next question, which it may take so long to answer.
    fn ask(&mut self, limit: Duration) -> ConnectFourCall {
        self.asked += 1;
        ConnectFourCall {
            number: Some(self.asked),
            limit: limit.try_into().ok(),
            call: Some(Call::GetPoint(GetPoint {
                m: 9,
                n: 9,
                top: vec![9; 9].into(),
                board: vec![0; 81].into(),
                ..GetPoint::default()
            })),
            ..ConnectFourCall::default()
        }
    }

    async fn answer(&mut self) -> Result<ConnectFourAnswer, Status> {
        let answer = self.answers.message().await?.expect("its stream has ended");
        Ok(ConnectFourAnswer::decode(answer).unwrap())
    }

    /// Asks for a point.
    async fn point(&mut self) -> Result<(), Status> {
        let question = self.ask(AMPLE);
        self.send(&question);
        assert_eq!(self.answer().await?.number, question.number);
        Ok(())
    }

    /// Says that it is over, and closes our side.
    fn over(&mut self) {
        self.send(&ConnectFourCall {
            call: Some(Call::Over(GameOver::default())),
            ..ConnectFourCall::default()
        });
        self.calls = mpsc::unbounded_channel().0;
    }
}

fn start() -> ConnectFourCall {
    ConnectFourCall {
        number: Some(0),
        call: Some(Call::Start(GameStart::default())),
        ..ConnectFourCall::default()
    }
}

#[tokio::test]
async fn the_honest_one_lacks_nothing() {
    let _turn = turn().await;
    let mut honest = Villain::start("honest").await;
    let (mut game, ready) = honest.begin().await.unwrap();
    assert_eq!((&ready.bot[..], ready.max_games), ("villain", Some(1000)));
    assert!(!ready.can_resume);
    game.point().await.unwrap();
    honest.whole_game().await;
    assert_eq!(
        honest.health().await.unwrap(),
        ServingStatus::Serving as i32
    );
    honest.reflection().await.unwrap();
    for path in ["/no.such.Service/Call", "/games.othello.v1.OthelloBot/Play"] {
        let status = honest.stream(path, &start()).await.err().unwrap();
        assert_eq!(status.code(), Code::Unimplemented, "{path}");
    }
    drop(game);
    honest.terminate();
    let ended: ExitStatus = honest.running.child.wait().await.unwrap();
    assert!(ended.success(), "{ended}");
}

#[tokio::test]
async fn it_says_no_name_or_not_how_many_games() {
    let _turn = turn().await;
    let (_, ready) = Villain::start("nameless").await.begin().await.unwrap();
    assert_eq!((&ready.bot[..], ready.max_games), ("", Some(1000)));
    let villain = Villain::start("unsaid-max-games").await;
    let (_, ready) = villain.begin().await.unwrap();
    assert_eq!((&ready.bot[..], ready.max_games), ("villain", None));
}

#[tokio::test]
async fn it_has_no_health_or_no_reflection_and_stops_when_it_is_asked_to() {
    let _turn = turn().await;
    let mut villain = Villain::start("no-health").await;
    let status = villain.health().await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    villain.reflection().await.unwrap();
    villain.whole_game().await;
    villain.terminate();
    assert!(villain.running.child.wait().await.unwrap().success());

    let mut villain = Villain::start("no-reflection").await;
    let status = villain.reflection().await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    assert_eq!(
        villain.health().await.unwrap(),
        ServingStatus::Serving as i32
    );
    villain.whole_game().await;
    villain.terminate();
    assert!(villain.running.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn it_answers_for_services_that_nobody_knows() {
    let _turn = turn().await;
    let villain = Villain::start("answers-any-service").await;
    let (_calls, mut answers) = villain
        .stream("/no.such.Service/Call", &start())
        .await
        .unwrap();
    assert_eq!(answers.message().await.unwrap(), Some(Bytes::new()));
    assert_eq!(answers.message().await.unwrap(), None);
    // That it does not play another game it says.
    let path = "/games.othello.v1.OthelloBot/Play";
    let status = villain.stream(path, &start()).await.err().unwrap();
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn it_plays_only_its_first_game_by_the_rules() {
    let _turn = turn().await;
    for (line, off) in [("honest", false), ("stale", true)] {
        let villain = Villain::start(line).await;
        for later in [false, true] {
            let mut game = villain.game().await;
            for again in [false, true] {
                let question = game.ask(AMPLE);
                game.send(&question);
                let answer = game.answer().await.unwrap();
                let Some(Answer::Point(Point { x: Some(x), .. })) = answer.answer else {
                    panic!("expected a point, found {answer:?}");
                };
                assert_eq!(x == 9, off && later && !again, "{line}");
            }
        }
    }
}

#[tokio::test]
async fn it_ends_with_an_error_when_the_game_is_over() {
    let _turn = turn().await;
    for (line, fails) in [("honest", false), ("error-when-over", true)] {
        let villain = Villain::start(line).await;
        let mut game = villain.game().await;
        game.point().await.unwrap();
        game.over();
        assert_eq!(game.answers.message().await.is_err(), fails, "{line}");
    }
}

#[tokio::test]
async fn it_answers_old_questions_again() {
    let _turn = turn().await;
    for (line, first) in [("honest", 2), ("cannot-resume", 1)] {
        let villain = Villain::start(line).await;
        let (mut game, ready) = villain.begin().await.unwrap();
        assert_eq!(ready.can_resume, line == "cannot-resume");
        let mut old = game.ask(AMPLE);
        old.past_answer = Some(ConnectFourAnswer {
            number: Some(1),
            answer: Some(Answer::Point(Point {
                x: Some(8),
                y: Some(0),
            })),
        });
        game.send(&old);
        let next = game.ask(AMPLE);
        game.send(&next);
        assert_eq!(game.answer().await.unwrap().number, Some(first), "{line}");
    }
}

#[tokio::test]
async fn it_ends_with_an_error_where_there_is_something_new() {
    let _turn = turn().await;
    // Field 99, which is of a later version, as a number.
    let field = [0x98, 0x06, 1];
    for (line, chokes) in [("honest", false), ("chokes-on-new-fields", true)] {
        let villain = Villain::start(line).await;
        let mut game = villain.game().await;
        game.point().await.unwrap();
        let mut question = game.ask(AMPLE).encode_to_vec();
        question.extend(field);
        game.calls.send(question.into()).unwrap();
        let answer = game.answer().await;
        if chokes {
            assert_eq!(answer.unwrap_err().code(), Code::InvalidArgument);
        } else {
            assert_eq!(answer.unwrap().number, Some(2));
        }
        // And a notice of a kind that is not known.
        let mut game = villain.game().await;
        game.calls.send(Bytes::copy_from_slice(&field)).unwrap();
        assert_eq!(game.point().await.is_err(), chokes, "{line}");
    }
}

#[tokio::test]
async fn of_three_games_at_once_the_newest_fails() {
    let _turn = turn().await;
    let villain = Villain::start("overcommitted").await;
    let (mut first, ready) = villain.begin().await.unwrap();
    assert_eq!(ready.max_games, Some(8));
    let mut second = villain.game().await;
    first.point().await.unwrap();
    second.point().await.unwrap();
    let mut third = villain.game().await;
    let status = third.point().await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    first.point().await.unwrap();
    second.point().await.unwrap();
    // Where one is over another may begin.
    first.over();
    assert_eq!(first.answers.message().await.unwrap(), None);
    villain.game().await.point().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_game_counts_for_ever() {
    let _turn = turn().await;
    let villain = Villain::start("clings --max-games 2").await;
    for _ in 0..4 {
        villain.whole_game().await;
    }
    for _ in 0..2 {
        let mut game = villain.game().await;
        let question = game.ask(AMPLE);
        game.send(&question);
    }
    let status = villain.begin().await.err().expect("it refuses");
    assert_eq!(status.code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn it_takes_the_time_that_it_should_not() {
    let _turn = turn().await;
    let limit = Duration::from_secs(1);
    for (line, least) in [
        ("last-minute", limit * 9 / 10),
        (
            "clockless --delay 1200ms",
            limit + Duration::from_millis(200),
        ),
    ] {
        let villain = Villain::start(line).await;
        let mut game = villain.game().await;
        let asked = Instant::now();
        let question = game.ask(limit);
        game.send(&question);
        game.answer().await.unwrap();
        assert!(asked.elapsed() >= least, "{line}: {:?}", asked.elapsed());
    }
}

#[tokio::test]
async fn it_thinks_on_about_a_game_that_was_cancelled() {
    let _turn = turn().await;
    let villain = Villain::start("thinks-on --delay 1h").await;
    let threads = || villain.status("Threads:").parse::<u32>().unwrap();
    assert_eq!(threads(), 1);
    let mut cancelled = 0;
    while threads() == 1 {
        assert!(cancelled < 100, "it does not think on");
        cancelled += 1;
        let mut game = villain.game().await;
        let question = game.ask(AMPLE);
        game.send(&question);
        // A question that is cancelled too soon may never arrive.
        tokio::time::sleep(Duration::from_millis(10 * cancelled)).await;
        drop(game);
    }
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", villain.id())).unwrap();
        let after = stat.rsplit_once(')').unwrap().1;
        after
            .split_whitespace()
            .nth(11)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let before = ticks();
    until("it uses the processor", || ticks() > before + 10).await;
}

#[tokio::test]
async fn it_leaves_its_stream_open_when_the_game_is_over() {
    let _turn = turn().await;
    let villain = Villain::start("never-closes").await;
    let mut game = villain.game().await;
    game.point().await.unwrap();
    game.over();
    let ended = tokio::time::timeout(Duration::from_millis(300), game.answers.message());
    assert!(ended.await.is_err(), "it has closed its stream");
}

#[tokio::test]
async fn it_keeps_memory_of_each_game() {
    let _turn = turn().await;
    const GAMES: usize = 40;
    for (line, least, most) in [
        ("honest", 0, GAMES * 32),
        ("leaks", GAMES * 60, usize::MAX),
        ("leaks --kilobytes 256", GAMES * 240, usize::MAX),
    ] {
        let villain = Villain::start(line).await;
        villain.whole_game().await;
        let before = villain.anonymous_kilobytes();
        for _ in 0..GAMES {
            villain.whole_game().await;
        }
        let grown = villain.anonymous_kilobytes().saturating_sub(before);
        assert!((least..most).contains(&grown), "{line}: {grown} KiB");
    }
}

#[tokio::test]
async fn it_does_not_hear_that_it_is_to_stop() {
    let _turn = turn().await;
    let villain = Villain::start("ignores-sigterm").await;
    villain.terminate();
    // It is there, and nobody takes it.
    let pending = u64::from_str_radix(&villain.status("ShdPnd:"), 16).unwrap();
    assert_ne!(pending & (1 << (Signal::SIGTERM as u32 - 1)), 0);
    villain.whole_game().await;
}

#[tokio::test]
async fn it_prints_more_than_anybody_reads() {
    let _turn = turn().await;
    let mut villain = Villain::start("chatty").await;
    let mut game = villain.game().await;
    let question = game.ask(AMPLE);
    game.send(&question);
    let mut said = vec![0; 100 << 10];
    villain.running.output.read_exact(&mut said).await.unwrap();
    assert!(said.ends_with(b"\n"));
    game.answer().await.unwrap();
}
