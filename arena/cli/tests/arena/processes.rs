//! Processes below other ones, as `/proc` shows them.

use std::{fs, process::Child};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::vocabulary::*;

/// A process below another one.
pub(crate) struct Descendant {
    id: i32,
    /// The processes between the two.
    path: Vec<i32>,
    words: Vec<String>,
}

/// The bots that a worker has started.
pub(crate) fn bots_of(worker: &Child) -> Vec<Descendant> {
    let mut below = descendants(worker.id() as i32);
    below.retain(Descendant::is_a_bot);
    below
}

impl Descendant {
    /// Kills it, and returns when the worker has seen that it is gone.
    pub(crate) fn kill(&self) {
        kill(Pid::from_raw(self.id), Signal::SIGKILL).unwrap();
        // The worker waits for the first of these processes, and that one for the next.
        let between = self.path.iter().chain([&self.id]);
        let is_there = |id: &i32| fs::exists(format!("/proc/{id}")).unwrap();
        wait_until("a bot that was killed is gone", || {
            !between.clone().any(is_there)
        });
    }

    /// True if it is a built-in bot, or a villain that breaks no rule.
    fn is_a_bot(&self) -> bool {
        let verb = self.words.get(1).map(String::as_str);
        matches!(verb, Some("bot" | "slow" | "honest"))
    }
}

fn descendants(of: i32) -> Vec<Descendant> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let parents: Vec<(i32, i32)> = entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let about = fs::read_to_string(entry.path().join("stat")).ok()?;
            // After the name, which is in brackets, come the state and the parent.
            let (_, rest) = about.rsplit_once(')')?;
            Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = Vec::new();
    let mut paths = vec![(of, Vec::new())];
    while let Some((parent, path)) = paths.pop() {
        for (id, _) in parents.iter().filter(|(_, of)| *of == parent) {
            let mut below = path.clone();
            below.push(*id);
            paths.push((*id, below));
            let words = fs::read_to_string(format!("/proc/{id}/cmdline"));
            let words = words.unwrap_or_default();
            found.push(Descendant {
                id: *id,
                path: path.clone(),
                words: words.split('\0').map(str::to_owned).collect(),
            });
        }
    }
    found
}
