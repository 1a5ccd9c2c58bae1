//! Scores of the search: evaluations, and proven ends beyond them.

/// The score of a win with the stone of this number is `WIN` less the number, so an
/// earlier win is worth more, and a score means the same wherever the search began.
const WIN: i32 = 30_000;
/// No evaluation reaches this.
const PROVEN: i32 = WIN - 1_000;
/// More than any score.
pub(crate) const INFINITE: i32 = 32_000;
/// The board is full.
pub(crate) const DRAW: i32 = 0;

/// Win, for the side to move, with the stone of this number.
#[inline]
pub(crate) const fn win_at(stones: u32) -> i32 {
    WIN - stones as i32
}

/// The number of the stone that ends the game by force, and whether the side to move wins.
pub(crate) const fn end_of(score: i32) -> Option<(u32, bool)> {
    if score >= PROVEN {
        Some(((WIN - score) as u32, true))
    } else if score <= -PROVEN {
        Some(((WIN + score) as u32, false))
    } else {
        None
    }
}

pub(crate) const fn is_win(score: i32) -> bool {
    score >= PROVEN
}

pub(crate) const fn is_loss(score: i32) -> bool {
    score <= -PROVEN
}

/// The end of a game by force, if both sides play on well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// The side to move wins with the last of so many plies, or sooner.
    Win {
        /// From this position, the winning stone included.
        plies: u32,
    },
    /// The other side wins with the last of so many plies, or sooner.
    Loss {
        /// From this position, the winning stone included.
        plies: u32,
    },
    /// The board becomes full without a line.
    Draw,
}

impl Proven {
    pub(crate) fn of(score: i32, stones: u32) -> Option<Self> {
        let (end, wins) = end_of(score)?;
        let plies = end - stones;
        Some(if wins {
            Self::Win { plies }
        } else {
            Self::Loss { plies }
        })
    }
}
