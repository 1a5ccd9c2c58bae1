//! Stones as bits. Column after column takes `S` bits from its bottom row, and the
//! topmost of them is always free, so a carry of an addition and a line of a shift
//! end there. The forbidden cell counts as taken from the beginning: the addition
//! that finds the next free cell of each column then passes over it by itself.
//!
//! The layout is that of J. Tromp's Fhourstones and P. Pons' solver, made wider.

use crate::{
    shape::{BoardCell, BoardShape},
    word::Word,
};

/// The part of a board that does not change during a game, for columns of `S` bits.
#[derive(Clone, Debug)]
pub(crate) struct Geometry<W, const S: u32> {
    pub(crate) shape: BoardShape,
    /// All cells that can take a stone.
    pub(crate) cells: W,
    /// The bottom row, the forbidden cell included.
    pub(crate) bottom: W,
    pub(crate) forbidden: W,
}

/// The stones of a position, as the side to move sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stones<W> {
    pub(crate) own: W,
    pub(crate) other: W,
}

impl<W: Word> Stones<W> {
    pub(crate) const EMPTY: Self = Self {
        own: W::EMPTY,
        other: W::EMPTY,
    };

    /// After the side to move has placed this stone.
    #[inline]
    pub(crate) fn after(self, stone: W) -> Self {
        Self {
            own: self.other,
            other: self.own | stone,
        }
    }

    pub(crate) fn stones(self) -> u32 {
        (self.own | self.other).count()
    }
}

impl<W: Word, const S: u32> Geometry<W, S> {
    pub(crate) fn new(shape: BoardShape) -> Self {
        assert!(u32::from(shape.rows()) < S, "a column needs a free bit");
        assert!(u32::from(shape.columns()) * S <= W::BITS);
        let mut geometry = Self {
            shape,
            cells: W::EMPTY,
            bottom: W::EMPTY,
            forbidden: W::EMPTY,
        };
        for column in 0..shape.columns() {
            for row in 0..shape.rows() {
                let cell = BoardCell { column, row };
                let bit = W::bit(Self::index(cell));
                if shape.forbidden() == Some(cell) {
                    geometry.forbidden = bit;
                } else {
                    geometry.cells |= bit;
                }
                if row == 0 {
                    geometry.bottom |= bit;
                }
            }
        }
        geometry
    }

    #[inline]
    pub(crate) fn index(cell: BoardCell) -> u32 {
        u32::from(cell.column) * S + u32::from(cell.row)
    }

    #[inline]
    pub(crate) fn cell(index: u32) -> BoardCell {
        BoardCell {
            column: (index / S) as u8,
            row: (index % S) as u8,
        }
    }

    /// All bits of a column from this one up.
    #[inline]
    pub(crate) fn upwards(index: u32) -> W {
        let end = W::bit((index / S + 1) * S - 1);
        (end | end.less_one()) & !W::bit(index).less_one()
    }

    /// The taken cells, and the forbidden one.
    #[inline]
    pub(crate) fn taken(&self, board: Stones<W>) -> W {
        board.own | board.other | self.forbidden
    }

    /// The next free cell of each column that has room.
    #[inline]
    pub(crate) fn landings(&self, taken: W) -> W {
        taken.plus(self.bottom) & self.cells & !taken
    }

    /// The cells next below these: a stone there makes these the next to be taken.
    #[inline]
    pub(crate) fn supports(&self, cells: W) -> W {
        let below = cells.down(1);
        below | (below & self.forbidden).down(1)
    }

    /// The free cells that would give these stones four in a line.
    #[inline]
    pub(crate) fn wins(&self, stones: W, taken: W) -> W {
        let mut wins = stones.up(1) & stones.up(2) & stones.up(3);
        for step in [S - 1, S, S + 1] {
            let (up, down) = (stones.up(step), stones.down(step));
            let two_up = up & stones.up(2 * step);
            let two_down = down & stones.down(2 * step);
            wins |= two_up & (down | stones.up(3 * step));
            wins |= two_down & (up | stones.down(3 * step));
        }
        wins & self.cells & !taken
    }

    /// The cells of `landings` where a stone might make three in a window whose fourth cell can
    /// then be taken at once: all of them, and a few others.
    #[inline]
    pub(crate) fn forcing(&self, stones: W, landings: W) -> W {
        let above = landings.up(1);
        let above = (above | (above & self.forbidden).up(1)) & self.cells;
        let near = landings | above;
        let mut forcing = stones.up(1) & stones.up(2);
        for step in [S - 1, S, S + 1] {
            let (up1, up2, up3) = (stones.up(step), stones.up(2 * step), stones.up(3 * step));
            let down1 = stones.down(step);
            let down2 = stones.down(2 * step);
            let down3 = stones.down(3 * step);
            let (near_up1, near_up2) = (near.up(step), near.up(2 * step));
            let (near_down1, near_down2) = (near.down(step), near.down(2 * step));
            let ups = up1 & up2;
            let downs = down1 & down2;
            let sides = up1 & down1;
            forcing |= ups & (near.up(3 * step) | near_down1);
            forcing |= downs & (near.down(3 * step) | near_up1);
            forcing |= sides & (near_up2 | near_down2);
            forcing |= up3 & (up1 & near_up2 | up2 & near_up1);
            forcing |= down3 & (down1 & near_down2 | down2 & near_down1);
            forcing |= up2 & down1 & near_up1;
            forcing |= down2 & up1 & near_down1;
        }
        forcing & landings
    }

    /// Number of lines of four that would lie in these stones and cells, with one of the stones at
    /// least, across and on diagonals.
    #[inline]
    pub(crate) fn lines_through(stones: W, cells: W) -> u32 {
        let lines = |set: W, step: u32| {
            let pairs = set & set.up(step);
            pairs & pairs.up(2 * step)
        };
        let both = stones | cells;
        let through = |step| lines(both, step) & !lines(cells, step);
        count_all([through(S - 1), through(S), through(S + 1)])
    }

    /// Number of lines of four, across and on diagonals, that have exactly two of these stones and
    /// two of these cells; by how many of the two cells are `landings`.
    #[inline]
    pub(crate) fn open_pairs(stones: W, cells: W, landings: W) -> [u32; 3] {
        let both = stones | cells;
        let lines = |step: u32| {
            let twos = |set: W| (set ^ set.up(step), set & set.up(step));
            let (possible, far) = (both & both.up(step), 2 * step);
            let (odd, pair) = twos(stones);
            let (odd_far, pair_far) = (odd.up(far), pair.up(far));
            let has_two = odd & odd_far | (pair ^ pair_far) & !(odd | odd_far);
            let lines = possible & possible.up(far) & has_two;
            let (odd, pair) = twos(landings & cells);
            let one = odd ^ odd.up(far);
            let some = odd | pair;
            let some = some | some.up(far);
            [lines & !some, lines & one, lines & some & !one]
        };
        let (a, b, c) = (lines(S - 1), lines(S), lines(S + 1));
        [
            count_all([a[0], b[0], c[0]]),
            count_all([a[1], b[1], c[1]]),
            count_all([a[2], b[2], c[2]]),
        ]
    }

    /// True if these stones have four in a line.
    pub(crate) fn has_line(stones: W) -> bool {
        [1, S - 1, S, S + 1].into_iter().any(|step| {
            let pairs = stones & stones.up(step);
            pairs.meets(pairs.up(2 * step))
        })
    }
}

/// Number of bits in three sets together; they are counted as two.
#[inline]
fn count_all<W: Word>([a, b, c]: [W; 3]) -> u32 {
    let ones = a ^ b ^ c;
    let twos = a & b | (a ^ b) & c;
    ones.count() + 2 * twos.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        terms::{Direction, windows},
        word::U192,
        zobrist::scramble,
    };

    /// Draws stones and cells, and counts the lines of four one by one.
    fn check<W: Word, const S: u32>(shape: BoardShape, seed: u64) -> u32 {
        let draw = |what: u64, one_of: u64| {
            let mut set = W::EMPTY;
            let geometry = Geometry::<W, S>::new(shape);
            for index in geometry.cells.bits() {
                let cell = Geometry::<W, S>::cell(index);
                let number = u64::from(cell.column) << 4 | u64::from(cell.row);
                if scramble(seed << 16 | what << 8 | number).is_multiple_of(one_of) {
                    set |= W::bit(index);
                }
            }
            set
        };
        let stones = draw(0, 3);
        let cells = draw(1, 2) & !stones;
        let lines = windows(shape).into_iter().filter(|window| {
            let indices = window.cells.map(Geometry::<W, S>::index);
            let is_in = |set: W| move |&index: &u32| W::bit(index).meets(set);
            window.direction != Direction::Up
                && indices.iter().all(is_in(stones | cells))
                && indices.iter().any(is_in(stones))
        });
        let lines = lines.count() as u32;
        assert_eq!(Geometry::<W, S>::lines_through(stones, cells), lines);
        let landings = draw(2, 3);
        let mut pairs = [0; 3];
        for window in windows(shape) {
            let indices = window.cells.map(Geometry::<W, S>::index);
            let among = |set: W| indices.iter().filter(|&&it| W::bit(it).meets(set)).count();
            if window.direction != Direction::Up && (among(stones), among(cells)) == (2, 2) {
                pairs[among(cells & landings)] += 1;
            }
        }
        let found = Geometry::<W, S>::open_pairs(stones, cells, landings);
        assert_eq!(found, pairs);
        lines
    }

    #[test]
    fn the_lines_through_stones_are_counted() {
        let mut lines = 0;
        for seed in 0..100 {
            let draw = |what: u64, most: u64| (scramble(seed * 10 + what) % most) as u8;
            let forbidden = BoardCell {
                column: draw(2, 9),
                row: draw(3, 9),
            };
            let shape = BoardShape::new(9, 9 + draw(1, 4), Some(forbidden));
            let shape = shape.expect("a usual board");
            lines += check::<u128, 10>(shape, seed);
            assert!(check::<U192, 13>(shape, seed) > 0);
        }
        assert!(lines > 1000, "{lines}");
    }
}
