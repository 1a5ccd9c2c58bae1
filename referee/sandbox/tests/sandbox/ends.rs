//! Tests of the end of a sandboxed program, and that everything ends with it.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::process::ExitStatusExt as _,
};

use crate::common::{every_kind, run, sandbox, script, start};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee_sandbox::{Cgroup, Outer, Program, ProgramEnd};

#[test]
fn an_exit_code_is_told_from_a_signal() {
    for kind in every_kind() {
        let sandbox = sandbox(kind);
        let end = |code: &str| run(&sandbox, &script(code, &[])).end;
        assert_eq!(
            end("import os; os._exit(0)"),
            ProgramEnd::Exited(0),
            "{kind}"
        );
        assert_eq!(
            end("import os; os._exit(139)"),
            ProgramEnd::Exited(139),
            "{kind}"
        );
        let fault = end("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)");
        assert_eq!(
            fault,
            ProgramEnd::Signaled(Signal::SIGSEGV as i32),
            "{kind}"
        );
        assert_eq!(fault.to_string(), "was killed by SIGSEGV");
    }
}

#[test]
fn the_process_that_stands_for_it_exits_as_shells_do() {
    for kind in every_kind() {
        let sandbox = sandbox(kind);
        for (code, expected) in [("exit(7)", 7), ("import os; os.abort()", 134)] {
            let mut running = start(&sandbox, &script(code, &[]));
            assert_eq!(
                running.child.wait().unwrap().code(),
                Some(expected),
                "{kind}"
            );
        }
    }
}

#[test]
fn signals_to_stop_are_passed_on() {
    let code = "\
import os, signal, time
def stop(number, frame):
    os.write(1, signal.Signals(number).name.encode() + b'\\n')
    os._exit(3)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
os.write(1, b'ready\\n')
while True: time.sleep(0.05)";
    for kind in every_kind() {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let mut running = start(&sandbox(kind), &script(code, &[]));
            let mut output = BufReader::new(running.child.stdout.take().unwrap());
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n", "{kind}");
            let pid = Pid::from_raw(running.child.id().try_into().unwrap());
            kill(pid, signal).unwrap();
            let status = running.child.wait().unwrap();
            assert_eq!(running.session.end(status), ProgramEnd::Exited(3), "{kind}");
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, format!("{}\n", signal.as_str()), "{kind}");
        }
    }
}

/// A program that starts others, which hold its output open, and waits.
const FAMILY: &str = "\
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print('ready', flush=True)
        while True: signal.pause()
    os._exit(0)
while True: signal.pause()";

/// Reads until nobody has the other end of the output any more.
fn all_are_gone(sandbox: &referee_sandbox::Sandbox, end: impl FnOnce(&mut crate::common::Running)) {
    let mut running = start(sandbox, &script(FAMILY, &[]));
    let mut output = BufReader::new(running.child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    end(&mut running);
    output.read_to_string(&mut line).unwrap();
    running.child.wait().unwrap();
}

#[test]
fn all_that_it_has_started_ends_when_its_process_is_killed() {
    for kind in every_kind() {
        let sandbox = sandbox(kind);
        if kind == Outer::None {
            // There the init has to be told; the cgroup is killed with the session.
            all_are_gone(&sandbox, |running| {
                let pid = Pid::from_raw(running.child.id().try_into().unwrap());
                kill(pid, Signal::SIGTERM).unwrap();
            });
        } else {
            all_are_gone(&sandbox, |running| running.child.kill().unwrap());
        }
    }
}

#[test]
fn all_that_it_has_started_ends_when_nobody_holds_its_session() {
    for kind in every_kind() {
        let sandbox = sandbox(kind);
        let mut running = start(&sandbox, &script(FAMILY, &[]));
        let mut output = BufReader::new(running.child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // This is what happens too when the process that has it dies.
        drop(running.session);
        output.read_to_string(&mut line).unwrap();
        let status = running.child.wait().unwrap();
        assert!(
            !status.success() && status.signal().is_none(),
            "{kind}: {status}"
        );
    }
}

#[test]
fn a_program_that_cannot_be_started_is_told_with_the_reason() {
    let folder = crate::common::open_folder();
    let file = folder.path().join("bot");
    std::fs::write(&file, "not a program").unwrap();
    for kind in every_kind() {
        let program = Program {
            path: file.clone(),
            ..Program::default()
        };
        let ran = run(&sandbox(kind), &program);
        let ProgramEnd::NoProgram(why) = ran.end else {
            panic!("{kind}: {ran:?}");
        };
        let file = file.display();
        assert!(
            why.starts_with(&format!("could not start {file}: Permission")),
            "{why}"
        );

        let program = Program {
            path: "no-such-program".into(),
            ..Program::default()
        };
        let error = sandbox(kind).prepare(&program).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("there is no program no-such-program in PATH")
        );
    }
}

#[test]
fn its_private_folder_and_its_cgroup_are_gone_after_it() {
    for kind in every_kind() {
        let code = "\
import os
home = os.environ['HOME']
assert home == os.environ['TMPDIR']
open(home + '/x', 'w')
print(home, open('/proc/self/cgroup').read().count('arena-'))";
        let running = start(&sandbox(kind), &script(code, &[]));
        let peak = running.session.cgroup().and_then(Cgroup::memory_peak);
        assert!(peak.is_some(), "{kind}: it is counted here");
        let ran = running.finish();
        assert_eq!(ran.end, ProgramEnd::Exited(0), "{kind}: {}", ran.errors);
        let (home, cgroups) = ran.said.trim().split_once(' ').unwrap();
        assert_ne!(cgroups, "0", "{kind}");
        if kind == Outer::None {
            let home = std::path::Path::new(home);
            // It is removed by a thread.
            let gone = (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                !home.exists()
            });
            assert!(gone, "{}", home.display());
        } else {
            assert_eq!(home, "/tmp", "{kind}");
        }
    }
}

#[test]
fn what_a_program_leaves_running_is_told() {
    let text = "import os, subprocess
subprocess.Popen(['sleep', '1000'])
subprocess.Popen(['sleep', '2000'], start_new_session=True)
subprocess.Popen(['sleep', '0.1'])
os._exit(0)";
    for kind in every_kind() {
        let mut running = start(&sandbox(kind), &script(text, &[]));
        let status = running.child.wait().unwrap();
        assert_eq!(running.session.end(status), ProgramEnd::Exited(0), "{kind}");
        let left = running.session.left_behind().iter();
        let mut left: Vec<_> = left
            .map(|left| (left.command.as_str(), left.outside_group))
            .collect();
        left.sort_unstable();
        let wanted = [("sleep 1000", false), ("sleep 2000", true)];
        assert_eq!(left, wanted, "{kind}");
    }
}
