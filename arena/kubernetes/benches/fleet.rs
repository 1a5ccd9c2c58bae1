//! The scheduler and the store with as many pods as a large cluster has: a real dispatcher over a
//! real store, and referees whose games are made up, as many at once as there are pods. Each leases
//! a chunk of the match that its Job is for, reports its games one after the other, and is followed
//! by the next pod.
//!
//! Nothing is examined and no network is between them: what that adds to each result is measured by
//! the benchmark `workers`.
//!
//! `cargo bench --profile dist -p arena-kubernetes --bench fleet -- [GAMES [PODS]]`. SQLite; and
//! PostgreSQL where `ARENA_TEST_POSTGRES` names an empty database.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_store::{Commit, CommitPacing, NewEntrant, NewTournament, Store};
use arena_tournament::{
    Definition, DispatchOptions, Dispatcher, Plan, RunCounters, Silent, StoredResults,
};
use parking_lot::Mutex;
use referee_bots::{Entry, Schemes, Unpinned, image_scheme};
use referee_container::Containers;
use referee_core::Root;
use referee_sandbox::Reexec;
use referee_worker::{
    Abilities, Summary,
    lease::{GameKey, GameReport, GiveBack, LeaseReply, LeaseRequest, ReportReply, Scope},
};
use tokio::task::JoinSet;

/// 1,596 pairings: with 10^7 games 50 Jobs have work for 10,000 pods.
const BOTS: usize = 57;
const PAIRINGS: u64 = (BOTS * (BOTS - 1) / 2) as u64;
/// The most Jobs at once, as the arena has it unless it is told otherwise. Where they have too
/// little work for all pods there are more of them.
const JOBS: u64 = 50;
const GAMES_OF_A_CHUNK: u64 = 32;
/// Of a short game, packed.
const RECORD_BYTES: usize = 500;
const PARTS: u64 = 10;
/// Shortest time between two looks at what is to be played.
const LOOKS_EVERY: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() {
    let words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let mut numbers = words.map(|word| word.parse().expect("numbers: GAMES and PODS"));
    let games: u64 = numbers.next().unwrap_or(1_000_000);
    let pods: u64 = numbers.next().unwrap_or(10_000);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = folder.path().join("arena.db");
    let url = file.display().to_string();
    measure("sqlite", &url, Some(&file), games, pods).await;
    drop(folder);
    if let Ok(url) = std::env::var("ARENA_TEST_POSTGRES") {
        measure("postgres", &url, None, games, pods).await;
    }
}

/// The times and commits that are seen while it goes on.
#[derive(Default)]
struct Seen {
    leases: Vec<Duration>,
    reports: Vec<Duration>,
    commits: Vec<Commit>,
    looks: Vec<Duration>,
}

struct Fleet {
    dispatcher: Dispatcher<StoredResults>,
    seen: Arc<Mutex<Seen>>,
    /// The match of each pod that is still to be started, and when that was worked out.
    pods: Mutex<(VecDeque<u32>, Option<Instant>)>,
    jobs: usize,
}

async fn measure(name: &str, url: &str, file: Option<&Path>, games: u64, pods: u64) {
    let deals = (games / PAIRINGS / 2).max(1);
    let games = 2 * deals * PAIRINGS;
    let chunks = (2 * deals).div_ceil(GAMES_OF_A_CHUNK);
    let jobs = JOBS.max(pods.div_ceil(chunks));
    println!(
        "{name:8} {games} games of {PAIRINGS} pairings, {pods} pods, {jobs} Jobs at once, chunks of \
         {GAMES_OF_A_CHUNK} games"
    );
    let plan = Arc::new(plan(deals));
    let store = Store::open(url).await.expect("it opens");
    let seen = Arc::new(Mutex::new(Seen::default()));
    let into = seen.clone();
    let results = StoredResults::writing_paced(
        &store,
        store.create(&stored(&plan)).await.expect("stored").id,
        CommitPacing::default(),
        move |commit| into.lock().commits.push(*commit),
    );
    let dispatcher = Dispatcher::open(
        plan,
        results.await.expect("a writer"),
        DispatchOptions {
            // Nobody renews leases here, and a full queue is no worker's silence.
            lease: Duration::from_hours(24),
            ..DispatchOptions::default()
        },
        Arc::new(Silent),
        Arc::new(RunCounters::default()),
    );
    let fleet = Arc::new(Fleet {
        dispatcher: dispatcher.await.expect("a dispatcher"),
        seen,
        pods: Mutex::default(),
        jobs: jobs as usize,
    });
    println!("{name:8} opened; {} MiB", rss_mib());
    let telling = tokio::spawn(tell(
        name.to_owned(),
        fleet.clone(),
        file.map(Path::to_owned),
    ));
    let begin = Instant::now();
    let mut running = JoinSet::new();
    for number in 0..pods {
        running.spawn(fleet.clone().machine(number));
    }
    running.join_all().await;
    telling.await.expect("it has told");
    let took = begin.elapsed();
    println!(
        "{name:8} all: {:.0} games/s in {:.0} s",
        games as f64 / took.as_secs_f64(),
        took.as_secs_f64()
    );
    let begin = Instant::now();
    fleet.dispatcher.close().await.expect("it closes");
    println!("{name:8} closed in {:.1} s", begin.elapsed().as_secs_f64());
    store.close().await;
}

/// Says what was seen in each tenth of the games.
async fn tell(name: String, fleet: Arc<Fleet>, file: Option<PathBuf>) {
    let all = fleet
        .dispatcher
        .progress()
        .1
        .expect("a round robin has an end");
    let mut since = (Instant::now(), cpu(), 0);
    for part in 1..=PARTS {
        while fleet.dispatcher.progress().0 < all * part / PARTS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let seen = std::mem::take(&mut *fleet.seen.lock());
        let (took, used) = (since.0.elapsed().as_secs_f64(), cpu() - since.1);
        let games = 2 * fleet.dispatcher.progress().0 - since.2;
        since = (Instant::now(), cpu(), since.2 + games);
        let commits = seen.commits.len().max(1);
        println!(
            "{name:8} {part}/{PARTS}: {:.0} games/s, {:.0} leases/s; p50 and p99 in ms of a lease {}, \
             a report {}, a commit of {} games {}, a look at open matches {}; {:.0} us of CPU a \
             game; {} MiB; {} MiB of file",
            games as f64 / took,
            seen.leases.len() as f64 / took,
            quantiles(seen.leases),
            quantiles(seen.reports),
            seen.commits
                .iter()
                .map(|commit| commit.games)
                .sum::<usize>()
                / commits,
            quantiles(seen.commits.iter().map(|commit| commit.took).collect()),
            quantiles(seen.looks),
            used.as_secs_f64() * 1e6 / games as f64,
            rss_mib(),
            file.as_ref().map_or(0, |file| size_mib(file)),
        );
    }
}

impl Fleet {
    /// Runs one pod after the other.
    async fn machine(self: Arc<Self>, number: u64) {
        while !self.dispatcher.is_over() {
            let plays = match self.next() {
                // All of that match may be leased.
                Some(matchup) => self.pod(number, matchup).await,
                None => false,
            };
            if !plays {
                tokio::time::sleep(LOOKS_EVERY).await;
            }
        }
    }

    /// The match of the next pod, if there is work for one more.
    fn next(&self) -> Option<u32> {
        let mut pods = self.pods.lock();
        let (waiting, looked) = &mut *pods;
        let may_look = looked.is_none_or(|looked| looked.elapsed() > LOOKS_EVERY);
        if waiting.is_empty() && may_look {
            let begin = Instant::now();
            let open = self.dispatcher.open_matches(GAMES_OF_A_CHUNK, self.jobs);
            self.seen.lock().looks.push(begin.elapsed());
            *looked = Some(begin);
            // Jobs are given their pods in turns.
            let most = open.iter().map(|open| open.chunks).max().unwrap_or(0);
            for at in 0..most {
                let wanting = open.iter().filter(|open| at < open.chunks);
                waiting.extend(wanting.map(|open| open.matchup));
            }
        }
        waiting.pop_front()
    }

    /// Plays a chunk, if there is one.
    async fn pod(&self, number: u64, matchup: u32) -> bool {
        let worker = format!("pod-{number}");
        let request = LeaseRequest {
            worker: worker.clone(),
            session: None,
            can: Arc::new(Abilities::Local),
            games: GAMES_OF_A_CHUNK,
            scope: Some(Scope {
                tournament: "fleet".to_owned(),
                matchup: Some(matchup),
            }),
        };
        let begin = Instant::now();
        let LeaseReply::Work(lease) = self
            .dispatcher
            .try_lease(&request, None)
            .await
            .expect("a lease")
        else {
            return false;
        };
        self.seen.lock().leases.push(begin.elapsed());
        for game in &lease.games {
            let (summary, record) = made_up(game.key);
            let report = GameReport {
                lease: lease.id,
                key: game.key,
                summary,
                record: Some(record),
                logs: Vec::new(),
            };
            let begin = Instant::now();
            let reply = self.dispatcher.take(report, None, Some(&worker)).await;
            assert_eq!(reply.expect("it is stored"), ReportReply::Accepted);
            self.seen.lock().reports.push(begin.elapsed());
        }
        let give_back = GiveBack {
            lease: lease.id,
            unplayed: Vec::new(),
            memory: Vec::new(),
        };
        let given_back = self.dispatcher.give_back_for(None, give_back).await;
        given_back.expect("it was leased");
        true
    }
}

fn plan(deals: u64) -> Plan {
    let containers = Containers::new(Reexec::this_program(["x"])).expect("containers");
    let schemes = Schemes::with(vec![image_scheme(Arc::new(containers), Unpinned::Refuse)]);
    let entries = (0..BOTS).map(|bot| {
        let text = format!("bot-{bot:02}=image:bots/{bot}@sha256:{:064x}", bot + 1);
        Entry::read(&text, &schemes).expect("a bot")
    });
    let definition = Definition {
        deals,
        filler: "exec:filler".to_owned(),
        ..Definition::round_robin("connect_four", vec![serde_json::Value::Null])
    };
    Plan::new(definition, entries.collect(), Root::new([7; 32]), &schemes).expect("a plan")
}

/// The tournament, as the store is given it.
fn stored(plan: &Plan) -> NewTournament {
    let bots = plan.bots.iter();
    let entrants = bots
        .map(|bot| NewEntrant::new(&*bot.entry.name, ""))
        .collect();
    let (root, created) = (Root::new([7; 32]), 1_700_000_000_000);
    (plan.definition.tournament("fleet", entrants, root, created)).expect("a tournament")
}

/// A result, and a record that can't be packed any more.
fn made_up(key: GameKey) -> (Summary, Vec<u8>) {
    let mut chance = fastrand::Rng::with_seed(2 * key.group + u64::from(key.seating));
    let places = match chance.u8(..10) {
        0 => vec![1, 1],
        1..6 => vec![1, 2],
        _ => vec![2, 1],
    };
    let summary = Summary {
        places,
        scores: vec![0, 0],
        reason: "four in a row".to_owned(),
        fouls: Vec::new(),
        plies: chance.u32(7..100),
        thought_us: vec![chance.u64(..1 << 20), chance.u64(..1 << 20)],
        thinking: vec![BTreeMap::from([(12, 20), (13, 5)]); 2],
        excused: vec![0; 2],
        course: chance.u64(..),
        play_hash: format!("{:064x}", chance.u128(..)),
    };
    let record = std::iter::repeat_with(|| chance.u8(..));
    (summary, record.take(RECORD_BYTES).collect())
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        let time = times.get(index.min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!("{:.1} {:.1}", at(0.5), at(0.99))
}

fn cpu() -> Duration {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF);
    let usage = usage.expect("usage is there");
    let part = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32)
    };
    part(usage.user_time()) + part(usage.system_time())
}

fn rss_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

fn size_mib(file: &Path) -> u64 {
    let wal = file.with_extension("db-wal");
    let size = |path: &Path| fs::metadata(path).map_or(0, |data| data.len());
    (size(file) + size(&wal)) >> 20
}
