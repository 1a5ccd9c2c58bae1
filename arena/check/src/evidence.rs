//! Observations of a bot, as data. The words are made by who shows them.

use std::time::Duration;

use referee::{Health, LeftBehind};
use referee_core::{Foul, Seat};

/// The observed behaviour, which is not the expected one.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A foul.
    Foul(ObservedFoul),
    /// It was ready so late.
    ReadyAfter {
        /// Time that it took.
        took: Duration,
        /// Longest time that it may take.
        limit: Duration,
    },
    /// It answered GameStart with something other than Ready.
    NoReady,
    /// `bot` is empty in Ready.
    NoName,
    /// `max_games` is not set in Ready.
    NoMaxGames,
    /// It answers UNIMPLEMENTED for every game.
    NoGame,
    /// It does not say that a service is healthy.
    Health {
        /// The name of the service; empty for the whole server.
        service: String,
        /// Its answer to the health check.
        reply: Health,
        /// Time that it had to answer.
        limit: Duration,
    },
    /// Reflection does not list the service of the game.
    ListedServices(Vec<String>),
    /// Reflection failed, as the bot or the transport says.
    ReflectionFailed(String),
    /// It did not answer UNIMPLEMENTED for a service that it does not have.
    UnknownService(UnknownServiceReply),
    /// It did not end its side of streams.
    OpenStreams {
        /// So many streams.
        open: u32,
        /// Of so many.
        of: u32,
    },
    /// An answer came close to the limit.
    SlowAnswer {
        /// Time that it took.
        thought: Duration,
        /// Longest time that it may take.
        limit: Duration,
    },
    /// Its answers took longer than a shorter limit that the questions said.
    ShorterLimit {
        /// The limit.
        limit: Duration,
        /// The median of its answers.
        thought: Duration,
    },
    /// It used the processor after the last stream was cancelled.
    StillThinking {
        /// So long after it.
        after: Duration,
        /// Use of a core beyond that before, from 0; 1 is a whole core.
        cores: f64,
    },
    /// Its memory has grown steadily.
    Growth {
        /// By so many bytes.
        bytes: u64,
        /// Over so many games.
        games: usize,
    },
    /// It did not end after SIGTERM.
    StillRunning {
        /// Time that it had to end.
        limit: Duration,
    },
    /// Processes that it had started were left when it had ended.
    LeftBehind(Vec<LeftBehind>),
    /// A process printed more than is kept.
    TooMuchOutput {
        /// So many bytes are kept.
        limit: u64,
        /// In so many games.
        games: u64,
    },
}

/// A foul and the circumstances of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedFoul {
    /// The bot's foul.
    pub foul: Foul,
    /// The last question to the bot, where it was asked something.
    pub question: Option<AskedQuestion>,
    /// In which circumstances.
    pub circumstance: Circumstance,
}

/// A question that a bot was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedQuestion {
    /// Its number in the game, from 0, which is GameStart.
    pub number: u32,
    /// The name of the call; none where the game does not name it.
    pub call: Option<String>,
}

/// In which circumstances there was a foul.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circumstance {
    /// Nothing is special about them.
    Usual,
    /// In a game in this seat.
    Seat(Seat),
    /// In a game in this seat, after another game in the same process; a new process plays
    /// the same game without a foul.
    SecondGame(Seat),
    /// With these beginnings, by the names that the game gives them, in these seats, and not
    /// with the usual one.
    Beginnings(Vec<(&'static str, Seat)>),
    /// In a game that it was resumed in.
    Resumed {
        /// Number of its own answers that it was sent.
        answers: usize,
        /// Its seat.
        seat: Seat,
    },
    /// In one of several games at once.
    AtOnce {
        /// Number of games.
        games: usize,
        /// Number of games that had a foul.
        fouls: usize,
    },
    /// In a game after so many streams were cancelled.
    AfterCancelled {
        /// Number of streams.
        streams: usize,
    },
    /// While streams were cancelled.
    DuringCancellation,
    /// When a game was over.
    AfterGame,
}

/// A bot's reaction to a call of a service that it does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownServiceReply {
    /// It committed a foul.
    Foul(Foul),
    /// It sent an answer.
    Answer,
    /// It said nothing within this time.
    Silent(Duration),
}

impl From<Foul> for Evidence {
    /// A foul in usual circumstances.
    fn from(foul: Foul) -> Self {
        Self::Foul(ObservedFoul {
            foul,
            question: None,
            circumstance: Circumstance::Usual,
        })
    }
}
