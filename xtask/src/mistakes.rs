//! `cargo xtask mistakes`: what the arena says to mistakes of students, for a person to read.

use crate::{
    languages,
    shell::{Result, cargo, stream},
};

/// Plays the mistakes of `arena/cli/tests/mistakes` and prints all that the arena says of each.
///
/// # Errors
/// A kit can't be built, or the arena does not say what mends a mistake.
pub(crate) fn run() -> Result {
    languages::python()?;
    stream(&mut cargo("build --workspace --bins --locked"))?;
    stream(
        cargo("test --workspace --locked --test arena --quiet -- --nocapture languages::mistakes")
            .env(languages::VARIABLE, languages::folder()),
    )
}
