//! Gauntlet: some challengers against all the others.

use super::listed::Rounds;
use super::round_robin::{combinations, filled};
use crate::Entrant;

/// Up to this many others a challenger plays with every three of them; with more, the
/// tables are a cyclic design.
const MOST_IN_FULL: usize = 6;

/// Each challenger against each of the others. In a round each challenger plays once; the
/// opponents rotate, so that they play about equally often too.
pub(super) fn pairs(entrants: u32, challengers: u32) -> Rounds {
    let (challengers, others) = sides(entrants, challengers);
    (0..others.len())
        .map(|round| {
            (challengers.iter().enumerate())
                .map(|(at, &one)| vec![Some(one), Some(others[(round + at) % others.len()])])
                .collect()
        })
        .collect()
}

/// Each challenger with three of the others at a time, so that it meets all others equally
/// often.
///
/// Up to six others: every three of them. From seven on: one table for each of the others,
/// table `i` with those at `i`, `i + 1` and `i + 3` on a circle. So each is met three
/// times, and a pair of them sits at no more than one of a challenger's tables, since the
/// distances 1, 2 and 3 differ (with seven it is the Fano plane). Fewer than three others
/// have one table with fillers.
pub(super) fn tables(entrants: u32, challengers: u32) -> Rounds {
    let (challengers, others) = sides(entrants, challengers);
    let trios: Vec<Vec<Entrant>> = match others.len() {
        0..3 => vec![others],
        3..=MOST_IN_FULL => combinations(&others, 3),
        many => (0..many)
            .map(|at| [0, 1, 3].map(|step| others[(at + step) % many]).to_vec())
            .collect(),
    };
    (0..trios.len())
        .map(|round| {
            (challengers.iter().enumerate())
                .map(|(at, &one)| {
                    let trio = &trios[(round + at) % trios.len()];
                    let lineup = std::iter::once(one).chain(trio.iter().copied());
                    filled(lineup.map(Some).collect(), 4)
                })
                .collect()
        })
        .collect()
}

fn sides(entrants: u32, challengers: u32) -> (Vec<Entrant>, Vec<Entrant>) {
    Entrant::all(entrants).partition(|one| one.index() < challengers as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_challenger_meets_each_other_once() {
        for entrants in 2..=12 {
            for challengers in 1..entrants {
                let mut met = BTreeMap::new();
                for lineup in pairs(entrants, challengers).into_iter().flatten() {
                    *met.entry(lineup).or_insert(0) += 1;
                }
                let expected = challengers * (entrants - challengers);
                assert_eq!(met.len() as u32, expected);
                assert!(met.values().all(|&times| times == 1));
                for lineup in met.keys() {
                    assert!(lineup[0].unwrap().index() < challengers as usize);
                    assert!(lineup[1].unwrap().index() >= challengers as usize);
                }
            }
        }
    }

    #[test]
    fn at_tables_each_other_is_met_as_often_as_any() {
        for entrants in 2..=30 {
            for challengers in 1..entrants.min(4) {
                let mut met = BTreeMap::new();
                let mut together = BTreeMap::new();
                for lineup in tables(entrants, challengers).into_iter().flatten() {
                    assert_eq!(lineup.len(), 4);
                    let present: Vec<_> = lineup.iter().flatten().collect();
                    for (i, &other) in present.iter().enumerate().skip(1) {
                        *met.entry((*present[0], *other)).or_insert(0) += 1;
                        for &third in &present[i + 1..] {
                            let trio = (*present[0], *other.min(third), *other.max(third));
                            *together.entry(trio).or_insert(0) += 1;
                        }
                    }
                }
                let expected = challengers * (entrants - challengers);
                assert_eq!(met.len() as u32, expected, "{entrants} {challengers}");
                let often = *met.values().next().unwrap();
                assert!(met.values().all(|&times| times == often), "{entrants}");
                if entrants - challengers > MOST_IN_FULL as u32 {
                    assert!(together.values().all(|&times| times == 1));
                }
            }
        }
    }
}
