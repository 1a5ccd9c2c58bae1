//! Arcade Mahjong: two seats, three suits, nothing is called but a win.

mod distance;
#[cfg(test)]
mod distribution;
mod hand;
mod shapes;
mod tile;
mod value;

pub use distance::Goal;
pub use hand::Hand;
pub use shapes::prepare;
pub use tile::{COPIES, KINDS, NotationError, Suit, TILES, Tile, TileSet, parse, print};
pub use value::{MissingSuit, faan};
