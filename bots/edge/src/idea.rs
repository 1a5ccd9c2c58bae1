//! The ideas of the engine that can be left out, to measure what each is worth.

use std::str::FromStr;

/// An idea that an engine can do without: it plays as legally, and worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idea {
    /// Multi-ProbCut: without it no line is cut because it most likely does not matter.
    Mpc,
    /// Bounds by stable discs.
    Stability,
    /// The learned evaluation: without it a move more than the other side is worth a disc, and
    /// nothing else counts.
    Patterns,
    /// The transposition table, and the small one of the solver.
    Table,
    /// Enhanced transposition cutoffs: the table is asked about all moves before one is searched.
    Etc,
    /// The order of moves: without it, after the best moves of the table, that of the squares.
    Ordering,
    /// Parity: squares of quarters with an odd number of empty squares go first.
    Parity,
    /// The solver: without it the end of a game is searched as its middle is, a ply deeper each
    /// time.
    Solver,
}

impl Idea {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Mpc,
        Self::Stability,
        Self::Patterns,
        Self::Table,
        Self::Etc,
        Self::Ordering,
        Self::Parity,
        Self::Solver,
    ];

    /// Its name, as it is parsed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpc => "mpc",
            Self::Stability => "stability",
            Self::Patterns => "patterns",
            Self::Table => "table",
            Self::Etc => "etc",
            Self::Ordering => "ordering",
            Self::Parity => "parity",
            Self::Solver => "solver",
        }
    }
}

impl FromStr for Idea {
    type Err = NotAnIdea;

    fn from_str(text: &str) -> Result<Self, NotAnIdea> {
        let found = Self::ALL.into_iter().find(|idea| idea.name() == text);
        found.ok_or_else(|| NotAnIdea {
            found: text.to_owned(),
        })
    }
}

/// A text that is no idea's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}, found \"{found}\"", Idea::ALL.map(Idea::name).join(", "))]
pub struct NotAnIdea {
    found: String,
}
