//! The test over strata.

use arena_ladder::mantel_haenszel::{LEAST_P_VALUE, StratifiedTest, Stratum};
use proptest::prelude::*;

use crate::vocabulary::close;

fn stratum([trials, events, other_trials, other_events]: [u64; 4]) -> Stratum {
    Stratum {
        trials,
        events,
        other_trials,
        other_events,
    }
}

fn test(strata: &[[u64; 4]]) -> Option<StratifiedTest> {
    let strata: Vec<Stratum> = strata.iter().copied().map(stratum).collect();
    StratifiedTest::of(&strata)
}

/// Rabbits that were cured by penicillin given at once, or with a delay, at five doses:
/// `mantelhaen.test(Rabbits)` in the documentation of R.
const RABBITS: [[u64; 4]; 5] = [
    [6, 0, 5, 0],
    [6, 3, 6, 0],
    [6, 6, 6, 2],
    [6, 5, 6, 6],
    [2, 2, 5, 5],
];

#[test]
fn the_rabbits_of_r_have_the_exact_p_value_that_r_prints() {
    let found = test(&RABBITS).unwrap();
    assert_eq!((found.trials, found.observed), (26, 16));
    close(found.expected, 13.0, 1e-12);
    // R prints the two-sided one, 0.03994; of the table's 924³ arrangements these are
    // the ones with as many that were cured.
    close(found.p_value, 0.019_972_451_790_633_6, 1e-13);
    close(found.risk_ratio.unwrap(), 59.0 / 38.0, 1e-12);
}

#[test]
fn one_stratum_is_fishers_exact_test() {
    // Fisher's tea: three of four cups told right; 17 of 70.
    close(test(&[[4, 3, 4, 1]]).unwrap().p_value, 17.0 / 70.0, 1e-13);
    close(test(&[[4, 4, 4, 0]]).unwrap().p_value, 1.0 / 70.0, 1e-13);
    close(test(&[[4, 0, 4, 4]]).unwrap().p_value, 1.0, 1e-13);
}

#[test]
fn many_events_have_the_p_value_of_the_normal_distribution() {
    // z = (10300 - 10000 - 1/2) / 67.08 = 4.465, of which tables say 4.0e-6.
    let found = test(&[[100_000, 10_300, 100_000, 9_700]]).unwrap();
    close(found.expected, 10_000.0, 1e-9);
    let variance = 100_000.0 * 0.1 * 0.9 * 100_000.0 / 199_999.0;
    assert!(variance > 1000.0);
    close(found.p_value, 4.0e-6, 0.2e-6);
}

#[test]
fn what_has_no_trials_on_one_side_is_left_out() {
    assert_eq!(test(&[]), None);
    assert_eq!(test(&[[10, 3, 0, 0], [0, 0, 10, 3], [0; 4]]), None);
    let mut more = RABBITS.to_vec();
    more.extend([[1000, 1000, 0, 0], [0, 0, 1000, 0]]);
    assert_eq!(test(&more), test(&RABBITS));
}

#[test]
fn without_an_event_nothing_is_unusual() {
    let none = test(&[[500, 0, 500, 0], [3, 0, 900, 0]]).unwrap();
    assert_eq!((none.p_value, none.risk_ratio), (1.0, None));
    let all = test(&[[500, 500, 500, 500]]).unwrap();
    assert_eq!((all.p_value, all.risk_ratio), (1.0, Some(1.0)));
}

#[test]
fn what_cannot_be_chance_still_has_a_p_value() {
    let found = test(&[[2000, 2000, 2000, 0]]).unwrap();
    assert_eq!((found.p_value, found.risk_ratio), (LEAST_P_VALUE, None));
}

fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![0..5_u64, 0..200_u64, 0..100_000_u64, any::<u64>()]
}

proptest! {
    #[test]
    fn every_figure_is_a_number_and_no_order_changes_one(
        mut strata in proptest::collection::vec(
            [any_count(), any_count(), any_count(), any_count()], 0..12),
        turn in 0..12_usize,
    ) {
        let found = test(&strata);
        let len = strata.len().max(1);
        strata.rotate_left(turn % len);
        prop_assert_eq!(found, test(&strata));
        if let Some(found) = found {
            prop_assert!((LEAST_P_VALUE..=1.0).contains(&found.p_value));
            prop_assert!(found.expected.is_finite() && found.expected >= 0.0);
            prop_assert!(found.risk_ratio.is_none_or(|ratio| ratio.is_finite() && ratio >= 0.0));
        }
    }

    #[test]
    fn one_event_more_is_less_probable(
        trials in 2..400_u64, other_trials in 1..400_u64, events in 0..400_u64,
        other_events in 0..400_u64,
    ) {
        let events = events.min(trials - 1);
        let other_events = other_events.clamp(1, other_trials);
        let before = test(&[[trials, events, other_trials, other_events]]).unwrap();
        // The same total, so the same distribution.
        let after = test(&[[trials, events + 1, other_trials, other_events - 1]]).unwrap();
        // Close to 1 the difference is less than a float shows.
        prop_assert!(after.p_value <= before.p_value + 1e-12);
        if before.p_value < 0.99 && after.p_value > LEAST_P_VALUE {
            prop_assert!(after.p_value < before.p_value);
        }
    }
}
