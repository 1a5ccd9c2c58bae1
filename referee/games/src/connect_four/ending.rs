//! The reason why a game ended, and the words for people.

use referee_core::Words;

/// The reason why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both seats left by a foul.
    BothForfeited,
    /// One seat left by a foul.
    Forfeit,
    /// A seat has four stones in a line.
    FourInALine,
    /// No column has room.
    BoardFull,
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::BothForfeited => Self::new("both forfeited", "双方弃权"),
            Ending::Forfeit => Self::new("forfeit", "对方弃权"),
            Ending::FourInALine => Self::new("four in a line", "四子连线"),
            Ending::BoardFull => Self::new("the board is full", "棋盘已满"),
        }
    }
}
