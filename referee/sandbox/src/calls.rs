//! The system calls that a bot has, and of each why it tells no other bot anything, or how much.
//! Whatever is not listed is unknown to a bot, also what later kernels add. What some of the
//! listed calls are refused, or do without effect, for some arguments is in `seccomp.rs`.

use nix::libc::*;

/// Since Linux 6.6 and 6.10; the same numbers on every architecture.
const FCHMODAT2: i64 = 452;
const MSEAL: i64 = 462;

pub(crate) const REMAINING: &[&[i64]] = &[
    MEMORY, PROCESSES, RIGHTS, SCHEDULING, CLOCK, WAITING, FILES, PIPES, SOCKETS, SHARED, MACHINE,
    OLDER,
];

/// Memory of the process itself; pages of shared files are read, not written, and how long that
/// takes is measured.
const MEMORY: &[i64] = &[
    SYS_brk,
    SYS_get_mempolicy,
    SYS_madvise,
    SYS_mbind,
    SYS_membarrier,
    SYS_memfd_create,
    SYS_mlock,
    SYS_mlock2,
    SYS_mlockall,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    MSEAL,
    SYS_msync,
    SYS_munlock,
    SYS_munlockall,
    SYS_munmap,
    SYS_pkey_alloc,
    SYS_pkey_free,
    SYS_pkey_mprotect,
    SYS_remap_file_pages,
    SYS_set_mempolicy,
    SYS_set_mempolicy_home_node,
];

/// Processes, threads and signals of its own namespace of processes, and what they use.
const PROCESSES: &[i64] = &[
    SYS_clone,
    SYS_execve,
    SYS_execveat,
    SYS_exit,
    SYS_exit_group,
    SYS_get_robust_list,
    SYS_getpgid,
    SYS_getpid,
    SYS_getppid,
    SYS_getrusage,
    SYS_getsid,
    SYS_gettid,
    SYS_kill,
    SYS_personality,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_prctl,
    SYS_prlimit64,
    SYS_process_mrelease,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigqueueinfo,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_rt_tgsigqueueinfo,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_setpgid,
    SYS_setsid,
    SYS_sigaltstack,
    SYS_tgkill,
    SYS_times,
    SYS_tkill,
    SYS_umask,
    SYS_wait4,
    SYS_waitid,
];

/// Rights of the process itself, which it can only lose.
const RIGHTS: &[i64] = &[
    SYS_capget,
    SYS_capset,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getuid,
    SYS_landlock_add_rule,
    SYS_landlock_create_ruleset,
    SYS_landlock_restrict_self,
    SYS_seccomp,
    SYS_setfsgid,
    SYS_setfsuid,
    SYS_setgid,
    SYS_setgroups,
    SYS_setregid,
    SYS_setresgid,
    SYS_setresuid,
    SYS_setreuid,
    SYS_setuid,
];

/// Time and place of the running of its threads: what another bot sees of it is the time of a
/// core, which is measured.
const SCHEDULING: &[i64] = &[
    SYS_getcpu,
    SYS_getpriority,
    SYS_ioprio_get,
    SYS_ioprio_set,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_sched_getaffinity,
    SYS_sched_getattr,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_rr_get_interval,
    SYS_sched_setaffinity,
    SYS_sched_setattr,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_sched_yield,
    SYS_setpriority,
];

/// The clock, which nobody can set, timers of its own and chance.
const CLOCK: &[i64] = &[
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_getitimer,
    SYS_getrandom,
    SYS_gettimeofday,
    SYS_nanosleep,
    SYS_setitimer,
    SYS_timer_create,
    SYS_timer_delete,
    SYS_timer_getoverrun,
    SYS_timer_gettime,
    SYS_timer_settime,
    SYS_timerfd_create,
    SYS_timerfd_gettime,
    SYS_timerfd_settime,
];

/// Waiting at a word in memory, also of a file that others have mapped, which is measured.
const WAITING: &[i64] = &[SYS_futex, SYS_futex_waitv];

/// Files: those that others see can't be written, and a process has its own copies of the rest.
const FILES: &[i64] = &[
    SYS_chdir,
    SYS_close,
    SYS_close_range,
    SYS_copy_file_range,
    SYS_dup,
    SYS_dup3,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_fchdir,
    SYS_fchmod,
    SYS_fchmodat,
    FCHMODAT2,
    SYS_fchown,
    SYS_fchownat,
    SYS_fcntl,
    SYS_fdatasync,
    SYS_fgetxattr,
    SYS_flistxattr,
    SYS_flock,
    SYS_fremovexattr,
    SYS_fsetxattr,
    SYS_fstat,
    SYS_fsync,
    SYS_ftruncate,
    SYS_getcwd,
    SYS_getdents64,
    SYS_getxattr,
    SYS_ioctl,
    SYS_lgetxattr,
    SYS_linkat,
    SYS_listxattr,
    SYS_llistxattr,
    SYS_lremovexattr,
    SYS_lseek,
    SYS_lsetxattr,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_newfstatat,
    SYS_openat,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_read,
    SYS_readahead,
    SYS_readlinkat,
    SYS_readv,
    SYS_removexattr,
    SYS_renameat2,
    SYS_sendfile,
    SYS_setxattr,
    SYS_statx,
    SYS_symlinkat,
    SYS_sync,
    SYS_syncfs,
    SYS_truncate,
    SYS_unlinkat,
    SYS_utimensat,
    SYS_write,
    SYS_writev,
];

/// Pipes, events and waiting for them: between processes that one of them has started, but for
/// what the kernel counts for each user.
const PIPES: &[i64] = &[
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_ppoll,
    SYS_pselect6,
    SYS_signalfd4,
    SYS_splice,
    SYS_tee,
    SYS_vmsplice,
];

/// Sockets: in its own namespace of networks there is nobody else, and its socket is the
/// referee's.
const SOCKETS: &[i64] = &[
    SYS_accept,
    SYS_accept4,
    SYS_bind,
    SYS_connect,
    SYS_getpeername,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_listen,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_setsockopt,
    SYS_shutdown,
    SYS_socket,
    SYS_socketpair,
];

/// Shared memory, semaphores and queues of its own namespace; refused where it has none.
const SHARED: &[i64] = &[
    SYS_mq_getsetattr,
    SYS_mq_notify,
    SYS_mq_open,
    SYS_mq_timedreceive,
    SYS_mq_timedsend,
    SYS_mq_unlink,
    SYS_msgctl,
    SYS_msgget,
    SYS_msgrcv,
    SYS_msgsnd,
    SYS_semctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_shmat,
    SYS_shmctl,
    SYS_shmdt,
    SYS_shmget,
];

/// Facts about the machine: its name is one for all; the memory and processes that it has are
/// measured.
const MACHINE: &[i64] = &[SYS_sysinfo, SYS_uname];

/// Older forms of calls above.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    SYS_access,
    SYS_alarm,
    SYS_arch_prctl,
    SYS_chmod,
    SYS_chown,
    SYS_creat,
    SYS_dup2,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_fork,
    SYS_futimesat,
    SYS_getdents,
    SYS_getpgrp,
    SYS_getrlimit,
    SYS_lchown,
    SYS_link,
    SYS_lstat,
    SYS_mkdir,
    SYS_mknod,
    SYS_open,
    SYS_pause,
    SYS_pipe,
    SYS_poll,
    SYS_readlink,
    SYS_rename,
    SYS_renameat,
    SYS_rmdir,
    SYS_select,
    SYS_setrlimit,
    SYS_signalfd,
    SYS_stat,
    SYS_symlink,
    SYS_sync_file_range,
    SYS_time,
    SYS_unlink,
    SYS_utime,
    SYS_utimes,
    SYS_vfork,
];
/// Calls that have another name on the usual machine.
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[SYS_renameat, SYS_sync_file_range];
