//! The search: alpha-beta with a null window around the principal variation, deepened ply
//! by ply, with a transposition table.
//!
//! A stone that must be answered costs no depth to answer, and neither does a stone that
//! is the only one which does not lose at once. So scores of proven ends are exact as to
//! who wins, and an upper bound of how long it takes; everything else is an estimate.

use search_team::{RootProgress, Team, mark};

use crate::{
    answer::ConnectFourSearchResult,
    board::{Geometry, Stones},
    engine::ConnectFourEngineOptions,
    evaluation::{BoardEvaluation, WindowStates},
    forced::{Attack, Forced},
    idea::{ConnectFourIdea, ConnectFourIdeas},
    limit::Limit,
    position::ConnectFourPosition,
    score::{DRAW, INFINITE, Proven, end_of, is_loss, is_win, win_at},
    shape::BoardShape,
    table::{Bound, NO_CELL, ScoreTable, ScoredPosition},
    terms::{Terms, Wins},
    weights::Weight,
    word::Word,
    zobrist::{Hash, Zobrist, scramble},
};

/// Positions between two looks at the clock.
const PATIENCE: u64 = 256;
/// The most columns of a board.
const MOST_MOVES: usize = 12;
/// Deeper than any game is long.
pub(crate) const DEEPEST: i32 = 200;
/// From this depth on, wins by force are looked for.
const FORCED_DEPTH: i32 = 2;
/// Longest of these wins in plies, and the number of positions after which the search for one ends.
const FORCED_PLIES: u32 = 25;
const FORCED_NODES: u64 = 60;
/// The same at the root.
pub(crate) const ROOT_FORCED_PLIES: u32 = 41;
pub(crate) const ROOT_FORCED_NODES: u64 = 20_000;
/// From this depth on, and from this move on, moves are searched less deeply at first.
const REDUCED_DEPTH: i32 = 3;
const REDUCED_FROM: usize = 3;
const REDUCED_MORE_FROM: usize = 6;
const REDUCED_MORE_DEPTH: i32 = 5;
/// From this depth on, a position for which the table has no best move is searched one ply less
/// deeply.
const UNKNOWN_DEPTH: i32 = 4;
/// Up to this depth, a position that is so much better than it need be, for each ply, is
/// not searched.
const SURE_DEPTH: i32 = 3;
const SURE_MARGIN: i32 = 128;
/// The worth of moves that were best at the same distance from the root, in the order of moves.
const KILLER: [i32; 2] = [250, 150];
/// No sum of history is further from 0.
const MOST_HISTORY: i32 = 1 << 14;
/// The divisor of a sum of history where it counts beside the evaluation's gain.
const HISTORY_SHARE: i32 = 32;
/// Searches of this depth and deeper leave moves that another thread searches for later.
const TEAM_DEPTH: i32 = 4;
/// Added to the key of exact results, so that they are never mixed with estimates.
const EXACT: u64 = 0x5851_f42d_4c95_7f2d;

/// The interface of the search on one board for the engine, whatever its layout.
pub(crate) trait Searching: Send {
    fn shape(&self) -> BoardShape;
    fn search(
        &mut self,
        joint: Joint<'_>,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> ConnectFourSearchResult;
    /// Searches the same for another thread until the limit says to stop; how many positions it has
    /// looked at.
    fn help(&mut self, joint: Joint<'_>, position: &ConnectFourPosition, limit: &Limit<'_>) -> u64;
    fn solve(
        &mut self,
        table: &ScoreTable,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> Option<Proven>;
    fn forced_win(
        &mut self,
        position: &ConnectFourPosition,
        plies: u32,
        nodes: u64,
    ) -> Option<(u8, u32)>;
    fn evaluate(&self, position: &ConnectFourPosition) -> i32;
    fn terms(&self, position: &ConnectFourPosition) -> Option<Terms>;
    fn leaves(&self, position: &ConnectFourPosition, plies: u32) -> u64;
}

/// The data that the threads of one search share.
#[derive(Clone, Copy)]
pub(crate) struct Joint<'a> {
    pub(crate) table: &'a ScoreTable,
    /// None if there is one thread.
    pub(crate) team: Option<&'a Team>,
    /// A search at the root is one ply deeper than the one before.
    pub(crate) progress: &'a RootProgress<Reached>,
}

/// The result of a search at the root.
#[derive(Clone, Default)]
pub(crate) struct Reached {
    /// The moves, the best one first; none before the first search.
    pub(crate) order: Vec<u32>,
    pub(crate) value: i32,
}

/// Moves that another thread searches, which are looked at again after all others: their places in the
/// order in which they were looked at.
#[derive(Default)]
pub(crate) struct DeferredMoves {
    places: [u8; MOST_MOVES],
    count: usize,
    next: usize,
}

impl DeferredMoves {
    pub(crate) const fn leave(&mut self, place: usize) {
        self.places[self.count] = place as u8;
        self.count += 1;
    }

    pub(crate) fn next(&mut self) -> Option<usize> {
        let place = self.places[self.next..self.count].first()?;
        self.next += 1;
        Some(usize::from(*place))
    }

    fn has(&self, place: usize) -> bool {
        self.places[self.next..self.count].contains(&(place as u8))
    }
}

/// The errors of the search, for weaker play.
#[derive(Clone, Copy)]
struct Blur {
    /// An evaluation is off by so much at most.
    most: i32,
    seed: u64,
}

/// The search on one board.
pub(crate) struct Searcher<W, const S: u32> {
    pub(crate) evaluation: BoardEvaluation<W, S>,
    pub(crate) zobrist: Zobrist,
    pub(crate) forced: Forced<W, S>,
    history: Vec<[i32; 2]>,
    killers: Vec<[u8; 2]>,
    blur: Blur,
    pub(crate) without: ConnectFourIdeas,
}

impl<W: Word, const S: u32> Searcher<W, S> {
    pub(crate) fn new(shape: BoardShape, options: &ConnectFourEngineOptions) -> Self {
        let evaluation = BoardEvaluation::<W, S>::new(shape, &options.weights, options.without);
        Self {
            zobrist: Zobrist::new::<W, S>(shape, options.without),
            forced: Forced::new(evaluation.ground.geometry.clone()),
            history: vec![[0; 2]; W::BITS as usize],
            killers: vec![[NO_CELL; 2]; DEEPEST as usize],
            evaluation,
            blur: Blur {
                most: options.blur.into(),
                seed: options.seed,
            },
            without: options.without,
        }
    }

    pub(crate) fn geometry(&self) -> &Geometry<W, S> {
        &self.evaluation.ground.geometry
    }

    fn wins(&self, board: Stones<W>) -> Wins<W> {
        let taken = self.geometry().taken(board);
        Wins {
            own: self.geometry().wins(board.own, taken),
            other: self.geometry().wins(board.other, taken),
        }
    }

    pub(crate) fn run<'a>(
        &'a mut self,
        table: &'a ScoreTable,
        limit: &'a Limit<'a>,
        board: Stones<W>,
        exact: bool,
        team: Option<&'a Team>,
    ) -> SearchRun<'a, W, S> {
        for history in self.history.as_flattened_mut() {
            *history /= 8;
        }
        self.killers.fill([NO_CELL; 2]);
        let (states, _) = self.evaluation.start(board);
        SearchRun {
            searcher: self,
            table,
            limit,
            states,
            nodes: 0,
            most_nodes: limit.most_nodes(),
            next_look: PATIENCE,
            stopped: false,
            exact,
            team,
            finished: 0,
        }
    }

    /// The position that a search begins with.
    pub(crate) fn root(&self, board: Stones<W>) -> SearchNode<W> {
        let (_, windows) = self.evaluation.start(board);
        SearchNode {
            board,
            wins: self.wins(board),
            windows,
            hash: self.zobrist.of(board),
            stones: board.stones(),
            last: None,
        }
    }
}

/// A position on the way.
#[derive(Clone, Copy)]
pub(crate) struct SearchNode<W> {
    pub(crate) board: Stones<W>,
    /// The side to move can't win with its next stone, except at the root.
    pub(crate) wins: Wins<W>,
    /// The value of all windows for the even side.
    pub(crate) windows: Weight,
    pub(crate) hash: Hash,
    pub(crate) stones: u32,
    /// The last stone, which is not yet in the states of its windows.
    last: Option<u32>,
}

/// A move and what follows from it.
#[derive(Clone, Copy)]
pub(crate) struct MoveCandidate {
    index: u32,
    /// The value of all windows after it, for the even side.
    windows: Weight,
}

impl MoveCandidate {
    const NONE: Self = Self {
        index: 0,
        windows: Weight::new(0, 0),
    };
}

/// One search.
pub(crate) struct SearchRun<'a, W, const S: u32> {
    pub(crate) searcher: &'a mut Searcher<W, S>,
    pub(crate) table: &'a ScoreTable,
    pub(crate) limit: &'a Limit<'a>,
    states: WindowStates,
    pub(crate) nodes: u64,
    /// `nodes` is never more.
    pub(crate) most_nodes: u64,
    /// From this number of nodes on, the clock is read again.
    next_look: u64,
    pub(crate) stopped: bool,
    /// True if nothing may be estimated or cut short.
    exact: bool,
    /// The threads that search with it, if any.
    pub(crate) team: Option<&'a Team>,
    /// To how many plies the threads had searched when this one began with one more.
    pub(crate) finished: usize,
}

impl<W: Word, const S: u32> SearchRun<'_, W, S> {
    /// The score of a position in which the side to move has no win with its next stone,
    /// for it. Below `alpha` it is an upper bound, above `beta` a lower one.
    pub(crate) fn node(
        &mut self,
        node: &SearchNode<W>,
        mut alpha: i32,
        mut beta: i32,
        depth: i32,
        height: usize,
    ) -> i32 {
        if self.is_over() {
            return DRAW;
        }
        self.nodes += 1;
        let geometry = self.searcher.geometry();
        let taken = geometry.taken(node.board);
        let landings = geometry.landings(taken);
        if landings.is_empty() {
            return DRAW;
        }
        let threats = node.wins.other & landings;
        let mut moves = landings & !geometry.supports(node.wins.other);
        if !threats.is_empty() {
            moves &= threats;
        }
        if moves.is_empty() || threats.has_two() {
            return -win_at(node.stones + 2);
        }
        alpha = alpha.max(-win_at(node.stones + 4));
        beta = beta.min(win_at(node.stones + 3));
        if alpha >= beta {
            return alpha;
        }
        let is_only = !moves.has_two();
        if depth <= 0 && !is_only {
            return self.estimate(node);
        }
        if is_only {
            self.place_last(node);
            let only = self.candidate(node, moves.lowest());
            let next = self.after(node, &only);
            let score = -self.node(&next, -beta, -alpha, depth, height + 1);
            self.remove_last(node);
            return score;
        }
        let is_null = beta - alpha == 1;
        if is_null
            && depth <= SURE_DEPTH
            && !self.exact
            && !is_win(beta)
            && !self.searcher.without.has(ConnectFourIdea::Futility)
        {
            let value = self.estimate(node);
            if value - SURE_MARGIN * depth >= beta {
                return value;
            }
        }
        let (key, is_mirrored) = self.key(node.hash);
        let mut table_move = NO_CELL;
        if !self.searcher.without.has(ConnectFourIdea::Table)
            && let Some(entry) = self.table.get(key)
        {
            let needed = if self.exact { 0 } else { depth };
            if let Some(score) = settled(&entry, alpha, beta, needed) {
                return score;
            }
            table_move = self.seen_from(entry.cell, is_mirrored);
        }
        self.place_last(node);
        let score = self.choose(node, moves, table_move, [alpha, beta], depth, height);
        self.remove_last(node);
        score
    }

    /// True if a limit is reached, or another thread has finished the search to this depth.
    #[inline]
    fn is_over(&mut self) -> bool {
        if self.nodes >= self.next_look {
            self.next_look = self.nodes + PATIENCE;
            self.stopped |= self.limit.is_out_of_time();
        }
        self.stopped |= self.nodes >= self.most_nodes || self.is_behind();
        self.stopped
    }

    /// True if another thread has finished the search to this depth.
    pub(crate) fn is_behind(&self) -> bool {
        self.team
            .is_some_and(|team| team.finished() > self.finished)
    }

    /// True if this move is to be searched to this depth now; not if it can wait and another thread
    /// searches it.
    pub(crate) fn claims(&self, next: &SearchNode<W>, depth: i32, can_wait: bool) -> bool {
        let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) else {
            return true;
        };
        team.claims(mark(self.key(next.hash).0, depth.unsigned_abs()), can_wait)
    }

    /// A move that it claimed has been searched.
    pub(crate) fn releases(&self, next: &SearchNode<W>, depth: i32) {
        if let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) {
            team.releases(mark(self.key(next.hash).0, depth.unsigned_abs()));
        }
    }

    /// Puts the last stone into the states of its windows.
    fn place_last(&mut self, node: &SearchNode<W>) {
        if let Some(last) = node.last {
            let evaluation = &self.searcher.evaluation;
            evaluation.place(&mut self.states, last, !is_odd(node.stones));
        }
    }

    /// Takes it out again.
    fn remove_last(&mut self, node: &SearchNode<W>) {
        if let Some(last) = node.last {
            let evaluation = &self.searcher.evaluation;
            evaluation.remove(&mut self.states, last, !is_odd(node.stones));
        }
    }

    fn estimate(&self, node: &SearchNode<W>) -> i32 {
        let Searcher {
            evaluation, blur, ..
        } = &*self.searcher;
        let value = evaluation.value(node.board, node.stones, node.wins, node.windows);
        if blur.most == 0 {
            return value;
        }
        let (key, _) = self.searcher.zobrist.key(node.hash);
        let width = 2 * blur.most as u64 + 1;
        value + (scramble(key ^ blur.seed) % width) as i32 - blur.most
    }

    /// The best of several moves.
    fn choose(
        &mut self,
        node: &SearchNode<W>,
        mut moves: W,
        table_move: u8,
        [mut alpha, beta]: [i32; 2],
        mut depth: i32,
        height: usize,
    ) -> i32 {
        let (key, is_mirrored) = self.key(node.hash);
        if depth >= FORCED_DEPTH
            && !self.exact
            && !self.searcher.without.has(ConnectFourIdea::Forced)
        {
            let attack = Attack {
                board: node.board,
                wins: node.wins,
                hash: node.hash,
                stones: node.stones,
            };
            let budget = FORCED_NODES.min((self.most_nodes - self.nodes).saturating_mul(4));
            let searcher = &mut *self.searcher;
            let (found, nodes) =
                searcher
                    .forced
                    .find(&searcher.zobrist, attack, FORCED_PLIES, budget);
            self.nodes += forced_share(nodes);
            if let Some(found) = found {
                let score = win_at(found.end);
                let cell = self.seen_from(found.index as u8, is_mirrored);
                self.table
                    .put(key, score as i16, cell, depth as u8, Bound::Lower);
                return score;
            }
        }
        let may_reduce = !self.exact && !self.searcher.without.has(ConnectFourIdea::Reductions);
        if depth >= UNKNOWN_DEPTH && table_move == NO_CELL && may_reduce {
            depth -= 1;
        }
        let (mut best, mut best_index) = (-INFINITE, NO_CELL);
        let first_alpha = alpha;
        let mut candidates = [MoveCandidate::NONE; MOST_MOVES];
        let mut orders = [(i32::MIN, 0_u8); MOST_MOVES];
        // The move of the table often makes all others needless, so it is not compared with them.
        let mut count = 0;
        let table_index = u32::from(table_move);
        if table_move != NO_CELL && moves.meets(W::bit(table_index)) {
            candidates[0] = self.candidate(node, table_index);
            moves &= !W::bit(table_index);
            count = 1;
        }
        let mut number = 0;
        let mut left = DeferredMoves::default();
        loop {
            if number == count && !moves.is_empty() {
                for index in moves.bits() {
                    let candidate = self.candidate(node, index);
                    orders[count] = (self.order(node, &candidate, height), count as u8);
                    candidates[count] = candidate;
                    count += 1;
                }
                moves = W::EMPTY;
            }
            let is_first_look = number < count;
            let place = if is_first_look {
                bring_best(&mut orders[number..count]);
                number += 1;
                number - 1
            } else if let Some(place) = left.next() {
                place
            } else {
                break;
            };
            let at = |place: usize| &candidates[usize::from(orders[place].1)];
            let next = at(place);
            let after = self.after(node, next);
            if !self.claims(&after, depth, is_first_look && place > 0) {
                left.leave(place);
                continue;
            }
            let score = self.try_move(&after, place, [alpha, beta], depth, height);
            self.releases(&after, depth);
            if self.stopped {
                return DRAW;
            }
            if score > best {
                best = score;
                best_index = next.index as u8;
            }
            alpha = alpha.max(score);
            if alpha >= beta {
                let tried = (0..number).filter(|&other| other != place && !left.has(other));
                let tried = tried.map(|other| at(other).index);
                self.remember(node.stones, next.index, tried, depth, height);
                break;
            }
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if best > first_alpha {
            Bound::Exact
        } else {
            best_index = NO_CELL;
            Bound::Upper
        };
        let cell = self.seen_from(best_index, is_mirrored);
        self.table.put(key, best as i16, cell, depth as u8, bound);
        best
    }

    /// The score of a move: with the full window for the first, else with a null window
    /// and at first less deeply.
    pub(crate) fn try_move(
        &mut self,
        next: &SearchNode<W>,
        number: usize,
        [alpha, beta]: [i32; 2],
        depth: i32,
        height: usize,
    ) -> i32 {
        let height = height + 1;
        if number == 0 {
            return -self.node(next, -beta, -alpha, depth - 1, height);
        }
        let is_late = depth >= REDUCED_DEPTH && number >= REDUCED_FROM;
        let may_reduce = !self.exact && !self.searcher.without.has(ConnectFourIdea::Reductions);
        if is_late && may_reduce && !self.threatens(next) {
            let less =
                1 + i32::from(number >= REDUCED_MORE_FROM) + i32::from(depth >= REDUCED_MORE_DEPTH);
            let score = -self.node(next, -alpha - 1, -alpha, depth - 1 - less, height);
            if score <= alpha {
                return score;
            }
        }
        let score = -self.node(next, -alpha - 1, -alpha, depth - 1, height);
        if score <= alpha || score >= beta {
            return score;
        }
        -self.node(next, -beta, -alpha, depth - 1, height)
    }

    pub(crate) fn candidate(&self, node: &SearchNode<W>, index: u32) -> MoveCandidate {
        let odd = is_odd(node.stones);
        let gain = self.searcher.evaluation.gain(&self.states, index, odd);
        MoveCandidate {
            index,
            windows: node.windows.plus(gain),
        }
    }

    pub(crate) fn after(&self, node: &SearchNode<W>, candidate: &MoveCandidate) -> SearchNode<W> {
        let stone = W::bit(candidate.index);
        let odd = is_odd(node.stones);
        let hash = self.searcher.zobrist.with(node.hash, candidate.index, odd);
        let board = node.board.after(stone);
        let geometry = self.searcher.geometry();
        SearchNode {
            board,
            wins: Wins {
                own: node.wins.other & !stone,
                other: geometry.wins(board.other, geometry.taken(board)),
            },
            windows: candidate.windows,
            hash,
            stones: node.stones + 1,
            last: Some(candidate.index),
        }
    }

    /// True if the last stone threatens to win with the next.
    fn threatens(&self, node: &SearchNode<W>) -> bool {
        let geometry = self.searcher.geometry();
        let landings = geometry.landings(geometry.taken(node.board));
        node.wins.other.meets(landings)
    }

    /// The promise of a move: its value in the order of moves.
    pub(crate) fn order(
        &self,
        node: &SearchNode<W>,
        candidate: &MoveCandidate,
        height: usize,
    ) -> i32 {
        let index = candidate.index as u8;
        let odd = is_odd(node.stones);
        let killers = self.searcher.killers[height];
        let killer = killers.iter().position(|&killer| killer == index);
        let history = self.searcher.history[usize::from(index)][usize::from(odd)];
        let gain = candidate.windows.minus(node.windows);
        let gain = (gain.early() + gain.late()) / 2;
        let gain = if odd { -gain } else { gain };
        gain + killer.map_or(0, |place| KILLER[place]) + history / HISTORY_SHARE
    }

    /// A move was so good that the others need no look.
    fn remember(
        &mut self,
        stones: u32,
        index: u32,
        tried: impl Iterator<Item = u32>,
        depth: i32,
        height: usize,
    ) {
        let killers = &mut self.searcher.killers[height];
        if killers[0] != index as u8 {
            *killers = [index as u8, killers[0]];
        }
        let odd = usize::from(is_odd(stones));
        let bonus = (depth * depth * 16).min(MOST_HISTORY / 8);
        let mut change = |index: u32, by: i32| {
            let history = &mut self.searcher.history[index as usize][odd];
            *history += by - *history * by.abs() / MOST_HISTORY;
        };
        change(index, bonus);
        for index in tried {
            change(index, -bonus);
        }
    }

    pub(crate) fn key(&self, hash: Hash) -> (u64, bool) {
        let (key, is_mirrored) = self.searcher.zobrist.key(hash);
        (if self.exact { key ^ EXACT } else { key }, is_mirrored)
    }

    /// A cell of the table as the position has it, or the other way round.
    pub(crate) fn seen_from(&self, index: u8, is_mirrored: bool) -> u8 {
        if index == NO_CELL || !is_mirrored {
            return index;
        }
        let mut cell = Geometry::<W, S>::cell(index.into());
        cell.column = self.searcher.geometry().shape.columns() - 1 - cell.column;
        Geometry::<W, S>::index(cell) as u8
    }
}

/// The share of so many positions of the search for forced wins in the count of nodes: each takes
/// about a quarter of the time of another.
pub(crate) const fn forced_share(nodes: u64) -> u64 {
    nodes.div_ceil(4)
}

/// The score in the table's entry, if it ends the search of its position.
fn settled(entry: &ScoredPosition, alpha: i32, beta: i32, depth: i32) -> Option<i32> {
    let score = i32::from(entry.score);
    // A proven end needs no depth.
    let is_proven = match entry.bound {
        Bound::Lower => is_win(score),
        Bound::Upper => is_loss(score),
        Bound::Exact => end_of(score).is_some(),
    };
    if i32::from(entry.depth) < depth && !is_proven {
        return None;
    }
    let is_enough = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
    };
    is_enough.then_some(score)
}

/// Moves the most promising candidate to the front.
fn bring_best(orders: &mut [(i32, u8)]) {
    let mut best = 0;
    for place in 1..orders.len() {
        if orders[place].0 > orders[best].0 {
            best = place;
        }
    }
    orders.swap(0, best);
}

const fn is_odd(stones: u32) -> bool {
    stones % 2 == 1
}
