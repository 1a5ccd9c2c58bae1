//! What the tests speak in.

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
