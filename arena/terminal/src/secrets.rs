//! Secrets on the command line, which every process of this machine can read: the seed that
//! decides deals, and the password of a store. They go into the environment of this program,
//! which nobody else can read, and the program starts again without them.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    process::Command,
};

/// The variable that is read in place of `--seed`.
pub const SEED: &str = "ARENA_SEED";
/// The variable that is read in place of `--store`.
pub const STORE: &str = "ARENA_STORE";

/// Verbs whose seed decides deals that bots must not know.
const WITH_SEED: &[&[&str]] = &[
    &["match"],
    &["exam", "connect-four"],
    &["tournament", "run"],
    &["tournament", "submit"],
];

/// Starts this program again in place of itself if a secret is on its command line.
pub fn hide() {
    let words: Vec<OsString> = env::args_os().collect();
    let (words, variables) = without_secrets(words);
    if variables.is_empty() {
        return;
    }
    if let (Ok(program), Some((name, rest))) = (env::current_exe(), words.split_first()) {
        // Where that fails it goes on as it is.
        let _ = Command::new(program)
            .arg0(name)
            .args(rest)
            .envs(variables)
            .exec();
    }
}

/// The words without the secrets, and the variables that they go to.
fn without_secrets(mut words: Vec<OsString>) -> (Vec<OsString>, Vec<(&'static str, OsString)>) {
    let mut variables = Vec::new();
    // Options of the program itself may precede the verb.
    let has_seed = WITH_SEED.iter().any(|verb| {
        let mut found = words.windows(verb.len());
        found.any(|words| words.iter().eq(verb.iter()))
    });
    if has_seed && let Some(seed) = take(&mut words, "--seed", |_| true) {
        variables.push((SEED, seed));
    }
    if let Some(store) = take(&mut words, "--store", has_password) {
        variables.push((STORE, store));
    }
    (words, variables)
}

/// Takes an option with its value from the words, where it is there once.
fn take(
    words: &mut Vec<OsString>,
    option: &str,
    is_secret: impl Fn(&OsStr) -> bool,
) -> Option<OsString> {
    let joined = [option, "="].concat();
    let is_it = |word: &OsString| word == option || word.as_bytes().starts_with(joined.as_bytes());
    let mut places = (1..words.len()).filter(|at| is_it(&words[*at]));
    let (at, None) = (places.next()?, places.next()) else {
        return None;
    };
    let (value, count) = match words[at].as_bytes().strip_prefix(joined.as_bytes()) {
        Some(value) => (OsStr::from_bytes(value).to_owned(), 1),
        None => (words.get(at + 1)?.clone(), 2),
    };
    if !is_secret(&value) {
        return None;
    }
    words.drain(at..at + count);
    Some(value)
}

/// True if a URL names a user with a password.
fn has_password(url: &OsStr) -> bool {
    let url = url.to_string_lossy();
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    let user = rest
        .split('/')
        .next()
        .and_then(|host| host.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':')) || url.contains("password=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(line: &str) -> (String, Vec<(&'static str, OsString)>) {
        let (words, variables) = without_secrets(line.split(' ').map(OsString::from).collect());
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        (words.join(" "), variables)
    }

    #[test]
    fn secrets_leave_the_command_line() {
        for line in [
            "arena match othello --seed 17 --deals 2",
            "arena match othello --seed=17 --deals 2",
            "arena tournament submit --seed 17 match othello --deals 2",
            "arena --log-format json match othello --deals 2 --seed 17",
        ] {
            let (left, variables) = hidden(line);
            assert!(left.ends_with("match othello --deals 2"), "{left}");
            assert_eq!(variables, [(SEED, "17".into())]);
        }
        let url = "postgres://arena:pass@host/db";
        let (left, variables) = hidden(&format!("arena tournament list --store {url}"));
        assert_eq!(left, "arena tournament list");
        assert_eq!(variables, [(STORE, url.into())]);
    }

    #[test]
    fn what_is_no_secret_or_no_sense_stays() {
        for line in [
            "arena selftest --seed 17",
            "arena exam mahjong --seed 17",
            "arena match othello --seed",
            "arena match othello --seed 1 --seed 2",
            "arena match othello --seed-file f",
            "arena tournament list --store arena.sqlite",
            "arena tournament list --store postgres://arena@host/db",
        ] {
            assert_eq!(hidden(line), (line.to_owned(), Vec::new()));
        }
    }
}
