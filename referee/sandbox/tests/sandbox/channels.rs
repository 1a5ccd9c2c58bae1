//! Tests of the messages that a program could send another one, or its own next process, through
//! what both see.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use nix::unistd::geteuid;
use referee_sandbox::{Outer, Program, Sandbox, Wall};

use crate::common::{
    Running, attack, held_by, kinds, open_folder, python, run, sandbox, script, start, text,
};

/// Distance between the pages by which bits are told, so that reading one of them does not bring
/// the next one into memory.
const APART: usize = 64;
const BITS: usize = 8;

/// A program that tells whether pages of a file are in memory, asked without reading them. Other
/// programs ask for that here: those that map or read files need unsafe code.
const LOOK: &str = r"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
def pages(path):
    file = os.open(path, os.O_RDONLY)
    size = os.fstat(file).st_size
    known = ctypes.create_string_buffer((size + 4095) // 4096)
    assert libc.mincore(libc.mmap(None, size, 1, 1, file, 0), size, known) == 0
    os.close(file)
    return [byte & 1 for byte in known.raw]
def drop(path):
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
def marked(path): return sum(pages(path)[::APART][:BITS])
";

fn look(code: &str, arguments: &[&str]) -> String {
    let code = format!("APART = {APART}\nBITS = {BITS}\n{LOOK}\n{code}");
    let output = Command::new(python())
        .args(["-c", &code])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A file of the system that nobody has in use, so that all of it can be out of memory; one for
/// each test.
fn cold_file(number: usize) -> PathBuf {
    let code = r"
for top in ['/usr/lib', '/usr/share']:
    for folder, _, names in os.walk(top):
        for path in [os.path.join(folder, name) for name in names]:
            if not os.path.islink(path) and APART * BITS * 4096 <= os.path.getsize(path) < 1 << 28:
                drop(path)
                if not any(pages(path)):
                    print(path)";
    let found = look(code, &[]);
    let mut found = found.lines();
    let file = found.nth(number);
    file.expect("large files of the system are unused").into()
}

fn drop_pages(path: &Path) {
    look("drop(sys.argv[1])", &[text(path)]);
}

/// Number of the marked pages of a file that are in memory.
fn marked(path: &Path) -> usize {
    look("print(marked(sys.argv[1]))", &[text(path)])
        .parse()
        .unwrap()
}

/// Reads the marked pages when it plays, which it sees at its cgroup.
const MARKS: &str = r"
import os, sys, time
print('listening', flush=True)
if sys.argv[2] == 'waits':
    while '/play' not in open('/proc/self/cgroup').read(): time.sleep(0.001)
file = os.open(sys.argv[1], os.O_RDONLY)
for bit in range(int(sys.argv[4])): os.pread(file, 1, bit * int(sys.argv[3]) * 4096)
print('SUCCEEDED')";

/// Has a process mark a file of the system while it plays, and end.
fn mark(sandbox: &Sandbox, path: &Path) {
    let holds = sandbox.walls().hold(Wall::PageCache);
    let waits = if holds { "waits" } else { "" };
    let (apart, bits) = (APART.to_string(), BITS.to_string());
    let program = script(MARKS, &[text(path), waits, &apart, &bits]);
    let Running { mut child, session } = start(sandbox, &program);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "listening\n");
    session.cgroup().unwrap().begin_to_play().unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "SUCCEEDED\n");
    child.wait().unwrap();
    session.release();
}

#[test]
fn what_a_bot_reads_of_the_system_is_out_of_memory_when_its_next_process_starts() {
    let file = cold_file(0);
    held_by(&[Wall::PageCache], &kinds(), |sandbox| {
        drop_pages(&file);
        assert_eq!(marked(&file), 0);
        mark(sandbox, &file);
        marked(&file) > 0
    });
}

/// So that the next one starts as fast as it can.
#[test]
fn what_a_bot_reads_before_it_plays_stays_in_memory() {
    let file = cold_file(1);
    for kind in kinds() {
        drop_pages(&file);
        let (apart, bits) = (APART.to_string(), BITS.to_string());
        let program = script(MARKS, &[text(&file), "", &apart, &bits]);
        let Running { mut child, session } = start(&sandbox(kind), &program);
        let mut said = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        session.cgroup().unwrap().begin_to_play().unwrap();
        child.wait().unwrap();
        session.release();
        assert_eq!(marked(&file), BITS, "{kind}");
    }
}

/// A program that tries system calls which could tell what is in memory, or change it, or do
/// anything by which one program hears of another. Each line is one of them.
const ASKS: &str = r"
import ctypes, errno, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.syscall.argtypes = [ctypes.c_long] * 7
file = os.open('/etc/passwd', os.O_RDONLY)
page = libc.mmap(None, 4096, 1, 1, file, 0)
known = ctypes.create_string_buffer(64)
address = ctypes.addressof(known)
vector = struct.pack('PP', address, 16)
vector = ctypes.addressof(ctypes.create_string_buffer(vector))
here = ctypes.create_string_buffer(struct.pack('PP', address, 16))
context = ctypes.create_string_buffer(8)
span = ctypes.create_string_buffer(struct.pack('QQ', 0, 4096))
lock = struct.pack('hhqqi', fcntl.F_RDLCK, 0, 0, 1, 0)
blocks = ctypes.create_string_buffer(256)
path = ctypes.create_string_buffer(b'/etc/passwd')
how = ctypes.create_string_buffer(struct.pack('QQQ', 0, 0, 0x20))
def call(*arguments): return libc.syscall(*(arguments + (0,) * (7 - len(arguments))))
tried = {
  'mincore': lambda: call(27, page, 4096, address),
  'cachestat': lambda: call(451, file, ctypes.addressof(span), address, 0),
  'preadv2 without waiting': lambda: call(327, file, ctypes.addressof(here), 1, 0, 0, 8),
  'preadv2 without keeping': lambda: call(327, file, ctypes.addressof(here), 1, 0, 0, 0x80),
  'io_setup': lambda: call(206, 1, ctypes.addressof(context)),
  'madvise cold': lambda: call(28, page, 4096, 20),
  'madvise pageout': lambda: call(28, page, 4096, 21),
  'inotify_init': lambda: call(253),
  'inotify_init1': lambda: call(294, 0),
  'who has a lock': lambda: fcntl.fcntl(file, fcntl.F_GETLK, lock) and 0,
  'lease': lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
  'dnotify': lambda: fcntl.fcntl(os.open('/etc', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS),
  'move_pages': lambda: call(279, 0, 0, 0, 0, 0, 0),
  'node of a page': lambda: call(239, address, 0, 0, page, 3),
  'free blocks of a disk': lambda: call(138, file, ctypes.addressof(blocks)),
  'free blocks by path': lambda: os.statvfs('/usr') and 0,
  'request to a file system': lambda: fcntl.ioctl(file, 0x80086601, known) and 0,
  'openat2': lambda: call(437, -100, ctypes.addressof(path), ctypes.addressof(how), 24),
  'call of x32': lambda: call(0x40000000 + 39),
}
for name, ask in tried.items():
    ctypes.set_errno(0)
    # A page that is not in memory is an answer, too.
    try: did = ask() >= 0 or ctypes.get_errno() == errno.EAGAIN
    except OSError: did = False
    if did: print(name)";

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_that_tell_what_is_in_memory_or_who_uses_a_file_are_refused() {
    for kind in kinds() {
        let whole = sandbox(kind);
        assert_eq!(run(&whole, &script(ASKS, &[])).said, "", "{kind}");
    }
    let open = sandbox(Outer::Own).without(&[Wall::SystemCalls, Wall::Landlock]);
    let said = run(&open, &script(ASKS, &[])).said;
    for one in [
        "mincore",
        "preadv2 without waiting",
        "inotify_init1",
        "who has a lock",
        "free blocks of a disk",
        "free blocks by path",
        "openat2",
    ] {
        assert!(said.lines().any(|line| line == one), "{one}: {said}");
    }
}

/// Takes a lock, says so and waits until it is killed.
const LOCKS: &str = r"
import fcntl, os, sys, time
file = os.open('/etc/passwd', os.O_RDONLY)
if sys.argv[1] == 'flock': fcntl.flock(file, fcntl.LOCK_EX)
else: fcntl.lockf(file, fcntl.LOCK_SH)
print('locked', flush=True)
time.sleep(600)";

/// Finds out whether somebody has locked the file.
const LOOKS_FOR_LOCKS: &str = r"
import fcntl, os, struct, sys
file = os.open('/etc/passwd', os.O_RDONLY)
try:
    if sys.argv[1] == 'flock': fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        lock = struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 1, 0)
        found = fcntl.fcntl(file, fcntl.F_GETLK, lock)
        if struct.unpack('hhqqi', found)[0] != fcntl.F_UNLCK: print('SUCCEEDED')
except BlockingIOError: print('SUCCEEDED')
except OSError: pass";

#[test]
fn a_lock_on_a_file_of_the_system_is_not_seen_by_another_bot() {
    for how in ["flock", "fcntl"] {
        held_by(&[Wall::SystemCalls], &kinds(), |sandbox| {
            let Running { mut child, session } = start(sandbox, &script(LOCKS, &[how]));
            let mut line = String::new();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "locked\n", "{how}");
            let seen = attack(sandbox, LOOKS_FOR_LOCKS, &[how]);
            session.release();
            child.wait().unwrap();
            seen
        });
    }
}

/// A bot that keeps its book in a database locks it, and plays on.
#[test]
fn a_database_of_its_own_works() {
    let code = "\
import sqlite3
book = sqlite3.connect('/tmp/book.db')
book.execute('create table moves (move text)')
with book: book.execute(\"insert into moves values ('d3')\")
assert book.execute('select * from moves').fetchall() == [('d3',)]
print('SUCCEEDED')";
    for kind in kinds() {
        assert!(attack(&sandbox(kind), code, &[]), "{kind}");
    }
}

/// A program that tells which file a path leads to, as two numbers.
const WHERE: &str = "import os, sys; s = os.stat(sys.argv[1]); print(s.st_dev, s.st_ino)";

#[test]
fn a_bot_has_copies_of_its_files_up_to_a_size() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = open_folder();
    let [small, large] = ["small", "large"].map(|name| folder.path().join(name));
    for (folder, bytes) in [(&small, 5000), (&large, 65 << 20)] {
        fs::create_dir(folder).unwrap();
        let mut file = fs::File::create(folder.join("weights")).unwrap();
        file.set_len(bytes - 6).unwrap();
        file.write_all(b"weights").unwrap();
    }
    for kind in kinds() {
        let sandbox = sandbox(kind);
        for (folder, is_copied) in [(&small, true), (&large, false)] {
            let file = folder.join("weights");
            let data = fs::metadata(&file).unwrap();
            let mut running = start(&sandbox, &script(WHERE, &[text(&file)]));
            let mut said = String::new();
            let mut output = running.child.stdout.take().unwrap();
            output.read_to_string(&mut said).unwrap();
            running.child.wait().unwrap();
            let is_same = said == format!("{} {}\n", data.dev(), data.ino());
            assert_eq!(!is_same, is_copied, "{kind}: {said}");
            // The interpreter may be installed in a large folder too.
            let is_shared = running.session.shared().contains(folder);
            assert_eq!(!is_shared, is_copied, "{kind}");
            // The copy is as the file is.
            let program = script(
                "import sys; print(open(sys.argv[1]).read(7))",
                &[text(&file)],
            );
            assert_eq!(run(&sandbox, &program).said, "weights\n");
        }
    }
}

/// To find out that a folder is too large takes time at each start, so it is found out once.
#[test]
fn what_was_too_large_is_not_looked_at_again() {
    let folder = open_folder();
    let file = folder.path().join("weights");
    for kind in kinds() {
        let sandbox = sandbox(kind);
        for bytes in [65 << 20, 5000] {
            fs::File::create(&file).unwrap().set_len(bytes).unwrap();
            let mut running = start(&sandbox, &script("", &[text(&file)]));
            running.child.wait().unwrap();
            let shared = running.session.shared();
            assert!(
                shared.iter().any(|path| path == folder.path()),
                "{kind}: {bytes}"
            );
        }
    }
}

/// What finds no room beside other files of one program may find it in the next one.
#[test]
fn what_found_no_room_once_is_copied_where_there_is_room() {
    let folder = open_folder();
    let files = ["one", "two"].map(|name| folder.path().join(name).join("weights"));
    for file in &files {
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::File::create(file).unwrap().set_len(40 << 20).unwrap();
    }
    let [one, two] = [0, 1].map(|at| text(&files[at]));
    for kind in kinds() {
        let sandbox = sandbox(kind);
        let shared = |seen: &[&str]| {
            let mut running = start(&sandbox, &script("", seen));
            running.child.wait().unwrap();
            let shared = running.session.shared().iter();
            shared
                .filter(|path| path.starts_with(folder.path()))
                .count()
        };
        let counts = [&[one, two][..], &[one], &[two]].map(shared);
        assert_eq!(counts, [1, 0, 0], "{kind}");
    }
}

#[test]
fn what_is_hidden_is_not_in_the_copy() {
    let folder = open_folder();
    fs::create_dir(folder.path().join("records")).unwrap();
    let hidden = ["store.db", "records/1.jsonl"].map(|name| folder.path().join(name));
    for file in &hidden {
        fs::write(file, "secret").unwrap();
    }
    let code = "\
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if 'secret' in open(os.path.join(folder, name)).read(): print('SUCCEEDED')";
    for kind in kinds() {
        let program = Program {
            readable: vec![folder.path().into()],
            hidden: vec![hidden[0].clone(), folder.path().join("records")],
            ..script(code, &[text(folder.path())])
        };
        assert!(!run(&sandbox(kind), &program).succeeded(), "{kind}");
    }
}

/// Times and rights of a device are seen by everybody who has it.
#[test]
fn the_rights_and_times_of_devices_are_not_changed() {
    let code = "\
import os
for name in ['null', 'zero', 'full', 'random', 'urandom']:
    for change in [lambda path: os.utime(path), lambda path: os.chmod(path, 0o666)]:
        try:
            change('/dev/' + name)
            print('SUCCEEDED')
        except OSError: pass
for name in os.listdir('/proc'):
    if not name.isdigit() and not os.path.islink('/proc/' + name):
        try:
            os.chmod('/proc/' + name, 0o444)
            print('SUCCEEDED')
        except OSError: pass
open('/dev/null', 'w').write('x')
assert open('/dev/zero', 'rb').read(1) == bytes(1)";
    for kind in kinds() {
        let ran = run(&sandbox(kind), &script(code, &[]));
        assert!(!ran.succeeded() && ran.errors.is_empty(), "{kind}: {ran:?}");
    }
    if geteuid().is_root() {
        let open = sandbox(Outer::Own).without(&[Wall::Files, Wall::Landlock]);
        assert!(attack(&open, code, &[]));
    }
}

/// A program that looks for files that tell what the machine does while it does it.
const READS_LOAD: &str = r"
import os, time
names = ['diskstats', 'interrupts', 'loadavg', 'meminfo', 'pressure/cpu', 'softirqs', 'stat',
  'sys/fs/dentry-state', 'sys/fs/file-nr', 'sys/fs/inode-nr', 'uptime', 'vmstat', 'zoneinfo']
def read():
    texts = {}
    for name in names:
        try: texts[name] = open('/proc/' + name).read()
        except OSError: texts[name] = ''
    return texts
before = read()
files = [os.open('/etc/passwd', os.O_RDONLY) for _ in range(500)]
memory = bytearray(32 << 20)
until = time.process_time() + 0.1
while time.process_time() < until: pass
after = read()
if before != after: print('SUCCEEDED', [name for name in names if before[name] != after[name]])
assert int(before['meminfo'].split()[1]) > 0 and before['stat'].startswith('cpu ')
assert os.cpu_count() > 0 and open('/sys/devices/system/cpu/online').read().strip()
print('SUCCEEDED' if before != after else 'FAILED')";

#[test]
fn what_the_machine_does_is_not_seen_in_proc() {
    held_by(&[Wall::Files], &[Outer::Own], |sandbox| {
        let ran = run(sandbox, &script(READS_LOAD, &[]));
        assert_eq!(ran.errors, "");
        ran.succeeded()
    });
    for kind in kinds() {
        assert!(!attack(&sandbox(kind), READS_LOAD, &[]), "{kind}");
    }
}
