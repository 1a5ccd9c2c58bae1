//! The facts about processes in `/proc`. That it could not be asked, since this process may
//! not open another file for instance, is an error and no answer.

use std::{fs, io};

use nix::{errno::Errno, unistd::Pid};

/// The facts about a process after its name: its state, its parent, its group and more
/// (proc_pid_stat(5)). None if it has ended.
pub(crate) fn stat(process: u32) -> io::Result<Option<String>> {
    // Its name, in brackets, may have brackets, spaces and bytes that are no text.
    let stat = there(fs::read(format!("/proc/{process}/stat")))?;
    let stat = stat.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(stat.and_then(|stat| Some(stat.rsplit_once(") ")?.1.to_owned())))
}

/// The command line of a process, with spaces between its words. None if it has ended.
pub(crate) fn command(process: u32) -> io::Result<Option<String>> {
    let words = there(fs::read(format!("/proc/{process}/cmdline")))?;
    Ok(words.map(|words| String::from_utf8_lossy(&words).replace('\0', " ")))
}

/// The children of a process, as far as this process can see them.
pub(crate) fn children_of(above: Pid) -> io::Result<Vec<Pid>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(process) = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Some(stat) = stat(process)? else {
            continue;
        };
        let parent = stat
            .split(' ')
            .nth(1)
            .and_then(|parent| parent.parse().ok());
        if parent == Some(above.as_raw())
            && let Ok(process) = i32::try_from(process)
        {
            children.push(Pid::from_raw(process));
        }
    }
    Ok(children)
}

/// The text that was read of a process, if it is still there and lets itself be looked at.
fn there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT | Errno::ESRCH | Errno::EACCES | Errno::EPERM) => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_no_end() {
        let error = |error: Errno| there::<()>(Err(error.into()));
        for gone in [Errno::ENOENT, Errno::ESRCH, Errno::EACCES] {
            assert_eq!(error(gone).unwrap(), None);
        }
        for full in [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM] {
            error(full).unwrap_err();
        }
        let own = std::process::id();
        assert!(stat(own).unwrap().is_some() && command(own).unwrap().is_some());
        assert_eq!(stat(u32::MAX).unwrap(), None);
    }
}
