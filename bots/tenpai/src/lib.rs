//! An engine for arcade Mahjong: two seats draw and discard in turn, and only a win can be claimed.

#![forbid(unsafe_code)]

mod divide;
mod engine;
pub mod explain;
pub mod features;
pub mod network;
pub mod opponent;
mod playout;
pub mod reader;
mod shanten;
mod shapes;
mod situation;
mod tile;
mod value;
mod weights;

pub use divide::divided;
pub use engine::{MahjongEngine, MahjongIdea, ThinkingLimit, Valued, WinOrWait};
pub use shanten::Shanten;
pub use situation::Situation;
pub use tile::{COPIES, KINDS, Tile, Tiles, shuffle};
pub use value::faan;
pub use weights::{NetworkWeights, NetworkWeightsError};

/// Builds the tables, if they have not been built yet. It takes some tens of milliseconds, so a
/// program with a time limit should do it early.
pub fn prepare() {
    let _ = shapes::shapes();
}
