//! Errors with what caused them, on one line.

use std::error::Error;

/// An error with all that caused it, on one line, each cause once.
#[must_use]
pub fn causes(error: &dyn Error) -> String {
    with_causes(error.to_string(), error)
}

/// The same where `text` says the error itself.
#[must_use]
pub fn with_causes(mut text: String, error: &dyn Error) -> String {
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
