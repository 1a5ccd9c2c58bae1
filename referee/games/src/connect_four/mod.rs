//! Connect Four with a forbidden cell.

mod rules;
mod scene;
mod view;
mod wire;

pub use rules::{
    Board, ConnectFour, Forbidden, LARGEST, Point, Public, Question, SMALLEST, Setup, columns_of,
};
pub use view::View;
