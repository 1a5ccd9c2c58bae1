//! Registered bots.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::game::FoulEvidence;

/// A version of a bot that is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotEvent {
    /// Its name.
    pub bot: String,
    /// Its version.
    pub bot_version: String,
    /// How to start or reach it, as a SPEC.
    pub spec: String,
    /// Who owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The names of the games that it plays.
    pub games: Vec<String>,
    /// Whether it is the newest version.
    pub newest: bool,
    /// Whether it was removed.
    pub retired: bool,
    /// The archive that its files are in. Absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<BotArchive>,
}

/// An archive with a bot's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotArchive {
    /// SHA-256 of the unpacked archive, in hexadecimal digits.
    pub hash: String,
    /// How many bytes it has unpacked.
    pub bytes: u64,
    /// How many bytes it has packed.
    pub packed_bytes: u64,
    /// Who packed it, as user@host.
    pub packed_by: String,
    /// When, in milliseconds since 1970 (UTC).
    pub packed_unix_ms: i64,
}

/// Whether a registered bot plays a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotCheckedEvent {
    /// Its name.
    pub bot: String,
    /// Its version.
    pub bot_version: String,
    /// The game's name.
    pub game: String,
    /// Whether it played without a foul.
    pub plays: bool,
    /// Its first foul; `unsupported` where it says that it does not play the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foul: Option<FoulEvidence>,
}
