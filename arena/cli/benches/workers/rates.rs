//! Leases and results a second.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::{
    NO_GAMES,
    known::{Known, KnownGames, Seen},
    site::{Serving, Site},
    usage::{bytes, own},
};

/// Number of games of each run.
const GAMES: u64 = 60_000;

/// Load of a run.
struct Load {
    name: &'static str,
    workers: u64,
    /// Games of a lease.
    games: u64,
    /// Games that each has at once, and how long they take.
    at_once: usize,
    pause: Duration,
}

/// Loads that are measured: as much as the arena takes, and then some 5,000 games a second.
const LOADS: [Load; 3] = [
    Load {
        name: "large leases",
        workers: 16,
        games: 512,
        at_once: 256,
        pause: Duration::ZERO,
    },
    Load {
        name: "small leases",
        workers: 64,
        games: 16,
        at_once: 16,
        pause: Duration::ZERO,
    },
    Load {
        name: "paced",
        workers: 50,
        games: 64,
        at_once: 10,
        pause: Duration::from_millis(100),
    },
];

pub(crate) fn measure() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let known = Known::default();
    let mut site = Site::new(None);
    site.file("cup", "connect-four", GAMES);
    site.run("tournament submit cup.toml --name warm --seed 1");
    let arena = site.serve(NO_GAMES);
    runtime.block_on(work(&arena, "warm", &known, &LOADS[0]));
    arena.stop();
    println!(
        "rates    {GAMES} games, records of {} bytes packed, 1 in 10 replayed by the arena",
        known_bytes(&known) / GAMES
    );
    for load in &LOADS {
        run(&runtime, &site, "sqlite", &known, load);
    }
    println!(
        "sqlite   {} bytes of file a game",
        bytes(&site.path("")) / (GAMES * (LOADS.len() as u64 + 1))
    );
    if let Ok(url) = std::env::var("ARENA_TEST_POSTGRES") {
        let mut site = Site::new(Some(url));
        site.file("cup", "connect-four", GAMES);
        for load in &LOADS {
            run(&runtime, &site, "postgres", &known, load);
        }
    }
}

fn run(runtime: &tokio::runtime::Runtime, site: &Site, store: &str, known: &Known, load: &Load) {
    let name = format!("{}-{}", load.name.replace(' ', "-"), std::process::id());
    site.run(&format!(
        "tournament submit cup.toml --name {name} --seed 1"
    ));
    let arena = site.serve(NO_GAMES);
    let before = (arena.cpu(), own(), Instant::now());
    let seen = runtime.block_on(work(&arena, &name, known, load));
    let (cpu, ours, took) = (
        arena.cpu() - before.0,
        own() - before.1,
        before.2.elapsed().as_secs_f64(),
    );
    let memory = arena.memory();
    arena.stop();
    let [mut leases, mut first] = [seen.leases, seen.first_leases];
    leases.sort_unstable();
    first.sort_unstable();
    let at = |leases: &[Duration], share: f64| {
        let index = (leases.len() as f64 * share) as usize;
        leases[index.min(leases.len() - 1)].as_secs_f64() * 1e3
    };
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / seen.accepted as f64;
    println!(
        "{store:8} {}, {} workers: {:.0} results/s, {:.0} leases/s of {} games; a lease {:.1} ms, \
         p99 {:.1} ms, the first of a worker {:.1} ms; CPU a game: arena {:.0} us, workers {:.0} us; arena {} MiB",
        load.name,
        load.workers,
        seen.accepted as f64 / took,
        (leases.len() + first.len()) as f64 / took,
        load.games,
        at(&leases, 0.5),
        at(&leases, 0.99),
        at(&first, 0.5),
        each(cpu),
        each(ours),
        memory / 1024
    );
}

/// Has a tournament played to its end.
async fn work(arena: &Serving, tournament: &str, known: &Known, load: &Load) -> Seen {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut workers = JoinSet::new();
    for number in 0..load.workers {
        let worker = KnownGames {
            known: known.clone(),
            games: load.games,
            at_once: load.at_once,
            pause: load.pause,
            seen: seen.clone(),
        };
        let (url, tournament) = (arena.url().to_owned(), tournament.to_owned());
        workers.spawn(async move { worker.work(&url, number, &tournament).await });
    }
    workers.join_all().await;
    std::mem::take(&mut seen.lock())
}

fn known_bytes(known: &Known) -> u64 {
    let known = known.lock();
    let bytes = known
        .values()
        .map(|(_, (_, packed))| packed.as_ref().map_or(0, Vec::len));
    bytes.sum::<usize>() as u64
}
