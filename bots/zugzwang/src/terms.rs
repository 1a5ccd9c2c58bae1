//! The terms of the evaluation, each a number of times that something is on the board:
//! stones of one side in a window of four cells, threats, and the winner of the
//! zugzwang. `zugzwang-train` finds out what each is worth.
//!
//! Everything depends on whose turn it is when a cell is the last place to move to. If
//! all other columns are full, the stones alternate, so the number of cells from this
//! one up decides: that side is the cell's *natural owner*. With even columns it is
//! the rule of odd and even threats (J. D. Allen, 1989; V. Allis, "A knowledge-based
//! approach of Connect-Four", 1988); counting from above makes it hold with odd columns
//! and with a forbidden cell in the column too.

use std::cmp::Ordering;

use crate::{
    board::{Board, Geometry},
    shape::{BoardCell, BoardShape},
    word::Word,
};

/// Directions of windows: up, across, and both diagonals as one.
const DIRECTIONS: usize = 3;
/// Heights of a window's lowest cell that are told apart.
const HEIGHTS: usize = 5;
/// Whose cells by nature the free ones of the four are, as bits.
const OWNERS: usize = 16;
/// Which of the four have a stone, as bits, and one at least.
const SUBSETS: usize = 15;
const PATTERNS: usize = DIRECTIONS * HEIGHTS * OWNERS * SUBSETS;

/// How far a threat is above the next free cell of its column: 1, 2, 3, more.
const DISTANCES: usize = 4;
/// Whose threat, whether by nature its owner's, how far.
const THREATS: usize = 2 * 2 * DISTANCES;
/// Upper ends of the plies until the zugzwang is decided.
const SPANS: [u32; 6] = [6, 12, 20, 32, 48, u32::MAX];
const ZUGZWANGS: usize = 2 * SPANS.len();

const FIRST_THREAT: usize = PATTERNS;
const FIRST_ZUGZWANG: usize = FIRST_THREAT + THREATS;
/// It is one's turn.
pub(crate) const TURN: usize = FIRST_ZUGZWANG + ZUGZWANGS;
/// Whether a term is who wins when the harmless cells are used up.
pub(crate) const fn is_zugzwang(term: usize) -> bool {
    term >= FIRST_ZUGZWANG && term < TURN
}

/// How many terms there are.
pub(crate) const COUNT: usize = TURN + 1;

/// The term for one side's stones in a window, all others of which are free.
/// `owned` are its cells by nature, `stones` where its stones are; bit 0 is the lowest or
/// leftmost cell.
pub(crate) fn pattern(direction: Direction, row: u8, owned: u8, stones: u8) -> usize {
    let owned = owned & !stones;
    let (owned, stones) = match direction {
        Direction::Across => {
            let mirrored = (mirror(owned), mirror(stones));
            mirrored.min((owned, stones))
        }
        _ => (owned, stones),
    };
    let height = match row {
        0 | 1 => row.into(),
        2 | 3 => 2,
        4..=6 => 3,
        _ => 4,
    };
    let direction = match direction {
        Direction::Up => 0,
        Direction::Across => 1,
        Direction::Rising | Direction::Falling => 2,
    };
    let class = (direction * HEIGHTS + height) * OWNERS + usize::from(owned);
    class * SUBSETS + usize::from(stones) - 1
}

fn mirror(bits: u8) -> u8 {
    bits.reverse_bits() >> 4
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Across,
    Rising,
    Falling,
}

/// Four cells in a line.
pub(crate) struct Window {
    pub(crate) direction: Direction,
    /// From the bottom, or from the left.
    pub(crate) cells: [BoardCell; 4],
}

/// Every window of a board that has no forbidden cell.
pub(crate) fn windows(shape: BoardShape) -> Vec<Window> {
    let mut windows = Vec::new();
    for column in 0..shape.columns() {
        for row in 0..shape.rows() {
            for (direction, right, up) in [
                (Direction::Up, 0, 1),
                (Direction::Across, 1, 0),
                (Direction::Rising, 1, 1),
                (Direction::Falling, -1, 1),
            ] {
                let cells = [0, 1, 2, 3].map(|step| BoardCell {
                    column: column.wrapping_add_signed(right * step),
                    row: row.wrapping_add_signed(up * step),
                });
                let is_free = |cell: &BoardCell| {
                    cell.column < shape.columns()
                        && cell.row < shape.rows()
                        && shape.forbidden() != Some(*cell)
                };
                if cells.iter().all(is_free) {
                    windows.push(Window { direction, cells });
                }
            }
        }
    }
    windows
}

/// What the terms need to know of a board.
pub(crate) struct Ground<W, const S: u32> {
    pub(crate) geometry: Geometry<W, S>,
    /// The cells whose natural owner is the side that moves on an even number of stones.
    pub(crate) even_cells: W,
    /// How many cells that can take a stone there are from this one up.
    from_here: Vec<u8>,
    /// [`Geometry::upwards`].
    upwards: Vec<W>,
}

/// The cells that would give each side four in a line, as the side to move sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wins<W> {
    pub(crate) own: W,
    pub(crate) other: W,
}

impl<W: Word, const S: u32> Ground<W, S> {
    pub(crate) fn new(shape: BoardShape) -> Self {
        let geometry = Geometry::<W, S>::new(shape);
        let mut ground = Self {
            even_cells: W::EMPTY,
            from_here: vec![0; W::BITS as usize],
            upwards: vec![W::EMPTY; W::BITS as usize],
            geometry,
        };
        for column in 0..shape.columns() {
            let mut above = 0;
            for row in (0..shape.rows()).rev() {
                let index = Geometry::<W, S>::index(BoardCell { column, row });
                let bit = W::bit(index);
                if bit.meets(ground.geometry.cells) {
                    above += 1;
                    if (shape.room() - u32::from(above)).is_multiple_of(2) {
                        ground.even_cells |= bit;
                    }
                }
                ground.from_here[index as usize] = above;
                ground.upwards[index as usize] = Geometry::<W, S>::upwards(index);
            }
        }
        ground
    }

    /// The next cells above these that can take a stone.
    #[inline]
    fn above(&self, cells: W) -> W {
        let up = cells.up(1);
        up | (up & self.geometry.forbidden).up(1)
    }

    /// Visits all terms but those of windows, as the side to move sees them: which, and
    /// how often. Nobody can win with the next stone.
    #[inline]
    pub(crate) fn threats(
        &self,
        taken: W,
        stones: u32,
        wins: Wins<W>,
        mut term: impl FnMut(usize),
    ) {
        term(TURN);
        let both = wins.own | wins.other;
        if both.is_empty() {
            return;
        }
        let one = self.above(self.geometry.landings(taken));
        let two = self.above(one);
        let three = self.above(two);
        let own_parity = if stones.is_multiple_of(2) {
            self.even_cells
        } else {
            !self.even_cells
        };
        for (side, threats, natural) in [(0, wins.own, own_parity), (1, wins.other, !own_parity)] {
            for index in threats.bits() {
                let cell = W::bit(index);
                let distance = if cell.meets(one) {
                    0
                } else if cell.meets(two) {
                    1
                } else if cell.meets(three) {
                    2
                } else {
                    3
                };
                let fits = usize::from(cell.meets(natural));
                term(FIRST_THREAT + (side * 2 + fits) * DISTANCES + distance);
            }
        }
        let (outcome, plies) = self.zugzwang(stones, wins);
        let span = SPANS.iter().position(|&end| plies < end).unwrap_or(0);
        match outcome {
            Ordering::Greater => term(FIRST_ZUGZWANG + span),
            Ordering::Less => term(FIRST_ZUGZWANG + SPANS.len() + span),
            Ordering::Equal => {}
        }
    }

    /// Who wins if nobody makes a new threat and nobody moves below a threat before he
    /// must: `Greater` if it is the side to move; and after how many plies that is
    /// decided.
    ///
    /// The cells that can be taken without moving below a threat are counted. Who has
    /// to move when they are used up gives up a threat of his own, if there is one
    /// with only the other side's loss above, or loses.
    fn zugzwang(&self, stones: u32, wins: Wins<W>) -> (Ordering, u32) {
        let labels = wins.own | wins.other;
        let mut free = self.geometry.shape.room() - stones;
        let mut heads = W::EMPTY;
        let mut rest = labels;
        while !rest.is_empty() {
            let lowest = rest.lowest();
            rest &= !self.upwards[lowest as usize];
            heads |= W::bit(lowest);
            // The cell below the threat is not free either. Where that is taken, somebody can win
            // at once and nothing here matters; then there may be less free cells than are counted.
            let held = u32::from(self.from_here[lowest as usize]) + 1;
            free = free.saturating_sub(held);
        }
        let mut plies = 0;
        let mut own_turn = true;
        loop {
            plies += free;
            own_turn ^= free % 2 == 1;
            let (mine, theirs) = if own_turn {
                (wins.own, wins.other)
            } else {
                (wins.other, wins.own)
            };
            let lost = if own_turn {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            if heads.is_empty() {
                return (Ordering::Equal, plies);
            }
            let mut chosen = None;
            for head in (heads & mine & !theirs).bits() {
                let above = labels & self.upwards[head as usize] & !W::bit(head);
                let here = u32::from(self.from_here[head as usize]) - 1;
                let (gained, next) = if above.is_empty() {
                    (here, None)
                } else {
                    let next = above.lowest();
                    let there = u32::from(self.from_here[next as usize]);
                    if there == here && W::bit(next).meets(mine) {
                        // A threat right above the one that has to be answered.
                        return (lost.reverse(), plies + 2);
                    }
                    ((here - there).saturating_sub(1), Some(next))
                };
                if chosen.is_none() || gained % 2 == 1 {
                    chosen = Some((head, gained, next));
                }
                if gained % 2 == 1 {
                    break;
                }
            }
            let Some((head, gained, next)) = chosen else {
                return (lost, plies);
            };
            heads &= !W::bit(head);
            if let Some(next) = next {
                heads |= W::bit(next);
            }
            plies += 2;
            free = gained;
        }
    }
}

/// The terms of a position, as the side to move sees them, for `zugzwang-train`.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Which, and how often; the other side's count negatively.
    pub counts: Vec<(usize, f32)>,
    /// How much of the board is full, from 0 to 1.
    pub fullness: f32,
}

/// The terms of a position in which neither side can win with its next stone; nothing of
/// any other.
pub(crate) fn terms<W: Word, const S: u32>(
    ground: &Ground<W, S>,
    board: Board<W>,
) -> Option<Terms> {
    let geometry = &ground.geometry;
    let taken = geometry.taken(board);
    let wins = Wins {
        own: geometry.wins(board.own, taken),
        other: geometry.wins(board.other, taken),
    };
    if (wins.own | wins.other).meets(geometry.landings(taken)) {
        return None;
    }
    let stones = board.stones();
    let mut counts = Vec::new();
    let own_parity = if stones.is_multiple_of(2) {
        ground.even_cells
    } else {
        !ground.even_cells
    };
    for window in windows(geometry.shape) {
        let bits = |set: W| {
            let cells = window.cells.iter().rev();
            cells.fold(0, |bits, &cell| {
                bits << 1 | u8::from(W::bit(Geometry::<W, S>::index(cell)).meets(set))
            })
        };
        let (own, other, owned) = (bits(board.own), bits(board.other), bits(own_parity));
        let row = window.cells[0].row;
        if own != 0 && other == 0 {
            counts.push((pattern(window.direction, row, owned, own), 1.0));
        } else if other != 0 && own == 0 {
            counts.push((pattern(window.direction, row, !owned & 15, other), -1.0));
        }
    }
    ground.threats(taken, stones, wins, |term| counts.push((term, 1.0)));
    Some(Terms {
        counts,
        fullness: stones as f32 / geometry.shape.room() as f32,
    })
}
