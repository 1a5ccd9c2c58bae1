//! An engine in rounds that are measured, and what is said of their ends.

use tenpai::{MahjongEngine, Situation, ThinkingLimit, Tile};

use crate::round::{End, Player};

/// An engine that evaluates about so many hands for an answer.
pub(crate) struct EnginePlayer<'a> {
    pub(crate) engine: &'a MahjongEngine,
    pub(crate) hands: u64,
    pub(crate) playouts: u64,
    pub(crate) threads: usize,
}

impl EnginePlayer<'_> {
    const fn limit(&self) -> ThinkingLimit<'static> {
        ThinkingLimit::hands(self.hands)
            .and_playouts(self.playouts)
            .and_threads(self.threads)
    }
}

impl Player for EnginePlayer<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        self.engine.discards(situation, &self.limit())[0].tile
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        self.engine.wins(situation, tile, self_draw, &self.limit())
    }
}

impl End {
    /// The faan of the seat that is asked, if it won.
    pub(crate) fn faan(self) -> Option<f64> {
        let won = self.score > 0;
        won.then(|| f64::from(self.score - i32::from(self.left)) / 3.0)
    }
}

/// The mean and its standard error.
pub(crate) fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
