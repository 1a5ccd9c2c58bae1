//! The reason why a game ended, and the words for people.

use referee_core::Words;

/// The reason why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both seats left by a foul.
    BothForfeited,
    /// One seat left by a foul.
    Forfeit,
    /// Somebody has taken the last object.
    LastTaken,
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::BothForfeited => Self::new("both forfeited", "双方弃权"),
            Ending::Forfeit => Self::new("forfeit", "对方弃权"),
            Ending::LastTaken => Self::new("the last object is taken", "最后一个物品被取走"),
        }
    }
}
