//! `ai3`: Big Two, as `ai2`, but in a hurry: it also counts the cards that stay
//! and are still threatened, and takes a play whenever that count or the score
//! is lower than its best so far.

use bot_kit::{Bot, Thinker, Turn};
use referee_games::big_two::{BigTwo, Move, View};

use crate::{HouseBot, Parameters, PlayedGames, SpecError, ai2::HandScorer};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ai3",
    summary: "as ai2, but would also rather be left with few threatened cards",
    games: PlayedGames::These(&["big_two"]),
    parameters: &[],
    shows: &["ai3"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    Ok(crate::quick(BOT.name).thinks::<BigTwo, _>(|_| Hasty))
}

struct Hasty;

impl Thinker<BigTwo> for Hasty {
    fn answer(&mut self, turn: &Turn<'_, BigTwo>) -> Move {
        lower_in_either(turn.view(), &turn.legal())
    }
}

/// Goes through the plays in their order and keeps each whose score or whose
/// count is lower than that of the one kept.
#[must_use]
pub fn lower_in_either(view: &View, legal: &[Move]) -> Move {
    let scorer = HandScorer::of(view);
    let best = scorer.each(legal).reduce(|best, next| {
        let lower = next.1.score() < best.1.score() || next.1.threatened() < best.1.threatened();
        if lower { next } else { best }
    });
    best.map_or(Move::Pass, |(did, _)| did)
}
