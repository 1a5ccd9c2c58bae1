//! The set-up: the board, and a position to begin from.

use referee_core::{Seat, shorten};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use super::rules::{
    ConnectFour, ConnectFourBoard, LARGEST, Point, Public, SMALLEST, SMALLEST_DRAWN,
};
use crate::written::list_or_line;

const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];

/// The set-up. A game begins with an empty board or from a given position, and after given moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// M, the number of rows; drawn from 9..=12 where it is not given.
    #[serde(deserialize_with = "read_size")]
    pub rows: Option<u8>,
    /// N, the number of columns, likewise.
    #[serde(deserialize_with = "read_size")]
    pub columns: Option<u8>,
    /// The forbidden cell.
    pub forbidden: Forbidden,
    /// Columns that have been played in turn, on the board if one is given. Where the board is
    /// drawn, they must be possible on every board. They are read from a line too: `3 3 4`.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_moves"
    )]
    pub moves: Option<Vec<u8>>,
    /// The board from its top row: `.` is a free cell, `X` a stone of seat 0,
    /// `O` one of seat 1, `#` the forbidden cell. It stands for rows, columns
    /// and forbidden cell too. It is read from a line too, with `/` between the rows.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_rows"
    )]
    pub board: Option<Vec<String>>,
    /// The seat whose turn it is after the moves; it follows from the stones, since seat 0 begins,
    /// and must agree with them.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_turn"
    )]
    pub turn: Option<u8>,
}

/// The place of the forbidden cell. A cell is read from its row and column too, such as `(4, 4)` or
/// `4:4`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Forbidden {
    /// Drawn from all cells.
    #[default]
    Random,
    /// Nowhere.
    None,
    /// Here.
    At(Point),
}

impl<'de> Deserialize<'de> for Forbidden {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(from)?;
        let cell = |x, y| Self::At(Point { x, y });
        let read = match &written {
            Value::String(word) if word == "random" => Some(Self::Random),
            Value::String(word) if word == "none" => Some(Self::None),
            Value::String(text) => match numbers(&text.replace(':', " ")).as_deref() {
                Some([x, y]) => Some(cell((*x).into(), (*y).into())),
                _ => None,
            },
            Value::Array(_) => serde_json::from_value(written.clone())
                .ok()
                .map(|[x, y]: [i32; 2]| cell(x, y)),
            Value::Object(parts) if parts.len() == 1 => parts
                .get("at")
                .and_then(|at| serde_json::from_value(at.clone()).ok())
                .map(Self::At),
            _ => None,
        };
        read.ok_or_else(|| {
            D::Error::custom(format!(
                "forbidden: expected \"random\", \"none\" or a row and a column, such as \
                 \"(4, 4)\", found {}",
                shorten(&written.to_string(), 40)
            ))
        })
    }
}

fn read_moves<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
    let read = match Value::deserialize(from)? {
        Value::Null => return Ok(None),
        Value::Array(list) if list.is_empty() => return Ok(Some(Vec::new())),
        Value::String(line) => columns(&line),
        // A list is written as the line is, with commas.
        list => columns(&list.to_string()),
    };
    read.map(Some).map_err(D::Error::custom)
}

fn read_rows<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    list_or_line(from, |line| Ok(rows_of(line)))
}

/// A number of rows or of columns.
fn read_size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let range = format!("{SMALLEST} to {LARGEST}");
    small_number(from, &range)
}

fn read_turn<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    small_number(from, "0 or 1")
}

fn small_number<'de, D: Deserializer<'de>>(
    from: D,
    expected: &str,
) -> Result<Option<u8>, D::Error> {
    let written = Value::deserialize(from)?;
    if written.is_null() {
        return Ok(None);
    }
    let number = written.as_u64().and_then(|number| number.try_into().ok());
    number.map(Some).ok_or_else(|| {
        let found = shorten(&written.to_string(), 40);
        D::Error::custom(format!("expected {expected}, found {found}"))
    })
}

/// The rows of a board in one line.
fn rows_of(line: &str) -> Vec<String> {
    let rows = line.split(|c: char| c == '/' || c.is_whitespace());
    let rows = rows.filter(|row| !row.is_empty());
    rows.map(str::to_owned).collect()
}

/// Numbers with blanks, commas or brackets between them.
fn numbers(text: &str) -> Option<Vec<u8>> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '[' | ']');
    let numbers = text.split(is_between).filter(|part| !part.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

/// Columns that are played in turn.
fn columns(text: &str) -> Result<Vec<u8>, String> {
    if text.contains('(') {
        return Err(format!(
            "expected columns from 0, such as 3 3 4, found \"{}\": of a point write the column \
             alone, 3 for (8, 3)",
            shorten(text, 40)
        ));
    }
    numbers(text)
        .filter(|columns| !columns.is_empty())
        .ok_or_else(|| {
            format!(
                "expected columns from 0 with blanks between them, such as 3 3 4, found \"{}\"",
                shorten(text, 40)
            )
        })
}

impl Setup {
    /// Reads a size, such as `6x7`. A board that is smaller than any that is drawn is meant as it is
    /// known elsewhere: it has no forbidden cell.
    pub(super) fn read_size(word: &str) -> Option<Map<String, Value>> {
        let (rows, columns) = word.split_once(['x', 'X', '×'])?;
        let size = |text: &str| text.trim().parse::<u32>().ok();
        let (rows, columns) = (size(rows)?, size(columns)?);
        let members = [("rows", rows.into()), ("columns", columns.into())];
        let is_drawn = rows.min(columns) >= SMALLEST_DRAWN.into();
        let none = (!is_drawn).then(|| ("forbidden", Value::from("none")));
        let members = members.into_iter().chain(none);
        Some(
            members
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    /// Reads columns, a board, or a board and the columns that are played on it.
    pub(super) fn read_notation(line: &str) -> Result<Self, String> {
        let begins_a_move = |c: char| c.is_ascii_digit() || matches!(c, '(' | '[');
        match line.chars().next() {
            Some(first) if begins_a_move(first) => Ok(Self {
                moves: Some(columns(line)?),
                ..Self::default()
            }),
            Some('.' | '#' | 'X' | 'x' | 'O' | 'o') => {
                let end = line.find(begins_a_move).unwrap_or(line.len());
                let (board, moves) = line.split_at(end);
                Ok(Self {
                    board: Some(rows_of(board)),
                    moves: match moves {
                        "" => None,
                        moves => Some(columns(moves)?),
                    },
                    ..Self::default()
                })
            }
            _ => Err(format!(
                "expected columns from 0 with blanks between them, such as 3 3 4, or a board such \
                 as \"..../..../..../XO..\", found \"{}\"",
                shorten(line, 40)
            )),
        }
    }

    /// A game that began like this: the board before the first move, and all columns.
    pub(super) fn transcript(
        &self,
        dealt: &Public,
        columns: impl IntoIterator<Item = usize>,
    ) -> String {
        let board = match &self.board {
            Some(board) => read(board).ok().map(|public| public.board),
            None => None,
        };
        let board = board.unwrap_or_else(|| {
            let (rows, columns) = (dealt.board.rows(), dealt.board.columns());
            ConnectFourBoard::new(rows as u8, columns as u8, dealt.board.forbidden())
        });
        let opening = self.moves.iter().flatten().copied().map(usize::from);
        let moves = opening.chain(columns).map(|column| column.to_string());
        let parts: Vec<String> = [board.to_string()].into_iter().chain(moves).collect();
        parts.join(" ")
    }

    /// True if stones lie on the board before the first of its moves.
    pub(super) fn begins_with_stones(&self) -> bool {
        let rows = self.board.iter().flatten();
        rows.flat_map(|row| row.chars())
            .any(|cell| !matches!(cell, '.' | '#'))
    }

    /// Says why no game can begin like this.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.board.is_some() {
            self.only_a_board()?;
            // A given board leaves nothing to the dice.
            return self
                .beginning(SMALLEST_DRAWN, SMALLEST_DRAWN, Point { x: 0, y: 0 })
                .map(|_| ());
        }
        self.check_shape()?;
        self.drawn()
            .try_for_each(|(rows, columns, cell)| self.beginning(rows, columns, cell).map(|_| ()))
    }

    /// The size of the board; the arguments are what the dice gave.
    pub(super) fn sizes(&self, rows: u8, columns: u8) -> (u8, u8) {
        match &self.board {
            Some(board) => (
                board.len() as u8,
                board.first().map_or(0, |row| row.chars().count()) as u8,
            ),
            None => (self.rows.unwrap_or(rows), self.columns.unwrap_or(columns)),
        }
    }

    /// The beginning on a board of this size; `drawn` is the forbidden cell that the
    /// dice gave.
    pub(super) fn beginning(&self, rows: u8, columns: u8, drawn: Point) -> Result<Public, String> {
        let public = if let Some(board) = &self.board {
            read(board)?
        } else {
            let forbidden = match self.forbidden {
                Forbidden::Random => Some(drawn),
                Forbidden::None => None,
                Forbidden::At(point) => Some(point),
            };
            Public::beginning(ConnectFourBoard::new(rows, columns, forbidden))
        };
        let public = play(public, self.moves.as_deref().unwrap_or(&[]))?;
        if let Some(turn) = self.turn
            && usize::from(turn) != public.turn.index()
        {
            return Err(format!(
                "by the stones it is the turn of seat {}, found turn {turn}",
                public.turn
            ));
        }
        if public.board.is_full() {
            return Err("the board is full".to_owned());
        }
        Ok(public)
    }

    /// With a board its shape may not be given again.
    fn only_a_board(&self) -> Result<(), String> {
        let others = [
            ("rows", self.rows.is_some()),
            ("columns", self.columns.is_some()),
            ("forbidden", self.forbidden != Forbidden::Random),
        ];
        match others.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((what, _)) => Err(format!("expected a board or {what}, found both")),
        }
    }

    fn check_shape(&self) -> Result<(), String> {
        for (what, size) in [("rows", self.rows), ("columns", self.columns)] {
            if let Some(size) = size {
                check_size(what, size.into())?;
            }
        }
        let Forbidden::At(Point { x, y }) = self.forbidden else {
            return Ok(());
        };
        // A board that is still to be drawn has at least nine of each.
        let rows = self.rows.unwrap_or(SMALLEST_DRAWN);
        let columns = self.columns.unwrap_or(SMALLEST_DRAWN);
        if (0..i32::from(rows)).contains(&x) && (0..i32::from(columns)).contains(&y) {
            return Ok(());
        }
        Err(format!(
            "the forbidden cell ({x}, {y}) must lie on the board: rows 0 to {}, columns 0 to {}{}",
            rows - 1,
            columns - 1,
            if self.rows.is_none() || self.columns.is_none() {
                " (choose rows and columns as well to use a larger board)"
            } else {
                ""
            }
        ))
    }

    /// Of the sizes and forbidden cells that the dice can give those that decide whether the
    /// opening is possible on all of them. Where the cell is drawn, the smallest board has least
    /// room, and the stones lie at its bottom as on any larger one; and of its cells that no stone
    /// reaches, one stands for all.
    fn drawn(&self) -> impl Iterator<Item = (u8, u8, Point)> {
        let mut stones = [0; LARGEST as usize];
        for column in self.moves.iter().flatten() {
            if let Some(stones) = stones.get_mut(usize::from(*column)) {
                *stones += 1;
            }
        }
        let smallest = self.possible().next();
        let draws_cell = self.draws_cell();
        let mut has_unreached = false;
        self.possible()
            .filter(move |&(rows, columns, Point { x, y })| {
                if !draws_cell {
                    return true;
                }
                let is_smallest = smallest.is_some_and(|(r, c, _)| (r, c) == (rows, columns));
                let is_reached = x >= i32::from(rows) - stones[y as usize];
                is_smallest && (is_reached || !std::mem::replace(&mut has_unreached, true))
            })
    }

    /// True if it depends on the dice where the opening meets the forbidden cell.
    fn draws_cell(&self) -> bool {
        self.moves.is_some() && self.forbidden == Forbidden::Random
    }

    /// Every size and forbidden cell that the dice can give, at most 42 times 42; only
    /// one if the set-up fixes them.
    fn possible(&self) -> impl Iterator<Item = (u8, u8, Point)> {
        let sizes = |given: Option<u8>| match given {
            Some(size) => size..=size,
            None => SMALLEST_DRAWN..=LARGEST,
        };
        let cells = self.draws_cell();
        let columns = sizes(self.columns);
        sizes(self.rows)
            .flat_map(move |rows| columns.clone().map(move |columns| (rows, columns)))
            .flat_map(move |(rows, columns)| {
                let last = if cells { (rows, columns) } else { (1, 1) };
                (0..last.0).flat_map(move |x| {
                    (0..last.1).map(move |y| {
                        let (x, y) = (x.into(), y.into());
                        (rows, columns, Point { x, y })
                    })
                })
            })
    }
}

fn check_size(what: &str, size: usize) -> Result<(), String> {
    if (usize::from(SMALLEST)..=usize::from(LARGEST)).contains(&size) {
        Ok(())
    } else {
        Err(format!(
            "{what} must be {SMALLEST} to {LARGEST}, found {size}"
        ))
    }
}

/// The position after playing these columns in turn.
fn play(mut public: Public, columns: &[u8]) -> Result<Public, String> {
    for (played, &column) in columns.iter().enumerate() {
        let wrong = |why: &str| {
            let board = &public.board;
            let forbidden = board.forbidden().map_or_else(
                || "no forbidden cell".to_owned(),
                |Point { x, y }| format!("the forbidden cell ({x}, {y})"),
            );
            Err(format!(
                "move {} of the opening, column {column}, {why} on a board of {} rows and {} columns with {forbidden}",
                played + 1,
                board.rows(),
                board.columns(),
            ))
        };
        if usize::from(column) >= public.board.columns() {
            return wrong("does not exist");
        }
        let Some(point) = public.board.landing(column.into()) else {
            return wrong("is full");
        };
        let seat = public.turn;
        if public.board.completes(seat, column.into()) {
            return wrong("would make a line and end the game");
        }
        ConnectFour::play(&mut public, seat, point);
    }
    Ok(public)
}

/// The position on a given board.
fn read(rows: &[String]) -> Result<Public, String> {
    check_size("rows", rows.len())?;
    let columns = rows.first().map_or(0, |row| row.chars().count());
    check_size("columns", columns)?;
    let mut cells = Vec::new();
    let mut forbidden = None;
    for (x, row) in rows.iter().enumerate() {
        let found = row.chars().count();
        if found != columns {
            return Err(format!(
                "expected {columns} cells in row {x} as in row 0, found {found}"
            ));
        }
        for (y, cell) in row.chars().enumerate() {
            cells.push(match cell {
                '.' | '#' => None,
                'X' | 'x' => Some(SEATS[0]),
                'O' | 'o' => Some(SEATS[1]),
                other => {
                    return Err(format!(
                        "expected ., X, O or # on ({x}, {y}), found \"{other}\""
                    ));
                }
            });
            let here = Point {
                x: x as i32,
                y: y as i32,
            };
            if cell == '#'
                && let Some(Point { x: other, y }) = forbidden.replace(here)
            {
                return Err(format!(
                    "expected one forbidden cell, found ({other}, {y}) and ({x}, {})",
                    here.y
                ));
            }
        }
    }
    let board = ConnectFourBoard::with_stones(rows.len() as u8, columns as u8, forbidden, &cells)?;
    if let Some(seat) = SEATS.into_iter().find(|&seat| board.has_line(seat)) {
        return Err(format!("seat {seat} has a line of four already"));
    }
    Public::standing(board, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_is_judged_as_on_every_board_that_can_be_drawn() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut refused = 0;
        for round in 0..300 {
            // Few columns make them full, and make lines.
            let (columns, length) = (1 + draw(12), 1 + draw(14));
            let setup = Setup {
                moves: Some((0..length).map(|_| draw(columns) as u8).collect()),
                rows: (round % 3 == 0).then(|| 4 + draw(9) as u8),
                forbidden: match round % 7 {
                    0 => Forbidden::None,
                    1 => Forbidden::At(Point { x: 3, y: 1 }),
                    _ => Forbidden::Random,
                },
                ..Setup::default()
            };
            if setup.check_shape().is_err() {
                continue;
            }
            let judged = setup.validate();
            let everywhere = setup.possible().try_for_each(|(rows, columns, cell)| {
                setup.beginning(rows, columns, cell).map(|_| ())
            });
            assert_eq!(judged, everywhere, "{setup:?}");
            refused += usize::from(judged.is_err());
        }
        assert!((50..250).contains(&refused), "{refused}");
    }

    #[test]
    fn a_short_opening_is_judged_on_few_boards() {
        let setup = Setup::read_notation("3 3 4").unwrap();
        assert_eq!(setup.possible().count(), 42 * 42);
        assert_eq!(setup.drawn().count(), 4);
    }
}
