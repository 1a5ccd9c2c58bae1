//! Many players of a game for several.

use arena_ladder::{
    Entrant, GroupCount,
    bradley_terry::{self, PairGroups},
    elo::NoEstimate,
    luce::{NoFit, PRIOR},
    plackett_luce::fit,
};
use proptest::prelude::*;

use crate::vocabulary::{close, errors, group, tally, values};

const ALL: [u32; 4] = [0, 1, 2, 3];

/// The rankings of the published figures, best first.
const RANKINGS: [[usize; 4]; 6] = [
    [0, 1, 2, 3],
    [0, 2, 1, 3],
    [1, 0, 2, 3],
    [3, 0, 1, 2],
    [0, 1, 3, 2],
    [2, 1, 0, 3],
];

fn rankings(times: u64) -> Vec<GroupCount> {
    let each = RANKINGS.iter().map(|order| {
        let mut places = [0; 4];
        for (place, &player) in (1..).zip(order) {
            places[player] = place;
        }
        tally(&ALL, &places, times)
    });
    each.collect()
}

#[test]
fn four_are_rated_as_others_rate_them() {
    let found = fit(4, &rankings(1), 0.0).unwrap();
    let expected = [1.096752, 0.541515, -0.442388, -1.195879];
    for (found, expected) in found.natural().into_iter().zip(expected) {
        close(found.unwrap(), expected, 1e-6);
    }
    // Six groups are too few.
    let few = NoEstimate::TooFewGroups { has: 6, needs: 10 };
    assert_eq!(errors(&found), [Err(few); 4]);
    assert!(
        errors(&fit(4, &rankings(2), 0.0).unwrap())
            .iter()
            .all(Result::is_ok)
    );
}

#[test]
fn for_two_it_is_bradley_terry() {
    let counts = [30, 14, 56];
    let tallies = [
        tally(&[0, 1], &[2, 1], counts[0]),
        tally(&[1, 0], &[1, 1], counts[1]),
        tally(&[0, 1], &[1, 2], counts[2]),
    ];
    for prior in [0.0, PRIOR] {
        let pair = PairGroups {
            players: [0, 1],
            counts: &counts,
        };
        let pairwise = bradley_terry::fit(2, &[pair], prior).unwrap();
        let ranked = fit(2, &tallies, prior).unwrap();
        close(values(&ranked)[0], values(&pairwise)[0], 1e-6);
        close(ranked.log_likelihood, pairwise.log_likelihood, 1e-9);
        // A bootstrap of 200 knows an error to about 5 %.
        let [ranked, pairwise] = [ranked, pairwise].map(|fit| errors(&fit)[0].unwrap());
        close(ranked / pairwise, 1.0, 0.12);
    }
}

#[test]
fn a_shared_place_is_each_order_in_equal_parts() {
    let others = rankings(1);
    let orders = [
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
    ];
    for (shared, spelt) in [
        (
            [1, 2, 2, 2],
            orders.map(|[a, b, c]| [1, a + 1, b + 1, c + 1]),
        ),
        ([1, 1, 1, 4], orders.map(|[a, b, c]| [a, b, c, 4])),
    ] {
        let mut shared_too = others.clone();
        shared_too.push(tally(&ALL, &shared, 6));
        let mut spelt_too = others.clone();
        spelt_too.extend(spelt.iter().map(|places| tally(&ALL, places, 1)));
        let [shared, spelt] = [shared_too, spelt_too].map(|all| fit(4, &all, 0.0).unwrap());
        for (shared, spelt) in values(&shared).into_iter().zip(values(&spelt)) {
            close(shared, spelt, 1e-6);
        }
        close(shared.log_likelihood, spelt.log_likelihood, 1e-9);
    }
}

#[test]
fn a_house_bot_that_fills_a_place_is_left_out_of_the_ranking() {
    let mut filled = Vec::new();
    let mut without = Vec::new();
    for (places, kept, times) in [
        ([2, 1, 3, 4], [1, 2, 3], 20),
        ([1, 3, 2, 4], [1, 2, 3], 10),
        ([4, 1, 3, 2], [3, 2, 1], 15),
        ([2, 4, 1, 3], [2, 1, 3], 8),
    ] {
        let mut with = tally(&[0, 9, 1, 2], &places, times);
        with.lineup[1] = None;
        filled.push(with);
        without.push(tally(&[0, 1, 2], &kept, times));
    }
    let [filled, without] = [filled, without].map(|all| fit(3, &all, 0.0).unwrap());
    assert_eq!(filled, without);
}

#[test]
fn error_bars_are_the_same_every_time_and_half_as_long_with_four_times_the_groups() {
    let few = fit(4, &rankings(20), 0.0).unwrap();
    assert_eq!(few, fit(4, &rankings(20), 0.0).unwrap());
    let many = fit(4, &rankings(80), 0.0).unwrap();
    let raised = ((120.0 / 117.0) / (480.0 / 477.0_f64)).sqrt();
    for (few, many) in errors(&few).into_iter().zip(errors(&many)) {
        close(few.unwrap() / many.unwrap() / raised, 2.0, 0.4);
    }
}

#[test]
fn a_deal_that_is_played_from_four_seats_is_one_sample() {
    // The same places from every seating say no more than one game does.
    let once = rankings(20);
    let four: Vec<GroupCount> = once
        .iter()
        .map(|tally| GroupCount {
            places: vec![tally.places[0].clone(); 4],
            ..tally.clone()
        })
        .collect();
    let [once, four] = [once, four].map(|all| fit(4, &all, 0.0).unwrap());
    for (once, four) in once.ratings.iter().zip(&four.ratings) {
        let (once, four) = (once.unwrap(), four.unwrap());
        close(once.value, four.value, 1e-6);
        close(once.error.unwrap(), four.error.unwrap(), 1e-6);
    }
}

#[test]
fn who_always_comes_last_is_finite_with_a_prior_and_has_no_error_bar() {
    let tallies = [
        tally(&ALL, &[1, 2, 3, 4], 10),
        tally(&ALL, &[2, 3, 1, 4], 10),
        tally(&ALL, &[3, 1, 2, 4], 15),
    ];
    assert_eq!(fit(4, &tallies, 0.0), Err(NoFit::Separated));
    let found = fit(4, &tallies, PRIOR).unwrap();
    assert!(values(&found)[3] < -200.0);
    assert_eq!(errors(&found)[3], Err(NoEstimate::EveryGameLost));
    assert!(errors(&found)[..3].iter().all(Result::is_ok));
}

#[test]
fn what_makes_no_sense_is_ignored() {
    let good = rankings(3);
    let mut with = good.clone();
    with.push(tally(&[0, 0, 1, 2], &[1, 2, 3, 4], 5));
    with.push(tally(&[0, 1, 2, 7], &[1, 2, 3, 4], 5));
    with.push(tally(&[0], &[1], 5));
    with.push(tally(&ALL, &[4, 3, 2, 1], 0));
    assert_eq!(fit(4, &with, 0.0), fit(4, &good, 0.0));
    let mut short = group(&ALL, &[&[1, 2, 3, 4], &[1, 2], &[]], 7);
    let cut = fit(4, [&short], PRIOR).unwrap();
    short.places.truncate(1);
    assert_eq!(cut, fit(4, [&short], PRIOR).unwrap());
    short.lineup = vec![None; 4];
    assert_eq!(fit(4, [&short], PRIOR).unwrap().ratings, [None; 4]);
}

proptest! {
    #[test]
    fn every_field_has_finite_ratings(
        games in proptest::collection::vec(
            (proptest::collection::vec(0..6_u32, 4),
             proptest::collection::vec(proptest::collection::vec(1..=4_u8, 4), 0..4),
             prop_oneof![0..3_u64, 0..1_000_000_u64], 0..5_usize),
            0..20,
        ),
        prior in prop_oneof![Just(PRIOR), Just(0.01), Just(0.0)],
    ) {
        let tallies: Vec<GroupCount> = games.into_iter().map(|(who, places, groups, filler)| {
            let mut lineup: Vec<_> = who.into_iter().map(|i| Some(Entrant::new(i))).collect();
            if let Some(place) = lineup.get_mut(filler) {
                *place = None;
            }
            GroupCount::new(lineup, places, &[0; 4], groups)
        }).collect();
        match fit(6, &tallies, prior) {
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
}
