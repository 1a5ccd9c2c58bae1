//! The ideas of the engine that can be left out, to measure what each is worth.

/// An idea that an engine can do without: it plays as legally, and worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum OthelloIdea {
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
