//! Kills the bots if this process dies without doing so: a process of its own reads from a
//! pipe, which the system closes however we die.

use std::{
    collections::HashMap,
    io::{self, BufRead as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
};

use nix::{
    sys::{
        prctl,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use parking_lot::Mutex;

use crate::process::remove_folder;

/// The process that kills the bots, with our end of its pipe.
#[derive(Debug)]
pub struct Supervisor(Mutex<Child>);

impl Supervisor {
    /// Starts the process that this command describes; it must call [`supervise`].
    ///
    /// # Errors
    ///
    /// It can't be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let child = command
            // It needs nothing of ours, and ours may hold passwords.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // So that Ctrl-C on the terminal does not reach it.
            .process_group(0)
            .spawn()?;
        Ok(Self(Mutex::new(child)))
    }

    /// From here on it kills this process group and removes its folder when we die.
    pub fn watch(&self, group: Pid, folder: &Path) {
        self.say(&format!("+{group} {}", folder.display()));
    }

    /// From here on it removes this folder when we die. The process in a sandbox or a container
    /// that this is for ends by itself then.
    pub(crate) fn watch_folder(&self, leader: Pid, folder: &Path) {
        self.say(&format!("={leader} {}", folder.display()));
    }

    /// The group has ended.
    pub(crate) fn unwatch(&self, group: Pid) {
        self.say(&format!("-{group}"));
    }

    fn say(&self, line: &str) {
        let mut child = self.0.lock();
        if let Some(pipe) = &mut child.stdin
            && let Err(error) = writeln!(pipe, "{line}")
        {
            tracing::warn!(%error, "the supervisor is gone");
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let child = self.0.get_mut();
        // It closes our end of the pipe first.
        let _ = child.wait();
    }
}

/// The work of the supervising process: reads lines `+GROUP FOLDER`, `=GROUP FOLDER` and `-GROUP`
/// from its standard input, and at the end of the input kills the groups that are left, but for
/// those with `=`, and removes the folders of all. A pipe that breaks counts as ended.
pub fn supervise() {
    // Bots run as the same user, and must not keep it from its work. Its environment is empty
    // in any case.
    let _ = prctl::set_dumpable(false);
    let mut groups = HashMap::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let (group, folder) = line.split_once(' ').unwrap_or((&line, ""));
        match group.split_at_checked(1) {
            Some(("+", group)) => groups.insert(group.to_owned(), (true, folder.to_owned())),
            Some(("=", group)) => groups.insert(group.to_owned(), (false, folder.to_owned())),
            Some(("-", group)) => groups.remove(group),
            _ => None,
        };
    }
    // 0 and 1 would be our own group and everybody.
    groups.retain(|group, _| group.parse::<i32>().is_ok_and(|group| group > 1));
    for (group, (killed, _)) in &groups {
        if let (true, Ok(group)) = (killed, group.parse()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
    // Nobody still runs while this takes its time.
    for (_, folder) in groups.values() {
        remove_folder(Path::new(folder));
    }
}
