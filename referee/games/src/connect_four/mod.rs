//! Connect Four with a forbidden cell.

mod ending;
mod formats;
mod notation;
mod rules;
mod scene;
mod setup;
mod trials;
mod view;
mod wire;

pub use ending::Ending;
pub use rules::{
    ConnectFour, ConnectFourBoard, LARGEST, Point, Public, Question, SMALLEST, columns_of,
};
pub use setup::{Forbidden, Setup};
pub use view::View;
