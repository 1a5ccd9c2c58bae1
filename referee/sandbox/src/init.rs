//! The part of a sandbox that is inside of it: process 1 of the new pid namespace. It
//! builds the inner walls, starts the program, passes signals on and reaps orphans.

use std::{
    collections::BTreeMap,
    fs, io,
    os::fd::AsFd as _,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    libc::RLIM_INFINITY,
    mount::{MsFlags, mount},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sched::{CloneFlags, unshare},
    sys::{
        prctl,
        resource::{Resource, getrlimit, setrlimit},
        signal::{SigSet, Signal, kill},
        signalfd::{SfdFlags, SignalFd},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{self, Pid, getegid, geteuid, getpid},
};

use rustix::{
    process::nice,
    thread::{CapabilitySet, CapabilitySets, set_capabilities},
};

use crate::{
    absent::absent_interpreter,
    bubblewrap::USER,
    channel::{Channel, Received},
    is_lack, landlock,
    monitor::be_user,
    mounts,
    own::{self, SharedFiles},
    plan::{EndReport, LeftProcess, ProgramEnd, SandboxOrder, SandboxReport, StartPlan},
    proc,
    seccomp::{self, RefusedCalls},
    view::ViewEntry,
    walls::{Outer, Wall},
};

/// Builds the inner walls, starts the program and stays until it has ended.
///
/// # Errors
/// Where a wall can't be built or the program can't be started.
pub(crate) fn run(
    plan: &StartPlan,
    above: &mut Channel,
    signals: &SigSet,
) -> io::Result<EndReport> {
    prctl::set_name(c"sandbox-init")?;
    close_other_descriptors(above)?;
    prctl::set_child_subreaper(true)?;
    if plan.outer != Outer::None {
        // No terminal, and no group that anything outside is in. Bubblewrap has done so
        // already if this is process 1 there.
        let _ = unistd::setsid();
    }
    let mut failed = BTreeMap::new();
    match plan.outer {
        Outer::Own => mounts::enter(plan)?,
        Outer::Bubblewrap => {
            mounts::restrict_proc(plan)?;
            mounts::restrict_devices(plan)?;
            if let Err(error) = limit_private_folders(plan) {
                failure(plan, &mut failed, Wall::Disk, error.to_string())?;
            }
        }
        Outer::None => {}
    }
    let mut shared = SharedFiles::default();
    if plan.outer != Outer::None {
        if plan.has(Wall::Files) {
            shared = own::replace(plan).map_err(|error| {
                let text = format!("could not copy its files into memory: {error}");
                io::Error::new(error.kind(), text)
            })?;
        }
        give_up_mounting()?;
    }
    // Nobody may read this process' memory or descriptors, nor trace it.
    prctl::set_dumpable(false)?;
    limit_resources(plan)?;
    let (bot, landlock) = match start(plan, signals, &mut failed) {
        Ok(started) => started,
        Err(NotStarted::Program(why)) => return Ok(ProgramEnd::NoProgram(why).into()),
        Err(NotStarted::System(error)) => return Err(error),
    };
    let signals = SignalFd::with_flags(signals, SfdFlags::SFD_CLOEXEC)?;
    above.send(&SandboxReport::Started {
        landlock,
        failed,
        shared,
    })?;
    let end = watch(bot, above, &signals)?;
    let left = left_behind(bot);
    if !plan.has_pid_namespace() {
        kill_descendants();
    }
    Ok(EndReport { end, left })
}

/// Reason why a program does not run.
enum NotStarted {
    /// It is no program.
    Program(String),
    /// A wall could not be built, or the system lacks something.
    System(io::Error),
}

impl<E: Into<io::Error>> From<E> for NotStarted {
    fn from(error: E) -> Self {
        Self::System(error.into())
    }
}

/// A wall that can't be built is told when this is a probe, and else an error.
fn failure(
    plan: &StartPlan,
    failed: &mut BTreeMap<Wall, String>,
    wall: Wall,
    why: String,
) -> io::Result<()> {
    if plan.probing {
        failed.insert(wall, why);
        return Ok(());
    }
    let text = format!("could not set up the isolation \"{wall}\", which held before: {why}");
    Err(io::Error::other(text))
}

/// Bubblewrap limits a file system's bytes, but not how many files it has.
fn limit_private_folders(plan: &StartPlan) -> io::Result<()> {
    if !plan.has(Wall::Files) || !plan.has(Wall::Disk) {
        return Ok(());
    }
    for entry in &plan.view {
        if let ViewEntry::Private { path, size, files } = entry {
            if path == Path::new("/dev/shm") && !plan.has(Wall::Ipc) {
                continue;
            }
            let flags = MsFlags::MS_REMOUNT | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
            let limits = format!("size={size},nr_inodes={files}");
            mount(None::<&str>, path, None::<&str>, flags, Some(&*limits))?;
        }
    }
    Ok(())
}

/// Enters a second user namespace, which has no rights over what was mounted in the first,
/// and in which this is no longer root.
fn give_up_mounting() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| {
        let error = io::Error::from(error);
        let text = format!("could not have a second user namespace: {error}");
        io::Error::new(error.kind(), text)
    })?;
    be_user(USER, user.as_raw(), USER, group.as_raw())
}

/// The niceness with which a process has a tenth of the weight of others.
const NICE: i32 = 10;

fn limit_resources(plan: &StartPlan) -> io::Result<()> {
    let limits = &plan.limits;
    let mut wanted = vec![
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, limits.file_size),
        (Resource::RLIMIT_NOFILE, limits.open_files),
    ];
    // It counts the processes of a user in a user namespace. Elsewhere it would count
    // those of the user's other programs.
    if plan.outer != Outer::None
        && plan.has(Wall::ProcessCount)
        && let Some(processes) = limits.processes
    {
        wanted.push((Resource::RLIMIT_NPROC, processes.into()));
    }
    for (resource, limit) in wanted {
        let (_, most) = getrlimit(resource)?;
        let limit = if most == RLIM_INFINITY {
            limit
        } else {
            limit.min(most)
        };
        setrlimit(resource, limit, limit)?;
    }
    if limits.gives_way {
        // The weight of the processes is a tenth, where no cgroup has one for all of them.
        nice(NICE)?;
    }
    Ok(())
}

/// Starts the program from a thread that is restricted first. This process is not: it must
/// be able to signal what the program can't.
fn start(
    plan: &StartPlan,
    signals: &SigSet,
    failed: &mut BTreeMap<Wall, String>,
) -> Result<(Pid, u8), NotStarted> {
    thread::scope(|scope| {
        let starter = scope.spawn(|| restrict_and_start(plan, signals, failed));
        starter
            .join()
            .map_err(|_| io::Error::other("the thread that starts the program panicked"))?
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "process 1 of a sandbox becomes the program"
)]
fn restrict_and_start(
    plan: &StartPlan,
    signals: &SigSet,
    failed: &mut BTreeMap<Wall, String>,
) -> Result<(Pid, u8), NotStarted> {
    prctl::set_no_new_privs()?;
    // In this thread's view, which landlock does not change.
    if std::env::set_current_dir(&plan.directory).is_err() {
        std::env::set_current_dir("/")?;
    }
    let mut version = 0;
    if plan.has(Wall::Landlock) {
        match landlock::restrict(&plan.grants) {
            Ok(found) => version = found,
            Err(why) => failure(plan, failed, Wall::Landlock, why)?,
        }
    }
    if plan.has(Wall::SystemCalls) {
        let refused = RefusedCalls {
            networks: plan.outer == Outer::None && plan.has(Wall::Network),
            outliving: plan.outer == Outer::None && plan.has(Wall::Ipc),
            other_cores: plan.keeps_its_cores,
        };
        if let Err(why) = seccomp::restrict(refused) {
            failure(plan, failed, Wall::SystemCalls, why)?;
        }
    }
    // Root has rights outside of a user namespace, and would have them again in the program.
    let nothing = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: nothing,
            permitted: nothing,
            inheritable: nothing,
        },
    )?;
    // The program has this thread's mask.
    signals.thread_unblock()?;
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.arguments)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null());
    let child = command.spawn().map_err(|error| {
        let program = plan.program.display();
        let absent = (error.kind() == io::ErrorKind::NotFound)
            .then(|| absent_interpreter(&plan.program, Path::new(".")))
            .flatten();
        let reason = absent.unwrap_or_else(|| error.to_string());
        let why = format!("could not start {program}: {reason}");
        if is_lack(&error) {
            NotStarted::System(io::Error::new(error.kind(), why))
        } else {
            NotStarted::Program(why)
        }
    })?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    Ok((Pid::from_raw(pid), version))
}

/// Passes signals on until the program has ended.
fn watch(bot: Pid, above: &mut Channel, signals: &SignalFd) -> io::Result<ProgramEnd> {
    loop {
        // Before the first wait too: the program may have ended already.
        if let Some(end) = reap(bot)? {
            return Ok(end);
        }
        let mut ready = [
            PollFd::new(above.stream.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut ready, PollTimeout::NONE) {
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [ordered, signaled] = ready.map(|one| one.any() == Some(true));
        if signaled
            && let Some(signal) = signals.read_signal()?
            && let Ok(number) = i32::try_from(signal.ssi_signo)
        {
            pass_on(bot, number);
        }
        if ordered {
            match above.receive()? {
                Received::Message(SandboxOrder::Signal(signal)) => pass_on(bot, signal),
                Received::Message(_) | Received::Nothing => {}
                // The monitor is gone: so is everything else.
                Received::End => {
                    let _ = kill(bot, Signal::SIGKILL);
                    return Ok(ProgramEnd::Signaled(Signal::SIGKILL as i32));
                }
            }
        }
    }
}

fn pass_on(bot: Pid, signal: i32) {
    match Signal::try_from(signal) {
        Ok(Signal::SIGCHLD) | Err(_) => {}
        // It may be about to be reaped.
        Ok(signal) => {
            let _ = kill(bot, signal);
        }
    }
}

/// Takes the status of all that has ended. Gives the program's.
fn reap(bot: Pid) -> io::Result<Option<ProgramEnd>> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == bot => {
                return Ok(Some(ProgramEnd::Exited(code)));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == bot => {
                return Ok(Some(ProgramEnd::Signaled(signal as i32)));
            }
            Ok(WaitStatus::StillAlive) => return Ok(None),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Processes that still run some time after the program has ended.
fn left_behind(bot: Pid) -> Vec<LeftProcess> {
    /// Longest time that the program's children may outlive it, and the interval at which
    /// they are looked for.
    const GRACE: Duration = Duration::from_millis(500);
    const CHECK: Duration = Duration::from_millis(5);
    let deadline = Instant::now() + GRACE;
    loop {
        // What has ended meanwhile. The program's own status is known.
        while let Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) =
            waitpid(None, Some(WaitPidFlag::WNOHANG))
        {}
        if waitpid(None, Some(WaitPidFlag::WNOHANG)) == Err(Errno::ECHILD) {
            // Whatever has lost its parent is a child of this process.
            return Vec::new();
        }
        if Instant::now() >= deadline {
            // What can't be asked for is nobody's fault, and ends with the sandbox.
            return descendants(bot).unwrap_or_default();
        }
        thread::sleep(CHECK);
    }
}

/// All descendants of this process that run, some of them if there are very many.
fn descendants(bot: Pid) -> io::Result<Vec<LeftProcess>> {
    const MOST: usize = 100;
    const LONGEST: usize = 400;
    let mut found: Vec<LeftProcess> = Vec::new();
    let mut parents = vec![getpid()];
    while let Some(above) = parents.pop() {
        for child in proc::children_of(above)? {
            if found.len() == MOST {
                return Ok(found);
            }
            parents.push(child);
            let Ok(id) = u32::try_from(child.as_raw()) else {
                continue;
            };
            let Some(stat) = proc::stat(id)? else {
                continue;
            };
            let mut fields = stat.split(' ');
            if matches!(fields.next(), None | Some("Z" | "X")) {
                continue;
            }
            let group = fields.nth(1).and_then(|group| group.parse().ok());
            let own = [bot.as_raw(), unistd::getpgrp().as_raw()];
            let command = proc::command(id)?.unwrap_or_default();
            found.push(LeftProcess {
                id: child.as_raw(),
                command: command.trim_end().chars().take(LONGEST).collect(),
                outside_group: group.is_none_or(|group| !own.contains(&group)),
            });
        }
    }
    Ok(found)
}

/// Kills all that this process has started and what they have: whatever loses its parents
/// becomes a child of this one, and the number of a child that was not reaped is not reused.
pub(crate) fn kill_descendants() {
    const PAUSE: Duration = Duration::from_millis(5);
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {}
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(_) => return,
        }
        let children = match proc::children_of(getpid()) {
            Ok(children) => children,
            // There are some, and they can't be asked for now.
            Err(error) if is_lack(&error) => {
                thread::sleep(PAUSE);
                continue;
            }
            Err(_) => return,
        };
        let mut killed = false;
        for child in children {
            killed |= kill(child, Signal::SIGKILL).is_ok();
        }
        if !killed {
            return;
        }
        let _ = waitpid(None, None);
    }
}

/// Closes descriptors that were inherited, by mistake or so that bubblewrap finds this
/// program.
fn close_other_descriptors(kept: &Channel) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        if descriptor > 2 && descriptor != kept.stream.as_raw_fd() {
            // The folder's own is closed already.
            let _ = unistd::close(descriptor);
        }
    }
    Ok(())
}
