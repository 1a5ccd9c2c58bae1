//! `simple`: the arcade's opponent in Mahjong. It discards any tile of its hand
//! and never claims a win.

use bot_kit::{Bot, Thinker, Turn};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::mahjong::{Answer, Hand, Mahjong, Question, Tile};

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "simple",
    summary: "discards at random and never wins",
    games: PlayedGames::These(&["mahjong"]),
    parameters: &[],
    shows: &[],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    Ok(crate::quick(BOT.name)
        .thinks::<Mahjong, _>(|start| Simple(ChaCha8Rng::seed_from_u64(start.bot_seed))))
}

pub(crate) struct Simple(pub(crate) ChaCha8Rng);

impl Simple {
    /// Each tile of the hand equally likely, not each kind.
    pub(crate) fn discard(&mut self, hand: &Hand) -> Tile {
        let pick = self.0.random_range(0..hand.len());
        hand.tiles().nth(pick).expect("there are that many")
    }
}

impl Thinker<Mahjong> for Simple {
    fn answer(&mut self, turn: &Turn<'_, Mahjong>) -> Answer {
        match turn.question {
            Question::Discard => Answer::Discard(self.discard(&turn.view().private.all())),
            Question::Win { .. } => Answer::Pass,
        }
    }
}
