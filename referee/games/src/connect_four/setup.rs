//! The set-up: the board, and a position to begin from.

use referee_core::{JsonBounds, Seat};
use serde::{Deserialize, Serialize};

use super::rules::{
    ConnectFour, ConnectFourBoard, LARGEST, Point, Public, SMALLEST, SMALLEST_DRAWN,
};

const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];

/// The set-up. A game begins with an empty board, after given moves, or from a given
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// M, the number of rows; drawn from 9..=12 where it is not given.
    pub rows: Option<u8>,
    /// N, the number of columns, likewise.
    pub columns: Option<u8>,
    /// The forbidden cell.
    pub forbidden: Forbidden,
    /// Columns that have been played in turn. Where the board is drawn, they
    /// must be possible on every board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<u8>>,
    /// The board from its top row: `.` is a free cell, `X` a stone of seat 0,
    /// `O` one of seat 1, `#` the forbidden cell. It stands for rows, columns
    /// and forbidden cell too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<Vec<String>>,
    /// The seat whose turn it is; it follows from the stones, since seat 0 begins, and must agree
    /// with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u8>,
}

/// The place of the forbidden cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Setup {
    /// Reads columns with blanks between them, or a set-up as JSON.
    pub(super) fn from_line(line: &str) -> Result<Self, String> {
        let line = line.trim();
        if line.starts_with('{') {
            return JsonBounds::SETUP
                .read(line.as_bytes())
                .map_err(|error| format!("not a set-up of connect_four: {error}"));
        }
        let columns = line.split_ascii_whitespace().map(str::parse);
        match columns.collect::<Result<Vec<u8>, _>>() {
            Ok(columns) if !columns.is_empty() => Ok(Self {
                moves: Some(columns),
                ..Self::default()
            }),
            _ => Err(format!(
                "expected columns from 0 with blanks between them, such as 3 3 4, found \"{line}\""
            )),
        }
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
            let board = ConnectFourBoard::new(rows, columns, forbidden);
            play(board, self.moves.as_deref().unwrap_or(&[]))?
        };
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

    /// With a board no other field may be given.
    fn only_a_board(&self) -> Result<(), String> {
        let others = [
            ("moves", self.moves.is_some()),
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
fn play(board: ConnectFourBoard, columns: &[u8]) -> Result<Public, String> {
    let mut public = Public::beginning(board);
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
                'X' => Some(SEATS[0]),
                'O' => Some(SEATS[1]),
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
        let setup = Setup::from_line("3 3 4").unwrap();
        assert_eq!(setup.possible().count(), 42 * 42);
        assert_eq!(setup.drawn().count(), 4);
    }
}
