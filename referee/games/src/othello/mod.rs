//! Othello.

mod board;
mod ending;
mod position;
mod rules;
mod scene;
mod square;
mod trials;
mod view;
mod wire;

pub use board::OthelloBoard;
pub use ending::Ending;
pub use position::{BLACK, OthelloPosition, WHITE};
pub use rules::{Othello, Previous, Public, Question, Setup};
pub use square::{Square, squares_of};
pub use view::View;
