//! The statistics of some rounds.

/// The statistics of some rounds.
#[derive(Default)]
pub(crate) struct Sums {
    rounds: f64,
    score: f64,
    squares: f64,
    wins: f64,
    left: f64,
    losses: f64,
    pub(crate) error: f64,
    pub(crate) samples: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, score: f64, left: u8) {
        self.rounds += 1.0;
        self.score += score;
        self.squares += score * score;
        if score > 0.0 {
            self.wins += 1.0;
            self.left += f64::from(left);
        }
        if score < 0.0 {
            self.losses += 1.0;
        }
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.score / self.rounds;
        let deviation = (self.squares / self.rounds - mean * mean).sqrt();
        write!(
            f,
            "{mean:.2} ± {:.2} a round, {:.1} % won with {:.1} left, {:.1} % lost, error {:.2}",
            deviation / self.rounds.sqrt(),
            100.0 * self.wins / self.rounds,
            self.left / self.wins,
            100.0 * self.losses / self.rounds,
            (self.error / self.samples).sqrt(),
        )
    }
}
