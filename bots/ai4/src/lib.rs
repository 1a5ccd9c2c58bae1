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
pub use engine::Engine;
pub use plays::{Shape, ToBeat, Variants, plays};
pub use round::{Options, Round, SEATS, Scores, Table, Top};
pub use score::{HandScore, score};
pub use search::{Answer, Candidate, Limit, Prospect};
pub use settings::{Idea, Ideas, Settings};
pub use style::{Question, Style};
