//! What to draw of a game, as data. Terminals and pages draw any scene and
//! know no game.

use serde::Serialize;

use crate::Seat;

/// A table and what lies on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scene {
    /// Its parts, from the top.
    pub areas: Vec<Area>,
    /// What to say under them, a line each.
    pub captions: Vec<String>,
}

/// One part of a table: a board, a hand, a river, a trick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Area {
    /// What it is called; empty where it needs no name.
    pub label: String,
    /// Whose it is, where it is somebody's.
    pub seat: Option<Seat>,
    /// How its cells lie.
    pub shape: Shape,
    /// What lies there.
    pub cells: Vec<Cell>,
}

/// How the cells of an area lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum Shape {
    /// On a board, row by row from the top, in each from the left.
    Board {
        /// What each row is called at its edge.
        rows: Vec<String>,
        /// What each column is called.
        columns: Vec<String>,
    },
    /// One after another, on as many lines as they need.
    Row,
}

/// A place and what lies on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What lies there.
    pub piece: Piece,
    /// Whether to make it stand out: the last one, or part of a line.
    pub marked: bool,
    /// How a player names it in a move's notation: what a click on it says.
    /// Empty where there is no such name.
    pub says: String,
}

/// What can lie on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "piece", rename_all = "snake_case")]
pub enum Piece {
    /// Nothing.
    Empty,
    /// Nothing ever: nobody may use this cell.
    Blocked,
    /// A disc.
    Disc {
        /// Whose.
        seat: Seat,
    },
    /// A tile.
    Tile {
        /// 1 to 9.
        rank: u8,
        /// Its suit.
        suit: TileSuit,
    },
    /// A playing card.
    Card {
        /// 1 (the ace) to 13 (the king).
        rank: u8,
        /// Its suit.
        suit: CardSuit,
    },
    /// A joker.
    Joker,
    /// A tile or a card whose face can't be seen.
    FaceDown,
}

/// The suits of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TileSuit {
    /// c.
    Characters,
    /// b.
    Bamboos,
    /// d.
    Dots,
}

/// The suits of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CardSuit {
    /// C.
    Clubs,
    /// D.
    Diamonds,
    /// H.
    Hearts,
    /// S.
    Spades,
}

impl Cell {
    /// A piece that is like the others and has no name.
    #[must_use]
    pub const fn new(piece: Piece) -> Self {
        Self {
            piece,
            marked: false,
            says: String::new(),
        }
    }

    /// Whether to make it stand out.
    #[must_use]
    pub const fn marked(mut self, marked: bool) -> Self {
        self.marked = marked;
        self
    }

    /// How a player names it.
    #[must_use]
    pub fn says(mut self, name: impl Into<String>) -> Self {
        self.says = name.into();
        self
    }
}
