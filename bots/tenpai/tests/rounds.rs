//! The engine's expectations, compared with the ends of rounds.

#[path = "../examples/shared/round.rs"]
mod round;

use round::{Player, Round, wall};
use tenpai::{MahjongEngine, NetworkWeights, Situation, ThinkingLimit, Tile};

/// The networks alone discard; keeps what they expect at each discard.
struct Expecting<'a> {
    engine: &'a MahjongEngine,
    expected: Vec<f32>,
}

impl Player for Expecting<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        let best = self.engine.discards(situation, &ThinkingLimit::hands(1))[0];
        self.expected.push(best.value);
        best.tile
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        let at_once = ThinkingLimit::hands(1);
        self.engine.wins(situation, tile, self_draw, &at_once)
    }
}

/// The score of a round varies by some 55 points, so the means of 6,000 rounds do by 0.7.
#[test]
fn the_wide_network_expects_the_points_that_follow() {
    let engine = MahjongEngine::new(NetworkWeights::wide());
    let rounds = 6_000;
    let (mut first, mut all) = (0.0, 0.0);
    for number in 0..rounds {
        let mut player = Expecting {
            engine: &engine,
            expected: Vec::new(),
        };
        let begins = number % 2 == 0;
        let round = Round::deal(wall(9, number), begins, true, Some(0.0));
        let end = round.play(begins, &mut player);
        assert!(end.left < 82);
        let off = player
            .expected
            .iter()
            .map(|&it| f64::from(it) - f64::from(end.score));
        let off: Vec<f64> = off.collect();
        first += off.first().unwrap_or(&0.0) / rounds as f64;
        all += off.iter().sum::<f64>() / off.len().max(1) as f64 / rounds as f64;
    }
    assert!(first.abs() < 2.5, "{first}");
    assert!(all.abs() < 2.5, "{all}");
}
