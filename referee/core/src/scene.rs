//! The scene to draw of a game, as data. Terminals and pages draw any scene and know no game.

use crate::{Seat, Words};

/// A table and what lies on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Its parts, from the top.
    pub areas: Vec<Area>,
    /// Captions below the parts, one line each.
    pub captions: Vec<Words>,
    /// The seat that whoever looks sits at, where the parts lie around a table: those of a seat
    /// before it, the others in the middle. The next seats sit to the left of it, one after another.
    /// None where the parts lie one below another.
    pub nearest: Option<Seat>,
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
    /// What a seat has discarded: six on a line.
    River,
}

impl Shape {
    /// True if its cells are in rows and columns of a board.
    #[must_use]
    pub const fn is_board(&self) -> bool {
        matches!(self, Self::Board { .. })
    }
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
    /// The reason why it is highlighted, if it is.
    pub mark: Option<Mark>,
    /// True if it lies apart from the cell before it in its row.
    pub is_apart: bool,
    /// Its name in the notation of moves, which is what a click on it means. Empty if
    /// it has none.
    pub says: String,
}

/// The reason why a cell is highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// What came last: a move, a discard, a tile that was drawn.
    Last,
    /// Part of the line that has won.
    Line,
    /// A disc that the last move has turned.
    Turned,
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
            mark: None,
            is_apart: false,
            says: String::new(),
        }
    }

    /// Sets the reason why it is highlighted.
    #[must_use]
    pub const fn marked(mut self, mark: Option<Mark>) -> Self {
        self.mark = mark;
        self
    }

    /// Sets whether it lies apart from the cell before it.
    #[must_use]
    pub const fn apart(mut self, is_apart: bool) -> Self {
        self.is_apart = is_apart;
        self
    }

    /// True if it is the last move, or part of the line that has won.
    #[must_use]
    pub const fn is_marked(&self) -> bool {
        matches!(self.mark, Some(Mark::Last | Mark::Line))
    }

    /// Its name in the notation of moves.
    #[must_use]
    pub fn says(mut self, name: impl Into<String>) -> Self {
        self.says = name.into();
        self
    }
}
