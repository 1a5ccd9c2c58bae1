//! Starts attacks, which are short Python programs, in sandboxes of every kind.

use std::{
    ffi::OsString,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use referee_sandbox::{
    Outer, PreparedSandbox, Program, ProgramEnd, Reexec, ResourceLimits, Sandbox, SandboxMode,
    SandboxSession, Wall,
};
use tempfile::TempDir;

/// The program that enters sandboxes. The one that runs tests has threads and other verbs.
pub(crate) fn reexec() -> Reexec {
    Reexec {
        program: env!("CARGO_BIN_EXE_referee-sandbox").into(),
        verb: vec!["enter".into()],
    }
}

/// The kinds of namespaces that this machine has. Our own must work; bubblewrap is tested
/// where it is installed, which `cargo xtask test` sees to.
pub(crate) fn kinds() -> Vec<Outer> {
    let bubblewrap = Command::new("bwrap").arg("--version").output().is_ok();
    if !bubblewrap {
        eprintln!("bubblewrap is not installed: not tested");
    }
    [Outer::Own, Outer::Bubblewrap]
        .into_iter()
        .filter(|kind| bubblewrap || *kind != Outer::Bubblewrap)
        .collect()
}

pub(crate) fn every_kind() -> Vec<Outer> {
    [kinds(), vec![Outer::None]].concat()
}

pub(crate) fn sandbox(kind: Outer) -> Sandbox {
    Sandbox::probe_kind(kind, reexec()).unwrap()
}

pub(crate) fn no_sandbox() -> Sandbox {
    Sandbox::probe(SandboxMode::Off, reexec()).unwrap()
}

/// Asserts that an attack fails in every kind of sandbox, and succeeds without these walls.
pub(crate) fn held_by(walls: &[Wall], kinds: &[Outer], attack: impl Fn(&Sandbox) -> bool) {
    for kind in kinds {
        let whole = sandbox(*kind);
        for wall in walls {
            assert!(whole.walls().hold(*wall), "{kind}: {}", whole.walls());
        }
        assert!(!attack(&whole), "{kind}: the walls do not hold");
        let open = whole.without(walls);
        assert!(
            attack(&open),
            "{kind}: it does not attack without {walls:?}"
        );
    }
}

/// The same where each of these walls is enough alone.
pub(crate) fn held_by_each_of(walls: &[Wall], kinds: &[Outer], attack: impl Fn(&Sandbox) -> bool) {
    held_by(walls, kinds, &attack);
    for kind in kinds {
        for left in walls {
            let others: Vec<Wall> = walls.iter().copied().filter(|wall| wall != left).collect();
            let sandbox = sandbox(*kind).without(&others);
            assert!(!attack(&sandbox), "{kind}: {left} alone does not hold");
        }
    }
}

/// The interpreter itself, not a script that looks for it.
pub(crate) fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let output = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// A program in Python.
pub(crate) fn script(text: &str, arguments: &[&str]) -> Program {
    let arguments = ["-c", text].into_iter().chain(arguments.iter().copied());
    Program {
        path: python().to_owned(),
        arguments: arguments.map(OsString::from).collect(),
        directory: Some("/".into()),
        limits: ResourceLimits {
            memory: Some(512 << 20),
            processes: Some(100),
            ..ResourceLimits::default()
        },
        ..Program::default()
    }
}

/// A program that runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) session: SandboxSession,
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: ProgramEnd,
    pub(crate) said: String,
    pub(crate) errors: String,
    pub(crate) out_of_memory: bool,
}

impl Ran {
    /// Attacks say so when they have succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        self.said.lines().any(|line| line == "SUCCEEDED")
    }
}

pub(crate) fn start(sandbox: &Sandbox, program: &Program) -> Running {
    let PreparedSandbox {
        mut command,
        session,
    } = sandbox.prepare(program).unwrap();
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Running { child, session }
}

impl Running {
    pub(crate) fn finish(mut self) -> Ran {
        let mut output = self.child.stdout.take().unwrap();
        let mut said = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        output.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        let cgroup = self.session.cgroup();
        let out_of_memory =
            cgroup.is_some_and(|cgroup| cgroup.memory_kills().unwrap().count().unwrap() > 0);
        Ran {
            end: self.session.end(status),
            said,
            errors: reader.join().unwrap(),
            out_of_memory,
        }
    }
}

pub(crate) fn run(sandbox: &Sandbox, program: &Program) -> Ran {
    let ran = start(sandbox, program).finish();
    eprintln!("{}: {ran:?}", sandbox.walls());
    ran
}

/// True if an attack succeeds.
pub(crate) fn attack(sandbox: &Sandbox, text: &str, arguments: &[&str]) -> bool {
    run(sandbox, &script(text, arguments)).succeeded()
}

/// A folder of somebody else, which everybody may read and write.
pub(crate) fn open_folder() -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    // Not below one of the private folders, which landlock lets a program write.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The processes of this machine whose command line has these words as an argument.
pub(crate) fn processes_with(argument: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
    };
    numbers.filter(has).collect()
}
