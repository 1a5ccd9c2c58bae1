//! The lobby: bots that nobody can dial dial in, and wait to be invited to games
//! (`arena.v1.Lobby`). For each of them there is a socket in a folder, at which the referee finds
//! what any other bot serves; what it says there goes on to the bot, and back.
//!
//! A bot whose stream breaks may come back to its game. The clock of a question is the referee's,
//! and runs on. Nothing here knows a game: calls and answers pass through as bytes.

mod attendant;
mod folder;
mod lobby;
mod seat;
mod socket;

pub use attendant::Attendant;
pub use folder::{LobbyError, LobbyFolder};
pub use lobby::{Lobby, MESSAGES};
