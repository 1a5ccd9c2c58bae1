//! The reason why a round ended, and the words for people.

use referee_core::{Seat, Words};

/// The reason why a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All seats left by a foul.
    AllForfeited,
    /// This seat has played all of its cards, and the others pay it.
    Out(Seat),
    /// All other seats have played all of their cards, or left.
    OneLeft,
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::AllForfeited => Self::new("all four forfeited", "四家弃权"),
            Ending::Out(seat) => Self::new(
                format!("seat {seat} has no cards left"),
                format!("座位 {seat} 已出完"),
            ),
            Ending::OneLeft => Self::new("one seat was left in play", "只剩一家未出完"),
        }
    }
}
