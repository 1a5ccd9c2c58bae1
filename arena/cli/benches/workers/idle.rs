//! Workers that have joined and wait.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use referee_worker::{Abilities, Dispatch as _, Machine, lease::LeaseRequest};
use tokio_util::sync::CancellationToken;

use crate::{NO_GAMES, known::join, site::Site};

const WORKERS: [u64; 3] = [10, 1_000, 10_000];
/// Time that the arena is watched.
const WATCHED: Duration = Duration::from_secs(30);

pub(crate) fn measure() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    for workers in WORKERS {
        runtime.block_on(wait(workers));
    }
}

async fn wait(count: u64) {
    let site = Site::new(None);
    let arena = site.serve(NO_GAMES);
    let empty = arena.memory();
    let leave = CancellationToken::new();
    let began = Instant::now();
    let mut waiting = tokio::task::JoinSet::new();
    let mut joined = tokio::task::JoinSet::new();
    for number in 0..count {
        let remote = Arc::new(join(arena.url(), number));
        let (attending, leaves) = (remote.clone(), leave.clone());
        waiting.spawn(async move { attending.attend(&leaves).await.expect("it is let in") });
        joined.spawn(async move {
            remote.joined().await.expect("it is let in");
            remote
        });
    }
    let remotes = joined.join_all().await;
    let took = began.elapsed();
    let asking: Vec<_> = remotes
        .into_iter()
        .map(|remote| {
            let leave = leave.clone();
            tokio::spawn(async move {
                loop {
                    let request = LeaseRequest {
                        worker: String::new(),
                        session: None,
                        can: Arc::new(Abilities::Remote(Machine::default())),
                        games: 64,
                        scope: None,
                    };
                    tokio::select! {
                        biased;
                        () = leave.cancelled() => break,
                        leased = remote.lease(request) => drop(leased),
                    }
                }
            })
        })
        .collect();
    // All of them renew their streams and ask for work meanwhile.
    let before = (arena.cpu(), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let cpu = (arena.cpu() - before.0).as_secs_f64() / before.1.elapsed().as_secs_f64();
    println!(
        "memory   {count} workers wait: {:.1} MiB, {:.1} KiB each; {:.1} % of a core; all had \
         joined after {:.1} s",
        arena.memory() as f64 / 1024.0,
        (arena.memory() - empty) as f64 / count as f64,
        100.0 * cpu,
        took.as_secs_f64()
    );
    leave.cancel();
    for asks in asking {
        asks.await.expect("no panic");
    }
    waiting.join_all().await;
    arena.stop();
}
