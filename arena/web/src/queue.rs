//! The one queue for work that people ask for: hints and evaluations. It is bounded, clients take
//! turns in it, and its threads have the lowest priority, so that games wait for none of it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use crate::{client::Client, error::Full};

/// So many threads work, whatever is asked for.
const THREADS: usize = 2;
/// So much work waits at most, of all clients and of one, besides what is being done.
const WAITING: usize = 64;
const OF_ONE_CLIENT: usize = 4;
/// The lowest priority that there is.
const NICE: i32 = 19;

/// The queue. Its threads end when it is dropped, after the work that they do.
pub(crate) struct WorkQueue {
    shared: Arc<SharedQueue>,
}

#[derive(Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// The clients whose work waits, in the order of their turns.
    turns: VecDeque<Client>,
    waiting: HashMap<Client, VecDeque<QueuedJob>>,
    count: usize,
    /// The clients whose work is being done: one piece of each client at a time.
    served: HashSet<Client>,
    is_closed: bool,
}

type QueuedJob = Box<dyn FnOnce() + Send>;

impl WorkQueue {
    /// An empty one, whose threads have not begun.
    pub(crate) fn new() -> Self {
        Self {
            shared: Arc::default(),
        }
    }

    /// Begins to work.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        for number in 0..THREADS {
            let shared = self.shared.clone();
            std::thread::Builder::new()
                .name(format!("asked-{number}"))
                .spawn(move || {
                    // Of this thread alone, on Linux; what it starts has it too.
                    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
                        tracing::warn!(%error, "work that people ask for has no lower priority");
                    }
                    shared.work();
                })?;
        }
        Ok(())
    }

    /// Has this done when the client's turn comes. What it gives comes through the channel, which
    /// closes without a word where the work has failed. Work for which nobody waits any more is not
    /// begun.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        client: Client,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, Full> {
        let (done, result) = oneshot::channel();
        let job: QueuedJob = Box::new(move || {
            if !done.is_closed() {
                let _ = done.send(work());
            }
        });
        let mut state = self.shared.state.lock();
        if state.count >= WAITING {
            return Err(Full::Work);
        }
        let own = state.waiting.entry(client).or_default();
        if own.len() >= OF_ONE_CLIENT {
            return Err(Full::WorkOfClient);
        }
        own.push_back(job);
        if own.len() == 1 {
            state.turns.push_back(client);
        }
        state.count += 1;
        drop(state);
        self.shared.changed.notify_one();
        Ok(result)
    }
}

impl Drop for WorkQueue {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.is_closed = true;
        state.turns.clear();
        state.waiting.clear();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl SharedQueue {
    fn work(&self) {
        let mut state = self.state.lock();
        while !state.is_closed {
            let Some((client, job)) = state.next() else {
                self.changed.wait(&mut state);
                continue;
            };
            drop(state);
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("work that somebody asked for has panicked");
            }
            state = self.state.lock();
            state.served.remove(&client);
        }
    }
}

impl QueueState {
    /// The next piece of work: that of the client whose turn it is and who is not being served.
    fn next(&mut self) -> Option<(Client, QueuedJob)> {
        let mut turns = self.turns.iter();
        let at = turns.position(|client| !self.served.contains(client))?;
        let client = self.turns.remove(at)?;
        let own = self.waiting.get_mut(&client)?;
        let job = own.pop_front()?;
        if own.is_empty() {
            self.waiting.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        self.count -= 1;
        self.served.insert(client);
        Some((client, job))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering},
            mpsc,
        },
        time::Duration,
    };

    use super::*;

    /// No work of these tests takes nearly as long; it only shows a hang.
    const FAR_TOO_LONG: Duration = Duration::from_secs(60);

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    /// A queue whose threads have not begun, so that what waits is known.
    fn queue() -> WorkQueue {
        WorkQueue::new()
    }

    #[test]
    fn a_full_queue_refuses_and_one_client_fills_its_own_share_only() {
        let queue = queue();
        let mut kept = Vec::new();
        let mut refused = 0;
        for _ in 0..50 {
            match queue.submit(client(0), || ()) {
                Ok(result) => kept.push(result),
                Err(full) => {
                    assert_eq!(full, Full::WorkOfClient);
                    refused += 1;
                }
            }
        }
        assert_eq!((kept.len(), refused), (OF_ONE_CLIENT, 50 - OF_ONE_CLIENT));
        kept.push(queue.submit(client(1), || ()).unwrap());
        for number in 2..=u8::MAX {
            kept.extend(queue.submit(client(number), || ()));
        }
        assert_eq!(kept.len(), WAITING);
        assert_eq!(queue.submit(client(9), || ()).err(), Some(Full::Work));
    }

    #[test]
    fn clients_take_turns_however_much_one_of_them_asks() {
        let queue = queue();
        let (said, order) = mpsc::channel();
        let mut results = Vec::new();
        for (number, pieces) in [(0, OF_ONE_CLIENT), (1, 1), (2, 2)] {
            for _ in 0..pieces {
                let said = said.clone();
                let work = move || said.send(number).unwrap();
                results.push(queue.submit(client(number), work).unwrap());
            }
        }
        // One thread, so that the order is known.
        let mut state = queue.shared.state.lock();
        while let Some((client, job)) = state.next() {
            job();
            state.served.remove(&client);
        }
        assert_eq!(state.count, 0);
        assert!(state.waiting.is_empty());
        let order: Vec<u8> = order.try_iter().collect();
        assert_eq!(order, [0, 1, 2, 0, 2, 0, 0]);
    }

    #[test]
    fn a_client_has_one_piece_done_at_a_time_and_all_have_two() {
        let queue = queue();
        let (begun, begins) = mpsc::channel();
        let at_once = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let mut results = Vec::new();
        for number in [0, 0, 0, 1, 2] {
            let (begun, gate) = (begun.clone(), gate.clone());
            let (at_once, most) = (at_once.clone(), most.clone());
            let work = move || {
                most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                begun.send(number).unwrap();
                gate.1.wait_while(&mut gate.0.lock(), |open| !*open);
                at_once.fetch_sub(1, Ordering::SeqCst);
                number
            };
            results.push(queue.submit(client(number), work).unwrap());
        }
        queue.start().unwrap();
        let mut first: Vec<u8> = (0..2)
            .map(|_| begins.recv_timeout(FAR_TOO_LONG).unwrap())
            .collect();
        first.sort_unstable();
        // Not twice the client that asked first.
        assert_eq!(first, [0, 1]);
        assert!(begins.try_recv().is_err());
        *gate.0.lock() = true;
        gate.1.notify_all();
        for result in results {
            result.blocking_recv().unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), THREADS);
    }

    #[test]
    fn work_has_the_lowest_priority_and_whoever_submits_keeps_theirs() {
        let queue = queue();
        queue.start().unwrap();
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let inside = queue.submit(client(0), nice).unwrap();
        assert_eq!(inside.blocking_recv(), Ok(NICE));
        assert_eq!(nice(), before);
    }

    #[test]
    fn work_for_nobody_is_not_begun_and_work_that_panics_ends_alone() {
        let queue = queue();
        let begun = Arc::new(AtomicUsize::new(0));
        for number in 0..3 {
            let begun = begun.clone();
            drop(queue.submit(client(number), move || begun.fetch_add(1, Ordering::SeqCst)));
        }
        let failed = queue
            .submit(client(8), || panic!("a test of panics"))
            .unwrap();
        let failed: oneshot::Receiver<()> = failed;
        let done = queue.submit(client(8), || "done").unwrap();
        queue.start().unwrap();
        assert!(failed.blocking_recv().is_err());
        assert_eq!(done.blocking_recv(), Ok("done"));
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    }
}
