//! `straightforward`: keeps the small tiles in Mahjong, so that sooner or later
//! it has a flush of characters. It discards its largest tile (characters,
//! bamboos, dots, then rank) and accepts every win.

use bot_kit::{Bot, Thinker, Turn};
use referee_games::mahjong::{Answer, Mahjong, Question};

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "straightforward",
    summary: "discards its largest tile and accepts every win",
    games: PlayedGames::These(&["mahjong"]),
    parameters: &[],
    shows: &["straightforward"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    Ok(crate::quick(BOT.name).thinks::<Mahjong, _>(|_| Straightforward))
}

struct Straightforward;

impl Thinker<Mahjong> for Straightforward {
    fn answer(&mut self, turn: &Turn<'_, Mahjong>) -> Answer {
        match turn.question {
            Question::Discard => {
                let largest = turn.view().private.all().kinds().last();
                Answer::Discard(largest.expect("a hand has tiles"))
            }
            Question::Win { .. } => Answer::Win,
        }
    }
}
