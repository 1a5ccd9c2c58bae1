//! Each wall holds back what it is for, and without it the same attack succeeds.

use std::{
    fs,
    io::{ErrorKind, Read as _},
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixListener},
    },
    process::{Command, Stdio},
};

use crate::common::{
    attack, every_kind, held_by, held_by_each_of, kinds, no_sandbox, open_folder, processes_with,
    run, sandbox, script, start, text,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee_sandbox::{Outer, Program, ProgramEnd, Wall};

const READ: &str = "\
import sys
if open(sys.argv[1]).read() == 'secret': print('SUCCEEDED')";

#[test]
fn another_bots_file_is_not_read() {
    let folder = open_folder();
    let file = folder.path().join("secret");
    fs::write(&file, "secret").unwrap();
    // The path is not among the arguments, which show what they name.
    let code = READ.replace("sys.argv[1]", &format!("{file:?}"));
    held_by_each_of(&[Wall::Files, Wall::Landlock], &kinds(), |sandbox| {
        attack(sandbox, &code, &[])
    });
    held_by(&[Wall::Landlock], &[Outer::None], |sandbox| {
        attack(sandbox, &code, &[])
    });
}

#[test]
fn what_is_hidden_is_not_read_though_its_folder_is_shown() {
    let folder = open_folder();
    let records = folder.path().join("records");
    fs::create_dir(&records).unwrap();
    for file in [folder.path().join("store.db"), records.join("1.jsonl")] {
        fs::write(&file, "secret").unwrap();
        let hide = |hidden: Vec<_>| Program {
            readable: vec![folder.path().into()],
            hidden,
            ..script(READ, &[text(&file)])
        };
        let hidden = vec![folder.path().join("store.db"), records.clone()];
        for kind in every_kind() {
            let sandbox = sandbox(kind);
            assert!(!run(&sandbox, &hide(hidden.clone())).succeeded(), "{kind}");
            assert!(run(&sandbox, &hide(Vec::new())).succeeded(), "{kind}");
        }
    }
}

/// As another arena has them, or this one for another run: nobody has said that they are hidden.
#[test]
fn keys_tokens_stores_and_roots_are_not_read_wherever_they_lie() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = open_folder();
    let secrets = [
        ("tls.key", "-----BEGIN PRIVATE KEY-----\n".to_owned()),
        ("tokens", "arena_0\n".to_owned()),
        ("arena.db", "SQLite format 3\0".to_owned()),
        ("root", "7".repeat(64)),
    ];
    for (name, text) in &secrets {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::write(folder.path().join("bot.py"), "").unwrap();
    let code = "\
import os
def read(name):
    try: return open(name).read()
    except OSError: return ''
assert os.path.exists('bot.py')
print(*[name for name in ['tls.key', 'tokens', 'arena.db', 'root'] if read(name)])";
    for kind in every_kind() {
        let program = Program {
            directory: Some(folder.path().to_owned()),
            ..script(code, &["bot.py"])
        };
        assert_eq!(run(&sandbox(kind), &program).said, "\n", "{kind}");
    }
}

#[test]
fn a_file_that_only_some_may_read_is_not_shown_to_a_bot_of_root() {
    // Root owns it: the rights of the file would let it.
    let code = "open('/etc/shadow').read(); print('SUCCEEDED')";
    if fs::read("/etc/shadow").is_ok_and(|text| !text.is_empty()) {
        held_by(&[Wall::Files, Wall::Landlock], &kinds(), |sandbox| {
            attack(sandbox, code, &[])
                // The mask is an empty file.
                && run(sandbox, &script("print(len(open('/etc/shadow').read()))", &[])).said != "0\n"
        });
    }
}

#[test]
fn nothing_of_the_machine_is_written() {
    let folder = open_folder();
    let file = folder.path().join("left");
    let code = format!("open({file:?}, 'w').write('x'); print('SUCCEEDED')");
    held_by_each_of(&[Wall::Files, Wall::Landlock], &kinds(), |sandbox| {
        let said = attack(sandbox, &code, &[]);
        let there = fs::remove_file(&file).is_ok();
        // In its private folder it may make the same path.
        said && there
    });
    held_by(&[Wall::Landlock], &[Outer::None], |sandbox| {
        attack(sandbox, &code, &[])
    });
}

#[test]
fn a_visible_folder_is_not_written() {
    let folder = open_folder();
    let file = folder.path().join("left");
    let code = "import sys; open(sys.argv[1], 'w').write('x'); print('SUCCEEDED')";
    let walls = [Wall::Files, Wall::Landlock];
    held_by_each_of(&walls, &kinds(), |sandbox| {
        let program = Program {
            readable: vec![folder.path().into()],
            ..script(code, &[text(&file)])
        };
        run(sandbox, &program).succeeded()
    });
}

#[test]
fn settings_of_the_machine_are_not_written() {
    // Some of these root may write without any capability, since it owns the file.
    let code = "\
import os
value = open('/proc/sys/kernel/printk_ratelimit').read()
open('/proc/sys/kernel/printk_ratelimit', 'w').write(value)
print('SUCCEEDED')";
    for kind in kinds() {
        assert!(!attack(&sandbox(kind), code, &[]), "{kind}");
    }
    if nix::unistd::geteuid().is_root() {
        assert!(attack(&no_sandbox(), code, &[]));
    }
}

#[test]
fn the_next_game_finds_no_file() {
    for path in ["/tmp/left", "/var/tmp/left", "/dev/shm/left"] {
        let code = format!(
            "import os\nif os.path.exists({path:?}): print('SUCCEEDED')\nopen({path:?}, 'w')"
        );
        let walls = [Wall::Files, Wall::Landlock, Wall::Disk, Wall::Ipc];
        held_by(&walls, &kinds(), |sandbox| {
            let _ = fs::remove_file(path);
            let first = run(sandbox, &script(&code, &[]));
            assert_eq!(first.end, ProgramEnd::Exited(0), "it may write there");
            let found = attack(sandbox, &code, &[]);
            let _ = fs::remove_file(path);
            found
        });
    }
}

#[test]
fn the_next_game_finds_no_shared_memory() {
    // System V: it has a number, and stays when all who have it are gone.
    let code = "\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
key, size, create = 0x0b075e1f, 4096, 0o1666
if libc.shmget(key, size, 0o666) >= 0: print('SUCCEEDED')
elif libc.shmget(key, size, create) < 0: print('refused')";
    let remove = || {
        let _ = Command::new("ipcrm").args(["-M", "0x0b075e1f"]).output();
    };
    held_by(&[Wall::Ipc], &kinds(), |sandbox| {
        remove();
        attack(sandbox, code, &[]);
        let found = attack(sandbox, code, &[]);
        remove();
        found
    });
}

#[test]
fn other_processes_are_not_seen() {
    let mut other = Command::new("sleep").arg("1234.5").spawn().unwrap();
    let code = "\
import os
for pid in filter(str.isdigit, os.listdir('/proc')):
    try: line = open(f'/proc/{pid}/cmdline').read()
    except OSError: continue
    if '1234.5\\0' in line and 'sleep' in line: print('SUCCEEDED')";
    held_by(&[Wall::Processes], &kinds(), |sandbox| {
        attack(sandbox, code, &[])
    });
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn environment_and_memory_of_others_are_not_read() {
    let mut other = Command::new("sleep")
        .arg("1000")
        .env("ARENA_SECRET", "4711")
        .spawn()
        .unwrap();
    let pid = other.id().to_string();
    let environment = "\
import sys
if 'ARENA_SECRET=4711' in open(f'/proc/{sys.argv[1]}/environ').read(): print('SUCCEEDED')";
    let memory = "\
import sys
at = int(open(f'/proc/{sys.argv[1]}/maps').readline().split('-')[0], 16)
memory = open(f'/proc/{sys.argv[1]}/mem', 'rb')
memory.seek(at)
if len(memory.read(16)) == 16: print('SUCCEEDED')";
    for code in [environment, memory] {
        for kind in every_kind() {
            assert!(!attack(&sandbox(kind), code, &[&pid]), "{kind}");
        }
        assert!(attack(&no_sandbox(), code, &[&pid]));
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_init_of_its_own_sandbox_is_not_read() {
    let code = "\
import os
for name in ['mem', 'environ', 'fd', 'maps']:
    try:
        if name == 'fd': os.readlink('/proc/1/fd/0')
        else: open(f'/proc/1/{name}', 'rb').read(1)
        print('SUCCEEDED')
        print(name)
    except OSError: pass";
    for kind in kinds() {
        assert!(!attack(&sandbox(kind), code, &[]), "{kind}");
    }
}

#[test]
fn other_processes_are_not_signaled() {
    let code = "import os, sys; os.kill(int(sys.argv[1]), 9); print('SUCCEEDED')";
    let attack = |sandbox: &referee_sandbox::Sandbox| {
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        let said = attack(sandbox, code, &[&other.id().to_string()]);
        let ended = other.try_wait().unwrap().is_some();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(said || !ended);
        said
    };
    held_by_each_of(&[Wall::Processes, Wall::Landlock], &kinds(), attack);
    held_by(&[Wall::Landlock], &[Outer::None], attack);
}

#[test]
fn a_bot_that_signals_all_that_it_sees_harms_only_itself() {
    let code = "\
import os, signal
for pid in [1, os.getppid()]:
    for number in [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM]:
        try: os.kill(pid, number)
        except OSError: pass
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('still here', flush=True)
try: os.kill(-1, signal.SIGKILL)
except OSError: pass
os._exit(7)";
    let code = format!("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{code}");
    for kind in kinds() {
        let ran = run(&sandbox(kind), &script(&code, &[]));
        assert_eq!(ran.said, "still here\n", "{kind}");
        assert_eq!(ran.end, ProgramEnd::Exited(7), "{kind}");
    }
}

#[test]
fn a_daemon_does_not_outlive_its_bot() {
    let code = "\
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for number in range(3): os.dup2(null, number)
        os.write(write, b'x')
        os.execvp('sleep', ['sleep', sys.argv[1]])
    os._exit(0)
os.read(read, 1)";
    let mark = format!("9{}.25", std::process::id());
    for kind in every_kind() {
        run(&sandbox(kind), &script(code, &[&mark]));
        assert_eq!(processes_with(&mark), [0; 0], "{kind}");
    }
    run(&no_sandbox(), &script(code, &[&mark]));
    let left = processes_with(&mark);
    for pid in &left {
        kill(Pid::from_raw(*pid), Signal::SIGKILL).unwrap();
    }
    assert_eq!(left.len(), 1, "without a sandbox it stays");
}

#[test]
fn anothers_socket_is_not_dialled() {
    let folder = open_folder();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let code = format!(
        "import socket; socket.socket(socket.AF_UNIX).connect({path:?}); print('SUCCEEDED')"
    );
    held_by(&[Wall::Files], &kinds(), |sandbox| {
        let said = attack(sandbox, &code, &[]);
        assert_eq!(said, listener.accept().is_ok(), "the listener sees it");
        said
    });
}

#[test]
fn an_abstract_socket_is_not_dialled() {
    let name = format!("arena-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let code = format!(
        "import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}'); print('SUCCEEDED')"
    );
    let attack = |sandbox: &referee_sandbox::Sandbox| {
        let said = attack(sandbox, &code, &[]);
        assert_eq!(said, listener.accept().is_ok(), "the listener sees it");
        said
    };
    held_by_each_of(&[Wall::Network, Wall::Landlock], &kinds(), attack);
    held_by(&[Wall::Landlock], &[Outer::None], attack);
}

#[test]
fn nobody_is_dialled() {
    let stream = TcpListener::bind("127.0.0.1:0").unwrap();
    stream.set_nonblocking(true).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let code = "\
import socket, sys
for kind, port in [(socket.SOCK_STREAM, sys.argv[1]), (socket.SOCK_DGRAM, sys.argv[2])]:
    try:
        dialled = socket.socket(socket.AF_INET, kind)
        dialled.connect(('127.0.0.1', int(port)))
        dialled.send(b'x')
        print('SUCCEEDED')
    except OSError as error: print(error)";
    let ports = [
        stream.local_addr().unwrap().port().to_string(),
        datagrams.local_addr().unwrap().port().to_string(),
    ];
    held_by(&[Wall::Network], &every_kind(), |sandbox| {
        attack(sandbox, code, &[&ports[0], &ports[1]]);
        let dialled = stream.accept().map(drop);
        let sent = datagrams.recv(&mut [0; 8]).map(drop);
        for nothing in [&dialled, &sent]
            .into_iter()
            .filter_map(|it| it.as_ref().err())
        {
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
        }
        dialled.is_ok() || sent.is_ok()
    });
}

#[test]
fn there_is_no_other_network_than_loopback() {
    let code = "\
import socket
print(socket.if_nameindex())
try: socket.create_connection(('203.0.113.7', 80), timeout=5)
except OSError as error: print(error.strerror)";
    for kind in kinds() {
        let ran = run(&sandbox(kind), &script(code, &[]));
        let expected = "[(1, 'lo')]\nNetwork is unreachable\n";
        assert_eq!(ran.said, expected, "{kind}");
    }
}

#[test]
fn forks_without_end_end_at_the_limit() {
    let code = "\
import os, time
count = 0
try:
    while count < 300:
        if os.fork() == 0: time.sleep(1000)
        count += 1
    print('SUCCEEDED', flush=True)
except OSError as error: print(count, error, flush=True)
os._exit(0)";
    held_by(&[Wall::ProcessCount], &kinds(), |sandbox| {
        attack(sandbox, code, &[])
    });
}

#[test]
fn processes_that_were_refused_are_counted() {
    let refused = |processes: usize| {
        let code = "\
import subprocess, sys
try: kept = [subprocess.Popen(['sleep', '100']) for _ in range(int(sys.argv[1]))]
except OSError: sys.exit(1)
for one in kept: one.kill()";
        let mut running = start(
            &sandbox(Outer::Own),
            &script(code, &[&processes.to_string()]),
        );
        let status = running.child.wait().unwrap();
        let cgroup = running.session.cgroup().unwrap();
        let refused = cgroup.refused_processes().unwrap();
        (running.session.end(status), refused)
    };
    assert_eq!(refused(10), (ProgramEnd::Exited(0), 0));
    // 100 are allowed. Where a user's processes are counted too, that count refuses first.
    let (end, count) = refused(200);
    assert_eq!(end, ProgramEnd::Exited(1));
    if nix::unistd::geteuid().is_root() {
        assert!(count > 0);
    }
}

const TAKE: &str = "\
import mmap, os, sys
amount, step = 600 << 20, 1 << 20
def touch(write):
    for _ in range(amount // step): write(b'x' * step)
if sys.argv[1] == 'private':
    kept = []
    touch(lambda data: kept.append(bytearray(data)))
elif sys.argv[1] == 'shared':
    memory = mmap.mmap(-1, amount)
    touch(memory.write)
elif sys.argv[1] == 'memfd':
    memory = os.memfd_create('x')
    touch(lambda data: os.write(memory, data))
else:
    memory = os.open('/dev/shm/x', os.O_RDWR | os.O_CREAT)
    touch(lambda data: os.write(memory, data))
    os.unlink('/dev/shm/x')
print('SUCCEEDED')";

#[test]
fn memory_is_limited_whatever_it_is_taken_as() {
    for way in ["private", "shared", "memfd", "file"] {
        let program = |memory| {
            let mut program = script(TAKE, &[way]);
            program.limits.memory = Some(memory);
            program.limits.disk = 1 << 30;
            program.limits.file_size = 1 << 30;
            program
        };
        held_by(&[Wall::Memory], &kinds(), |sandbox| {
            let ran = run(sandbox, &program(128 << 20));
            let killed = ran.end == ProgramEnd::Signaled(nix::libc::SIGKILL);
            assert_eq!(killed, ran.out_of_memory, "{way}");
            ran.succeeded()
        });
    }
}

#[test]
fn a_private_folder_is_limited_in_bytes() {
    let code = "\
import sys
with open(sys.argv[1] + '/x', 'wb') as file:
    for _ in range(32): file.write(b'x' * (1 << 20)); file.flush()
print('SUCCEEDED')";
    for folder in ["/tmp", "/dev/shm"] {
        held_by(&[Wall::Disk], &kinds(), |sandbox| {
            let mut program = script(code, &[folder]);
            program.limits.disk = 8 << 20;
            run(sandbox, &program).succeeded()
        });
    }
}

#[test]
fn a_private_folder_is_limited_in_files() {
    let code = "\
import sys
for number in range(2000): open(f'{sys.argv[1]}/{number}', 'w').close()
print('SUCCEEDED')";
    for folder in ["/tmp", "/dev/shm"] {
        held_by(&[Wall::Disk], &kinds(), |sandbox| {
            let mut program = script(code, &[folder]);
            program.limits.files = 500;
            run(sandbox, &program).succeeded()
        });
    }
}

#[test]
fn a_file_is_limited_in_size_everywhere() {
    let code = "\
with open('/tmp/x', 'wb') as file:
    try: file.truncate(9 << 20); print('SUCCEEDED')
    except OSError: pass";
    for kind in kinds() {
        let of_size = |size| {
            let mut program = script(code, &[]);
            program.limits.file_size = size;
            run(&sandbox(kind), &program).succeeded()
        };
        assert!(!of_size(8 << 20), "{kind}");
        assert!(of_size(16 << 20), "{kind}");
    }
}

#[test]
fn its_socket_folder_takes_sockets_and_no_files() {
    let code = "\
import os, socket
folder = os.environ['FOLDER']
socket.socket(socket.AF_UNIX).bind(folder + '/socket')
print('bound')
open(folder + '/file', 'w').write('x')
print('SUCCEEDED')";
    held_by(&[Wall::Landlock], &kinds(), |sandbox| {
        let folder = open_folder();
        let program = Program {
            socket_folder: Some(folder.path().into()),
            environment: vec![(
                "FOLDER".into(),
                sandbox.socket_folder_inside(folder.path()).into(),
            )],
            ..script(code, &[])
        };
        let ran = run(sandbox, &program);
        assert!(ran.said.starts_with("bound\n"), "{ran:?}");
        assert!(folder.path().join("socket").exists(), "it is the machine's");
        ran.succeeded()
    });
}

/// A call, its arguments, and the error that it has in a sandbox.
const CALLS: &str = "\
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = __import__('platform').machine() == 'x86_64'
calls = {
    'ptrace': (101 if x86 else 117, [0, 0, 0, 0], errno.EPERM),
    'unshare': (272 if x86 else 97, [0x10000000], errno.EPERM),
    'personality': (135 if x86 else 92, [0x0040000], errno.EPERM),
    'clone': (56 if x86 else 220, [0x10000000 | 17, 0, 0, 0, 0], errno.EPERM),
    'clone3': (435, [0, 0], errno.ENOSYS),
    'io_uring_setup': (425, [0, 0], errno.ENOSYS),
    'bpf': (321 if x86 else 280, [0, 0, 0], errno.ENOSYS),
    'keyctl': (250 if x86 else 219, [0, -3, 0], errno.ENOSYS),
    'userfaultfd': (323 if x86 else 282, [0], errno.EPERM),
    'perf_event_open': (298 if x86 else 241, [0, 0, -1, -1, 0], errno.EPERM),
    'mount': (165 if x86 else 40, [0, 0, 0, 0, 0], errno.EPERM),
    'process_vm_readv': (310 if x86 else 270, [1, 0, 0, 0, 0, 0], errno.EPERM),
    'open_by_handle_at': (304 if x86 else 265, [0, 0, 0], errno.EPERM),
    'setns': (308 if x86 else 268, [-1, 0], errno.EPERM),
    'socket of vsock': (41 if x86 else 198, [40, 1, 0], errno.EAFNOSUPPORT),
    'ioctl TIOCSTI': (16 if x86 else 29, [0, 0x5412, 0], errno.EPERM),
}
number, arguments, expected = calls[sys.argv[1]]
result = libc.syscall(number, *map(ctypes.c_long, arguments))
if result == 0 and sys.argv[1] == 'clone': __import__('os')._exit(0)
found = ctypes.get_errno() if result == -1 else 0
print('refused' if found == expected else 'SUCCEEDED', found)
if found != expected: print('SUCCEEDED')";

#[test]
fn system_calls_of_attacks_are_refused() {
    for call in [
        "ptrace",
        "personality",
        "keyctl",
        "clone3",
        "setns",
        "ioctl TIOCSTI",
    ] {
        held_by(&[Wall::SystemCalls], &every_kind(), |sandbox| {
            attack(sandbox, CALLS, &[call])
        });
    }
    // The kernel may refuse these by itself.
    for call in [
        "unshare",
        "clone",
        "io_uring_setup",
        "bpf",
        "userfaultfd",
        "perf_event_open",
        "mount",
        "process_vm_readv",
        "open_by_handle_at",
        "socket of vsock",
    ] {
        for kind in every_kind() {
            assert!(!attack(&sandbox(kind), CALLS, &[call]), "{kind}: {call}");
        }
    }
}

#[test]
fn no_user_namespace_gives_it_rights_again() {
    let code = "\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0: print('SUCCEEDED')";
    held_by(&[Wall::SystemCalls], &kinds(), |sandbox| {
        attack(sandbox, code, &[])
    });
}

#[test]
fn it_has_no_rights_and_no_groups() {
    let code = "\
import os
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print(os.getuid(), os.getgid(), int(status['CapEff'], 16), int(status['CapPrm'], 16), int(status['NoNewPrivs']))
print(open('/proc/sys/kernel/hostname').read().strip())
print(sorted(set(os.getgroups()) - {os.getgid(), 65534}))";
    for kind in kinds() {
        let ran = run(&sandbox(kind), &script(code, &[]));
        assert_eq!(ran.said, "1000 1000 0 0 1\nbot\n[]\n", "{kind}");
    }
}

#[test]
fn only_what_was_handed_in_is_in_its_environment() {
    // Cargo has set some variables of this process.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
    let code =
        "import os; print(sorted(name for name in os.environ if not name.startswith('LC_')))";
    for kind in every_kind() {
        let program = Program {
            environment: vec![
                ("BOT_LISTEN".into(), "unix:/x".into()),
                ("LANG".into(), "C.UTF-8".into()),
            ],
            ..script(code, &[])
        };
        let expected = "['BOT_LISTEN', 'HOME', 'LANG', 'PATH', 'TMPDIR']\n";
        assert_eq!(run(&sandbox(kind), &program).said, expected, "{kind}");
    }
}

#[test]
fn it_has_no_descriptor_but_its_standard_ones() {
    // `listdir` has one itself.
    let code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])";
    for kind in every_kind() {
        let ran = run(&sandbox(kind), &script(code, &[]));
        assert_eq!(ran.said, "[0, 1, 2]\n", "{kind}");
    }
}

#[test]
fn a_bot_in_a_freezer_is_still_until_it_is_thawed() {
    let code = "\
import sys, time
while True: print('x', flush=True); time.sleep(0.01)";
    for kind in every_kind() {
        let sandbox = sandbox(kind);
        assert!(sandbox.walls().hold(Wall::Freezer), "{}", sandbox.walls());
        let mut running = crate::common::start(&sandbox, &script(code, &[]));
        let mut output = running.child.stdout.take().unwrap();
        output.read_exact(&mut [0; 20]).unwrap();
        let cgroup = running.session.cgroup().unwrap();
        cgroup.freeze().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut byte = [0];
            while output.read_exact(&mut byte).is_ok() && sender.send(()).is_ok() {}
        });
        let pause = std::time::Duration::from_millis(300);
        let still = (0..100_000).any(|_| receiver.recv_timeout(pause).is_err());
        assert!(still, "{kind}: it goes on");
        cgroup.thaw().unwrap();
        receiver.recv().unwrap();
        // It is ended also while it is frozen.
        cgroup.freeze().unwrap();
        drop(running.session);
        running.child.wait().unwrap();
    }
}

#[test]
fn processor_time_is_limited() {
    let code = "\
import time
begun = time.monotonic()
while time.process_time() < 0.5: pass
print((time.monotonic() - begun) > 2.0)";
    for kind in kinds() {
        let mut program = script(code, &[]);
        program.limits.cpu_percent = Some(20);
        assert_eq!(run(&sandbox(kind), &program).said, "True\n", "{kind}");
    }
}

#[test]
fn a_program_that_gives_way_is_nice() {
    let mut program = script("import os; print(os.nice(0))", &[]);
    for kind in kinds() {
        let mut niceness = |gives_way| {
            program.limits.gives_way = gives_way;
            let said = run(&sandbox(kind), &program).said;
            said.trim().parse::<i32>().unwrap()
        };
        // 19 is the most.
        assert_eq!(niceness(true), 19.min(niceness(false) + 10), "{kind}");
    }
}

#[test]
fn output_of_both_kinds_is_the_callers() {
    let code = "import sys; print('out'); print('err', file=sys.stderr); print(sys.stdin.read())";
    for kind in every_kind() {
        let ran = run(&sandbox(kind), &script(code, &[]));
        assert_eq!((&*ran.said, &*ran.errors), ("out\n\n", "err\n"), "{kind}");
    }
}

#[test]
fn a_sandbox_that_is_off_starts_the_program_alone() {
    let sandbox = no_sandbox();
    assert_eq!(sandbox.walls().to_string(), "off");
    assert!(!sandbox.walls().is_whole());
    let prepared = sandbox.prepare(&script("", &[])).unwrap();
    assert_eq!(prepared.command.get_program(), crate::common::python());
    let mut command = prepared.command;
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

#[test]
fn a_bot_keeps_the_core_that_it_has() {
    let text = "import os
mine = os.sched_getaffinity(0)
try: os.sched_setaffinity(0, mine)
except PermissionError: print('refused')
else: print('moved')";
    for kind in every_kind() {
        for (keeps_its_cores, said) in [(true, "refused\n"), (false, "moved\n")] {
            let program = Program {
                keeps_its_cores,
                ..script(text, &[])
            };
            assert_eq!(run(&sandbox(kind), &program).said, said, "{kind}");
        }
    }
}

#[test]
fn of_its_folder_it_sees_what_it_names_or_all_if_that_says_what_to_run() {
    let folder = crate::common::open_folder();
    for name in ["mine", "other"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("file"), "").unwrap();
    }
    let text = "import os; print(*sorted(os.listdir('.')), os.path.exists('other/file'))";
    for kind in every_kind() {
        let sees = |arguments: &[&str]| {
            let program = Program {
                directory: Some(folder.path().to_owned()),
                ..script(text, arguments)
            };
            run(&sandbox(kind), &program).said
        };
        std::fs::write(folder.path().join("package.json"), "").unwrap();
        assert_eq!(sees(&[]), "mine other package.json True\n", "{kind}");
        std::fs::remove_file(folder.path().join("package.json")).unwrap();
        if kind != Outer::None {
            assert_eq!(sees(&[]), "False\n", "{kind}");
        }
        let named = sees(&["mine/file"]);
        // Landlock alone can't make names vanish.
        if kind != Outer::None {
            assert_eq!(named, "mine False\n", "{kind}");
        }
    }
}
