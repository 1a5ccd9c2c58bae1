//! Refuses system calls that no bot needs, and that attacks and tools need, or by which bots
//! that share nothing but a read-only file could tell each other something. What is neither in
//! the list of `calls.rs` nor refused here with another error is unknown (`ENOSYS`): runtimes find
//! what they expect on older kernels, and do without. `clone3` and `openat2` are so, which have their flags
//! in memory, where no filter sees them; `clone` and `openat` are used then. And `statfs`: the free blocks of the
//! disk tell what others have written, which stays when they have ended. It restricts the calling
//! thread and what is started from it.

use std::collections::BTreeMap;

use nix::libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET,
    CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, EAFNOSUPPORT, EINVAL, ENOSYS,
    EOPNOTSUPP, EPERM, F_CANCELLK, F_GETLEASE, F_GETLK, F_NOTIFY, F_OFD_GETLK, F_OFD_SETLK,
    F_OFD_SETLKW, F_SETLEASE, F_SETLK, F_SETLKW, PR_SET_MEMORY_MERGE, RWF_DONTCACHE, RWF_NOWAIT,
    SYS_acct, SYS_adjtimex, SYS_chroot, SYS_clock_adjtime, SYS_clock_settime, SYS_clone,
    SYS_delete_module, SYS_fadvise64, SYS_fanotify_init, SYS_fcntl, SYS_finit_module, SYS_flock,
    SYS_get_mempolicy, SYS_init_module, SYS_ioctl, SYS_kcmp, SYS_kexec_file_load, SYS_kexec_load,
    SYS_lookup_dcookie, SYS_madvise, SYS_mbind, SYS_mount, SYS_mq_open, SYS_msgget,
    SYS_name_to_handle_at, SYS_nfsservctl, SYS_open_by_handle_at, SYS_perf_event_open,
    SYS_personality, SYS_pidfd_getfd, SYS_pivot_root, SYS_prctl, SYS_preadv2, SYS_process_madvise,
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_quotactl, SYS_quotactl_fd,
    SYS_reboot, SYS_sched_setaffinity, SYS_semget, SYS_setdomainname, SYS_sethostname, SYS_setns,
    SYS_settimeofday, SYS_shmget, SYS_socket, SYS_swapoff, SYS_swapon, SYS_sync, SYS_syncfs,
    SYS_syslog, SYS_umount2, SYS_unshare, SYS_userfaultfd, SYS_vhangup,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::calls::REMAINING;

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

/// Flag of `get_mempolicy` that asks at which node a page lies, also that of a file that others
/// read.
const MPOL_F_ADDR: u64 = 1 << 1;

/// Requests of `ioctl` that type into a terminal, or work on its screen. The C libraries
/// have them in different types.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Kinds of requests of `ioctl` to file systems: ext4 and most others (`f`), xfs (`X`), btrfs and
/// shared copies.
const FILE_SYSTEMS: [u64; 3] = [0x66, 0x58, 0x94];

/// System calls that make or find shared memory and queues that outlive a process.
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
}

/// The calls that are refused besides those that always are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedCalls {
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
pub(crate) fn restrict(also: RefusedCalls) -> Result<(), String> {
    // Where several filters refuse a call, the newest one has its error told.
    let known = remaining().map(|call| (call, vec![])).collect();
    apply(known, refusal(ENOSYS), SeccompAction::Allow)?;
    for (rules, error) in [
        (without_effect(), 0),
        (refused_sockets(also), EAFNOSUPPORT),
        (not_permitted(also), EPERM),
        (not_supported(), EOPNOTSUPP),
        (invalid(), EINVAL),
    ] {
        let rules = rules.map_err(|error| error.to_string())?;
        apply(rules, SeccompAction::Allow, refusal(error))?;
    }
    Ok(())
}

/// The calls that a bot has, or some forms of them: also those that are refused with an error of
/// their own.
fn remaining() -> impl Iterator<Item = i64> {
    REMAINING.iter().copied().flatten().copied()
}

const fn refusal(error: i32) -> SeccompAction {
    SeccompAction::Errno(error.unsigned_abs())
}

fn apply(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    matching: SeccompAction,
) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| text(&error))?;
    let filter = SeccompFilter::new(rules, others, matching, arch).map_err(|error| text(&error))?;
    let program = BpfProgram::try_from(filter).map_err(|error| text(&error))?;
    seccompiler::apply_filter(&program).map_err(|error| text(&error))
}

type FilterRules = Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError>;

fn not_permitted(also: RefusedCalls) -> FilterRules {
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
    Ok(rules)
}

/// Reads that tell whether a file is in memory, or leave it as it was, and requests to a file
/// system: as where it can't do so. Some of these tell which parts of a file have been looked up,
/// or how much of the disk is free.
fn not_supported() -> FilterRules {
    let is_of = |kind: u64| all_of([argument(1, SeccompCmpOp::MaskedEq(0xff00), kind << 8)?]);
    let requests: Result<_, _> = FILE_SYSTEMS.into_iter().map(is_of).collect();
    let has_flag = |flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        all_of([argument(5, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    let asks = vec![has_flag(RWF_NOWAIT)?, has_flag(RWF_DONTCACHE)?];
    Ok([(SYS_preadv2, asks), (SYS_ioctl, requests?)].into())
}

/// Calls that are invalid with some of their arguments.
fn invalid() -> FilterRules {
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
        (SYS_get_mempolicy, vec![has_flag(4, MPOL_F_ADDR)?]),
        (SYS_madvise, advice?),
        (SYS_mbind, moves?),
        (SYS_prctl, vec![is(0, merge)?]),
    ];
    Ok(rules.into())
}

fn without_effect() -> FilterRules {
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
    Ok(rules)
}

/// Sockets that are none of the families that programs use. Some of the others are not
/// held by a network namespace: vsock reaches the host of a virtual machine.
fn refused_sockets(also: RefusedCalls) -> FilterRules {
    let mut allowed = vec![AF_UNIX, AF_NETLINK];
    if !also.networks {
        allowed.extend([AF_INET, AF_INET6]);
    }
    let conditions: Result<Vec<_>, _> = allowed
        .into_iter()
        .map(|family| argument(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect();
    let other = SeccompRule::new(conditions?)?;
    Ok([(SYS_socket, vec![other])].into())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_call_is_listed_once_and_is_not_refused_in_all_its_forms() {
        let listed: BTreeSet<i64> = remaining().collect();
        assert_eq!(listed.len(), remaining().count());
        for call in NOT_PERMITTED {
            assert!(!listed.contains(call), "{call}");
        }
    }

    /// A call that is looked at by its arguments, or done without effect, must be one that a bot
    /// has, or it would be unknown.
    #[test]
    fn what_is_refused_for_some_arguments_is_listed() {
        let none = RefusedCalls {
            networks: false,
            outliving: false,
            other_cores: false,
        };
        let listed: BTreeSet<i64> = remaining().collect();
        for rules in [
            without_effect(),
            refused_sockets(none),
            not_supported(),
            invalid(),
        ] {
            for call in rules.unwrap().keys() {
                assert!(listed.contains(call), "{call}");
            }
        }
    }
}
