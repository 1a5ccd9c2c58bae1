//! Whether a program waits for its next line, as the kernel tells it.

use std::{fs, path::Path};

use nix::libc;

/// The calls in which a thread waits for others, for a child or for a file, and not for a time.
const WAITS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_futex,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

/// True if a process, or one that it has started, waits in a read of its standard input, and no
/// thread of them all does anything else than wait: then nobody is left who could answer
/// (proc_pid_syscall(5)).
pub(crate) fn waits_for_input(process: u32) -> bool {
    waiting(process) == Some(Waiting { for_input: true })
}

/// True if no thread of a process, and of those that it has started, does anything else than wait.
pub(crate) fn waits(process: u32) -> bool {
    waiting(process).is_some()
}

/// What waits; none where something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    for_input: bool,
}

fn waiting(process: u32) -> Option<Waiting> {
    let folder = |id: u32| Path::new("/proc").join(id.to_string());
    // A helper may read something else.
    let input = fs::read_link(folder(process).join("fd/0"));
    let mut for_input = false;
    let mut processes = vec![process];
    while let Some(id) = processes.pop() {
        let reads_the_same = match (&input, fs::read_link(folder(id).join("fd/0"))) {
            (Ok(input), Ok(its)) => *input == its,
            _ => false,
        };
        for thread in entries(&folder(id).join("task"))? {
            if is_dead(&thread) {
                continue;
            }
            let call = call_of(&thread).filter(|call| call.waits())?;
            for_input |= reads_the_same && call.reads_input();
            let children = read(&thread.join("children")).unwrap_or_default();
            let children = children.split_whitespace();
            processes.extend(children.filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    Some(Waiting { for_input })
}

/// True for one that has ended and is not waited for.
fn is_dead(thread: &Path) -> bool {
    let state = read(&thread.join("stat"));
    state.is_none_or(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default();
        state.trim_start().starts_with(['Z', 'X'])
    })
}

/// A call of the system that a thread is in: its number and its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SystemCall {
    number: libc::c_long,
    first: u64,
}

impl SystemCall {
    /// None for a thread that runs, or that is not in a call.
    fn of(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let first = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        Some(Self { number, first })
    }

    fn waits(self) -> bool {
        WAITS.contains(&self.number)
    }

    fn reads_input(self) -> bool {
        [libc::SYS_read, libc::SYS_readv].contains(&self.number) && self.first == 0
    }
}

fn call_of(thread: &Path) -> Option<SystemCall> {
    SystemCall::of(&read(&thread.join("syscall"))?)
}

#[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
fn read(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok()
}

fn entries(folder: &Path) -> Option<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).ok()?;
    Some(
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn a_call_is_read_as_the_kernel_writes_it() {
        let text = "0 0x0 0x7f2c 0x1000 0x0 0x0 0x0 0x7ffd 0x7f2b\n";
        let call = SystemCall::of(text).unwrap();
        assert_eq!((call.number, call.first), (0, 0));
        for none in ["running", "-1 0x7ffd 0x7f2b", ""] {
            assert!(
                SystemCall::of(none).is_none_or(|call| !call.waits()),
                "{none}"
            );
        }
    }

    #[test]
    fn one_that_reads_waits_and_one_that_sleeps_does_not() {
        // The first starts another, and waits for it.
        for (script, waits) in [
            ("cat; true", true),
            ("read x; exec sleep 60", true),
            ("sleep 60", false),
        ] {
            let mut child = Command::new("sh")
                .args(["-c", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let until = Instant::now() + Duration::from_secs(20);
            let id = child.id();
            let sees = |expected: bool| {
                while waits_for_input(id) != expected && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                }
                waits_for_input(id) == expected
            };
            assert!(sees(waits), "{script}");
            let mut input = child.stdin.take().unwrap();
            if script.starts_with("read") {
                input.write_all(b"1\n").unwrap();
                assert!(sees(false), "{script}");
            }
            let _ = child.kill();
            drop(input);
            child.wait().unwrap();
        }
    }
}
