//! `edge`: the engine of the crate of the same name, within the time that the referee allows.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use bot_kit::{Bot, GameStart, Thinker, Turn};
use edge::{Board, Engine, Limit, Options, Scored, weights::Weights};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::othello::{Othello, Square};

use crate::{Games, HouseBot, Parameter, Parameters, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "edge",
    summary: "searches deep with a learned evaluation and plays the end exactly",
    games: Games::These(&["othello"]),
    parameters: &[
        Parameter {
            name: "time",
            standard: "2s, or the limit less a margin",
            summary: "thinking time for a move",
        },
        Parameter {
            name: "depth",
            standard: "as deep as the time allows",
            summary: "how many plies it looks ahead, instead of a time",
        },
        Parameter {
            name: "nodes",
            standard: "as many as the time allows",
            summary: "how many positions it looks at for a move, instead of a time",
        },
        Parameter {
            name: "level",
            standard: "full strength",
            summary: "1 to 10: weaker play, the lower the weaker",
        },
        Parameter {
            name: "table",
            standard: "32",
            summary: "the size of its table of positions in MiB",
        },
        Parameter {
            name: "threads",
            standard: "1",
            summary: "how many threads search",
        },
    ],
    shows: &["edge?time=50ms"],
    build,
};

/// Thinking time where the limit allows it and no other is given.
const THINKING_TIME: Duration = Duration::from_secs(2);
/// What is kept of the limit for the way there and back before anything is known of it.
const FIRST_MARGIN: Duration = Duration::from_millis(50);
/// What is kept at least.
const LEAST_MARGIN: Duration = Duration::from_millis(10);
/// By level: how many plies it looks ahead, and by how many discs it misjudges a move at most.
const LEVELS: [(u32, f64); 10] = [
    (1, 24.0),
    (1, 16.0),
    (1, 10.0),
    (2, 8.0),
    (2, 5.0),
    (3, 3.0),
    (4, 1.5),
    (5, 0.0),
    (7, 0.0),
    (10, 0.0),
];

/// How it plays.
#[derive(Clone, Copy)]
enum Strength {
    /// As well as it can within this time.
    Time(Duration),
    /// To a depth in plies.
    Depth(u32),
    /// So many positions.
    Nodes(u64),
    /// At a level, from 1.
    Level(usize),
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let time = parameters.duration("time")?;
    let depth = parameters.get("depth", "a number of plies, 1 to 60", |depth| {
        (1..=60).contains(depth)
    })?;
    let nodes = parameters.get("nodes", "a number of positions, at least 1", |n| *n > 0)?;
    let level = parameters.get("level", "a level of 1 to 10", |level| {
        (1..=LEVELS.len()).contains(level)
    })?;
    let table: usize = parameters
        .get("table", "a size in MiB, 1 to 4096", |size| {
            (1..=4096).contains(size)
        })?
        .unwrap_or(32);
    let threads = parameters
        .get("threads", "a number of threads, 1 to 64", |threads| {
            (1..=64).contains(&NonZeroUsize::get(*threads))
        })?
        .unwrap_or(NonZeroUsize::MIN);
    let strength = match (level, depth, nodes) {
        (Some(level), _, _) => Strength::Level(level),
        (None, Some(depth), _) => Strength::Depth(depth),
        (None, None, Some(nodes)) => Strength::Nodes(nodes),
        (None, None, None) => Strength::Time(time.unwrap_or(THINKING_TIME)),
    };
    // Read here, so that no game is charged for it.
    let weights = Weights::embedded().expect("the tests of the crate read its weights");
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| {
            let options = Options {
                table_bytes: table << 20,
                threads,
                weights: Some(weights.clone()),
            };
            EdgePlayer::new(start, strength, options)
        }))
}

struct EdgePlayer {
    engine: Engine,
    strength: Strength,
    rng: ChaCha8Rng,
    margin: Margin,
}

impl EdgePlayer {
    fn new(start: &GameStart, strength: Strength, options: Options) -> Self {
        Self {
            engine: Engine::new(options).expect("the weights are given"),
            strength,
            rng: ChaCha8Rng::seed_from_u64(start.bot_seed),
            margin: Margin::new(),
        }
    }

    fn square(&mut self, board: Board, limit: Duration, began: Instant) -> Option<edge::Square> {
        let mut allowed = self.margin.within(limit);
        let mut search = Limit::default();
        match self.strength {
            Strength::Time(time) => allowed = allowed.min(time),
            Strength::Depth(plies) => search.depth = Some(plies),
            Strength::Nodes(nodes) => search.nodes = Some(nodes),
            Strength::Level(level) => search.depth = Some(LEVELS[level - 1].0),
        }
        search.deadline = began.checked_add(allowed);
        let square = match self.strength {
            Strength::Level(level) => {
                let scores = self.engine.scores(board, search);
                misjudged(&scores, LEVELS[level - 1].1, &mut self.rng)
            }
            _ => self.engine.search(board, search).square,
        };
        self.margin.learn(began.elapsed().saturating_sub(allowed));
        square
    }
}

impl Thinker<Othello> for EdgePlayer {
    fn answer(&mut self, turn: &Turn<'_, Othello>) -> Square {
        let began = Instant::now();
        let board = turn.view().public.position.board;
        let board = Board {
            own: board.own,
            other: board.opponent,
        };
        let best = self.square(board, turn.limit, began);
        let best = best.expect("who is asked has a move");
        Square::new(best.index() as u8).expect("both count squares alike")
    }
}

/// The best move if each was misjudged by up to so many discs, evenly.
fn misjudged(scores: &[Scored], by: f64, rng: &mut ChaCha8Rng) -> Option<edge::Square> {
    let judged = scores.iter().map(|scored| {
        let error = by * (2.0 * rng.random::<f64>() - 1.0);
        (scored.square, f64::from(scored.score) + error)
    });
    judged
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(square, _)| square)
}

/// What is kept of the limit: twice what the answers were late by lately, and never less than
/// the least.
pub(crate) struct Margin(Duration);

impl Margin {
    pub(crate) const fn new() -> Self {
        Self(FIRST_MARGIN)
    }

    /// The time for a search where an answer may take so long.
    pub(crate) fn within(&self, limit: Duration) -> Duration {
        limit.saturating_sub(self.0).max(limit / 4)
    }

    /// An answer was late by so much.
    pub(crate) fn learn(&mut self, late: Duration) {
        self.0 = (2 * late).max(self.0 * 7 / 8).max(LEAST_MARGIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_follows_how_late_answers_were() {
        let second = Duration::from_secs(1);
        let mut margin = Margin::new();
        assert_eq!(margin.within(second), second - FIRST_MARGIN);
        margin.learn(Duration::from_millis(60));
        assert_eq!(margin.within(second), Duration::from_millis(880));
        for _ in 0..40 {
            margin.learn(Duration::ZERO);
        }
        assert_eq!(margin.within(second), second - LEAST_MARGIN);
        assert_eq!(margin.within(LEAST_MARGIN), LEAST_MARGIN / 4);
    }

    #[test]
    fn an_answer_is_in_time() {
        let weights = Some(Weights::embedded().unwrap());
        let options = Options {
            table_bytes: 1 << 20,
            weights,
            ..Options::default()
        };
        for strength in [
            Strength::Time(THINKING_TIME),
            Strength::Depth(60),
            Strength::Level(10),
        ] {
            let mut player = EdgePlayer {
                engine: Engine::new(options.clone()).unwrap(),
                strength,
                rng: ChaCha8Rng::seed_from_u64(1),
                margin: Margin::new(),
            };
            let began = Instant::now();
            let limit = Duration::from_millis(400);
            assert!(player.square(Board::START, limit, began).is_some());
            assert!(began.elapsed() < limit);
        }
    }

    #[test]
    fn a_lower_level_errs_more() {
        let scores: Vec<Scored> = Engine::new(Options::default())
            .unwrap()
            .scores(Board::START, Limit::depth(3));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let best = scores[0].square;
        assert!((0..50).all(|_| misjudged(&scores, 0.0, &mut rng).is_some()));
        assert!((0..50).any(|_| misjudged(&scores, 24.0, &mut rng) != Some(best)));
    }
}
