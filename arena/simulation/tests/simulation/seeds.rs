//! Many seeds: on every core of this machine, each thread on a core of its own.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use arena_simulation::Beside;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use parking_lot::Mutex;

/// Number of times that each thing has happened.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// Runs all seeds, and adds up what they count. It panics with the first failure.
pub(crate) fn run_all(seeds: Range<u64>, run: impl Fn(&Beside, u64) -> Counts + Sync) -> Counts {
    let next = AtomicU64::new(seeds.start);
    let total = Mutex::new(Counts::new());
    let work = |core: usize| {
        // Where one fails, the others need not go on.
        let _end = Stop(&next, seeds.end);
        stay_on(core);
        let beside = Beside::start().expect("a thread");
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            let counts = run(&beside, seed);
            let mut total = total.lock();
            for (what, count) in counts {
                *total.entry(what).or_default() += count;
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = cores()
            .into_iter()
            .map(|core| scope.spawn(move || work(core)))
            .collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    total.into_inner()
}

/// Leaves no seed to the others when a thread ends, for whatever reason.
struct Stop<'a>(&'a AtomicU64, u64);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.fetch_max(self.1, Ordering::Relaxed);
    }
}

/// The cores that this process may use.
fn cores() -> Vec<usize> {
    let ours = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    let ours = (0..CpuSet::count()).filter(|core| ours.is_set(*core).unwrap_or(false));
    let ours: Vec<usize> = ours.collect();
    match ours.is_empty() {
        true => vec![0],
        false => ours,
    }
}

/// Keeps this thread on a core, with those that it starts: the threads of a simulation wait
/// for each other all the time, and waking up one on another core takes longer than its work.
fn stay_on(core: usize) {
    let mut only = CpuSet::new();
    // Where it is not possible everything takes longer, and nothing else changes.
    let _ = only
        .set(core)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &only));
}
