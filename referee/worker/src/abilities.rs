//! Abilities of a worker, and the needs of a chunk.

use std::{collections::BTreeSet, fmt};

use referee::Address;
use referee_net::AllowList;

use referee_bots::{Entry, Reach};

/// The abilities of a worker: what it can play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abilities {
    /// It is in the arena's own process: it plays whatever the arena can start or reach.
    Local,
    /// It is a process of its own, on this machine or another.
    Remote(Machine),
}

/// A machine that works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its name, for people.
    pub host: String,
    /// Number of cores that its games may use.
    pub cores: u32,
    /// Its memory, in MiB; 0 where it is not known.
    pub memory_mib: u64,
    /// Number of games that it plays at once.
    pub games_at_once: u32,
    /// The games that it plays.
    pub games: BTreeSet<String>,
    /// Labels of what it provides for packed bots: `python3`, `linux-x86_64`.
    pub provides: BTreeSet<String>,
    /// The bots that it may dial where they run as services.
    pub bots: AllowList,
    /// The walls around its bots that hold, in words.
    pub isolation: String,
    /// True if all walls hold that keep what one process knows from the next.
    pub isolated: bool,
}

/// A need of a chunk, without which it can't be played.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A worker in the arena's own process: this bot can't be started elsewhere.
    Local {
        /// Its SPEC.
        spec: String,
    },
    /// A machine that may dial a bot that runs there.
    Dial {
        /// The bot's address.
        address: Address,
    },
    /// A machine that provides this.
    Provided {
        /// As in `python3`.
        label: String,
    },
    /// A worker that plays this game.
    Game {
        /// Its name.
        game: String,
    },
    /// Memory for each of its games.
    Memory {
        /// In MiB.
        mib: u64,
    },
}

impl Abilities {
    /// True if a worker has what is needed.
    #[must_use]
    pub fn has(&self, need: &Need) -> bool {
        let Self::Remote(machine) = self else {
            return true;
        };
        match need {
            Need::Local { .. } => false,
            Need::Dial { address } => match address {
                Address::Unix(path) => machine.bots.names_socket(path),
                Address::Tcp(authority) | Address::Tls(authority) => machine.bots.names(authority),
            },
            Need::Provided { label } => machine.provides.contains(label),
            Need::Game { game } => machine.games.contains(game),
            Need::Memory { mib } => machine.memory_mib == 0 || machine.memory_mib >= *mib,
        }
    }
}

impl Need {
    /// The needs of starting this bot.
    #[must_use]
    pub fn of(entry: &Entry) -> Vec<Self> {
        if let Reach::Address(address) = entry.launcher().reach()
            && !entry.launcher().is_in_lobby()
        {
            return vec![Self::Dial { address }];
        }
        match entry.launcher().travels_with() {
            Some(labels) => labels
                .into_iter()
                .map(|label| Self::Provided { label })
                .collect(),
            None => vec![Self::Local {
                spec: entry.spec.clone(),
            }],
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local { spec } => write!(
                f,
                "the arena's own machine, because {spec} can't be started elsewhere (`arena bots \
                 add NAME --dir FOLDER` makes a bot that travels)"
            ),
            Self::Dial { address } => write!(
                f,
                "a worker that may dial the bot at {address} (`referee work --bots HOST:PORT`)"
            ),
            Self::Provided { label } => write!(f, "a worker with {label}"),
            Self::Game { game } => write!(f, "a worker that plays {game}"),
            Self::Memory { mib } => write!(f, "a worker with {mib} MiB of memory"),
        }
    }
}
