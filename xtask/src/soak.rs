//! `cargo xtask soak [STOPS]`: the tests that are too long for every commit.

use crate::shell::{Result, cargo, stream};

/// Stops each shape of tournament so many times.
///
/// # Errors
/// A tournament did not end in the table that it should have.
pub(crate) fn run(stops: &str) -> Result {
    stream(&mut cargo("build --locked -p villains"))?;
    stream(
        cargo("test --locked -p arena --test arena -- --ignored soak --nocapture")
            .env("ARENA_SOAK_STOPS", stops),
    )
}
