//! Games that people play, against bots or one another. To the rules a person is a player like any
//! other: the same messages, the same judgement, the same record. What people have besides: a slip
//! is answered and costs nothing ([`read_move`]), moves can be taken back, there is no limit of
//! time unless they want one, a hint, and an evaluation that knows no more than they do.
//!
//! [`PeopleGame`] waits for nobody but bots: whoever shows it asks people, on a terminal or on a
//! page.

mod error;
mod evaluation;
mod game;
mod guest;
mod hint;
mod setup;
mod slip;

pub use error::{HintError, NotTakenBack, PeopleGameError};
pub use evaluation::EvaluationQuestion;
pub use game::{GivenAnswer, PeopleGame, PeopleTurn, PlayedMove, SeatPlayer, Seating};
pub use hint::{HintQuestion, SeatQuestion};
pub use setup::{setup_parts, setup_with};
pub use slip::{Slip, read_move};
