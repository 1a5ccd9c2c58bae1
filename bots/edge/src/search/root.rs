//! The moves of the position that a search begins with.

use super::{EXACT, ThreadSearch, WORST};
use crate::{
    board::Discs,
    cpu::Cpu,
    eval::FeaturedBoard,
    square::{Square, Squares},
    table::{MAX, NO_SQUARE, NodeResult, hash_of},
};

/// A move of the first position.
#[derive(Clone)]
pub(crate) struct RootMove {
    pub(crate) square: Square,
    next: FeaturedBoard,
    /// The value found by the last search that looked at it closely.
    pub(crate) value: i32,
}

/// The depth of a search, and how much it cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchDepth {
    pub(crate) depth: u32,
    pub(crate) selectivity: u8,
}

impl<C: Cpu> ThreadSearch<'_, C> {
    /// The legal moves, the seemingly best one first.
    pub(crate) fn root_moves(&mut self, board: Discs) -> Vec<RootMove> {
        let position = FeaturedBoard::new(board);
        let mut moves: Vec<RootMove> = Squares(self.cpu.moves(board.own, board.other))
            .map(|square| {
                let flips = self.cpu.flips(square.index(), board.own, board.other);
                let next = position.after(square.index(), flips);
                let value = -next.value(self.cpu, self.weights);
                RootMove {
                    square,
                    next,
                    value,
                }
            })
            .collect();
        moves.sort_by_key(|root| -root.value);
        moves
    }

    /// Searches the first position to this depth, with a window around `guess` that opens
    /// where it must. The best move comes to the front of the list, also if the search was
    /// stopped after it found a better one than before, which it tells if there are other
    /// threads. Returns the value, none if it was stopped.
    pub(crate) fn iterate(
        &mut self,
        board: Discs,
        moves: &mut [RootMove],
        line: SearchDepth,
        guess: i32,
        tell: &mut impl FnMut(i32, &[RootMove]),
    ) -> Option<i32> {
        self.selectivity = line.selectivity;
        let mut width = if line.depth >= board.empties() { 2 } else { 3 };
        let (mut low, mut high) = (guess - width, guess + width);
        loop {
            let (alpha, beta) = (low.max(-MAX), high.min(MAX));
            let value = self.root(board, moves, [alpha, beta], line.depth, tell)?;
            width *= 2;
            if value <= alpha && alpha > -MAX {
                low = value - width;
            } else if value >= beta && beta < MAX {
                high = value + width;
            } else {
                return Some(value);
            }
        }
    }

    /// The value of the first position between these bounds, none if the search was stopped.
    fn root(
        &mut self,
        board: Discs,
        moves: &mut [RootMove],
        [mut alpha, beta]: [i32; 2],
        depth: u32,
        tell: &mut impl FnMut(i32, &[RootMove]),
    ) -> Option<i32> {
        let before = alpha;
        let mut best = WORST;
        for at in 0..moves.len() {
            let next = moves[at].next;
            let mut value = if at == 0 {
                -self.window(&next, -beta, -alpha, depth - 1)
            } else {
                -self.null_window(&next, -alpha - 1, depth - 1)
            };
            if at > 0 && value > alpha && value < beta && !self.stopped {
                // Better than the best one so far: it goes first from now on, even if there
                // is no time to learn by how much.
                moves[..=at].rotate_right(1);
                moves[0].value = value;
                self.tell(value, moves, tell);
                value = -self.window(&next, -beta, -alpha, depth - 1);
                if self.stopped {
                    return None;
                }
                moves[0].value = value;
            } else {
                if self.stopped {
                    return None;
                }
                moves[at].value = value;
                if value > alpha {
                    moves[..=at].rotate_right(1);
                    self.tell(value, moves, tell);
                }
            }
            if value > best {
                best = value;
                alpha = alpha.max(value);
                if value >= beta {
                    break;
                }
            }
        }
        self.table.put(
            hash_of(board),
            NodeResult {
                depth,
                selectivity: self.selectivity,
                alpha: before,
                beta,
                value: best,
                square: moves
                    .first()
                    .map_or(NO_SQUARE, |root| root.square.index() as u8),
            },
        );
        Some(best)
    }

    /// Tells that the first of these moves is the best one so far, if there is another thread to hear it.
    fn tell(&self, value: i32, moves: &[RootMove], tell: &mut impl FnMut(i32, &[RootMove])) {
        if self.team.is_some() {
            tell(value, moves);
        }
    }

    /// The value of the position after one move, exactly to this depth; none if stopped.
    pub(crate) fn value_after(
        &mut self,
        root: &RootMove,
        line: SearchDepth,
        guess: i32,
    ) -> Option<i32> {
        self.selectivity = line.selectivity;
        let mut width = 2;
        let (mut low, mut high) = (guess - width, guess + width);
        loop {
            let (alpha, beta) = (low.max(-MAX), high.min(MAX));
            let value = -self.window(&root.next, -beta, -alpha, line.depth - 1);
            if self.stopped {
                return None;
            }
            width *= 2;
            if value <= alpha && alpha > -MAX {
                low = value - width;
            } else if value >= beta && beta < MAX {
                high = value + width;
            } else {
                return Some(value);
            }
        }
    }

    /// True if a move leads to this exact score at least.
    pub(crate) fn reaches(&mut self, root: &RootMove, score: i32) -> bool {
        self.selectivity = EXACT;
        let empties = root.next.board.empties();
        -self.null_window(&root.next, -score, empties) >= score
    }
}
