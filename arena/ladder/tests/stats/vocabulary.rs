//! Helpers that the tests of statistics share.

use arena_ladder::{Entrant, GroupCount, elo::NoEstimate, luce::Fit};
use proptest::prelude::*;

/// Fails where a figure is not the one expected.
#[track_caller]
pub(crate) fn close(found: f64, expected: f64, within: f64) {
    let off = (found - expected).abs();
    assert!(
        off <= within,
        "{found} is not within {within} of {expected}"
    );
}

/// Groups by half points, of one game, two or four, possibly none.
pub(crate) fn any_counts() -> impl Strategy<Value = Vec<u64>> {
    let count = || prop_oneof![Just(0), 0..30_u64, 0..1_000_000_u64];
    (0..3_u32).prop_flat_map(move |log| proptest::collection::vec(count(), (2 << log) + 1))
}

/// Groups of one game of several who all count, by their places.
pub(crate) fn tally(lineup: &[u32], places: &[u8], groups: u64) -> GroupCount {
    group(lineup, &[places], groups)
}

/// Groups of these games.
pub(crate) fn group(lineup: &[u32], places: &[&[u8]], groups: u64) -> GroupCount {
    GroupCount::new(
        lineup.iter().map(|&who| Some(Entrant::new(who))).collect(),
        places.iter().map(|&places| places.to_vec()).collect(),
        &vec![0; lineup.len()],
        groups,
    )
}

/// The values without their errors.
pub(crate) fn values(fit: &Fit) -> Vec<f64> {
    let ratings = fit.ratings.iter();
    ratings
        .map(|rating| rating.expect("everybody has played").value)
        .collect()
}

/// The errors.
pub(crate) fn errors(fit: &Fit) -> Vec<Result<f64, NoEstimate>> {
    let ratings = fit.ratings.iter();
    ratings
        .map(|rating| rating.expect("everybody has played").error)
        .collect()
}
