//! The scene to draw of a game, as data. Terminals and pages draw any scene and know no game.

use crate::{Seat, Words};

/// A table and what lies on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Its parts, from the top.
    pub areas: Vec<Area>,
    /// Captions below the parts, one line each.
    pub captions: Vec<Words>,
}

/// One part of a table: a board, a hand, a river, a trick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// Its label; empty if it needs none.
    pub label: Words,
    /// The seat that it belongs to, if it belongs to one.
    pub seat: Option<Seat>,
    /// The arrangement of its cells.
    pub shape: Shape,
    /// The cells, each with what lies on it.
    pub cells: Vec<Cell>,
}

/// The arrangement of the cells of an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A board: row by row from the top, each row from the left.
    Board {
        /// The surface that it is made of.
        surface: Surface,
        /// The label of each row.
        rows: Vec<String>,
        /// The label of each column.
        columns: Vec<String>,
    },
    /// One cell after another, on as many lines as needed.
    Row,
}

/// The surface of a board, and so what its discs look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surface {
    /// Squares; discs lie on them.
    #[default]
    Plain,
    /// An upright plate with holes; coloured discs show through them.
    Holes,
    /// A cloth with lines; the discs have a dark and a light side, and seat 0 has the dark one.
    Cloth,
}

/// A place and what lies on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The piece that lies on it.
    pub piece: Piece,
    /// True if it is to be highlighted: the last move, or part of a line.
    pub marked: bool,
    /// Its name in the notation of moves, which is what a click on it means. Empty if
    /// it has none.
    pub says: String,
}

/// A thing that can lie on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Nothing.
    Empty,
    /// A forbidden cell: nobody may use it.
    Blocked,
    /// A disc.
    Disc {
        /// The seat that it belongs to.
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
    Joker {
        /// 1 or 2.
        number: u8,
    },
    /// A piece that lies face down.
    FaceDown {
        /// The kind of piece, since its back shows that.
        of: Hidden,
    },
}

/// A kind of piece that can lie face down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// A tile.
    Tile,
    /// A playing card.
    Card,
}

/// The suits of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSuit {
    /// c.
    Characters,
    /// b.
    Bamboos,
    /// d.
    Dots,
}

/// The suits of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// A piece that is not highlighted and has no name.
    #[must_use]
    pub const fn new(piece: Piece) -> Self {
        Self {
            piece,
            marked: false,
            says: String::new(),
        }
    }

    /// Sets whether it is highlighted.
    #[must_use]
    pub const fn marked(mut self, marked: bool) -> Self {
        self.marked = marked;
        self
    }

    /// Its name in the notation of moves.
    #[must_use]
    pub fn says(mut self, name: impl Into<String>) -> Self {
        self.says = name.into();
        self
    }
}
