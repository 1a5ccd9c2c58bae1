//! Cost of the web page to the games that are played beside it, and time of its answers: 200 people
//! who look on, 50 who play, a tournament of 128 games at once. Times when nobody looks, quiet and
//! busy ones take turns on one arena, so that what else the machine does is the same for all. Then 200
//! people who ask for pages of a tournament of 100,000 games. At last what a browser has to load and
//! to draw.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "common/client.rs"]
mod client;
#[path = "../tests/arena/driver.rs"]
mod driver;
#[path = "common/site.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest of it")]
mod site;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::sleep,
};

use self::{
    client::{ask, header},
    driver::Driver,
    site::{Serving, Site, cpu_of_clients},
};

const SPECTATORS: usize = 200;
const PLAYERS: usize = 50;
const AT_ONCE: u32 = 128;
/// Duration of a quiet or busy time, and number of each.
const TIME: Duration = Duration::from_secs(15);
const TURNS: usize = 4;
/// A tournament of so many games does not end while it is measured.
const FOREVER: u64 = 2_000_000;
/// Number of games of a large tournament.
const LARGE: u64 = 100_000;

/// An arena that plays a tournament of random bots.
fn start(site: &mut Site, game: &str, games: u64, more: &str) -> Serving {
    site.file("bench", game, games);
    site.run("tournament submit bench.toml");
    site.serve(&format!("--concurrency {AT_ONCE} {more}"))
}

/// Number of stored games of the tournament.
fn games(site: &Site) -> u64 {
    let text = site.read("tournament list --format json");
    let (_, rest) = text.split_once("\"games\":").expect("a tournament");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// Games a second for a while, in which the clients have taken this time of a core.
async fn rate(site: &Site, clients: &mut Duration) -> f64 {
    let (before, began, cpu) = (games(site), Instant::now(), cpu_of_clients());
    sleep(TIME).await;
    *clients += cpu_of_clients() - cpu;
    (games(site) - before) as f64 / began.elapsed().as_secs_f64()
}

/// Looks on until it is over; counts the bytes that come.
async fn look_on(page: String, path: &str, bytes: Arc<AtomicU64>, over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(&page).await else {
            continue;
        };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {page}\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_err() {
            continue;
        }
        let mut buffer = vec![0; 64 * 1024];
        while !over.load(Ordering::Relaxed) {
            match tokio::time::timeout(Duration::from_secs(1), stream.read(&mut buffer)).await {
                Ok(Ok(0) | Err(_)) => break,
                Ok(Ok(read)) => drop(bytes.fetch_add(read as u64, Ordering::Relaxed)),
                Err(_) => {}
            }
        }
    }
}

/// Plays against a bot, a move a second, from an address of its own.
async fn play(page: String, number: usize, took: Arc<Mutex<Vec<Duration>>>, over: Arc<AtomicBool>) {
    let form = "game=othello&against=house:random&name=p";
    let from = format!("X-Forwarded-For: 192.0.2.{number}\r\n");
    while !over.load(Ordering::Relaxed) {
        let Ok(begun) = ask(&page, "POST", "/play", &from, form).await else {
            continue;
        };
        let at = header(&begun, "location").and_then(|at| at.strip_prefix('.'));
        let (Some(at), Some(cookie)) = (at, header(&begun, "set-cookie")) else {
            sleep(Duration::from_secs(1)).await;
            continue;
        };
        let cookie = format!("{from}Cookie: {cookie}\r\n");
        while !over.load(Ordering::Relaxed) {
            sleep(Duration::from_secs(1)).await;
            let Ok(table) = ask(&page, "GET", at, &cookie, "").await else {
                break;
            };
            if table.contains("\"people/") {
                break;
            }
            let legal = table.split("name=\"move\" value=\"").nth(1);
            let Some(notation) = legal.and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            let began = Instant::now();
            let more = format!("{cookie}Accept: application/json\r\n");
            let body = format!("move={notation}&seat=0");
            let answered = ask(&page, "POST", &format!("{at}/move"), &more, &body).await;
            if answered.is_ok() {
                took.lock().push(began.elapsed());
            }
        }
    }
}

/// Asks for pages again and again.
async fn probe(page: String, took: Arc<Mutex<Vec<Duration>>>, over: Arc<AtomicBool>) {
    let paths = [
        "/",
        "/t/bench",
        "/t/bench/bots/a",
        "/api/v1/tournaments/bench/standings",
    ];
    for path in paths.iter().cycle() {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let answer = ask(&page, "GET", path, "", "").await;
        assert!(
            answer.is_ok_and(|answer| answer.contains(" 200 OK")),
            "{path}"
        );
        took.lock().push(began.elapsed());
        sleep(Duration::from_millis(50)).await;
    }
}

fn quantile(took: &Mutex<Vec<Duration>>, share: f64) -> f64 {
    client::quantile(&took.lock(), share)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let more = "--page 127.0.0.1:0 --page-proxy 127.0.0.1";
    let mut site = Site::new(None);
    let arena = start(&mut site, "othello", FOREVER, more);
    let page = || arena.page().to_owned();
    sleep(TIME / 3).await;
    let (pages, moves, idle) = (Arc::default(), Arc::default(), Arc::default());
    let bytes = Arc::new(AtomicU64::new(0));
    let (mut alone, mut quiet, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    let mut clients = [Duration::ZERO; 3];
    let (mut memory_quiet, mut memory_busy) = (0.0_f64, 0.0_f64);
    for _ in 0..TURNS {
        alone.push(rate(&site, &mut clients[0]).await);

        let over = Arc::new(AtomicBool::new(false));
        let asking = tokio::spawn(probe(page(), Arc::clone(&idle), over.clone()));
        quiet.push(rate(&site, &mut clients[1]).await);
        memory_quiet = memory_quiet.max(memory_mib(&arena));
        over.store(true, Ordering::Relaxed);
        let _ = asking.await;

        let over = Arc::new(AtomicBool::new(false));
        let mut people = Vec::new();
        for at in 0..SPECTATORS {
            let path = if at % 2 == 0 {
                "/events"
            } else {
                "/t/bench/events"
            };
            let looking = look_on(page(), path, bytes.clone(), over.clone());
            people.push(tokio::spawn(looking));
        }
        for number in 0..PLAYERS {
            let playing = play(page(), number, Arc::clone(&moves), over.clone());
            people.push(tokio::spawn(playing));
        }
        let probing = probe(page(), Arc::clone(&pages), over.clone());
        people.push(tokio::spawn(probing));
        sleep(Duration::from_secs(3)).await;
        busy.push(rate(&site, &mut clients[2]).await);
        memory_busy = memory_busy.max(memory_mib(&arena));
        over.store(true, Ordering::Relaxed);
        for one in people {
            let _ = one.await;
        }
        sleep(Duration::from_secs(2)).await;
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let (alone, quiet, busy) = (mean(&alone), mean(&quiet), mean(&busy));
    println!(
        "games    {alone:.0}/s while nobody looks, {quiet:.0}/s with one who asks again and again, \
         {busy:.0}/s with people besides"
    );
    println!(
        "cost     one who asks {:.1} %, {SPECTATORS} who look on and {PLAYERS} who play {:.1} %",
        100.0 * (1.0 - quiet / alone),
        100.0 * (1.0 - busy / quiet)
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let of_all = TURNS as f64 * TIME.as_secs_f64() * cores as f64 / 100.0;
    let [_, one, people] = clients.map(|taken| taken.as_secs_f64() / of_all);
    println!("clients  {one:.1} % of all cores for the one who asks, {people:.1} % for the people");
    for (what, took) in [("quiet", &idle), ("busy", &pages), ("a move", &moves)] {
        println!(
            "latency  {what}: p50 {:.1} ms, p99 {:.1} ms",
            quantile(took, 0.5),
            quantile(took, 0.99)
        );
    }
    println!("memory   {memory_quiet:.0} MiB quiet, {memory_busy:.0} MiB busy");
    let sent = bytes.load(Ordering::Relaxed) as f64 / (TURNS as f64 * TIME.as_secs_f64()) / 1024.0;
    println!("sent     {sent:.0} KiB/s to those who look on");
    drop(arena);
    large().await;
    loaded().await;
}

/// What a browser that was never here before loads of a page, and when and how steadily it draws it.
async fn loaded() {
    let mut site = Site::new(None);
    let arena = start(&mut site, "othello", 200, "--page 127.0.0.1:0");
    while games(&site) < 200 {
        sleep(Duration::from_millis(200)).await;
    }
    // Positions are loaded when the page is there; what is asked for after that is not waited for.
    let script = "
        const done = arguments[arguments.length - 1];
        const seen = { shift: 0, largest: 0 };
        const look = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take))
            .observe({ type, buffered: true });
        look('layout-shift', (one) => { seen.shift += one.value; });
        look('largest-contentful-paint', (one) => { seen.largest = one.startTime; });
        setTimeout(() => {
            const loaded = performance.getEntriesByType('resource');
            const sent = (all) => all.reduce((sum, one) => sum + one.transferSize, 0);
            seen.first = performance.getEntriesByName('first-contentful-paint')[0].startTime;
            seen.bytes = sent([...performance.getEntriesByType('navigation'), ...loaded]);
            seen.script = sent(loaded.filter((one) => one.initiatorType === 'script'));
            done(seen);
        }, 2000);";
    for path in ["/", "/play?game=othello", "/t/bench", "/t/bench/games/0.0"] {
        let (_driver, browser) = Driver::start("en").await;
        let url = format!("http://{}{path}", arena.page());
        browser.goto(&url).await.expect("the page is there");
        let seen = browser.execute_async(script, Vec::new()).await;
        let seen = seen.expect("it is measured");
        let of = |name: &str| seen[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "browser  {path}: first paint {:.0} ms, largest {:.0} ms, layout shift {:.3}, {:.1} KB in all, \
             {:.1} KB of script",
            of("first"),
            of("largest"),
            of("shift"),
            of("bytes") / 1e3,
            of("script") / 1e3
        );
    }
}

fn memory_mib(arena: &Serving) -> f64 {
    arena.memory() as f64 / 1024.0
}

/// Measures the time until pages of a large tournament come, each asked for by all at once.
async fn large() {
    let mut site = Site::new(None);
    let arena = start(&mut site, "connect-four", LARGE, "--page 127.0.0.1:0");
    while games(&site) < LARGE {
        sleep(Duration::from_secs(2)).await;
    }
    let (took, over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let readers: Vec<_> = (0..SPECTATORS)
        .map(|_| {
            let reading = probe(arena.page().to_owned(), Arc::clone(&took), over.clone());
            tokio::spawn(reading)
        })
        .collect();
    sleep(TIME).await;
    over.store(true, Ordering::Relaxed);
    for one in readers {
        let _ = one.await;
    }
    let asked = took.lock().len() as f64 / TIME.as_secs_f64();
    println!(
        "large    {} games, {SPECTATORS} who ask: p50 {:.1} ms, p99 {:.1} ms, {asked:.0} pages a \
         second, {:.0} MiB",
        LARGE,
        quantile(&took, 0.5),
        quantile(&took, 0.99),
        memory_mib(&arena)
    );
}
