//! What the referee costs, beside what the transport alone costs, in one run.
//!
//! `cargo xtask bench overhead` builds everything with link-time optimisation
//! and runs this. Ratios are what counts: the machine is the same for both
//! sides of each, and so are the build, the sizes of the messages and the
//! number of streams.

use std::{
    env, fs,
    hint::black_box,
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arena_proto::opaque::OpaqueCodec;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, future::BoxFuture};
use http::uri::PathAndQuery;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use referee::{Address, Bot, Game, Launch, Pool};
use referee_core::{Event, Limits, PerSeat, Record, Root};
use referee_games::{Fixture, GAMES, game};
use tokio::{runtime::Handle, sync::mpsc};
use tokio_stream::wrappers::{UnboundedReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status, Streaming, body::Body, client::Grpc, transport::Channel};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long each figure is measured each time.
const WINDOW: Duration = Duration::from_secs(1);
/// How many times the sides of a ratio take turns: short and often, since a
/// machine's speed drifts.
const TURNS: usize = 13;
/// As in a game of Connect Four: a GetPoint on an 11 by 11 board, a Point.
const QUESTION_BYTES: usize = 165;
const ANSWER_BYTES: usize = 10;
/// How many questions a seat is asked in a random game of Connect Four, the
/// first among them; nobody opens a stream for fewer.
const QUESTIONS_A_GAME: u64 = 13;
const FOR_EVER: u64 = u64::MAX;
/// Connect Four on a board that is drawn, as in a real game.
const DRAWN: Played = Played {
    game: "connect_four",
    setup: serde_json::Value::Null,
};

/// What is played.
struct Played {
    game: &'static str,
    setup: serde_json::Value,
}

/// Connect Four on a board of this many rows and columns.
fn square(side: u8) -> Played {
    Played {
        game: "connect_four",
        setup: serde_json::json!({"rows": side, "columns": side}),
    }
}

/// How many games are held open to weigh one.
const PARKED: usize = 500;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("serve-echo") => return serve(&arguments[2], false),
        Some("serve-parked") => return serve(&arguments[2], true),
        Some("serve-raw") => return serve_raw(&arguments[2]),
        Some("serve-tcp") => return serve_tcp(),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        // `cargo bench` passes `--bench` as well.
        match arguments.iter().skip(1).find(|word| !word.starts_with('-')) {
            None => {
                // First, while the allocator has nothing to give back.
                memory().await;
                latency().await;
                throughput().await;
                every_game().await;
            }
            Some(part) => match part.as_str() {
                "latency" => latency().await,
                "throughput" => throughput().await,
                "every-game" => every_game().await,
                "memory" => memory().await,
                part @ ("games" | "echoes") => {
                    let at_once = arguments.last().and_then(|word| word.parse().ok());
                    only(part, at_once.unwrap_or(128)).await;
                }
                _ => panic!("expected latency, throughput, every-game, memory, games or echoes"),
            },
        }
    });
}

/// Only games, or only echoes, this many at once, for a profiler.
async fn only(part: &str, at_once: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let echo = ["a", "b"].map(|name| Server::start("serve-echo", folder.path(), name));
    let servers: Vec<&Server> = echo.iter().collect();
    let bots = Bots::start(2);
    let pool = Pool::new(1).expect("a pool");
    let measured = if part == "games" {
        games(&pool, &bots, at_once, &DRAWN).await
    } else {
        echoes(&pool, &servers, at_once, FOR_EVER).await
    };
    println!(
        "{part}: {:.0} questions/s, {:.1} µs of CPU each",
        measured.rate, measured.cpu_us
    );
    bots.stop().await;
}

/// (a) One question in flight, both ends on one core.
async fn latency() {
    let all = sched_getaffinity(Pid::from_raw(0)).expect("affinity");
    let mut one = CpuSet::new();
    let first = (0..CpuSet::count()).find(|&cpu| all.is_set(cpu).unwrap_or(false));
    one.set(first.unwrap_or(0)).expect("a core");
    sched_setaffinity(Pid::from_raw(0), &one).expect("pinned");

    let folder = tempfile::tempdir().expect("a folder");
    let raw = Server::start("serve-raw", folder.path(), "raw");
    let tcp = Server::start("serve-tcp", folder.path(), "tcp");
    // Two servers asked in turn, as a game asks the bots in its seats.
    let echo = ["a", "b"].map(|name| Server::start("serve-echo", folder.path(), name));
    let servers: Vec<&Server> = echo.iter().collect();
    let bots = Bots::start(2);
    let pool = Pool::new(1).expect("a pool");
    let mut times = [const { Vec::new() }; 6];
    let mut lengths = [0.0; 2];
    for _ in 0..TURNS {
        times[0].push(ping_pong(
            UnixStream::connect(&raw.socket).expect("connected"),
        ));
        times[5].push(ping_pong(tcp.dial()));
        times[1].push(1e6 / echoes(&pool, &servers, 1, FOR_EVER).await.rate);
        times[2].push(1e6 / echoes(&pool, &servers, 1, QUESTIONS_A_GAME).await.rate);
        // Seconds for a game are what it costs to begin and end one, and what
        // each question costs: games of two lengths tell them apart.
        let short = games(&pool, &bots, 1, &square(4)).await;
        let long = games(&pool, &bots, 1, &square(12)).await;
        times[3].push(1e6 * short.seconds_a_game());
        times[4].push(1e6 * long.seconds_a_game());
        lengths = [short, long].map(|measured| measured.questions_a_game);
    }
    let [raw_us, echo_us, short_us, small_us, large_us, tcp_us] = times.map(median);
    let referee_us = (large_us - small_us) / (lengths[1] - lengths[0]);
    let game_us = large_us / lengths[1];
    println!("\n(a) One question in flight, both ends on one core (median of {TURNS} turns)\n");
    println!("| | µs | x bare stream |");
    println!("| --- | ---: | ---: |");
    for (what, us) in [
        ("raw TCP ping-pong", tcp_us),
        ("raw Unix socket ping-pong", raw_us),
        ("bare tonic stream on a Unix socket", echo_us),
    ] {
        println!("| {what} | {us:.1} | {:.2} |", us / echo_us);
    }
    println!(
        "| the same, a new stream for every {QUESTIONS_A_GAME} questions | {short_us:.1} | {:.2} |",
        short_us / echo_us
    );
    println!(
        "| a question through the referee, with its stone and its line in the record | {referee_us:.1} | **{:.2}** |",
        referee_us / echo_us
    );
    println!(
        "| the same in whole games on 12 by 12, their beginnings and ends counted in | {game_us:.1} | {:.2} |",
        game_us / echo_us
    );
    bots.stop().await;
    drop(pool);
    sched_setaffinity(Pid::from_raw(0), &all).expect("unpinned");
}

/// (b) Many games at once, on all cores.
async fn throughput() {
    let folder = tempfile::tempdir().expect("a folder");
    let echo = ["a", "b"].map(|name| Server::start("serve-echo", folder.path(), name));
    let servers: Vec<&Server> = echo.iter().collect();
    let bots = Bots::start(2);
    let pool = Pool::new(1).expect("a pool");
    println!("\n(b) Games of random against random at once, bots as processes of their own\n");
    println!(
        "| games | questions/s, bare streams | questions/s, referee | ratio | plies/s | CPU µs a question, bare | referee |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for at_once in [1, 2, 8, 32, 128] {
        let mut bare = Vec::new();
        let mut refereed = Vec::new();
        let mut bare_cpu = Vec::new();
        let mut refereed_cpu = Vec::new();
        let mut plies = Vec::new();
        for _ in 0..TURNS {
            let measured = echoes(&pool, &servers, at_once, FOR_EVER).await;
            bare.push(measured.rate);
            bare_cpu.push(measured.cpu_us);
            let measured = games(&pool, &bots, at_once, &DRAWN).await;
            refereed.push(measured.rate);
            refereed_cpu.push(measured.cpu_us);
            plies.push(measured.plies);
        }
        let (bare, refereed) = (median(bare), median(refereed));
        println!(
            "| {at_once} | {bare:.0} | {refereed:.0} | **{:.2}** | {:.0} | {:.1} | {:.1} |",
            refereed / bare,
            median(plies),
            median(bare_cpu),
            median(refereed_cpu)
        );
    }
    bots.stop().await;
}

/// (d) Every game, 128 at once: calls, notices counted, beside as many bare
/// streams to as many servers as the game has seats.
async fn every_game() {
    const AT_ONCE: usize = 128;
    let pool = Pool::new(1).expect("a pool");
    println!("\n(d) {AT_ONCE} games of random bots at once, one process a seat\n");
    println!(
        "| game | calls/s, bare streams | calls/s, referee | ratio | questions/s | games/s | calls a game | CPU µs a call, bare | referee |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for kind in GAMES {
        let info = kind.info();
        let folder = tempfile::tempdir().expect("a folder");
        let seats: Vec<String> = (0..info.seats).map(|seat| format!("s{seat}")).collect();
        let echo: Vec<Server> = seats
            .iter()
            .map(|name| Server::start("serve-echo", folder.path(), name))
            .collect();
        let servers: Vec<&Server> = echo.iter().collect();
        let bots = Bots::start(info.seats);
        let what = Played {
            game: info.name,
            setup: serde_json::Value::Null,
        };
        let mut turns = [const { Vec::new() }; 7];
        for _ in 0..TURNS {
            let bare = echoes(&pool, &servers, AT_ONCE, FOR_EVER).await;
            let game = games(&pool, &bots, AT_ONCE, &what).await;
            let figures = [
                bare.calls,
                game.calls,
                game.rate,
                game.rate / game.questions_a_game,
                game.calls / game.rate * game.questions_a_game,
                bare.cpu_us,
                game.cpu_us * game.rate / game.calls,
            ];
            for (turns, figure) in turns.iter_mut().zip(figures) {
                turns.push(figure);
            }
        }
        let [bare, calls, questions, a_second, a_game, bare_cpu, cpu] = turns.map(median);
        println!(
            "| {} | {bare:.0} | {calls:.0} | **{:.2}** | {questions:.0} | {a_second:.0} | {a_game:.0} | {bare_cpu:.1} | {cpu:.1} |",
            info.name,
            calls / bare
        );
        bots.stop().await;
    }
}

/// What a game that is running weighs.
async fn memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = ["a", "b"].map(|name| Server::start("serve-parked", folder.path(), name));
    let bots: Vec<Arc<Bot>> = servers
        .iter()
        .map(|server| {
            let address = Address::Unix(server.socket.clone());
            Arc::new(Bot::at(address, Duration::from_secs(10)))
        })
        .collect();
    let pool = Arc::new(Pool::new(1).expect("a pool"));
    let weigh = || status_kib("RssAnon:");
    // One game first, so that the connections and threads are there.
    let mut parked = vec![tokio::spawn(play(pool.clone(), bots.clone(), 0))];
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = weigh();
    for number in 1..=PARKED {
        parked.push(tokio::spawn(play(
            pool.clone(),
            bots.clone(),
            number as u64,
        )));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let after = weigh();
    let games = (after - before) as f64 / PARKED as f64;
    println!(
        "\nMemory of the referee for a running game of two seats ({PARKED} games, each with both streams open and a question asked): {games:.1} KiB"
    );
    for game in parked {
        game.abort();
    }
}

/// What has been counted so far.
#[derive(Default)]
struct Counts {
    questions: AtomicU64,
    /// Calls that ask nothing.
    notices: AtomicU64,
}

struct Measured {
    /// Questions a second.
    rate: f64,
    /// Questions and notices a second.
    calls: f64,
    /// 0 where there are no games.
    questions_a_game: f64,
    /// Plies a second, likewise.
    plies: f64,
    /// CPU time of all processes for a question, in µs.
    cpu_us: f64,
}

impl Measured {
    fn seconds_a_game(&self) -> f64 {
        self.questions_a_game / self.rate
    }
}

/// Counts for a while, with the CPU time of everything that we have started.
async fn measure(counts: &Counts) -> Measured {
    let read =
        || [&counts.questions, &counts.notices].map(|count| count.load(Ordering::Relaxed) as f64);
    tokio::time::sleep(WINDOW / 6).await;
    let (cpu, before, began) = (cpu_seconds(), read(), Instant::now());
    tokio::time::sleep(WINDOW).await;
    let [questions, notices] = read();
    let (questions, notices) = (questions - before[0], notices - before[1]);
    let seconds = began.elapsed().as_secs_f64();
    Measured {
        rate: questions / seconds,
        calls: (questions + notices) / seconds,
        questions_a_game: 0.0,
        plies: 0.0,
        cpu_us: 1e6 * (cpu_seconds() - cpu) / questions,
    }
}

/// Questions and answers over streams and nothing else: `at_once` tasks with a
/// stream to each server, asked in turn, as a game asks its seats; after `life`
/// questions a stream makes place for another.
async fn echoes(pool: &Pool, servers: &[&Server], at_once: usize, life: u64) -> Measured {
    let counted = Arc::new(Counts::default());
    let sockets: Vec<PathBuf> = servers.iter().map(|server| server.socket.clone()).collect();
    let mut connections = Vec::new();
    for socket in &sockets {
        let address = Address::Unix(socket.clone());
        connections.push(
            pool.run(|_| async move { address.connect(Duration::from_secs(10)).await })
                .await
                .expect("not cut off")
                .expect("connected"),
        );
    }
    let tasks: Vec<_> = (0..at_once)
        .map(|_| {
            let connections = connections.clone();
            let counted = counted.clone();
            pool.run(move |_| async move {
                loop {
                    let mut streams = Vec::new();
                    for channel in &connections {
                        streams.push(EchoStream::open(channel.clone()).await);
                        counted.questions.fetch_add(1, Ordering::Relaxed);
                    }
                    for _ in 1..life {
                        for stream in &mut streams {
                            stream.ask().await;
                            counted.questions.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            })
        })
        .collect();
    let asking = futures_util::future::join_all(tasks);
    tokio::select! {
        biased;
        measured = measure(&counted) => measured,
        _never = async { let _: Vec<Result<(), _>> = asking.await; } => unreachable!(),
    }
}

struct EchoStream {
    calls: mpsc::UnboundedSender<Bytes>,
    answers: Streaming<Bytes>,
    question: Bytes,
}

impl EchoStream {
    async fn open(channel: Channel) -> Self {
        let (calls, outgoing) = mpsc::unbounded_channel();
        let question = Bytes::from(vec![7; QUESTION_BYTES]);
        let mut grpc = Grpc::new(channel);
        grpc.ready().await.expect("ready");
        calls.send(question.clone()).expect("sent");
        let answers = grpc
            .streaming(
                Request::new(UnboundedReceiverStream::new(outgoing)),
                PathAndQuery::from_static(ECHO_PATH),
                OpaqueCodec,
            )
            .await
            .expect("opened")
            .into_inner();
        let mut stream = Self {
            calls,
            answers,
            question,
        };
        stream.answers.message().await.expect("an answer");
        stream
    }

    async fn ask(&mut self) {
        self.calls.send(self.question.clone()).expect("sent");
        black_box(self.answers.message().await.expect("an answer"));
    }
}

/// Whole games, one after the other, `at_once` at a time, and their records as
/// text; every question counts, the first of each seat too.
async fn games(pool: &Pool, bots: &Bots, at_once: usize, what: &Played) -> Measured {
    let counted = Arc::new(Counts::default());
    let next = AtomicU64::new(0);
    let ended = AtomicU64::new(0);
    let players = (0..at_once).map(|_| async {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let record = play_on(pool, bots.bots.clone(), number, what).await;
            let count = |wanted: fn(&Event) -> bool| {
                record.events.iter().filter(|event| wanted(event)).count() as u64
            };
            let questions = count(|event| matches!(event, Event::Asked { .. }));
            let notices = count(|event| matches!(event, Event::Told { .. }));
            assert!(record.result.verdict.outcome().is_some());
            black_box(record.to_json_lines());
            counted.questions.fetch_add(questions, Ordering::Relaxed);
            counted.notices.fetch_add(notices, Ordering::Relaxed);
            ended.fetch_add(1, Ordering::Relaxed);
        }
    });
    let playing = futures_util::future::join_all(players);
    tokio::select! {
        biased;
        measured = measure(&counted) => {
            let ended = ended.load(Ordering::Relaxed).max(1);
            let questions = counted.questions.load(Ordering::Relaxed);
            let questions_a_game = questions as f64 / ended as f64;
            Measured {
                questions_a_game,
                // All but the first question of each seat.
                plies: measured.rate * (questions_a_game - 2.0) / questions_a_game,
                ..measured
            }
        }
        _never = async { let _: Vec<()> = playing.await; } => unreachable!(),
    }
}

async fn play(pool: Arc<Pool>, bots: Vec<Arc<Bot>>, number: u64) -> Record {
    play_on(&pool, bots, number, &DRAWN).await
}

async fn play_on(pool: &Pool, bots: Vec<Arc<Bot>>, number: u64, what: &Played) -> Record {
    let kind = game(what.game).expect("the game");
    let players = PerSeat::new(kind.info().seats, |seat| format!("bot {seat}"));
    let game = Game {
        fixture: Fixture {
            kind,
            game_id: format!("bench-{number}"),
            setup: what.setup.clone(),
            spent: PerSeat::default(),
            seed: Root::new([1; 32]).seed(what.game, number),
            players,
            limits: Limits {
                per_move: Duration::from_secs(600),
                ..Limits::default()
            },
        },
        bots,
        watch: None,
    };
    game.play(pool).await.expect("played").record
}

/// Processes of the house's random bot, one a seat.
struct Bots {
    bots: Vec<Arc<Bot>>,
}

impl Bots {
    fn start(seats: u8) -> Self {
        let program: PathBuf = env::var_os("BENCH_BOT")
            .expect("BENCH_BOT names the program `bot`; run `cargo xtask bench`")
            .into();
        let launch = Launch {
            program,
            arguments: vec!["random".into()],
            start_limit: Duration::from_secs(10),
            memory: referee::Memory::default(),
            log: None,
            supervisor: None,
        };
        let bots = (0..seats)
            .map(|_| Arc::new(Bot::launched(launch.clone(), Handle::current())))
            .collect();
        Self { bots }
    }

    async fn stop(&self) {
        for bot in &self.bots {
            bot.stop().await;
        }
    }
}

/// This program again, as a server.
struct Server {
    child: Child,
    socket: PathBuf,
    /// What it said when it was listening.
    said: String,
}

impl Server {
    fn start(mode: &str, folder: &Path, name: &str) -> Self {
        let socket = folder.join(name);
        let mut child = Command::new(env::current_exe().expect("this program"))
            .arg(mode)
            .arg(&socket)
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("it listens");
        Self {
            child,
            socket,
            said: line.trim().to_owned(),
        }
    }

    fn dial(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.said).expect("connected");
        stream.set_nodelay(true).expect("no delay");
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ECHO_PATH: &str = "/games.connect_four.v1.ConnectFourBot/Play";

/// Answers every message with one of the usual size; `parked` answers only the
/// first, and with Ready.
fn serve(socket: &str, parked: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::bind(socket).expect("bound");
        println!("listening");
        tonic::transport::Server::builder()
            .max_concurrent_streams(1_000_000)
            .add_service(Echo { parked })
            .serve_with_incoming(UnixListenerStream::new(listener))
            .await
            .expect("served");
    });
}

#[derive(Clone)]
struct Echo {
    parked: bool,
}

impl tonic::server::NamedService for Echo {
    const NAME: &'static str = "games.connect_four.v1.ConnectFourBot";
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let echo = self.clone();
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(OpaqueCodec);
            Ok(grpc.streaming(echo, request).await)
        })
    }
}

type Answers = std::pin::Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

impl tonic::server::StreamingService<Bytes> for Echo {
    type Response = Bytes;
    type ResponseStream = Answers;
    type Future = std::future::Ready<Result<Response<Answers>, Status>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        // Ready{max_games: 1000000} to question 0: fields 1 and 2 of an Answer.
        const READY: &[u8] = &[8, 0, 18, 4, 24, 0xc0, 0x84, 61];
        let answer = Bytes::from(vec![7; ANSWER_BYTES]);
        let calls = request.into_inner();
        let answers: Answers = if self.parked {
            Box::pin(calls.enumerate().filter_map(|(at, _)| async move {
                (at == 0).then(|| Ok(Bytes::from_static(READY)))
            }))
        } else {
            Box::pin(calls.map(move |call| call.map(|_| answer.clone())))
        };
        std::future::ready(Ok(Response::new(answers)))
    }
}

/// Bytes there and back, without a protocol.
fn serve_raw(socket: &str) {
    let listener = UnixListener::bind(socket).expect("bound");
    println!("listening");
    for stream in listener.incoming() {
        pong(stream.expect("a connection"));
    }
}

/// The same over TCP.
fn serve_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    println!("{}", listener.local_addr().expect("an address"));
    for stream in listener.incoming() {
        let stream = stream.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        pong(stream);
    }
}

fn pong(mut stream: impl Read + Write) {
    let mut question = [0; QUESTION_BYTES];
    while stream.read_exact(&mut question).is_ok() {
        if stream.write_all(&[7; ANSWER_BYTES]).is_err() {
            break;
        }
    }
}

/// µs for a question and its answer.
fn ping_pong(mut stream: impl Read + Write) -> f64 {
    let mut answer = [0; ANSWER_BYTES];
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < WINDOW / 3 {
        stream.write_all(&[7; QUESTION_BYTES]).expect("asked");
        stream.read_exact(&mut answer).expect("answered");
        count += 1;
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Of this process and of all that it has started and that is still there.
fn cpu_seconds() -> f64 {
    let me = std::process::id().to_string();
    let ticks: u64 = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            // Not `self`, which is here under its number too.
            let _number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            let stat = fs::read_to_string(path.join("stat")).ok()?;
            let pid = stat.split(' ').next()?.to_owned();
            // What comes after the name, which may hold spaces.
            let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
            (pid == me || fields[1] == me).then(|| {
                fields[11].parse::<u64>().unwrap_or(0) + fields[12].parse::<u64>().unwrap_or(0)
            })
        })
        .sum();
    // USER_HZ is 100 on every Linux that matters (time(7)).
    ticks as f64 / 100.0
}

fn status_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .expect("the field");
    line.trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number")
}
