//! Tournaments and matches: what one is, how its games are handed out and played, and
//! what came of it.
//!
//! Everything goes one way: a [`Plan`] says what is played, [`run`] leases its chunks to
//! workers, [`Results`] take what comes back, a [`Snapshot`] computes from these what is
//! told, an [`Observer`] hears of it while it goes on. Nothing here prints.

mod clock;
mod definition;
mod dispatch;
mod error;
pub mod events;
mod expected;
mod formats;
mod history;
mod identity;
mod imported;
mod observe;
mod on_kubernetes;
mod plan;
mod readmit;
mod reported;
mod results;
mod run;
mod setups;
mod snapshot;
mod suggest;
mod totals;
mod verify;
mod workers;

use std::time::SystemTime;

pub use clock::WallClock;
pub use definition::{
    AWAY, Context, DEALS, Definition, FILLER, On, Planned, chance, find_game, needs_own_deals,
    parse_limit, read_openings,
};
pub use dispatch::{
    AwayBot, DispatchOptions, Dispatcher, HoldTime, LEASE, Lapse, LostLease, NotHeld, OpenMatch,
    RunCounters, RunStall, WaitingLineup, persist,
};
pub use error::TournamentError;
pub use formats::{ExportedGames, export_games, occasion};
pub use history::RatingsAfter;
pub use identity::{ChangedBot, changed_bots};
pub use imported::check_imported;
pub use observe::{EndedGame, FoulNotice, Observer, RunEvent, Silent};
pub use on_kubernetes::{Isolation, OnKubernetes};
pub use plan::{Plan, PlannedBot, filler_name, game_id, secret_root};
pub use readmit::readmit;
pub use results::{MemoryResults, Results, ResultsAnswer, StoredResults};
pub use run::{RunEnd, RunOptions, RunSummary, count_commits, run, run_stored};
pub use setups::{Setups, openings, usual_setup};
pub use snapshot::{FiguresOfBot, RunFigures, Snapshot, TestProgress, Warning};
pub use suggest::{closest, hint};
pub use verify::{Verification, verify};
pub use workers::{Suspicion, suspicions};

/// A moment in milliseconds since 1970; 0 before that.
#[must_use]
pub fn unix_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
