//! Othello.

mod board;
mod position;
mod square;

pub use board::Board;
pub use position::{BLACK, Position, WHITE};
pub use square::{Square, squares_of};
