//! A short game that shows what a villain does.

use std::time::Duration;

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

/// How to play against a villain so that it shows what it does, and soon.
#[derive(Clone, Copy, Debug)]
pub struct TestGame {
    /// Its command line after the kind.
    pub arguments: &'static [&'static str],
    /// The game's set-up as JSON.
    pub setup: &'static str,
    /// How long it has until it listens.
    pub listens_within: Duration,
    /// How long each seat has until it is ready.
    pub ready_within: Duration,
    /// How long each seat has for an answer.
    pub per_move: Duration,
    /// How much memory it may add, in bytes.
    pub memory: Option<u64>,
}

impl TestGame {
    const ORDINARY: Self = Self {
        arguments: &[],
        setup: "null",
        listens_within: AMPLE,
        ready_within: AMPLE,
        per_move: AMPLE,
        memory: None,
    };
}

impl Kind {
    /// The game in which it commits [its foul](Self::foul), or none.
    #[must_use]
    pub const fn test_game(self) -> TestGame {
        let ordinary = TestGame::ORDINARY;
        match self {
            Self::Slow => TestGame {
                arguments: &["--delay", "10ms"],
                ..ordinary
            },
            Self::SlowStart => TestGame {
                arguments: &["--delay", "500ms"],
                ..ordinary
            },
            Self::Silent => TestGame {
                listens_within: Duration::from_secs(1),
                ..ordinary
            },
            Self::Mute | Self::NeverReady => TestGame {
                ready_within: KEPT,
                ..ordinary
            },
            Self::Memory => TestGame {
                arguments: &["--megabytes", "128"],
                memory: Some(32 << 20),
                ..ordinary
            },
            Self::Full => TestGame {
                setup: LOW_COLUMN,
                ..ordinary
            },
            Self::Late | Self::BusyLate => TestGame {
                per_move: KEPT,
                ..ordinary
            },
            Self::FailsOnTallBoards => TestGame {
                setup: TALL_BOARD,
                ..ordinary
            },
            Self::LastMinute => TestGame {
                setup: LAST_POINTS,
                per_move: Duration::from_secs(10),
                ..ordinary
            },
            Self::Clockless => TestGame {
                setup: LAST_POINTS,
                ..ordinary
            },
            _ => ordinary,
        }
    }

    /// Whether only the one who starts it can see what it does: a referee that is given
    /// an address can't.
    #[must_use]
    pub const fn is_for_the_starter(self) -> bool {
        matches!(
            self,
            Self::ExitAtOnce | Self::Silent | Self::Deaf | Self::Misdirected | Self::Memory
        )
    }
}
