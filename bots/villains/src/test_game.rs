//! A short game that shows what a villain does.

use std::time::Duration;

use referee_core::Limits;

use crate::Kind;

/// The game that villains are tested in, by its name.
pub const GAME: &str = "connect_four";

/// A set-up in which nobody can win and each seat has one point left.
const LAST_POINTS: &str = r#"{"board": ["..XO", "XXOO", "OOXX", "XXOO"]}"#;
/// Three free cells in the leftmost column, so that nobody can win there.
const LOW_COLUMN: &str = r#"{"rows": 4, "columns": 12, "forbidden": {"at": {"x": 0, "y": 0}}}"#;
const TALL_BOARD: &str = r#"{"rows": 12, "columns": 9}"#;

/// More than any answer takes, however busy the machine is.
const AMPLE: Duration = Duration::from_secs(30);
/// Runs out soon, but never for a bot that does not wait on purpose.
const KEPT: Duration = Duration::from_secs(3);

/// The settings of a game against a villain in which it shows what it does, and soon.
#[derive(Clone, Copy, Debug)]
pub struct TestGame {
    /// Its command line after the kind.
    pub arguments: &'static [&'static str],
    /// The game's set-up as JSON.
    pub setup: &'static str,
    /// Longest time until it listens.
    pub listens_within: Duration,
    /// The limits of the game.
    pub limits: Limits,
    /// The memory that it may add, in bytes.
    pub memory_limit: Option<u64>,
}

impl Kind {
    /// The game in which it commits [its foul](Self::foul), or none.
    #[must_use]
    pub fn test_game(self) -> TestGame {
        let mut game = TestGame {
            arguments: &[],
            setup: "null",
            listens_within: AMPLE,
            limits: Limits {
                start: AMPLE,
                per_move: AMPLE,
                ..Limits::default()
            },
            memory_limit: None,
        };
        match self {
            Self::Slow => game.arguments = &["--delay", "10ms"],
            Self::SlowStart => game.arguments = &["--delay", "500ms"],
            Self::Silent => game.listens_within = Duration::from_secs(1),
            Self::Mute | Self::NeverReady => game.limits.start = KEPT,
            Self::Memory => {
                game.arguments = &["--megabytes", "128"];
                game.memory_limit = Some(32 << 20);
            }
            Self::Full => game.setup = LOW_COLUMN,
            Self::Late | Self::BusyLate => game.limits.per_move = KEPT,
            Self::FailsOnTallBoards => game.setup = TALL_BOARD,
            Self::LastMinute => {
                game.setup = LAST_POINTS;
                game.limits.per_move = Duration::from_secs(10);
            }
            Self::Clockless => game.setup = LAST_POINTS,
            _ => {}
        }
        game
    }

    /// True if only the one who starts it can see what it does: a referee that is given an address
    /// can't.
    #[must_use]
    pub const fn is_for_the_starter(self) -> bool {
        matches!(
            self,
            Self::ExitAtOnce | Self::Silent | Self::Deaf | Self::Misdirected | Self::Memory
        )
    }
}
