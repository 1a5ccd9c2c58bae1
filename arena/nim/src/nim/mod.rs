//! Nim.

mod ending;
mod rules;
mod scene;
mod view;
mod wire;

pub use ending::Ending;
pub use rules::{Nim, Public, Question, Setup, Take};
pub use view::View;
