//! Arcade Mahjong: two seats, three suits; only a win can be claimed.

mod distance;
#[cfg(test)]
mod distribution;
mod ending;
mod hand;
mod melds;
mod place;
mod redeal;
mod rules;
mod scene;
mod setup;
mod shapes;
mod target;
mod tile;
mod trials;
mod value;
mod view;
mod wire;

pub use distance::Goal;
pub use ending::Ending;
pub use hand::Hand;
pub use rules::{Answer, Hidden, Mahjong, Notice, Private, Public, Question, WALL, Won};
pub use setup::DEALT;
pub use setup::Setup;
pub use shapes::prepare;
pub use tile::{COPIES, KINDS, MahjongSuit, NotationError, TILES, Tile, TileSet, parse, print};
pub use value::{MissingSuit, faan};
pub use view::View;
