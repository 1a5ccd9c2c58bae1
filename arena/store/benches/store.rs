//! The cost of storing: CPU a game, time to a commit, time of the queries behind a table of
//! standings, memory. SQLite; and PostgreSQL where `ARENA_TEST_POSTGRES` names an empty database,
//! of which only our own side is counted.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

use std::{
    fmt::Write as _,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_ladder::{Entrant, MatchId};
use arena_store::{
    ChunkKey, Commit, CommitPacing, Counter, FinishedGame, GameEnding, GameRow, NewEntrant,
    NewTournament, Reported, ResultWriter, Store, TournamentId, pack_for_store,
};
use parking_lot::Mutex;
use referee_core::Root;
use serde_json::json;
use tokio::task::JoinSet;

const BOTS: u32 = 10;
const HALF: u64 = 50_000;
/// Games under way at once, each of which waits until it is stored.
const CALLERS: u64 = 64;

#[tokio::main]
async fn main() {
    let texts: Arc<Vec<String>> = Arc::new((0..1000).map(record).collect());
    let bytes: usize = texts.iter().map(String::len).sum();
    let begin = cpu();
    let rounds = 10;
    let packed: usize = (0..rounds)
        .flat_map(|_| texts.iter())
        .map(|text| pack_for_store(text).len())
        .sum();
    let each = micros(cpu() - begin) / (rounds * texts.len()) as f64;
    println!(
        "record   {} bytes, packed {} bytes, {each:.1} us of CPU to pack",
        bytes / texts.len(),
        packed / (rounds * texts.len())
    );

    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = folder.path().join("arena.db").display().to_string();
    measure("sqlite", &file, &texts).await;
    let size = fs::metadata(&file).expect("the file").len();
    println!("sqlite   {} bytes of file a game", size / (2 * HALF));
    if let Ok(url) = std::env::var("ARENA_TEST_POSTGRES") {
        measure("postgres", &url, &texts).await;
    }
}

async fn measure(name: &str, url: &str, texts: &Arc<Vec<String>>) {
    let store = Store::open(url).await.expect("it opens");
    let tournament = store.create(&tournament()).await.expect("a tournament");
    let id = tournament.id;
    let commits = Arc::new(Mutex::new(Vec::new()));
    let into = commits.clone();
    let pace = CommitPacing {
        most_waiting: CALLERS as usize,
        ..CommitPacing::default()
    };
    let seen = move |commit: &Commit| into.lock().push(*commit);
    let writer = ResultWriter::start(&store, id, pace, seen)
        .await
        .expect("a writer");
    for half in 0..2 {
        let (begin, used) = (Instant::now(), cpu());
        write(&writer, half * HALF..(half + 1) * HALF, texts).await;
        let each = micros(cpu() - used) / HALF as f64;
        println!(
            "{name:8} {HALF} games, {:.0} a second, {each:.1} us of CPU a game with packing; RssAnon {} KiB",
            HALF as f64 / begin.elapsed().as_secs_f64(),
            rss_anon()
        );
    }
    writer.close().await;
    {
        let commits = commits.lock();
        let games: usize = commits.iter().map(|commit| commit.games).sum();
        println!(
            "{name:8} {} commits of {} games",
            commits.len(),
            games / commits.len()
        );
        quantiles(name, "commit", commits.iter().map(|commit| commit.took));
        quantiles(
            name,
            "from handing in to stored",
            commits.iter().map(|commit| commit.waited + commit.took),
        );
    }
    queries(name, &store, id).await;
    store.close().await;
}

async fn write(writer: &ResultWriter, games: std::ops::Range<u64>, texts: &Arc<Vec<String>>) {
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (writer, texts, games) = (writer.clone(), texts.clone(), games.clone());
        callers.spawn(async move {
            for number in games.skip(caller as usize).step_by(CALLERS as usize) {
                let text = &texts[number as usize % texts.len()];
                let stored = writer
                    .write(game(number, text))
                    .await
                    .expect("it is stored");
                assert_eq!(stored.reported, Reported::Accepted);
            }
        });
    }
    callers.join_all().await;
}

async fn queries(name: &str, store: &Store, id: TournamentId) {
    macro_rules! time {
        ($what:literal, $query:expr) => {{
            let mut times = Vec::new();
            for _ in 0..9 {
                let begin = Instant::now();
                let _ = $query.await.expect("an answer");
                times.push(begin.elapsed());
            }
            quantiles(name, $what, times);
        }};
    }
    let page = |after| store.complete_groups(id, after, 10_000);
    let groups = page(None).await.expect("groups");
    let mark = |at: usize| Some(groups[at].mark);
    time!("10,000 complete groups", page(None));
    time!(
        "the 100 after 9,000 of them",
        store.complete_groups(id, mark(9_000), 100)
    );
    time!(
        "courses of 10,000 complete groups",
        store.courses(id, None, groups.last().expect("a group").mark)
    );
    let ranges: Vec<_> = (0..100).map(|at| at * 400..at * 400 + 9).collect();
    time!(
        "complete groups in 100 ranges",
        store.complete_groups_within(id, &ranges)
    );
    time!("counters", store.counters(id));
    time!("first fouls", store.first_fouls(id));
    time!("list of tournaments", store.tournaments());
    time!("half-finished groups", store.incomplete_groups(id));
    time!("1000 scores", store.scores(id, Some(20_000), 1000));
}

fn quantiles(name: &str, what: &str, times: impl IntoIterator<Item = Duration>) {
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:8} {what}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn tournament() -> NewTournament {
    NewTournament {
        name: "bench".to_owned(),
        game: "bids".to_owned(),
        rules_version: 1,
        definition: json!({}),
        root: Root::new([1; 32]),
        reproduction: true,
        entrants: (0..BOTS)
            .map(|number| NewEntrant::new(format!("bot{number}"), "house:random"))
            .collect(),
        created_unix_ms: 0,
    }
}

/// Group by group, as the games of a round robin with disc margins would come.
fn game(number: u64, text: &str) -> FinishedGame {
    let (group, seating) = (number / 2, (number % 2) as u32);
    let chance = mix(number);
    let margin = (chance % 65) as i32 - 32;
    let pair = [group % 9, 9].map(|place| Some(Entrant::new(place as u32)));
    let thinking = |place: usize, bucket: u32| (pair[place], Counter::Thinking(bucket), 15);
    FinishedGame {
        row: GameRow {
            group,
            seating,
            games_in_group: 2,
            matchup: MatchId((group % 9) as u32),
            lineup: pair.to_vec(),
            order: if seating == 0 { vec![0, 1] } else { vec![1, 0] },
            places: match margin.signum() {
                1 => vec![1, 2],
                0 => vec![1, 1],
                _ => vec![2, 1],
            },
            scores: vec![margin, -margin],
            reason: "the board is full".to_owned(),
            fouls: Vec::new(),
            plies: 60,
            thought_us: vec![chance % 1_000_000, chance % 999_999],
            course: chance,
            play_hash: format!("{chance:064x}"),
            finished_unix_ms: number.cast_signed(),
            worker: None,
            counters: vec![
                (None, Counter::Ended(GameEnding::Rules), 1),
                thinking(0, 90),
                thinking(0, 91),
                thinking(1, 90),
                thinking(1, 91),
            ],
        },
        chunk: ChunkKey {
            matchup: MatchId((group % 9) as u32),
            first_group: group / 32 * 32,
            groups: 32,
            seating: None,
        },
        attempt: 1,
        record: pack_for_store(text),
        withhold: false,
        logs: Vec::new(),
    }
}

/// Some 6 KB of JSON lines with as much chance in them as a game has.
fn record(number: u64) -> String {
    let mut text = format!(
        "{{\"type\":\"header\",\"format\":\"bot-arena record\",\"game\":\"othello\",\"seed\":\"{0:016x}{0:016x}\",\"players\":[\"one\",\"two\"]}}\n",
        mix(number)
    );
    for ply in 0..60 {
        let chance = mix(number * 1000 + ply);
        writeln!(
            text,
            "{{\"type\":\"ask\",\"seat\":{0},\"number\":{ply},\"message\":\"{1:08x}\"}}",
            ply % 2,
            chance as u32 & 0x003f_003f
        )
        .expect("a string takes everything");
        writeln!(
            text,
            "{{\"type\":\"answer\",\"seat\":{},\"square\":{},\"us\":{}}}",
            ply % 2,
            chance % 64,
            chance % 3000
        )
        .expect("a string takes everything");
    }
    text
}

/// Sebastiano Vigna's splitmix64.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// CPU time that all threads of this process have used (proc(5): fields 14 and 15 of `stat`, in
/// hundredths of a second).
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("/proc");
    let after_name = stat.rsplit_once(')').expect("a name in brackets").1;
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().expect("a number"))
        .sum();
    Duration::from_millis(10 * ticks)
}

fn rss_anon() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    line.unwrap_or_default()
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
