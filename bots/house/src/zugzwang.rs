//! `zugzwang`: the engine of the crate of that name.

use std::time::Duration;

use bot_kit::{Bot, GameOver, Thinker, Turn};
use referee_core::Seat;
use referee_games::connect_four::{ConnectFour, ConnectFourBoard, Point};
use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourIdeas,
    ConnectFourPosition, ConnectFourSearchResult, Limit, Proven,
};

use crate::{
    HouseBot, LEVELS, Parameter, Parameters, PlayedGames, SpecError, clock::BotClock,
    ponder::Ponder,
};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "zugzwang",
    summary: "searches for threats and for who must move below them",
    games: PlayedGames::These(&["connect_four"]),
    parameters: &[
        Parameter::TIME,
        Parameter {
            name: "nodes",
            standard: "as many as the time allows",
            summary: "a fixed number of positions for a move, instead of a time",
        },
        Parameter::LEVEL,
        Parameter::TABLE,
        Parameter::THREADS,
        Parameter {
            name: "ponder",
            standard: "no",
            summary: "yes or no: whether it thinks while the other side moves; not with nodes or level",
        },
        Parameter {
            name: "without",
            standard: "none",
            summary: "ideas that it does without, to see what they are worth: forced, evaluation, \
                      zugzwang, table, reuse, symmetry, reductions, futility, or several of them \
                      with commas",
        },
    ],
    shows: &[],
    build,
};

/// By level: how many positions it looks at for a move, and how far its evaluations are off at
/// most, in 1/256 of the logarithm of the odds to win. Each level scores some 60 to 80 % against the
/// one below.
const BY_LEVEL: [(u64, u16); LEVELS] = [
    (16, 360),
    (100, 330),
    (270, 300),
    (440, 265),
    (1_100, 230),
    (2_200, 190),
    (4_200, 150),
    (8_000, 110),
    (16_000, 60),
    (40_000, 0),
];

#[derive(Clone, Copy)]
enum ZugzwangBudget {
    Time(Duration),
    Nodes(u64),
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let time = parameters.duration("time")?;
    let nodes = parameters.get("nodes", "a number of positions, at least 1", |n| *n > 0)?;
    let level = parameters.level()?;
    let table = parameters.table()?;
    let threads = parameters.threads()?;
    let ponders = parameters.is_on("ponder")?.unwrap_or(false);
    parameters.require(
        "ponder",
        "no beside nodes or level, which always play the same",
        !ponders || (nodes, level) == (None, None),
    )?;
    let without = parameters.list("without")?;
    let without = without
        .into_iter()
        .fold(ConnectFourIdeas::default(), ConnectFourIdeas::with);
    let budget = match (nodes, level) {
        (Some(nodes), _) => ZugzwangBudget::Nodes(nodes),
        (None, Some(level)) => ZugzwangBudget::Nodes(BY_LEVEL[level - 1].0),
        (None, None) => ZugzwangBudget::Time(time.unwrap_or(Duration::MAX)),
    };
    let name = level.map_or_else(
        || BOT.name.to_owned(),
        |level| format!("{} {level}", BOT.name),
    );
    Ok(Bot::new(&name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .thinks(move |start| ZugzwangPlayer {
            budget,
            ponders,
            clock: BotClock::new(start),
            engine: Ponder::new(ConnectFourEngine::new(ConnectFourEngineOptions {
                table,
                threads,
                blur: level.map_or(0, |level| BY_LEVEL[level - 1].1),
                seed: start.bot_seed,
                without,
                ..ConnectFourEngineOptions::default()
            })),
        }))
}

struct ZugzwangPlayer {
    budget: ZugzwangBudget,
    ponders: bool,
    clock: BotClock,
    engine: Ponder<ConnectFourEngine>,
}

impl ZugzwangPlayer {
    /// Searches the position after its move until it is asked again: what it finds stays in the
    /// table.
    fn ponder(&mut self, mut position: ConnectFourPosition, column: u8) {
        if position.play(column).is_ok() {
            self.engine.start(move |engine, stop| {
                // Nothing is left to search for in a game that is over.
                let _ = engine.search(&position, &Limit::flag(stop));
            });
        }
    }
}

impl Thinker<ConnectFour> for ZugzwangPlayer {
    fn answer(&mut self, turn: &Turn<'_, ConnectFour>) -> Point {
        let board = &turn.view().public.board;
        let time = self.clock.begin(turn.limit, answers(board));
        let position = position(board, turn.seat());
        let limit = self.budget.within(time.allowed, 1);
        let answer = self
            .engine
            .engine()
            .search(&position, &limit)
            .expect("a seat is asked while the game goes on");
        self.clock.end(time);
        if self.ponders {
            self.ponder(position, answer.column);
        }
        board
            .landing(answer.column.into())
            .expect("a column that has room")
    }

    fn values(&mut self, turn: &Turn<'_, ConnectFour>) -> Option<Vec<f64>> {
        let board = &turn.view().public.board;
        let position = position(board, turn.seat());
        let legal = turn.legal();
        let allowed = self.clock.begin(turn.limit, answers(board)).allowed;
        let shares = legal.iter().map(|point| {
            let mut after = position;
            after.play(u8::try_from(point.y).ok()?).ok()?;
            if after.is_won() {
                return Some(1.0);
            }
            // A full board is a draw.
            let limit = self.budget.within(allowed, legal.len() as u32);
            let found = self.engine.engine().search(&after, &limit);
            Some(found.map_or(0.5, |answer| 1.0 - share(&answer)))
        });
        shares.collect()
    }

    fn game_over(&mut self, _over: &GameOver) {
        self.engine.engine();
    }
}

/// Number of answers that a seat may still have to give. Most games end long before the board is
/// full, so it is a third of the free cells, and some for those that do not.
pub(crate) fn answers(board: &ConnectFourBoard) -> u32 {
    let stones = [0, 1].map(|seat| board.stones(Seat::new(seat)));
    let cells = (board.rows() * board.columns()) as u32;
    let free = cells.saturating_sub(stones.iter().sum());
    free / 3 + 4
}

/// The share of the points that the side to move can expect.
fn share(answer: &ConnectFourSearchResult) -> f64 {
    match answer.proven {
        Some(Proven::Win { .. }) => 1.0,
        Some(Proven::Loss { .. }) => 0.0,
        Some(Proven::Draw) => 0.5,
        None => 1.0 / (1.0 + (-f64::from(answer.value) / LOGARITHM).exp()),
    }
}

/// The engine's unit: so much is 1 in the logarithm of the odds to win.
const LOGARITHM: f64 = 256.0;

impl ZugzwangBudget {
    /// The limit of one of so many searches that may take so long in all.
    fn within(self, allowed: Duration, searches: u32) -> Limit<'static> {
        match self {
            Self::Nodes(nodes) => Limit::nodes((nodes / u64::from(searches)).max(1)),
            Self::Time(time) => Limit::time(time.min(allowed) / searches),
        }
    }
}

/// The referee's board as the engine has it, for the seat that is to move.
///
/// # Panics
///
/// If the board has more than 12 rows or columns, or none.
#[must_use]
pub fn position(board: &ConnectFourBoard, seat: Seat) -> ConnectFourPosition {
    let cell = |x: usize, y: usize| BoardCell {
        column: y as u8,
        row: (board.rows() - 1 - x) as u8,
    };
    let forbidden = board
        .forbidden()
        .map(|Point { x, y }| cell(x as usize, y as usize));
    let shape = BoardShape::new(board.rows() as u8, board.columns() as u8, forbidden);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for x in 0..board.rows() {
        for y in 0..board.columns() {
            match board.stone(x, y) {
                Some(stone) if stone == seat => own.push(cell(x, y)),
                Some(_) => other.push(cell(x, y)),
                None => {}
            }
        }
    }
    ConnectFourPosition::with_stones(
        shape.expect("the referee's sizes are possible"),
        &own,
        &other,
    )
    .expect("the referee's stones lie on one another")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use referee_games::connect_four::columns_of;
    use strum::VariantNames as _;
    use zugzwang::ConnectFourIdea;

    use super::*;

    #[test]
    fn a_position_has_the_landings_of_its_board() {
        let forbidden = Point { x: 8, y: 3 };
        let mut board = ConnectFourBoard::new(10, 12, Some(forbidden));
        let mut seat = Seat::new(0);
        for column in [3, 3, 4, 11, 0, 3, 3, 5, 6, 6, 6, 3] {
            board.drop_stone(seat, column);
            seat = seat.other();
            let position = position(&board, seat);
            for column in columns_of(board.open()) {
                let landing = board.landing(column).unwrap();
                let cell = position.landing(column as u8).unwrap();
                assert_eq!(
                    (i32::from(cell.row), i32::from(cell.column)),
                    (9 - landing.x, landing.y)
                );
            }
            assert_eq!(
                position.stones(),
                board.stones(seat) + board.stones(seat.other())
            );
        }
    }

    #[test]
    fn every_level_looks_at_more_and_more_accurately() {
        assert!(BY_LEVEL.is_sorted_by(|below, above| below.0 < above.0 && below.1 > above.1));
        assert_eq!(BY_LEVEL[9].1, 0);
    }

    #[test]
    fn what_it_can_do_without_is_known() {
        for spec in ["zugzwang?without=forced", "zugzwang?without=table,reuse"] {
            assert!(crate::bot(spec).is_ok(), "{spec}");
        }
        let refused = crate::bot("zugzwang?without=table,luck").err().unwrap();
        let names = ConnectFourIdea::VARIANTS.join(", ");
        assert_eq!(
            refused.to_string(),
            format!("zugzwang?without=table,luck: expected some of {names}, with commas between")
        );
        let told = BOT.parameters.iter().find(|one| one.name == "without");
        assert!(told.unwrap().summary.contains(&names));
    }

    #[test]
    fn an_answer_after_pondering_is_in_time_and_legal() {
        let mut player = ZugzwangPlayer {
            budget: ZugzwangBudget::Time(Duration::from_millis(20)),
            ponders: true,
            clock: BotClock::without_budget(),
            engine: Ponder::new(ConnectFourEngine::new(ConnectFourEngineOptions::default())),
        };
        let mut position = ConnectFourPosition::new(BoardShape::new(9, 9, None).unwrap());
        for _ in 0..6 {
            let limit = Limit::time(Duration::from_millis(20));
            let begin = Instant::now();
            let answer = player.engine.engine().search(&position, &limit).unwrap();
            // With much room for a busy machine: a thread that goes on would never end.
            assert!(begin.elapsed() < Duration::from_secs(10));
            player.ponder(position, answer.column);
            position.play(answer.column).unwrap();
        }
    }

    #[test]
    fn fixed_work_does_not_ponder() {
        for fixed in ["nodes=100", "level=3"] {
            let refused = crate::bot(&format!("zugzwang?ponder=yes&{fixed}"))
                .err()
                .unwrap();
            assert_eq!(
                refused.to_string(),
                "zugzwang?ponder=yes: expected no beside nodes or level, which always play the same"
            );
        }
        assert!(crate::bot("zugzwang?ponder=yes&threads=2").is_ok());
    }

    #[test]
    fn levels_are_1_to_10() {
        for level in [0, 11] {
            let refused = crate::bot(&format!("zugzwang?level={level}"))
                .err()
                .unwrap();
            assert_eq!(
                refused.to_string(),
                format!("zugzwang?level={level}: expected a level of 1 to 10")
            );
        }
    }
}
