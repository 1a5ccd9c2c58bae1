//! What is shut off in a host before it loads a strategy.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, stdin},
    os::{
        fd::{AsFd as _, AsRawFd as _},
        unix::net::UnixStream,
    },
};

use nix::{
    libc::{EPERM, SYS_setpgid, SYS_setsid},
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal},
    },
    unistd,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// Shuts off what a strategy has no business with. Gives the socket to the
/// adapter, which this process was started with as its standard input.
///
/// # Errors
///
/// Where the system refuses.
pub(crate) fn close_in() -> io::Result<UnixStream> {
    prctl::set_name(c"strategy-host")?;
    // Whoever asks a whole group to stop means its adapter, which ends in order.
    let asked = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    asked.thread_block()?;
    // It dies with the adapter, however that ends.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // What it starts stays below it, and so in reach, also if it detaches.
    prctl::set_child_subreaper(true)?;
    prctl::set_no_new_privs()?;
    // A crash is its own affair: no core file, and none to a collector either.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    prctl::set_dumpable(false)?;

    let adapter = UnixStream::from(stdin().as_fd().try_clone_to_owned()?);
    unistd::dup2_stdin(File::open("/dev/null")?)?;
    close_all_but(adapter.as_raw_fd())?;

    if let Err(error) = stay_in_group() {
        eprintln!("note: what the strategy starts can leave its process group: {error}");
    }
    Ok(adapter)
}

/// Closes what the arena may have left open by mistake.
fn close_all_but(kept: i32) -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        if descriptor > 2 && descriptor != kept {
            // The folder's own is closed already.
            let _ = unistd::close(descriptor);
        }
    }
    Ok(())
}

/// Refuses `setsid` and `setpgid` from here on, so that whoever kills the group of
/// the adapter reaches all of it.
fn stay_in_group() -> Result<(), Box<dyn std::error::Error>> {
    let refused = BTreeMap::from([(SYS_setsid, vec![]), (SYS_setpgid, vec![])]);
    let filter = SeccompFilter::new(
        refused,
        SeccompAction::Allow,
        SeccompAction::Errno(EPERM as u32),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?;
    Ok(())
}
