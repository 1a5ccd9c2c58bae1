//! The limit of open files: raised as far as it can be, and how many games fit into it.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use referee::core_count;
use referee_games::GAMES;

use crate::text;

/// Files that are open beside bots: the store, records, logs, listeners.
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

/// Number of games of so many seats that are played at once: as many as are wanted, or as many as
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
    games_at_once(wanted, most_seats())
}

/// The division of the files that a process with a page may open, so that nobody who looks takes
/// those of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileShares {
    /// Games that this machine plays at once.
    pub games: usize,
    /// Games of people at once.
    pub people: usize,
    /// Connections of workers.
    pub workers: usize,
    /// Connections of those who look at the page.
    pub viewers: usize,
}

impl FileShares {
    /// As many as are wanted of each, or as there are files for, which is said.
    pub fn within_limit(wanted: Self) -> Self {
        let Ok((limit, _)) = getrlimit(Resource::RLIMIT_NOFILE) else {
            return wanted;
        };
        let shares = wanted.divide(limit, core_count() as u64);
        let Self {
            games,
            people,
            workers,
            viewers,
        } = shares;
        tracing::info!(
            limit,
            games,
            people,
            workers,
            viewers,
            "open files are divided"
        );
        // Of workers there are seldom as many as there may be.
        if (games, people, viewers) != (wanted.games, wanted.people, wanted.viewers) {
            text::note(&format!(
                "{limit} files may be open, which is enough for {games} games, {people} games of \
                 people and {viewers} connections to the page at once, beside {workers} workers; allow more \
                 (ulimit -n) for {}, {} and {}",
                wanted.games, wanted.people, wanted.viewers
            ));
        }
        shares
    }

    /// Games get what they want of half of the files, workers and games of people of an eighth and a
    /// quarter, and the page what is left.
    fn divide(self, limit: u64, threads: u64) -> Self {
        let files = limit.saturating_sub(RESERVED);
        let a_game = files_of_a_game(most_seats(), threads);
        // The page has one thread, and a person needs no process.
        let of_people = files_of_a_game(most_seats() - 1, 1);
        let fit = |wanted: usize, files: u64, each: u64| {
            let fit = usize::try_from(files / each).unwrap_or(usize::MAX);
            wanted.min(fit.max(1))
        };
        let games = fit(self.games, files / 2, a_game);
        let people = fit(self.people, files / 4, of_people);
        let workers = fit(self.workers, files / 8, 1);
        let taken = games as u64 * a_game + people as u64 * of_people + workers as u64;
        Self {
            games,
            people,
            workers,
            viewers: fit(self.viewers, files.saturating_sub(taken), 1),
        }
    }
}

fn most_seats() -> u8 {
    let seats = GAMES.iter().map(|kind| kind.info().seats);
    seats.max().unwrap_or(2)
}

/// At worst every seat has a process of its own, and each of our threads a connection to it.
const fn files_of_a_game(seats: u8, threads: u64) -> u64 {
    seats as u64 * (OF_A_PROCESS + threads)
}

fn games_that_fit(limit: u64, seats: u8, threads: u64) -> usize {
    let games = limit.saturating_sub(RESERVED) / files_of_a_game(seats, threads);
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

    const WANTED: FileShares = FileShares {
        games: 16,
        people: 100,
        workers: 1024,
        viewers: 4_000,
    };

    #[test]
    fn the_shares_of_all_are_together_no_more_than_there_are_files() {
        for threads in [1, 2, 16, 128] {
            // With fewer files than that not even one of each fits.
            for limit in (1_024 + threads * 32..10_000).step_by(97) {
                let shares = WANTED.divide(limit, threads);
                let games = shares.games as u64 * files_of_a_game(4, threads);
                let people = shares.people as u64 * files_of_a_game(3, 1);
                let all = games + people + (shares.workers + shares.viewers) as u64;
                assert!(all + RESERVED <= limit, "{limit} {threads} {shares:?}");
            }
        }
    }

    #[test]
    fn a_thousand_viewers_at_1024_files_leave_games_theirs() {
        let shares = WANTED.divide(1_024, 2);
        let expected = FileShares {
            games: 16,
            people: 13,
            workers: 103,
            viewers: 142,
        };
        assert_eq!(shares, expected);
        // What is not wanted is there for those who look.
        let none_plays = FileShares {
            games: 0,
            people: 0,
            ..WANTED
        };
        assert_eq!(none_plays.divide(1_024, 2).viewers, 721);
        assert_eq!(WANTED.divide(1_000_000, 2), WANTED);
        assert_eq!(WANTED.divide(64, 2).viewers, 1);
    }
}
