//! Cores of their own for the referee's threads and for bots.

use std::{io, num::NonZero, sync::Arc};

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use parking_lot::Mutex;

/// A referee's thread has time for the games of so many cores.
const GAMES_OF: usize = 8;

/// Number of cores that this process may use. So many games are played at once if nobody
/// says: one bot of a game thinks at a time.
#[must_use]
pub fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Half of the cores referee where they are not divided; the bots need the others.
#[must_use]
pub fn referee_threads() -> usize {
    (core_count() / 2).max(1)
}

/// The division of the cores that this process may use.
#[derive(Clone, Debug)]
pub struct Cores {
    /// Those of the referee's threads: one thread each.
    pub referee: Vec<usize>,
    /// Those of bots.
    pub bots: Arc<BotCores>,
}

impl Cores {
    /// Divides the cores that this process may use: an eighth for the referee, at least one.
    /// None where there is one core only.
    ///
    /// # Errors
    ///
    /// The system does not say which cores there are.
    pub fn divide() -> io::Result<Option<Self>> {
        let ours = sched_getaffinity(Pid::from_raw(0))?;
        let ours = (0..CpuSet::count()).filter(|core| ours.is_set(*core).unwrap_or(false));
        Ok(Self::of(ours.collect()))
    }

    fn of(mut cores: Vec<usize>) -> Option<Self> {
        if cores.len() < 2 {
            return None;
        }
        let bots = cores.split_off((cores.len() / GAMES_OF).max(1));
        Some(Self {
            referee: cores,
            bots: Arc::new(BotCores::of(bots)),
        })
    }
}

/// The cores of bots. Each process has one of them.
#[derive(Debug)]
pub struct BotCores(Mutex<Vec<(usize, u64)>>);

/// A process's core; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct OwnCore {
    core: usize,
    of: Arc<BotCores>,
}

impl BotCores {
    fn of(cores: Vec<usize>) -> Self {
        Self(Mutex::new(
            cores.into_iter().map(|core| (core, 0)).collect(),
        ))
    }

    /// Number of cores.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// The core that the fewest processes have.
    pub(crate) fn take(self: &Arc<Self>) -> OwnCore {
        let mut cores = self.0.lock();
        let (core, processes) = cores
            .iter_mut()
            .min_by_key(|(_, processes)| *processes)
            .expect("there is a core for bots");
        *processes += 1;
        OwnCore {
            core: *core,
            of: self.clone(),
        }
    }
}

impl OwnCore {
    /// Its number.
    pub(crate) const fn number(&self) -> usize {
        self.core
    }

    /// Runs this with the thread on the core, which what it starts inherits.
    pub(crate) fn on_it<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let this = Pid::from_raw(0);
        let before = sched_getaffinity(this)?;
        keep_to(self.core)?;
        let started = start();
        sched_setaffinity(this, &before)?;
        started
    }
}

impl Drop for OwnCore {
    fn drop(&mut self) {
        let mut cores = self.of.0.lock();
        if let Some((_, processes)) = cores.iter_mut().find(|(core, _)| *core == self.core) {
            *processes -= 1;
        }
    }
}

/// Keeps this thread to one core.
pub(crate) fn keep_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    sched_setaffinity(Pid::from_raw(0), &set)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_referee_has_an_eighth_and_bots_have_the_rest() {
        assert!(Cores::of(vec![3]).is_none());
        let divided = |cores: usize| {
            let cores = Cores::of((0..cores).collect()).unwrap();
            (cores.referee.len(), cores.bots.count())
        };
        assert_eq!(divided(2), (1, 1));
        assert_eq!(divided(8), (1, 7));
        assert_eq!(divided(64), (8, 56));
    }

    #[test]
    fn each_process_has_the_core_that_the_fewest_have() {
        let cores = Arc::new(BotCores::of(vec![4, 5, 6]));
        let mut taken: Vec<OwnCore> = (0..5).map(|_| cores.take()).collect();
        let numbers: Vec<usize> = taken.iter().map(|own| own.core).collect();
        assert_eq!(numbers, [4, 5, 6, 4, 5]);
        drop(taken.remove(2));
        assert_eq!(cores.take().core, 6);
    }

    #[test]
    fn what_is_started_is_on_the_core_and_we_are_where_we_were() {
        let this = Pid::from_raw(0);
        let before = sched_getaffinity(this).unwrap();
        let core = (0..CpuSet::count())
            .find(|core| before.is_set(*core).unwrap())
            .unwrap();
        let own = Arc::new(BotCores::of(vec![core])).take();
        let shown = own
            .on_it(|| std::process::Command::new("nproc").output())
            .unwrap();
        assert_eq!(shown.stdout, b"1\n");
        assert_eq!(sched_getaffinity(this).unwrap(), before);
    }
}
