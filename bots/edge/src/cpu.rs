//! The abilities of the processor: the two operations on boards that everything else is built on,
//! and a way to compile the functions around them for the same processor.
//!
//! A search is generic over a [`Cpu`]. Its functions run their bodies inside [`Cpu::run`], so
//! that the compiler may use in them whatever the type promises: with [`Avx2`] also `popcnt`,
//! `tzcnt` and vectors of 256 bits. A value of [`Avx2`] exists only on a processor that has
//! these, which is what makes its few unsafe calls sound.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
pub(crate) use portable::Portable;

/// A kind of processor.
pub(crate) trait Cpu: Copy + Send + Sync {
    /// The squares where the owner of `own` may place a disc.
    fn moves(self, own: u64, other: u64) -> u64;

    /// The discs of `other` that a disc of `own` on this empty square would turn.
    fn flips(self, square: usize, own: u64, other: u64) -> u64;

    /// Runs this, compiled for the processor. Closures must be so marked that they are inlined.
    fn run<R>(self, work: impl FnOnce() -> R) -> R;
}

/// The squares in line with a square, up to the edge: four directions towards higher indices,
/// four towards lower ones.
struct LineMasks {
    up: [u64; 4],
    down: [u64; 4],
}

static RAYS: [LineMasks; 64] = rays();

const fn rays() -> [LineMasks; 64] {
    const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, -1), (1, 0), (1, 1)];
    let mut rays = [const {
        LineMasks {
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

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The rules to the letter, square by square.
    fn slow_flips(square: usize, own: u64, other: u64) -> u64 {
        let (row, column) = (square as i32 / 8, square as i32 % 8);
        let mut flips = 0;
        for (down, right) in [
            (-1, -1),
            (-1, 0),
            (-1, 1),
            (0, -1),
            (0, 1),
            (1, -1),
            (1, 0),
            (1, 1),
        ] {
            let mut run = 0;
            for step in 1.. {
                let (row, column) = (row + step * down, column + step * right);
                if !(0..8).contains(&row) || !(0..8).contains(&column) {
                    break;
                }
                let bit = 1 << (row * 8 + column);
                if other & bit != 0 {
                    run |= bit;
                } else {
                    if own & bit != 0 {
                        flips |= run;
                    }
                    break;
                }
            }
        }
        flips
    }

    fn check(cpu: impl Cpu) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            let (a, b, c): (u64, u64, u64) = (rng.random(), rng.random(), rng.random());
            for (own, other) in [(a & b, !a & c), (a, !a & b), (a & !b, !a), (a & b & c, !a)] {
                let mut moves = 0;
                for square in 0..64 {
                    if (own | other) >> square & 1 == 0 {
                        let expected = slow_flips(square, own, other);
                        assert_eq!(cpu.flips(square, own, other), expected);
                        moves |= u64::from(expected != 0) << square;
                    }
                }
                assert_eq!(cpu.moves(own, other), moves);
            }
        }
    }

    #[test]
    fn portable_code_turns_what_the_rules_say() {
        check(Portable);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn avx2_turns_what_the_rules_say() {
        if let Some(avx2) = Avx2::detect() {
            check(avx2);
        }
    }
}
