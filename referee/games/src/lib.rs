//! The games, and the part of the referee that does not wait.
//!
//! One folder for each game: `rules.rs`, `view.rs` (a seat's calls folded into what it
//! knows), `wire.rs` (the only file that knows its messages), `scene.rs` (what to
//! draw), `ending.rs` (why a game ended). [`GAMES`] is the only list of them. A
//! [`Sitting`] is one game as the referee conducts it, except for waiting.

mod action;
pub mod big_two;
mod calls;
pub mod connect_four;
mod envelope;
mod formats;
mod imagination;
pub mod mahjong;
pub mod othello;
mod part;
mod replay;
mod sitting;
mod written;

use referee_core::{GameKind, ListedGame};

pub use action::SeatAction;
pub use calls::Calls;
pub use envelope::{answer, ending, forfeit, foul_kind, past, ready, results, told_game_id};
pub use formats::{NotWritten, formats, write_game};
pub use imagination::Imagination;
pub use part::{Cue, PartQuestion, SeatPart};
pub use replay::{
    Knowledge, Mismatch, Moment, RecordedReply, Retraced, known_to, replay, retrace,
    retrace_within, verify,
};
pub use sitting::{
    BEHAVIOR_VERSION, Finished, Fixture, Judgement, Next, Question, SeatReply, Sitting,
};

/// Every game. Adding one is its folder and its line here.
pub static GAMES: &[&dyn GameKind] = &[
    &ListedGame::<connect_four::ConnectFour>::new(),
    &ListedGame::<othello::Othello>::new(),
    &ListedGame::<mahjong::Mahjong>::new(),
    &ListedGame::<big_two::BigTwo>::new(),
];

/// The game with this name, written with hyphens or underscores.
#[must_use]
pub fn game(name: &str) -> Option<&'static dyn GameKind> {
    let name = name.replace('-', "_");
    GAMES.iter().copied().find(|game| game.info().name == name)
}

/// A game's name as people write it: `connect-four` for `connect_four`.
#[must_use]
pub fn game_name(name: &str) -> String {
    name.replace('_', "-")
}
