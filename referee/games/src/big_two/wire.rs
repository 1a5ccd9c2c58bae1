//! The game's messages: only this file and `view.rs` know them.

use arena_proto::games::big_two::v1::{
    self as proto, BigTwoAnswer, BigTwoCall, GetDeal, GetPlay, Pass, RequestPlay, Table,
    big_two_answer::Answer, get_play,
};
use prost::Message;
use referee_core::{Malformed, Observation, Wire};

use super::{
    card::{Card, Cards, Order},
    round::{Move, Scoring, SeatStanding},
    rules::{BigTwo, Notice, Question, must_open},
};

impl Wire for BigTwo {
    const PATH: &'static str = "/games.big_two.v1.BigTwoBot/Play";
    const DESCRIPTORS: &'static [u8] = arena_proto::DESCRIPTORS;

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let public = sight.public();
        let scoring = match public.rules.scoring {
            Scoring::Places => proto::Scoring::Places,
            Scoring::Payout => proto::Scoring::Payout,
        };
        let call = BigTwoCall {
            table: Some(Table {
                scoring: scoring.into(),
                reversal: public.rules.reversal,
                cards_left: public.cards_left.map(u32::from).to_vec(),
            }),
            get_deal: Some(GetDeal {
                cards: numbers(*sight.private()),
            }),
            ..BigTwoCall::default()
        };
        call.encode(out).expect("a vector has room");
    }

    fn write_notice(sight: &Observation<'_, Self>, Notice::Move: Notice, out: &mut Vec<u8>) {
        let public = sight.public();
        let Some((seat, did)) = public.last else {
            return;
        };
        let told = GetPlay {
            seat: seat.index() as u32,
            r#move: Some(match did {
                Move::Play(cards) => get_play::Move::Play(play(cards)),
                Move::Pass => get_play::Move::Pass(Pass {}),
            }),
            cards_left: public.cards_left[seat.index()].into(),
            reversed_after: public.order == Order::Reversed,
            place: match public.standing[seat.index()] {
                SeatStanding::Out(place) => Some(place.into()),
                _ => None,
            },
        };
        prost::encoding::message::encode(GET_PLAY, &told, out);
    }

    fn write_question(sight: &Observation<'_, Self>, Question::Play: Question, out: &mut Vec<u8>) {
        let public = sight.public();
        let ask = RequestPlay {
            to_beat: public.trick.map(|trick| play(trick.play.cards())),
            reversed: public.order == Order::Reversed,
            must_include_three_of_clubs: must_open(sight),
        };
        prost::encoding::message::encode(REQUEST_PLAY, &ask, out);
    }

    fn read_answer(Question::Play: Question, bytes: &[u8]) -> Result<Move, Malformed> {
        let message = BigTwoAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        let found = match message.answer {
            Some(Answer::Play(play)) => return Ok(Move::Play(cards(&play.cards)?)),
            Some(Answer::Pass(Pass {})) => return Ok(Move::Pass),
            Some(Answer::Ready(_)) => "Ready",
            None => "nothing",
        };
        Err(Malformed(format!("expected Play or Pass, found {found}")))
    }

    fn write_answer(answer: &Move, out: &mut Vec<u8>) {
        let answer = match answer {
            Move::Play(cards) => Answer::Play(play(*cards)),
            Move::Pass => Answer::Pass(Pass {}),
        };
        let message = BigTwoAnswer {
            number: None,
            answer: Some(answer),
        };
        message.encode(out).expect("a vector has room");
    }

    fn notation(answer: &Move) -> String {
        match answer {
            Move::Play(cards) => cards.to_string(),
            Move::Pass => "pass".to_owned(),
        }
    }
}

/// The fields of a `BigTwoCall`. They are written directly, without building a whole
/// `BigTwoCall` for each.
const GET_PLAY: u32 = 10;
const REQUEST_PLAY: u32 = 11;

fn play(cards: Cards) -> proto::Play {
    proto::Play {
        cards: numbers(cards),
    }
}

/// In messages a card is its index plus 1; 0 is no card.
fn numbers(cards: Cards) -> Vec<i32> {
    cards
        .iter()
        .map(|card| i32::from(card.index()) + 1)
        .collect()
}

/// The cards that these numbers stand for.
pub(super) fn cards(numbers: &[i32]) -> Result<Cards, Malformed> {
    let mut cards = Cards::NONE;
    for &number in numbers {
        let card = number
            .checked_sub(1)
            .and_then(|index| Card::from_index(u8::try_from(index).ok()?))
            .ok_or_else(|| Malformed(format!("expected cards of 1 to 54, found {number}")))?;
        if !cards.insert(card) {
            return Err(Malformed(format!(
                "expected each card once, found {card} twice"
            )));
        }
    }
    Ok(cards)
}
