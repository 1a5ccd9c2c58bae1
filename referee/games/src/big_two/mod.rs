//! Reversal Big Two.

mod card;
mod combination;
mod plays;

pub use card::{Card, Cards, DECK, JOKER_STRENGTH, NoCard, Order, Rank, Suit};
pub use combination::{Combination, Kind};
pub use plays::plays;
