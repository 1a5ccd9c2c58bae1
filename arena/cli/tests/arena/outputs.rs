//! Files that a person has written: they mean what they mean behind `>` in a shell, and are whole or
//! not there. And what can't be written is said, on standard output too.

use std::{
    fs::{self, File},
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink},
    process::{Command, Stdio},
    thread,
};

use crate::vocabulary::*;

/// Verbs that write a file.
struct Written {
    arena: Arena,
    /// Each without the name of the file.
    lines: Vec<String>,
}

impl Written {
    /// A tournament that is over, a record, and all that is written of them.
    fn new() -> Self {
        let arena = Arena::new();
        let cup = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n\
                   [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
                   [[bots]]\nname = \"b\"\nbot = \"house:random\"\n";
        fs::write(arena.path("cup.toml"), cup).unwrap();
        done(&arena.run("tournament run cup.toml"));
        let lines = [
            "tournament export cup --output",
            "tournament export cup --as csv --out",
            "tournament export cup --as moves -o",
            "tournament export cup --as pgn -o",
            "replay export cup 0.0 --as pgn --out",
            "tournament report cup --html",
            "tournament plot cup --out",
            "replay export cup 0.0 --as svg --output",
        ];
        let lines = lines.map(str::to_owned).to_vec();
        Self { arena, lines }
    }

    /// Each verb in a folder of its own.
    fn each(&self, check: impl Fn(&Arena, &str, &str)) {
        for (number, line) in self.lines.iter().enumerate() {
            let folder = format!("folder-{number}");
            fs::create_dir_all(self.arena.path(&folder)).unwrap();
            check(&self.arena, line, &folder);
        }
    }
}

fn mode(arena: &Arena, name: &str) -> u32 {
    let found = fs::metadata(arena.path(name)).unwrap();
    found.permissions().mode() & 0o7777
}

fn names(arena: &Arena, folder: &str) -> Vec<String> {
    let files = fs::read_dir(arena.path(folder)).unwrap();
    let mut names: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_that_is_there_is_written_over_with_force_and_keeps_its_mode() {
    Written::new().each(|arena, line, folder| {
        let file = format!("{folder}/file");
        done(&arena.run(&format!("{line} {file}")));
        fs::write(arena.path("usual"), "").unwrap();
        assert_eq!(mode(arena, &file), mode(arena, "usual"), "{line}");
        let content = fs::read(arena.path(&file)).unwrap();
        assert!(!content.is_empty(), "{line}");

        fs::write(arena.path(&file), "mine").unwrap();
        fs::set_permissions(arena.path(&file), fs::Permissions::from_mode(0o640)).unwrap();
        refused(
            &arena.run(&format!("{line} {file}")),
            "is there already; --force writes over it",
        );
        assert_eq!(fs::read(arena.path(&file)).unwrap(), b"mine", "{line}");
        done(&arena.run(&format!("{line} {file} --force")));
        assert_eq!(fs::read(arena.path(&file)).unwrap().len(), content.len());
        assert_eq!(mode(arena, &file), 0o640, "{line}");
        assert_eq!(names(arena, folder), ["file"], "{line}");

        refused(
            &arena.run(&format!("{line} {folder} --force")),
            "found a folder",
        );
        refused(
            &arena.run(&format!("{line} none/file")),
            "there is no folder",
        );
    });
}

#[test]
fn devices_pipes_and_targets_of_links_are_written_to() {
    Written::new().each(|arena, line, folder| {
        let at = |name: &str| arena.path(&format!("{folder}/{name}"));
        symlink("file", at("link")).unwrap();
        done(&arena.run(&format!("{line} {folder}/link")));
        assert!(at("link").is_symlink() && at("file").is_file(), "{line}");
        let content = fs::read(at("file")).unwrap();
        assert!(!content.is_empty(), "{line}");
        refused(
            &arena.run(&format!("{line} {folder}/link")),
            "is there already",
        );
        done(&arena.run(&format!("{line} {folder}/link --force")));
        assert!(at("link").is_symlink() && at("file").is_file(), "{line}");

        // By links: a test that fails must not cost this machine its devices.
        symlink("/dev/null", at("null")).unwrap();
        symlink("/dev/full", at("full")).unwrap();
        done(&arena.run(&format!("{line} {folder}/null --force")));
        let output = arena.run(&format!("{line} {folder}/full --force"));
        assert_eq!(output.status.code(), Some(3), "{line}: {}", err(&output));
        let expected = format!("could not write {folder}/full: No space left on device");
        assert!(err(&output).contains(&expected), "{line}: {}", err(&output));
        for name in ["null", "full"] {
            let device = fs::metadata(at(name)).unwrap();
            assert!(device.file_type().is_char_device(), "{line}");
        }

        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let pipe = at("pipe");
        let reader = thread::spawn(move || fs::read(pipe).unwrap());
        done(&arena.run(&format!("{line} {folder}/pipe")));
        assert_eq!(reader.join().unwrap().len(), content.len(), "{line}");
        let pipe = fs::metadata(at("pipe")).unwrap();
        assert!(pipe.file_type().is_fifo(), "{line}");
        assert_eq!(
            names(arena, folder),
            ["file", "full", "link", "null", "pipe"]
        );

        // To a pipe, and behind what is in a file.
        let said = done(&arena.run(&format!("{line} /dev/stdout")));
        assert_eq!(said.len(), content.len(), "{line}");
        fs::write(at("log"), "before\n").unwrap();
        let log = File::options().append(true).open(at("log")).unwrap();
        let mut command = arena.command(&format!("{line} /dev/stdout"));
        assert!(command.stdout(log).status().unwrap().success(), "{line}");
        let log = fs::read(at("log")).unwrap();
        assert!(log.starts_with(b"before\n"), "{line}");
        assert_eq!(log.len(), "before\n".len() + content.len(), "{line}");
    });
}

/// A key stays secret, whatever there was under its name; a certificate goes where a link leads.
#[test]
fn certificates_are_renewed_where_they_are() {
    let arena = Arena::new();
    done(&arena.run("certs init tls"));
    done(&arena.run("certs client tls worker"));
    fs::rename(
        arena.path("tls/worker.pem"),
        arena.path("tls/elsewhere.pem"),
    )
    .unwrap();
    symlink("elsewhere.pem", arena.path("tls/worker.pem")).unwrap();
    let key = arena.path("tls/worker.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::read(arena.path("tls/elsewhere.pem")).unwrap();
    done(&arena.run("certs client tls worker --force"));
    assert!(arena.path("tls/worker.pem").is_symlink());
    assert_ne!(fs::read(arena.path("tls/elsewhere.pem")).unwrap(), before);
    assert_eq!(mode(&arena, "tls/worker.key"), 0o600);
    assert_eq!(
        names(&arena, "tls"),
        [
            "ca.key",
            "ca.pem",
            "elsewhere.pem",
            "worker.key",
            "worker.pem"
        ]
    );
    // Where one of the two is there, neither is written.
    fs::remove_file(arena.path("tls/worker.key")).unwrap();
    refused(&arena.run("certs client tls worker"), "is there already");
    assert!(!key.exists());
}

#[test]
fn a_dockerfile_goes_where_a_link_leads() {
    let arena = Arena::new();
    fs::create_dir(arena.path("mine")).unwrap();
    fs::write(arena.path("mine/bot.py"), "").unwrap();
    symlink("../theirs", arena.path("mine/.dockerignore")).unwrap();
    done(&arena.run("bots dockerfile mine --lang python"));
    assert!(arena.path("mine/.dockerignore").is_symlink());
    let ignored = fs::read_to_string(arena.path("theirs")).unwrap();
    assert!(ignored.contains("__pycache__"), "{ignored}");
}

/// Programs with what they print and do no more.
fn printed() -> Vec<(Command, String)> {
    let arena = Arena::new();
    let programs = [
        (
            env!("CARGO_BIN_EXE_arena").into(),
            &[
                "--help",
                "--version",
                "match --help",
                "completions bash",
                "man",
                "bots dockerfile --help",
            ][..],
        ),
        (serve_program(), &["--version", "replay export --help"][..]),
        (
            referee_program(),
            &["--help", "--version", "serve --help"][..],
        ),
    ];
    let commands = programs.iter().flat_map(|(program, lines)| {
        let command = |line: &&str| {
            (
                arena.command_of(program, line),
                format!("{program:?} {line}"),
            )
        };
        lines.iter().map(command).collect::<Vec<_>>()
    });
    commands
        .map(|(mut command, line)| {
            command.current_dir("/");
            (command, line)
        })
        .collect()
}

#[test]
fn help_that_can_not_be_written_is_a_failure() {
    for (mut command, line) in printed() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        let said = err(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
        assert!(
            said.contains("could not write to standard output: No space"),
            "{line}: {said}"
        );
    }
    let arena = Arena::new();
    for line in ["certs init tls", "check --list"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = arena.command(line).stdout(full).output().unwrap();
        let said = err(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
        assert!(
            said.contains("could not write to standard output"),
            "{line}: {said}"
        );
    }
}

#[test]
fn who_reads_help_no_further_is_told_nothing() {
    for (mut command, line) in printed() {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(err(&output), "", "{line}");
        assert!(matches!(output.status.code(), Some(0 | 130)), "{line}");
    }
}

/// A match is worth more than the notes about it.
#[test]
fn a_match_goes_on_where_nobody_can_be_told() {
    let arena = Arena::new();
    for more in ["", "--bot-that-is-not"] {
        let mut command = arena.command(&format!("match connect-four {RANDOMS} --deals 1 {more}"));
        command.env("RUST_LOG", "debug");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stderr(full).output().unwrap();
        let expected = if more.is_empty() { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{}", out(&output));
    }
}
