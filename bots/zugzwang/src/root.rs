//! The search from the root: what is decided at once, iterative deepening, and exact
//! solutions.

use search_team::RootProgress;

use crate::{
    answer::ConnectFourSearchResult,
    board::{Geometry, Stones},
    forced::{Attack, ForcedWin},
    idea::ConnectFourIdea,
    limit::Limit,
    position::ConnectFourPosition,
    score::{INFINITE, Proven, is_loss, is_win, win_at},
    search::{
        DEEPEST, DeferredMoves, Joint, ROOT_FORCED_NODES, ROOT_FORCED_PLIES, Reached, SearchNode,
        SearchRun, Searcher, Searching, forced_share,
    },
    shape::BoardShape,
    table::{NO_CELL, ScoreTable},
    terms::{Terms, terms},
    word::Word,
};

/// The window around the score of the last iteration.
const ASPIRATION: i32 = 60;
/// The longest line that is told.
const LONGEST_LINE: usize = 40;

impl<W: Word, const S: u32> Searching for Searcher<W, S> {
    fn shape(&self) -> BoardShape {
        self.geometry().shape
    }

    fn search(
        &mut self,
        joint: Joint<'_>,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> ConnectFourSearchResult {
        let board = position.board::<W, S>();
        let node = self.root(board);
        let (moves, decided) = self.at_once(&node);
        if let Some((index, proven)) = decided {
            return answer::<W, S>(index, &proven, node.stones, 1);
        }
        if !moves.has_two() {
            let column = Geometry::<W, S>::cell(moves.lowest()).column;
            return ConnectFourSearchResult {
                column,
                value: self
                    .evaluation
                    .value(board, node.stones, node.wins, node.windows),
                proven: None,
                depth: 0,
                nodes: 1,
                line: vec![column],
            };
        }
        let budget = match self.without.has(ConnectFourIdea::Forced) {
            true => 0,
            // Three quarters of the positions or more are left for the other search.
            false => ROOT_FORCED_NODES.min(limit.most_nodes().saturating_sub(1)),
        };
        let mut is_late = false;
        let (found, nodes) = self.shortest_forced(&node, ROOT_FORCED_PLIES, budget, || {
            is_late = limit.is_out_of_time();
            is_late
        });
        if let Some(found) = found {
            let plies = found.end - node.stones;
            let proven = Proven::Win { plies };
            return answer::<W, S>(found.index, &proven, node.stones, forced_share(nodes));
        }
        let mut run = self.run(joint.table, limit, board, false, joint.team);
        run.nodes = forced_share(nodes);
        run.stopped = is_late;
        run.deepen(&node, moves, joint.progress)
    }

    fn help(&mut self, joint: Joint<'_>, position: &ConnectFourPosition, limit: &Limit<'_>) -> u64 {
        let board = position.board::<W, S>();
        let node = self.root(board);
        let (moves, decided) = self.at_once(&node);
        if decided.is_some() || !moves.has_two() {
            return 0;
        }
        let mut run = self.run(joint.table, limit, board, false, joint.team);
        run.deepen(&node, moves, joint.progress).nodes
    }

    fn solve(
        &mut self,
        table: &ScoreTable,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> Option<Proven> {
        let board = position.board::<W, S>();
        let node = self.root(board);
        if let (_, Some((_, proven))) = self.at_once(&node) {
            return Some(proven);
        }
        let room = self.geometry().shape.room();
        if node.stones == room {
            return Some(Proven::Draw);
        }
        let mut run = self.run(table, limit, board, true, None);
        // The number of free cells after the end, plus 1, with the sign of the result.
        let score = |rank: i32| match rank.signum() {
            0 => 0,
            sign => sign * win_at(room + 1 - rank.unsigned_abs()),
        };
        let most = (room - node.stones) as i32;
        let (mut low, mut high) = (-most, most);
        while low < high {
            // Near 0 first: those bounds are the cheapest to prove.
            let middle = low + (high - low).div_euclid(2);
            let middle = if middle <= 0 && low / 2 < middle {
                low / 2
            } else if middle >= 0 && high / 2 > middle {
                high / 2
            } else {
                middle
            };
            let alpha = score(middle);
            let found = run.node(&node, alpha, alpha + 1, DEEPEST, 0);
            if run.stopped {
                return None;
            }
            if found <= alpha {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(Proven::of(score(low), node.stones).unwrap_or(Proven::Draw))
    }

    fn forced_win(
        &mut self,
        position: &ConnectFourPosition,
        plies: u32,
        nodes: u64,
    ) -> Option<(u8, u32)> {
        let node = self.root(position.board::<W, S>());
        let (_, decided) = self.at_once(&node);
        match decided {
            Some((index, Proven::Win { plies })) => {
                return Some((Geometry::<W, S>::cell(index).column, plies));
            }
            Some(_) => return None,
            None => {}
        }
        let (found, _) = self.shortest_forced(&node, plies, nodes, || false);
        found.map(|found| {
            let column = Geometry::<W, S>::cell(found.index).column;
            (column, found.end - node.stones)
        })
    }

    fn evaluate(&self, position: &ConnectFourPosition) -> i32 {
        let node = self.root(position.board::<W, S>());
        self.evaluation
            .value(node.board, node.stones, node.wins, node.windows)
    }

    fn terms(&self, position: &ConnectFourPosition) -> Option<Terms> {
        terms(&self.evaluation.ground, position.board::<W, S>())
    }

    fn leaves(&self, position: &ConnectFourPosition, plies: u32) -> u64 {
        self.leaves_of(position.board::<W, S>(), plies)
    }
}

impl<W: Word, const S: u32> Searcher<W, S> {
    /// The moves that are worth a search; or what is decided at once, with a move.
    fn at_once(&self, node: &SearchNode<W>) -> (W, Option<(u32, Proven)>) {
        let geometry = self.geometry();
        let landings = geometry.landings(geometry.taken(node.board));
        let wins = node.wins.own & landings;
        if !wins.is_empty() {
            return (wins, Some((wins.lowest(), Proven::Win { plies: 1 })));
        }
        let threats = node.wins.other & landings;
        let mut moves = landings & !geometry.supports(node.wins.other);
        if !threats.is_empty() {
            moves &= threats;
        }
        if landings.is_empty() || !moves.is_empty() && !threats.has_two() {
            return (moves, None);
        }
        // All moves lose. An opponent who overlooks something might overlook one threat.
        let first = if threats.is_empty() {
            landings
        } else {
            threats
        };
        (moves, Some((first.lowest(), Proven::Loss { plies: 2 })))
    }

    /// The shortest win by force, and how many positions the search for it has looked at.
    /// Before it looks for longer ones, it asks `stop`.
    fn shortest_forced(
        &mut self,
        node: &SearchNode<W>,
        plies: u32,
        budget: u64,
        mut stop: impl FnMut() -> bool,
    ) -> (Option<ForcedWin>, u64) {
        let attack = Attack {
            board: node.board,
            wins: node.wins,
            hash: node.hash,
            stones: node.stones,
        };
        let mut nodes = 0;
        for plies in (3..=plies).step_by(2) {
            let left = budget - nodes;
            let (found, looked_at) = self.forced.find(&self.zobrist, attack, plies, left);
            nodes += looked_at;
            if found.is_some() || looked_at == left || stop() {
                return (found, nodes);
            }
        }
        (None, nodes)
    }

    fn leaves_of(&self, board: Stones<W>, plies: u32) -> u64 {
        let geometry = self.geometry();
        let taken = geometry.taken(board);
        let landings = geometry.landings(taken);
        match plies {
            0 => 1,
            1 => landings.count().into(),
            _ => {
                let wins = geometry.wins(board.own, taken);
                let moves = (landings & !wins).bits();
                moves
                    .map(|index| self.leaves_of(board.after(W::bit(index)), plies - 1))
                    .sum()
            }
        }
    }
}

impl<W: Word, const S: u32> SearchRun<'_, W, S> {
    /// Searches deeper and deeper until a limit is reached or the game is decided. All threads search to
    /// the same depth; when one of them has done so, all go on with the next.
    fn deepen(
        &mut self,
        root: &SearchNode<W>,
        moves: W,
        progress: &RootProgress<Reached>,
    ) -> ConnectFourSearchResult {
        let mut first: Vec<u32> = moves.bits().collect();
        let promise = |run: &Self, index: u32| {
            let candidate = run.candidate(root, index);
            run.order(root, &candidate, 0)
        };
        first.sort_by_key(|&index| -promise(self, index));
        // Moves that are searched less deeply come to the end of the game only at depths
        // beyond its length.
        let remaining = (self.searcher.geometry().shape.room() - root.stones) as i32;
        let most = (4 * remaining).min(DEEPEST - 10);
        let most = self
            .limit
            .depth
            .map_or(most, |depth| most.min(depth.into()));
        let (order, value, reached) = loop {
            // A thread that was overtaken goes on where the others are.
            let (
                finished,
                Reached {
                    mut order,
                    mut value,
                },
            ) = progress.now();
            if order.is_empty() {
                order = first.clone();
            }
            let depth = finished as i32 + 1;
            if depth > most || is_win(value) || is_loss(value) {
                break (order, value, finished);
            }
            self.finished = finished;
            let mut window = if depth < 4 {
                [-INFINITE, INFINITE]
            } else {
                [value - ASPIRATION, value + ASPIRATION]
            };
            let score = loop {
                let score = self.first_ply(root, &mut order, window, depth, progress);
                match score {
                    Some(score) if score <= window[0] && !self.stopped => window[0] = -INFINITE,
                    Some(score) if score >= window[1] && !self.stopped => window[1] = INFINITE,
                    _ => break score,
                }
            };
            if let Some(score) = score {
                value = score;
            }
            if !self.stopped {
                if progress.finish(finished, Reached { order, value })
                    && let Some(team) = self.team
                {
                    team.announce(finished + 1);
                }
            } else if self.is_behind()
                && !self.limit.is_out_of_time()
                && self.nodes < self.most_nodes
            {
                self.stopped = false;
            } else {
                // Another thread may have come further.
                let (now, known) = progress.now();
                let further = (now > finished).then_some(known);
                if let Some(best) = progress.so_far(now).or(further) {
                    Reached { order, value } = best;
                }
                break (order, value, now);
            }
        };
        ConnectFourSearchResult {
            column: Geometry::<W, S>::cell(order[0]).column,
            value,
            proven: Proven::of(value, root.stones),
            depth: reached as u32,
            nodes: self.nodes,
            line: self.line(root, order[0]),
        }
    }

    /// Searches all moves of the root and moves the best to the front; its score, or
    /// nothing if the search was stopped before any move was found to be the best.
    fn first_ply(
        &mut self,
        root: &SearchNode<W>,
        order: &mut [u32],
        [mut alpha, beta]: [i32; 2],
        depth: i32,
        progress: &RootProgress<Reached>,
    ) -> Option<i32> {
        let first_alpha = alpha;
        let mut best = None;
        let looks = order.to_vec();
        let mut number = 0;
        let mut left = DeferredMoves::default();
        loop {
            let is_first_look = number < looks.len();
            let place = if is_first_look {
                number += 1;
                number - 1
            } else if let Some(place) = left.next() {
                place
            } else {
                break;
            };
            let index = looks[place];
            let candidate = self.candidate(root, index);
            let next = self.after(root, &candidate);
            if !self.claims(&next, depth, is_first_look && place > 0) {
                left.leave(place);
                continue;
            }
            let score = self.try_move(&next, place, [alpha, beta], depth, 0);
            self.releases(&next, depth);
            if self.stopped {
                return best.filter(|&best| best > first_alpha);
            }
            if best.is_none_or(|best| score > best) {
                best = Some(score);
                if score > alpha {
                    let now = order.iter().position(|&it| it == index);
                    order[..=now.unwrap_or(0)].rotate_right(1);
                    if self.team.is_some() {
                        let order = order.to_vec();
                        let found = Reached {
                            order,
                            value: score,
                        };
                        progress.find(self.finished, score, found);
                    }
                }
            }
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    /// The best moves of both sides, as far as the table knows them.
    fn line(&self, root: &SearchNode<W>, first: u32) -> Vec<u8> {
        let mut node = *root;
        let mut line = Vec::new();
        let mut next = first;
        loop {
            line.push(Geometry::<W, S>::cell(next).column);
            if W::bit(next).meets(node.wins.own) || line.len() == LONGEST_LINE {
                return line;
            }
            let candidate = self.candidate(&node, next);
            node = self.after(&node, &candidate);
            let geometry = self.searcher.geometry();
            let landings = geometry.landings(geometry.taken(node.board));
            let threats = node.wins.other & landings;
            let wins = node.wins.own & landings;
            let (key, is_mirrored) = self.key(node.hash);
            next = if !wins.is_empty() {
                wins.lowest()
            } else if !threats.is_empty() {
                threats.lowest()
            } else {
                let known = self.table.get(key).map_or(NO_CELL, |entry| entry.cell);
                match self.seen_from(known, is_mirrored) {
                    NO_CELL => return line,
                    cell if W::bit(cell.into()).meets(landings) => cell.into(),
                    _ => return line,
                }
            };
        }
    }
}

fn answer<W: Word, const S: u32>(
    index: u32,
    proven: &Proven,
    stones: u32,
    nodes: u64,
) -> ConnectFourSearchResult {
    let column = Geometry::<W, S>::cell(index).column;
    let (value, plies) = match *proven {
        Proven::Win { plies } => (win_at(stones + plies), plies),
        Proven::Loss { plies } => (-win_at(stones + plies), plies),
        Proven::Draw => (0, 0),
    };
    ConnectFourSearchResult {
        column,
        value,
        proven: Some(*proven),
        depth: plies,
        nodes,
        line: vec![column],
    }
}
