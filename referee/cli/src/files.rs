//! The limit of open files: raised as far as it can be, and how many games fit into it.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use referee::core_count;
use referee_games::GAMES;

use crate::text;

/// What is open beside bots: the store, records, logs, listeners.
const RESERVED: u64 = 200;
/// The files of a bot's process: two pipes, a log and a descriptor of the process.
const OF_A_PROCESS: u64 = 4;

/// Raises the limit of this process as far as the system allows.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
    {
        tracing::warn!(%error, "the limit of open files stays at {soft}");
    }
}

/// How many games of so many seats are played at once: as many as are wanted, or as many as
/// there are files for, which is said.
pub fn games_at_once(wanted: usize, seats: u8) -> usize {
    let Ok((limit, _)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return wanted;
    };
    let fit = games_that_fit(limit, seats, core_count() as u64);
    if wanted > fit {
        text::note(&format!(
            "{limit} files may be open, which is enough for {fit} games at once; allow more \
             (ulimit -n) for the {wanted} that were asked for"
        ));
    }
    wanted.min(fit)
}

/// The same where any game may be played.
pub fn games_of_any_kind_at_once(wanted: usize) -> usize {
    let seats = GAMES.iter().map(|kind| kind.info().seats);
    games_at_once(wanted, seats.max().unwrap_or(2))
}

/// At worst every seat has a process of its own, and each of our threads a connection to it.
fn games_that_fit(limit: u64, seats: u8, threads: u64) -> usize {
    let a_game = u64::from(seats) * (OF_A_PROCESS + threads);
    let games = limit.saturating_sub(RESERVED) / a_game;
    usize::try_from(games.max(1)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_fit_into_the_open_files() {
        assert_eq!(games_that_fit(1024, 2, 2), 68);
        assert_eq!(games_that_fit(1024, 4, 16), 10);
        assert_eq!(games_that_fit(64, 4, 16), 1);
        assert!(games_that_fit(u64::MAX, 2, 2) > 1_000_000);
    }
}
