//! The settings of a search, and the ideas that it can do without.

use std::num::NonZeroUsize;

/// A part of a search. Each can be left out, to see what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum BigTwoIdea {
    /// Deals are drawn by how well they explain what was played. Without it all deals that fit are
    /// equally likely.
    Belief,
    /// The model that a seat follows is inferred. Without it all seats play by worth.
    Styles,
    /// The worth that was learned. Without it the move that leaves the least outranked hand stands
    /// in for the move of the most worth, and no model weighs moves.
    Worth,
    /// Ends of rounds are solved exactly.
    Endgame,
    /// Candidates that are clearly worse are left out. Without it all get the same playouts.
    Race,
    /// Rounds are played out. Without it the move that looks best at first sight is played.
    Playouts,
}

/// A set of ideas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BigTwoIdeas(u8);

impl BigTwoIdeas {
    /// True if this one is among them.
    #[must_use]
    pub const fn has(self, idea: BigTwoIdea) -> bool {
        self.0 >> idea as u8 & 1 == 1
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, idea: BigTwoIdea) -> Self {
        Self(self.0 | 1 << idea as u8)
    }
}

/// The settings of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// Number of deals that are kept.
    pub deals: usize,
    /// Number of exchanges that are offered to a deal before it is used.
    pub exchanges: u32,
    /// Number of threads that search.
    pub threads: NonZeroUsize,
    /// The ideas that it does without.
    pub without: BigTwoIdeas,
    /// By how many points it misjudges a candidate at most.
    pub misjudges: f64,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            deals: 64,
            exchanges: 8,
            threads: NonZeroUsize::MIN,
            without: BigTwoIdeas::default(),
            misjudges: 0.0,
        }
    }
}
