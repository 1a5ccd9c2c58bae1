//! Turns finished games into results and packed records, on threads of its own: the
//! threads that games are played on have no time for it.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use referee_core::{Record, pack};
use tokio::sync::{mpsc, oneshot};

use crate::{Summary, games::PackedResult};

/// After each batch a thread waits so long, so that games that end at about the same
/// time share a batch: waking up for each of them costs more than the work itself.
const PAUSE: Duration = Duration::from_millis(1);
/// At most so many games are in a batch.
const BATCH: usize = 256;

/// A few threads that summarise and pack.
#[derive(Debug)]
pub struct Packer {
    queues: Vec<mpsc::UnboundedSender<PackJob>>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct PackJob {
    record: Record,
    done: oneshot::Sender<PackedResult>,
}

impl Packer {
    /// Starts so many threads. They end when it is dropped.
    ///
    /// # Errors
    ///
    /// The system has no thread to give.
    pub fn start(threads: usize) -> io::Result<Self> {
        let start = |_| {
            let (queue, jobs) = mpsc::unbounded_channel();
            let thread = std::thread::Builder::new().name("packer".to_owned());
            thread.spawn(move || work(jobs))?;
            Ok(queue)
        };
        Ok(Self {
            queues: (0..threads.max(1)).map(start).collect::<io::Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Summarises a game, and packs its record where that is wanted. None where a
    /// thread has panicked.
    pub(crate) async fn pack(&self, record: Record, wants_record: bool) -> Option<PackedResult> {
        if !wants_record {
            // This costs less than waking up a thread.
            return Some((Summary::of(&record, record.play_hash()), None));
        }
        let (done, packed) = oneshot::channel();
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.queues.len();
        self.queues[next].send(PackJob { record, done }).ok()?;
        packed.await.ok()
    }
}

fn work(mut jobs: mpsc::UnboundedReceiver<PackJob>) {
    let mut batch = Vec::new();
    while jobs.blocking_recv_many(&mut batch, BATCH) > 0 {
        let packed: Vec<_> = batch
            .drain(..)
            .map(|job| (packed(&job.record), job.done))
            .collect();
        for (packed, done) in packed {
            // A game that was cut off does not wait for it any more.
            let _ = done.send(packed);
        }
        std::thread::sleep(PAUSE);
    }
}

fn packed(record: &Record) -> PackedResult {
    let (text, play_hash) = record.sealed();
    (
        Summary::of(record, play_hash),
        Some(pack::pack_for_store(&text)),
    )
}
