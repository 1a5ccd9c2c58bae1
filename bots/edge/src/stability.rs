//! Discs that can't be turned any more, and the bound of the score that follows from them.
//!
//! Counted are discs on edges that no order of moves on the edge turns, discs whose four lines
//! are full, and discs that on each of their lines are beside a stable disc of their own side
//! or a border, or on a full line. There may be more stable discs; there are never fewer.

use std::sync::LazyLock;

/// For an edge as two sets of eight squares, which of the first one's discs are stable:
/// `own * 256 + other`.
static EDGES: LazyLock<Vec<u8>> = LazyLock::new(edges);

const LEFT: u64 = 0x0101_0101_0101_0101;
const BORDER: u64 = 0xff81_8181_8181_81ff;

/// Computes the table of edges.
pub(crate) fn prepare() {
    LazyLock::force(&EDGES);
}

/// The discs of `own` that are known to be stable.
#[inline(always)]
pub(crate) fn stable(own: u64, other: u64) -> u64 {
    let edges = edges_of(own, other);
    let full = full_lines(own | other);
    // Inside, only discs can become stable of which neighbours are.
    let inner = own & !BORDER;
    let mut stable = edges | inner & full[0] & full[1] & full[2] & full[3];
    loop {
        let rows = stable << 1 | stable >> 1 | full[0];
        let columns = stable << 8 | stable >> 8 | full[1];
        let falling = stable << 9 | stable >> 9 | full[2];
        let rising = stable << 7 | stable >> 7 | full[3];
        let more = inner & rows & columns & falling & rising;
        if more & !stable == 0 {
            return stable;
        }
        stable |= more;
    }
}

fn edges_of(own: u64, other: u64) -> u64 {
    let edges = &*EDGES;
    let at = |own: u64, other: u64| u64::from(edges[((own & 0xff) << 8 | other & 0xff) as usize]);
    let top = at(own, other);
    let bottom = at(own >> 56, other >> 56) << 56;
    let left = spread(at(gather(own), gather(other)));
    let right = spread(at(gather(own >> 7), gather(other >> 7))) << 7;
    top | bottom | left | right
}

/// The eight squares of the left column as a row: bit i is row i.
#[inline(always)]
fn gather(set: u64) -> u64 {
    (set & LEFT).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// A row as the left column.
#[inline(always)]
fn spread(row: u64) -> u64 {
    let low = (row & 0x7f).wrapping_mul(0x0002_0408_1020_4081) & LEFT;
    low | row >> 7 << 56
}

/// The squares of lines that are full, for the four directions: rows, columns, falling and
/// rising diagonals.
#[inline(always)]
fn full_lines(discs: u64) -> [u64; 4] {
    let mut rows = discs & discs >> 4;
    rows &= rows >> 2;
    rows &= rows >> 1;
    let rows = (rows & LEFT).wrapping_mul(0xff);

    let mut columns = discs & discs.rotate_right(32);
    columns &= columns.rotate_right(16);
    columns &= columns.rotate_right(8);

    // A diagonal is full where a fill in both directions meets no empty square. Beyond the
    // border is no square that is empty.
    let mut falling_up = discs & (discs >> 9 | 0xff80_8080_8080_8080);
    let mut falling_down = discs & (discs << 9 | 0x0101_0101_0101_01ff);
    falling_up &= falling_up >> 18 | 0xffff_c0c0_c0c0_c0c0;
    falling_down &= falling_down << 18 | 0x0303_0303_0303_ffff;
    falling_up &= falling_up >> 36 | 0xffff_ffff_f0f0_f0f0;
    falling_down &= falling_down << 36 | 0x0f0f_0f0f_ffff_ffff;

    let mut rising_up = discs & (discs >> 7 | 0xff01_0101_0101_0101);
    let mut rising_down = discs & (discs << 7 | 0x8080_8080_8080_80ff);
    rising_up &= rising_up >> 14 | 0xffff_0303_0303_0303;
    rising_down &= rising_down << 14 | 0xc0c0_c0c0_c0c0_ffff;
    rising_up &= rising_up >> 28 | 0xffff_ffff_0f0f_0f0f;
    rising_down &= rising_down << 28 | 0xf0f0_f0f0_ffff_ffff;

    [
        rows,
        columns,
        falling_up & falling_down,
        rising_up & rising_down,
    ]
}

fn edges() -> Vec<u8> {
    let mut known = vec![None; 1 << 16];
    for own in 0..=u8::MAX {
        for other in 0..=u8::MAX {
            if own & other == 0 {
                edge(&mut known, own, other);
            }
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// The discs of `own` that no order of discs on the edge turns, whoever places them: not only what
/// is legal on the edge alone, since a disc may be placed by turning others elsewhere.
fn edge(known: &mut [Option<u8>], own: u8, other: u8) -> u8 {
    let at = usize::from(own) << 8 | usize::from(other);
    if let Some(stable) = known[at] {
        return stable;
    }
    let mut stable = own;
    for square in 0..8 {
        if (own | other) >> square & 1 != 0 {
            continue;
        }
        let bit = 1 << square;
        let turned = edge_flips(square, own, other);
        stable &= edge(known, own | bit | turned, other & !turned);
        let turned = edge_flips(square, other, own);
        stable &= !turned & edge(known, own & !turned, other | bit | turned);
    }
    known[at] = Some(stable);
    stable
}

fn edge_flips(square: i32, own: u8, other: u8) -> u8 {
    let mut flips = 0;
    for step in [-1, 1] {
        let mut run = 0;
        let mut at = square + step;
        while (0..8).contains(&at) && other >> at & 1 != 0 {
            run |= 1 << at;
            at += step;
        }
        if (0..8).contains(&at) && own >> at & 1 != 0 {
            flips |= run;
        }
    }
    flips
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{board::Discs, square::Squares};

    #[test]
    fn what_is_stable_is_never_turned() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut seen = 0;
        for _ in 0..3000 {
            let mut board = Discs::START;
            let (mut own, mut other) = (0, 0);
            while !board.is_over() {
                assert_eq!(own & !board.own, 0, "{board}");
                assert_eq!(other & !board.other, 0, "{board}");
                own |= stable(board.own, board.other);
                other |= stable(board.other, board.own);
                let moves = board.moves();
                board = if moves == 0 {
                    board.pass()
                } else {
                    let pick = rng.random_range(0..moves.count_ones()) as usize;
                    board.play(Squares(moves).nth(pick).unwrap()).unwrap()
                };
                (own, other) = (other, own);
            }
            seen += (own | other).count_ones();
        }
        assert!(seen > 3000 * 15, "{seen}");
    }

    #[test]
    fn a_full_board_is_stable() {
        let own = 0x1234_5678_9abc_def0;
        assert_eq!(stable(own, !own), own);
    }

    #[test]
    fn full_lines_are_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..2000 {
            let [a, b, c, d]: [u64; 4] = rng.random();
            let discs = a | b | c | d;
            let found = full_lines(discs);
            for (found, (down, right)) in found.into_iter().zip([(0, 1), (1, 0), (1, 1), (1, -1)]) {
                for square in 0..64 {
                    let (row, column) = (square / 8, square % 8);
                    let full = (-7..8).all(|step| {
                        let (row, column) = (row + step * down, column + step * right);
                        !(0..8).contains(&row)
                            || !(0..8).contains(&column)
                            || discs >> (row * 8 + column) & 1 != 0
                    });
                    assert_eq!(
                        found >> square & 1 != 0,
                        full,
                        "{discs:x} {square} {down} {right}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_edge_is_a_row_or_a_column() {
        for row in 0..256 {
            assert_eq!(gather(spread(row)), row);
            assert_eq!(spread(row) & !LEFT, 0);
        }
        assert_eq!(0xff << 56 | LEFT | LEFT << 7 | 0xff, BORDER);
    }
}
