//! The program, with shells as bots.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::net::UnixListener,
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// Longest wait until something is so. Nothing here takes a second.
const LONG: Duration = Duration::from_secs(60);

fn init(script: &str) -> Command {
    let mut init = Command::new(env!("CARGO_BIN_EXE_bot-init"));
    init.args(["sh", "-c", script]).env_remove("BOT_RESTART");
    init.stdin(Stdio::null());
    init
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    (status.code(), text(&stdout), text(&stderr))
}

/// Starts it, and waits until the bot has said its first byte.
fn begun(command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut byte = [0];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut byte)
        .unwrap();
    child
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn it_ends_as_its_bot_does() {
    let ended = run(&mut init("echo out; echo err >&2; exit 0"));
    assert_eq!(ended, (Some(0), "out\n".into(), "err\n".into()));
    for (script, code) in [
        ("exit 7", 7),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
    ] {
        let (ended, ..) = run(init(script).env("BOT_RESTART", "never"));
        assert_eq!(ended, Some(code), "{script}");
    }
}

#[test]
fn a_bot_that_crashes_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    // It is there after the first start, and the second one is well.
    let mark = folder.path().join("mark");
    let script = "if [ -e $MARK ]; then echo well; else echo no; : >$MARK; kill -ABRT $$; fi";
    let (code, out, err) = run(init(script).env("MARK", &mark));
    assert_eq!((code, &*out), (Some(0), "no\nwell\n"), "{err}");
    assert!(err.contains("starting it again"), "{err}");
}

#[test]
fn processes_that_lost_their_parent_are_reaped() {
    let script = "for i in 1 2 3; do (sleep 0.01 &); done; i=0; \
        while [ $i -lt 3000 ]; do i=$((i+1)); \
        [ \"$(cat /proc/$PPID/task/$PPID/children)\" = \"$$ \" ] && echo alone && exit 0; \
        sleep 0.01; done";
    let (code, out, err) = run(&mut init(script));
    assert_eq!((code, &*out), (Some(0), "alone\n"), "{err}");
}

#[test]
fn what_a_crash_has_left_does_not_stop_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bot.sock");
    // As if it were the crashed bot's.
    drop(UnixListener::bind(&path).unwrap());
    let script = "if [ -e $SOCKET ]; then sleep 600 & exit 1; else echo gone; fi";
    let mut command = init(script);
    command
        .env("SOCKET", &path)
        .env("BOT_LISTEN", format!("unix:{}", path.display()));
    // Were the first one's child not ended, its output would stay open.
    let (code, out, err) = run(&mut command);
    assert_eq!((code, &*out), (Some(0), "gone\n"), "{err}");
    // What is no socket is not ours.
    fs::write(&path, "").unwrap();
    run(command.env("BOT_RESTART", "never"));
    assert!(path.exists());
}

#[test]
fn signals_reach_the_bot_and_end_both() {
    let script = "trap 'echo asked; exit 3' TERM; echo; while :; do sleep 0.01; done";
    let mut child = begun(&mut init(script));
    signal(&child, Signal::SIGTERM);
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(said, "asked\n");
    // No mask of ours is in the way of one that has no shell around it.
    let mut child = begun(&mut init("echo; exec sleep 600"));
    signal(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    // It does not listen; whoever wants it gone kills it.
    let mut child = begun(&mut init("trap '' TERM; echo; echo $$; kill -STOP $$"));
    let mut bot = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut bot).unwrap();
    signal(&child, Signal::SIGTERM);
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    // In a container the kernel does it.
    kill(Pid::from_raw(bot.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
}

#[test]
fn a_signal_between_two_starts_ends_it() {
    let mut command = init("exit 1");
    command.stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    // With the fifth start the pauses are longer than what follows takes.
    let (mut said, mut part) = (String::new(), [0; 4096]);
    while said.matches("starting it again").count() < 5 {
        let read = err.read(&mut part).unwrap();
        assert!(read > 0, "{said}");
        said += &text(&part[..read]);
    }
    signal(&child, Signal::SIGTERM);
    let status = child.wait().unwrap();
    assert!([Some(0), Some(1)].contains(&status.code()), "{status}");
}

#[test]
fn only_so_much_output_goes_through() {
    // 200 KB in lines, and one line without an end.
    let script = "i=0; while [ $i -lt 2000 ]; do echo \"$i $(printf %090d 0)\"; i=$((i+1)); done; \
        head -c 20000 /dev/zero | tr '\\0' x";
    let (code, out, _) = run(&mut init(script));
    assert_eq!(
        (code, out.len() > 200_000),
        (Some(0), true),
        "{}",
        out.len()
    );
    assert!(out.ends_with(&"x".repeat(20_000)));
    let (code, out, err) = run(init(script).env("BOT_LOG_MIB", "0"));
    assert_eq!((code, &*out, &*err), (Some(0), "", ""));
    let more = "head -c 3000000 /dev/zero | tr '\\0' '\\n'; exit 5";
    let mut command = init(more);
    command.env("BOT_LOG_MIB", "1").env("BOT_RESTART", "never");
    let (code, out, _) = run(&mut command);
    assert_eq!(code, Some(5));
    // The budget grows while this runs, by 17 KiB a minute; what was left out is said, too.
    assert!(
        (1 << 19..=(1 << 20) + (1 << 18)).contains(&out.len()),
        "{}",
        out.len()
    );
}

#[test]
fn nobody_who_reads_holds_up_no_bot() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = "head -c 1000000 /dev/zero | tr '\\0' '\\n'; : >$MARK; kill -STOP $$";
    // Its output is a pipe that nobody reads.
    let mut child = init(script)
        .env("MARK", &mark)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !mark.exists() {
        assert!(begun.elapsed() < LONG, "it waits for a reader");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_is_wrong_is_said() {
    let bare = Command::new(env!("CARGO_BIN_EXE_bot-init"))
        .output()
        .unwrap();
    assert_eq!(bare.status.code(), Some(2));
    assert!(text(&bare.stderr).contains("expected the command of a bot"));
    for (name, value) in [("BOT_RESTART", "yes"), ("BOT_LOG_MIB", "4M")] {
        let (code, _, err) = run(init("exit 0").env(name, value));
        assert_eq!(code, Some(2));
        assert!(
            err.contains(&format!("{name}={value:?}: expected")),
            "{err}"
        );
    }
    for (program, expected) in [("/there/is/none", 127), ("/etc/passwd", 126)] {
        let mut init = Command::new(env!("CARGO_BIN_EXE_bot-init"));
        let (code, _, err) = run(init.arg(program));
        assert_eq!(code, Some(expected), "{err}");
        assert!(err.contains("could not run"), "{err}");
    }
}
