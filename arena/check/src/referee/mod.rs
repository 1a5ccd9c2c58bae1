//! Does a referee catch bots that misbehave? Each villain is played against an honest bot,
//! from either seat.
//!
//! Which villains there are, and how they are started, is handed in as data: the crate that
//! has them reads command lines, which no library here does.

mod local;
mod remote;

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use referee::{Address, StartError};
use referee_bots::{BotOptions, Entry, LaunchContext};
use referee_core::{Foul, FoulKind, GameKind, Limits, Record, Seat};
use referee_worker::Stop;

use self::{local::LocalReferee, remote::RemoteReferee};

/// The seats that a villain is tried in.
pub const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];
/// The same deals every time.
const SEED: [u8; 32] = [7; 32];
/// Number of villains that are tried at once: most of them only wait.
const AT_ONCE: usize = 8;
/// Options to start the honest bot with, and a villain for another referee.
const OPTIONS: BotOptions = BotOptions {
    start_limit: Duration::from_secs(30),
    memory_limit: None,
    measure_memory: false,
    directory: None,
};

/// A bot that misbehaves in one way, and the game in which it shows it.
#[derive(Clone, Debug)]
pub struct VillainCase {
    /// The villain's SPEC; named as in the catalogue of villains.
    pub entry: Entry,
    /// The foul that it commits; none where it commits none.
    pub expected: Option<FoulKind>,
    /// The set-up of the game.
    pub setup: serde_json::Value,
    /// The limits of the game.
    pub limits: Limits,
    /// Options for its start by the referee of this process.
    pub options: BotOptions,
}

/// The villains, and who they play against.
#[derive(Clone)]
pub struct VillainCases {
    /// The game that all of them play; it has two seats.
    pub game: &'static dyn GameKind,
    /// The bot that commits no foul.
    pub honest: Entry,
    /// The villains.
    pub villains: Vec<VillainCase>,
}

/// The referee that is checked.
#[derive(Clone, Debug)]
pub enum RefereeUnderTest {
    /// The one of this process, on so many threads.
    Local {
        /// The threads.
        threads: usize,
    },
    /// One that runs as `referee serve`.
    Remote {
        /// The address at which it listens.
        address: Address,
        /// The name or address by which it knows this machine.
        host: String,
    },
}

/// The referee's statements on a villain, by seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VillainResult {
    /// The villain's name.
    pub name: String,
    /// The foul that was expected.
    pub expected: Option<FoulKind>,
    /// The statements on the games in each of [`SEATS`].
    pub seats: [VillainGame; 2],
}

/// The referee's statement on one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VillainGame {
    /// The villain's foul, if there is one.
    pub foul: Option<Foul>,
    /// Reason why the game ended, as the game says; none where the game is void.
    pub reason: Option<String>,
    /// The foul of the honest bot; there should be none.
    pub honest_foul: Option<Foul>,
}

/// Reason why a referee can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum RefereeError {
    /// Nothing answers at the address of the referee.
    #[error("nothing answers at {address}: {why}")]
    NotReached {
        /// The address.
        address: Address,
        /// Reason why nothing answers.
        why: String,
    },
    /// The villains' ports can't be opened there.
    #[error("could not listen at {host}: {error}")]
    Host {
        /// The name or address of this machine.
        host: String,
        /// The error of the listener.
        error: std::io::Error,
    },
    /// The referee did not play the game: what it did, or did not do.
    #[error("the referee {0}")]
    NotPlayed(String),
    /// Its record can't be read.
    #[error("could not read the referee's record")]
    Record(#[from] referee_core::RecordError),
    /// One of our bots did not start.
    #[error("could not start {name}: {error}")]
    NotStarted {
        /// Its name.
        name: String,
        /// Reason why it could not be started.
        error: StartError,
    },
    /// A folder for a bot's socket can't be made.
    #[error("could not make a folder among the temporary files (TMPDIR)")]
    Socket(#[source] std::io::Error),
    /// The threads of the referee can't be started.
    #[error("could not start the referee's threads")]
    Threads(#[source] std::io::Error),
    /// The game can't be played.
    #[error("could not play {game_id}")]
    Play {
        /// The game.
        game_id: String,
        /// Reason why the game could not be played.
        #[source]
        error: referee::GameError,
    },
}

enum ExaminedReferee<'a> {
    Local(LocalReferee<'a>),
    Remote(Box<RemoteReferee<'a>>),
}

/// Tries all villains, several at once, and hands on each result in their order. It returns
/// how many were tried to the end: all of them, unless it was stopped. All bots have been
/// stopped then.
///
/// # Errors
///
/// [`RefereeError`] where the referee can't be reached or does not answer as a referee, or
/// our own failure.
pub async fn check_referee<E: From<RefereeError>>(
    referee: &RefereeUnderTest,
    villains: &VillainCases,
    context: &LaunchContext,
    stop: &Stop,
    mut each: impl FnMut(VillainResult) -> Result<(), E>,
) -> Result<usize, E> {
    let judge = ExaminedReferee::new(referee, villains, context).await?;
    let tried = async {
        let results = stream::iter(&villains.villains)
            .take_until(stop.finishing())
            .map(|villain| judge.try_one(villain))
            .buffered(AT_ONCE);
        let mut results = std::pin::pin!(results);
        let mut tried = 0;
        loop {
            let next = tokio::select! {
                next = results.next() => next,
                // Dropping the games cuts them off.
                () = stop.cutting_off() => None,
            };
            let Some(next) = next else { return Ok(tried) };
            each(next?)?;
            tried += 1;
        }
    };
    let tried = tried.await;
    match judge {
        ExaminedReferee::Local(local) => local.stop().await,
        ExaminedReferee::Remote(remote) => remote.stop().await,
    }
    tried
}

impl<'a> ExaminedReferee<'a> {
    async fn new(
        referee: &'a RefereeUnderTest,
        villains: &'a VillainCases,
        context: &'a LaunchContext,
    ) -> Result<Self, RefereeError> {
        Ok(match referee {
            RefereeUnderTest::Local { threads } => {
                Self::Local(LocalReferee::new(villains, context, *threads)?)
            }
            RefereeUnderTest::Remote { address, host } => {
                let remote = RemoteReferee::connect(address, host, villains, context);
                Self::Remote(Box::new(remote.await?))
            }
        })
    }

    /// In both seats at once.
    async fn try_one(&self, villain: &VillainCase) -> Result<VillainResult, RefereeError> {
        let [first, second] = SEATS.map(|seat| self.try_in(villain, seat));
        let (first, second) = tokio::try_join!(first, second)?;
        Ok(VillainResult {
            name: villain.entry.name.clone(),
            expected: villain.expected,
            seats: [first, second],
        })
    }

    async fn try_in(&self, villain: &VillainCase, seat: Seat) -> Result<VillainGame, RefereeError> {
        let game_id = format!("check-referee-{}-{seat}", villain.entry.name);
        let record = match self {
            Self::Local(local) => local.play(villain, seat, game_id).await?,
            Self::Remote(remote) => remote.play(villain, seat, game_id).await?,
        };
        Ok(VillainGame::of(&record, seat))
    }
}

impl VillainGame {
    fn of(record: &Record, seat: Seat) -> Self {
        let verdict = &record.result.verdict;
        Self {
            foul: verdict.foul(seat).cloned(),
            reason: verdict.outcome().map(|outcome| outcome.reason.clone()),
            honest_foul: verdict.foul(seat.other()).cloned(),
        }
    }

    /// True if it is void.
    #[must_use]
    pub const fn is_void(&self) -> bool {
        self.foul.is_none() && self.reason.is_none()
    }

    /// True if the referee's statement was the expected one.
    #[must_use]
    pub fn holds(&self, expected: Option<FoulKind>) -> bool {
        let foul = self.foul.as_ref().map(Foul::kind);
        foul == expected && self.honest_foul.is_none() && !self.is_void()
    }
}

impl VillainResult {
    /// True if the referee's statement was the expected one in both seats.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.seats.iter().all(|game| game.holds(self.expected))
    }
}

/// A villain and the honest bot in order of their seats.
fn in_order<T>(villain: T, honest: T, seat: Seat) -> Vec<T> {
    if seat == SEATS[0] {
        vec![villain, honest]
    } else {
        vec![honest, villain]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late() -> Option<Foul> {
        Some(Foul::Late {
            limit: Duration::from_secs(1),
        })
    }

    fn result(expected: Option<FoulKind>, fouls: [Option<Foul>; 2]) -> VillainResult {
        VillainResult {
            name: "villain".to_owned(),
            expected,
            seats: fouls.map(|foul| VillainGame {
                foul,
                reason: Some("four in a row".to_owned()),
                honest_foul: None,
            }),
        }
    }

    #[test]
    fn both_seats_must_be_answered_as_expected() {
        let expected = Some(FoulKind::Late);
        assert!(result(expected, [late(), late()]).holds());
        assert!(result(None, [None, None]).holds());
        let other = || Some(Foul::HungUp);
        for wrong in [
            [late(), other()],
            [other(), late()],
            [None, late()],
            [late(), None],
        ] {
            assert!(!result(expected, wrong.clone()).holds(), "{wrong:?}");
        }
        assert!(!result(None, [None, late()]).holds());
    }

    #[test]
    fn a_foul_of_the_honest_bot_and_a_void_game_are_wrong() {
        let mut honest = result(None, [None, None]);
        honest.seats[1].honest_foul = late();
        assert!(!honest.holds());
        let mut void = result(None, [None, None]);
        void.seats[0].reason = None;
        assert!(!void.holds());
    }
}
