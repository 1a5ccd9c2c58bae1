//! Many players of a game for two.

use arena_ladder::{
    bradley_terry::{PairGroups, fit},
    elo::{Comparison, NoEstimate, elo_of},
    luce::{NoFit, PRIOR},
};
use proptest::prelude::*;

use crate::vocabulary::{any_counts, close, errors, values};

/// The tournament of the published figures, twenty games a pair: lost, drawn,
/// won by the first.
const FIELD: [([usize; 2], [u64; 3]); 6] = [
    ([0, 1], [3, 5, 12]),
    ([0, 2], [2, 4, 14]),
    ([0, 3], [1, 1, 18]),
    ([1, 2], [5, 6, 9]),
    ([1, 3], [3, 4, 13]),
    ([2, 3], [6, 3, 11]),
];

fn field() -> Vec<PairGroups<'static>> {
    let pairs = FIELD.iter();
    pairs
        .map(|(players, counts)| PairGroups {
            players: *players,
            counts,
        })
        .collect()
}

#[test]
fn four_are_rated_as_others_rate_them() {
    let found = fit(4, &field(), 0.0).unwrap();
    let expected = [202.918, 22.717, -57.121, -168.514];
    for (found, expected) in values(&found).into_iter().zip(expected) {
        // The published digits are cut off, not rounded.
        close(found, expected, 1e-3);
    }
    close(found.log_likelihood, -65.220069, 1e-6);
    close(
        found.natural()[0].unwrap(),
        202.918 * 10_f64.ln() / 400.0,
        1e-5,
    );
}

#[test]
fn the_default_prior_draws_everybody_to_the_middle() {
    let (free, held) = (
        fit(4, &field(), 0.0).unwrap(),
        fit(4, &field(), PRIOR).unwrap(),
    );
    for (free, held) in values(&free).into_iter().zip(values(&held)) {
        assert!(
            held.abs() < free.abs() && held * free > 0.0,
            "{held} {free}"
        );
        assert!(held.abs() > 0.9 * free.abs());
    }
    close(values(&held).iter().sum::<f64>(), 0.0, 1e-9);
    assert!(held.log_likelihood < free.log_likelihood);
}

#[test]
fn two_have_the_elo_of_their_score() {
    let counts = [12, 80, 160, 100, 18];
    let pair = PairGroups {
        players: [0, 1],
        counts: &counts,
    };
    let (found, two) = (
        fit(2, &[pair], 0.0).unwrap(),
        Comparison::of(&counts).unwrap(),
    );
    close(values(&found)[0] * 2.0, two.elo.unwrap().value, 1e-9);
    // The error is that of the curve's slope, with G - 1 below the sum.
    let raised = (370.0_f64 / 369.0).sqrt();
    close(errors(&found)[0].unwrap() * 2.0, 15.9058 * raised, 0.02);
}

#[test]
fn a_group_is_the_sample_and_not_a_game() {
    // The same games, once as they come, once in pairs that always come out the
    // same, so that there are half as many samples.
    let single = PairGroups {
        players: [0, 1],
        counts: &[100, 0, 100],
    };
    let paired = PairGroups {
        players: [0, 1],
        counts: &[50, 0, 0, 0, 50],
    };
    let [single, paired] = [single, paired].map(|pair| errors(&fit(2, &[pair], 0.0).unwrap())[0]);
    let raised = ((100.0 / 99.0) / (200.0 / 199.0_f64)).sqrt();
    close(
        paired.unwrap() / single.unwrap(),
        2_f64.sqrt() * raised,
        1e-9,
    );
}

#[test]
fn a_perfect_score_is_finite_with_a_prior_and_has_no_error_bar() {
    let pairs = [
        PairGroups {
            players: [0, 1],
            counts: &[0, 0, 0, 0, 40],
        },
        PairGroups {
            players: [0, 2],
            counts: &[0, 0, 0, 0, 40],
        },
        PairGroups {
            players: [1, 2],
            counts: &[5, 5, 15, 10, 5],
        },
    ];
    assert_eq!(fit(3, &pairs, 0.0), Err(NoFit::Separated));
    let found = fit(3, &pairs, PRIOR).unwrap();
    assert!((500.0..1500.0).contains(&values(&found)[0]));
    let errors = errors(&found);
    assert_eq!(errors[0], Err(NoEstimate::EveryGameWon));
    assert!(errors[1..].iter().all(Result::is_ok));
}

#[test]
fn who_never_met_is_held_by_the_prior() {
    let counts = [5, 5, 15, 10, 5];
    let pairs = [[0, 1], [2, 3], [3, 4]].map(|players| PairGroups {
        players,
        counts: &counts,
    });
    assert_eq!(fit(5, &pairs, 0.0), Err(NoFit::Separated));
    let found = fit(5, &pairs, PRIOR).unwrap();
    let errors = errors(&found);
    assert_eq!(errors[..2], [Err(NoEstimate::NotComparable); 2]);
    assert!(errors[2..].iter().all(Result::is_ok));
}

#[test]
fn nine_groups_have_no_error_bar() {
    for (groups, enough) in [(9, false), (10, true)] {
        let counts = [1, 1, groups - 4, 1, 1];
        let found = fit(
            2,
            &[PairGroups {
                players: [0, 1],
                counts: &counts,
            }],
            PRIOR,
        )
        .unwrap();
        for error in errors(&found) {
            let few = NoEstimate::TooFewGroups {
                has: groups,
                needs: 10,
            };
            assert_eq!(error.is_ok(), enough);
            assert_eq!(error.err(), (!enough).then_some(few));
        }
    }
}

#[test]
fn who_has_not_played_has_no_rating() {
    for prior in [0.0, PRIOR] {
        let pair = PairGroups {
            players: [0, 2],
            counts: &[10, 5, 20],
        };
        let found = fit(4, &[pair], prior).unwrap();
        assert_eq!(
            found
                .ratings
                .iter()
                .map(Option::is_some)
                .collect::<Vec<_>>(),
            [true, false, true, false]
        );
        let [first, third] = [0, 2].map(|i| found.ratings[i].unwrap().value);
        close(first + third, 0.0, 1e-9);
        if prior == 0.0 {
            close(first - third, elo_of(22.5 / 35.0).unwrap(), 1e-9);
        }
    }
    assert_eq!(fit(3, &[], PRIOR).unwrap().ratings, [None; 3]);
    assert_eq!(fit(0, &[], 0.0).unwrap().ratings, []);
}

#[test]
fn a_prior_that_makes_no_sense_is_an_error() {
    for prior in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(4, &field(), prior), Err(NoFit::Prior(_))));
    }
}

proptest! {
    #[test]
    fn every_field_has_finite_ratings(
        pairs in proptest::collection::vec((0..7_usize, 0..7_usize, any_counts()), 0..20),
        prior in prop_oneof![Just(PRIOR), Just(0.01), Just(0.0)],
    ) {
        let pairs: Vec<PairGroups> = pairs.iter()
            .map(|(a, b, counts)| PairGroups { players: [*a, *b], counts }).collect();
        match fit(6, &pairs, prior) {
            Ok(found) => {
                prop_assert!(found.log_likelihood.is_finite());
                for rating in found.ratings.into_iter().flatten() {
                    prop_assert!(rating.value.is_finite());
                    let bar = rating.error.unwrap_or(1.0);
                    prop_assert!(bar.is_finite() && bar > 0.0);
                }
            }
            Err(why) => {
                prop_assert_eq!(why, NoFit::Separated);
                prop_assert_eq!(prior, 0.0);
            }
        }
    }

    #[test]
    fn swapping_everybodys_results_negates(
        counts in proptest::collection::vec(any_counts(), 6),
    ) {
        let back: Vec<Vec<u64>> = counts.iter()
            .map(|counts| counts.iter().rev().copied().collect()).collect();
        let [here, there] = [&counts, &back].map(|counts| {
            let pairs: Vec<PairGroups> = FIELD.iter().zip(counts)
                .map(|((players, _), counts)| PairGroups { players: *players, counts }).collect();
            fit(4, &pairs, PRIOR).unwrap()
        });
        for (here, there) in here.ratings.iter().zip(&there.ratings) {
            match (here, there) {
                (Some(here), Some(there)) =>
                    prop_assert!((here.value + there.value).abs() < 1e-4, "{here:?} {there:?}"),
                (here, there) => prop_assert!(here.is_none() && there.is_none()),
            }
        }
    }

    #[test]
    fn another_win_raises_the_winner(at in 0..6_usize, extra in 1..50_u64) {
        let mut more = FIELD;
        more[at].1[2] += extra;
        let pairs: Vec<PairGroups> = more.iter()
            .map(|(players, counts)| PairGroups { players: *players, counts }).collect();
        let (before, after) = (fit(4, &field(), PRIOR).unwrap(), fit(4, &pairs, PRIOR).unwrap());
        let [first, second] = FIELD[at].0;
        prop_assert!(values(&after)[first] > values(&before)[first]);
        prop_assert!(values(&after)[second] < values(&before)[second]);
    }
}
