//! What is known of a bot that attends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A bot that attends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attendant {
    /// The name that its token has.
    pub name: String,
    /// The services of its games.
    pub services: Vec<String>,
    /// The program that dialled, as it says.
    pub program: String,
    /// When it came, in milliseconds since 1970.
    pub since_unix_ms: u64,
    /// The time of the last ping to it and back. It is a part of what its answers take.
    pub round_trip: Option<Duration>,
}
