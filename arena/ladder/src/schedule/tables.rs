//! Tables of four between those who are near each other.

use crate::{Entrant, Lineup};

/// Who is to sit, and what makes a table better.
pub(super) struct Seating<'a> {
    /// The best first.
    pub(super) order: &'a [Entrant],
    /// What each of these has: those at a table should have as much.
    pub(super) level: &'a [u64],
    /// How often two have met.
    pub(super) met: &'a dyn Fn(Entrant, Entrant) -> u32,
}

/// Seats everybody at tables of four. Seats that are left over, three at most,
/// are fillers' at the last tables, and nobody sits with fillers alone while there
/// is another table.
///
/// The first arrangement is in order of levels; of those on the same level the
/// table has one of each quarter. Then any two at different tables change places
/// as long as that makes fewer meet again (squares of how often they have met,
/// summed over the pairs at a table) or, with as many, levels more alike (squares
/// of their differences, summed in the same way). It ends where no change of two
/// is for the better, which need not be the best there is.
pub(super) fn seat(seating: &Seating) -> Vec<Lineup> {
    let order = spread(seating.level);
    let mut rest = &order[..];
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for size in sizes(order.len()) {
        let (table, others) = rest.split_at(size);
        tables.push(table.to_vec());
        rest = others;
    }
    while improve(&mut tables, seating) {}
    let lineup = |mut table: Vec<usize>| -> Lineup {
        table.sort_unstable();
        let mut lineup: Lineup = table.iter().map(|&at| Some(seating.order[at])).collect();
        lineup.resize(4, None);
        lineup
    };
    tables.into_iter().map(lineup).collect()
}

/// How many sit at each table: four, and one fewer at the last ones, as often as
/// it takes.
pub(super) fn sizes(many: usize) -> Vec<usize> {
    let mut sizes = vec![4; many.div_ceil(4)];
    let last = sizes.len();
    for missing in 0..last * 4 - many {
        sizes[last - 1 - missing % last] -= 1;
    }
    sizes
}

/// Places in order of levels, those on the same level so that four in a row are
/// one of each quarter.
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

/// Makes every change of two that is for the better, once; whether there was one.
fn improve(tables: &mut [Vec<usize>], seating: &Seating) -> bool {
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

/// What speaks against a table, the worse first.
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

fn cost(table: &[usize], seating: &Seating) -> Cost {
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
}
