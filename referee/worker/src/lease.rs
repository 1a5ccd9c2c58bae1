//! The owned messages between a dispatcher and a worker. A lease holds all that is needed
//! to play its games, and no more: the seeds of these games, and never the root that they
//! come from.

use std::{fmt, ops::Range, sync::Arc, time::Duration};

use referee::Live;
use referee_core::{Limits, Seed};

use crate::{Abilities, Summary};
use referee_bots::{BotOptions, Entry};

/// A run of a dispatcher: in a store the number of a tournament. A dispatcher of one run
/// needs no number, and has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u64);

/// The life of a worker's process: 16 random bytes that it has chosen. A lease belongs to
/// the session that it was given to, so that nobody else of the same name can renew it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; 16]);

/// Its first 8 digits, which are enough for a person to tell sessions apart.
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(f, "{:08x}", u32::from_be_bytes([a, b, c, d]))
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({self})")
    }
}

/// A request for work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// Name of the worker that asks.
    pub worker: String,
    /// Its session; none for a worker in the dispatcher's own process, whose leases end
    /// with that process.
    pub session: Option<SessionId>,
    /// Its abilities: what it can play.
    pub can: Arc<Abilities>,
    /// Number of games that it would like to have.
    pub games: u64,
    /// Only work of this part, where it is given.
    pub scope: Option<Scope>,
}

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The tournament's name.
    pub tournament: String,
    /// The number of a match in its schedule.
    pub matchup: Option<u32>,
}

/// The answer to a [`LeaseRequest`].
#[derive(Clone, Debug)]
pub enum LeaseReply {
    /// Play this.
    Work(Box<Lease>),
    /// There is no work now; ask again.
    Wait,
    /// There is no work left.
    Over,
}

/// A chunk: games between the same bots that are leased together. In a game with
/// secrets it is one seating of several deals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId {
    /// The number of its match in the schedule.
    pub matchup: u32,
    /// The number of its first group.
    pub first_group: u64,
    /// Number of groups, whose numbers follow one another.
    pub groups: u64,
    /// The seating that is played; all of them where there is none.
    pub seating: Option<u32>,
}

impl ChunkId {
    /// The numbers of its groups.
    #[must_use]
    pub const fn group_numbers(&self) -> Range<u64> {
        self.first_group..self.first_group.saturating_add(self.groups)
    }
}

/// One attempt at a chunk. A later attempt makes the reports of an earlier one stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId {
    /// The run that it belongs to.
    pub run: RunId,
    /// The chunk.
    pub chunk: ChunkId,
    /// Number of the attempt; a later one at the same chunk has a higher one.
    pub attempt: u32,
}

/// A game within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameKey {
    /// Its group: the deal.
    pub group: u64,
    /// Number of the game in its group, from 0.
    pub seating: u32,
}

/// A chunk that a worker has.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The chunk, and the number of the attempt.
    pub id: LeaseId,
    /// It has to be renewed within this time.
    pub valid_for: Duration,
    /// The game's name, as in `connect_four`.
    pub game: String,
    /// The limits of every game.
    pub limits: Limits,
    /// The bots that play, in order of the lineup.
    pub bots: Vec<LeasedBot>,
    /// True if it must be played by processes that play nothing else.
    pub fresh_processes: bool,
    /// True if its games are played one after the other, and a bot's budget of time goes over all
    /// of them.
    pub series: bool,
    /// True if records are wanted.
    pub records: bool,
    /// True if what its bots print is wanted with each game.
    pub logs: bool,
    /// True if public moves are to be told while the games go on.
    pub live: bool,
    /// The games.
    pub games: Vec<Assignment>,
}

/// A bot of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedBot {
    /// Its name in its games. Several may be one entry.
    pub name: String,
    /// Its entry, which says how to start or reach it.
    pub entry: Entry,
    /// The settings that its processes are started with.
    pub options: BotOptions,
    /// True if what it has spent of its budget in a series is counted in the next game.
    pub budget: bool,
}

/// One game that is to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The key of the game.
    pub key: GameKey,
    /// Name of the game for its bots and its record.
    pub game_id: String,
    /// The set-up that it begins with.
    pub setup: serde_json::Value,
    /// The seed that decides its chance.
    pub seed: Seed,
    /// The seat order: for each seat a place in the lineup.
    pub order: Vec<usize>,
}

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameReport {
    /// The lease that it was played under.
    pub lease: LeaseId,
    /// The key of the game.
    pub key: GameKey,
    /// The summary of the game.
    pub summary: Summary,
    /// The packed record, where it is wanted.
    pub record: Option<Vec<u8>>,
    /// For each seat what its bot printed, where that is wanted; else none.
    pub logs: Vec<String>,
}

/// The reply to a [`GameReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportReply {
    /// It counts.
    Accepted,
    /// It had been reported before; nothing has changed.
    Duplicate,
    /// It is not taken: the chunk has been leased again since.
    Stale,
    /// It is not taken: its run is not being played, because it is paused, cancelled or over.
    Ended,
    /// It is not taken: the session does not have the lease that it names, or the game is not one
    /// of that lease.
    NotHeld,
    /// It is not taken: nothing answered at the address of a bot, and the game is played when the
    /// bot is back.
    Away,
}

/// A lease that a worker has done with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBack {
    /// The lease.
    pub lease: LeaseId,
    /// Games that were not begun, or were cut off.
    pub unplayed: Vec<GameKey>,
    /// For each bot of the lineup the most memory that a process of it has added, in
    /// bytes, where it was measured.
    pub memory: Vec<Option<u64>>,
}

/// Something that everybody may know of a running game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveUpdate {
    /// The lease that it is played under.
    pub lease: LeaseId,
    /// The game.
    pub key: GameKey,
    /// Name of the game for its bots and its record.
    pub game_id: String,
    /// Names of the players, by seat.
    pub players: Vec<String>,
    /// The event.
    pub live: Live,
}
