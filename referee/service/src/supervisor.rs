//! Kills the bots if this process dies without doing so: a process of its own reads from a
//! pipe, which the system closes however we die.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use nix::{
    sys::{
        prctl,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use parking_lot::{Condvar, Mutex};

use crate::process::remove_folder;

/// Pause before a supervisor that has not lived for as long is started anew; it doubles each time, up
/// to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The process that kills the bots, with our end of its pipe. Where it ends before us, that is said at
/// once, and another one is started, which is told of all bots that run.
#[derive(Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// It is not needed any more.
    over: Condvar,
}

#[derive(Debug)]
struct State {
    /// None while no process runs.
    pipe: Option<ChildStdin>,
    /// The line about each group that it watches.
    watched: BTreeMap<Pid, String>,
    is_over: bool,
}

impl Supervisor {
    /// Starts the process that this command describes; it must call [`supervise`].
    ///
    /// # Errors
    ///
    /// It can't be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command
            // It needs nothing of ours, and ours may hold passwords.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // So that Ctrl-C on the terminal does not reach it.
            .process_group(0);
        let mut child = command.spawn()?;
        let state = State {
            pipe: child.stdin.take(),
            watched: BTreeMap::new(),
            is_over: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            over: Condvar::new(),
        });
        let kept = shared.clone();
        let keeper = std::thread::Builder::new()
            .name("supervisor".to_owned())
            .spawn(move || kept.keep(command, child))?;
        Ok(Self {
            shared,
            keeper: Some(keeper),
        })
    }

    /// From here on it kills this process group and removes its folder when we die.
    pub fn watch(&self, group: Pid, folder: &Path) {
        self.shared
            .watch(group, format!("+{group} {}", folder.display()));
    }

    /// From here on it removes this folder when we die. The process in a sandbox or a container
    /// that this is for ends by itself then.
    pub(crate) fn watch_folder(&self, leader: Pid, folder: &Path) {
        self.shared
            .watch(leader, format!("={leader} {}", folder.display()));
    }

    /// The group has ended.
    pub(crate) fn unwatch(&self, group: Pid) {
        let mut state = self.shared.state.lock();
        state.watched.remove(&group);
        state.say(&format!("-{group}"));
    }
}

impl Shared {
    fn watch(&self, group: Pid, line: String) {
        let mut state = self.state.lock();
        state.say(&line);
        state.watched.insert(group, line);
    }

    /// Waits for the end of the process, and starts another one where it is needed still.
    fn keep(&self, mut command: Command, mut child: Child) {
        let mut pause = FIRST_PAUSE;
        loop {
            let began = Instant::now();
            let ended = child.wait();
            let mut state = self.state.lock();
            state.pipe = None;
            if state.is_over {
                return;
            }
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            tracing::warn!(
                %how,
                "the process that ends the bots if this one is killed has ended itself; another one \
                 is started. No game is affected"
            );
            if began.elapsed() >= pause {
                pause = FIRST_PAUSE;
            } else if !self.pauses(&mut state, &mut pause) {
                return;
            }
            child = loop {
                match command.spawn() {
                    Ok(child) => break child,
                    Err(error) => tracing::warn!(%error, "it could not be started; trying again"),
                }
                if !self.pauses(&mut state, &mut pause) {
                    return;
                }
            };
            state.pipe = child.stdin.take();
            for line in state.watched.clone().values() {
                state.say(line);
            }
        }
    }

    /// Waits, twice as long the next time. False if it is not needed any more.
    fn pauses(&self, state: &mut parking_lot::MutexGuard<'_, State>, pause: &mut Duration) -> bool {
        let until = Instant::now() + *pause;
        *pause = (2 * *pause).min(LONGEST_PAUSE);
        while !state.is_over && !self.over.wait_until(state, until).timed_out() {}
        !state.is_over
    }
}

impl State {
    /// Where the process has ended, the next one is told.
    fn say(&mut self, line: &str) {
        if let Some(pipe) = &mut self.pipe {
            let _ = writeln!(pipe, "{line}");
        }
    }
}

impl Drop for Supervisor {
    /// Closes our end of the pipe, and waits until the process has done its work.
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.is_over = true;
        state.pipe = None;
        drop(state);
        self.shared.over.notify_all();
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// The work of the supervising process: reads lines `+GROUP FOLDER`, `=GROUP FOLDER` and `-GROUP`
/// from its standard input, and at the end of the input kills the groups that are left, but for
/// those with `=`, and removes the folders of all. A pipe that breaks counts as ended.
pub fn supervise() {
    // Bots run as the same user, and must not keep it from its work. Its environment is empty
    // in any case.
    let _ = prctl::set_dumpable(false);
    let mut groups = BTreeMap::new();
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
