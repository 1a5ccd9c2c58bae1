//! Wins by force: sequences of stones that each threaten to win at once, so that the
//! other side has one answer only. The idea is the threat-space search of V. Allis,
//! J. van den Herik and M. Huntjens ("Go-Moku and threat-space search", 1993).

use crate::{
    board::{Geometry, Stones},
    terms::Wins,
    word::Word,
    zobrist::{Hash, Zobrist},
};

/// Failed searches that are remembered: a power of two.
const MEMORY: usize = 1 << 15;

/// The search for wins by force on one board.
pub(crate) struct Forced<W, const S: u32> {
    geometry: Geometry<W, S>,
    /// By key: the key, and for how many plies there is no forced win.
    failed: Vec<(u64, u32)>,
    /// Positions that may still be looked at.
    budget: u64,
}

/// A position with what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct Attack<W> {
    pub(crate) board: Stones<W>,
    pub(crate) wins: Wins<W>,
    pub(crate) hash: Hash,
    pub(crate) stones: u32,
}

/// A forced win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForcedWin {
    /// The first stone.
    pub(crate) index: u32,
    /// The number of the stone that wins.
    pub(crate) end: u32,
}

impl<W: Word, const S: u32> Forced<W, S> {
    pub(crate) fn new(geometry: Geometry<W, S>) -> Self {
        Self {
            geometry,
            failed: vec![(0, 0); MEMORY],
            budget: 0,
        }
    }

    /// A win by force within so many plies, found while looking at no more than `budget`
    /// positions; and how many it has looked at. The side to move has no win with its
    /// next stone.
    pub(crate) fn find(
        &mut self,
        zobrist: &Zobrist,
        attack: Attack<W>,
        plies: u32,
        budget: u64,
    ) -> (Option<ForcedWin>, u64) {
        self.budget = budget;
        let found = self.attack(zobrist, attack, plies);
        (found, budget - self.budget)
    }

    fn attack(&mut self, zobrist: &Zobrist, attack: Attack<W>, plies: u32) -> Option<ForcedWin> {
        if plies < 3 || self.budget == 0 {
            return None;
        }
        self.budget -= 1;
        let geometry = &self.geometry;
        let Attack {
            board,
            wins,
            hash,
            stones,
        } = attack;
        let taken = geometry.taken(board);
        let landings = geometry.landings(taken);
        let threats = wins.other & landings;
        if threats.has_two() {
            return None;
        }
        let mut moves = landings & !geometry.supports(wins.other);
        if !threats.is_empty() {
            moves &= threats;
        }
        // Only these can threaten, so the others need no closer look.
        moves &= geometry.forcing(board.own, landings) | geometry.supports(wins.own);
        if moves.is_empty() {
            return None;
        }
        let (key, _) = zobrist.key(hash);
        let slot = key as usize & (MEMORY - 1);
        if self.failed[slot].0 == key && self.failed[slot].1 >= plies {
            return None;
        }
        // Stones that threaten, and the only answer to each.
        let mut forcing = [(0, 0, wins); 12];
        let mut count = 0;
        for index in moves.bits() {
            let stone = W::bit(index);
            let own = geometry.wins(board.own | stone, taken | stone);
            let after = geometry.landings(taken | stone);
            let direct = own & after;
            if direct.is_empty() {
                continue;
            }
            let answer = direct.lowest();
            let above = geometry.landings(taken | stone | W::bit(answer)) & !after;
            if direct.has_two() || own.meets(above) {
                return Some(ForcedWin {
                    index,
                    end: stones + 3,
                });
            }
            let wins = Wins {
                own,
                other: wins.other,
            };
            forcing[count] = (index, answer, wins);
            count += 1;
        }
        if plies < 5 {
            return None;
        }
        let is_odd = stones % 2 == 1;
        for &(index, answer, wins) in &forcing[..count] {
            let (stone, reply) = (W::bit(index), W::bit(answer));
            let board = board.after(stone).after(reply);
            let other = self.geometry.wins(board.other, self.geometry.taken(board));
            let hash = zobrist.with(hash, index, is_odd);
            let next = Attack {
                board,
                wins: Wins {
                    own: wins.own & !reply,
                    other,
                },
                hash: zobrist.with(hash, answer, !is_odd),
                stones: stones + 2,
            };
            if let Some(found) = self.attack(zobrist, next, plies - 2) {
                return Some(ForcedWin { index, ..found });
            }
        }
        if self.budget > 0 {
            self.failed[slot] = (key, plies);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shape::{BoardCell, BoardShape},
        word::U192,
        zobrist::scramble,
    };

    /// Compares the cells that are looked at with those whose stone threatens, in random games.
    fn check<W: Word, const S: u32>(shape: BoardShape, seed: u64) -> u32 {
        let geometry = Geometry::<W, S>::new(shape);
        let mut board = Stones::EMPTY;
        let mut threatening = 0;
        for ply in 0.. {
            let taken = geometry.taken(board);
            let landings = geometry.landings(taken);
            let wins = geometry.wins(board.own, taken);
            let looked_at = geometry.forcing(board.own, landings) | geometry.supports(wins);
            for index in landings.bits() {
                let stone = W::bit(index);
                let own = geometry.wins(board.own | stone, taken | stone);
                let direct = own & geometry.landings(taken | stone);
                if !direct.is_empty() && !wins.meets(landings) {
                    threatening += 1;
                    assert!(stone.meets(looked_at), "{shape:?}, {board:?}, {index}");
                }
            }
            // No line is completed, so that the game goes on.
            let moves: Vec<u32> = (landings & !wins).bits().collect();
            if moves.is_empty() {
                break;
            }
            let draw = scramble(seed << 8 | ply) as usize;
            board = board.after(W::bit(moves[draw % moves.len()]));
        }
        threatening
    }

    #[test]
    fn every_stone_that_threatens_is_looked_at() {
        let mut threatening = 0;
        for seed in 0..200 {
            let draw = |what: u64, most: u64| (scramble(seed * 10 + what) % most) as u8;
            let forbidden = BoardCell {
                column: draw(2, 9),
                row: draw(3, 9),
            };
            let shape = BoardShape::new(9, 9 + draw(1, 4), Some(forbidden));
            let shape = shape.expect("a usual board");
            threatening += check::<u128, 10>(shape, seed);
            threatening += check::<U192, 13>(shape, seed);
        }
        assert!(threatening > 10_000, "{threatening}");
    }
}
