//! The options for games of people: their opponents, the folder of their games, the most games at
//! once.

use std::{path::PathBuf, time::Duration};

use referee_bots::{Entry, LaunchContext};

/// A bot that people may play against.
#[derive(Clone)]
pub struct Opponent {
    /// The game that it is offered in; none if in all that it plays.
    pub game: Option<&'static str>,
    /// Its rank by strength among those that are offered in this game, from 1 for the weakest, and
    /// how many there are; none where that is not known.
    pub strength: Option<(usize, usize)>,
    /// The bot.
    pub entry: Entry,
}

/// The options for games of people.
pub struct PeopleOptions {
    /// Starts the bots.
    pub context: LaunchContext,
    /// The bots that they may play against. Nobody can name another program.
    pub opponents: Vec<Opponent>,
    /// The folder of games.
    pub folder: PathBuf,
    /// The bounds of the records of games that are kept there.
    pub records: RecordBounds,
    /// Whoever is away for so long has resigned.
    pub grace: Duration,
    /// So many games are played at once.
    pub most: usize,
}

/// The bounds of the records that are kept of games that are over: the newest ones are kept.
#[derive(Clone, Copy, Debug)]
pub struct RecordBounds {
    /// All together have no more bytes.
    pub bytes: u64,
    /// None is older.
    pub age: Duration,
}
