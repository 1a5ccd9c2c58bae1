//! The base of every long-running verb: its runtime, and numbers that nobody can guess.

use crate::{End, files};

/// Runs a verb. The main thread keeps the bots and shows how it goes; games are played on
/// threads of their own.
///
/// # Errors
///
/// That of the verb; the system refuses what a process that starts bots needs.
pub fn on_runtime(work: impl Future<Output = anyhow::Result<End>>) -> anyhow::Result<End> {
    // What decides the deals is in our memory, and bots may run as the same user.
    nix::sys::prctl::set_dumpable(false)?;
    files::raise_limit();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

/// Bytes that nobody can guess.
///
/// # Errors
///
/// The system has no random numbers to give.
pub fn random_bytes<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("could not get random numbers: {error}"))?;
    Ok(bytes)
}
