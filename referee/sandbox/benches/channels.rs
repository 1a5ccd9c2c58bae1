//! Number of bits per hour that one sandboxed program can tell another one by what is left to
//! both, or its own next process by what is left of it. docs/security.md has the table.
//!
//! Bits are drawn at random and sent in slots of time or all at once; the rate is that of a binary
//! symmetric channel, bits sent × (1 − H(p)), where p is the part of them that arrives wrong
//! (Cover and Thomas, Elements of Information Theory, 7.1.4).
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]
#![expect(clippy::unwrap_used, reason = "a failure is the benchmark's")]

#[path = "../tests/sandbox/common.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod common;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use common::{Running, kinds, python, sandbox, script, start};
use referee_sandbox::Sandbox;

/// A way to tell something.
struct Channel {
    name: &'static str,
    sender: &'static str,
    receiver: &'static str,
    /// Number of bits that are sent, and the time of each; none where all are sent at once.
    bits: usize,
    slot: Option<Duration>,
    /// True if the receiver is started when the sender has ended.
    is_left: bool,
}

/// The code that both begin with: arguments are the bits, their number, when the first slot
/// begins, how long a slot is, and a file of the system that was out of memory.
const COMMON: &str = r"
import ctypes, os, sys, threading, time
bits, count, begin, slot = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)
print('listening', flush=True)
def at(place):
    rest = begin + place * slot - time.time()
    if rest > 0: time.sleep(rest)
def system():
    known = ctypes.create_string_buffer(128)
    libc.sysinfo(known)
    words = ctypes.cast(known, ctypes.POINTER(ctypes.c_ulong))
    return words[5], ctypes.cast(known, ctypes.POINTER(ctypes.c_ushort))[40], words[6]
def listen(part, measure):
    seen = []
    for place in range(count):
        at(place + part)
        seen.append(measure(place))
    middle = (min(seen) + max(seen)) / 2
    print(''.join('1' if number > middle else '0' for number in seen))
";

const CHANNELS: &[Channel] = &[
    Channel {
        name: "pages of the system's files, both run",
        sender: "at(0)\nfile = os.open(sys.argv[5], os.O_RDONLY)\nfor place in range(count):\n    if bits[place] == '1': os.pread(file, 1, place * 64 * 4096)\nprint('said', flush=True)\ntime.sleep(60)",
        receiver: READS_PAGES,
        bits: 256,
        slot: None,
        is_left: false,
    },
    Channel {
        name: "pages of the system's files, the sender has ended",
        sender: "at(0)\nfile = os.open(sys.argv[5], os.O_RDONLY)\nfor place in range(count):\n    if bits[place] == '1': os.pread(file, 1, place * 64 * 4096)\nprint('said', flush=True)",
        receiver: READS_PAGES,
        bits: 256,
        slot: None,
        is_left: true,
    },
    Channel {
        name: "number of processes (sysinfo)",
        sender: r"
for place in range(count):
    at(place)
    if bits[place] == '1':
        threads = [threading.Thread(target=at, args=[place + 0.8]) for _ in range(40)]
        for thread in threads: thread.start()",
        receiver: "listen(0.6, lambda _: system()[1])",
        bits: 200,
        slot: Some(Duration::from_millis(20)),
        is_left: false,
    },
    Channel {
        name: "free memory (sysinfo)",
        sender: r"
for place in range(count):
    at(place)
    hoard = bytearray(b'x' * (16 << 20)) if bits[place] == '1' else None
    at(place + 0.8)
    del hoard",
        receiver: "listen(0.7, lambda _: -system()[0])",
        bits: 200,
        slot: Some(Duration::from_millis(30)),
        is_left: false,
    },
    Channel {
        name: "memory of files in memory (sysinfo)",
        sender: r"
for place in range(count):
    at(place)
    if bits[place] == '1':
        hoard = os.memfd_create('hoard')
        os.write(hoard, b'x' * (1 << 20))
        at(place + 0.8)
        os.close(hoard)",
        receiver: "listen(0.6, lambda _: system()[2])",
        bits: 200,
        slot: Some(Duration::from_millis(10)),
        is_left: false,
    },
    Channel {
        name: "waiting at a page of a shared file (futex)",
        sender: FUTEX,
        receiver: r"
libc.syscall.argtypes = [ctypes.c_long] * 7
start = ctypes.cast(libc.printf, ctypes.c_void_p).value & ~4095
time.sleep(0.5)
began = time.time()
heard = ''.join(str(libc.syscall(202, start + 4 * place, 1, 1, 0, 0, 0)) for place in range(count))
print(heard, time.time() - began)",
        bits: 64,
        slot: None,
        is_left: false,
    },
    Channel {
        name: "time of a core that both use",
        sender: r"
os.sched_setaffinity(0, [0])
for place in range(count):
    at(place)
    while bits[place] == '1' and time.time() < begin + (place + 0.9) * slot: pass",
        receiver: r"
os.sched_setaffinity(0, [0])
def turns(place):
    turns = 0
    while time.time() < begin + (place + 0.9) * slot: turns += 1
    return -turns
listen(0.1, turns)",
        bits: 200,
        slot: Some(Duration::from_millis(20)),
        is_left: false,
    },
];

const READS_PAGES: &str = r"
file = os.open(sys.argv[5], os.O_RDONLY)
def took(place):
    began = time.perf_counter()
    os.pread(file, 1, place * 64 * 4096)
    return time.perf_counter() - began
began = time.time()
heard = ''.join('1' if took(place) < 40e-6 else '0' for place in range(count))
print(heard, time.time() - began)";

/// Threads wait at places of a page that the receiver sees too.
const FUTEX: &str = r"
libc.syscall.argtypes = [ctypes.c_long] * 7
start = ctypes.cast(libc.printf, ctypes.c_void_p).value & ~4095
words = ctypes.cast(start, ctypes.POINTER(ctypes.c_uint))
for place in range(count):
    if bits[place] == '1':
        wait = [202, start + 4 * place, 0, words[place], 0, 0, 0]
        threading.Thread(target=libc.syscall, args=wait, daemon=True).start()
print('said', flush=True)
time.sleep(60)";

/// A file of the system of this size that nobody has in use, out of memory.
const COLD: &str = r"
import ctypes, os, sys
for folder, _, names in os.walk('/usr/lib'):
    for path in [os.path.join(folder, name) for name in names]:
        if os.path.islink(path) or os.path.getsize(path) < int(sys.argv[1]): continue
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
        except BlockingIOError:
            print(path)
            sys.exit()";

fn main() {
    println!("| channel | bits | wrong | bits/s while it sends | bits an hour |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let sandbox = sandbox(*kinds().last().unwrap());
    for channel in CHANNELS {
        let (wrong, took) = channel.measure(&sandbox);
        let bits = channel.bits as f64;
        let rate = bits * capacity(wrong as f64 / bits) / took.as_secs_f64();
        // Half of them is wrong by chance: two standard errors of a binomial count.
        let is_chance = bits / 2.0 - wrong as f64 <= bits.sqrt();
        let found = if is_chance {
            "none found | none found".to_owned()
        } else {
            format!("{rate:.0} | {:.1e}", rate * 3600.0)
        };
        println!("| {} | {bits} | {wrong} | {found} |", channel.name);
    }
}

/// The part of a bit that arrives, where this part of the bits is wrong.
fn capacity(wrong: f64) -> f64 {
    let term = |p: f64| if p == 0.0 { 0.0 } else { -p * p.log2() };
    1.0 - term(wrong) - term(1.0 - wrong)
}

impl Channel {
    /// Number of bits that arrive wrong, and the time of sending and reading.
    fn measure(&self, sandbox: &Sandbox) -> (usize, Duration) {
        let size = self.bits * 64 * 4096;
        let cold = std::process::Command::new(python())
            .args(["-c", COLD, &size.to_string()])
            .output()
            .unwrap();
        let cold = String::from_utf8(cold.stdout).unwrap().trim().to_owned();
        let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
        let bits: String = (0..self.bits)
            .map(|_| {
                // Marsaglia's xorshift.
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                if chance >> 63 == 1 { '1' } else { '0' }
            })
            .collect();
        let slot = self.slot.unwrap_or_default();
        let begin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(2);
        let run = |code: &str, bits: &str| {
            let code = format!("{COMMON}{code}");
            let [count, begin, slot] = [
                self.bits.to_string(),
                begin.as_secs_f64().to_string(),
                slot.as_secs_f64().to_string(),
            ];
            start(
                sandbox,
                &script(&code, &[bits, &count, &begin, &slot, &cold]),
            )
        };
        let mut sender = run(self.sender, &bits);
        let mut said = BufReader::new(sender.child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        sender.session.cgroup().unwrap().begin_to_play().unwrap();
        if self.slot.is_none() {
            line.clear();
            said.read_line(&mut line).unwrap();
            assert_eq!(line, "said\n");
        }
        if self.is_left {
            sender.child.wait().unwrap();
            let Running { session, .. } = sender;
            session.release();
            return self.compare(&bits, run(self.receiver, ""));
        }
        let result = self.compare(&bits, run(self.receiver, ""));
        drop(sender);
        result
    }

    fn compare(&self, bits: &str, mut receiver: Running) -> (usize, Duration) {
        let mut said = BufReader::new(receiver.child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let mut text = String::new();
        said.read_to_string(&mut text).unwrap();
        let mut words = text.split_whitespace();
        let heard = words.next().unwrap_or_default();
        assert_eq!(heard.len(), self.bits, "{}: {text}", self.name);
        let took = match self.slot {
            Some(slot) => slot * self.bits as u32,
            // Sending takes as long, about.
            None => Duration::from_secs_f64(words.next().unwrap().parse().unwrap()) * 2,
        };
        let pairs = bits.chars().zip(heard.chars());
        let wrong = pairs.filter(|(said, heard)| said != heard).count();
        (wrong.min(self.bits - wrong), took)
    }
}
