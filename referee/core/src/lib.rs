//! The definition of a game, and how one is judged.
//!
//! Everything here is pure: no clock, no network, no files, no global, and no
//! randomness but the [`Dice`] that are handed in. The referee's service does
//! the waiting; the games in `referee-games` bring the rules.

mod clock;
mod dice;
mod event_line;
mod expected;
mod file_name;
mod format;
mod foul;
mod foul_words;
mod game;
mod imagine;
mod json;
mod last_words;
mod named;
mod outcome;
#[cfg(feature = "pack")]
pub mod pack;
mod pgn;
mod printable;
mod printed_error;
mod record;
mod scene;
mod seat;
mod seed;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod transcript;
mod watcher;
mod wire;
mod words;

pub use clock::{Charge, Clock, Limits, ThinkingTime};
pub use dice::Dice;
pub use expected::{expected_number, expected_words};
pub use file_name::file_name;
pub use format::{FormatWriter, GameFormat, GameToWrite, NotWritable, Occasion};
pub use foul::{Foul, FoulKind};
pub use foul_words::FoulWords;
pub use game::{
    Audience, Game, GameInfo, Illegal, Observation, SetupChoices, SetupError, SetupPart, State,
    Step, Trial,
};
pub use imagine::PastAnswer;
pub use json::{JsonBounds, JsonError};
pub use last_words::{split_last_words, with_last_words};
pub use named::part_forms;
pub use outcome::{Outcome, SeatFoul, Verdict};
pub use printable::{excerpt, is_printable, printable, printable_lines, shorten};
pub use printed_error::PrintedError;
pub use record::{FORMAT, FORMAT_VERSION, Header, Record, RecordError, ResultLine, SeatHeader};
pub use scene::{Area, CardSuit, Cell, Hidden, Mark, Piece, Scene, Shape, Surface, TileSuit};
pub use seat::{PerSeat, Seat};
pub use seed::{Root, Seed, SeedError};
pub use table::{Accepted, AnswerRefusal, GameKind, ListedGame, Table, TableStep};
pub use transcript::{Event, Transcript};
pub use watcher::{AnyWatcher, Watcher};
pub use wire::{Malformed, Sight, Wire};
pub use words::{Language, Words};
