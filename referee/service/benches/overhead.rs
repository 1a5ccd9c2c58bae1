//! The cost of the referee, beside the cost of the transport alone, in one run.
//!
//! `cargo xtask bench overhead` builds everything with link-time optimisation
//! and runs this. Ratios are what counts: the machine is the same for both
//! sides of each, and so are the build, the sizes of the messages and the
//! number of streams.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "overhead/containers.rs"]
mod containers;

use std::{
    env,
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
use futures_util::{
    Stream, StreamExt as _,
    future::{BoxFuture, join_all},
};
use http::uri::PathAndQuery;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use referee::{Address, Bot, BotSandbox, Launch, Pool, SeatedGame, proc};
use referee_core::{Event, Foul, FoulKind, Limits, PerSeat, Record, Root, Seat};
use referee_games::{Fixture, GAMES, game};
use referee_sandbox::{Reexec, Sandbox, SandboxMode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::mpsc,
};
use tokio_stream::wrappers::{UnboundedReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status, Streaming, body::Body, client::Grpc, transport::Channel};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time that each figure is measured each time.
const WINDOW: Duration = Duration::from_secs(1);
/// Number of times that the sides of a ratio take turns: short and often, since a
/// machine's speed drifts.
const TURNS: usize = 13;
/// As in a game of Connect Four: a GetPoint on an 11 by 11 board, a Point.
const QUESTION_BYTES: usize = 165;
const ANSWER_BYTES: usize = 10;
/// Number of questions to a seat in a random game of Connect Four, the first among them;
/// nobody opens a stream for fewer.
const QUESTIONS_A_GAME: u64 = 13;
const FOR_EVER: u64 = u64::MAX;
/// Number of games that are held open to measure the memory of one.
const PARKED: u64 = 500;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_FOUR: &str = "connect_four";

/// The set-up of a board of this many rows and columns.
fn square(side: u8) -> Value {
    serde_json::json!({"rows": side, "columns": side})
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("serve-echo") => return serve(&arguments[2], Answering::Echo, "listening"),
        Some("serve-parked") => return serve(&arguments[2], Answering::Ready, "listening"),
        Some("serve-raw") => return serve_raw(&arguments[2]),
        Some("serve-known") => return serve_known(&arguments[2]),
        Some("hang") => return hang(),
        Some("sandbox") => {
            let _ = referee_sandbox::enter();
            return;
        }
        Some(containers::VERB) => {
            let _ = referee_container::enter();
            return;
        }
        _ => {}
    }
    runtime().block_on(async {
        // `cargo bench` passes `--bench` as well.
        let part = arguments.iter().skip(1).find(|word| !word.starts_with('-'));
        match part.map(String::as_str) {
            None => {
                // First, while the allocator has nothing to give back.
                memory().await;
                latency().await;
                throughput().await;
                every_game().await;
                walls().await;
                hanging().await;
            }
            Some("walls") => walls().await,
            // Needs an engine and an image in it, so only by name.
            Some("containers") => containers::containers().await,
            Some("hanging") => hanging().await,
            Some("latency") => latency().await,
            Some("throughput") => throughput().await,
            Some("every-game") => every_game().await,
            Some("memory") => memory().await,
            Some(part @ ("games" | "known" | "echoes")) => {
                let at_once = arguments.last().and_then(|word| word.parse().ok());
                only(part, at_once.unwrap_or(128)).await;
            }
            _ => panic!(
                "expected latency, throughput, every-game, walls, containers, hanging, memory, games, \
                 known or echoes"
            ),
        }
    });
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

/// Only games, or only echoes, this many at once, for a profiler.
async fn only(part: &str, at_once: usize) {
    let sides = Sides::new(2);
    let measured = match part {
        "games" => sides.games(at_once, CONNECT_FOUR, &Value::Null).await,
        "known" => {
            let known = sides.known(&Value::Null).await;
            known.games(at_once, CONNECT_FOUR, &Value::Null).await
        }
        _ => sides.echoes(at_once, FOR_EVER).await,
    };
    println!(
        "{part}: {:.0} questions/s, {:.1} µs of CPU each",
        measured.rate, measured.cpu_us
    );
    sides.stop().await;
}

/// (a) One question in flight, both ends on one core.
async fn latency() {
    let all = sched_getaffinity(Pid::from_raw(0)).expect("affinity");
    let mut one = CpuSet::new();
    let first = (0..CpuSet::count()).find(|&cpu| all.is_set(cpu).unwrap_or(false));
    one.set(first.unwrap_or(0)).expect("a core");
    sched_setaffinity(Pid::from_raw(0), &one).expect("pinned");

    // Two servers asked in turn, as a game asks the bots in its seats.
    let sides = Sides::new(2);
    let server = Server::start("serve-raw", sides.folder.path(), "raw");
    let boards = [4, 12].map(square);
    let known = [sides.known(&boards[0]).await, sides.known(&boards[1]).await];
    let [
        raw,
        tcp,
        echo,
        short,
        whole,
        longer,
        more,
        longer_known,
        more_known,
    ] = medians(async || {
        let raw = ping_pong(UnixStream::connect(&server.socket).expect("connected"));
        let tcp = TcpStream::connect(&server.said).expect("connected");
        tcp.set_nodelay(true).expect("no delay");
        let tcp = ping_pong(tcp);
        let echo = sides.echoes(1, FOR_EVER).await;
        let short = sides.echoes(1, QUESTIONS_A_GAME).await;
        // The time of a game is what it costs to begin and end one, and what
        // each question costs: games of two lengths tell them apart.
        let [small, large] = [
            sides.games(1, CONNECT_FOUR, &boards[0]).await,
            sides.games(1, CONNECT_FOUR, &boards[1]).await,
        ];
        let [small_known, large_known] = [
            known[0].games(1, CONNECT_FOUR, &boards[0]).await,
            known[1].games(1, CONNECT_FOUR, &boards[1]).await,
        ];
        [
            raw,
            tcp,
            1e6 / echo.rate,
            1e6 / short.rate,
            1e6 / large.rate,
            large.us_a_game() - small.us_a_game(),
            large.questions_a_game - small.questions_a_game,
            large_known.us_a_game() - small_known.us_a_game(),
            large_known.questions_a_game - small_known.questions_a_game,
        ]
    })
    .await;
    println!("\n(a) One question in flight, both ends on one core (median of {TURNS} turns)\n");
    println!("| | µs | x bare stream |");
    println!("| --- | ---: | ---: |");
    let short_lived = format!("the same, a new stream for every {QUESTIONS_A_GAME} questions");
    for (what, us, mark) in [
        ("raw TCP ping-pong", tcp, ""),
        ("raw Unix socket ping-pong", raw, ""),
        ("bare tonic stream on a Unix socket", echo, ""),
        (&short_lived, short, ""),
        (
            "a question through the referee, with its stone and its line in the record",
            longer / more,
            "",
        ),
        (
            "the same, of bots that know their answers before",
            longer_known / more_known,
            "**",
        ),
        (
            "of `random` in whole games on 12 by 12, their beginnings and ends counted in",
            whole,
            "",
        ),
    ] {
        println!("| {what} | {us:.1} | {mark}{:.2}{mark} |", us / echo);
    }
    sides.stop().await;
    sched_setaffinity(Pid::from_raw(0), &all).expect("unpinned");
}

/// (b) Many games at once, on all cores.
async fn throughput() {
    let sides = Sides::new(2);
    let known = sides.known(&Value::Null).await;
    println!("\n(b) Games of random against random at once, bots as processes of their own\n");
    println!(
        "| games | questions/s, bare streams | `random` | ratio | answers known before | ratio | plies/s of `random` | CPU µs a question, bare | `random` | known |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for at_once in [1, 2, 8, 32, 128] {
        let [bare, refereed, quick, plies, bare_cpu, cpu, quick_cpu] = medians(async || {
            let bare = sides.echoes(at_once, FOR_EVER).await;
            let game = sides.games(at_once, CONNECT_FOUR, &Value::Null).await;
            let quick = known.games(at_once, CONNECT_FOUR, &Value::Null).await;
            // All but the first question of each seat.
            let plies = game.rate * (game.questions_a_game - 2.0) / game.questions_a_game;
            [
                bare.rate,
                game.rate,
                quick.rate,
                plies,
                bare.cpu_us,
                game.cpu_us,
                quick.cpu_us,
            ]
        })
        .await;
        println!(
            "| {at_once} | {bare:.0} | {refereed:.0} | {:.2} | {quick:.0} | **{:.2}** | {plies:.0} | {bare_cpu:.1} | {cpu:.1} | {quick_cpu:.1} |",
            refereed / bare,
            quick / bare,
        );
    }
    sides.stop().await;
}

/// (d) Every game, 128 at once: calls, notices counted, beside as many bare
/// streams to as many servers as the game has seats.
async fn every_game() {
    const AT_ONCE: usize = 128;
    println!("\n(d) {AT_ONCE} games of random bots at once, one process a seat\n");
    println!(
        "| game | calls/s, bare streams | calls/s, referee | ratio | questions/s | games/s | calls a game | CPU µs a call, bare | referee |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for kind in &GAMES {
        let info = kind.info();
        let sides = Sides::new(info.seats);
        let [bare, calls, questions, a_second, a_game, bare_cpu, cpu] = medians(async || {
            let bare = sides.echoes(AT_ONCE, FOR_EVER).await;
            let game = sides.games(AT_ONCE, info.name, &Value::Null).await;
            [
                bare.calls,
                game.calls,
                game.rate,
                game.rate / game.questions_a_game,
                game.calls / game.rate * game.questions_a_game,
                bare.cpu_us,
                game.cpu_us * game.rate / game.calls,
            ]
        })
        .await;
        println!(
            "| {} | {bare:.0} | {calls:.0} | **{:.2}** | {questions:.0} | {a_second:.0} | {a_game:.0} | {bare_cpu:.1} | {cpu:.1} |",
            info.name,
            calls / bare
        );
        sides.stop().await;
    }
}

/// (e) Bots behind walls, beside the same bots without any.
async fn walls() {
    const STARTS: usize = 50;
    let whole = sandbox();
    println!("\n(e) Bots behind walls ({})\n", whole.walls());
    let mut starts = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        for (times, sandbox) in starts.iter_mut().zip([None, Some(whole.clone())]) {
            let began = Instant::now();
            let started = launch(sandbox).start().await.expect("it listens");
            times.push(began.elapsed().as_secs_f64() * 1e3);
            started.stop();
            started.ended().await;
        }
    }
    let [open, walled] = starts.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[STARTS / 2]
    });
    println!("| | without walls | with walls | ratio |");
    println!("| --- | ---: | ---: | ---: |");
    println!(
        "| start until it listens, ms | {open:.1} | {walled:.1} | **{:.2}** |",
        walled / open
    );
    let (open, walled) = (Sides::new(2), Sides::within(2, Some(whole)));
    for at_once in [1, 128] {
        let [open, walled] = medians(async || {
            [
                open.games(at_once, CONNECT_FOUR, &Value::Null).await.rate,
                walled.games(at_once, CONNECT_FOUR, &Value::Null).await.rate,
            ]
        })
        .await;
        println!(
            "| questions/s, {at_once} at once | {open:.0} | {walled:.0} | **{:.2}** |",
            walled / open
        );
    }
    // Who waits longer than 2 ms for its turn is held still meanwhile.
    let [open_us, walled_us] = medians(async || {
        let slow = |sides: &Sides| sides.bots[0].clone();
        [
            thought(&open.pool, slow(&open)).await,
            thought(&walled.pool, slow(&walled)).await,
        ]
    })
    .await;
    println!(
        "| an answer after 5 ms of the opponent's turn, µs | {open_us:.0} | {walled_us:.0} | **{:.2}** |",
        walled_us / open_us
    );
    open.stop().await;
    walled.stop().await;
}

/// The median time of a bot's answers, in µs, where its opponent takes 5 ms for each.
async fn thought(pool: &Pool, bot: Arc<Bot>) -> f64 {
    let mut opponent = launch(None);
    opponent.arguments = vec!["uct?time=5ms".into()];
    let opponent = Arc::new(Bot::launched(opponent, Handle::current()));
    let mut times = Vec::new();
    for number in 0..3 {
        let bots = vec![bot.clone(), opponent.clone()];
        let record = play(pool, bots, number, CONNECT_FOUR, &Value::Null).await;
        let first = Seat::new(0);
        times.extend(record.events.iter().filter_map(|event| match event {
            Event::Answered {
                seat,
                number: 2..,
                thought,
                ..
            } if *seat == first => Some(thought.as_secs_f64() * 1e6),
            _ => None,
        }));
    }
    opponent.stop().await;
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// (f) What 16 bots that never answer cost 240 games beside them.
async fn hanging() {
    const HONEST: usize = 240;
    const HANGING: u64 = 16;
    const LIMIT: Duration = Duration::from_secs(3);
    /// Long enough that each has lost on time and was started again.
    const WINDOWS: u32 = 4;
    const TURNS: usize = 7;
    let sides = Sides::new(2);
    let silent = Launch {
        program: env::current_exe().expect("this program"),
        arguments: vec!["hang".into()],
        start_limit: CONNECT_LIMIT,
        ..Launch::default()
    };
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (rates, hanging) in rates.iter_mut().zip([0, HANGING]) {
            let lost = Arc::new(AtomicU64::new(0));
            let others: Vec<_> = (0..hanging)
                .map(|number| {
                    let bot = Arc::new(Bot::launched(silent.clone(), Handle::current()));
                    let bots = vec![bot, sides.bots[1].clone()];
                    let (pool, lost) = (sides.pool.clone(), lost.clone());
                    tokio::spawn(async move {
                        loop {
                            let record = limited(
                                &pool,
                                bots.clone(),
                                number,
                                CONNECT_FOUR,
                                &Value::Null,
                                LIMIT,
                            )
                            .await;
                            let foul = record.result.verdict.foul(Seat::new(0));
                            assert_eq!(foul.map(Foul::kind), Some(FoulKind::Late));
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            if hanging > 0 {
                tokio::time::sleep(LIMIT / 2).await;
            }
            let mut games = 0.0;
            for _ in 0..WINDOWS {
                games += sides.games(HONEST, CONNECT_FOUR, &Value::Null).await.rate;
            }
            rates.push(games / f64::from(WINDOWS));
            assert!(
                lost.load(Ordering::Relaxed) >= hanging,
                "they hang and lose"
            );
            for other in others {
                other.abort();
            }
        }
    }
    let [alone, beside] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[TURNS / 2]
    });
    println!("\n(f) {HONEST} games at once, alone and beside {HANGING} bots that never answer\n");
    println!("| questions/s, alone | beside them | ratio |");
    println!("| ---: | ---: | ---: |");
    println!("| {alone:.0} | {beside:.0} | **{:.3}** |", beside / alone);
    sides.stop().await;
}

/// A bot that is ready and never answers anything else.
fn hang() {
    let listen = env::var("BOT_LISTEN").expect("where to listen");
    let socket = listen.strip_prefix("unix:").expect("a socket");
    serve(socket, Answering::Ready, &format!("listening on {listen}"));
}

fn sandbox() -> Arc<Sandbox> {
    let reexec = Reexec {
        program: env::current_exe().expect("this program"),
        verb: vec!["sandbox".into()],
    };
    Arc::new(Sandbox::probe(SandboxMode::Best, reexec).expect("the machine was looked at"))
}

/// The house's random bot.
fn launch(sandbox: Option<Arc<Sandbox>>) -> Launch {
    Launch {
        program: env::var_os("BENCH_BOT")
            .expect("BENCH_BOT names the program `bot`; run `cargo xtask bench`")
            .into(),
        arguments: vec!["random".into()],
        start_limit: CONNECT_LIMIT,
        sandbox: sandbox.map(|sandbox| BotSandbox {
            sandbox,
            hidden: Arc::default(),
            pondering: false,
        }),
        ..Launch::default()
    }
}

/// Memory that the referee needs for a game that is running.
async fn memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = ["a", "b"].map(|name| Server::start("serve-parked", folder.path(), name));
    let bots = servers.each_ref().map(|server| {
        let address = Address::Unix(server.socket.clone());
        Arc::new(Bot::at(address, CONNECT_LIMIT))
    });
    let pool = Arc::new(Pool::new(1).expect("a pool"));
    let begin = |number| {
        let (pool, bots) = (pool.clone(), bots.to_vec());
        tokio::spawn(async move { play(&pool, bots, number, CONNECT_FOUR, &Value::Null).await })
    };
    let used = || {
        proc::memory(std::process::id())
            .expect("/proc can be read")
            .expect("we live") as f64
            / 1024.0
    };
    // One game first, so that the connections and threads are there.
    let mut parked = vec![begin(0)];
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = used();
    parked.extend((1..=PARKED).map(begin));
    tokio::time::sleep(Duration::from_secs(3)).await;
    let games = (used() - before) / PARKED as f64;
    println!(
        "\nMemory of the referee for a running game of two seats ({PARKED} games, each with both streams open and a question asked): {games:.1} KiB"
    );
    for game in parked {
        game.abort();
    }
}

/// The median of each figure over all turns.
async fn medians<const N: usize>(mut turn: impl AsyncFnMut() -> [f64; N]) -> [f64; N] {
    let mut turns = [const { Vec::new() }; N];
    for _ in 0..TURNS {
        for (turns, figure) in turns.iter_mut().zip(turn().await) {
            turns.push(figure);
        }
    }
    turns.map(|mut figures| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    })
}

/// Counts so far.
#[derive(Default)]
struct Counts {
    questions: AtomicU64,
    /// Calls that ask nothing.
    notices: AtomicU64,
    /// Games that are over.
    games: AtomicU64,
}

struct Measured {
    /// Questions a second.
    rate: f64,
    /// Questions and notices a second.
    calls: f64,
    /// Without a meaning where there are no games.
    questions_a_game: f64,
    /// CPU time of all processes for a question, in µs.
    cpu_us: f64,
}

impl Measured {
    fn us_a_game(&self) -> f64 {
        1e6 * self.questions_a_game / self.rate
    }
}

impl Counts {
    /// Counts for a while, with the CPU time of everything that we have started, and then
    /// drops the work.
    async fn measure<T>(&self, work: impl Future<Output = Vec<T>>) -> Measured {
        let counting = async {
            tokio::time::sleep(WINDOW / 6).await;
            let (cpu, before, began) = (cpu_seconds(), self.read(), Instant::now());
            tokio::time::sleep(WINDOW).await;
            let after = self.read();
            let [questions, notices] = [0, 1].map(|at| after[at] - before[at]);
            let seconds = began.elapsed().as_secs_f64();
            Measured {
                rate: questions / seconds,
                calls: (questions + notices) / seconds,
                questions_a_game: after[0] / after[2].max(1.0),
                cpu_us: 1e6 * (cpu_seconds() - cpu) / questions,
            }
        };
        tokio::select! {
            biased;
            measured = counting => measured,
            _never = work => unreachable!("it goes on for ever"),
        }
    }

    fn read(&self) -> [f64; 3] {
        [&self.questions, &self.notices, &self.games]
            .map(|count| count.load(Ordering::Relaxed) as f64)
    }
}

/// The sides that are compared: servers that send every message back, and the house's
/// random bot, a process of each for every seat.
struct Sides {
    folder: TempDir,
    /// What bare streams lead to, or where bots listen that we have started.
    servers: Vec<Server>,
    bots: Vec<Arc<Bot>>,
    pool: Arc<Pool>,
    /// The number of the only game that they play; none where each is another one.
    number: Option<u64>,
}

impl Sides {
    fn new(seats: u8) -> Self {
        Self::within(seats, None)
    }

    fn within(seats: u8, sandbox: Option<Arc<Sandbox>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let echo = (0..seats).map(|seat| format!("s{seat}"));
        let echo = echo.map(|name| Server::start("serve-echo", folder.path(), &name));
        let launch = launch(sandbox);
        let bots = (0..seats).map(|_| Arc::new(Bot::launched(launch.clone(), Handle::current())));
        Self {
            servers: echo.collect(),
            bots: bots.collect(),
            pool: Arc::new(Pool::new(1).expect("a pool")),
            folder,
            number: None,
        }
    }

    /// Games of these bots, and no echoes.
    fn playing(bots: Vec<Arc<Bot>>) -> Self {
        Self {
            servers: Vec::new(),
            bots,
            pool: Arc::new(Pool::new(1).expect("a pool")),
            folder: tempfile::tempdir().expect("a folder"),
            number: None,
        }
    }

    /// The same bots in one game again and again, by servers that have their answers from before: they
    /// cost no more than the bare streams do.
    async fn known(&self, setup: &Value) -> Self {
        const NUMBER: u64 = 1;
        let record = play(&self.pool, self.bots.clone(), NUMBER, CONNECT_FOUR, setup).await;
        let folder = tempfile::tempdir().expect("a folder");
        let seats = (0_u8..).take(self.bots.len()).map(Seat::new);
        let servers = seats.map(|seat| {
            let answers = record.events.iter().filter_map(|event| match event {
                Event::Answered {
                    seat: of, answer, ..
                } if *of == seat => Some(answer.to_vec()),
                _ => None,
            });
            let answers: Vec<Vec<u8>> = answers.collect();
            let name = format!("k{seat}");
            let file = folder.path().join(&name).with_extension(ANSWERS);
            let json = serde_json::to_vec(&answers).expect("JSON");
            std::fs::write(file, json).expect("written");
            Server::start("serve-known", folder.path(), &name)
        });
        let servers: Vec<Server> = servers.collect();
        let bots = servers.iter().map(|server| {
            let address = Address::Unix(server.socket.clone());
            Arc::new(Bot::at(address, CONNECT_LIMIT))
        });
        Self {
            bots: bots.collect(),
            servers,
            pool: self.pool.clone(),
            folder,
            number: Some(NUMBER),
        }
    }

    async fn stop(self) {
        for bot in &self.bots {
            bot.stop().await;
        }
    }

    /// Questions and answers over streams and nothing else: `at_once` tasks with a
    /// stream to each server, asked in turn, as a game asks its seats; after `life`
    /// questions a stream makes place for another.
    async fn echoes(&self, at_once: usize, life: u64) -> Measured {
        let counts = Arc::new(Counts::default());
        let mut connections = Vec::new();
        for server in &self.servers {
            let address = Address::Unix(server.socket.clone());
            let endpoint = address.endpoint().expect("an address of our own");
            let connecting = self
                .pool
                .run(|_| async move { endpoint.connect_timeout(CONNECT_LIMIT).connect().await });
            connections.push(connecting.await.expect("not cut off").expect("connected"));
        }
        let tasks = (0..at_once).map(|_| {
            let (connections, counts) = (connections.clone(), counts.clone());
            self.pool.run(move |_| async move {
                loop {
                    let mut streams = Vec::new();
                    for channel in &connections {
                        streams.push(EchoStream::open(channel.clone()).await);
                        counts.questions.fetch_add(1, Ordering::Relaxed);
                    }
                    for _ in 1..life {
                        for stream in &mut streams {
                            stream.ask().await;
                            counts.questions.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            })
        });
        let tasks: Vec<_> = tasks.collect();
        counts.measure::<Result<(), _>>(join_all(tasks)).await
    }

    /// Whole games, one after the other, `at_once` at a time, and their records as
    /// text; every question counts, the first of each seat too.
    async fn games(&self, at_once: usize, game: &str, setup: &Value) -> Measured {
        let counts = Counts::default();
        let next = AtomicU64::new(0);
        let players = (0..at_once).map(|_| async {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let number = self.number.unwrap_or(number);
                let record = play(&self.pool, self.bots.clone(), number, game, setup).await;
                let count = |wanted: fn(&Event) -> bool| {
                    record.events.iter().filter(|event| wanted(event)).count() as u64
                };
                let questions = count(|event| matches!(event, Event::Asked { .. }));
                let notices = count(|event| matches!(event, Event::Told { .. }));
                assert!(record.result.verdict.outcome().is_some());
                black_box(record.to_json_lines());
                counts.questions.fetch_add(questions, Ordering::Relaxed);
                counts.notices.fetch_add(notices, Ordering::Relaxed);
                counts.games.fetch_add(1, Ordering::Relaxed);
            }
        });
        counts.measure::<()>(join_all(players)).await
    }
}

async fn play(pool: &Pool, bots: Vec<Arc<Bot>>, number: u64, name: &str, setup: &Value) -> Record {
    limited(pool, bots, number, name, setup, Duration::from_secs(600)).await
}

async fn limited(
    pool: &Pool,
    bots: Vec<Arc<Bot>>,
    number: u64,
    name: &str,
    setup: &Value,
    per_move: Duration,
) -> Record {
    let kind = game(name).expect("the game");
    let game = SeatedGame {
        fixture: Fixture {
            kind,
            game_id: format!("bench-{number}"),
            setup: setup.clone(),
            spent: PerSeat::default(),
            seed: Root::new([1; 32]).seed(name, number),
            players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
            limits: Limits {
                per_move,
                ..Limits::default()
            },
        },
        bots,
        watch: None,
    };
    game.play(pool).await.expect("played")
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

/// This program again, as a server.
struct Server {
    child: Child,
    socket: PathBuf,
    /// The line that it printed when it was listening.
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ECHO_PATH: &str = "/games.connect_four.v1.ConnectFourBot/Play";

/// What a server answers.
#[derive(Clone)]
enum Answering {
    /// Every message, with one of the usual size.
    Echo,
    /// Only the first, with Ready.
    Ready,
    /// Each message with the next of these, as far as there are any.
    Known(Arc<Vec<Bytes>>),
}

/// The ending of the file with the answers of a server, as JSON.
const ANSWERS: &str = "answers";

fn serve_known(socket: &str) {
    let file = Path::new(socket).with_extension(ANSWERS);
    let json = std::fs::read(file).expect("it is there");
    let answers: Vec<Vec<u8>> = serde_json::from_slice(&json).expect("bytes");
    let answers = answers.into_iter().map(Bytes::from).collect();
    serve(socket, Answering::Known(Arc::new(answers)), "listening");
}

fn serve(socket: &str, answering: Answering, said: &str) {
    runtime().block_on(async {
        let listener = tokio::net::UnixListener::bind(socket).expect("bound");
        println!("{said}");
        tonic::transport::Server::builder()
            .max_concurrent_streams(1_000_000)
            .add_service(Echo { answering })
            .serve_with_incoming(UnixListenerStream::new(listener))
            .await
            .expect("served");
    });
}

#[derive(Clone)]
struct Echo {
    answering: Answering,
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
        let ready = Bytes::from_static(READY);
        let answers: Answers =
            match &self.answering {
                Answering::Echo => Box::pin(calls.map(move |call| call.map(|_| answer.clone()))),
                Answering::Ready => Box::pin(calls.enumerate().filter_map(move |(at, _)| {
                    let answer = (at == 0).then(|| Ok(ready.clone()));
                    std::future::ready(answer)
                })),
                Answering::Known(known) => {
                    let known = known.clone();
                    Box::pin(calls.enumerate().filter_map(move |(at, _)| {
                        std::future::ready(known.get(at).cloned().map(Ok))
                    }))
                }
            };
        std::future::ready(Ok(Response::new(answers)))
    }
}

/// Bytes there and back, without a protocol: on this socket, and over TCP where it says.
fn serve_raw(socket: &str) {
    let unix = UnixListener::bind(socket).expect("bound");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("bound");
    println!("{}", tcp.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            let stream = stream.expect("a connection");
            stream.set_nodelay(true).expect("no delay");
            pong(stream);
        }
    });
    for stream in unix.incoming() {
        pong(stream.expect("a connection"));
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

/// Of this process and of all that it has started and that is still there.
fn cpu_seconds() -> f64 {
    let time = proc::CpuTime::of_family(std::process::id()).expect("/proc can be read");
    time.ran.as_secs_f64()
}
