//! {{name}}: a bot for Mahjong.

use std::time::Duration;

use bot_kit::{
    Bot,
    mahjong::{MahjongBot, Tile},
};

/// The tile to discard. Your idea goes here: this takes the one with the fewest neighbours in the
/// hand. A tile is the number 10 * suit + rank.
fn choose(hand: &[Tile]) -> Tile {
    let near = |a: Tile, b: Tile| (a as i32 - b as i32).abs() <= 1;
    let neighbours = |tile: &Tile| hand.iter().filter(|other| near(*tile, **other)).count();
    let alone = hand.iter().min_by_key(|tile| neighbours(tile));
    *alone.expect("a hand has tiles")
}

/// One value for each game.
#[derive(Default)]
struct MyBot {
    hand: Vec<Tile>,
}

impl MahjongBot for MyBot {
    fn get_draw(&mut self, tile: Tile) {
        self.hand.push(tile);
    }

    fn request_discard(&mut self, _limit: Duration) -> Tile {
        let tile = choose(&self.hand);
        let at = self.hand.iter().position(|other| *other == tile);
        self.hand.remove(at.expect("it is in the hand"));
        println!("I discard {tile:?}"); // goes into the bot's log
        tile
    }

    fn get_opp_discard(&mut self, _tile: Tile) {}

    fn request_win(&mut self, _tile: Tile, _is_self_draw: bool, _limit: Duration) -> bool {
        true
    }
}

fn main() -> std::process::ExitCode {
    Bot::new("{{name}}", "1")
        .mahjong(|_start| MyBot::default())
        .main()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_alone_is_discarded() {
        let hand = [Tile::C1, Tile::C2, Tile::C3, Tile::B5, Tile::D7, Tile::D7];
        assert_eq!(choose(&hand), Tile::B5);
    }
}
