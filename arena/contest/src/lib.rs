//! Contests: a file says what is played, when, and within which limits; people hand in sources, which
//! are built, examined, and ranked.
//!
//! Rules are functions of what is stored and of the time, which is handed in ([`ContestRules`]); what
//! takes time is the [`Judge`]: it builds entries, makes tournaments of their exams, which are played as
//! all others, and counts what came of them. Nothing of a contest is shown by anything but its
//! [`Board`] and its own pages.

#![forbid(unsafe_code)]

mod board;
mod error;
mod exam;
mod file;
mod games;
mod judge;
mod ladder;
mod outcome;
mod roster;
mod rules;
mod standing;
mod table;
mod told;

pub use board::{Board, BoardRow, Viewer};
pub use error::ContestError;
pub use exam::{ExamPart, GradedOpponent, exam_points, exam_verdict, graded_points, verdict_words};
pub use file::{
    ContestRules, Counts, ExamCase, ExamRules, FinalRules, LARGEST_UPLOAD, LadderRules,
    LeagueRules, QuietHours, SubmitLimits,
};
pub use games::{EntryGame, EntryRounds, GameOfEntry, NoGameOfEntry, RoundGame};
pub use judge::{
    BuildFailure, BuildJob, BuildSources, BuiltEntry, CheckBuilt, CheckJob, Checking, Judge,
};
pub use ladder::{ChallengeRefusal, LadderRating};
pub use outcome::{EntryDetails, EntryFinding, EntryOutcome, EntryShare, Fault, PlayedGame};
pub use roster::{Invitation, read_roster, token_list};
pub use rules::{Phase, Refusal};
pub use standing::{Standing, hand_in, viewer};
pub use told::{ContestEntry, ContestGame, EntryExplanation};
