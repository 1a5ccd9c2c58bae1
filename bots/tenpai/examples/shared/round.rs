//! A round without a referee and without protocol: one seat is asked, the other one plays as `shanten`
//! does or never wins.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use tenpai::{Shanten, Situation, Tile, Tiles, faan, shuffle};

/// The player that is asked in a round.
pub(crate) trait Player {
    /// The tile that it discards from a hand of 14.
    fn discard(&mut self, situation: &Situation) -> Tile;

    /// Is shown the other seat before it discards, which no player of the game is.
    fn sees(&mut self, _other: Option<Shanten>) {}

    /// True if it wins with this tile, which completes its hand.
    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool;
}

/// The end of a round.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// The own points less those of the other seat.
    pub(crate) score: i32,
    /// The tiles that were left.
    pub(crate) left: u8,
}

/// A round at one moment.
#[derive(Clone)]
pub(crate) struct Round {
    /// The knowledge of the seat that is asked.
    pub(crate) situation: Situation,
    /// The other seat if it plays as `shanten` does. One that discards at random and never wins has a
    /// hand that is as unseen as the wall, so its discard is the next tile.
    pub(crate) other: Option<Shanten>,
    /// The tiles that are drawn, the next one at the end.
    pub(crate) wall: Vec<Tile>,
}

/// The tiles of a round; those that are dealt first are at the end.
pub(crate) fn wall(seed: u64, round: u64) -> Vec<Tile> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(round);
    let mut tiles: Vec<Tile> = Tiles::FULL.tiles().collect();
    shuffle(&mut tiles, &mut rng);
    tiles
}

impl Round {
    /// The beginning of a round with these tiles, against a seat that plays as `shanten` does or not.
    pub(crate) fn deal(
        mut tiles: Vec<Tile>,
        is_first: bool,
        is_racing: bool,
        passive: Option<f32>,
    ) -> Self {
        let mut deal = || tiles.split_off(tiles.len() - 13);
        let (hand, other) = match (is_racing, is_first) {
            (false, _) => (deal(), None),
            (true, true) => (deal(), Some(deal())),
            (true, false) => {
                let other = deal();
                (deal(), Some(other))
            }
        };
        let situation = Situation {
            hand: hand.into_iter().collect(),
            own_river: Vec::new(),
            other_river: Vec::new(),
            began: is_first,
            left: 82,
            three_suits: false,
            passive,
        };
        Self {
            situation,
            other: other.map(|dealt| Shanten::new(&dealt)),
            wall: tiles,
        }
    }

    /// Plays to the end; the next tile is drawn by the seat that is asked, or by the other one.
    pub(crate) fn play(mut self, mut is_own: bool, player: &mut impl Player) -> End {
        while let Some(drawn) = self.draw() {
            let end = if is_own {
                self.own_turn(drawn, player)
            } else {
                self.other_turn(drawn, player)
            };
            if let Some(end) = end {
                return end;
            }
            is_own = !is_own;
        }
        End { score: 0, left: 0 }
    }

    fn draw(&mut self) -> Option<Tile> {
        if self.situation.left == 0 {
            return None;
        }
        self.situation.left -= 1;
        self.wall.pop()
    }

    fn own_turn(&mut self, drawn: Tile, player: &mut impl Player) -> Option<End> {
        self.situation.hand = self.situation.hand.with(drawn);
        if let Some(end) = self.win(self.situation.hand)
            && player.wins(&self.situation, drawn, true)
        {
            return Some(end);
        }
        player.sees(self.other);
        let discard = player.discard(&self.situation);
        self.discard(discard)
    }

    /// Discards this tile of a hand of 14; the end if the other seat wins with it.
    pub(crate) fn discard(&mut self, tile: Tile) -> Option<End> {
        let situation = &mut self.situation;
        situation.hand = situation.hand.without(tile);
        situation.own_river.push(tile);
        let other = self.other.as_mut()?;
        let end = lost(other, tile, situation.left);
        if end.is_none() {
            other.sees(tile);
        }
        end
    }

    fn other_turn(&mut self, drawn: Tile, player: &mut impl Player) -> Option<End> {
        let mut discard = drawn;
        if let Some(other) = &mut self.other {
            let end = lost(other, drawn, self.situation.left);
            if end.is_some() {
                return end;
            }
            discard = other.discard(drawn);
        }
        self.situation.other_river.push(discard);
        if self.situation.hand.count(discard) == 4 {
            return None;
        }
        let end = self.win(self.situation.hand.with(discard))?;
        let wins = player.wins(&self.situation, discard, false);
        wins.then_some(end)
    }

    /// The end if this hand of 14 tiles wins.
    fn win(&self, hand: Tiles) -> Option<End> {
        let left = self.situation.left;
        let faan = faan(&hand, false)?;
        let score = (3 * faan + u32::from(left)) as i32;
        Some(End { score, left })
    }
}

/// The end if the other seat wins with this tile.
fn lost(other: &Shanten, tile: Tile, left: u8) -> Option<End> {
    let faan = other.wins(tile)?;
    let score = -((3 * faan + u32::from(left)) as i32);
    Some(End { score, left })
}
