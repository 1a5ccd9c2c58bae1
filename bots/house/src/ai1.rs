//! `ai1`: Big Two, the lowest play. As opener the single ♣3; leading, its lowest
//! single; following, the lowest combination that is high enough, with the
//! fewest jokers; else a pass. That is the first of the order of plays.

use bot_kit::{Bot, Thinker, Turn};
use referee_games::big_two::{BigTwo, Move};

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ai1",
    summary: "plays the lowest single or whatever is just high enough",
    games: PlayedGames::These(&["big_two"]),
    parameters: &[],
    shows: &["ai1"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    Ok(crate::quick(BOT.name).thinks::<BigTwo, _>(|_| Lowest))
}

struct Lowest;

impl Thinker<BigTwo> for Lowest {
    fn answer(&mut self, turn: &Turn<'_, BigTwo>) -> Move {
        lowest(&turn.legal())
    }
}

/// The first of the legal plays, which come in the order of plays and before
/// the pass.
#[must_use]
pub fn lowest(legal: &[Move]) -> Move {
    legal.first().copied().unwrap_or(Move::Pass)
}
