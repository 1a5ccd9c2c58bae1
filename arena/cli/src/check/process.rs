//! What `/proc` says of a process and of all that it has started.

use std::{collections::BTreeMap, fs, time::Duration};

use referee::anonymous_memory_alone;

/// Ticks of the clock in a second: `USER_HZ`, which is 100 wherever Linux tells of
/// times in `/proc` (time(7)).
const TICKS: u64 = 100;

/// One process, from proc_pid_stat(5).
struct Stat {
    parent: u32,
    group: u32,
    /// What it has run, with its threads and children that have ended.
    ticks: u64,
}

/// The processor time of a process and its family up to a moment.
pub(super) struct Used {
    /// What the threads that live have run, or waited in line for: who thinks on a
    /// busy machine does not get all of a core.
    scheduled: Duration,
    /// What all have run, those that have ended too.
    ran: Duration,
}

/// The processor time of it and its family.
pub(super) fn cpu(leader: u32) -> Used {
    let family = family(leader);
    let ticks: u64 = family.values().map(|stat| stat.ticks).sum();
    Used {
        scheduled: family.keys().filter_map(|id| scheduled(*id)).sum(),
        ran: Duration::from_millis(ticks * 1000 / TICKS),
    }
}

impl Used {
    /// What was used since: each of the two counts misses something, so the larger.
    pub(super) fn since(&self, before: &Self) -> Duration {
        let scheduled = self.scheduled.saturating_sub(before.scheduled);
        scheduled.max(self.ran.saturating_sub(before.ran))
    }
}

/// What all threads of a process have run and waited to run, where the system keeps
/// count (`Documentation/scheduler/sched-stats.rst` of Linux).
fn scheduled(id: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).ok()?;
    let mut nanos = 0;
    for thread in threads.flatten() {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let mut fields = text.split_ascii_whitespace();
        for _ in 0..2 {
            nanos += fields.next()?.parse::<u64>().ok()?;
        }
    }
    Some(Duration::from_nanos(nanos))
}

/// The anonymous memory of it and its family, in bytes.
pub(super) fn memory(leader: u32) -> u64 {
    let family = family(leader);
    let each = family.keys().filter_map(|id| anonymous_memory_alone(*id));
    each.sum()
}

/// It, its group, and what descends from it.
fn family(leader: u32) -> BTreeMap<u32, Stat> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.parse().ok())
            && let Some(stat) = stat(id)
        {
            all.insert(id, stat);
        }
    }
    let mut family = BTreeMap::new();
    // Children come after their parents, but for the rare case that numbers have
    // begun anew: so again until nobody is added.
    loop {
        let more: Vec<u32> = all
            .iter()
            .filter(|(id, stat)| {
                **id == leader || stat.group == leader || family.contains_key(&stat.parent)
            })
            .map(|(id, _)| *id)
            .collect();
        if more.is_empty() {
            return family;
        }
        for id in more {
            family.extend(all.remove_entry(&id));
        }
    }
}

fn stat(id: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may have anything in it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        parent: number(1)? as u32,
        group: number(2)? as u32,
        ticks: (11..=14).map(number).sum::<Option<u64>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_have_memory_and_a_family() {
        let id = std::process::id();
        assert!(memory(id) > 0);
        assert!(family(id).contains_key(&id));
        assert_eq!(cpu(u32::MAX).ran, Duration::ZERO);
    }

    #[test]
    fn what_threads_used_that_have_ended_counts() {
        let id = std::process::id();
        let before = cpu(id);
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
            busy = cpu(id).ran.saturating_sub(before.ran);
        }
        assert!(cpu(id).since(&before) >= busy);
    }
}
