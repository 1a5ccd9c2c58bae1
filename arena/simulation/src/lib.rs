//! A network of simulated machines in one thread, to test arenas and workers against
//! partitions, lost messages, crashes and wrong clocks. One seed decides everything that
//! happens, so that a failure can be repeated.
//!
//! The network and its time are those of [`turmoil`]. What must be the real thing and
//! has threads of its own, such as a database, runs [`Beside`] the simulation, and no
//! simulated time passes meanwhile.
//!
//! What runs on a simulated machine must take its time from `tokio::time`, its time of
//! day from a [`HostClock`], and its random numbers from a seed; it must use `biased` in
//! `tokio::select!`, and start no threads.

mod beside;
mod clock;
mod faults;
pub mod network;
mod pace;
mod results;
mod simulation;
mod trace;

pub use beside::Beside;
pub use clock::HostClock;
pub use faults::{FaultTable, Incident, Trouble, TroubleKind};
pub use pace::Pace;
pub use results::{BesideResults, commit_pacing};
pub use simulation::{SEED_VARIABLE, Simulation, SimulationFailure, SimulationOptions};
pub use trace::Trace;
