//! An engine for Connect Four on boards of up to 12 by 12 cells, one of which may be
//! forbidden: a stone lands above it.
//!
//! ```
//! use zugzwang::{
//!     BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit,
//! };
//!
//! let shape = BoardShape::new(9, 9, None)?;
//! let position = ConnectFourPosition::after(shape, &[3, 3, 4, 4])?;
//! let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions::default());
//! let answer = engine.search(&position, &Limit::nodes(10_000))?;
//! assert!([2, 5].contains(&answer.column), "an open three wins");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod board;
mod engine;
mod evaluation;
mod forced;
mod idea;
mod limit;
mod position;
mod root;
mod score;
mod search;
mod shape;
mod table;
mod terms;
mod weights;
mod word;
mod zobrist;

pub use answer::ConnectFourSearchResult;
pub use engine::{ConnectFourEngine, ConnectFourEngineOptions, GameIsOver};
pub use idea::{ConnectFourIdea, ConnectFourIdeas};
pub use limit::Limit;
pub use position::{ConnectFourPosition, PositionError};
pub use score::Proven;
pub use shape::{BoardCell, BoardShape, BoardShapeError, LARGEST};
pub use terms::Terms;
pub use weights::{EvaluationWeights, EvaluationWeightsError};
