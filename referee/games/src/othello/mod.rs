//! Othello.

mod board;
mod ending;
mod formats;
mod position;
mod rules;
mod scene;
mod setup;
mod square;
mod trials;
mod view;
mod wire;

pub use board::OthelloBoard;
pub use ending::Ending;
pub use position::{BLACK, OthelloPosition, WHITE};
pub use rules::{Othello, Previous, Public, Question};
pub use setup::Setup;
pub use square::{Square, squares_of};
pub use view::View;
