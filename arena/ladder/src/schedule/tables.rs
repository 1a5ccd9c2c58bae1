//! Tables of four between entrants with similar points or ratings.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::Rng;

use crate::{Entrant, Lineup};

/// The entrants that are to be seated, and what the cost of a table depends on.
pub(super) struct SeatingProblem<'a> {
    /// The best first.
    pub(super) order: &'a [Entrant],
    /// The level of each, in the same order; those at a table should have equal levels.
    pub(super) level: &'a [u64],
    /// Number of times that a pair has met.
    pub(super) met: &'a dyn Fn(Entrant, Entrant) -> u32,
}

/// Seats everybody at tables of four. Up to three free seats get fillers, at the last
/// tables; with more than one table nobody sits with fillers only.
///
/// The cost of a table is a sum over its pairs of (number of earlier meetings)², then,
/// for equal costs, of (difference of levels)². The first arrangement is in order of
/// levels; within a level each table gets one entrant of each quarter. Then two entrants
/// at different tables are exchanged as long as that lowers the cost.
///
/// This ends in a local minimum. So up to [`ALL_TRIED`] entrants all arrangements are
/// compared, and up to [`RESTARTED`] entrants the search is repeated from some random
/// orders. The result is the arrangement with the lowest cost, the first of equal ones.
pub(super) fn seat(seating: &SeatingProblem, chance: &mut ChaCha20Rng) -> Vec<Lineup> {
    let mut order = spread(seating.level);
    let sizes = sizes(order.len());
    let mut tables = cut(&order, &sizes);
    while improve(&mut tables, seating) {}
    let mut better = |found: Vec<Vec<usize>>| {
        if total(&found, seating) < total(&tables, seating) {
            tables = found;
        }
    };
    if order.len() <= ALL_TRIED {
        let mut empty = vec![Vec::new(); sizes.len()];
        every(0, &sizes, &mut empty, &mut |found| better(found.to_vec()));
    } else if order.len() <= RESTARTED {
        for _ in 0..RESTARTS {
            for last in (1..order.len()).rev() {
                order.swap(last, chance.next_u32() as usize % (last + 1));
            }
            let mut found = cut(&order, &sizes);
            while improve(&mut found, seating) {}
            better(found);
        }
    }
    let lineup = |mut table: Vec<usize>| -> Lineup {
        table.sort_unstable();
        let mut lineup: Lineup = table.iter().map(|&at| Some(seating.order[at])).collect();
        lineup.resize(4, None);
        lineup
    };
    tables.into_iter().map(lineup).collect()
}

/// Up to this many entrants all arrangements are compared: 280 for nine entrants.
const ALL_TRIED: usize = 9;

/// Up to this many entrants the search is repeated; with more it would take too long.
const RESTARTED: usize = 64;

/// Number of times that the search is repeated.
const RESTARTS: usize = 8;

fn cut(order: &[usize], sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut rest = order.iter().copied();
    let table = |&size: &usize| rest.by_ref().take(size).collect();
    sizes.iter().map(table).collect()
}

/// Calls `each` with every arrangement of the entrants from `next` on in the free seats of
/// these tables. Empty tables of the same size are equivalent: only the first is used.
fn every(
    next: usize,
    sizes: &[usize],
    tables: &mut Vec<Vec<usize>>,
    each: &mut impl FnMut(&[Vec<usize>]),
) {
    if next == sizes.iter().sum::<usize>() {
        return each(tables);
    }
    for at in 0..sizes.len() {
        let alike = |other: usize| tables[other].is_empty() && sizes[other] == sizes[at];
        let again = tables[at].is_empty() && (0..at).any(alike);
        if tables[at].len() < sizes[at] && !again {
            tables[at].push(next);
            every(next + 1, sizes, tables, each);
            tables[at].pop();
        }
    }
}

/// The number of entrants at each table: four, less the free seats, which are spread from
/// the last table on.
pub(super) fn sizes(many: usize) -> Vec<usize> {
    let mut sizes = vec![4; many.div_ceil(4)];
    let last = sizes.len();
    for missing in 0..last * 4 - many {
        sizes[last - 1 - missing % last] -= 1;
    }
    sizes
}

/// The indices in order of levels; within a level, four in a row come from the four
/// quarters.
fn spread(level: &[u64]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut from = 0;
    while from < level.len() {
        let same = level[from..]
            .iter()
            .take_while(|&&one| one == level[from])
            .count();
        let quarter = same.div_ceil(4);
        let dealt = (0..quarter).flat_map(|at| (at..same).step_by(quarter));
        order.extend(dealt.map(|at| from + at));
        from += same;
    }
    order
}

/// Makes each exchange of two that lowers the cost, once. Returns whether there was one.
fn improve(tables: &mut [Vec<usize>], seating: &SeatingProblem) -> bool {
    let mut better = false;
    for a in 0..tables.len() {
        for b in a + 1..tables.len() {
            for i in 0..tables[a].len() {
                for j in 0..tables[b].len() {
                    let before = cost(&tables[a], seating).and(cost(&tables[b], seating));
                    let (one, other) = (tables[a][i], tables[b][j]);
                    (tables[a][i], tables[b][j]) = (other, one);
                    let after = cost(&tables[a], seating).and(cost(&tables[b], seating));
                    if after < before {
                        better = true;
                    } else {
                        (tables[a][i], tables[b][j]) = (one, other);
                    }
                }
            }
        }
    }
    better
}

/// The cost of a table, its more important part first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    met: u64,
    apart: u128,
}

impl Cost {
    fn and(self, other: Self) -> Self {
        Self {
            met: self.met + other.met,
            apart: self.apart + other.apart,
        }
    }
}

fn total(tables: &[Vec<usize>], seating: &SeatingProblem) -> Cost {
    let costs = tables.iter().map(|table| cost(table, seating));
    costs.fold(Cost::default(), Cost::and)
}

fn cost(table: &[usize], seating: &SeatingProblem) -> Cost {
    let mut cost = Cost::default();
    for (i, &a) in table.iter().enumerate() {
        for &b in &table[i + 1..] {
            let met = (seating.met)(seating.order[a], seating.order[b]);
            cost.met += u64::from(met).pow(2);
            cost.apart += u128::from(seating.level[a].abs_diff(seating.level[b])).pow(2);
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::super::pairing::chance;
    use super::*;

    #[test]
    fn left_over_seats_are_shared_out_from_the_last_table() {
        for (many, expected) in [
            (2, &[2][..]),
            (4, &[4]),
            (5, &[3, 2]),
            (6, &[3, 3]),
            (9, &[3, 3, 3]),
            (13, &[4, 3, 3, 3]),
        ] {
            assert_eq!(sizes(many), expected);
        }
    }

    #[test]
    fn those_on_a_level_are_spread_over_its_tables() {
        assert_eq!(spread(&[0; 8]), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(spread(&[9, 9, 4]), [0, 1, 2]);
        for many in 0..40 {
            let mut order = spread(&vec![1; many]);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..many));
        }
    }

    /// Every order of these.
    fn orders(left: &[usize]) -> Vec<Vec<usize>> {
        if left.is_empty() {
            return vec![Vec::new()];
        }
        let first = |at: usize| {
            let mut rest = left.to_vec();
            let one = rest.remove(at);
            orders(&rest).into_iter().map(move |mut order| {
                order.push(one);
                order
            })
        };
        (0..left.len()).flat_map(first).collect()
    }

    #[test]
    fn no_other_tables_of_up_to_eight_are_better() {
        let mut numbers = chance([5; 32], 0);
        for many in 2..=8 {
            let everybody: Vec<usize> = (0..many).collect();
            let all = orders(&everybody);
            for case in 0..4 {
                let mut level: Vec<u64> = (0..many)
                    .map(|_| u64::from(numbers.next_u32() % 30))
                    .collect();
                level.sort_unstable_by(|a, b| b.cmp(a));
                let met: Vec<u32> = (0..64).map(|_| numbers.next_u32() % 3).collect();
                let met = |a: Entrant, b: Entrant| {
                    met[a.index().min(b.index()) * 8 + a.index().max(b.index())]
                };
                let order: Vec<Entrant> = Entrant::all(many as u32).collect();
                let seating = SeatingProblem {
                    order: &order,
                    level: &level,
                    met: &met,
                };
                let found = seat(&seating, &mut chance([1; 32], case));
                let found: Vec<Vec<usize>> = (found.iter())
                    .map(|table| table.iter().flatten().map(|one| one.index()).collect())
                    .collect();
                let best = all
                    .iter()
                    .map(|order| total(&cut(order, &sizes(many)), &seating));
                assert_eq!(Some(total(&found, &seating)), best.min(), "{many} {case}");
            }
        }
    }

    #[test]
    fn each_arrangement_is_looked_at_once() {
        for (many, expected) in [(5, 10), (6, 10), (7, 35), (8, 35), (9, 280)] {
            let sizes = sizes(many);
            let mut seen = std::collections::BTreeSet::new();
            let mut count = 0;
            every(
                0,
                &sizes,
                &mut vec![Vec::new(); sizes.len()],
                &mut |found| {
                    let mut found = found.to_vec();
                    found.sort();
                    seen.insert(found);
                    count += 1;
                },
            );
            assert_eq!((count, seen.len()), (expected, expected), "{many}");
        }
    }
}
