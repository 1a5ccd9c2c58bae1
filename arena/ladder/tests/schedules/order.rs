//! What comes out never depends on who finished first.

use arena_ladder::schedule::Patience;
use arena_ladder::{Entrant, Field, Group, GroupScore, Seatings, Shape, Sprt};
use proptest::prelude::*;

use crate::vocabulary::{Chance, failed_by, field, played, played_in_order, random_score};

/// Every shape that suits so many.
fn shapes(entrants: u32) -> Vec<Shape> {
    vec![
        Shape::Swiss { rounds: None },
        Shape::Swiss {
            rounds: Some(entrants - 1),
        },
        Shape::SingleElimination { third_place: true },
        Shape::DoubleElimination {},
        Shape::Ladder { rounds: Some(6) },
        Shape::RoundRobin {},
        Shape::Gauntlet {
            challengers: 1 + entrants / 4,
        },
    ]
}

/// Random scores in which each entrant fails a deal as often as its number says:
/// 0 never, others the more often the higher.
fn score(group: &Group, field: &Field, seed: u64) -> GroupScore {
    let mut chance = Chance(seed ^ group.number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut score = random_score(group, field, &mut chance);
    for one in Entrant::all(field.entrants) {
        if chance.below(100) < 6 * one.index() {
            failed_by(&mut score, &group.lineup, &[one], chance.below(2) == 0);
        }
    }
    score
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_order_of_results_ends_the_same(
        entrants in 2_u32..9,
        four in any::<bool>(),
        deals in 1_u64..7,
        seed: u64,
        at_once in 2_usize..40,
        tested in any::<bool>(),
        single in any::<bool>(),
        patience in 1_u32..6,
    ) {
        for shape in shapes(entrants) {
            let listed = matches!(shape, Shape::RoundRobin {} | Shape::Gauntlet { .. });
            let mut field = field(entrants, if four { 4 } else { 2 }, deals);
            field.patience = Patience { starts: patience, fouls: patience + 2 };
            if single {
                field.seatings = Seatings::Single;
            }
            if tested && listed && !four {
                field.deals *= 10;
                field.sprt = Some(Sprt {
                    elo0: 0.0,
                    elo1: 200.0,
                    alpha: 0.2,
                    beta: 0.2,
                    model: Default::default(),
                });
            }
            let score = |group: &Group| score(group, &field, seed);
            let in_order = played_in_order(&field, &shape, &score);
            let shuffled = played(&field, &shape, at_once, &mut Chance(seed), &score);
            prop_assert_eq!(&in_order, &shuffled);
        }
    }
}
