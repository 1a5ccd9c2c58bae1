//! The result of a search.

use crate::score::Proven;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectFourSearchResult {
    /// The column to play, from 0 at the left.
    pub column: u8,
    /// The value for the side to move: 1/256 of the logarithm of its odds to win; more than
    /// 29,000 either way where the end is proven.
    pub value: i32,
    /// The end, where it is proven.
    pub proven: Option<Proven>,
    /// The depth that was searched completely, in plies; 0 for the only sensible move.
    pub depth: u32,
    /// Number of positions that were looked at.
    pub nodes: u64,
    /// The columns that both sides are expected to play, this one first.
    pub line: Vec<u8>,
}
