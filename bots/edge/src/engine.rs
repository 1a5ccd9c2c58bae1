//! The engine: what it is asked and what it answers.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use search_team::{RootProgress, Team};

use crate::{
    board::Discs,
    cpu::Cpu,
    eval::FeaturedBoard,
    idea::OthelloIdea,
    search::{EXACT, Ends, RootMove, SearchDepth, StopConditions, ThreadSearch},
    square::Square,
    table::{BoundsTable, hash_of},
    weights::{BadWeights, DISC, PatternWeights},
    with_best_cpu,
};

/// The options of an engine.
#[derive(Clone)]
pub struct OthelloEngineOptions {
    /// The size of the table of positions: at most so many bytes, rounded down to a power of
    /// two of cache lines.
    pub table_bytes: usize,
    /// Number of threads that search. With more than one, results depend on timing.
    pub threads: NonZeroUsize,
    /// The weights of the evaluation; none for those that come with the crate.
    pub weights: Option<Arc<PatternWeights>>,
    /// An idea that it does without, to measure what that is worth.
    pub without: Option<OthelloIdea>,
}

impl Default for OthelloEngineOptions {
    fn default() -> Self {
        Self {
            table_bytes: 64 << 20,
            threads: NonZeroUsize::MIN,
            weights: None,
            without: None,
        }
    }
}

/// The limits of a search. Whatever is not set does not limit it; a search without limits is to
/// the end of the game and exact.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimit {
    /// The greatest depth in plies. Where so many are left to the end of the game, the search is to
    /// the end.
    pub depth: Option<u32>,
    /// Number of positions that it looks at, for each thread, give or take a few.
    pub nodes: Option<u64>,
    /// The latest time of the answer; the engine is late by less than a millisecond where the
    /// machine is not busy.
    pub deadline: Option<Instant>,
    /// True if no line is cut because it most likely doesn't matter.
    pub uncut: bool,
}

impl SearchLimit {
    /// A search to this depth in plies. The same engine finds the same.
    #[must_use]
    pub fn depth(plies: u32) -> Self {
        Self {
            depth: Some(plies),
            ..Self::default()
        }
    }

    /// A search of so many positions. The same engine finds the same.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self {
            nodes: Some(nodes),
            ..Self::default()
        }
    }

    /// A search for so long from now.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        Self {
            deadline: Instant::now().checked_add(time),
            ..Self::default()
        }
    }
}

/// The certainty of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// An evaluation of positions before the end of the game.
    Guess,
    /// From a search to the end that cut lines which most likely don't matter: right in so
    /// many of a hundred cuts.
    Likely(u8),
    /// The result of best play by both sides.
    Exact,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OthelloSearchResult {
    /// The best move; none where the side to move has none.
    pub square: Option<Square>,
    /// The score in discs for the side to move: of the end of the game, empty squares given to
    /// the winner.
    pub score: i32,
    /// The depth of the last finished search in plies.
    pub depth: u32,
    /// The certainty of the score.
    pub exactness: Exactness,
    /// Number of positions that all threads looked at.
    pub nodes: u64,
    /// The moves that best play is expected to begin with, passes left out.
    pub line: Vec<Square>,
}

/// The exact result of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The score in discs for the side to move: empty squares given to the winner.
    pub score: i32,
    /// Every move that leads to it, in the order of the squares.
    pub best: Vec<Square>,
    /// Number of positions that were looked at.
    pub nodes: u64,
}

/// The score of one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The move.
    pub square: Square,
    /// The score in discs for who makes it.
    pub score: i32,
    /// The certainty of the score.
    pub exactness: Exactness,
}

/// An engine. It remembers positions from one search to the next.
pub struct OthelloEngine {
    weights: Arc<PatternWeights>,
    table: BoundsTable,
    ends: Vec<Ends>,
    without: Option<OthelloIdea>,
}

impl OthelloEngine {
    /// A new engine.
    ///
    /// # Errors
    ///
    /// [`BadWeights`] if no weights are given and those of the crate don't fit it.
    pub fn new(options: OthelloEngineOptions) -> Result<Self, BadWeights> {
        crate::search::prepare();
        Ok(Self {
            weights: match (options.without, options.weights) {
                (Some(OthelloIdea::Patterns), _) => Arc::new(PatternWeights::mobility()),
                (_, Some(weights)) => weights,
                (_, None) => PatternWeights::embedded()?,
            },
            table: BoundsTable::new(
                options.table_bytes,
                options.without != Some(OthelloIdea::Table),
            ),
            ends: (0..options.threads.get()).map(|_| Ends::new()).collect(),
            without: options.without,
        })
    }

    /// Forgets all positions: the next search finds what a new engine would.
    pub fn clear(&mut self) {
        self.table.clear();
        self.ends.fill_with(Ends::new);
    }

    /// The evaluation without a search, in discs for the side to move.
    #[must_use]
    pub fn evaluate(&self, board: Discs) -> f64 {
        let position = FeaturedBoard::new(board);
        let fine = |value| f64::from(value) / f64::from(DISC);
        with_best_cpu!(cpu => fine(position.fine_value(cpu, &self.weights)))
    }

    /// Searches for the best move within this limit.
    pub fn search(&mut self, board: Discs, limit: SearchLimit) -> OthelloSearchResult {
        self.search_until(board, limit, &AtomicBool::new(false))
    }

    /// The same, but that the search also ends when this is set, late by less than a millisecond
    /// where the machine is not busy.
    pub fn search_until(
        &mut self,
        board: Discs,
        limit: SearchLimit,
        stop: &AtomicBool,
    ) -> OthelloSearchResult {
        with_best_cpu!(cpu => self.search_on(cpu, board, limit, stop))
    }

    /// The exact score and every best move, however long it takes.
    pub fn solve(&mut self, board: Discs) -> Solution {
        with_best_cpu!(cpu => self.solve_on(cpu, board))
    }

    /// The score of every legal move, the best one first; exact where the limit allows it.
    /// Moves are scored again and again, deeper each time, and moves that there was no time
    /// for keep the score of the time before.
    pub fn scores(&mut self, board: Discs, limit: SearchLimit) -> Vec<Scored> {
        with_best_cpu!(cpu => self.scores_on(cpu, board, limit))
    }

    fn search_on<C: Cpu>(
        &mut self,
        cpu: C,
        board: Discs,
        limit: SearchLimit,
        outside: &AtomicBool,
    ) -> OthelloSearchResult {
        if board.moves() == 0 {
            return self.without_move(cpu, board, limit, outside);
        }
        self.table.grow_older();
        let flag = AtomicBool::new(false);
        let stop = &StopConditions {
            deadline: limit.deadline,
            nodes: limit.nodes,
            flags: [&flag, outside],
        };
        let (weights, table, without) = (&*self.weights, &self.table, self.without);
        let lines = &lines(board, limit, without);
        let Some((own_ends, helpers)) = self.ends.split_first_mut() else {
            unreachable!("there is at least one thread");
        };
        let team = (!helpers.is_empty()).then(Team::new);
        let search_in =
            |ends| ThreadSearch::new(cpu, weights, table, ends, stop, team.as_ref(), without);
        let mut own = search_in(own_ends);
        let progress = &RootProgress::new(unsearched(own.root_moves(board)));
        let nodes = AtomicU64::new(0);
        let (moves, found) = thread::scope(|scope| {
            for ends in helpers {
                scope.spawn(|| {
                    let mut search = search_in(ends);
                    deepen(&mut search, board, lines, progress);
                    nodes.fetch_add(search.nodes(), Relaxed);
                });
            }
            let found = deepen(&mut own, board, lines, progress);
            flag.store(true, Relaxed);
            found
        });
        let nodes = nodes.into_inner() + own.nodes();
        let square = moves.first().map(|root| root.square);
        OthelloSearchResult {
            square,
            score: found.score,
            depth: found.line.depth,
            exactness: exactness(board, found.line),
            nodes,
            line: square.map_or_else(Vec::new, |square| expected_line(table, board, square)),
        }
    }

    /// The game is over, or the side to move passes.
    fn without_move<C: Cpu>(
        &mut self,
        cpu: C,
        board: Discs,
        limit: SearchLimit,
        outside: &AtomicBool,
    ) -> OthelloSearchResult {
        let passed = board.pass();
        if passed.moves() == 0 {
            return OthelloSearchResult {
                square: None,
                score: board.final_score(),
                depth: 0,
                exactness: Exactness::Exact,
                nodes: 0,
                line: Vec::new(),
            };
        }
        let answer = self.search_on(cpu, passed, limit, outside);
        OthelloSearchResult {
            square: None,
            score: -answer.score,
            ..answer
        }
    }

    fn solve_on<C: Cpu>(&mut self, cpu: C, board: Discs) -> Solution {
        let flag = AtomicBool::new(false);
        let found = self.search_on(cpu, board, SearchLimit::default(), &flag);
        let stop = StopConditions {
            deadline: None,
            nodes: None,
            flags: [&flag; 2],
        };
        let ends = &mut self.ends[0];
        let mut search = ThreadSearch::new(
            cpu,
            &self.weights,
            &self.table,
            ends,
            &stop,
            None,
            self.without,
        );
        let mut best: Vec<Square> = search
            .root_moves(board)
            .into_iter()
            .filter(|root| search.reaches(root, found.score))
            .map(|root| root.square)
            .collect();
        best.sort_unstable();
        Solution {
            score: found.score,
            best,
            nodes: found.nodes + search.nodes(),
        }
    }

    fn scores_on<C: Cpu>(&mut self, cpu: C, board: Discs, limit: SearchLimit) -> Vec<Scored> {
        self.table.grow_older();
        let flag = AtomicBool::new(false);
        let stop = StopConditions {
            deadline: limit.deadline,
            nodes: limit.nodes,
            flags: [&flag; 2],
        };
        let ends = &mut self.ends[0];
        let mut search = ThreadSearch::new(
            cpu,
            &self.weights,
            &self.table,
            ends,
            &stop,
            None,
            self.without,
        );
        let moves = search.root_moves(board);
        let mut scores: Vec<Scored> = moves
            .iter()
            .map(|root| Scored {
                square: root.square,
                score: root.value,
                exactness: Exactness::Guess,
            })
            .collect();
        'lines: for line in lines(board, limit, self.without) {
            for (root, scored) in moves.iter().zip(&mut scores) {
                let Some(score) = search.value_after(root, line, scored.score) else {
                    break 'lines;
                };
                scored.score = score;
                scored.exactness = exactness(board, line);
            }
        }
        scores.sort_by_key(|scored| -scored.score);
        scores
    }
}

/// A finished search.
#[derive(Clone, Copy)]
struct FinishedSearch {
    score: i32,
    line: SearchDepth,
}

/// The moves as a search left them, the best one first, and what it found.
type Searched = (Vec<RootMove>, FinishedSearch);

/// The result before the first search.
fn unsearched(moves: Vec<RootMove>) -> Searched {
    let found = FinishedSearch {
        score: moves.first().map_or(0, |root| root.value),
        line: SearchDepth {
            depth: 0,
            selectivity: EXACT,
        },
    };
    (moves, found)
}

/// Searches these lines one after the other until it is stopped. All threads search the same
/// line; when one of them has finished it, all go on with the next.
fn deepen<C: Cpu>(
    search: &mut ThreadSearch<'_, C>,
    board: Discs,
    lines: &[SearchDepth],
    progress: &RootProgress<Searched>,
) -> Searched {
    loop {
        let (number, (mut moves, found)) = progress.now();
        let Some(&line) = lines.get(number) else {
            return (moves, found);
        };
        search.begin(number);
        // The moves as they are, when one is found that is better than those before.
        let mut tell = |value: i32, moves: &[RootMove]| {
            progress.find(number, value, (moves.to_vec(), found));
        };
        match search.iterate(board, &mut moves, line, found.score, &mut tell) {
            Some(score) => {
                if progress.finish(number, (moves, FinishedSearch { score, line })) {
                    search.announce(number + 1);
                }
            }
            None if search.is_behind() => {}
            // What another thread has found may be better.
            None => return progress.so_far(number).unwrap_or((moves, found)),
        }
    }
}

/// The searches that lead up to this limit: deeper and deeper, then to the end of the game
/// and more and more careful.
fn lines(board: Discs, limit: SearchLimit, without: Option<OthelloIdea>) -> Vec<SearchDepth> {
    let uncut = limit.uncut || without == Some(OthelloIdea::Mpc);
    let empties = board.empties();
    let depth = limit
        .depth
        .map_or(empties, |depth| depth.clamp(1, empties.max(1)));
    let middle = if depth < empties {
        depth
    } else {
        empties.saturating_sub(match without {
            Some(OthelloIdea::Solver) => 1,
            _ => BEFORE_THE_END,
        })
    };
    let mut lines: Vec<SearchDepth> = (1..=middle)
        .map(|depth| SearchDepth {
            depth,
            selectivity: if depth <= CAREFUL || uncut { EXACT } else { 0 },
        })
        .collect();
    if depth >= empties {
        let levels: &[u8] = if empties <= SOLVED_AT_ONCE || uncut {
            &[EXACT]
        } else if limit.deadline.is_none() && limit.nodes.is_none() {
            &[0, EXACT]
        } else {
            &[0, 1, 2, 3, 4, EXACT]
        };
        lines.extend(levels.iter().map(|&selectivity| SearchDepth {
            depth: empties,
            selectivity,
        }));
    }
    lines
}

/// By how many plies the last search before those to the end is shallower.
const BEFORE_THE_END: u32 = 10;
/// Searches this deep in the middle of the game cut nothing.
const CAREFUL: u32 = 5;
/// With so many empty squares, all searches to the end are exact.
const SOLVED_AT_ONCE: u32 = 13;

fn exactness(board: Discs, line: SearchDepth) -> Exactness {
    const LIKELY: [u8; EXACT as usize] = [73, 87, 95, 99, 99];
    match LIKELY.get(usize::from(line.selectivity)) {
        _ if line.depth < board.empties() => Exactness::Guess,
        Some(&likely) => Exactness::Likely(likely),
        None => Exactness::Exact,
    }
}

/// This move and what the table says follows it.
fn expected_line(table: &BoundsTable, mut board: Discs, first: Square) -> Vec<Square> {
    let mut line = Vec::new();
    let mut next = Some(first);
    while let Some(after) = next.and_then(|square| board.play(square)) {
        line.extend(next);
        board = after;
        if board.moves() == 0 {
            board = board.pass();
        }
        next = table
            .get(hash_of(board))
            .and_then(|known| Square::new(known.moves[0]));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Portable;

    #[test]
    fn a_search_that_ends_takes_the_best_that_any_thread_has_found() {
        let weights = PatternWeights::embedded().expect("the tests of the weights read them");
        let (table, mut ends, team) = (BoundsTable::new(1 << 20, true), Ends::new(), Team::new());
        let flag = AtomicBool::new(true);
        let stop = StopConditions {
            deadline: None,
            nodes: None,
            flags: [&flag; 2],
        };
        let mut search = ThreadSearch::new(
            Portable,
            &weights,
            &table,
            &mut ends,
            &stop,
            Some(&team),
            None,
        );
        let (moves, found) = unsearched(search.root_moves(Discs::START));
        let progress = RootProgress::new((moves.clone(), found));
        let lines = [SearchDepth {
            depth: 9,
            selectivity: EXACT,
        }];
        let mut first = || {
            let (moves, _) = deepen(&mut search, Discs::START, &lines, &progress);
            moves[0].square
        };
        assert_eq!(first(), moves[0].square);
        let mut better = moves.clone();
        better.rotate_left(1);
        progress.find(0, 2, (better.clone(), found));
        assert_eq!(first(), better[0].square);
    }
}
