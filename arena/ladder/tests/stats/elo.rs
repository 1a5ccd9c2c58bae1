//! Two players.

use arena_ladder::elo::{Comparison, ENOUGH_GROUPS, NoEstimate, elo_of, score_of};
use proptest::prelude::*;
use serde_json::json;

use crate::vocabulary::{any_counts, close};

fn of(counts: &[u64]) -> Comparison {
    Comparison::of(counts).expect("there are groups")
}

#[test]
fn elo_is_what_others_print() {
    let prints = |counts: &[u64], elo: f64, error: f64, nelo: f64, los: f64, score: f64| {
        let found = of(counts);
        let difference = found.elo.unwrap();
        close(difference.value, elo, 5e-5);
        close(difference.error.unwrap(), error, 5e-5);
        close(found.nelo.unwrap().value, nelo, 5e-5);
        close(found.los.unwrap(), los, 5e-7);
        close(found.score, score, 5e-7);
        // The printed error is half of what the interval of the score is in Elo.
        let by = found.score_error.unwrap();
        let [low, high] = [-by, by].map(|by| elo_of(found.score + by).unwrap());
        close((high - low) / 2.0, error, 5e-5);
    };
    prints(
        &[96, 111, 136],
        40.7025,
        30.4272,
        49.7684,
        0.996010,
        0.558309,
    );
    prints(
        &[89, 123, 76],
        -15.6935,
        30.4580,
        -20.7564,
        0.155326,
        0.477431,
    );
    prints(
        &[420, 60, 520],
        34.8601,
        21.0026,
        36.0274,
        0.999479,
        0.550000,
    );
    prints(
        &[34, 54, 63, 64, 75],
        55.5798,
        27.6534,
        57.9356,
        0.999970,
        0.579310,
    );
    prints(
        &[332, 433, 498, 333, 334],
        -8.6427,
        10.3342,
        -9.1729,
        0.050470,
        0.487565,
    );
    prints(
        &[12, 80, 160, 100, 18],
        15.0336,
        15.9058,
        23.7061,
        0.968281,
        0.521622,
    );
}

#[test]
fn the_share_of_even_groups_is_the_draw_ratio() {
    close(of(&[96, 111, 136]).draw_ratio, 111.0 / 343.0, 1e-12);
    close(of(&[12, 80, 160, 100, 18]).draw_ratio, 160.0 / 370.0, 1e-12);
}

#[test]
fn who_wins_everything_has_a_score_and_no_elo() {
    for (counts, score, why) in [
        (&[0, 0, 0, 0, 40], 1.0, NoEstimate::EveryGameWon),
        (&[40, 0, 0, 0, 0], 0.0, NoEstimate::EveryGameLost),
    ] {
        let found = of(counts);
        assert_eq!(found.score, score);
        assert_eq!((found.elo, found.nelo), (Err(why), Err(why)));
        assert_eq!(found.los, Err(NoEstimate::NoVariance));
    }
}

#[test]
fn three_games_have_no_error_bar() {
    for groups in [3, ENOUGH_GROUPS - 1] {
        let found = of(&[0, 1, groups - 2, 1, 0]);
        let few = NoEstimate::TooFewGroups {
            has: groups,
            needs: ENOUGH_GROUPS,
        };
        assert_eq!(found.elo.unwrap().error, Err(few));
        assert_eq!(found.nelo.unwrap().error, Err(few));
        assert_eq!(found.los, Err(few));
    }
    let found = of(&[0, 1, ENOUGH_GROUPS - 2, 1, 0]);
    assert!(found.elo.unwrap().error.is_ok());
    assert!(found.los.is_ok());
}

#[test]
fn an_error_bar_that_would_reach_beyond_a_perfect_score_is_none() {
    let found = of(&[0, 0, 0, 1, 11]);
    assert!(found.elo.unwrap().value > 400.0);
    assert_eq!(found.elo.unwrap().error, Err(NoEstimate::Unbounded));
}

#[test]
fn who_always_shares_is_even() {
    let found = of(&[0, 0, 100, 0, 0]);
    assert_eq!(found.elo.unwrap().value, 0.0);
    assert_eq!(found.nelo.unwrap().value, 0.0);
    // Nothing varied, so nothing says by how much it might.
    assert_eq!(found.elo.unwrap().error, Err(NoEstimate::NoVariance));
    // Nor is there a spread to measure a score in that is not even.
    let found = of(&[0, 0, 0, 100, 0]);
    assert_eq!(found.nelo, Err(NoEstimate::NoVariance));
}

#[test]
fn figures_and_why_there_are_none_are_read_as_what_they_were() {
    for counts in [
        &[1, 2, 3][..],
        &[4, 0, 0, 8, 4],
        &[0, 0, 0, 1, 11],
        &[0, 0, 20],
        &[0, 20, 0],
    ] {
        let found = of(counts);
        let text = serde_json::to_string(&found).unwrap();
        let read: Comparison = serde_json::from_str(&text).unwrap();
        assert_eq!(read.groups, found.groups);
        for (read, found) in [(read.elo, found.elo), (read.nelo, found.nelo)] {
            assert_eq!(read.err(), found.err());
            if let (Ok(read), Ok(found)) = (read, found) {
                // The last digit may get lost.
                close(read.value, found.value, 1e-9);
                assert_eq!(read.error.err(), found.error.err());
            }
        }
        assert_eq!(read.los.err(), found.los.err());
    }
    let json = serde_json::to_value(of(&[0, 0, 20])).unwrap();
    assert_eq!(json["elo"], json!({"unknown": "every_game_won"}));
    let json = serde_json::to_value(of(&[1, 2, 3])).unwrap();
    let few = json!({"unknown": "too_few_groups", "has": 6, "needs": 10});
    assert_eq!((&json["elo"]["error"], &json["los"]), (&few, &few));
}

#[test]
fn nothing_is_said_without_a_group() {
    for none in [
        &[][..],
        &[7],
        &[0; 5],
        &[0; 3],
        &[1, 2, 3, 4],
        &[u64::MAX; 3],
    ] {
        assert_eq!(Comparison::of(none), None);
    }
    for none in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(elo_of(none), None);
    }
}

#[test]
fn a_score_and_its_difference_are_inverse() {
    close(score_of(400.0), 10.0 / 11.0, 1e-12);
    for elo in [-700.0, -3.0, 0.0, 0.5, 250.0] {
        close(elo_of(score_of(elo)).unwrap(), elo, 1e-9);
    }
}

proptest! {
    #[test]
    fn nothing_is_ever_infinite(counts in any_counts()) {
        let Some(found) = Comparison::of(&counts) else {
            prop_assert!(counts.iter().all(|&n| n == 0));
            return Ok(());
        };
        for estimate in [found.elo, found.nelo].into_iter().flatten() {
            prop_assert!(estimate.value.is_finite());
            let bar = estimate.error.unwrap_or(1.0);
            prop_assert!(bar > 0.0 && bar.is_finite());
        }
        prop_assert!((0.0..=1.0).contains(&found.score));
        prop_assert!((0.0..=1.0).contains(&found.draw_ratio));
        prop_assert!((0.0..=1.0).contains(&found.los.unwrap_or(0.5)));
    }

    #[test]
    fn swapping_the_players_negates(counts in any_counts()) {
        prop_assume!(counts.iter().any(|&n| n > 0));
        let back: Vec<u64> = counts.iter().rev().copied().collect();
        let (here, there) = (of(&counts), of(&back));
        close(here.score + there.score, 1.0, 1e-12);
        for (here, there) in [(here.elo, there.elo), (here.nelo, there.nelo)] {
            prop_assert_eq!(here.is_ok(), there.is_ok());
            let (Ok(here), Ok(there)) = (here, there) else { continue };
            close(here.value + there.value, 0.0, 1e-6 * (1.0 + here.value.abs()));
            prop_assert_eq!(here.error.is_ok(), there.error.is_ok());
            if let (Ok(here), Ok(there)) = (here.error, there.error) {
                prop_assert!((here - there).abs() <= 1e-4 * here);
            }
        }
        if let (Ok(here), Ok(there)) = (here.los, there.los) {
            close(here + there, 1.0, 1e-9);
        }
    }

    #[test]
    fn as_much_won_as_lost_is_even(half in any_counts()) {
        prop_assume!(half.iter().any(|&n| n > 0));
        let even: Vec<u64> = half.iter().zip(half.iter().rev()).map(|(a, b)| a + b).collect();
        let found = of(&even);
        prop_assert_eq!((found.score, found.elo.unwrap().value), (0.5, 0.0));
    }

    #[test]
    fn a_group_that_ends_better_raises_the_elo(mut counts in any_counts(), at in 0..8_usize) {
        let at = at % (counts.len() - 1);
        counts[at] += 1;
        let before = of(&counts);
        counts[at] -= 1;
        counts[at + 1] += 1;
        let after = of(&counts);
        prop_assert!(after.score > before.score);
        if let (Ok(before), Ok(after)) = (before.elo, after.elo) {
            prop_assert!(after.value > before.value);
        }
    }
}
