//! The game's messages: only this file and `view.rs` know them.

use arena_proto::games::mahjong::v1::{
    self as proto, GetDraw, GetOppDiscard, MahjongAnswer, MahjongCall, RequestDiscard, RequestWin,
    Round, mahjong_answer, mahjong_call::Call,
};
use prost::Message;
use referee_core::{Malformed, Observation, Wire};

use super::{
    rules::{Answer, Mahjong, Notice, Question},
    tile::{MahjongSuit, Tile},
    value::MissingSuit,
};

impl Wire for Mahjong {
    const PATH: &'static str = "/games.mahjong.v1.MahjongBot/Play";
    const DESCRIPTORS: &'static [u8] = arena_proto::DESCRIPTORS;

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let public = sight.public();
        let call = MahjongCall {
            round: Some(Round {
                missing_suit_required: public.missing_suit == MissingSuit::Required,
                wall: public.wall.into(),
            }),
            ..MahjongCall::default()
        };
        append(&call, out);
    }

    fn write_notice(sight: &Observation<'_, Self>, notice: Notice, out: &mut Vec<u8>) {
        let private = sight.private();
        let call = match (notice, private.drawn) {
            (Notice::Drawn, Some(drawn)) => Call::GetDraw(GetDraw {
                tiles: vec![number(drawn)],
            }),
            (Notice::Drawn, None) => Call::GetDraw(GetDraw {
                tiles: private.hand.tiles().map(number).collect(),
            }),
            (Notice::Discarded, _) => Call::GetOppDiscard(GetOppDiscard {
                tile: number_or_none(sight.public().last_discard()),
            }),
        };
        append_call(call, out);
    }

    fn write_question(sight: &Observation<'_, Self>, question: Question, out: &mut Vec<u8>) {
        let call = match question {
            Question::Discard => Call::RequestDiscard(RequestDiscard {}),
            Question::Win { self_draw } => {
                let tile = if self_draw {
                    sight.private().drawn
                } else {
                    sight.public().last_discard()
                };
                Call::RequestWin(RequestWin {
                    winning_tile: number_or_none(tile),
                    is_self_draw: self_draw,
                })
            }
        };
        append_call(call, out);
    }

    fn read_answer(question: Question, bytes: &[u8]) -> Result<Answer, Malformed> {
        use mahjong_answer::Answer as Message;

        let message = MahjongAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        let expected = match question {
            Question::Discard => "a discard",
            Question::Win { .. } => "a claim",
        };
        let found = match (question, message.answer) {
            (Question::Discard, Some(Message::Discard(number))) => {
                return tile(number).map(Answer::Discard);
            }
            (Question::Win { .. }, Some(Message::Win(claim))) => {
                return match proto::Claim::try_from(claim) {
                    Ok(proto::Claim::Win) => Ok(Answer::Win),
                    Ok(proto::Claim::Pass) => Ok(Answer::Pass),
                    _ => Err(Malformed(format!(
                        "expected 1 (win) or 2 (pass), found {claim}"
                    ))),
                };
            }
            (_, Some(Message::Discard(_))) => "a discard",
            (_, Some(Message::Win(_))) => "a claim",
            (_, Some(Message::Ready(_))) => "Ready",
            (_, None) => "nothing",
        };
        Err(Malformed(format!("expected {expected}, found {found}")))
    }

    fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
        use mahjong_answer::Answer as Message;

        let answer = match *answer {
            Answer::Discard(tile) => Message::Discard(number(tile)),
            Answer::Win => Message::Win(proto::Claim::Win.into()),
            Answer::Pass => Message::Win(proto::Claim::Pass.into()),
        };
        let message = MahjongAnswer {
            number: None,
            answer: Some(answer),
        };
        append(&message, out);
    }

    fn notation(answer: &Answer) -> String {
        match answer {
            Answer::Discard(tile) => tile.to_string(),
            Answer::Win => "win".to_owned(),
            Answer::Pass => "pass".to_owned(),
        }
    }
}

/// A tile's number in messages: 10 * suit + rank.
const fn number(tile: Tile) -> i32 {
    10 * tile.suit() as i32 + tile.rank() as i32
}

fn number_or_none(tile: Option<Tile>) -> i32 {
    tile.map_or(proto::Tile::Unspecified.into(), number)
}

/// The tile of a number.
pub(super) fn tile(number: i32) -> Result<Tile, Malformed> {
    let suit = usize::try_from(number / 10)
        .ok()
        .and_then(|suit| MahjongSuit::ALL.get(suit));
    suit.zip(u8::try_from(number % 10).ok())
        .and_then(|(&suit, rank)| Tile::new(suit, rank))
        .ok_or_else(|| Malformed(format!("expected a tile, 10 * suit + rank, found {number}")))
}

fn append_call(call: Call, out: &mut Vec<u8>) {
    let call = MahjongCall {
        call: Some(call),
        ..MahjongCall::default()
    };
    append(&call, out);
}

fn append(message: &impl Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector has room");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_the_numbers_of_the_enum() {
        for kind in Tile::all() {
            let message = proto::Tile::try_from(number(kind)).unwrap();
            let letter = kind.suit().letter().to_ascii_uppercase();
            let name = format!("TILE_{letter}{}", kind.rank());
            assert_eq!(message.as_str_name(), name);
            assert_eq!(tile(number(kind)), Ok(kind));
        }
        for wrong in [0, 10, 20, 30, 31, -1, -11, i32::MAX, i32::MIN] {
            assert!(tile(wrong).is_err(), "{wrong}");
        }
    }
}
