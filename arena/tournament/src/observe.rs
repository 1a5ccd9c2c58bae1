//! What a run tells while it goes on, to whoever wants to know: a terminal, a stream of
//! events, metrics.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use arena_events::run::StopCause;
use arena_ladder::{Group, schedule::SetAside};
use arena_store::GameRow;
use referee_core::SeatFoul;
use referee_worker::lease::LiveUpdate;

/// Is told what happens in a run. It must not block: games wait for it.
pub trait Observer: Send + Sync {
    /// Takes an event.
    fn event(&self, event: RunEvent<'_>);
}

/// Something that has happened in a run.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// The run begins: so many groups are complete from before, and so many there will
    /// be at most.
    Begun {
        /// Complete groups.
        done: u64,
        /// All groups, where there is an end.
        planned: Option<u64>,
        /// How many games a group has.
        games_in_group: u64,
    },
    /// A chunk was leased.
    Leased {
        /// How long it had waited for a worker.
        waited: Duration,
    },
    /// A game has been stored. What came of it may still be withheld.
    Counted,
    /// A game has ended, and may be told of: in a game with secrets all seatings of its
    /// deal are over.
    Game(&'a EndedGame),
    /// A bot has committed its first foul of the tournament.
    FirstFoul(FoulNotice<'a>),
    /// A bot takes no further part.
    SetAside {
        /// Its name.
        bot: &'a str,
        /// Why.
        set_aside: &'a SetAside,
    },
    /// A public move of a running game; only in games without secrets.
    Live {
        /// The game's group; [`Plan::deal`](crate::Plan::deal) says what it begins with.
        group: &'a Group,
        /// What has happened in it.
        update: &'a LiveUpdate,
    },
    /// A transaction of the store took so long.
    Committed(Duration),
    /// The referee's threads were late by so much at worst in the last second.
    RefereeDelay(Duration),
    /// So many games are being played now.
    Running(usize),
    /// No more games are begun; the games that are running are finished.
    Stopping(StopCause),
}

/// A game that has ended.
#[derive(Clone, Debug)]
pub struct EndedGame {
    /// What its bots and its record call it.
    pub game_id: String,
    /// Who played, by seat.
    pub players: Vec<String>,
    /// What came of it.
    pub row: GameRow,
    /// How often each seat's answers took how long, by bucket.
    pub thinking: Vec<BTreeMap<u32, u32>>,
    /// The file of its record, where records are files.
    pub record: Option<PathBuf>,
}

/// The first foul of a bot.
#[derive(Clone, Copy, Debug)]
pub struct FoulNotice<'a> {
    /// Its name.
    pub bot: &'a str,
    /// The game.
    pub game: &'a EndedGame,
    /// What it did, and in which seat.
    pub foul: &'a SeatFoul,
}

/// Tells nobody.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: RunEvent<'_>) {}
}
