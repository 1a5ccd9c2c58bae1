//! The errors of the system that say that this machine, or this process, has no more of something.

use std::io;

use nix::errno::Errno;

/// True if an error says that there is no more of something: open files, processes, memory,
/// room on the disk, ports. So it says nothing of what was asked for, and another try may
/// succeed.
#[must_use]
pub fn is_lack(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error().map(Errno::from_raw),
        Some(
            Errno::EMFILE
                | Errno::ENFILE
                | Errno::EAGAIN
                | Errno::ENOMEM
                | Errno::ENOBUFS
                | Errno::ENOSPC
                | Errno::EDQUOT
                | Errno::EADDRNOTAVAIL
        )
    )
}
