//! The discs as the side to move sees them: two words of 64 bits. Engines play on it
//! directly. It does not know who is black or who has left the game.

use super::square::{Square, squares_of};

/// A board. Bit i of a set is the square with index i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OthelloBoard {
    /// The discs of the side to move.
    pub own: u64,
    /// The other side's.
    pub opponent: u64,
}

impl OthelloBoard {
    /// The beginning, as Black sees it: d5 and e4 black, d4 and e5 white.
    pub const BEGINNING: Self = Self {
        own: 1 << 35 | 1 << 28,
        opponent: 1 << 27 | 1 << 36,
    };

    /// The squares without a disc.
    #[must_use]
    #[inline]
    pub const fn empty(self) -> u64 {
        !(self.own | self.opponent)
    }

    /// The squares where the side to move may place a disc.
    #[must_use]
    #[inline]
    pub const fn moves(self) -> u64 {
        // A run along a row must not go on in the next row.
        let inner = self.opponent & 0x7e7e_7e7e_7e7e_7e7e;
        let ends = behind_runs(self.own, inner, 1)
            | behind_runs(self.own, inner, 7)
            | behind_runs(self.own, inner, 9)
            | behind_runs(self.own, self.opponent, 8);
        ends & self.empty()
    }

    /// The discs that a disc placed here would turn; none if the move is not
    /// legal on an empty square.
    #[must_use]
    #[inline]
    pub const fn flips(self, square: Square) -> u64 {
        let Rays { up, down } = &RAYS[square.index()];
        let mut flips = 0;
        let mut direction = 0;
        while direction < 4 {
            // The square where a run of the other side's discs ends; the run is
            // enclosed if an own disc lies there.
            let ray = up[direction];
            let stop = ray & !self.opponent;
            let end = stop & stop.wrapping_neg() & self.own;
            flips |= end.wrapping_sub((end != 0) as u64) & ray;

            let ray = down[direction];
            let stop = (ray & !self.opponent) | 1;
            let end = 1 << 63 >> stop.leading_zeros() & self.own & ray;
            flips |= end.wrapping_neg() << 1 & ray;
            direction += 1;
        }
        flips
    }

    /// After a legal move, as the other side sees it.
    #[must_use]
    #[inline]
    pub const fn play(self, square: Square) -> Self {
        let flips = self.flips(square);
        Self {
            own: self.opponent ^ flips,
            opponent: self.own | flips | square.bit(),
        }
    }

    /// After a pass: the same board as the other side sees it.
    #[must_use]
    #[inline]
    pub const fn pass(self) -> Self {
        Self {
            own: self.opponent,
            opponent: self.own,
        }
    }

    /// True if neither side has a move.
    #[must_use]
    #[inline]
    pub const fn is_over(self) -> bool {
        self.moves() == 0 && self.pass().moves() == 0
    }

    /// Number of lines of this many plies that begin here. A pass is a ply, and a
    /// game that is over before counts as one line.
    #[must_use]
    pub fn perft(self, plies: u32) -> u64 {
        let moves = self.moves();
        match plies {
            0 => 1,
            _ if moves == 0 => {
                if self.pass().moves() == 0 {
                    1
                } else {
                    self.pass().perft(plies - 1)
                }
            }
            1 => moves.count_ones().into(),
            _ => squares_of(moves)
                .map(|square| self.play(square).perft(plies - 1))
                .sum(),
        }
    }

    /// The discs of the side to move minus those of the other side.
    #[must_use]
    #[inline]
    pub const fn difference(self) -> i32 {
        self.own.count_ones() as i32 - self.opponent.count_ones() as i32
    }

    /// The same with the empty squares given to the winner, as tournaments
    /// count a game that is over.
    #[must_use]
    pub const fn tournament_difference(self) -> i32 {
        let difference = self.difference();
        difference + difference.signum() * self.empty().count_ones() as i32
    }
}

/// The squares next to a run of `through` that begins beside a disc of `own`,
/// in either direction along this shift: a parallel prefix (Kogge and Stone)
/// over runs of at most six.
#[inline(always)]
const fn behind_runs(own: u64, through: u64, shift: u32) -> u64 {
    let mut left = through & own << shift;
    let mut right = through & own >> shift;
    left |= through & left << shift;
    right |= through & right >> shift;
    let pairs_left = through & through << shift;
    let pairs_right = pairs_left >> shift;
    left |= pairs_left & left << (2 * shift);
    right |= pairs_right & right >> (2 * shift);
    left |= pairs_left & left << (2 * shift);
    right |= pairs_right & right >> (2 * shift);
    left << shift | right >> shift
}

/// The squares in line with a square, up to the edge: four directions towards
/// higher indices, four towards lower ones.
struct Rays {
    up: [u64; 4],
    down: [u64; 4],
}

static RAYS: [Rays; 64] = rays();

const fn rays() -> [Rays; 64] {
    const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, -1), (1, 0), (1, 1)];
    let mut rays = [const {
        Rays {
            up: [0; 4],
            down: [0; 4],
        }
    }; 64];
    let mut square = 0;
    while square < 64 {
        let (row, column) = (square as i32 / 8, square as i32 % 8);
        let mut direction = 0;
        while direction < 4 {
            let (down, right) = DIRECTIONS[direction];
            rays[square].up[direction] = ray(row, column, down, right);
            rays[square].down[direction] = ray(row, column, -down, -right);
            direction += 1;
        }
        square += 1;
    }
    rays
}

const fn ray(mut row: i32, mut column: i32, down: i32, right: i32) -> u64 {
    let mut ray = 0;
    loop {
        row += down;
        column += right;
        if row < 0 || row > 7 || column < 0 || column > 7 {
            return ray;
        }
        ray |= 1 << (row * 8 + column);
    }
}
