//! The reason why a game ended, and the words for people.

use referee_core::Words;

/// The reason why a game ended. Discs are those of Black and those of White.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both seats left by a foul.
    BothForfeited,
    /// One seat left by a foul.
    Forfeit,
    /// Neither side has a move.
    Counted {
        /// The discs on the board.
        discs: [u32; 2],
        /// The count by which tournaments report a result, where squares are empty: they are
        /// given to the winner, or shared in a draw.
        with_empty: Option<[i32; 2]>,
    },
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::BothForfeited => Self::new("both forfeited", "双方弃权"),
            Ending::Forfeit => Self::new("forfeit", "对方弃权"),
            Ending::Counted { discs, with_empty } => {
                let mut words = self::discs(discs);
                if let Some([black, white]) = with_empty {
                    words.english += &format!("; with the empty squares {black} to {white}");
                    words.chinese += &format!("；空格归胜方后 {black} 比 {white}");
                }
                words
            }
        }
    }
}

/// The number of discs of each side, in words.
pub(super) fn discs([black, white]: [u32; 2]) -> Words {
    Words::new(
        format!("Black {black}, White {white}"),
        format!("黑 {black}，白 {white}"),
    )
}
