//! The folder of what the bots of a tournament print.

use std::path::{Path, PathBuf};

use referee_core::file_name;

/// The folder where they go unless another one is named.
#[must_use]
pub fn logs_of_tournament(name: &str) -> PathBuf {
    Path::new("arena-runs").join(file_name(name)).join("logs")
}
