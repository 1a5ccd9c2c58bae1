//! Thinking while the other side moves: the engine of a bot works in a thread of its own from the
//! bot's answer to its next question, and is given back at once when it is asked for. One engine
//! and one thread; without [`Ponder::start`] there is no thread.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

/// An engine that may work between the questions.
pub(crate) struct Ponder<E>(PonderState<E>);

enum PonderState<E> {
    Idle(E),
    Working {
        stop: Arc<AtomicBool>,
        thread: JoinHandle<E>,
    },
    /// Between the two others, and after a panic of the thread.
    Gone,
}

impl<E: Send + 'static> Ponder<E> {
    pub(crate) const fn new(engine: E) -> Self {
        Self(PonderState::Idle(engine))
    }

    /// The engine, as soon as its work has stopped.
    ///
    /// # Panics
    ///
    /// If the work did.
    pub(crate) fn engine(&mut self) -> &mut E {
        if let PonderState::Working { .. } = self.0 {
            self.0 = PonderState::Idle(self.take());
        }
        match &mut self.0 {
            PonderState::Idle(engine) => engine,
            PonderState::Working { .. } | PonderState::Gone => unreachable!("its work has stopped"),
        }
    }

    /// Lets the engine work until it is asked for or dropped. The work has to end when the flag
    /// is set.
    ///
    /// # Panics
    ///
    /// If no thread can be started.
    pub(crate) fn start(&mut self, work: impl FnOnce(&mut E, &AtomicBool) + Send + 'static) {
        let mut engine = self.take();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            work(&mut engine, &flag);
            engine
        });
        self.0 = PonderState::Working { stop, thread };
    }

    fn take(&mut self) -> E {
        match std::mem::replace(&mut self.0, PonderState::Gone) {
            PonderState::Idle(engine) => engine,
            PonderState::Working { stop, thread } => {
                stop.store(true, Relaxed);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
            PonderState::Gone => unreachable!("a panic of the work has ended the game"),
        }
    }
}

impl<E> Drop for Ponder<E> {
    fn drop(&mut self) {
        if let PonderState::Working { stop, thread } =
            std::mem::replace(&mut self.0, PonderState::Gone)
        {
            stop.store(true, Relaxed);
            // A panic of work that nobody waits for harms nothing.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Counts until it is stopped, at least to one more.
    fn count(number: &mut u64, stop: &AtomicBool) {
        *number += 1;
        while !stop.load(Relaxed) {
            *number += 1;
        }
    }

    #[test]
    fn the_engine_comes_back_with_its_work() {
        let mut ponder = Ponder::new(0);
        for _ in 0..3 {
            let before = *ponder.engine();
            let (begun, has_begun) = mpsc::channel();
            ponder.start(move |number, stop| {
                begun.send(()).unwrap();
                count(number, stop);
            });
            has_begun.recv().unwrap();
            let after = *ponder.engine();
            assert!(after > before);
            assert_eq!(*ponder.engine(), after);
        }
    }

    #[test]
    fn no_thread_outlives_it() {
        let alive = Arc::new(());
        let mut ponder = Ponder::new(0);
        let seen = Arc::clone(&alive);
        ponder.start(move |number, stop| {
            let _seen = seen;
            count(number, stop);
        });
        drop(ponder);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_panic_is_that_of_the_next_answer() {
        let mut ponder = Ponder::new(0);
        ponder.start(|_, _| panic!("broken"));
        ponder.engine();
    }
}
