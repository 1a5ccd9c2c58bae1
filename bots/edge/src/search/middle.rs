//! Principal variation search to a depth in plies. A search as deep as there are empty squares
//! is to the end of the game, and exact unless it is selective.

use super::{
    ThreadSearch, WORST,
    order::{Moves, end_cost},
};
use crate::{
    board::Discs,
    cpu::Cpu,
    eval::FeaturedBoard,
    idea::OthelloIdea,
    square::{Square, Squares},
    table::{MAX, NO_SQUARE, NodeResult, ValueBounds, hash_of},
    weights::DISC,
};

/// With so many empty squares and fewer, searches to the end use the solver alone.
const SOLVER: u32 = 14;
/// Searches of this depth and deeper use the table.
const TABLE_DEPTH: u32 = 3;
/// Searches of this depth and deeper ask the table about all moves before they look at one.
const ALL_MOVES_DEPTH: u32 = 5;

impl<C: Cpu> ThreadSearch<'_, C> {
    /// The value to this depth: above alpha, and then at least what is returned, or not, and
    /// then at most that.
    pub(super) fn null_window(&mut self, position: &FeaturedBoard, alpha: i32, depth: u32) -> i32 {
        let board = position.board;
        let empties = board.empties();
        if depth >= empties && self.solves(empties) {
            return self.end(board, alpha, empties);
        }
        match depth {
            0 => self.leaf(position),
            1 => self.one_ply(position, alpha),
            _ => self.deeper(position, alpha, depth, empties),
        }
    }

    /// True if the solver finds the value with so many empty squares. It is asked at the very end
    /// in any case.
    #[inline(always)]
    fn solves(&self, empties: u32) -> bool {
        empties <= SOLVER && (empties <= 1 || !self.is_without(OthelloIdea::Solver))
    }

    #[inline(always)]
    fn leaf(&mut self, position: &FeaturedBoard) -> i32 {
        self.nodes += 1;
        position.value(self.cpu, self.weights)
    }

    fn one_ply(&mut self, position: &FeaturedBoard, alpha: i32) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                self.nodes += 1;
                let board = position.board;
                let set = cpu.moves(board.own, board.other);
                if set == 0 {
                    let passed = board.pass();
                    return if cpu.moves(passed.own, passed.other) == 0 {
                        board.final_score()
                    } else {
                        -self.one_ply(&position.passed(), -alpha - 1)
                    };
                }
                let mut best = WORST;
                for square in Squares(set) {
                    let flips = cpu.flips(square.index(), board.own, board.other);
                    let next = position.after(square.index(), flips);
                    best = best.max(-self.leaf(&next));
                    if best > alpha {
                        break;
                    }
                }
                best
            },
        )
    }

    fn deeper(&mut self, position: &FeaturedBoard, alpha: i32, depth: u32, empties: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                if !self.enter() {
                    return alpha;
                }
                let board = position.board;
                if let Some(bound) = self.stability_bound(board, alpha, empties) {
                    return bound;
                }
                let mut hash = 0;
                let mut known = None;
                if depth >= TABLE_DEPTH {
                    hash = hash_of(board);
                    known = self.table.get(hash);
                    if let Some(value) = self.known_bound(known, alpha, depth) {
                        return value;
                    }
                }
                let set = cpu.moves(board.own, board.other);
                if set == 0 {
                    return match self.passed(position) {
                        None => board.final_score(),
                        Some(passed) => -self.null_window(&passed, -alpha - 1, depth),
                    };
                }
                if let Some(value) = self.probe(position, alpha, depth) {
                    return value;
                }
                if depth >= ALL_MOVES_DEPTH && !self.is_without(OthelloIdea::Etc) {
                    for square in Squares(set) {
                        let flips = cpu.flips(square.index(), board.own, board.other);
                        let next = self.table.get(hash_of(board.after(square.bit(), flips)));
                        if let Some(next) = next
                            && next.is_enough(depth - 1, self.selectivity)
                            && -i32::from(next.upper) > alpha
                        {
                            return -i32::from(next.upper);
                        }
                    }
                }
                let mut moves = self.ordered(position, set, known, alpha, depth);
                let mut best = WORST;
                let mut best_square = NO_SQUARE;
                while let Some((square, flips)) = moves.next() {
                    let next = position.after(square.index(), flips);
                    if !self.claims(next.board, depth, best != WORST && !moves.was_left()) {
                        moves.leave();
                        continue;
                    }
                    let value = -self.null_window(&next, -alpha - 1, depth - 1);
                    self.releases(next.board, depth);
                    if value > best {
                        best = value;
                        best_square = square.index() as u8;
                        if value > alpha {
                            break;
                        }
                    }
                }
                if depth >= TABLE_DEPTH && !self.stopped {
                    self.table.put(
                        hash,
                        NodeResult {
                            depth,
                            selectivity: self.selectivity,
                            alpha,
                            beta: alpha + 1,
                            value: best,
                            square: best_square,
                        },
                    );
                }
                best
            },
        )
    }

    /// The value to this depth if it is between the bounds; otherwise a bound of it.
    pub(super) fn window(
        &mut self,
        position: &FeaturedBoard,
        mut alpha: i32,
        beta: i32,
        depth: u32,
    ) -> i32 {
        let board = position.board;
        let empties = board.empties();
        if beta <= alpha + 1 {
            return self.null_window(position, alpha, depth);
        }
        if depth == 0 && empties > 0 {
            return self.leaf(position);
        }
        if !self.enter() {
            return alpha;
        }
        let set = self.cpu.moves(board.own, board.other);
        if set == 0 {
            return match self.passed(position) {
                None => board.final_score(),
                Some(passed) => -self.window(&passed, -beta, -alpha, depth),
            };
        }
        let hash = hash_of(board);
        let known = self.table.get(hash);
        let mut moves = self.ordered(position, set, known, alpha, depth);
        let before = alpha;
        let mut best = WORST;
        let mut best_square = NO_SQUARE;
        while let Some((square, flips)) = moves.next() {
            let next = position.after(square.index(), flips);
            if !self.claims(next.board, depth, best != WORST && !moves.was_left()) {
                moves.leave();
                continue;
            }
            let mut value = if best == WORST {
                -self.window(&next, -beta, -alpha, depth - 1)
            } else {
                -self.null_window(&next, -alpha - 1, depth - 1)
            };
            if best != WORST && value > alpha && value < beta {
                value = -self.window(&next, -beta, -alpha, depth - 1);
            }
            self.releases(next.board, depth);
            if self.stopped {
                return before;
            }
            if value > best {
                best = value;
                best_square = square.index() as u8;
                alpha = alpha.max(value);
                if value >= beta {
                    break;
                }
            }
        }
        self.table.put(
            hash,
            NodeResult {
                depth,
                selectivity: self.selectivity,
                alpha: before,
                beta,
                value: best,
                square: best_square,
            },
        );
        best
    }

    /// The value to a small depth by alpha-beta alone, to sort moves by.
    fn plain(&mut self, position: &FeaturedBoard, mut alpha: i32, beta: i32, depth: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                if depth == 0 {
                    return self.leaf(position);
                }
                self.nodes += 1;
                let board = position.board;
                let set = cpu.moves(board.own, board.other);
                if set == 0 {
                    return match self.passed(position) {
                        None => board.final_score(),
                        Some(passed) => -self.plain(&passed, -beta, -alpha, depth),
                    };
                }
                let odd = self.parity(board.empty()).odd();
                let mut moves = Moves::new();
                for square in Squares(set) {
                    let flips = cpu.flips(square.index(), board.own, board.other);
                    let next = board.after(square.bit(), flips);
                    moves.push(square, flips, end_cost(cpu, next, square, odd));
                }
                let mut best = WORST;
                while let Some((square, flips)) = moves.next() {
                    let next = position.after(square.index(), flips);
                    best = best.max(-self.plain(&next, -beta, -alpha, depth - 1));
                    alpha = alpha.max(best);
                    if alpha >= beta {
                        break;
                    }
                }
                best
            },
        )
    }

    /// The position after a pass, if the game goes on.
    #[inline(always)]
    fn passed(&self, position: &FeaturedBoard) -> Option<FeaturedBoard> {
        let Discs { own, other } = position.board;
        (self.cpu.moves(other, own) != 0).then(|| position.passed())
    }

    #[inline(always)]
    fn known_bound(&self, known: Option<ValueBounds>, alpha: i32, depth: u32) -> Option<i32> {
        let known = known.filter(|known| known.is_enough(depth, self.selectivity))?;
        let (lower, upper) = (i32::from(known.lower), i32::from(known.upper));
        if lower > alpha {
            Some(lower)
        } else if upper <= alpha {
            Some(upper)
        } else {
            None
        }
    }

    /// The moves of this set in the order in which to look at them.
    #[inline(always)]
    fn ordered(
        &mut self,
        position: &FeaturedBoard,
        set: u64,
        known: Option<ValueBounds>,
        alpha: i32,
        depth: u32,
    ) -> Moves {
        let board = position.board;
        let empties = board.empties();
        let firsts = known.map_or([NO_SQUARE; 2], |known| known.moves);
        let odd = self.parity(board.empty()).odd();
        let look_ahead = look_ahead(depth);
        let to_the_end = depth >= empties;
        let mut moves = Moves::new();
        for square in Squares(set) {
            let index = square.index();
            let flips = self.cpu.flips(index, board.own, board.other);
            let cost = if index == usize::from(firsts[0]) {
                i32::MIN
            } else if index == usize::from(firsts[1]) {
                i32::MIN + 1
            } else if self.is_without(OthelloIdea::Ordering) {
                0
            } else {
                self.cost(position, square, flips, odd, alpha, look_ahead, to_the_end)
            };
            moves.push(square, flips, cost);
        }
        moves
    }

    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "what is the same for all moves is computed once"
    )]
    fn cost(
        &mut self,
        position: &FeaturedBoard,
        square: Square,
        flips: u64,
        odd: u64,
        alpha: i32,
        look_ahead: Option<u32>,
        to_the_end: bool,
    ) -> i32 {
        let Some(plies) = look_ahead else {
            return end_cost(
                self.cpu,
                position.board.after(square.bit(), flips),
                square,
                odd,
            );
        };
        let next = position.after(square.index(), flips);
        let mobility = end_cost(self.cpu, next.board, square, odd);
        let value = if plies == 0 {
            self.nodes += 1;
            next.fine_value(self.cpu, self.weights)
        } else {
            // How much better than needed a move is does not matter much.
            let low = (-alpha - ORDER_WINDOW).max(-MAX);
            self.plain(&next, low, MAX, plies) * DISC
        };
        value
            + if to_the_end {
                20 * mobility
            } else {
                8 * mobility
            }
    }
}

/// By how many discs moves that seem better than needed are told apart.
const ORDER_WINDOW: i32 = 12;

/// Number of plies to look ahead to sort the moves of a search; none: only count moves.
const fn look_ahead(depth: u32) -> Option<u32> {
    match depth {
        0..3 => None,
        3..9 => Some(0),
        9..13 => Some(1),
        13..18 => Some(2),
        _ => Some(3),
    }
}
