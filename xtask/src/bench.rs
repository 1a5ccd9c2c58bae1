//! `cargo xtask bench [NAME]`: measures.

use crate::shell::Result;

/// Runs the benchmark that is named, or all.
///
/// # Errors
/// There is none yet.
pub(crate) fn run(name: Option<&str>) -> Result {
    match name {
        Some(name) => Err(format!("no benchmark `{name}`: no benchmarks yet").into()),
        None => Err("no benchmarks yet".into()),
    }
}
