//! The part of a round that a seat knows.

use crate::tile::{Tile, Tiles};

/// All that a seat knows of a round when it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Situation {
    /// Its tiles: 14 in its own turn, 13 when the other one has discarded.
    pub hand: Tiles,
    /// The seat's own discards, in order.
    pub own_river: Vec<Tile>,
    /// The other seat's discards, in order.
    pub other_river: Vec<Tile>,
    /// True if it began.
    pub began: bool,
    /// Number of tiles in the wall.
    pub left: u8,
    /// True if a hand of all three suits may win.
    pub three_suits: bool,
    /// The chance that the other one discards any tile and never wins; if it is not given, it is
    /// worked out from the discards.
    pub passive: Option<f32>,
}

impl Situation {
    /// The tiles that neither the hand nor a river shows.
    ///
    /// # Panics
    ///
    /// If there are five of a tile.
    #[must_use]
    pub fn unseen(&self) -> Tiles {
        let seen = self.own_river.iter().chain(&self.other_river).copied();
        let unseen = seen.fold(Tiles::FULL, Tiles::without);
        Tile::all().fold(unseen, |unseen, tile| {
            (0..self.hand.count(tile)).fold(unseen, |unseen, _| unseen.without(tile))
        })
    }
}
