//! The shares of the points that the players of a game can expect, worked out on the thread that
//! asks.

use std::sync::Arc;

use arena_review::{ExpectedScore, InProcessBot, PositionJudge, course, is_sure};
use referee_core::{GameInfo, PerSeat, Record, Root, Seat};
use referee_games::game;

use crate::error::PageError;

/// So many playouts a game gets in all, and at most so many of them in one search.
const PLAYOUTS: usize = 60_000;
const MOST: usize = 100;
/// A move that cost so much of the points turned a game, where that is no accident.
const TURNED: f64 = 0.15;
/// So many moves are said to have turned a game.
const TURNS: usize = 6;

/// Chooses a bot for a game, and gives its name with it; none where there is none for this game.
pub type ChooseBot =
    Arc<dyn Fn(&GameInfo) -> Option<(String, Arc<dyn InProcessBot>)> + Send + Sync>;

/// The shares of the points that the seats could expect before each move, and that they got.
pub(crate) struct Course {
    pub(crate) plies: Vec<PerSeat<ExpectedScore>>,
    /// The bot whose estimates they are; none where positions were searched by random playouts.
    pub(crate) by: Option<String>,
}

/// A move that cost its seat much of what it could expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// Which move, from 1.
    pub(crate) ply: usize,
    pub(crate) seat: Seat,
    /// The shares of the points that the seat could expect before and after it.
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Course {
    /// The moves that turned the game, in their order: those that cost most. `movers` are the seats
    /// that moved.
    pub(crate) fn turns(&self, movers: impl Iterator<Item = Seat>) -> Vec<Turn> {
        let moves = (1..).zip(self.plies.windows(2)).zip(movers);
        let turns = moves.filter_map(|((ply, around), seat)| {
            let [before, after] = [around[0][seat], around[1][seat]];
            let error = before.error.hypot(after.error);
            let loss = before.score - after.score;
            let is_turn = loss >= TURNED && is_sure(loss, error);
            is_turn.then_some(Turn {
                ply,
                seat,
                before: before.score,
                after: after.score,
            })
        });
        let mut turns: Vec<Turn> = turns.collect();
        let loss = |turn: &Turn| turn.before - turn.after;
        turns.sort_by(|one, other| loss(other).total_cmp(&loss(one)));
        turns.truncate(TURNS);
        turns.sort_by_key(|turn| turn.ply);
        turns
    }
}

/// The shares of the points that the seats can expect.
#[derive(Clone)]
pub(crate) struct ExpectedShares {
    pub(crate) shares: PerSeat<ExpectedScore>,
    /// The bot that estimates it; none where it was found by random playouts.
    pub(crate) by: Option<String>,
}

/// Evaluates a game, on this thread.
pub(crate) fn evaluated(record: &Record, analyst: &ChooseBot) -> Result<Course, PageError> {
    let plies = record.moves().count().max(1);
    let each = PLAYOUTS / arena_review::SEARCHES as usize / plies;
    let root: Root = "evaluation".parse().expect("a word is a root");
    let bot = game(&record.header.game).and_then(|kind| analyst(kind.info()));
    let judge = match &bot {
        Some((_, bot)) => PositionJudge::Bot(&**bot),
        None => PositionJudge::Search {
            playouts: each.clamp(4, MOST) as u32,
        },
    };
    let plies = course(record, judge, &root, 1)
        .map_err(|error| PageError::NotFound(format!("the game can't be evaluated: {error}")))?;
    Ok(Course {
        plies,
        by: bot.map(|(name, _)| name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moves_that_cost_most_have_turned_a_game() {
        let plies = [0.5, 0.45, 0.9, 0.88, 0.2, 0.4, 0.0];
        let course = |error: f64| Course {
            plies: plies
                .map(|score| {
                    let of = |score| ExpectedScore { score, error };
                    PerSeat::from(vec![of(score), of(1.0 - score)])
                })
                .into(),
            by: None,
        };
        let movers = || [0, 1, 0, 0, 1, 0].map(Seat::new).into_iter();
        let turns = course(0.01).turns(movers());
        let found: Vec<(usize, usize)> = turns
            .iter()
            .map(|turn| (turn.ply, turn.seat.index()))
            .collect();
        // The second move gave the first player 45 %, the fourth took 68 % from it, and so on.
        assert_eq!(found, [(2, 1), (4, 0), (5, 1), (6, 0)]);
        assert!((turns[1].before - turns[1].after - 0.68).abs() < 1e-9);
        // Nobody can tell where the errors are as large.
        assert_eq!(course(0.2).turns(movers()), []);
    }
}
