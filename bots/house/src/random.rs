//! `random`: any legal move of any game, each equally likely.

use bot_kit::{Bot, Chooser};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::GAMES;

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "random",
    summary: "plays any legal move, each equally likely",
    games: PlayedGames::All,
    parameters: &[],
    shows: &["random"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    let mut bot = crate::quick(BOT.name);
    for kind in &GAMES {
        bot = bot.chooses(*kind, |start| {
            Random(ChaCha8Rng::seed_from_u64(start.bot_seed))
        });
    }
    Ok(bot)
}

struct Random(ChaCha8Rng);

impl Chooser for Random {
    fn choose(&mut self, answers: usize) -> usize {
        self.0.random_range(0..answers)
    }
}
