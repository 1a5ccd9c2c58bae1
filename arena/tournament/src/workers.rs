//! Workers on which bots fail more often than on others.

use std::collections::BTreeMap;

use arena_ladder::{Failure, FailureCount, WorkerTest, test_workers};
use arena_store::{Counter, Store};
use referee_core::FoulKind;

use crate::TournamentError;

/// Of so many tournaments, the newest ones, failures are counted.
const NEWEST: usize = 50;

/// A worker on which bots fail more often than on others.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// The worker; none for the arena's own process.
    pub worker: Option<String>,
    /// The result of the test.
    pub test: WorkerTest,
}

/// The games and failures of one bot on one worker.
#[derive(Default)]
struct Tally {
    games: u64,
    late: u64,
    crashed: u64,
}

/// Looks for workers on which the bots of the newest tournaments lose on time or crash much
/// more often than on others ([`test_workers`]). What is withheld is not counted yet.
///
/// # Errors
///
/// The store fails.
pub async fn suspicions(store: &Store) -> Result<Vec<Suspicion>, TournamentError> {
    let mut numbers: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut counts = Vec::new();
    let mut bot = 0;
    for tournament in store.tournaments().await?.into_iter().take(NEWEST) {
        for tallies in tallies(store.counters(tournament.id).await?) {
            bot += 1;
            for (worker, tally) in tallies {
                let next = numbers.len() as u64;
                let worker = *numbers.entry(worker).or_insert(next);
                for (failure, failures) in [
                    (Failure::Late, tally.late),
                    (Failure::Crashed, tally.crashed),
                ] {
                    counts.push(FailureCount {
                        bot,
                        worker,
                        failure,
                        games: tally.games,
                        failures,
                    });
                }
            }
        }
    }
    let names: BTreeMap<u64, Option<String>> = numbers
        .into_iter()
        .map(|(name, number)| (number, name))
        .collect();
    let flagged = test_workers(&counts)
        .into_iter()
        .filter(|test| test.is_flagged);
    Ok(flagged
        .map(|test| Suspicion {
            worker: names.get(&test.worker).cloned().flatten(),
            test,
        })
        .collect())
}

/// The failure that a bot's foul is, where it may be its worker's fault.
pub(crate) const fn failure(kind: FoulKind) -> Option<Failure> {
    match kind {
        FoulKind::Late => Some(Failure::Late),
        FoulKind::Unreachable | FoulKind::NoStart | FoulKind::Crashed => Some(Failure::Crashed),
        FoulKind::Unsupported
        | FoulKind::HungUp
        | FoulKind::Resigned
        | FoulKind::ErrorStatus
        | FoulKind::Malformed
        | FoulKind::WrongNumber
        | FoulKind::Unsolicited
        | FoulKind::Oversized
        | FoulKind::Flooded
        | FoulKind::Interfered
        | FoulKind::MemoryExceeded
        | FoulKind::Illegal => None,
    }
}

/// For each bot of a tournament what it did on each worker. What no worker did, the arena's own
/// process did.
fn tallies(
    counters: Vec<(Option<arena_ladder::Entrant>, Counter, i64)>,
) -> Vec<BTreeMap<Option<String>, Tally>> {
    let mut bots: BTreeMap<_, BTreeMap<Option<String>, Tally>> = BTreeMap::new();
    for (entrant, counter, count) in counters {
        let Some(entrant) = entrant else { continue };
        let count = count.unsigned_abs();
        let tallies = bots.entry(entrant).or_default();
        // On all workers together, of which those with a name are taken away below.
        match counter {
            Counter::Seat(_) => tallies.entry(None).or_default().games += count,
            Counter::Foul(kind) => match failure(kind) {
                Some(Failure::Late) => tallies.entry(None).or_default().late += count,
                Some(Failure::Crashed) => tallies.entry(None).or_default().crashed += count,
                None => {}
            },
            Counter::WorkerGames(worker) => tallies.entry(Some(worker)).or_default().games += count,
            Counter::WorkerLate(worker) => tallies.entry(Some(worker)).or_default().late += count,
            Counter::WorkerFailed(worker) => {
                tallies.entry(Some(worker)).or_default().crashed += count;
            }
            _ => {}
        }
    }
    for tallies in bots.values_mut() {
        let of_all = |count: fn(&Tally) -> u64| -> u64 {
            let named = tallies.iter().filter(|(worker, _)| worker.is_some());
            named.map(|(_, tally)| count(tally)).sum()
        };
        let named = Tally {
            games: of_all(|tally| tally.games),
            late: of_all(|tally| tally.late),
            crashed: of_all(|tally| tally.crashed),
        };
        if let Some(own) = tallies.get_mut(&None) {
            own.games = own.games.saturating_sub(named.games);
            own.late = own.late.saturating_sub(named.late);
            own.crashed = own.crashed.saturating_sub(named.crashed);
        }
        tallies.retain(|_, tally| tally.games > 0);
    }
    bots.into_values().collect()
}

#[cfg(test)]
mod tests {
    use arena_ladder::Entrant;
    use referee_core::Seat;

    use super::*;

    #[test]
    fn what_no_worker_did_the_arena_did_itself() {
        let who = Some(Entrant::new(3));
        let tallies = tallies(vec![
            (who, Counter::Seat(Seat::new(0)), 60),
            (who, Counter::Seat(Seat::new(1)), 40),
            (who, Counter::Foul(FoulKind::Late), 5),
            (who, Counter::Foul(FoulKind::Crashed), 2),
            (who, Counter::WorkerGames("lab".to_owned()), 70),
            (who, Counter::WorkerLate("lab".to_owned()), 4),
            (None, Counter::Excused, 9),
        ]);
        let [bot] = &tallies[..] else {
            panic!("one bot");
        };
        let figures = |worker: Option<&str>| {
            let tally = &bot[&worker.map(str::to_owned)];
            (tally.games, tally.late, tally.crashed)
        };
        assert_eq!(figures(None), (30, 1, 2));
        assert_eq!(figures(Some("lab")), (70, 4, 0));
    }
}
