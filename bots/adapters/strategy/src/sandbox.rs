//! Restricts a host process before it loads a strategy.

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
    libc::{
        EPERM, SYS_kill, SYS_pidfd_open, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_setpgid,
        SYS_setsid, SYS_tgkill, SYS_tkill,
    },
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal},
    },
    unistd::{self, getppid},
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::object;

/// Restricts this process. Gives the socket to the adapter, which it was started with
/// as its standard input.
///
/// # Errors
///
/// Where the system refuses.
#[expect(
    clippy::disallowed_methods,
    reason = "what is opened has no end and no content"
)]
pub(crate) fn enter() -> io::Result<UnixStream> {
    prctl::set_name(c"strategy-host")?;
    // A signal to the whole group is for the adapter, which stops in order.
    let asked = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    asked.thread_block()?;
    // It dies with the adapter, however that ends.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // What it starts stays below it, and so in reach, also if it detaches.
    prctl::set_child_subreaper(true)?;
    prctl::set_no_new_privs()?;
    // A crash leaves no core file, and sends none to a collector.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    prctl::set_dumpable(false)?;

    restore_crash_signals();

    let adapter = UnixStream::from(stdin().as_fd().try_clone_to_owned()?);
    unistd::dup2_stdin(File::open("/dev/null")?)?;
    close_other_descriptors(adapter.as_raw_fd())?;

    if let Err(error) = filter_system_calls() {
        eprintln!(
            "note: the strategy can leave its process group, and signal its adapter: {error}"
        );
    }
    Ok(adapter)
}

/// Closes descriptors that were inherited by mistake.
fn close_other_descriptors(kept: i32) -> io::Result<()> {
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

/// Refuses `setsid` and `setpgid` from here on, so that killing the adapter's group
/// reaches every process; and signals to the adapter, which has other games, and to
/// whole groups, which it is in.
fn filter_system_calls() -> Result<(), Box<dyn std::error::Error>> {
    // A process number is a signed integer of 32 bits; groups are 0 and below.
    let first_is = |operator, number: u64| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, number)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    let adapter = u64::try_from(getppid().as_raw())?;
    let to_adapter = || first_is(SeccompCmpOp::Eq, adapter);
    let mut refused = BTreeMap::from([(SYS_setsid, vec![]), (SYS_setpgid, vec![])]);
    refused.insert(
        SYS_kill,
        vec![
            to_adapter()?,
            first_is(SeccompCmpOp::Eq, 0)?,
            first_is(SeccompCmpOp::Gt, i32::MAX as u64)?,
        ],
    );
    for call in [
        SYS_tgkill,
        SYS_tkill,
        SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo,
        SYS_pidfd_open,
    ] {
        refused.insert(call, vec![to_adapter()?]);
    }
    let filter = SeccompFilter::new(
        refused,
        SeccompAction::Allow,
        SeccompAction::Errno(EPERM as u32),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?;
    Ok(())
}

/// Rust's runtime handles the first memory fault to detect a stack overflow; one that
/// was only raised would be lost.
fn restore_crash_signals() {
    for fault in [Signal::SIGSEGV, Signal::SIGBUS] {
        object::restore_default_handler(fault);
    }
}
