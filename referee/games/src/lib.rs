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

use std::{ops::Deref, sync::OnceLock};

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

/// The games of this crate. Adding one is its folder and its line here.
static OURS: &[&dyn GameKind] = &[
    &ListedGame::<connect_four::ConnectFour>::new(),
    &ListedGame::<othello::Othello>::new(),
    &ListedGame::<mahjong::Mahjong>::new(),
    &ListedGame::<big_two::BigTwo>::new(),
];

/// Every game: those of this crate, and those that the program has [added](GameList::add).
pub static GAMES: GameList = GameList(OnceLock::new());

/// The list of all games, as a slice.
pub struct GameList(OnceLock<Box<[&'static dyn GameKind]>>);

/// The reason why games can't be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddGamesError {
    /// The list has been read.
    #[error("the games are known already: add others once, before anything else")]
    TooLate,
    /// Two games have one name.
    #[error("there are two games with the name {0}")]
    SameName(&'static str),
}

impl GameList {
    /// Adds games of other crates. The first thing that a program does, and once: whoever reads the
    /// list is to find the same one always.
    ///
    /// # Errors
    ///
    /// [`AddGamesError`].
    pub fn add(&self, games: &[&'static dyn GameKind]) -> Result<(), AddGamesError> {
        let all = [OURS, games].concat();
        for (at, kind) in all.iter().enumerate() {
            let name = kind.info().name;
            if all[..at].iter().any(|other| other.info().name == name) {
                return Err(AddGamesError::SameName(name));
            }
        }
        let added = self.0.set(all.into());
        added.map_err(|_| AddGamesError::TooLate)
    }
}

impl Deref for GameList {
    type Target = [&'static dyn GameKind];

    fn deref(&self) -> &Self::Target {
        self.0.get_or_init(|| OURS.into())
    }
}

impl IntoIterator for &'static GameList {
    type Item = &'static &'static dyn GameKind;
    type IntoIter = std::slice::Iter<'static, &'static dyn GameKind>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

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
