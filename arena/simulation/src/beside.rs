//! A real runtime beside the simulation, for what can't be simulated.

use std::{
    io,
    sync::{Arc, mpsc},
    thread,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// Runs futures in real time on another thread, while the simulation stands still. All
/// clones share the thread.
#[derive(Clone, Debug)]
pub struct Beside {
    running: Arc<BesideThread>,
}

#[derive(Debug)]
struct BesideThread {
    runtime: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl Beside {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system can't start it.
    pub fn start() -> io::Result<Self> {
        // Without a driver of files and sockets: a thread that waits for one takes longer to
        // wake up, and a call waits for the thread some hundred times in a simulation.
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || {
                // An error says that the sender is gone, which is the message.
                let _ = runtime.block_on(stopped);
            })?;
        Ok(Self {
            running: Arc::new(BesideThread {
                runtime: handle,
                _stop: stop,
            }),
        })
    }

    /// Runs a future to its end on the other thread, and blocks this one until then, so
    /// that no simulated time passes. It may be called where a runtime is running. From a
    /// future that itself runs here it would never return.
    ///
    /// # Panics
    ///
    /// If the future does.
    pub fn call<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (done, result) = mpsc::sync_channel(1);
        self.running.runtime.spawn(async move {
            // An error would mean that this thread has stopped waiting, which it does not.
            let _ = done.send(future.await);
        });
        result.recv().expect("what ran beside has panicked")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_simulated_time_passes_meanwhile() {
        let beside = Beside::start().unwrap();
        let paused = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        paused.block_on(async move {
            let timer = tokio::spawn(tokio::time::sleep(Duration::from_millis(1)));
            let begin = tokio::time::Instant::now();
            let slept = beside.call(async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                "slept"
            });
            assert_eq!(slept, "slept");
            assert_eq!(begin.elapsed(), Duration::ZERO);
            assert!(!timer.is_finished());
            // It is dropped here, where a runtime is running.
            drop(beside);
        });
    }

    #[test]
    #[should_panic(expected = "what ran beside has panicked")]
    fn what_panics_beside_panics_here() {
        Beside::start()
            .unwrap()
            .call(async { panic!("on purpose") });
    }
}
