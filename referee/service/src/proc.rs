//! Memory and processor time of a process and of its descendants, from `/proc`. Every function
//! reads files, which takes some tens of microseconds a process: call them on a thread that
//! may block. Where nothing can be asked, since this process has no open file left for
//! instance, they give the [`Shortage`](crate::Shortage), and never an answer.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use procfs::process::{MMapPath, Process, Stat, Task, all_processes};

pub use crate::shortage::OrShortage;
use crate::shortage::found;

/// Most descendants of one process that are looked at.
const MOST_DESCENDANTS: usize = 10_000;

/// The processor time that several processes have used up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// Time that the living threads have run or waited for a core: a process that computes on
    /// a busy machine does not get a whole core.
    pub scheduled: Duration,
    /// Time that all threads have run, those that have ended included.
    pub ran: Duration,
}

impl CpuTime {
    /// The time of a process, its group, and the descendants of these.
    ///
    /// # Errors
    ///
    /// It could not be asked for.
    pub fn of_family(leader: u32) -> OrShortage<Self> {
        let family = family(leader)?;
        let ticks: u64 = family
            .values()
            .map(|stat| stat.utime + stat.stime + (stat.cutime + stat.cstime).max(0) as u64)
            .sum();
        let mut all = Duration::ZERO;
        for id in family.keys() {
            all += scheduled(*id)?;
        }
        Ok(Self {
            scheduled: all,
            ran: Duration::from_millis(ticks * 1000 / procfs::ticks_per_second()),
        })
    }

    /// The time used since an earlier moment: the larger of the two differences, since each
    /// count misses something.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let scheduled = self.scheduled.saturating_sub(earlier.scheduled);
        scheduled.max(self.ran.saturating_sub(earlier.ran))
    }
}

/// Time that the threads of several processes have waited for a core up to a moment: on a
/// machine that nobody else uses they would not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreWait(BTreeMap<i32, BTreeMap<i32, Duration>>);

impl CoreWait {
    /// The waiting of a process, its group, and the descendants of these.
    ///
    /// # Errors
    ///
    /// It could not be asked for.
    pub fn of_family(leader: u32) -> OrShortage<Self> {
        let mut waits = BTreeMap::new();
        for id in family(leader)?.into_keys() {
            let of_process: &mut BTreeMap<_, _> = waits.entry(id).or_default();
            of_each_thread(found(Process::new(id))?.as_ref(), |thread| {
                if let Some(times) = found(thread.schedstat())? {
                    of_process.insert(thread.tid, Duration::from_nanos(times.run_delay));
                }
                Ok(())
            })?;
        }
        Ok(Self(waits))
    }

    /// Time that they have waited since an earlier moment: of each process the thread that
    /// waited longest, since threads wait side by side, and processes for each other.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Duration {
        let of_process = |(id, threads): (&i32, &BTreeMap<i32, Duration>)| {
            let before = earlier.0.get(id);
            let waited = threads.iter().map(|(thread, waited)| {
                let before = before.and_then(|threads| threads.get(thread));
                waited.saturating_sub(before.copied().unwrap_or_default())
            });
            waited.max().unwrap_or_default()
        };
        self.0.iter().map(of_process).sum()
    }
}

/// The anonymous memory of one process, in bytes: what is resident and not shared. None if
/// it has ended.
///
/// # Errors
///
/// It could not be asked for.
pub fn memory(id: u32) -> OrShortage<Option<u64>> {
    anonymous(open(id)?.as_ref())
}

/// The anonymous memory of a process and all its descendants, in bytes; none if it has ended.
/// Memory from before a fork counts for both processes. A process whose parent has died is no
/// descendant any more, and does not count; nor do descendants beyond the first 10,000.
///
/// # Errors
///
/// It could not be asked for.
pub fn memory_of_tree(id: u32) -> OrShortage<Option<u64>> {
    let root = open(id)?;
    let Some(mut sum) = anonymous(root.as_ref())? else {
        return Ok(None);
    };
    // Not by recursion: a bot decides how deep its tree is.
    let mut below: VecDeque<u32> = children_of(root.as_ref())?.into();
    for _ in 0..MOST_DESCENDANTS {
        let Some(process) = below.pop_front() else {
            break;
        };
        let process = open(process)?;
        if let Some(memory) = anonymous(process.as_ref())? {
            sum += memory;
            below.extend(children_of(process.as_ref())?);
        }
    }
    Ok(Some(sum))
}

/// The anonymous memory of a process, its group, and the descendants of these, in bytes.
///
/// # Errors
///
/// It could not be asked for.
pub fn memory_of_family(leader: u32) -> OrShortage<u64> {
    let mut sum = 0;
    for id in family(leader)?.into_keys() {
        sum += anonymous(found(Process::new(id))?.as_ref())?.unwrap_or(0);
    }
    Ok(sum)
}

/// True if a process of the family of this leader has a file of one of these names in its memory,
/// as a program has its libraries.
///
/// # Errors
///
/// It could not be asked for.
pub fn family_maps(leader: u32, names: &[&str]) -> OrShortage<bool> {
    for id in family(leader)?.into_keys() {
        let process = found(Process::new(id))?;
        let maps = process.map(|process| found(process.maps())).transpose()?;
        let is_one = maps
            .flatten()
            .into_iter()
            .flatten()
            .any(|map| match map.pathname {
                MMapPath::Path(file) => names.iter().any(|name| file.ends_with(name)),
                _ => false,
            });
        if is_one {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a process is this leader, in its process group, or a descendant of one that is.
/// Reads a file for each of its ancestors.
///
/// # Errors
///
/// It could not be asked for.
pub fn belongs_to(id: u32, leader: u32) -> OrShortage<bool> {
    /// More ancestors than any process has that was not made for the purpose.
    const DEEPEST: usize = 64;
    let Ok(leader) = i32::try_from(leader) else {
        return Ok(false);
    };
    let mut at = i32::try_from(id).ok();
    for _ in 0..DEEPEST {
        let Some(id) = at.filter(|id| *id > 1) else {
            return Ok(false);
        };
        if id == leader {
            return Ok(true);
        }
        let process = found(Process::new(id))?;
        match process
            .map(|process| found(process.stat()))
            .transpose()?
            .flatten()
        {
            Some(stat) if stat.pgrp == leader => return Ok(true),
            stat => at = stat.map(|stat| stat.ppid),
        }
    }
    Ok(false)
}

/// Looks at each process that this user may see.
///
/// # Errors
///
/// One could not be asked for.
pub(crate) fn of_each_process(
    mut look: impl FnMut(&Process, Stat) -> OrShortage<()>,
) -> OrShortage<()> {
    for process in found(all_processes())?.into_iter().flatten() {
        if let Some(process) = found(process)?
            && let Some(stat) = found(process.stat())?
        {
            look(&process, stat)?;
        }
    }
    Ok(())
}

fn open(id: u32) -> OrShortage<Option<Process>> {
    match i32::try_from(id) {
        Ok(id) => found(Process::new(id)),
        Err(_) => Ok(None),
    }
}

/// All threads of a process have the same memory; if the first one has ended, only the
/// others tell it. A process that has ended has none.
fn anonymous(process: Option<&Process>) -> OrShortage<Option<u64>> {
    let pages = |process: &Process| {
        let pages = found(process.statm())?.filter(|pages| pages.size > 0);
        let bytes = |pages: procfs::process::StatM| {
            pages.resident.saturating_sub(pages.shared) * procfs::page_size()
        };
        Ok(pages.map(bytes))
    };
    let Some(process) = process else {
        return Ok(None);
    };
    if let Some(bytes) = pages(process)? {
        return Ok(Some(bytes));
    }
    let mut of_a_thread = None;
    of_each_thread(Some(process), |thread| {
        if of_a_thread.is_none()
            && let Some(thread) = found(Process::new(thread.tid))?
        {
            of_a_thread = pages(&thread)?;
        }
        Ok(())
    })?;
    Ok(of_a_thread)
}

/// The children of all its threads.
fn children_of(process: Option<&Process>) -> OrShortage<Vec<u32>> {
    let mut children = Vec::new();
    of_each_thread(process, |thread| {
        children.extend(found(thread.children())?.into_iter().flatten());
        Ok(())
    })?;
    Ok(children)
}

/// Time that all threads of a process have run and waited to run, where the system counts it
/// (`Documentation/scheduler/sched-stats.rst` of Linux).
fn scheduled(id: i32) -> OrShortage<Duration> {
    let mut nanos = 0;
    of_each_thread(found(Process::new(id))?.as_ref(), |thread| {
        let times = found(thread.schedstat())?;
        nanos += times.map_or(0, |times| times.sum_exec_runtime + times.run_delay);
        Ok(())
    })?;
    Ok(Duration::from_nanos(nanos))
}

/// Looks at each thread of a process.
fn of_each_thread(
    process: Option<&Process>,
    mut look: impl FnMut(&Task) -> OrShortage<()>,
) -> OrShortage<()> {
    let Some(process) = process else {
        return Ok(());
    };
    for thread in found(process.tasks())?.into_iter().flatten() {
        if let Some(thread) = found(thread)? {
            look(&thread)?;
        }
    }
    Ok(())
}

/// The process, its group, and the descendants of these.
fn family(leader: u32) -> OrShortage<BTreeMap<i32, Stat>> {
    let Ok(leader) = i32::try_from(leader) else {
        return Ok(BTreeMap::new());
    };
    let mut others = BTreeMap::new();
    of_each_process(|process, stat| {
        others.insert(process.pid(), stat);
        Ok(())
    })?;
    let mut family = BTreeMap::<i32, Stat>::new();
    // Most children have greater ids than their parents, but not after an overflow: so this
    // is repeated until nothing is added.
    loop {
        let before = family.len();
        let more = others.extract_if(.., |id, stat| {
            *id == leader || stat.pgrp == leader || family.contains_key(&stat.ppid)
        });
        let more: Vec<_> = more.collect();
        family.extend(more);
        if family.len() == before {
            return Ok(family);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::BufRead as _, process::Stdio};

    use super::*;

    #[test]
    fn we_have_memory_and_a_family() {
        let id = std::process::id();
        assert!(memory_of_family(id).unwrap() > 0);
        assert!(
            family(id)
                .unwrap()
                .contains_key(&i32::try_from(id).unwrap())
        );
        assert_eq!(CpuTime::of_family(u32::MAX).unwrap().ran, Duration::ZERO);
    }

    #[test]
    fn the_files_in_our_memory_are_known_by_their_names() {
        let id = std::process::id();
        let us = std::env::current_exe().unwrap();
        let us = us.file_name().unwrap().to_str().unwrap();
        assert!(family_maps(id, &["no-such-file", us]).unwrap());
        // The whole name counts.
        assert!(!family_maps(id, &["no-such-file", &us[1..]]).unwrap());
    }

    #[test]
    fn what_threads_used_that_have_ended_counts() {
        let id = std::process::id();
        let before = CpuTime::of_family(id).unwrap();
        // Each is over before anybody could look at it.
        let mut busy = Duration::ZERO;
        while busy < Duration::from_millis(300) {
            std::thread::spawn(|| {
                let began = std::time::Instant::now();
                while began.elapsed() < Duration::from_millis(5) {
                    std::hint::spin_loop();
                }
            })
            .join()
            .unwrap();
            busy = CpuTime::of_family(id)
                .unwrap()
                .ran
                .saturating_sub(before.ran);
        }
        assert!(CpuTime::of_family(id).unwrap().since(before) >= busy);
    }

    #[test]
    fn threads_that_have_no_core_wait() {
        let id = std::process::id();
        let before = CoreWait::of_family(id).unwrap();
        assert_eq!(before.since(&before), Duration::ZERO);
        let cores = std::thread::available_parallelism().unwrap().get();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 * cores {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            // One more thread than cores is enough for it.
            while CoreWait::of_family(id).unwrap().since(&before) < Duration::from_millis(100) {
                std::thread::yield_now();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        // Nobody waits longer than time passes.
        let began = std::time::Instant::now();
        let before = CoreWait::of_family(id).unwrap();
        let threads = before.0.values().map(BTreeMap::len).max().unwrap();
        let waited = CoreWait::of_family(id).unwrap().since(&before);
        assert!(
            threads > 0 && waited <= began.elapsed() * before.0.len() as u32,
            "{waited:?}"
        );
    }

    #[test]
    fn the_memory_of_a_process_is_that_of_its_whole_tree() {
        // A shell below a shell below a shell: each says that it is there, and the
        // innermost one waits for our end of the pipe to close.
        let innermost = "echo; read never";
        let inner = format!("echo; sh -c '{innermost}'; exit");
        let script = format!("echo; sh -c \"{inner}\"; exit");
        let mut outer = std::process::Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(outer.stdout.take().unwrap());
        assert_eq!(output.lines().take(3).count(), 3);

        let children = |id| children_of(open(id).unwrap().as_ref()).unwrap();
        let id = outer.id();
        let [child] = children(id)[..] else {
            panic!("a shell that runs one command has one child");
        };
        let [grandchild] = children(child)[..] else {
            panic!("a shell that runs one command has one child");
        };
        assert!(children(grandchild).is_empty());
        let alone = [id, child, grandchild].map(|id| memory(id).unwrap().unwrap());
        assert!(alone.iter().all(|memory| *memory > 0), "{alone:?}");
        // They all wait, so nothing changes between two looks.
        assert_eq!(
            memory_of_tree(id).unwrap().unwrap(),
            alone.iter().sum::<u64>()
        );
        assert_eq!(memory_of_tree(grandchild).unwrap().unwrap(), alone[2]);

        drop(outer.stdin.take());
        outer.wait().unwrap();
        assert_eq!(memory_of_tree(id).unwrap(), None);
    }
}
