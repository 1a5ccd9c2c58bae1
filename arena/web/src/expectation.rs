//! The shares of the points that the players of a game can expect, worked out on the thread that
//! asks.

use std::sync::Arc;

use arena_review::{ExpectedScore, InProcessBot, PositionJudge, course};
use referee_core::{GameInfo, PerSeat, Record, Root};
use referee_games::game;

use crate::error::PageError;

/// So many playouts a game gets in all, and at most so many of them in one search.
const PLAYOUTS: usize = 60_000;
const MOST: usize = 100;

/// Chooses a bot for a game, and gives its name with it; none where there is none for this game.
pub type ChooseBot =
    Arc<dyn Fn(&GameInfo) -> Option<(String, Arc<dyn InProcessBot>)> + Send + Sync>;

/// The shares of the points that the seats could expect before each move, and that they got.
pub(crate) struct Course {
    pub(crate) plies: Vec<PerSeat<ExpectedScore>>,
    /// The bot whose estimates they are; none where positions were searched by random playouts.
    pub(crate) by: Option<String>,
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
