//! `random`: any legal move, each equally likely.

use bot_kit::{
    Bot, GameStart,
    connect_four::{ConnectFourBot, GetPoint, Point},
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{HouseBot, Parameters, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "random",
    summary: "plays any legal move, each equally likely",
    games: &["connect_four"],
    parameters: &[],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: Parameters) -> Result<Bot, SpecError> {
    Ok(Bot::new(BOT.name, env!("CARGO_PKG_VERSION"))
        .max_games(10_000)
        .can_resume()
        .quick()
        .connect_four(Random::new))
}

struct Random(ChaCha8Rng);

impl Random {
    fn new(start: &GameStart) -> Self {
        Self(ChaCha8Rng::seed_from_u64(start.bot_seed))
    }
}

impl ConnectFourBot for Random {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        let pick = self.0.random_range(0..ask.points().count());
        ask.points().nth(pick).expect("there are that many")
    }
}
