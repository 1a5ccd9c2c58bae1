//! Pairings with minimal cost: a perfect matching of minimum weight, exact for a field of
//! any size.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::matching::heaviest;

/// Number of random bits that decide between pairings with equal cost.
const CHANCE_BITS: u32 = 24;

/// Pairs 0 to `many - 1`, where `many` must be even, so that the sum of the costs of the
/// pairs is minimal. A cost has parts, the most important one first; sums are compared
/// lexicographically.
///
/// Ties are broken at random: each pair gets an additional small random cost, which with
/// high probability makes the minimum unique (the isolation lemma: Mulmuley, Vazirani and
/// Vazirani, 1987). So the result does not depend on the algorithm.
pub(super) fn cheapest<const PARTS: usize>(
    many: usize,
    chance: &mut ChaCha20Rng,
    cost: impl Fn(usize, usize) -> [u64; PARTS],
) -> Vec<(usize, usize)> {
    let mut costs = Vec::new();
    for a in 0..many {
        for b in a + 1..many {
            costs.push((a, b, cost(a, b), chance.next_u32() >> (32 - CHANCE_BITS)));
        }
    }
    // The weight of one unit of each part: more than all later parts together can have.
    let mut worth = [1_i128; PARTS];
    let mut total = (many as i128 / 2) << CHANCE_BITS;
    for part in (0..PARTS).rev() {
        worth[part] = total.saturating_add(1);
        let most = costs.iter().map(|(.., parts, _)| parts[part]).max();
        let sum = i128::from(most.unwrap_or(0)) * (many as i128 / 2);
        total = total.saturating_add(sum.saturating_mul(worth[part]));
    }
    let whole = |parts: &[u64; PARTS], chance: u32| -> i128 {
        let parts = parts.iter().zip(worth);
        let parts = parts.map(|(&part, worth)| i128::from(part).saturating_mul(worth));
        parts.fold(i128::from(chance), i128::saturating_add)
    };
    // So large that a pairing with fewer pairs never weighs as much as a perfect one.
    let mut weights = vec![0; many * many];
    for (a, b, parts, chance) in &costs {
        weights[a * many + b] = total
            .saturating_add(1)
            .saturating_sub(whole(parts, *chance));
    }
    let partners = heaviest(many, |a, b| weights[a * many + b]);
    (partners.into_iter().enumerate())
        .filter_map(|(a, b)| b.filter(|&b| a < b).map(|b| (a, b)))
        .collect()
}

/// The random numbers of a round.
pub(super) fn chance(root: [u8; 32], round: u32) -> ChaCha20Rng {
    let mut chance = ChaCha20Rng::from_seed(root);
    chance.set_stream(u64::from(round));
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to pair these.
    fn pairings(left: &[usize]) -> Vec<Vec<(usize, usize)>> {
        let Some((&first, rest)) = left.split_first() else {
            return vec![Vec::new()];
        };
        (0..rest.len())
            .flat_map(|at| {
                let mut rest = rest.to_vec();
                let second = rest.remove(at);
                let mut found = pairings(&rest);
                found
                    .iter_mut()
                    .for_each(|pairing| pairing.insert(0, (first, second)));
                found
            })
            .collect()
    }

    #[test]
    fn no_pairing_costs_less() {
        let mut numbers = chance([3; 32], 0);
        for case in 0..200 {
            let many = 2 * (1 + case % 4);
            let parts = 1 + numbers.next_u32() % 4;
            let costs: Vec<[u64; 3]> = (0..many * many)
                .map(|_| [0; 3].map(|_: u64| u64::from(numbers.next_u32() % parts)))
                .collect();
            let cost = |a: usize, b: usize| costs[a * many + b];
            let sum = |pairs: &[(usize, usize)]| {
                pairs.iter().fold([0; 3], |sum, &(a, b)| {
                    std::array::from_fn(|part| sum[part] + cost(a, b)[part])
                })
            };
            let found = cheapest(many, &mut chance([4; 32], case as u32), cost);
            let everybody: Vec<_> = (0..many).collect();
            let best = pairings(&everybody).iter().map(|pairs| sum(pairs)).min();
            assert_eq!(found.len(), many / 2);
            assert_eq!(Some(sum(&found)), best);
        }
    }

    #[test]
    fn chance_alone_decides_between_equals() {
        let found = |root| cheapest(40, &mut chance([root; 32], 1), |_, _| [0]);
        assert!((0..20).all(|_| found(1) == found(1)));
        assert_ne!(found(1), found(2));
    }

    #[test]
    fn nobody_is_no_pairing() {
        assert!(cheapest(0, &mut chance([0; 32], 0), |_, _| [0]).is_empty());
    }
}
