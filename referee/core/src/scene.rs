//! What to draw of a game, as data. Terminals and pages draw any scene and
//! know no game.

use serde::Serialize;

use crate::Seat;

/// A board and what lies on it. Rows grow downwards, columns to the right,
/// both from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scene {
    /// How many rows of cells.
    pub rows: u8,
    /// How many columns of cells.
    pub columns: u8,
    /// What lies on the cells; a cell that is not named is empty.
    pub items: Vec<Item>,
    /// What to say under the board, a line each.
    pub captions: Vec<String>,
}

/// Something on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum Item {
    /// Nobody may use this cell.
    Blocked {
        /// Its row.
        row: u8,
        /// Its column.
        column: u8,
    },
    /// A disc.
    Disc {
        /// Its row.
        row: u8,
        /// Its column.
        column: u8,
        /// Whose it is.
        seat: Seat,
        /// Whether to make it stand out: the last one, or part of a line.
        marked: bool,
    },
}
