//! `edge`: the engine of the crate of the same name, within the time that the referee allows.

use std::{sync::Arc, time::Duration};

use bot_kit::{Bot, GameOver, Thinker, Turn};
use edge::{
    Discs, Exactness, OthelloEngine, OthelloEngineOptions, OthelloIdea, Scored, SearchLimit,
    book::Book, weights::PatternWeights,
};
use rand::{RngExt as _, SeedableRng as _, seq::IteratorRandom as _};
use rand_chacha::ChaCha8Rng;
use referee_games::othello::{Othello, Square};
use strum::VariantNames as _;

use crate::{
    HouseBot, LEVELS, Parameter, Parameters, PlayedGames, SpecError,
    clock::{Allowance, BotClock},
    ponder::Ponder,
};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "edge",
    summary: "searches deep with a learned evaluation and plays the end exactly",
    games: PlayedGames::These(&["othello"]),
    parameters: &[
        Parameter::TIME,
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
        Parameter::LEVEL,
        Parameter::TABLE,
        Parameter::THREADS,
        Parameter {
            name: "book",
            standard: "no",
            summary: "yes or no: whether it begins with moves of its opening book",
        },
        Parameter {
            name: "ponder",
            standard: "no",
            summary: "yes or no: whether it thinks while the other side moves; not with depth, nodes or level",
        },
        Parameter {
            name: "without",
            standard: "nothing",
            summary: "an idea to leave out: mpc, stability, patterns, table, etc, ordering, parity or solver",
        },
    ],
    shows: &["edge?time=10ms"],
    build,
};

/// By level: how many plies it looks ahead, and by how many discs it misjudges a move at most.
const BY_LEVEL: [(u32, f64); LEVELS] = [
    (1, 14.0),
    (1, 6.5),
    (2, 9.0),
    (2, 4.6),
    (3, 4.8),
    (3, 1.7),
    (4, 1.9),
    (5, 2.2),
    (6, 0.0),
    (8, 0.0),
];

/// The strength of its play.
#[derive(Clone, Copy)]
enum Strength {
    /// As well as it can within this time and that of the referee.
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
    let level = parameters.level()?;
    let table = parameters.table()?;
    let threads = parameters.threads()?;
    let book = parameters.is_on("book")?.unwrap_or(false);
    let ponders = parameters.is_on("ponder")?.unwrap_or(false);
    parameters.require(
        "ponder",
        "no beside depth, nodes or level, which always play the same",
        !ponders || (level, depth, nodes) == (None, None, None),
    )?;
    let ideas = OthelloIdea::VARIANTS.join(", ");
    let without = parameters.get("without", &format!("one of {ideas}"), |_| true)?;
    let strength = match (level, depth, nodes) {
        (Some(level), _, _) => Strength::Level(level),
        (None, Some(depth), _) => Strength::Depth(depth),
        (None, None, Some(nodes)) => Strength::Nodes(nodes),
        (None, None, None) => Strength::Time(time.unwrap_or(Duration::MAX)),
    };
    // Read here, so that no game is charged for it.
    let weights = PatternWeights::embedded().expect("the tests of the crate read its weights");
    let book = book.then(|| Book::embedded().expect("the tests of the crate read its book"));
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| {
            let options = OthelloEngineOptions {
                table_bytes: table << 20,
                threads,
                weights: Some(weights.clone()),
                without,
            };
            EdgePlayer {
                book: book.clone(),
                ponders,
                clock: BotClock::new(start),
                ..EdgePlayer::new(start.bot_seed, strength, options)
            }
        }))
}

struct EdgePlayer {
    engine: Ponder<OthelloEngine>,
    book: Option<Arc<Book>>,
    ponders: bool,
    strength: Strength,
    rng: ChaCha8Rng,
    clock: BotClock,
}

impl EdgePlayer {
    /// One without a book and a budget that does not ponder.
    fn new(seed: u64, strength: Strength, options: OthelloEngineOptions) -> Self {
        let engine = OthelloEngine::new(options).expect("the weights are given");
        Self {
            engine: Ponder::new(engine),
            book: None,
            ponders: false,
            strength,
            rng: ChaCha8Rng::seed_from_u64(seed),
            clock: BotClock::without_budget(),
        }
    }

    /// The limit of a search, and the time that it may take.
    fn bounds(&mut self, board: Discs, limit: Duration) -> (SearchLimit, Allowance) {
        let mut allowance = self.clock.begin(limit, answers(board));
        let mut search = SearchLimit::default();
        match self.strength {
            Strength::Time(time) => allowance = allowance.at_most(time),
            Strength::Depth(plies) => search.depth = Some(plies),
            Strength::Nodes(nodes) => search.nodes = Some(nodes),
            Strength::Level(level) => search.depth = Some(BY_LEVEL[level - 1].0),
        }
        search.deadline = allowance.deadline();
        (search, allowance)
    }

    fn square(&mut self, board: Discs, limit: Duration) -> Option<edge::Square> {
        let (search, allowance) = self.bounds(board, limit);
        let square = match self.strength {
            Strength::Level(level) => {
                let scores = self.engine.engine().scores(board, search);
                misjudged(&scores, BY_LEVEL[level - 1].1, &mut self.rng)
            }
            _ => self.engine.engine().search(board, search).square,
        };
        self.clock.end(allowance);
        square
    }

    /// One of the best moves of the book, where it knows the position.
    fn book_move(&mut self, board: Discs) -> Option<edge::Square> {
        let moves = self.book.as_ref()?.moves(board);
        let best = moves.first()?.value;
        let best = moves.iter().filter(|known| known.value == best);
        best.choose(&mut self.rng).map(|known| known.square)
    }

    /// Searches the position after its move until it is asked again: what it finds stays in the
    /// table.
    fn ponder(&mut self, board: Discs, square: edge::Square) {
        let Some(next) = board.play(square).filter(|next| !next.is_over()) else {
            return;
        };
        self.engine.start(move |engine, stop| {
            engine.search_until(next, SearchLimit::default(), stop);
        });
    }
}

impl Thinker<Othello> for EdgePlayer {
    fn answer(&mut self, turn: &Turn<'_, Othello>) -> Square {
        let board = board(turn);
        let best = self
            .book_move(board)
            .or_else(|| self.square(board, turn.limit))
            .expect("who is asked has a move");
        if self.ponders {
            self.ponder(board, best);
        }
        Square::new(best.index() as u8).expect("both count squares alike")
    }

    fn values(&mut self, turn: &Turn<'_, Othello>) -> Option<Vec<f64>> {
        let board = board(turn);
        let (search, _) = self.bounds(board, turn.limit);
        let scores = self.engine.engine().scores(board, search);
        let of = |legal: &Square| {
            let scored = scores.iter().find(|it| it.square.index() == legal.index());
            scored.map(share)
        };
        turn.legal().iter().map(of).collect()
    }

    fn game_over(&mut self, _over: &GameOver) {
        self.engine.engine();
    }
}

/// The position, for the seat that is asked.
fn board(turn: &Turn<'_, Othello>) -> Discs {
    let board = turn.view().public.position.board;
    Discs {
        own: board.own,
        other: board.opponent,
    }
}

/// Number of answers that a seat gives at most until the game is over, if both sides always have
/// moves.
const fn answers(board: Discs) -> u32 {
    let empty = 64 - (board.own | board.other).count_ones();
    empty.div_ceil(2) + 1
}

/// By so many discs the logarithm of the odds to win grows by 1, before the end is known: a
/// logistic curve with this scale has the spread of an evaluation that is 7 discs off, about what
/// the crate measures.
const DISCS: f64 = 4.0;

/// The share of the points that a score promises.
fn share(scored: &Scored) -> f64 {
    match scored.exactness {
        Exactness::Exact => f64::midpoint(f64::from(scored.score.signum()), 1.0),
        _ => 1.0 / (1.0 + (-f64::from(scored.score) / DISCS).exp()),
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_answer_is_in_time() {
        let weights = Some(PatternWeights::embedded().unwrap());
        let options = OthelloEngineOptions {
            table_bytes: 1 << 20,
            weights,
            ..OthelloEngineOptions::default()
        };
        for strength in [
            Strength::Time(Duration::MAX),
            Strength::Depth(60),
            Strength::Level(10),
        ] {
            let mut player = EdgePlayer::new(1, strength, options.clone());
            let began = Instant::now();
            let limit = Duration::from_millis(400);
            assert!(player.square(Discs::START, limit).is_some());
            assert!(began.elapsed() < limit);
        }
    }

    #[test]
    fn every_idea_can_be_left_out_and_no_other() {
        let parameter = BOT.parameters.iter().find(|it| it.name == "without");
        for idea in OthelloIdea::VARIANTS {
            assert!(parameter.unwrap().summary.contains(idea));
            assert!(crate::bot(&format!("edge?without={idea}")).is_ok());
        }
        assert_eq!(
            crate::bot("edge?without=luck").err().unwrap().to_string(),
            "edge?without=luck: expected one of mpc, stability, patterns, table, etc, ordering, \
             parity, solver"
        );
    }

    #[test]
    fn an_answer_after_pondering_is_in_time_and_legal() {
        let options = OthelloEngineOptions {
            table_bytes: 1 << 20,
            ..OthelloEngineOptions::default()
        };
        let mut player = EdgePlayer::new(1, Strength::Time(Duration::MAX), options);
        for first in edge::Squares(Discs::START.moves()) {
            player.ponder(Discs::START, first);
            let board = Discs::START.play(first).unwrap();
            let limit = Duration::from_millis(400);
            let began = Instant::now();
            let answer = player.square(board, limit);
            assert!(began.elapsed() < limit);
            assert!(answer.is_some_and(|square| board.play(square).is_some()));
        }
    }

    #[test]
    fn fixed_work_does_not_ponder() {
        for fixed in ["nodes=100", "depth=3", "level=4"] {
            let error = crate::bot(&format!("edge?ponder=yes&{fixed}"))
                .err()
                .unwrap();
            assert_eq!(
                error.to_string(),
                "edge?ponder=yes: expected no beside depth, nodes or level, which always play \
                 the same"
            );
            assert!(crate::bot(&format!("edge?ponder=no&{fixed}")).is_ok());
        }
        assert!(crate::bot("edge?ponder=yes&time=50ms").is_ok());
        let error = crate::bot("edge?ponder=maybe").err().unwrap().to_string();
        assert_eq!(error, "edge?ponder=maybe: expected yes or no");
    }

    #[test]
    fn the_book_gives_legal_moves_and_the_same_for_the_same_seed() {
        let options = OthelloEngineOptions {
            table_bytes: 1 << 20,
            ..OthelloEngineOptions::default()
        };
        let play = |seed| {
            let mut player = EdgePlayer {
                book: Some(Book::embedded().unwrap()),
                ..EdgePlayer::new(seed, Strength::Nodes(100), options.clone())
            };
            let mut board = Discs::START;
            let mut line = Vec::new();
            while let Some(square) = player.book_move(board) {
                line.push(square);
                board = board.play(square).unwrap();
            }
            line
        };
        assert!(play(1).len() > 3);
        assert_eq!(play(1), play(1));
        assert!((2..20).any(|seed| play(seed) != play(1)));
    }

    #[test]
    fn a_lower_level_errs_more() {
        let scores: Vec<Scored> = OthelloEngine::new(OthelloEngineOptions::default())
            .unwrap()
            .scores(Discs::START, SearchLimit::depth(3));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let best = scores[0].square;
        assert!((0..50).all(|_| misjudged(&scores, 0.0, &mut rng).is_some()));
        assert!((0..50).any(|_| misjudged(&scores, 24.0, &mut rng) != Some(best)));
    }
}
