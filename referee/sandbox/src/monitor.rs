//! The part of a sandbox that is outside of it. It starts the init in new namespaces and
//! kills everything when the process that asked for it is gone.

use std::{
    fs::{self, File},
    io::{self, PipeWriter, Write as _},
    os::{
        fd::{AsFd, AsRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Child, Command, ExitStatus},
};

use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sched::{CloneFlags, unshare},
    sys::{
        prctl,
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
    unistd::{getegid, geteuid, setgroups, sethostname},
};

use crate::{
    bubblewrap,
    channel::{Channel, Received},
    init::kill_descendants,
    network,
    plan::{EndReport, ProgramEnd, SandboxOrder, SandboxReport, StartPlan},
    walls::{Outer, Wall},
};

/// Starts what is planned and stays until it has ended.
///
/// # Errors
/// Where it can't be started.
pub(crate) fn run(plan: StartPlan, above: &mut Channel, signals: &SigSet) -> io::Result<EndReport> {
    prctl::set_name(c"sandbox")?;
    // What loses its parents comes here, not to the machine's init.
    prctl::set_child_subreaper(true)?;
    let signals = SignalFd::with_flags(signals, SfdFlags::SFD_CLOEXEC)?;
    // Groups that are left would be rights; only root can leave them.
    let _ = setgroups(&[]);

    let (ours, theirs) = UnixStream::pair()?;
    let mut below = Channel::new(ours);
    let cgroup = plan.cgroup.clone();
    let is_apart = plan.has(Wall::Processes);
    let mut child = start(&plan, theirs)?;
    prctl::set_dumpable(false)?;
    let end = below
        .send(&SandboxOrder::Init(Box::new(plan)))
        .and_then(|()| watch(above, &mut below, &signals));
    // The init exits at the end of its channel, and with it all in its namespace.
    drop(below);
    let ended = matches!(&end, Ok(WatchEnd::Told(_)));
    if let Some(cgroup) = &cgroup {
        let _ = cgroup.kill();
    }
    let status = if ended {
        child.wait()
    } else {
        kill(&mut child)
    };
    kill_descendants();
    let killed = ProgramEnd::Signaled(Signal::SIGKILL as i32);
    let end = match end? {
        WatchEnd::Told(ended) => return Ok(ended),
        // The program can't signal it.
        WatchEnd::Lost { started: true } if is_apart => ProgramEnd::Lost(match status {
            Ok(status) => format!("the first process of its sandbox has ended ({status})"),
            Err(error) => format!("the first process of its sandbox has ended ({error})"),
        }),
        WatchEnd::Lost { started: true } => killed,
        WatchEnd::Lost { started: false } => ProgramEnd::NotStarted(match status {
            Ok(status) => format!("its sandbox ended before the program was started ({status})"),
            Err(error) => format!("its sandbox ended before the program was started ({error})"),
        }),
        WatchEnd::Abandoned => {
            // Nobody else is there to do so.
            if let Some(cgroup) = &cgroup {
                let _ = cgroup.remove();
            }
            killed
        }
    };
    Ok(end.into())
}

/// The reason why the watch is over.
enum WatchEnd {
    /// The init has said how the program ended.
    Told(EndReport),
    /// The init is gone: killed by the memory limit for example, or never begun.
    Lost { started: bool },
    /// The process that asked for the sandbox is gone, or wants its end.
    Abandoned,
}

fn kill(child: &mut Child) -> io::Result<ExitStatus> {
    // It may just be about to exit, and its own status says more.
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()
}

fn start(plan: &StartPlan, channel: UnixStream) -> io::Result<Child> {
    if plan.outer == Outer::Bubblewrap {
        return start_bubblewrap(plan, channel);
    }
    if plan.outer == Outer::Own {
        enter_namespaces(plan)?;
    }
    let mut child = Command::new("/proc/self/exe")
        .args(&plan.verb)
        .stdin(OwnedFd::from(channel))
        .spawn()?;
    if let Err(error) = join(plan, &child) {
        let _ = child.kill();
        return Err(error);
    }
    Ok(child)
}

fn join(plan: &StartPlan, child: &Child) -> io::Result<()> {
    match &plan.cgroup {
        Some(folders) => folders.add(child.id()),
        None => Ok(()),
    }
}

/// New namespaces for this process' children, and for itself what can't be theirs alone.
fn enter_namespaces(plan: &StartPlan) -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWUTS;
    for (wall, flag) in [
        (Wall::Processes, CloneFlags::CLONE_NEWPID),
        (Wall::Network, CloneFlags::CLONE_NEWNET),
        (Wall::Ipc, CloneFlags::CLONE_NEWIPC),
    ] {
        if plan.has(wall) {
            flags |= flag;
        }
    }
    unshare(flags).map_err(|error| said("namespaces", error))?;
    // It is root of the namespace as long as something is to be mounted.
    be_user(0, user.as_raw(), 0, group.as_raw())?;
    sethostname("bot").map_err(|error| said("a host name of its own", error))?;
    if plan.has(Wall::Network) {
        network::loopback_up().map_err(|error| {
            io::Error::new(error.kind(), format!("could not have loopback: {error}"))
        })?;
    }
    Ok(())
}

/// Gives this process' user and group, which are the outer ones, a number in its new user
/// namespace. No other user or group is there.
pub(crate) fn be_user(user: u32, outer_user: u32, group: u32, outer_group: u32) -> io::Result<()> {
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {outer_user} 1")),
        ("gid_map", format!("{group} {outer_group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| {
            io::Error::new(error.kind(), format!("could not write its {file}: {error}"))
        })?;
    }
    Ok(())
}

/// Bubblewrap makes the namespaces. It waits for its arguments until it is in the cgroup.
fn start_bubblewrap(plan: &StartPlan, channel: UnixStream) -> io::Result<Child> {
    let bubblewrap = plan
        .bubblewrap
        .as_ref()
        .ok_or_else(|| io::Error::other("nobody has said where bubblewrap is"))?;
    // Inside there is no path to this program.
    let program = File::open("/proc/self/exe")?;
    inherit(&program)?;
    let (arguments, mut writer) = io::pipe()?;
    inherit(&arguments)?;

    let mut child = Command::new(bubblewrap)
        .arg("--args")
        .arg(arguments.as_raw_fd().to_string())
        .arg("--")
        .arg(format!("/proc/self/fd/{}", program.as_raw_fd()))
        .args(&plan.verb)
        .stdin(OwnedFd::from(channel))
        .env_clear()
        .spawn()
        .map_err(|error| {
            let path = bubblewrap.display();
            io::Error::new(error.kind(), format!("could not start {path}: {error}"))
        })?;
    drop(arguments);
    let told = join(plan, &child).and_then(|()| tell(&mut writer, plan));
    drop(writer);
    if let Err(error) = told {
        let _ = child.kill();
        return Err(error);
    }
    Ok(child)
}

fn tell(writer: &mut PipeWriter, plan: &StartPlan) -> io::Result<()> {
    writer.write_all(&bubblewrap::arguments(plan))
}

/// Lets a program that is started have this descriptor.
fn inherit(descriptor: &impl AsFd) -> io::Result<()> {
    fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// Carries reports up and signals down until one side is gone.
fn watch(above: &mut Channel, below: &mut Channel, signals: &SignalFd) -> io::Result<WatchEnd> {
    let mut started = false;
    loop {
        let mut ready = [
            PollFd::new(above.stream.as_fd(), PollFlags::POLLIN),
            PollFd::new(below.stream.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut ready, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::Error::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [from_above, from_below, signaled] = ready.map(|one| one.any() == Some(true));
        if from_below {
            let mut next = below.receive()?;
            loop {
                match next {
                    Received::Message(SandboxReport::Ended(ended)) => {
                        return Ok(WatchEnd::Told(ended));
                    }
                    Received::Message(report) => {
                        started = true;
                        above.send(&report)?;
                    }
                    Received::Nothing => break,
                    Received::End => return Ok(WatchEnd::Lost { started }),
                }
                next = match below.buffered()? {
                    Some(report) => Received::Message(report),
                    None => Received::Nothing,
                };
            }
        }
        if signaled
            && let Some(signal) = signals.read_signal()?
            && let Ok(number) = i32::try_from(signal.ssi_signo)
            && number != Signal::SIGCHLD as i32
        {
            below.send(&SandboxOrder::Signal(number))?;
        }
        // Nothing is said after the start: this is the end.
        if from_above && !matches!(above.receive::<SandboxOrder>(), Ok(Received::Message(_))) {
            return Ok(WatchEnd::Abandoned);
        }
    }
}

fn said(what: &str, error: nix::Error) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("could not have {what}: {error}"))
}
