//! Builds that attack: each is contained by a wall or a limit, and where it is cheap the same attack
//! is shown to work without.

use std::{
    fs,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use arena_build::{BuildError, BuildLimits, FaultKind, Sources, Toolchain, build};
use referee_sandbox::Sandbox;

use crate::common::{
    build_files, build_in, by_command, fault, no_sandbox, sandbox, system, tar_gz, tight,
};

/// A strategy that begins with these lines.
fn strategy(lines: &str) -> String {
    format!(
        "{lines}\nstruct Point {{ int x, y; }};\n\
         extern \"C\" Point *getPoint(int, int, const int *, const int *, int, int, int, int) {{ \
         return new Point{{0, 0}}; }}\n\
         extern \"C\" void clearPoint(Point *point) {{ delete point; }}\n"
    )
}

/// The fault of a strategy, in C++.
#[track_caller]
fn strategy_fault(lines: &str, kind: FaultKind, named: &str) {
    let built = build_files(&[("Strategy.cpp", &strategy(lines))], &system(), &tight());
    fault(built, kind, named);
}

/// What a command says, as a build.
fn said(sandbox: &Sandbox, command: &str, more: &[(&str, &str)]) -> String {
    let settings = by_command(&format!("set +e\n{command}\nexit 1"));
    let files = [&[("entry.toml", &*settings)], more].concat();
    let built = build_in(
        sandbox,
        &files,
        "othello",
        &Toolchain::of_system(),
        &tight(),
    );
    match built {
        Err(BuildError::Fault(fault)) => fault.log,
        other => panic!("it fails: {:?}", other.map(|built| built.spec)),
    }
}

/// The fault of a build by a command.
#[track_caller]
fn command_fault(command: &str, more: &[(&str, &str)], kind: FaultKind, named: &str) {
    let settings = by_command(command);
    let files = [&[("entry.toml", &*settings)], more].concat();
    fault(build_files(&files, &system(), &tight()), kind, named);
}

#[test]
fn a_secret_of_the_machine_is_not_included() {
    let include = "#include \"/etc/shadow\"";
    strategy_fault(include, FaultKind::CompileError, "Strategy.cpp");
    let files = [("Strategy.cpp", &*strategy(include))];
    let log = |sandbox: &Sandbox| {
        let built = build_in(sandbox, &files, "connect_four", &system(), &tight());
        match built {
            Err(BuildError::Fault(fault)) => fault.log,
            Err(other) => panic!("{other}"),
            Ok(built) => built.log,
        }
    };
    // Of what the compiler quotes of the file nothing is there behind the walls.
    let quotes = |log: &str| log.lines().any(|line| line.starts_with("/etc/shadow:"));
    if fs::metadata("/etc/shadow").is_ok_and(|data| data.len() > 0)
        && nix::unistd::geteuid().is_root()
    {
        assert!(quotes(&log(&no_sandbox())));
    }
    assert!(!quotes(&log(sandbox())));
}

#[test]
fn a_neighbours_file_is_not_read_by_the_assembler() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "another entry").unwrap();
    let secret = secret.display();
    let lines = format!("asm(\".incbin \\\"{secret}\\\"\");");
    let text = strategy(&lines);
    let files = [("Strategy.cpp", &*text)];
    let built = build_files(&files, &system(), &tight());
    fault(built, FaultKind::CompileError, "file not found");
    let open = build_in(&no_sandbox(), &files, "connect_four", &system(), &tight());
    open.unwrap();
}

#[test]
fn macros_that_never_end_are_cut_off() {
    // Each level doubles: 2 to the 40th tokens.
    let mut lines = "#define M0 1+1\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        lines.push_str(&format!("#define M{level} M{below} + M{below}\n"));
    }
    lines.push_str("int sum = M39;\n");
    let built = build_files(&[("Strategy.cpp", &strategy(&lines))], &system(), &tight());
    // Whichever limit is reached first.
    let limits = [FaultKind::MemoryLimit, FaultKind::TimeLimit];
    match built {
        Err(BuildError::Fault(fault)) => assert!(limits.contains(&fault.kind), "{fault}"),
        other => panic!("{:?}", other.map(|built| built.spec)),
    }
    let includes_itself = "#include \"Strategy.cpp\"";
    strategy_fault(includes_itself, FaultKind::CompileError, "nested");
}

#[test]
fn templates_that_eat_memory_are_cut_off() {
    let lines = "\
template <int A, int B> struct Tree { static constexpr long sum = Tree<A - 1, 2 * B>::sum + Tree<A - 1, 2 * B + 1>::sum; };
template <int B> struct Tree<0, B> { static constexpr long sum = B; };
long sum = Tree<28, 1>::sum;";
    strategy_fault(lines, FaultKind::MemoryLimit, "more than 256 MiB of memory");
}

#[test]
fn a_build_that_never_ends_is_cut_off() {
    let limits = BuildLimits {
        time: Duration::from_millis(500),
        ..tight()
    };
    let settings = by_command("while :; do :; done");
    let begun = Instant::now();
    let built = build_files(&[("entry.toml", &settings)], &system(), &limits);
    fault(built, FaultKind::TimeLimit, "takes longer than 500ms");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    // Also one that closes what it is heard by.
    let settings = by_command("exec > /dev/null 2>&1; sleep 100");
    let built = build_files(&[("entry.toml", &settings)], &system(), &limits);
    fault(built, FaultKind::TimeLimit, "takes longer than 500ms");
}

#[test]
fn a_build_that_is_cancelled_ends() {
    let cancel = Arc::new(AtomicBool::new(false));
    let settings = by_command("sleep 100");
    let sources = tar_gz(&[("entry.toml", &settings)]);
    let sources = Sources::read("entry", &sources, &tight()).unwrap();
    let builder = {
        let cancel = cancel.clone();
        thread::spawn(move || {
            let toolchain = Toolchain::of_system();
            build(
                &sources,
                "othello",
                &toolchain,
                sandbox(),
                &tight(),
                &cancel,
            )
        })
    };
    let begun = Instant::now();
    cancel.store(true, Ordering::Relaxed);
    let built = builder.join().unwrap();
    assert!(matches!(built, Err(BuildError::Cancelled)));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_compiler_plug_in_is_code_in_the_sandbox_and_no_more() {
    // A plug-in is what runs in the compiler when it is loaded.
    let plugin = "\
#include <cstdio>
#include <fstream>
#include <string>
int plugin_is_GPL_compatible;
struct Loaded { Loaded() {
std::string line; std::getline(std::ifstream(\"/etc/shadow\"), line);
std::fprintf(stderr, \"plug-in read %zu bytes\\n\", line.size());
} } loaded;
extern \"C\" int plugin_init(void *, void *) { return 1; }
";
    let files = [("plugin.cc", plugin), ("x.cc", "int x;")];
    let command = "g++ -shared -fPIC -o plugin.so plugin.cc\ng++ -fplugin=./plugin.so -c x.cc";
    let log = said(sandbox(), command, &files);
    assert!(log.contains("plug-in read 0 bytes"), "{log}");
    if fs::read("/etc/shadow").is_ok_and(|text| text.len() > 1) {
        let log = said(&no_sandbox(), command, &files);
        assert!(!log.contains("plug-in read 0 bytes"), "{log}");
    }
    // By itself no recipe loads one: flags are ours.
    let flags = "#pragma GCC plugin \"./plugin.so\"";
    build_files(&[("Strategy.cpp", &strategy(flags))], &system(), &tight()).unwrap();
}

#[test]
fn a_makefile_that_forks_is_stopped() {
    let makefile =
        "all: a b\na b:\n\t@$(MAKE) --no-print-directory & $(MAKE) --no-print-directory & wait\n";
    command_fault(
        "make",
        &[("Makefile", makefile)],
        FaultKind::ProcessLimit,
        "more than 64 processes",
    );
    // In silence too.
    let bomb =
        "bomb() { bomb 2> /dev/null & bomb 2> /dev/null; }; bomb > /dev/null 2>&1; wait; false";
    command_fault(bomb, &[], FaultKind::ProcessLimit, "more than 64 processes");
}

#[test]
fn what_a_build_leaves_running_ends_with_it() {
    let seconds = format!("1000.{}", std::process::id());
    // It is over when the other one runs, in a session of its own.
    let command = format!(
        "setsid sleep {seconds} > /dev/null 2>&1 &\n\
         until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done\n\
         echo it runs\n\
         printf '#!/bin/sh\\n' > bot"
    );
    let settings = by_command(&command);
    let built = build_files(&[("entry.toml", &settings)], &system(), &tight()).unwrap();
    assert_eq!(built.log, "it runs\n");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let is_it = |word: &[u8]| word == seconds.as_bytes();
    assert!(!lines.any(|line| line.split(|byte| *byte == 0).any(is_it)));
}

#[test]
fn a_build_that_fills_the_disk_is_stopped() {
    let fill = "head -c 100000000 /dev/zero > big; false";
    command_fault(fill, &[], FaultKind::OutputLimit, "writes more than 16 MiB");
    let silent =
        "for name in 1 2 3 4 5 6; do head -c 9000000 /dev/zero > $name; done 2> /dev/null; false";
    command_fault(
        silent,
        &[],
        FaultKind::OutputLimit,
        "writes more than 16 MiB",
    );
    // As the bot that was built, which is more than there is of it.
    let endless = "cat /dev/zero > /proc/$$/fd/3; false";
    let settings = by_command(endless);
    let built = build_files(&[("entry.toml", &settings)], &system(), &tight());
    fault(built, FaultKind::OutputLimit, "writes more than 16 MiB");
}

#[test]
fn a_build_that_makes_a_million_files_is_stopped() {
    let many = "python3 -c 'for n in range(10**6): open(str(n), \"w\")' 2> /dev/null";
    command_fault(many, &[], FaultKind::TooManyFiles, "more than 2000 files");
    let in_silence = format!("{many} || true; printf '#!/bin/sh\\n' > bot || true");
    command_fault(
        &in_silence,
        &[],
        FaultKind::TooManyFiles,
        "more than 2000 files",
    );
}

#[test]
fn a_build_that_hands_out_links_or_devices_is_refused() {
    let link = "ln -s /etc/shadow bot";
    command_fault(link, &[], FaultKind::NotAFile, "bot is a link");
    let pipe = "mkfifo bot";
    command_fault(pipe, &[], FaultKind::NotAFile, "bot is a pipe");
    let device = "mknod bot c 1 3";
    command_fault(device, &[], FaultKind::CompileError, "mknod");
    // It may write what it likes where its bot is expected: it is read as an upload is.
    let forged = "\
import io, os, tarfile
text = io.BytesIO()
with tarfile.open(fileobj=text, mode='w') as tar:
    tar.addfile(tarfile.TarInfo('../../evil'), io.BytesIO(b''))
fd = os.open(f'/proc/{os.getppid()}/fd/3', os.O_WRONLY)
os.write(fd, text.getvalue())
";
    let command = "exec python3 forge.py";
    command_fault(
        command,
        &[("forge.py", forged)],
        FaultKind::BadName,
        "found \"..\"",
    );
}

#[test]
fn a_setuid_bit_does_not_come_out() {
    let command = "printf '#!/bin/sh\\n' > bot; chmod 6755 bot";
    let settings = by_command(command);
    let built = build_files(&[("entry.toml", &settings)], &system(), &tight()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot");
    // It refuses an archive with such a bit.
    referee_bots::archive::unpack_archive(&built.packed.bytes, &built.packed.hash, &bot).unwrap();
}

#[test]
fn a_postinstall_script_is_not_run() {
    let package = r#"{"name":"bot","type":"module","scripts":{"preinstall":"touch ran","postinstall":"touch ran"},"dependencies":{"left-pad":"1.3.0"}}"#;
    let files = [("package.json", package), ("bot.js", "console.log(1);")];
    let built = build_files(&files, &system(), &tight()).unwrap();
    // Both files and nothing else.
    assert_eq!(built.packed.entries, 2);
    // One who says so runs it, behind the walls.
    let log = said(
        sandbox(),
        "npm install --offline 2>&1 | head; touch /usr/ran",
        &files,
    );
    assert!(log.contains("touch: cannot touch '/usr/ran'"), "{log}");
}

#[test]
fn other_processes_and_the_arenas_variables_are_not_seen() {
    // This process, by its number and its name.
    let id = std::process::id();
    let command = format!("cat /proc/{id}/cmdline; cat /proc/1/environ; env; ls -A $HOME/..");
    let log = said(sandbox(), &command, &[]);
    assert!(!log.contains("hostile") && !log.contains("CARGO"), "{log}");
    assert!(
        log.contains("HOME=/tmp") && log.contains("LC_ALL=C.UTF-8"),
        "{log}"
    );
    let log = said(&no_sandbox(), &format!("cat /proc/{id}/cmdline"), &[]);
    assert!(log.contains("hostile"), "{log}");
}

#[test]
fn the_network_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(\"reached\")'"
    );
    assert!(!said(sandbox(), &command, &[]).contains("reached"));
    assert!(said(&no_sandbox(), &command, &[]).contains("reached"));
    let log = said(
        sandbox(),
        "python3 -c 'import urllib.request; urllib.request.urlopen(\"http://198.51.100.1\", timeout=5)'",
        &[],
    );
    assert!(log.contains("Network is unreachable"), "{log}");
}

#[test]
fn the_machine_is_not_written_and_one_build_leaves_nothing_to_the_next() {
    let log = said(
        sandbox(),
        "touch /usr/x; touch /etc/x; touch $HOME/x /var/tmp/x /dev/shm/x && echo written",
        &[],
    );
    for refused in ["/usr/x", "/etc/x"] {
        assert!(log.contains(&format!("cannot touch '{refused}'")), "{log}");
    }
    assert!(log.contains("written"), "{log}");
    let log = said(sandbox(), "ls $HOME/x /var/tmp/x /dev/shm/x", &[]);
    assert_eq!(log.matches("No such file").count(), 3, "{log}");
}

#[test]
fn the_log_is_printable_and_bounded() {
    let noisy = "yes \"$(printf 'a\\033[2Jb')\" | head -c 10000000";
    let limits = BuildLimits {
        log: 4096,
        ..tight()
    };
    let settings = by_command(&format!("{noisy}; false"));
    let built = build_files(&[("entry.toml", &settings)], &system(), &limits);
    let fault = fault(built, FaultKind::CompileError, "are left out here");
    assert!(fault.log.len() < 16_000, "{}", fault.log.len());
    assert!(!fault.log.contains('\u{1b}') && fault.log.contains("\\u{1b}"));
}

#[test]
fn names_of_files_are_no_commands() {
    let evil = "$(touch ran) '; touch ran; '.cpp";
    let files = [(evil, &*strategy("")), ("-o.cpp", "int x;")];
    let built = build_files(&files, &system(), &tight()).unwrap();
    // Both files and what was built.
    assert_eq!(built.packed.entries, 3, "{}", built.log);
}

#[test]
fn a_build_that_removes_everything_has_made_nothing() {
    let settings = "language = \"python\"\nbuild = \"rm -rf *\"\nrun = \"python3 bot.py\"\n";
    let files = [("entry.toml", settings), ("bot.py", "")];
    fault(
        build_files(&files, &system(), &tight()),
        FaultKind::NoProgram,
        "has made no file",
    );
}

#[test]
fn settings_start_no_image_no_address_and_nothing_of_the_machine() {
    for (run, named) in [
        ("/usr/bin/python3 bot.py", "found an absolute one"),
        ("../bot", "found \\\"..\\\""),
        ("./other", "has made no other"),
        ("'", "a quotation mark is not closed"),
    ] {
        let settings = format!("language = \"stdio\"\nrun = \"{run}\"\n");
        let built = build_files(
            &[("entry.toml", &settings), ("bot.py", "")],
            &system(),
            &tight(),
        );
        match built {
            Err(BuildError::Fault(fault)) => {
                assert!(
                    fault.to_string().contains(&named.replace("\\\"", "\"")),
                    "{run}: {fault}"
                );
            }
            other => panic!("{run}: {:?}", other.map(|built| built.spec)),
        }
    }
    // It is a command whatever it looks like.
    let settings = "language = \"stdio\"\nrun = \"image:evil\"\n";
    let built = build_files(
        &[("entry.toml", settings), ("bot.py", "")],
        &system(),
        &tight(),
    );
    assert_eq!(built.unwrap().spec.inner, "stdio:image:evil");
    for (settings, named) in [
        ("language = \"cobol\"", "strategy, brain, rust"),
        ("image = \"evil\"", "unknown field"),
        ("build = \"make\"", "build needs run"),
        ("language", "expected language"),
    ] {
        let built = build_files(&[("entry.toml", settings)], &system(), &tight());
        fault(built, FaultKind::BadSettings, named);
    }
}
