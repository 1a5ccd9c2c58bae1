//! `ai4`, an engine for Reversal Big Two.

mod belief;
mod cards;
mod endgame;
mod engine;
mod plays;
mod round;
mod score;
mod search;
mod settings;
mod style;
pub mod worth;

pub use cards::{CardSet, JOKER_KEY};
pub use endgame::Endgame;
pub use engine::BigTwoEngine;
pub use plays::{CombinationShape, ToBeat, Variants, plays};
pub use round::{BigTwoRound, PublicRound, RoundOptions, SEATS, ScoringRule, Top};
pub use score::{HandScore, score};
pub use search::{BigTwoSearchResult, PlayCandidate, PlayoutLimit, Prospect};
pub use settings::{BigTwoIdea, BigTwoIdeas, SearchSettings};
pub use style::{PlayQuestion, Style};
