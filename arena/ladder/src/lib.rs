//! Schedules, which say who plays whom, and the statistics of results. Everything here is pure: it
//! uses no clock, no network and no file, and its random numbers come from its arguments.

pub mod bradley_terry;
pub mod elo;
mod entrant;
mod group;
pub mod luce;
pub mod mantel_haenszel;
pub mod online;
pub mod plackett_luce;
pub mod schedule;
mod seatings;
pub mod sprt;
pub mod standings;
pub mod worker_failures;

pub use entrant::Entrant;
pub use group::{
    Faults, Group, GroupCount, GroupCounts, GroupScore, HalfPoints, Lineup, MarginSums, MatchId,
};
pub use schedule::{
    Field, LadderEntrant, LadderRound, Schedule, ScheduleError, ScheduleShape, SetAsideRule,
    schedule,
};
pub use seatings::Seatings;
pub use sprt::{Decision, Sprt};
pub use standings::Standings;
pub use worker_failures::{Failure, FailureCount, WorkerTest, test_workers};
