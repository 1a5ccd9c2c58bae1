//! Ratings that move with every group.

use arena_ladder::{Entrant, HalfPoints, Lineup, online::Online};
use proptest::prelude::*;

use crate::vocabulary::close;

fn lineup(who: &[u32]) -> Lineup {
    who.iter().map(|&who| Some(Entrant::new(who))).collect()
}

fn points(halves: &[u32]) -> Vec<HalfPoints> {
    halves.iter().map(|&half| HalfPoints(half)).collect()
}

fn ratings(online: &Online, entrants: u32) -> Vec<(f64, f64)> {
    Entrant::all(entrants)
        .map(|who| online.rating(who))
        .collect()
}

#[test]
fn four_new_ones_in_order_are_rated_as_openskill_rates_them() {
    let mut online = Online::new(4);
    online.update(&lineup(&[0, 1, 2, 3]), &points(&[24, 16, 8, 0]));
    // openskill 6.2.0, BradleyTerryFull, without what it adds for time passing.
    let expected = [
        (32.90569415042095, 7.5012190693964005),
        (27.63523138347365, 7.5012190693964005),
        (22.36476861652635, 7.5012190693964005),
        (17.09430584957905, 7.5012190693964005),
    ];
    for (found, expected) in ratings(&online, 4).into_iter().zip(expected) {
        close(found.0, expected.0, 1e-6);
        close(found.1, expected.1, 1e-6);
    }
}

#[test]
fn a_group_is_one_game_however_many_points_it_had() {
    let [mut close_one, mut clear] = [Online::new(2), Online::new(2)];
    close_one.update(&lineup(&[0, 1]), &points(&[3, 1]));
    clear.update(&lineup(&[1, 0]), &points(&[0, 4]));
    assert_eq!(close_one, clear);
    assert!(clear.rating(Entrant::new(0)).0 > 25.0);
}

#[test]
fn an_even_group_between_equals_moves_nothing_but_the_uncertainty() {
    let mut online = Online::new(4);
    online.update(&lineup(&[0, 1, 2, 3]), &points(&[12; 4]));
    for (rating, uncertainty) in ratings(&online, 4) {
        close(rating, 25.0, 1e-12);
        assert!(uncertainty < 25.0 / 3.0);
    }
}

#[test]
fn what_makes_no_sense_changes_nothing() {
    let mut online = Online::new(2);
    online.update(&lineup(&[0, 1]), &points(&[4]));
    online.update(&lineup(&[1, 1]), &points(&[4, 0]));
    online.update(&lineup(&[0, 9]), &points(&[4, 0]));
    online.update(&vec![Some(Entrant::new(0)), None], &points(&[4, 0]));
    assert_eq!(online, Online::new(2));
    assert_eq!(online.rating(Entrant::new(7)), (25.0, 25.0 / 3.0));
}

proptest! {
    #[test]
    fn ratings_stay_finite_and_uncertainty_never_grows(
        groups in proptest::collection::vec(
            (Just(vec![0, 1, 2, 3, 4_u32]).prop_shuffle(), proptest::collection::vec(0..7_u32, 4)),
            0..300,
        ),
        always_the_same: bool,
    ) {
        let mut online = Online::new(5);
        let mut before = ratings(&online, 5);
        for (who, won) in groups {
            let (who, won) = if always_the_same {
                (vec![0, 1, 2, 3], vec![6, 4, 2, 0])
            } else {
                (who[..4].to_vec(), won)
            };
            online.update(&lineup(&who), &points(&won));
            let after = ratings(&online, 5);
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(after.0.is_finite() && after.1 > 0.0 && after.1 <= before.1);
            }
            before = after;
        }
    }
}
