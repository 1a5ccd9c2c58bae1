//! The ideas that the engine can do without, so that each can be measured.

/// A part of the engine that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ConnectFourIdea {
    /// The search for wins by stones that must each be answered at once.
    Forced,
    /// The learned evaluation. Without it every position that is not decided is worth the same,
    /// and so are moves that the history of the search does not tell apart.
    Evaluation,
    /// The count of who must move below a threat, a part of the evaluation.
    Zugzwang,
    /// The transposition table.
    Table,
    /// The table is kept from move to move.
    Reuse,
    /// Mirror images share their entries in the table.
    Symmetry,
    /// Late moves, and positions for which the table has no move, are searched less deeply.
    Reductions,
    /// Positions near the leaves that are much better than needed are not searched.
    Futility,
}

/// A set of ideas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectFourIdeas(u8);

impl ConnectFourIdeas {
    /// True if this one is among them.
    #[must_use]
    #[inline]
    pub const fn has(self, idea: ConnectFourIdea) -> bool {
        self.0 >> idea as u8 & 1 == 1
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, idea: ConnectFourIdea) -> Self {
        Self(self.0 | 1 << idea as u8)
    }
}
