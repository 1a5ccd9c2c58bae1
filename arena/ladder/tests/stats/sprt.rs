//! The test that stops a match.

use arena_ladder::{
    Decision, Sprt,
    sprt::{BadSprt, Model},
};
use proptest::prelude::*;

use crate::vocabulary::any_counts;

fn sprt(model: Model, elo0: f64, elo1: f64) -> Sprt {
    Sprt {
        elo0,
        elo1,
        alpha: 0.05,
        beta: 0.05,
        model,
    }
}

#[test]
fn the_likelihood_ratio_is_the_one_that_others_print() {
    use Model::{Logistic, Normalized};
    let ratio = |model, [elo0, elo1]: [f64; 2], counts: &[u64], expected: f64| {
        let found = sprt(model, elo0, elo1).llr(counts).unwrap();
        // The figures have six digits after the point or six in all.
        let within = 1e-6_f64.max(expected.abs() * 4e-6);
        let said = format!("{model:?} {elo0} {elo1} {counts:?}: {found}, not {expected}");
        assert!((found - expected).abs() <= within, "{said}");
    };
    ratio(Normalized, [0.0, 2.0], &[36027, 68692, 36433], 0.923293);
    ratio(Normalized, [-1.75, 0.25], &[10650, 20431, 10871], 2.297500);
    ratio(Normalized, [0.0, 10.0], &[0, 0, 4250], 120.548);
    ratio(Logistic, [0.5, 2.5], &[21184, 40708, 21404], -1.571889);
    ratio(Logistic, [0.0, 5.0], &[420, 60, 520], 1.420883);
    let pairs = [365, 16618, 36229, 16974, 390];
    ratio(Normalized, [0.0, 2.0], &pairs, 2.250368);
    let pairs = [127, 4883, 10712, 5150, 104];
    ratio(Normalized, [-1.75, 0.25], &pairs, 3.010154);
    let pairs = [223, 9863, 21279, 10037, 246];
    ratio(Logistic, [0.5, 2.5], &pairs, -3.074126);
    let pairs = [12, 80, 160, 100, 18];
    ratio(Logistic, [0.0, 5.0], &pairs, 0.948320);
    ratio(Normalized, [0.0, 5.0], &pairs, 0.646632);
}

#[test]
fn it_stops_at_the_bounds_of_wald() {
    let (lower, upper) = sprt(Model::Normalized, 0.0, 2.0).bounds();
    assert!((lower + 2.944439).abs() < 1e-6 && (upper - 2.944439).abs() < 1e-6);

    let up = sprt(Model::Normalized, -1.75, 0.25);
    assert_eq!(
        up.decide(&[127, 4883, 10712, 5150, 104]),
        Some(Decision::AcceptH1)
    );
    let down = sprt(Model::Logistic, 0.5, 2.5);
    assert_eq!(
        down.decide(&[223, 9863, 21279, 10037, 246]),
        Some(Decision::AcceptH0)
    );
    let open = sprt(Model::Logistic, 0.0, 5.0);
    assert_eq!(open.decide(&[12, 80, 160, 100, 18]), None);
    assert_eq!(open.decide(&[420, 60, 520]), None);
    let won = sprt(Model::Normalized, 0.0, 10.0);
    assert_eq!(won.decide(&[0, 0, 4250]), Some(Decision::AcceptH1));
    assert_eq!(won.decide(&[4250, 0, 0]), Some(Decision::AcceptH0));
}

#[test]
fn nothing_is_decided_without_a_game() {
    let test = sprt(Model::Normalized, 0.0, 10.0);
    assert_eq!(test.llr(&[0; 5]), None);
    assert_eq!(test.decide(&[0; 5]), None);
    assert_eq!(test.decide(&[0; 3]), None);
    for none in [&[][..], &[5], &[1, 2], &[1, 2, 3, 4]] {
        assert_eq!(test.llr(none), None);
    }
}

#[test]
fn a_test_reads_what_it_prints_in_any_order() {
    let full: Sprt = "elo0=-1.5 elo1=10 alpha=0.01 beta=0.2 model=logistic"
        .parse()
        .unwrap();
    assert_eq!(full.to_string().parse(), Ok(full));
    assert_eq!(
        "model=logistic,beta=0.2, elo1=10 ,alpha=0.01\telo0=-1.5".parse(),
        Ok(full)
    );
    let short: Sprt = "elo0=0 elo1=10".parse().unwrap();
    assert_eq!(short, sprt(Model::Normalized, 0.0, 10.0));
}

#[test]
fn a_test_that_is_wrong_says_what_was_expected() {
    let said = |text: &str| text.parse::<Sprt>().unwrap_err().to_string();
    assert_eq!(
        said("elo0=0"),
        "elo1 is missing; expected such as elo0=0 elo1=10"
    );
    assert_eq!(
        said("elo0=0 elo1=ten"),
        r#"expected a number after elo1=, not "ten""#
    );
    assert_eq!(
        said("elo0=0 elo1=5 gamma=1"),
        r#"expected elo0=, elo1=, alpha=, beta= or model=, not "gamma=1""#
    );
    assert_eq!(said("elo0=0 elo1=5 elo0=1"), "elo0= is there twice");
    assert_eq!(
        said("elo0=5 elo1=0"),
        "elo0 must be less than elo1, not 5 and 0"
    );
    assert_eq!(
        said("elo0=0 elo1=5 alpha=0.5"),
        "alpha must lie above 0 and below 0.5, not 0.5"
    );
    assert_eq!(
        said("elo0=0 elo1=inf"),
        "elo1 must lie between -500 and 500, not inf"
    );
    assert_eq!(
        said("elo0=0 elo1=5 model=bayesian"),
        r#"expected model=normalized or model=logistic, not "bayesian""#
    );
    for text in [
        "elo0=NaN elo1=5",
        "elo0=0 elo1=5 beta=0",
        "elo0=0 elo1=5 beta=nan",
    ] {
        assert!(text.parse::<Sprt>().is_err(), "{text}");
    }
    assert_eq!("".parse::<Sprt>(), Err(BadSprt::Missing("elo0")));
}

proptest! {
    #[test]
    fn every_valid_test_of_any_games_has_a_finite_ratio(
        counts in any_counts(), a in -500.0..500.0_f64, b in -500.0..500.0_f64, logistic: bool,
    ) {
        let model = if logistic { Model::Logistic } else { Model::Normalized };
        let test = sprt(model, a.min(b), a.max(b));
        prop_assume!(test.validate().is_ok() && counts.iter().any(|&n| n > 0));
        prop_assert!(test.llr(&counts).is_some_and(f64::is_finite));
    }

    #[test]
    fn swapping_the_players_and_the_hypotheses_negates(
        counts in any_counts(), elo in 1.0..50.0_f64, logistic: bool,
    ) {
        let model = if logistic { Model::Logistic } else { Model::Normalized };
        let back: Vec<u64> = counts.iter().rev().copied().collect();
        let here = sprt(model, -elo, 2.0 * elo).llr(&counts);
        let there = sprt(model, -2.0 * elo, elo).llr(&back);
        match (here, there) {
            (Some(here), Some(there)) =>
                prop_assert!((here + there).abs() <= 1e-6 * (1.0 + here.abs()), "{here} {there}"),
            (here, there) => prop_assert_eq!(here, there),
        }
    }

    #[test]
    fn another_won_group_speaks_for_the_stronger(
        mut counts in proptest::collection::vec(1..1_000_000_u64, 5), elo in 1.0..50.0_f64,
    ) {
        let test = sprt(Model::Logistic, 0.0, elo);
        let before = test.llr(&counts);
        counts[4] += 1;
        prop_assert!(test.llr(&counts) > before);
    }
}
