//! Work in numbered parts that threads divide among them.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The results of `work` for 0, 1, … up to `count`, in this order, worked out by so many threads.
/// Parts that are not begun when it is late are left out.
pub fn divided<T: Send>(
    threads: usize,
    count: usize,
    is_late: impl Fn() -> bool + Sync,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let takes = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count || is_late() {
                return done;
            }
            done.push((at, work(at)));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(takes)).collect();
        let mut all = takes();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|one| one.0);
    all.into_iter().map(|one| one.1).collect()
}
