//! Defaults that several verbs have.

use referee_core::Limits;

/// The time limit for one move if nobody says, as it is typed.
#[must_use]
pub fn move_limit() -> String {
    humantime::format_duration(Limits::default().per_move).to_string()
}

/// The time limit for a start if nobody says, as it is typed.
#[must_use]
pub fn start_limit() -> String {
    humantime::format_duration(Limits::default().start).to_string()
}

/// The name of this process as a worker: its machine and its number.
#[must_use]
pub fn worker_name() -> String {
    let host = nix::unistd::gethostname();
    let host = host.map_or_else(
        |_| "localhost".to_owned(),
        |host| host.to_string_lossy().into_owned(),
    );
    format!("{host}-{}", std::process::id())
}
