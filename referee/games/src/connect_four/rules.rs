//! The rules: a board of 9..=12 by 9..=12 with one forbidden cell, two seats
//! that drop stones in turn, four in an unbroken line win.

use std::fmt;

use referee_core::{
    Dice, FormatWriter, Game, GameInfo, Illegal, Language, Observation, Outcome, PerSeat, Scene,
    Seat, SetupChoices, SetupError, SetupPart, State, Step, Trial, Words,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ending::Ending,
    formats::FORMATS,
    notation::{column, literary},
    setup::Setup,
    trials::TRIALS,
};

/// The fewest rows or columns that a board set up by hand may have.
pub const SMALLEST: u8 = 4;
/// The most.
pub const LARGEST: u8 = 12;
/// The fewest rows or columns that the dice give; the most is [`LARGEST`].
pub(super) const SMALLEST_DRAWN: u8 = 9;

/// The rules of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectFour;

/// A cell: x is the row, from 0 at the top; y is the column, from 0 at the left. A
/// bot's answer may be outside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Point {
    /// The row.
    pub x: i32,
    /// The column.
    pub y: i32,
}

/// Everything that everybody sees. There are no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The board.
    pub board: ConnectFourBoard,
    /// The seat whose turn it is.
    pub turn: Seat,
    /// The stone that was placed last.
    pub last: Option<Point>,
    /// The seat that has made a line.
    pub winner: Option<Seat>,
    /// The seats that have left the game by a foul.
    pub gone: [bool; 2],
}

impl Public {
    /// Before the first stone.
    #[must_use]
    pub const fn beginning(board: ConnectFourBoard) -> Self {
        Self {
            board,
            turn: Seat::new(0),
            last: None,
            winner: None,
            gone: [false; 2],
        }
    }

    /// In the middle of a game; whose turn it is follows from the stones.
    ///
    /// # Errors
    ///
    /// Says how many stones each seat has, where seat 0 can't have begun.
    pub fn standing(board: ConnectFourBoard, last: Option<Point>) -> Result<Self, String> {
        let [first, second] = [0, 1].map(|seat| board.stones(Seat::new(seat)));
        let turn = match first.checked_sub(second) {
            Some(0) => Seat::new(0),
            Some(1) => Seat::new(1),
            _ => {
                return Err(format!(
                    "seat 0 begins and has as many stones as seat 1 or one more, found {first} and {second}"
                ));
            }
        };
        Ok(Self {
            turn,
            last,
            ..Self::beginning(board)
        })
    }
}

impl Public {
    /// The stones of the lines that the last one has completed; none while nobody has won.
    pub(super) fn line(&self) -> Vec<Point> {
        let Some((winner, last)) = self.winner.zip(self.last) else {
            return Vec::new();
        };
        let is_own = |point: &Point| {
            let (row, column) = (usize::try_from(point.x), usize::try_from(point.y));
            let board = &self.board;
            matches!((row, column), (Ok(row), Ok(column)) if row < board.rows()
                && column < board.columns()
                && board.stone(row, column) == Some(winner))
        };
        let mut stones = Vec::new();
        for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
            let at = |steps: i32| Point {
                x: last.x + steps * down,
                y: last.y + steps * right,
            };
            let after = (1..).map(at).take_while(is_own);
            let before = (1..).map(|steps| at(-steps)).take_while(is_own);
            let line: Vec<Point> = after.chain(before).chain([last]).collect();
            if line.len() >= 4 {
                stones.extend(line);
            }
        }
        stones
    }
}

/// The only question of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The point where a stone is to be dropped.
    Point,
}

/// The sizes that people choose from: those that the dice give.
const SIZES: &[(&str, Words<&str>)] = &[
    ("random", Words::of("by chance", "随机")),
    ("9", Words::of("9", "9")),
    ("10", Words::of("10", "10")),
    ("11", Words::of("11", "11")),
    ("12", Words::of("12", "12")),
];

impl Game for ConnectFour {
    const INFO: GameInfo = GameInfo {
        name: "connect_four",
        title: "Connect Four with a forbidden cell",
        seats: 2,
        rules_version: 1,
        notation: Words::of("a column, such as 4", "列号，例如 4"),
        setup: &[
            SetupPart::of("rows", "行数", SIZES),
            SetupPart::of("columns", "列数", SIZES),
            SetupPart {
                name: Words::of("forbidden", "禁用格"),
                choices: SetupChoices::Cell {
                    side: LARGEST,
                    size: ["rows", "columns"],
                    words: &[
                        ("random", Words::of("by chance", "随机")),
                        ("none", Words::of("none", "没有")),
                    ],
                },
            },
            SetupPart::written("moves", "已下的着法"),
            SetupPart::written("board", "棋盘"),
            SetupPart::written("turn", "轮到的座位"),
        ],
        setup_lines: &[
            "3 3 4",
            "6x7",
            "9x9,forbidden=4:4",
            "..../..O./#XX./XOOX",
            "..../..../..../XO.. 2 3",
            r#"{"rows":9,"columns":9,"forbidden":{"at":{"x":4,"y":4}}}"#,
        ],
        purse: 0,
        scores: (-1, 1),
        // A stone for each cell.
        most_questions: LARGEST as u32 * LARGEST as u32,
        sides: &["White", "Black"],
        rules: Words::of(
            include_str!("../../../../docs/rules/connect-four.md"),
            include_str!("../../../../docs/zh/rules/connect-four.md"),
        ),
        score_is_lead: false,
    };

    const FORMATS: &'static [FormatWriter<Self>] = FORMATS;

    type Setup = Setup;
    type Public = Public;
    type Private = ();
    type Hidden = ();
    type Notice = Never;
    type Question = Question;
    type Answer = Point;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        setup.validate().map_err(SetupError)
    }

    /// Reads the size of a board, such as `6x7`.
    fn read_word(word: &str) -> Option<Map<String, Value>> {
        Setup::read_size(word)
    }

    /// Reads columns, such as `3 3 4`, a board, or a board and columns.
    fn read_notation(line: &str) -> Result<Setup, SetupError> {
        Setup::read_notation(line).map_err(SetupError)
    }

    /// The board from its top row, with `/` between the rows, and the columns that were played on
    /// it.
    fn transcript(setup: &Setup, dealt: &Public, moves: &[&str]) -> String {
        let columns = moves.iter().filter_map(|notation| column(notation));
        setup.transcript(dealt, columns)
    }

    fn trials() -> &'static [Trial] {
        TRIALS
    }

    /// The size of the board and its forbidden cell are drawn, so every deal has its line.
    fn deal_line(setup: &Setup, dealt: &State<Self>) -> Option<String> {
        Some(setup.transcript(&dealt.public, []))
    }

    /// Column and row as in the literature: a1 is the lower left cell.
    fn spoken_move(notation: &str, language: Language) -> String {
        match (column(notation), language) {
            (None, _) => notation.to_owned(),
            (Some(column), Language::En) => format!("column {column}"),
            (Some(column), Language::Zh) => format!("第 {column} 列"),
        }
    }

    fn move_word(dealt: &Public, notation: &str) -> String {
        literary(notation, dealt.board.rows()).unwrap_or_else(|| notation.replace(' ', ""))
    }

    /// Draws M, N, x, y in this order, whether they are used or not, so that a
    /// set-up by hand does not shift the other draws.
    fn deal(setup: &Setup, dice: &mut Dice) -> State<Self> {
        let sizes = u32::from(LARGEST - SMALLEST_DRAWN + 1);
        let rows = SMALLEST_DRAWN + dice.below(sizes) as u8;
        let columns = SMALLEST_DRAWN + dice.below(sizes) as u8;
        let (rows, columns) = setup.sizes(rows, columns);
        let drawn = Point {
            x: dice.below(rows.into()) as i32,
            y: dice.below(columns.into()) as i32,
        };
        let public = setup.beginning(rows, columns, drawn);
        State {
            public: public.expect("the set-up has been validated"),
            private: PerSeat::new(2, |_| ()),
            hidden: (),
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        match outcome(&state.public) {
            Some(outcome) => Step::Over(outcome),
            None => Step::Ask(vec![(state.public.turn, Question::Point)]),
        }
    }

    fn judge(
        sight: &Observation<'_, Self>,
        Question::Point: Question,
        &point: &Point,
    ) -> Result<(), Illegal> {
        let board = &sight.public().board;
        let Point { x, y } = point;
        let Some(column) = usize::try_from(y).ok().filter(|&y| y < board.columns()) else {
            return Err(Illegal(format!(
                "expected a column of 0 to {}, found ({x}, {y})",
                board.columns() - 1
            )));
        };
        match board.landing(column) {
            None => Err(Illegal(format!("column {y} is full, found ({x}, {y})"))),
            Some(next) if next == point => Ok(()),
            Some(next) => Err(Illegal(format!(
                "the next free cell of column {y} is ({}, {y}), found ({x}, {y})",
                next.x
            ))),
        }
    }

    fn legal(sight: &Observation<'_, Self>, Question::Point: Question) -> Vec<Point> {
        let board = &sight.public().board;
        (0..board.columns())
            .filter_map(|column| board.landing(column))
            .collect()
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, Point)]) {
        for &(seat, point) in answers {
            Self::play(&mut state.public, seat, point);
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat.index()] = true;
        2
    }

    fn is_public(_: Question, _: &Point) -> bool {
        true
    }

    fn scene(public: &Public, _: &[(Seat, &())]) -> Scene {
        super::scene::scene(public)
    }

    fn redeal(
        beginning: &State<Self>,
        _: &[(Seat, Question, Point)],
        _: Seat,
        _: &mut Dice,
    ) -> State<Self> {
        beginning.clone()
    }
}

impl ConnectFour {
    /// A legal stone.
    pub(super) fn play(public: &mut Public, seat: Seat, point: Point) {
        if public.board.drop_stone(seat, point.y as usize) {
            public.winner = Some(seat);
        }
        public.last = Some(point);
        public.turn = seat.other();
    }
}

/// This game has no notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

fn outcome(public: &Public) -> Option<Outcome<Ending>> {
    let (winner, reason) = match public.gone {
        [true, true] => return Some(Outcome::of_two([2, 2], [-1, -1], Ending::BothForfeited)),
        [true, false] => (Some(Seat::new(1)), Ending::Forfeit),
        [false, true] => (Some(Seat::new(0)), Ending::Forfeit),
        [false, false] if public.winner.is_some() => (public.winner, Ending::FourInALine),
        [false, false] if public.board.is_full() => (None, Ending::BoardFull),
        [false, false] => return None,
    };
    Some(match winner {
        None => Outcome::of_two([1, 1], [0, 0], reason),
        Some(seat) if seat.index() == 0 => Outcome::of_two([1, 2], [1, -1], reason),
        Some(_) => Outcome::of_two([2, 1], [-1, 1], reason),
    })
}

const SIDE: usize = LARGEST as usize;
const DIAGONALS: usize = 2 * SIDE - 1;

/// A board. The stones of each side are stored four times, as the bits of the lines in
/// each direction, so that finding four in a line takes three operations on a word.
/// Engines can play on it directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectFourBoard {
    rows: u8,
    columns: u8,
    forbidden: Option<Point>,
    /// The next stone in column y lands on row `top[y] - 1`; 0 is full.
    top: [u8; SIDE],
    /// Bit y: column y has room.
    open: u16,
    sides: [Lines; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lines {
    /// By row x, bit y.
    across: [u16; SIDE],
    /// By column y, bit x.
    down: [u16; SIDE],
    /// By x - y + 11, bit y.
    falling: [u16; DIAGONALS],
    /// By x + y, bit y.
    rising: [u16; DIAGONALS],
}

impl ConnectFourBoard {
    /// An empty board.
    ///
    /// # Panics
    ///
    /// If a side is 0 or larger than [`LARGEST`].
    #[must_use]
    pub fn new(rows: u8, columns: u8, forbidden: Option<Point>) -> Self {
        assert!((1..=LARGEST).contains(&rows) && (1..=LARGEST).contains(&columns));
        let mut board = Self {
            rows,
            columns,
            forbidden,
            top: [0; SIDE],
            open: 0,
            sides: [Lines::default(), Lines::default()],
        };
        for column in 0..columns.into() {
            board.set_top(column, rows);
        }
        board
    }

    /// M, the number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows as usize
    }

    /// N, the number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The forbidden cell, where there is one.
    #[must_use]
    pub const fn forbidden(&self) -> Option<Point> {
        self.forbidden
    }

    /// One number a column: the next stone lands on row `top[y] - 1`; 0 is
    /// full.
    #[must_use]
    pub fn top(&self) -> &[u8] {
        &self.top[..self.columns()]
    }

    /// The columns that have room, as bits.
    #[must_use]
    pub const fn open(&self) -> u16 {
        self.open
    }

    /// True if no column has room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.open == 0
    }

    /// The point where the next stone in this column lands; none if it is full or
    /// there is no such column.
    #[must_use]
    pub fn landing(&self, column: usize) -> Option<Point> {
        let top = *self.top().get(column)?;
        (top > 0).then(|| Point {
            x: i32::from(top) - 1,
            y: column as i32,
        })
    }

    /// The seat whose stone lies here.
    #[must_use]
    pub fn stone(&self, row: usize, column: usize) -> Option<Seat> {
        Seat::all(2).find(|seat| self.sides[seat.index()].across[row] >> column & 1 == 1)
    }

    /// All cells, row by row, with these signs for the stones of `seat`, for
    /// the other's, and for a cell without a stone.
    #[must_use]
    pub fn cells(&self, seat: Seat, [own, others, empty]: [u8; 3]) -> Vec<u8> {
        let own_side = &self.sides[seat.index()].across;
        let other_side = &self.sides[seat.other().index()].across;
        let mut cells = vec![empty; self.rows() * self.columns()];
        let rows = cells.chunks_exact_mut(self.columns());
        for (row, (owns, theirs)) in rows.zip(own_side.iter().zip(other_side)) {
            // Most cells are empty: each stone is looked for, and not each cell.
            for (stones, sign) in [(*owns, own), (*theirs, others)] {
                let mut left = stones;
                while left != 0 {
                    row[left.trailing_zeros() as usize] = sign;
                    left &= left - 1;
                }
            }
        }
        cells
    }

    /// True if a stone of this seat in this column, which has room, would make a line
    /// of four or more.
    #[must_use]
    #[inline]
    pub fn completes(&self, seat: Seat, column: usize) -> bool {
        self.sides[seat.index()].line_through(usize::from(self.top[column]) - 1, column)
    }

    /// True if this seat has a line of four or more.
    #[must_use]
    pub fn has_line(&self, seat: Seat) -> bool {
        let Lines {
            across,
            down,
            falling,
            rising,
        } = &self.sides[seat.index()];
        let mut lines = across.iter().chain(down).chain(falling).chain(rising);
        lines.any(|&line| four(line))
    }

    /// Number of stones that this seat has.
    #[must_use]
    pub fn stones(&self, seat: Seat) -> u32 {
        let rows = &self.sides[seat.index()].across;
        rows.iter().map(|row| row.count_ones()).sum()
    }

    /// Drops a stone into a column that has room and says whether it makes a
    /// line of four or more.
    #[inline]
    pub fn drop_stone(&mut self, seat: Seat, column: usize) -> bool {
        let row = usize::from(self.top[column]) - 1;
        let line = self.sides[seat.index()].line_through(row, column);
        self.sides[seat.index()].put(row, column);
        self.set_top(column, row as u8);
        line
    }

    /// The board on which exactly these stones lie. `cells` goes row by row.
    ///
    /// # Errors
    ///
    /// Says which cell can't be: a stone on the forbidden cell or in the air.
    pub fn with_stones(
        rows: u8,
        columns: u8,
        forbidden: Option<Point>,
        cells: &[Option<Seat>],
    ) -> Result<Self, String> {
        let mut board = Self::new(rows, columns, forbidden);
        if cells.len() != board.rows() * board.columns() {
            return Err(format!(
                "expected {} cells, found {}",
                board.rows() * board.columns(),
                cells.len()
            ));
        }
        for column in 0..board.columns() {
            for row in (0..board.rows()).rev() {
                if let Some(seat) = cells[row * board.columns() + column] {
                    let here = Point {
                        x: row as i32,
                        y: column as i32,
                    };
                    match board.landing(column) {
                        Some(next) if next == here => {}
                        Some(below) if below.x > here.x => {
                            return Err(format!(
                                "no stone can lie on ({row}, {column}) while ({}, {column}) is free",
                                below.x
                            ));
                        }
                        _ => return Err(format!("no stone can lie on ({row}, {column})")),
                    }
                    board.sides[seat.index()].put(row, column);
                    board.set_top(column, row as u8);
                }
            }
        }
        Ok(board)
    }

    /// The forbidden cell is never the next one: a column that comes to it is
    /// lowered by one more.
    fn set_top(&mut self, column: usize, top: u8) {
        let next = Point {
            x: i32::from(top) - 1,
            y: column as i32,
        };
        let top = top - u8::from(self.forbidden == Some(next));
        self.top[column] = top;
        let bit = 1 << column;
        self.open = if top > 0 {
            self.open | bit
        } else {
            self.open & !bit
        };
    }
}

/// The rows from the top, with `/` between them: `.` is a free cell, `X` a stone of seat 0, `O` one
/// of seat 1, `#` the forbidden cell.
impl fmt::Display for ConnectFourBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in 0..self.rows() {
            if row > 0 {
                f.write_str("/")?;
            }
            for column in 0..self.columns() {
                let here = Point {
                    x: row as i32,
                    y: column as i32,
                };
                f.write_str(match self.stone(row, column) {
                    Some(seat) if seat.index() == 0 => "X",
                    Some(_) => "O",
                    None if self.forbidden == Some(here) => "#",
                    None => ".",
                })?;
            }
        }
        Ok(())
    }
}

impl Lines {
    #[inline]
    fn put(&mut self, row: usize, column: usize) {
        self.across[row] |= 1 << column;
        self.down[column] |= 1 << row;
        self.falling[row + SIDE - 1 - column] |= 1 << column;
        self.rising[row + column] |= 1 << column;
    }

    /// True if a stone here would lie in a line of four or more. There is no other
    /// line on the board, or the game would be over.
    #[inline]
    fn line_through(&self, row: usize, column: usize) -> bool {
        let at_column = 1 << column;
        four(self.across[row] | at_column)
            || four(self.down[column] | 1 << row)
            || four(self.falling[row + SIDE - 1 - column] | at_column)
            || four(self.rising[row + column] | at_column)
    }
}

#[inline]
const fn four(line: u16) -> bool {
    let pairs = line & line >> 1;
    pairs & pairs >> 2 != 0
}

/// The columns in a mask of [`ConnectFourBoard::open`], from the left.
pub fn columns_of(mut mask: u16) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let column = mask.trailing_zeros();
        mask &= mask.checked_sub(1)?;
        Some(column as usize)
    })
}
