//! `edge`, an Othello engine: search, exact endgames and a learned evaluation.
//!
//! ```
//! use edge::{Discs, Exactness, OthelloEngine, OthelloEngineOptions, SearchLimit};
//!
//! let mut engine = OthelloEngine::new(OthelloEngineOptions::default())?;
//! let answer = engine.search(Discs::START, SearchLimit::depth(6));
//! assert!(answer.square.is_some());
//!
//! let last = "XXXOXXXXOXXXXXXXOOXXXXXXOOOXXXXXOOOXXOO-OOOOO---OOOOOOO-OOOOOOO- X";
//! let solution = engine.solve(last.parse().unwrap());
//! assert_eq!(solution.score, 6);
//! # Ok::<(), edge::weights::BadWeights>(())
//! ```
//!
//! A [`Discs`] is two sets of 64 bits as the side to move sees them. Scores are in discs for the
//! side to move, of the end of the game, empty squares given to the winner: -64 to 64. The crate
//! reads no files and prints nothing; a clock is looked at only for a search with a deadline.
//! Its README says how the engine works, how strong it is and how it learns.

mod board;
pub mod book;
mod cpu;
mod engine;
mod eval;
mod idea;
pub mod pattern;
mod search;
mod square;
mod stability;
mod table;
pub mod weights;

pub use board::{Discs, NotABoard};
pub use engine::{
    Exactness, OthelloEngine, OthelloEngineOptions, OthelloSearchResult, Scored, SearchLimit,
    Solution,
};
pub use idea::OthelloIdea;
pub use search::probe_depth;
pub use square::{NotASquare, Square, Squares};

/// Calls a function with the fastest [`cpu::Cpu`] of this machine.
macro_rules! with_best_cpu {
    ($cpu:ident => $work:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if let Some($cpu) = $crate::cpu::Avx2::detect() {
            return $work;
        }
        let $cpu = $crate::cpu::Portable;
        $work
    }};
}
pub(crate) use with_best_cpu;
