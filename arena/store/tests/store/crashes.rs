//! Killed at any moment, a process leaves nothing half done behind, and nothing
//! that it was told is stored is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arena_store::{CommitPacing, GameFilter, Reported, ResultWriter, Store, TournamentId};
use tokio::task::JoinSet;

use crate::{
    claims::soon,
    vocabulary::{Home, game, on_both, tournament},
};

on_both!(a_process_that_is_killed_while_it_files_leaves_whole_games);

/// Tells the process that is to be killed which store it files into.
const STORE: &str = "ARENA_TEST_FILES_INTO";
const ROUNDS: u64 = 6;

async fn a_process_that_is_killed_while_it_files_leaves_whole_games(home: &Home) {
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let mut stored = BTreeSet::new();
    for round in 0..ROUNDS {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crashes::files_until_it_is_killed"])
            .args(["--ignored", "--nocapture"])
            .env(STORE, home.url())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        // Somewhere between the first commits and the hundredth.
        let last = 1 + round * round * 67 % 400;
        let mut told = 0;
        for line in &mut lines {
            if let Some(game) = told_stored(&line.unwrap()) {
                stored.insert(game);
                told += 1;
                if told == last {
                    break;
                }
            }
        }
        assert_eq!(told, last, "it ended by itself");
        victim.kill().unwrap();
        // What it still said before it died was stored as well.
        stored.extend(
            lines
                .map_while(Result::ok)
                .filter_map(|line| told_stored(&line)),
        );
        victim.wait().unwrap();

        let store = home.open().await;
        soon(&store, id).await.release().await;
        look_through(&store, id, &stored).await;
        store.close().await;
    }
    assert!(stored.len() as u64 > ROUNDS);
}

/// `stored 17.1`: a process that is killed may not have finished its last line.
fn told_stored(line: &str) -> Option<(u64, u32)> {
    let (group, seating) = line
        .strip_prefix("stored ")?
        .strip_suffix(';')?
        .split_once('.')?;
    Some((group.parse().ok()?, seating.parse().ok()?))
}

/// Everything in the store fits together.
async fn look_through(store: &Store, id: TournamentId, stored: &BTreeSet<(u64, u32)>) {
    let rows = store
        .games(id, &GameFilter::default(), u32::MAX)
        .await
        .unwrap();
    let there: BTreeSet<_> = rows.iter().map(|row| (row.group, row.seating)).collect();
    assert!(there.is_superset(stored), "what was stored is lost");

    let mut sums: BTreeMap<_, i64> = BTreeMap::new();
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for row in rows {
        for (who, name, more) in row.counters {
            *sums.entry((who, name)).or_default() += more;
        }
        groups.entry(row.group).or_default().push(row.seating);
        let record = store.record(id, row.group, row.seating).await.unwrap();
        let expected = format!("the record of {}.{}\n", row.group, row.seating);
        assert_eq!(record, Some(expected));
    }
    let counters = store.counters(id).await.unwrap();
    let counters: BTreeMap<_, _> = (counters.into_iter())
        .map(|(who, name, sum)| ((who, name), sum))
        .collect();
    assert_eq!(counters, sums);

    let scores = store.scores(id, None, u32::MAX).await.unwrap();
    let scored: BTreeSet<_> = scores.iter().map(|group| group.score.number).collect();
    let (whole, half): (BTreeMap<_, _>, BTreeMap<_, _>) = groups
        .into_iter()
        .partition(|(_, seatings)| seatings.len() == 2);
    assert_eq!(scored, whole.into_keys().collect());
    assert_eq!(store.incomplete_groups(id).await.unwrap(), half);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it never ends: the test above starts it in a process of its own and kills that"]
async fn files_until_it_is_killed() {
    let store = Store::open(&std::env::var(STORE).unwrap()).await.unwrap();
    let id = store.tournament("a tournament").await.unwrap().unwrap().id;
    let _claim = store.claim(id).await.unwrap();
    let pace = CommitPacing {
        interval: Duration::from_millis(1),
        most_waiting: 8,
        ..CommitPacing::default()
    };
    let writer = ResultWriter::start(&store, id, pace, |_| {}).await.unwrap();
    let next = Arc::new(AtomicU64::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..12 {
        let (writer, next) = (writer.clone(), next.clone());
        callers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let (group, seating) = (number / 2, (number % 2) as u32);
                let written = writer.write(game(group, seating)).await.unwrap();
                if written.reported == Reported::Accepted {
                    println!("stored {group}.{seating};");
                }
            }
        });
    }
    callers.join_all().await;
}
