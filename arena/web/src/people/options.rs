//! How people play: against whom, where their games are kept, how many there are at once.

use std::{path::PathBuf, time::Duration};

use referee_bots::{Entry, LaunchContext};

/// A bot that people may play against.
#[derive(Clone)]
pub struct Opponent {
    /// The game that it is offered in; none if in all that it plays.
    pub game: Option<&'static str>,
    /// How strong it is among those that are offered in this game, from 1, and how many there are;
    /// none where that is not known.
    pub strength: Option<(usize, usize)>,
    /// The bot.
    pub entry: Entry,
}

/// How people play.
pub struct PeopleOptions {
    /// Starts the bots.
    pub context: LaunchContext,
    /// Whom they may play against. Nobody can name another program.
    pub opponents: Vec<Opponent>,
    /// Where games are kept.
    pub folder: PathBuf,
    /// Which records of games are kept there.
    pub records: RecordBounds,
    /// Whoever is away for so long has resigned.
    pub grace: Duration,
    /// So many games are played at once.
    pub most: usize,
}

/// Which records are kept of games that are over: the newest ones.
#[derive(Clone, Copy, Debug)]
pub struct RecordBounds {
    /// All together have no more bytes.
    pub bytes: u64,
    /// None is older.
    pub age: Duration,
}
