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
    board::{Geometry, Stones},
    shape::{BoardCell, BoardShape},
    word::Word,
};

/// Directions of windows: up, across, and both diagonals as one.
const DIRECTIONS: usize = 3;
/// Heights of a window's lowest cell that are told apart.
const HEIGHTS: usize = 5;
/// Number of sets of the four cells, as bits: the free ones that are by nature one side's.
const OWNERS: usize = 16;
/// Number of sets of the four cells that have a stone, as bits, and one at least.
const SUBSETS: usize = 15;
const PATTERNS: usize = DIRECTIONS * HEIGHTS * OWNERS * SUBSETS;

/// Number of distances of a threat to the next free cell of its column: 1, 2, 3, more.
const DISTANCES: usize = 4;
/// Number of terms of threats: by side, by whether it is the natural owner, and by distance.
const THREATS: usize = 2 * 2 * DISTANCES;
/// Upper ends of the plies until the zugzwang is decided.
const SPANS: [u32; 6] = [6, 12, 20, 32, 48, u32::MAX];
/// Number of outcomes: the winner or nobody, the side that must give something up first, and how
/// often something is given up.
const OUTCOMES: usize = 3 * 2 * GIVEN;
const GIVEN: usize = 4;
const ZUGZWANGS: usize = OUTCOMES * SPANS.len();

/// Number of terms of lowest threats of columns: one side's or both, and by the natural owner of
/// the cell.
const LOWEST: usize = 3 * 2;
/// Number of terms of lowest threats that are by nature their owner's, by side.
const FITTING: usize = 2;
/// Number of terms of threats that can still matter: by side, by whether it is the natural owner,
/// one or more.
const LIVE: usize = 2 * 2 * 2;
/// The class of each number of lines that one side would complete.
const LINES: [u8; MOST_LINES as usize + 1] = [0, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7];
const MOST_LINES: u32 = 10;
const FILLINGS: usize = 8;
const FILLED: usize = 2 * FILLINGS;
/// Number of terms of lines with two stones: by side, and by how many of the two free cells can be
/// taken now.
const PAIRS: usize = 2 * 3;

const FIRST_THREAT: usize = PATTERNS;
const FIRST_LOWEST: usize = FIRST_THREAT + THREATS;
const FIRST_FITTING: usize = FIRST_LOWEST + LOWEST;
const FIRST_LIVE: usize = FIRST_FITTING + FITTING;
const FIRST_FILLED: usize = FIRST_LIVE + LIVE;
const FIRST_PAIR: usize = FIRST_FILLED + FILLED;
/// As it is, and if the other side were to move.
const FIRST_ZUGZWANG: [usize; 2] = [FIRST_PAIR + PAIRS, FIRST_PAIR + PAIRS + ZUGZWANGS];
/// It is one's turn.
pub(crate) const TURN: usize = FIRST_ZUGZWANG[1] + ZUGZWANGS;
/// True if a term is about who wins when the harmless cells are used up.
pub(crate) const fn is_zugzwang(term: usize) -> bool {
    term >= FIRST_ZUGZWANG[0] && term < TURN
}

/// Number of terms.
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

/// The data of a board that the terms need.
pub(crate) struct Ground<W, const S: u32> {
    pub(crate) geometry: Geometry<W, S>,
    /// The cells whose natural owner is the side that moves on an even number of stones.
    pub(crate) even_cells: W,
    /// Number of cells that can take a stone from this one up.
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

/// The cells that can be taken before a side must move below a threat.
#[derive(Clone, Copy)]
struct Harmless<W> {
    /// Number of cells.
    free: u32,
    /// The lowest threat of each column that has one.
    heads: W,
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
        board: Stones<W>,
        stones: u32,
        wins: Wins<W>,
        mut term: impl FnMut(usize, u32),
    ) {
        term(TURN, 1);
        let taken = self.geometry.taken(board);
        let landings = self.geometry.landings(taken);
        let own_parity = if stones.is_multiple_of(2) {
            self.even_cells
        } else {
            !self.even_cells
        };
        let mut live = self.geometry.cells & !taken;
        let both = wins.own | wins.other;
        if !both.is_empty() {
            let harmless =
                self.columns_with_threats(&mut live, stones, own_parity, wins, &mut term);
            self.each_threat(landings, live, own_parity, wins, &mut term);
            for (turn, first) in FIRST_ZUGZWANG.into_iter().enumerate() {
                let found = self.zugzwang(harmless, wins, turn == 0);
                let span = SPANS.iter().position(|&end| found.plies < end).unwrap_or(0);
                let outcome = match found.outcome {
                    Ordering::Greater => 0,
                    Ordering::Less => 1,
                    Ordering::Equal => 2,
                };
                let class = outcome * 2 + usize::from(found.is_own_first);
                let class = class * GIVEN + found.given.min(GIVEN - 1);
                term(first + class * SPANS.len() + span, 1);
            }
        }
        let sides = [(board.own, own_parity), (board.other, !own_parity)];
        for (side, (stones, natural)) in sides.into_iter().enumerate() {
            let lines = Geometry::<W, S>::lines_through(stones, live & natural);
            let number = usize::from(LINES[lines.min(MOST_LINES) as usize]);
            term(FIRST_FILLED + side * FILLINGS + number, 1);
            let pairs = Geometry::<W, S>::open_pairs(stones, live, landings);
            for (playable, count) in pairs.into_iter().enumerate() {
                term(FIRST_PAIR + side * pairs.len() + playable, count);
            }
        }
    }

    /// Visits the terms of the lowest threats of columns, and takes the cells above them from the
    /// live ones; the cells that can be taken without harm.
    #[inline]
    fn columns_with_threats(
        &self,
        live: &mut W,
        stones: u32,
        own_parity: W,
        wins: Wins<W>,
        term: &mut impl FnMut(usize, u32),
    ) -> Harmless<W> {
        let mut harmless = Harmless {
            free: self.geometry.shape.room() - stones,
            heads: W::EMPTY,
        };
        let fitting = wins.own & own_parity | wins.other & !own_parity;
        let mut rest = wins.own | wins.other;
        while !rest.is_empty() {
            let index = rest.lowest();
            let lowest = W::bit(index);
            let upwards = self.upwards[index as usize];
            rest &= !upwards;
            *live &= !upwards | lowest;
            harmless.heads |= lowest;
            // The cell below the threat is not free either. Where that is taken, somebody can win
            // at once and nothing here matters; then there may be less free cells than are counted.
            let held = u32::from(self.from_here[index as usize]) + 1;
            harmless.free = harmless.free.saturating_sub(held);
            let side = match (lowest.meets(wins.own), lowest.meets(wins.other)) {
                (true, false) => 0,
                (false, _) => 1,
                (true, true) => 2,
            };
            term(
                FIRST_LOWEST + side * 2 + usize::from(lowest.meets(own_parity)),
                1,
            );
            let fitting = fitting & upwards;
            if !fitting.is_empty() {
                let is_own = W::bit(fitting.lowest()).meets(own_parity);
                term(FIRST_FITTING + usize::from(!is_own), 1);
            }
        }
        harmless
    }

    /// Visits the terms of each threat, and of how many there are among the cells that are live.
    #[inline]
    fn each_threat(
        &self,
        landings: W,
        live: W,
        own_parity: W,
        wins: Wins<W>,
        term: &mut impl FnMut(usize, u32),
    ) {
        let one = self.above(landings);
        let two = self.above(one);
        let three = self.above(two);
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
                term(FIRST_THREAT + (side * 2 + fits) * DISTANCES + distance, 1);
            }
            let threats = threats & live;
            for (fits, some) in [threats & !natural, threats & natural]
                .into_iter()
                .enumerate()
            {
                if !some.is_empty() {
                    let several = usize::from(some.has_two());
                    term(FIRST_LIVE + (side * 2 + fits) * 2 + several, 1);
                }
            }
        }
    }

    /// The winner if nobody makes a new threat and nobody moves below a threat before he must.
    /// `own_turn` says whether the side that is called own here is the next to move.
    ///
    /// The cells that can be taken without moving below a threat are counted. Who has
    /// to move when they are used up gives up a threat of his own, or loses.
    fn zugzwang(&self, harmless: Harmless<W>, wins: Wins<W>, mut own_turn: bool) -> Zugzwang {
        let Harmless {
            mut free,
            mut heads,
        } = harmless;
        let labels = wins.own | wins.other;
        let is_own_first = own_turn ^ (free % 2 == 1);
        let mut given_up = 0;
        let decided = |outcome, given, plies| Zugzwang {
            outcome,
            is_own_first,
            given,
            plies,
        };
        let mut plies = 0;
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
                return decided(Ordering::Equal, given_up, plies);
            }
            let mut chosen = None;
            for head in (heads & mine & !theirs).bits() {
                let given = self.give_up(head, labels, mine, theirs);
                match given.outcome {
                    Ordering::Greater => {
                        return decided(lost.reverse(), given_up, plies + given.plies);
                    }
                    Ordering::Less => continue,
                    Ordering::Equal => {}
                }
                // Then the other side has to give up something next.
                let passes = (given.plies + given.free) % 2 == 1;
                if chosen.is_none() || passes {
                    chosen = Some((head, given));
                }
                if passes {
                    break;
                }
            }
            let Some((head, given)) = chosen else {
                return decided(lost, given_up, plies);
            };
            heads = heads & !W::bit(head) | given.next;
            own_turn ^= given.plies % 2 == 1;
            free = given.free;
            given_up += 1;
            plies += given.plies;
        }
    }

    /// The consequence of a move of a side below a threat of its own: the other side answers on it,
    /// and threats right above must be answered in turn.
    fn give_up(&self, head: u32, labels: W, mine: W, theirs: W) -> Given<W> {
        let mut given = Given {
            outcome: Ordering::Equal,
            plies: 2,
            free: 0,
            next: W::EMPTY,
        };
        let mut last = head;
        loop {
            let above = labels & self.upwards[last as usize] & !W::bit(last);
            let here = u32::from(self.from_here[last as usize]) - 1;
            if above.is_empty() {
                given.free = here;
                return given;
            }
            let next = above.lowest();
            let between = here - u32::from(self.from_here[next as usize]);
            if between > 0 {
                given.free = between - 1;
                given.next = W::bit(next);
                return given;
            }
            let (to_move, wins) = match given.plies % 2 {
                0 => (mine, Ordering::Greater),
                _ => (theirs, Ordering::Less),
            };
            given.plies += 1;
            if W::bit(next).meets(to_move) {
                given.outcome = wins;
                return given;
            }
            last = next;
        }
    }
}

/// The end if nobody makes a new threat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zugzwang {
    /// `Greater` if the side wins that is called own.
    outcome: Ordering,
    /// True if that side is the first that has to give up a threat, or loses by it.
    is_own_first: bool,
    /// Number of threats that are given up.
    given: usize,
    /// After how many plies that is decided.
    plies: u32,
}

/// The consequence of a threat that was given up.
#[derive(Clone, Copy)]
struct Given<W> {
    /// `Greater` if the side that gave it up wins at once, `Less` if the other one does.
    outcome: Ordering,
    /// Number of stones that follow by force.
    plies: u32,
    /// Number of cells of the column that can then be taken without moving below a threat.
    free: u32,
    /// The next threat of the column.
    next: W,
}

/// The terms of a position, as the side to move sees them, for `zugzwang-train`.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The number of each term and its count; the other side's count negatively.
    pub counts: Vec<(usize, f32)>,
    /// The part of the board that is full, from 0 to 1.
    pub fullness: f32,
}

/// The terms of a position in which neither side can win with its next stone; nothing of
/// any other.
pub(crate) fn terms<W: Word, const S: u32>(
    ground: &Ground<W, S>,
    board: Stones<W>,
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
    ground.threats(board, stones, wins, |term, count| {
        counts.push((term, count as f32));
    });
    Some(Terms {
        counts,
        fullness: stones as f32 / geometry.shape.room() as f32,
    })
}
