//! Events of a run while it goes on, for observers: a terminal, a stream of events, metrics.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use arena_events::run::StopCause;
use arena_ladder::{Group, schedule::SetAside};
use arena_store::GameRow;
use referee_core::SeatFoul;
use referee_worker::lease::LiveUpdate;

use crate::dispatch::AwayBot;

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
        /// Number of games of a group.
        games_in_group: u64,
    },
    /// A chunk was leased.
    Leased {
        /// Time that it had waited for a worker.
        waited: Duration,
    },
    /// A game has been stored. What came of it may still be withheld.
    Counted,
    /// A game has ended, and may be told of: in a game with secrets all seatings of its
    /// deal are over.
    Game(&'a EndedGame),
    /// A bot has committed its first foul of the tournament.
    FirstFoul(FoulNotice<'a>),
    /// Nothing answers at the address of a bot that has played: its games wait.
    Away {
        /// Its name.
        bot: &'a str,
        /// What was found, and for how long it is waited for.
        away: &'a AwayBot,
    },
    /// A bot that was away has answered.
    Back {
        /// Its name.
        bot: &'a str,
        /// The time that it was away.
        after: Duration,
    },
    /// A bot takes no further part.
    SetAside {
        /// Its name.
        bot: &'a str,
        /// The entrant, the reason why, and whether its games still count.
        set_aside: &'a SetAside,
    },
    /// A public move of a running game; only in games without secrets.
    Live {
        /// The game's group; [`Plan::deal`](crate::Plan::deal) says what it begins with.
        group: &'a Group,
        /// The update of the game.
        update: &'a LiveUpdate,
    },
    /// A transaction of the store took so long.
    Committed(Duration),
    /// The referee's threads were late by so much at worst in the last second.
    RefereeDelay(Duration),
    /// How much is being played now.
    Running {
        /// Number of games that have begun and are not over.
        games: usize,
        /// Number of moves that this run has made, also in those games.
        moves: u64,
    },
    /// No more games are begun; the games that are running are finished.
    Stopping(StopCause),
}

/// A game that has ended.
#[derive(Clone, Debug)]
pub struct EndedGame {
    /// The game's id, as its bots and its record have it.
    pub game_id: String,
    /// Names of the players, by seat.
    pub players: Vec<String>,
    /// The game's result, as the store has it.
    pub row: GameRow,
    /// Number of each seat's answers, by bucket of the time that they took.
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
    /// Its foul, and the seat in which it did it.
    pub foul: &'a SeatFoul,
}

/// Tells nobody.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: RunEvent<'_>) {}
}
