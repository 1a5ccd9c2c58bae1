//! The reason why a round ended, and the words for people.

use referee_core::Words;

use super::tile::Tile;

/// The reason why a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both seats left by a foul.
    BothForfeited,
    /// One seat left by a foul.
    Forfeit,
    /// A seat won.
    Won {
        /// The value of its hand.
        faan: u32,
        /// The tile that completed it.
        tile: Tile,
        /// True if the tile was drawn; otherwise the other seat discarded it.
        self_draw: bool,
    },
    /// There is no tile to draw.
    WallEmpty,
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::BothForfeited => Self::new("both forfeited", "双方弃权"),
            Ending::Forfeit => Self::new("forfeit", "对方弃权"),
            Ending::Won {
                faan,
                tile,
                self_draw,
            } => {
                let (how, how_in_chinese) = match self_draw {
                    true => ("self draw", "自摸"),
                    false => ("discard", "点炮"),
                };
                Self::new(
                    format!("{faan} faan with {tile} by {how}"),
                    format!("{faan} 番，{how_in_chinese} {tile}"),
                )
            }
            Ending::WallEmpty => Self::new("the wall is empty", "流局"),
        }
    }
}
