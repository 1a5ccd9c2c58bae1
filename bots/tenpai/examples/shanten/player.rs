//! A seat that plays as `shanten` does, without a referee.

use referee_games::mahjong::{Goal, Hand as RefereeHand, MissingSuit, Tile as RefereeTile};
use tenpai::{Hand, Tile};

/// The other seat.
pub(crate) struct Other {
    /// What it holds.
    pub(crate) hand: RefereeHand,
    /// What it has discarded.
    pub(crate) river: Vec<Tile>,
    /// What it has not seen.
    pub(crate) unseen: Hand,
}

/// The same tile.
pub(crate) fn referee(tile: Tile) -> RefereeTile {
    RefereeTile::all()
        .nth(tile.index())
        .expect("both have the same tiles")
}

/// The faan that a hand of 13 tiles wins with this tile.
pub(crate) fn faan(hand: &RefereeHand, tile: Tile) -> Option<u32> {
    let tile = referee(tile);
    let has_room = hand.has_room(tile);
    has_room
        .then(|| referee_games::mahjong::faan(&hand.with(tile), MissingSuit::Required))
        .flatten()
}

impl Other {
    pub(crate) fn new(dealt: &[Tile]) -> Self {
        let tiles: Vec<RefereeTile> = dealt.iter().map(|&tile| referee(tile)).collect();
        Self {
            hand: RefereeHand::of(&tiles).expect("13 tiles"),
            river: Vec::new(),
            unseen: dealt.iter().copied().fold(Hand::FULL, Hand::without),
        }
    }

    /// The faan that it wins with this tile.
    pub(crate) fn wins(&self, tile: Tile) -> Option<u32> {
        faan(&self.hand, tile)
    }

    /// The points of that.
    pub(crate) fn score(&self, tile: Tile, left: u8) -> f32 {
        (3 * self.wins(tile).unwrap_or(0) + u32::from(left)) as f32
    }

    /// Discards as `shanten` does.
    pub(crate) fn discard(&mut self, drawn: Tile) -> Tile {
        self.unseen = self.unseen.without(drawn);
        let goal = Goal::new(MissingSuit::Required);
        let hand = self.hand.with(referee(drawn));
        let distances: Vec<(RefereeTile, i8)> = hand
            .kinds()
            .map(|tile| (tile, goal.distance(&hand.without(tile))))
            .collect();
        let nearest = distances.iter().map(|one| one.1).min();
        let tile = distances
            .into_iter()
            .filter(|one| Some(one.1) == nearest)
            .map(|one| one.0)
            .max_by_key(|&tile| {
                let accepted = goal.accepts(&hand.without(tile));
                let copies = accepted.iter().map(|tile| {
                    let tile = Tile::new(tile.index()).expect("both have the same tiles");
                    u32::from(self.unseen.count(tile))
                });
                copies.sum::<u32>()
            })
            .expect("a hand has tiles");
        self.hand = hand.without(tile);
        Tile::new(tile.index()).expect("both have the same tiles")
    }
}
