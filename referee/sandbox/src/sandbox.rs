//! The walls that this machine allows, and the start of programs within them.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{fs::symlink, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use nix::{
    sys::socket::{setsockopt, sockopt},
    unistd::geteuid,
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{
    bubblewrap,
    cgroup::{Cgroup, CgroupBase},
    channel::Channel,
    limits::ResourceLimits,
    own::TooLarge,
    plan::{EndReport, ProgramEnd, SandboxOrder, SandboxReport, StartPlan},
    program::Program,
    session::{PreparedSandbox, SandboxSession},
    view::{Grant, Homes, PRIVATE, PathAccess, SOCKETS, SandboxView},
    walls::{Missing, Outer, Wall, Walls},
};

/// Longest time of a probe.
const PROBE: Duration = Duration::from_secs(20);

/// The walls that a sandbox must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// All walls, or an error.
    Require,
    /// As many walls as the machine allows.
    #[default]
    Best,
    /// None.
    Off,
}

/// The walls could not be built.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Walls that are required are not there.
    #[error("have the whole sandbox, which is required: {}", told(.0))]
    Missing(Vec<Missing>),
    /// Something went wrong.
    #[error("{what}: {source}")]
    System {
        /// The attempt.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

/// A program could not be made ready to start.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The program or a path that it was given is not there.
    #[error(transparent)]
    Program(io::Error),
    /// The system lacks what its walls need.
    #[error(transparent)]
    System(#[from] io::Error),
}

fn told(missing: &[Missing]) -> String {
    let one = |missing: &Missing| {
        let Missing { wall, remedy, .. } = missing;
        match &missing.reason {
            Some(reason) => format!("no isolation \"{wall}\" ({reason}). {remedy}"),
            None => format!("no isolation \"{wall}\". {remedy}"),
        }
    };
    missing.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The way to start the calling program again so that it calls [`crate::enter`].
#[derive(Clone, Debug)]
pub struct Reexec {
    /// The program.
    pub program: PathBuf,
    /// Its arguments: the hidden verb.
    pub verb: Vec<OsString>,
}

impl Reexec {
    /// The running program itself, also if its file was replaced meanwhile.
    #[must_use]
    pub fn this_program(verb: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            program: "/proc/self/exe".into(),
            verb: verb.into_iter().map(Into::into).collect(),
        }
    }
}

/// The strongest sandbox that this machine allows.
#[derive(Debug)]
pub struct Sandbox {
    reexec: Reexec,
    walls: Walls,
    bubblewrap: Option<PathBuf>,
    cgroups: Option<CgroupBase>,
    homes: Homes,
    too_large: TooLarge,
}

impl Sandbox {
    /// Finds out what this machine allows, by starting a program with each kind of
    /// namespaces until one works. Cgroups that an arena that is gone has left are removed.
    /// With cgroups of version 2 that were delegated this process may be moved into one
    /// below its own.
    ///
    /// Takes some tens of milliseconds, and blocks.
    ///
    /// # Errors
    /// In the mode [`SandboxMode::Require`] a wall that can't be built; the message says
    /// what to install or to delegate. In every mode a program that can't be started again.
    pub fn probe(mode: SandboxMode, reexec: Reexec) -> Result<Self, SandboxError> {
        let kinds = match mode {
            SandboxMode::Off => return Ok(Self::off(reexec)),
            SandboxMode::Require | SandboxMode::Best => {
                [Outer::Bubblewrap, Outer::Own, Outer::None]
            }
        };
        let sandbox = Self::probe_kinds(&kinds, reexec)?;
        let missing = sandbox.walls.missing();
        if mode == SandboxMode::Require && !missing.is_empty() {
            return Err(SandboxError::Missing(missing));
        }
        Ok(sandbox)
    }

    /// As [`Sandbox::probe`] in the mode [`SandboxMode::Best`], with one kind of namespaces
    /// alone.
    ///
    /// # Errors
    /// Where this kind does not work.
    pub fn probe_kind(outer: Outer, reexec: Reexec) -> Result<Self, SandboxError> {
        Self::probe_kinds(&[outer], reexec)
    }

    fn probe_kinds(kinds: &[Outer], reexec: Reexec) -> Result<Self, SandboxError> {
        let system = |what| move |source| SandboxError::System { what, source };
        let cgroups = CgroupBase::find().map_err(system("look for cgroups"))?;
        let mut sandbox = Self {
            cgroups: cgroups.base,
            bubblewrap: bubblewrap::installed(),
            ..Self::off(reexec)
        };
        let mut reasons = cgroups.reasons;
        let mut last = None;
        for outer in kinds {
            sandbox.walls = Walls {
                outer: *outer,
                ..Walls::default()
            };
            match sandbox.try_kind() {
                Ok(()) => {
                    reasons.extend(std::mem::take(&mut sandbox.walls.reasons));
                    reasons.retain(|wall, _| !sandbox.walls.hold(*wall));
                    sandbox.walls.reasons = reasons;
                    return Ok(sandbox);
                }
                Err(error) => {
                    // What a weaker kind lacks is for the reason that a stronger one failed.
                    for wall in needs_namespaces() {
                        let said = reasons.entry(wall).or_default();
                        if !said.is_empty() {
                            said.push_str("; ");
                        }
                        said.push_str(&format!("{outer}: {error}"));
                    }
                    last = Some(error);
                }
            }
        }
        let source = last.unwrap_or_else(|| io::Error::other("no kind was named"));
        Err(system("start a program in a sandbox")(source))
    }

    /// No walls at all: the program is started as it is, with the same few variables.
    fn off(reexec: Reexec) -> Self {
        Self {
            reexec,
            walls: Walls::default(),
            bubblewrap: None,
            cgroups: None,
            homes: Homes::of_this_machine(),
            too_large: TooLarge::default(),
        }
    }

    /// Starts a program that does nothing with all the walls that this kind may have, and
    /// keeps those that were built.
    fn try_kind(&mut self) -> io::Result<()> {
        let outer = self.walls.outer;
        if outer == Outer::Bubblewrap && self.bubblewrap.is_none() {
            return Err(io::Error::other("`bwrap` is not in PATH"));
        }
        let mut wanted = BTreeSet::from([Wall::Landlock, Wall::SystemCalls]);
        if outer != Outer::None {
            wanted.extend(needs_namespaces());
            wanted.insert(Wall::Ending);
            // It is counted for each namespace, but not for the machine's own root.
            if !geteuid().is_root() {
                wanted.insert(Wall::ProcessCount);
            }
        }
        if let Some(base) = &self.cgroups {
            wanted.extend(base.walls());
            self.walls.cgroup = Some(base.version());
        }
        if outer == Outer::None {
            // By landlock and seccomp, as far as they go.
            wanted.extend([Wall::Files, Wall::Processes, Wall::Network]);
        }
        self.walls.held = wanted;

        // An image of one program has no other: most programs say their version and end.
        let (path, arguments) = match Path::new("/bin/true") {
            path if path.exists() => (path.to_owned(), Vec::new()),
            _ => (env::current_exe()?, vec!["--version".into()]),
        };
        let program = Program {
            path,
            arguments,
            directory: Some("/".into()),
            limits: ResourceLimits {
                memory: Some(256 << 20),
                cpu_percent: Some(100),
                ..ResourceLimits::default()
            },
            ..Program::default()
        };
        let PreparedSandbox {
            mut command,
            mut session,
        } = self
            .prepare_as(&program, true)
            .map_err(|error| match error {
                PrepareError::Program(error) | PrepareError::System(error) => error,
            })?;
        let output = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = output.spawn()?;
        drop(command);
        let report = session.report(PROBE)?;
        let Some(SandboxReport::Started {
            landlock, failed, ..
        }) = report
        else {
            drop(session);
            let output = child.wait_with_output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            let why = match report {
                Some(SandboxReport::Ended(EndReport {
                    end: ProgramEnd::NoProgram(why) | ProgramEnd::NotStarted(why),
                    ..
                })) => why,
                _ => format!("it ended with {}", output.status),
            };
            let text = format!("{why} {}", said.trim());
            return Err(io::Error::other(text.trim().to_owned()));
        };
        drop(child.wait_with_output()?);
        self.walls.landlock = landlock;
        for (wall, why) in failed {
            self.walls.held.remove(&wall);
            self.walls.reasons.insert(wall, why);
        }
        self.drop_what_lacks_its_base();
        Ok(())
    }

    /// Some walls need others.
    fn drop_what_lacks_its_base(&mut self) {
        let walls = &mut self.walls;
        let filters = walls.hold(Wall::SystemCalls);
        let mut lacks = |wall: Wall, why: &str| {
            if walls.held.remove(&wall) {
                walls.reasons.insert(wall, why.to_owned());
            }
        };
        if walls.landlock == 0 {
            // Its socket's folder is on a disk.
            lacks(
                Wall::Disk,
                "without landlock it can write files beside its socket",
            );
        }
        if walls.outer == Outer::None {
            if walls.landlock == 0 {
                lacks(Wall::Files, "there are neither namespaces nor landlock");
            }
            if walls.landlock < 6 {
                lacks(
                    Wall::Processes,
                    "landlock holds signals back since Linux 6.12",
                );
            }
            if !filters {
                lacks(Wall::Network, "there are neither namespaces nor seccomp");
            }
        }
    }

    /// The walls that hold.
    #[must_use]
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// True if there is no wall at all.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.walls.held.is_empty() && self.walls.outer == Outer::None
    }

    /// The same sandbox without some walls, for tests that show what a wall is for.
    #[must_use]
    pub fn without(mut self, walls: &[Wall]) -> Self {
        for wall in walls {
            self.walls.held.remove(wall);
        }
        self
    }

    /// The path at which a program sees the folder for its socket, to be told to it.
    #[must_use]
    pub fn socket_folder_inside(&self, folder: &Path) -> PathBuf {
        if self.walls.outer == Outer::None || !self.walls.hold(Wall::Files) {
            return folder.to_owned();
        }
        SOCKETS.into()
    }

    /// A command that starts a program in this sandbox.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn prepare(&self, program: &Program) -> Result<PreparedSandbox, PrepareError> {
        if self.is_off() {
            return Ok(self.prepare_bare(program));
        }
        self.prepare_as(program, false)
    }

    fn prepare_bare(&self, program: &Program) -> PreparedSandbox {
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(environment(program, None))
            .stdin(Stdio::null());
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        let session = SandboxSession::new(None, None, None, false, self.too_large.clone());
        PreparedSandbox { command, session }
    }

    fn prepare_as(
        &self,
        program: &Program,
        probing: bool,
    ) -> Result<PreparedSandbox, PrepareError> {
        let path = search_path(program);
        let view = SandboxView::of(program, &self.homes, &path).map_err(PrepareError::Program)?;
        let has = |wall| self.walls.hold(wall);
        let (entries, mut grants, private) = if self.walls.outer == Outer::None || !has(Wall::Files)
        {
            let private = TempDir::with_prefix("arena-bot-")?;
            let grants = view.grants_alone(private.path());
            for (link, target) in view.home_links(private.path()) {
                link.parent().map_or(Ok(()), fs::create_dir_all)?;
                symlink(target, link)?;
            }
            (Vec::new(), grants, Some(private))
        } else {
            let entries = view.entries(&program.limits);
            let grants = SandboxView::grants_in_namespaces(&entries);
            (entries, grants, None)
        };
        let mut directory = view.directory.clone();
        let home = match &private {
            Some(private) => private.path(),
            None => Path::new(PRIVATE),
        };
        if directory == Path::new(PRIVATE) {
            directory = home.to_owned();
        }
        if self.walls.outer != Outer::None && !has(Wall::Ipc) {
            grants.retain(|grant| grant.path != Path::new("/dev/shm"));
            grants.push(Grant {
                path: "/dev/shm".into(),
                access: PathAccess::Write,
            });
        }
        let cgroup = match &self.cgroups {
            Some(base) => Some(Cgroup::create(base, &program.limits, &self.walls.held)?),
            None => None,
        };
        let plan = StartPlan {
            outer: self.walls.outer,
            bubblewrap: self.bubblewrap.clone(),
            verb: self.reexec.verb.clone(),
            walls: self.walls.held.clone(),
            probing,
            cgroup: cgroup.as_ref().map(|cgroup| cgroup.folders.clone()),
            view: entries,
            too_large: self.too_large.known(),
            grants,
            program: view.program.clone(),
            arguments: program.arguments.clone(),
            directory,
            environment: environment(program, Some(home)),
            limits: program.limits.clone(),
            keeps_its_cores: program.keeps_its_cores,
        };
        let (ours, theirs) = UnixStream::pair()?;
        Ok(send_plan(ours, plan, theirs, cgroup, private, self)?)
    }
}

/// Writes the plan before anybody reads it: it must fit into the socket.
fn send_plan(
    ours: UnixStream,
    plan: StartPlan,
    theirs: UnixStream,
    cgroup: Option<Cgroup>,
    private: Option<TempDir>,
    sandbox: &Sandbox,
) -> io::Result<PreparedSandbox> {
    const MOST: usize = 1 << 20;
    let is_apart = plan.has(Wall::Processes);
    // As much as the system allows.
    let _ = setsockopt(&ours, sockopt::SndBuf, &MOST);
    ours.set_nonblocking(true)?;
    let channel = Channel::new(ours);
    channel
        .send(&SandboxOrder::Monitor(Box::new(plan)))
        .map_err(|error| {
            let text = "its arguments and environment are too large for a sandbox";
            match error.kind() {
                io::ErrorKind::WouldBlock => io::Error::new(error.kind(), text),
                _ => error,
            }
        })?;
    channel.stream.set_nonblocking(false)?;
    let mut command = Command::new(&sandbox.reexec.program);
    command
        .args(&sandbox.reexec.verb)
        .env_clear()
        .stdin(OwnedFd::from(theirs));
    let too_large = sandbox.too_large.clone();
    let session = SandboxSession::new(Some(channel), cgroup, private, is_apart, too_large);
    Ok(PreparedSandbox { command, session })
}

/// The walls that namespaces are needed for, at least to be whole.
fn needs_namespaces() -> [Wall; 5] {
    [
        Wall::Files,
        Wall::Processes,
        Wall::Network,
        Wall::Ipc,
        Wall::Disk,
    ]
}

pub(crate) fn search_path(program: &Program) -> OsString {
    let given = program.environment.iter().find(|(name, _)| name == "PATH");
    given
        .map(|(_, path)| path.clone())
        .or_else(|| env::var_os("PATH"))
        .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())
}

/// The variables of a program, those that it was given last.
fn environment(program: &Program, home: Option<&Path>) -> Vec<(OsString, OsString)> {
    let is_language =
        |name: &OsStr| name == "LANG" || name.to_str().is_some_and(|name| name.starts_with("LC_"));
    let mut variables = vec![("PATH".into(), search_path(program))];
    variables.extend(env::vars_os().filter(|(name, _)| is_language(name)));
    for name in ["HOME", "TMPDIR"] {
        let value = match home {
            Some(home) => Some(home.as_os_str().to_owned()),
            None => env::var_os(name),
        };
        variables.extend(value.map(|value| (name.into(), value)));
    }
    variables.extend(program.environment.iter().cloned());
    variables
}
