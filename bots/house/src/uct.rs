//! `uct`: upper confidence bounds on trees (Kocsis and Szepesvári, "Bandit
//! based Monte-Carlo planning", ECML 2006), as the rules page of Connect Four
//! describes the classic bot.

use std::time::Duration;

use bot_kit::{
    Bot, GameStart,
    connect_four::{ConnectFourBot, GetPoint, Point},
};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{ConnectFourBoard, View, columns_of};

use crate::{
    HouseBot, Parameter, Parameters, PlayedGames, SpecError, clock::BotClock, zugzwang::answers,
};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "uct",
    summary: "searches a tree by random playouts (UCB1) until its time is used",
    games: PlayedGames::These(&["connect_four"]),
    parameters: &[
        Parameter {
            name: "time",
            standard: "1s",
            summary: "thinking time for a move",
        },
        Parameter {
            name: "playouts",
            standard: "as many as the time allows",
            summary: "a fixed number of playouts for a move, instead of a time",
        },
        Parameter {
            name: "c",
            standard: "0.7",
            summary: "how much it explores: Q/N + c * sqrt(2 ln N(parent) / N(child))",
        },
    ],
    shows: &["strong=uct?time=10ms", "weak=uct?playouts=50"],
    build,
};

/// Against 0.3, 0.5, 1.0 and 1.4 it scored 61, 59, 55 and 54 % of 80 games each
/// (standard error 5.6) by `arena match connect-four --rounds 40 --seed c
/// --bot 'x=house:uct?playouts=2000&c=…' --bot 'std=house:uct?playouts=2000'`.
pub(crate) const EXPLORATION: f64 = 0.7;
const THINKING_TIME: Duration = Duration::from_secs(1);
/// Number of playouts between two looks at the clock.
const BATCH: u32 = 16;

#[derive(Clone, Copy)]
enum UctBudget {
    Time(Duration),
    Playouts(u32),
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let time = parameters.duration("time")?;
    let playouts = parameters.get("playouts", "a number of playouts, at least 1", |n| *n > 0)?;
    let c = parameters.get("c", "a number that is not negative", |c: &f64| {
        c.is_finite() && *c >= 0.0
    })?;
    let budget = match playouts {
        Some(playouts) => UctBudget::Playouts(playouts),
        None => UctBudget::Time(time.unwrap_or(THINKING_TIME)),
    };
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .can_resume()
        .connect_four(move |start| Uct::new(start, budget, c.unwrap_or(EXPLORATION))))
}

struct Uct {
    seat: Seat,
    budget: UctBudget,
    c: f64,
    rng: ChaCha8Rng,
    clock: BotClock,
}

impl Uct {
    fn new(start: &GameStart, budget: UctBudget, c: f64) -> Self {
        Self {
            seat: Seat::new(start.seat as u8),
            budget,
            c,
            rng: ChaCha8Rng::seed_from_u64(start.bot_seed),
            clock: BotClock::new(start),
        }
    }
}

impl ConnectFourBot for Uct {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        let board = View::of(self.seat, ask)
            .expect("the referee's board is one")
            .public
            .board;
        let time = self.clock.begin(ask.limit, answers(&board));
        let mut search = TreeSearch::new(board, self.seat, self.c);
        match self.budget {
            UctBudget::Playouts(playouts) => search.run(playouts, &mut self.rng),
            UctBudget::Time(longest) => {
                let time = time.at_most(longest);
                loop {
                    search.run(BATCH, &mut self.rng);
                    if time.elapsed() >= time.allowed {
                        break;
                    }
                }
                self.clock.end(time);
            }
        }
        ask.landing(search.best()).expect("a column that has room")
    }
}

/// A search from one position.
pub struct TreeSearch {
    board: ConnectFourBoard,
    seat: Seat,
    c: f64,
    nodes: Vec<UctNode>,
    path: Vec<usize>,
}

/// A position that has been reached.
struct UctNode {
    /// By this drop.
    column: u8,
    /// Its value for the side that made it, if it ends the game.
    end: Option<f64>,
    /// The columns that have not been tried, as bits.
    untried: u16,
    /// The index of its first child; each child has that of the next one.
    first_child: usize,
    next_sibling: usize,
    visits: f64,
    /// Rewards of +1, 0 and -1 for the side that made the drop, summed.
    total: f64,
}

const NONE: usize = usize::MAX;

impl TreeSearch {
    /// A search for the best move of `seat`, whose turn it is on a board that
    /// has room.
    #[must_use]
    pub fn new(board: ConnectFourBoard, seat: Seat, c: f64) -> Self {
        let root = UctNode::new(0, None, board.open());
        Self {
            board,
            seat,
            c,
            nodes: vec![root],
            path: Vec::new(),
        }
    }

    /// Makes this many playouts more.
    pub fn run(&mut self, playouts: u32, rng: &mut impl Rng) {
        for _ in 0..playouts {
            self.once(rng);
        }
    }

    /// The column with the best mean.
    #[must_use]
    pub fn best(&self) -> usize {
        let best = self
            .children(0)
            .max_by(|a, b| self.nodes[*a].mean().total_cmp(&self.nodes[*b].mean()));
        match best {
            Some(best) => self.nodes[best].column.into(),
            None => self.board.open().trailing_zeros() as usize,
        }
    }

    /// Down the tree, one node further, a playout, and back up.
    fn once(&mut self, rng: &mut impl Rng) {
        let mut board = self.board.clone();
        let mut seat = self.seat;
        self.path.clear();
        let mut at = 0;
        // The reward of the side that made the drop to the last node.
        let mut reward = loop {
            self.path.push(at);
            if let Some(end) = self.nodes[at].end {
                break end;
            }
            if self.nodes[at].untried != 0 {
                let column = pick(self.nodes[at].untried, rng);
                let line = board.drop_stone(seat, column);
                let child = self.expand(at, column, line, &board);
                self.path.push(child);
                break match self.nodes[child].end {
                    Some(end) => end,
                    None => -playout(board, seat.other(), rng),
                };
            }
            at = self.select(at);
            board.drop_stone(seat, self.nodes[at].column.into());
            seat = seat.other();
        };
        for &node in self.path.iter().rev() {
            self.nodes[node].visits += 1.0;
            self.nodes[node].total += reward;
            reward = -reward;
        }
    }

    fn expand(
        &mut self,
        parent: usize,
        column: usize,
        line: bool,
        board: &ConnectFourBoard,
    ) -> usize {
        let end = if line {
            Some(1.0)
        } else {
            board.is_full().then_some(0.0)
        };
        let child = self.nodes.len();
        let mut node = UctNode::new(column as u8, end, board.open());
        let parent = &mut self.nodes[parent];
        node.next_sibling = parent.first_child;
        parent.first_child = child;
        parent.untried &= !(1 << column);
        self.nodes.push(node);
        child
    }

    /// The child with the highest upper confidence bound.
    fn select(&self, parent: usize) -> usize {
        let twice_log = 2.0 * self.nodes[parent].visits.ln();
        let bound = |node: &UctNode| node.mean() + self.c * (twice_log / node.visits).sqrt();
        self.children(parent)
            .max_by(|a, b| bound(&self.nodes[*a]).total_cmp(&bound(&self.nodes[*b])))
            .expect("a node whose drops have all been tried has children")
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        let some = |child| (child != NONE).then_some(child);
        std::iter::successors(some(self.nodes[parent].first_child), move |&child| {
            some(self.nodes[child].next_sibling)
        })
    }
}

impl UctNode {
    const fn new(column: u8, end: Option<f64>, untried: u16) -> Self {
        Self {
            column,
            end,
            untried,
            first_child: NONE,
            next_sibling: NONE,
            visits: 0.0,
            total: 0.0,
        }
    }

    fn mean(&self) -> f64 {
        self.total / self.visits
    }
}

/// Plays to the end: a drop that wins at once, from left to right; else one
/// that denies the other side such a drop; else any. Gives the reward of
/// `first`, the side that drops first.
fn playout(mut board: ConnectFourBoard, first: Seat, rng: &mut impl Rng) -> f64 {
    let mut seat = first;
    while !board.is_full() {
        let open = board.open();
        if columns_of(open).any(|column| board.completes(seat, column)) {
            return if seat == first { 1.0 } else { -1.0 };
        }
        let other = seat.other();
        let column = columns_of(open)
            .find(|&column| board.completes(other, column))
            .unwrap_or_else(|| pick(open, rng));
        board.drop_stone(seat, column);
        seat = other;
    }
    0.0
}

/// Any of the columns that are set.
fn pick(mut columns: u16, rng: &mut impl Rng) -> usize {
    for _ in 0..rng.random_range(0..columns.count_ones()) {
        columns &= columns - 1;
    }
    columns.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Seat = Seat::new(0);
    const SECOND: Seat = Seat::new(1);

    fn best(board: ConnectFourBoard, seat: Seat, playouts: u32) -> usize {
        let mut search = TreeSearch::new(board, seat, EXPLORATION);
        search.run(playouts, &mut ChaCha8Rng::seed_from_u64(1));
        search.best()
    }

    fn drops(columns: &[usize]) -> (ConnectFourBoard, Seat) {
        let mut board = ConnectFourBoard::new(9, 9, None);
        let mut seat = FIRST;
        for &column in columns {
            board.drop_stone(seat, column);
            seat = seat.other();
        }
        (board, seat)
    }

    #[test]
    fn it_wins_at_once() {
        let (board, seat) = drops(&[3, 0, 3, 0, 3, 1]);
        assert_eq!(seat, FIRST);
        assert_eq!(best(board, seat, 500), 3);
    }

    #[test]
    fn it_denies_a_win() {
        let (board, seat) = drops(&[3, 0, 3, 0, 3]);
        assert_eq!(seat, SECOND);
        assert_eq!(best(board, seat, 2000), 3);
    }

    #[test]
    fn it_makes_an_open_three() {
        // Two in a row with room on both sides: a third wins by force.
        let (board, seat) = drops(&[3, 3, 4, 4]);
        assert!([2, 5].contains(&best(board, seat, 20_000)));
    }

    #[test]
    fn the_same_seed_and_playouts_give_the_same_move() {
        let (board, seat) = drops(&[4, 4, 2]);
        let moves: Vec<_> = (0..3).map(|_| best(board.clone(), seat, 300)).collect();
        assert_eq!(moves[0], moves[1]);
        assert_eq!(moves[1], moves[2]);
    }
}
