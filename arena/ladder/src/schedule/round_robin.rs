//! Round robin: everybody against everybody.

use super::listed::Rounds;
use crate::{Entrant, Lineup};

/// Most tables that a round robin of four seats may have.
pub(super) const MOST_TABLES: u64 = 2_000;

/// Every pair of entrants once, by the circle method: one entrant stays in place, the
/// others rotate, and those opposite each other play. In each round everybody plays once,
/// except one entrant if their number is odd.
pub(super) fn pairs(entrants: u32) -> Rounds {
    let even = entrants.next_multiple_of(2);
    let around = even.saturating_sub(1);
    let pair = |round: u32, at: u32| match at {
        0 => (round, around),
        _ => ((round + at) % around, (round + around - at) % around),
    };
    (0..around)
        .map(|round| {
            (0..even / 2)
                .map(|at| pair(round, at))
                .filter(|&(a, b)| a < entrants && b < entrants)
                .map(|(a, b)| [a.min(b), a.max(b)].map(|one| Some(Entrant::new(one))))
                .map(Lineup::from)
                .collect()
        })
        .collect()
}

/// Every four entrants once, in rounds in which nobody plays twice; those that have played
/// least come first. Fewer than four entrants have one table with fillers.
pub(super) fn tables(entrants: u32) -> Rounds {
    let everybody: Vec<Entrant> = Entrant::all(entrants).collect();
    if everybody.len() < 4 {
        return vec![vec![filled(everybody.into_iter().map(Some).collect(), 4)]];
    }
    let mut left = combinations(&everybody, 4);
    let mut played = vec![0_u32; everybody.len()];
    let mut rounds = Rounds::new();
    while !left.is_empty() {
        let mut round = Vec::new();
        let mut busy = vec![false; everybody.len()];
        let free = |table: &Vec<Entrant>, busy: &[bool]| table.iter().all(|one| !busy[one.index()]);
        while let Some(next) = (0..left.len())
            .filter(|&table| free(&left[table], &busy))
            .min_by_key(|&table| {
                left[table]
                    .iter()
                    .map(|one| played[one.index()])
                    .sum::<u32>()
            })
        {
            let table = left.remove(next);
            for one in &table {
                busy[one.index()] = true;
                played[one.index()] += 1;
            }
            round.push(table.into_iter().map(Some).collect());
        }
        rounds.push(round);
    }
    rounds
}

/// The number of tables of four.
pub(super) fn count_tables(entrants: u32) -> u64 {
    let n = u128::from(entrants);
    let tables = n * n.saturating_sub(1) * n.saturating_sub(2) * n.saturating_sub(3) / 24;
    u64::try_from(tables.max(1)).unwrap_or(u64::MAX)
}

/// A lineup with fillers in the free seats.
pub(super) fn filled(mut lineup: Lineup, seats: usize) -> Lineup {
    lineup.resize(seats.max(lineup.len()), None);
    lineup
}

/// Every subset of `many` of these, in order.
pub(super) fn combinations(of: &[Entrant], many: usize) -> Vec<Vec<Entrant>> {
    if many == 0 {
        return vec![Vec::new()];
    }
    (0..of.len())
        .flat_map(|first| {
            let rest = combinations(&of[first + 1..], many - 1);
            rest.into_iter().map(move |mut chosen| {
                chosen.insert(0, of[first]);
                chosen
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn busiest_and_idlest(rounds: &Rounds, entrants: u32) -> Vec<(usize, usize)> {
        let mut played = vec![0; entrants as usize];
        rounds
            .iter()
            .map(|round| {
                let mut now = BTreeSet::new();
                for one in round.iter().flatten().flatten() {
                    assert!(now.insert(*one), "{one} plays twice in a round");
                    played[one.index()] += 1;
                }
                let most = *played.iter().max().unwrap();
                (most, *played.iter().min().unwrap())
            })
            .collect()
    }

    #[test]
    fn every_pair_meets_once_and_nobody_plays_ahead() {
        for entrants in 2..=33 {
            let rounds = pairs(entrants);
            let met: BTreeSet<_> = rounds.iter().flatten().cloned().collect();
            let matches: usize = rounds.iter().map(Vec::len).sum();
            assert_eq!(matches as u32, entrants * (entrants - 1) / 2);
            assert_eq!(met.len(), matches);
            for (most, least) in busiest_and_idlest(&rounds, entrants) {
                assert!(most - least <= 1, "{entrants} entrants");
            }
        }
    }

    #[test]
    fn every_four_meet_once_and_nobody_plays_far_ahead() {
        for entrants in 4..=16 {
            let rounds = tables(entrants);
            let met: BTreeSet<_> = rounds.iter().flatten().cloned().collect();
            let matches: usize = rounds.iter().map(Vec::len).sum();
            assert_eq!(matches as u64, count_tables(entrants));
            assert_eq!(met.len(), matches);
            for (most, least) in busiest_and_idlest(&rounds, entrants) {
                assert!(most - least <= 3, "{entrants} entrants: {least} to {most}");
            }
        }
    }

    #[test]
    fn three_share_a_table_with_a_filler() {
        let lineup = &tables(3)[0][0];
        assert_eq!(lineup.iter().flatten().count(), 3);
        assert_eq!(lineup.len(), 4);
    }
}
