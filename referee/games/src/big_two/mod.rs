//! Reversal Big Two.

mod card;
mod combination;
mod ending;
mod outcome;
mod plays;
mod round;
mod rules;
mod scene;
mod trials;
mod view;
mod wire;

pub use card::{Card, Cards, DECK, JOKER_STRENGTH, NoCard, Order, Rank, Suit};
pub use combination::{Combination, CombinationKind};
pub use ending::Ending;
pub use plays::plays;
pub use round::{Move, Public, Rules, SEATS, Scoring, SeatStanding, Trick};
pub use rules::{BigTwo, Hidden, Notice, Question, Setup};
pub use view::View;
