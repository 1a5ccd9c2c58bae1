//! Refuses system calls that no bot needs, and that attacks and tools need, or by which bots
//! that share nothing but a read-only file could tell each other something. Runtimes find
//! the error that they expect on older kernels, and do without. It restricts the calling
//! thread and what is started from it.

use std::collections::BTreeMap;

use nix::libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET,
    CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, EAFNOSUPPORT, EINVAL, ENOSYS,
    EOPNOTSUPP, EPERM, F_CANCELLK, F_GETLEASE, F_GETLK, F_NOTIFY, F_OFD_GETLK, F_OFD_SETLK,
    F_OFD_SETLKW, F_SETLEASE, F_SETLK, F_SETLKW, PR_SET_MEMORY_MERGE, RWF_DONTCACHE, RWF_NOWAIT,
    SYS_acct, SYS_add_key, SYS_adjtimex, SYS_bpf, SYS_chroot, SYS_clock_adjtime, SYS_clock_settime,
    SYS_clone, SYS_clone3, SYS_delete_module, SYS_fadvise64, SYS_fanotify_init, SYS_fanotify_mark,
    SYS_fcntl, SYS_finit_module, SYS_flock, SYS_fsconfig, SYS_fsmount, SYS_fsopen, SYS_fspick,
    SYS_init_module, SYS_inotify_add_watch, SYS_inotify_init1, SYS_io_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_ioctl, SYS_kcmp, SYS_kexec_file_load,
    SYS_kexec_load, SYS_keyctl, SYS_lookup_dcookie, SYS_madvise, SYS_mbind, SYS_memfd_secret,
    SYS_migrate_pages, SYS_mincore, SYS_mount, SYS_mount_setattr, SYS_move_mount, SYS_move_pages,
    SYS_mq_open, SYS_msgget, SYS_name_to_handle_at, SYS_nfsservctl, SYS_open_by_handle_at,
    SYS_open_tree, SYS_perf_event_open, SYS_personality, SYS_pidfd_getfd, SYS_pivot_root,
    SYS_prctl, SYS_preadv2, SYS_process_madvise, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_ptrace, SYS_quotactl, SYS_quotactl_fd, SYS_reboot, SYS_request_key, SYS_sched_setaffinity,
    SYS_semget, SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_settimeofday, SYS_shmget,
    SYS_socket, SYS_swapoff, SYS_swapon, SYS_sync, SYS_syncfs, SYS_syslog, SYS_umount2,
    SYS_unshare, SYS_userfaultfd, SYS_vhangup,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that are refused as if a privilege were lacking.
const NOT_PERMITTED: &[i64] = &[
    SYS_acct,
    SYS_adjtimex,
    SYS_chroot,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_fanotify_init,
    SYS_finit_module,
    SYS_init_module,
    SYS_kcmp,
    SYS_kexec_file_load,
    SYS_kexec_load,
    SYS_lookup_dcookie,
    SYS_mount,
    SYS_name_to_handle_at,
    SYS_nfsservctl,
    SYS_open_by_handle_at,
    SYS_perf_event_open,
    SYS_pidfd_getfd,
    SYS_pivot_root,
    SYS_process_madvise,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_reboot,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_setns,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_umount2,
    SYS_unshare,
    SYS_userfaultfd,
    SYS_vhangup,
];

/// Calls that are refused as if the kernel did not know them. `clone3` has its flags in
/// memory, where no filter sees them; `clone` is used then.
const UNKNOWN: &[i64] = &[
    SYS_add_key,
    SYS_bpf,
    CACHESTAT,
    SYS_clone3,
    SYS_fanotify_mark,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_inotify_add_watch,
    SYS_inotify_init1,
    SYS_io_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_keyctl,
    SYS_memfd_secret,
    SYS_migrate_pages,
    SYS_mincore,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_move_pages,
    SYS_open_tree,
    OPEN_TREE_ATTR,
    SYS_request_key,
];

/// Since Linux 6.5 and 6.15; the same numbers on every architecture.
const CACHESTAT: i64 = 451;
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that say that they have succeeded, and do nothing. They are hints, or concern files on
/// disks, which no bot writes, or they take a lock: a bot's files are its own, so a lock that
/// holds nobody up costs it nothing, and on a file that another bot sees it would be a message.
const WITHOUT_EFFECT: &[i64] = &[SYS_fadvise64, SYS_flock, SYS_sync, SYS_syncfs];

/// Commands of `fcntl` that do so too.
const LOCKS: &[i32] = &[F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW];

/// Commands of `fcntl` that are unknown here: they ask who has a lock, have a file watched, or
/// leave a hint at it, which are numbers 1035 to 1038.
const INVALID_OF_FILES: &[i32] = &[
    F_GETLK,
    F_OFD_GETLK,
    F_SETLEASE,
    F_GETLEASE,
    F_NOTIFY,
    F_CANCELLK,
    1035,
    1036,
    1037,
    1038,
];

/// Advice to `madvise` that is unknown here: to throw pages of files out of memory (`MADV_COLD`,
/// `MADV_PAGEOUT`), and to share equal pages with others (`MADV_MERGEABLE`), which a bot can
/// measure.
const INVALID_ADVICE: &[u64] = &[20, 21, 12];

/// Flags of `mbind` that move pages, also those of a file that others read.
const MPOL_MF_MOVE: u64 = 1 << 1;
const MPOL_MF_MOVE_ALL: u64 = 1 << 2;

/// Requests of `ioctl` that type into a terminal, or work on its screen. The C libraries
/// have them in different types.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// What makes or finds shared memory and queues that outlive a process.
const OUTLIVING: &[i64] = &[SYS_mq_open, SYS_msgget, SYS_semget, SYS_shmget];

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use nix::libc::{
        SYS__sysctl, SYS_inotify_init, SYS_ioperm, SYS_iopl, SYS_sysfs, SYS_uselib, SYS_ustat,
    };

    /// Calls of this architecture alone.
    pub(super) const MORE: &[i64] = &[
        SYS__sysctl,
        SYS_inotify_init,
        SYS_ioperm,
        SYS_iopl,
        SYS_sysfs,
        SYS_uselib,
        SYS_ustat,
    ];
    /// The same calls once more, with the bit of the x32 interface.
    pub(super) const X32: i64 = 0x4000_0000;
    /// Calls that have other numbers there: `kexec_load`, `ptrace`, `process_vm_*`, `move_pages`,
    /// `io_setup`, `preadv2`.
    pub(super) const X32_OWN: &[i64] = &[
        X32 + 528,
        X32 + 521,
        X32 + 539,
        X32 + 540,
        X32 + 533,
        X32 + 543,
        X32 + 546,
    ];
}

/// What is refused besides what always is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    /// Networks, where there is no network namespace.
    pub(crate) networks: bool,
    /// Shared memory that outlives a process, where there is no namespace for it.
    pub(crate) outliving: bool,
    /// Other cores than its own.
    pub(crate) other_cores: bool,
}

/// Refuses calls of this thread.
///
/// # Errors
/// Where the kernel has no filters, or the architecture is not known.
pub(crate) fn restrict(also: Refused) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    for (rules, error) in [
        // The newest filter decides, so refusals stand above this one.
        (without_effect(), 0),
        (refused_sockets(also), EAFNOSUPPORT),
        (unknown(), ENOSYS),
        (not_permitted(also), EPERM),
        (not_supported(), EOPNOTSUPP),
        (invalid(), EINVAL),
    ] {
        let rules = rules.map_err(|error| text(&error))?;
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| text(&error))?;
        let action = SeccompAction::Errno(error.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
            .map_err(|error| text(&error))?;
        let program = BpfProgram::try_from(filter).map_err(|error| text(&error))?;
        seccompiler::apply_filter(&program).map_err(|error| text(&error))?;
    }
    Ok(())
}

type Rules = Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError>;

fn not_permitted(also: Refused) -> Rules {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        NOT_PERMITTED.iter().map(|call| (*call, vec![])).collect();
    if also.outliving {
        rules.extend(OUTLIVING.iter().map(|call| (*call, vec![])));
    }
    if also.other_cores {
        rules.insert(SYS_sched_setaffinity, vec![]);
    }
    #[cfg(target_arch = "x86_64")]
    rules.extend(x86_64::MORE.iter().map(|call| (*call, vec![])));

    let namespaces = [
        CLONE_NEWCGROUP,
        CLONE_NEWIPC,
        CLONE_NEWNET,
        CLONE_NEWNS,
        CLONE_NEWPID,
        CLONE_NEWUSER,
        CLONE_NEWUTS,
    ];
    let has_flag = |flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        all_of([argument(0, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    let clone: Result<_, _> = namespaces.into_iter().map(has_flag).collect();
    rules.insert(SYS_clone, clone?);

    // Asking for the personality, and having Linux' own, changes nothing.
    let asked = u64::from(u32::MAX);
    let changes = all_of([
        argument(0, SeccompCmpOp::Ne, asked)?,
        argument(0, SeccompCmpOp::Ne, 0)?,
    ])?;
    rules.insert(SYS_personality, vec![changes]);

    let types = |request: u64| all_of([argument(1, SeccompCmpOp::Eq, request)?]);
    rules.insert(SYS_ioctl, vec![types(TIOCSTI)?, types(TIOCLINUX)?]);
    Ok(with_x32(rules))
}

fn unknown() -> Rules {
    Ok(with_x32(
        UNKNOWN.iter().map(|call| (*call, vec![])).collect(),
    ))
}

/// Reads that tell whether a file is in memory, or leave it as it was: as on file systems that
/// can't do so.
fn not_supported() -> Rules {
    let has_flag = |flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        all_of([argument(5, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    let asks = vec![has_flag(RWF_NOWAIT)?, has_flag(RWF_DONTCACHE)?];
    Ok(with_x32([(SYS_preadv2, asks)].into()))
}

/// Calls that are invalid with some of their arguments.
fn invalid() -> Rules {
    let is = |index: u8, value: u64| all_of([argument(index, SeccompCmpOp::Eq, value)?]);
    let has_flag =
        |index: u8, flag: u64| all_of([argument(index, SeccompCmpOp::MaskedEq(flag), flag)?]);
    let commands: Result<_, _> = INVALID_OF_FILES
        .iter()
        .map(|command| is(1, u64::from(command.unsigned_abs())))
        .collect();
    let advice: Result<_, _> = INVALID_ADVICE.iter().map(|advice| is(2, *advice)).collect();
    let merge = u64::from(PR_SET_MEMORY_MERGE.unsigned_abs());
    let moves = [MPOL_MF_MOVE, MPOL_MF_MOVE_ALL];
    let moves: Result<_, _> = moves.into_iter().map(|flag| has_flag(5, flag)).collect();
    let rules = [
        (SYS_fcntl, commands?),
        (SYS_madvise, advice?),
        (SYS_mbind, moves?),
        (SYS_prctl, vec![is(0, merge)?]),
    ];
    Ok(with_x32(rules.into()))
}

fn without_effect() -> Rules {
    let locks: Result<_, seccompiler::BackendError> = LOCKS
        .iter()
        .map(|command| {
            let command = u64::from(command.unsigned_abs());
            all_of([argument(1, SeccompCmpOp::Eq, command)?])
        })
        .collect();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        WITHOUT_EFFECT.iter().map(|call| (*call, vec![])).collect();
    rules.insert(SYS_fcntl, locks?);
    Ok(with_x32(rules))
}

/// Sockets that are none of the families that programs use. Some of the others are not
/// held by a network namespace: vsock reaches the host of a virtual machine.
fn refused_sockets(also: Refused) -> Rules {
    let mut allowed = vec![AF_UNIX, AF_NETLINK];
    if !also.networks {
        allowed.extend([AF_INET, AF_INET6]);
    }
    let conditions: Result<Vec<_>, _> = allowed
        .into_iter()
        .map(|family| argument(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect();
    let other = SeccompRule::new(conditions?)?;
    Ok(with_x32([(SYS_socket, vec![other])].into()))
}

fn all_of<const N: usize>(
    conditions: [SeccompCondition; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into())
}

fn argument(
    index: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
}

#[cfg(target_arch = "x86_64")]
fn with_x32(mut rules: BTreeMap<i64, Vec<SeccompRule>>) -> BTreeMap<i64, Vec<SeccompRule>> {
    let again: Vec<_> = rules
        .iter()
        .map(|(call, rules)| (call + x86_64::X32, rules.clone()))
        .collect();
    rules.extend(again);
    rules.extend(x86_64::X32_OWN.iter().map(|call| (*call, vec![])));
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32(rules: BTreeMap<i64, Vec<SeccompRule>>) -> BTreeMap<i64, Vec<SeccompRule>> {
    rules
}
