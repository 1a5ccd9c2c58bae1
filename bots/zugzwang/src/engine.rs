//! The engine: one search after another, each of which uses what the earlier ones found.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
};

use search_team::{RootProgress, Team};

use crate::{
    answer::ConnectFourSearchResult,
    idea::{ConnectFourIdea, ConnectFourIdeas},
    limit::Limit,
    position::ConnectFourPosition,
    score::Proven,
    search::{Joint, Reached, Searcher, Searching},
    shape::BoardShape,
    table::ScoreTable,
    terms::Terms,
    weights::EvaluationWeights,
    word::U192,
};

/// The options of an engine.
#[derive(Clone, Debug)]
pub struct ConnectFourEngineOptions {
    /// The size of the table in MiB.
    pub table: usize,
    /// The weights of the terms of the evaluation.
    pub weights: EvaluationWeights,
    /// Largest error of an evaluation, in its own unit: 0 for the best play, 256 for a beginner's.
    pub blur: u16,
    /// The seed that decides by how much each is off.
    pub seed: u64,
    /// The ideas that it does without, for measurements.
    pub without: ConnectFourIdeas,
    /// Number of threads that search. With more than one the same search may give another answer.
    pub threads: NonZeroUsize,
}

impl Default for ConnectFourEngineOptions {
    /// 16 MiB, the weights that were learned, no errors, every idea, one thread.
    fn default() -> Self {
        Self {
            table: 16,
            weights: EvaluationWeights::learned(),
            blur: 0,
            seed: 0,
            without: ConnectFourIdeas::default(),
            threads: NonZeroUsize::MIN,
        }
    }
}

/// The engine. What it has found out about a position it keeps for the next search.
pub struct ConnectFourEngine {
    options: ConnectFourEngineOptions,
    table: ScoreTable,
    /// One for each thread, for boards of one shape; none before the first search.
    searchers: Vec<Box<dyn Searching>>,
}

/// The position leaves nothing to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the game is over")]
pub struct GameIsOver;

impl ConnectFourEngine {
    /// An engine with an empty table.
    #[must_use]
    pub fn new(options: ConnectFourEngineOptions) -> Self {
        Self {
            table: ScoreTable::new(options.table),
            options,
            searchers: Vec::new(),
        }
    }

    /// Forgets what it has found out.
    pub fn clear(&mut self) {
        self.table.clear();
        self.searchers.clear();
    }

    /// The best move that is found within the limit.
    ///
    /// # Errors
    ///
    /// The game is over.
    pub fn search(
        &mut self,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> Result<ConnectFourSearchResult, GameIsOver> {
        if position.is_won() || position.is_full() {
            return Err(GameIsOver);
        }
        if self.options.without.has(ConnectFourIdea::Reuse) {
            self.clear();
        }
        self.table.grow_older();
        let (searchers, table) = self.parts(position.shape());
        let Some((own, helpers)) = searchers.split_first_mut() else {
            unreachable!("there is at least one thread");
        };
        let team = (!helpers.is_empty()).then(Team::new);
        let joint = Joint {
            table,
            team: team.as_ref(),
            progress: &RootProgress::new(Reached::default()),
        };
        if helpers.is_empty() {
            return Ok(own.search(joint, position, limit));
        }
        let stop = AtomicBool::new(false);
        let nodes = AtomicU64::new(0);
        let mut answer = thread::scope(|scope| {
            for helper in helpers.iter_mut() {
                let (stop, nodes, depth) = (&stop, &nodes, limit.depth);
                scope.spawn(move || {
                    let limit = Limit {
                        depth,
                        ..Limit::flag(stop)
                    };
                    let looked_at = helper.help(joint, position, &limit);
                    nodes.fetch_add(looked_at, Relaxed);
                });
            }
            let answer = own.search(joint, position, limit);
            stop.store(true, Relaxed);
            answer
        });
        answer.nodes += nodes.into_inner();
        Ok(answer)
    }

    /// The end of the game if both sides play perfectly: the winner as soon, the loser as late as
    /// possible. Nothing if the limit is reached before that is known.
    ///
    /// # Errors
    ///
    /// The game is won already.
    pub fn solve(
        &mut self,
        position: &ConnectFourPosition,
        limit: &Limit<'_>,
    ) -> Result<Option<Proven>, GameIsOver> {
        if position.is_won() {
            return Err(GameIsOver);
        }
        self.table.grow_older();
        let (searcher, table) = self.one(position.shape());
        Ok(searcher.solve(table, position, limit))
    }

    /// The shortest win within so many plies by stones that must each be answered at once:
    /// its first column and how many plies it takes. Nothing if there is none, or if it
    /// was not found among so many positions.
    pub fn forced_win(
        &mut self,
        position: &ConnectFourPosition,
        plies: u32,
        nodes: u64,
    ) -> Option<(u8, u32)> {
        if position.is_won() || position.is_full() {
            return None;
        }
        let (searcher, _) = self.one(position.shape());
        searcher.forced_win(position, plies, nodes)
    }

    /// The value for the side to move without any search, in 1/256 of the logarithm of its
    /// odds to win. It is meant for positions in which neither side can win with its next
    /// stone.
    pub fn evaluate(&mut self, position: &ConnectFourPosition) -> i32 {
        self.one(position.shape()).0.evaluate(position)
    }

    /// The terms that [`ConnectFourEngine::evaluate`] weighs; none where a side can win with its next
    /// stone.
    pub fn terms(&mut self, position: &ConnectFourPosition) -> Option<Terms> {
        self.one(position.shape()).0.terms(position)
    }

    /// Number of sequences of so many plies that lead on from a position. A game that has ended
    /// before leads to none.
    pub fn leaves(&mut self, position: &ConnectFourPosition, plies: u32) -> u64 {
        self.one(position.shape()).0.leaves(position, plies)
    }

    /// The searches on boards of this shape, one for each thread, and the table.
    fn parts(&mut self, shape: BoardShape) -> (&mut [Box<dyn Searching>], &ScoreTable) {
        if self.searchers.first().is_none_or(|it| it.shape() != shape) {
            let threads = 0..self.options.threads.get();
            self.searchers = threads.map(|_| searcher(shape, &self.options)).collect();
        }
        (&mut self.searchers, &self.table)
    }

    fn one(&mut self, shape: BoardShape) -> (&mut dyn Searching, &ScoreTable) {
        let (searchers, table) = self.parts(shape);
        (&mut *searchers[0], table)
    }
}

/// The search with the smallest layout that the board fits in.
fn searcher(shape: BoardShape, options: &ConnectFourEngineOptions) -> Box<dyn Searching> {
    match (shape.rows(), shape.columns()) {
        (..=9, _) => Box::new(Searcher::<u128, 10>::new(shape, options)),
        (10, ..=11) => Box::new(Searcher::<u128, 11>::new(shape, options)),
        (11, ..=10) => Box::new(Searcher::<u128, 12>::new(shape, options)),
        (12, ..=9) => Box::new(Searcher::<u128, 13>::new(shape, options)),
        _ => Box::new(Searcher::<U192, 13>::new(shape, options)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{board::Geometry, shape::BoardCell};

    fn joint<'a>(
        table: &'a ScoreTable,
        team: &'a Team,
        progress: &'a RootProgress<Reached>,
    ) -> Joint<'a> {
        Joint {
            table,
            team: Some(team),
            progress,
        }
    }

    fn reached() -> RootProgress<Reached> {
        RootProgress::new(Reached::default())
    }

    fn beginning() -> (BoardShape, ConnectFourPosition) {
        let shape = BoardShape::new(9, 9, None).expect("it is possible");
        let position = ConnectFourPosition::after(shape, &[4, 4, 3, 5]);
        (shape, position.expect("it is possible"))
    }

    #[test]
    fn a_search_uses_what_a_helper_has_found() {
        let (shape, position) = beginning();
        let options = ConnectFourEngineOptions::default();
        let limit = Limit::depth(10);
        let table = ScoreTable::new(2);
        let (team, progress) = (Team::new(), reached());
        let helped =
            searcher(shape, &options).help(joint(&table, &team, &progress), &position, &limit);
        assert_eq!(progress.now().0, 10);
        // With the helper's progress nothing is left to do, and with its table alone little is.
        let own = |team: &Team, progress: &RootProgress<Reached>| {
            let mut own = searcher(shape, &options);
            own.search(joint(&table, team, progress), &position, &limit)
        };
        let rest = own(&team, &progress);
        let again = own(&Team::new(), &reached());
        assert_eq!((rest.depth, again.depth), (10, 10));
        assert!(rest.nodes < again.nodes);
        assert!(again.nodes < helped / 2, "{} after {helped}", again.nodes);
    }

    #[test]
    fn a_search_that_ends_takes_the_best_that_any_thread_has_found() {
        let (shape, position) = beginning();
        let stop = AtomicBool::new(true);
        let (table, team, progress) = (ScoreTable::new(2), Team::new(), reached());
        let own = || {
            let joint = joint(&table, &team, &progress);
            let mut own = searcher(shape, &ConnectFourEngineOptions::default());
            own.search(joint, &position, &Limit::flag(&stop)).column
        };
        let edge = BoardCell { column: 8, row: 0 };
        assert_ne!(own(), edge.column);
        let found = Reached {
            order: vec![Geometry::<u128, 10>::index(edge)],
            value: 30,
        };
        progress.find(0, found.value, found);
        assert_eq!(own(), edge.column);
    }
}
