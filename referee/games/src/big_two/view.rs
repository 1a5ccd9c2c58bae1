//! A seat's calls folded into what it knows.

use arena_proto::{
    arena::v1::Forfeit,
    games::big_two::v1::{
        self as proto, BigTwoCall, GetPlay, RequestPlay, big_two_call::Call, get_play,
    },
};
use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use super::{
    card::{Card, Cards, Order},
    combination::Combination,
    round::{Move, Public, Rules, SEATS, Scoring},
    rules::{BigTwo, Question},
    wire::cards,
};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The seat that knows it.
    pub seat: Seat,
    /// Everything that everybody sees.
    pub public: Public,
    /// The hand of this seat.
    pub hand: Cards,
}

impl View {
    /// The cards that it has not seen: neither played nor in its hand.
    #[must_use]
    pub fn unseen(&self) -> Cards {
        Cards::DECK - self.public.all_played() - self.hand
    }
}

impl Sight for BigTwo {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let call = decode(start)?;
        let (Some(table), Some(deal)) = (call.table, call.get_deal) else {
            return Err(Malformed("the start has no table or no deal".to_owned()));
        };
        let scoring = match table.scoring() {
            proto::Scoring::Places => Scoring::Places,
            proto::Scoring::Payout => Scoring::Payout,
            proto::Scoring::Unspecified => {
                return Err(Malformed(format!("there is no scoring {}", table.scoring)));
            }
        };
        let left: Vec<u8> = table
            .cards_left
            .iter()
            .filter_map(|&left| u8::try_from(left).ok())
            .collect();
        let left = <[u8; SEATS as usize]>::try_from(left).map_err(|_| {
            let found = &table.cards_left;
            Malformed(format!("expected four numbers of cards, found {found:?}"))
        })?;
        let hand = cards(&deal.cards)?;
        if left.get(seat.index()) != Some(&hand.len()) {
            return Err(Malformed(format!("seat {seat} was not dealt {hand:?}")));
        }
        let rules = Rules {
            scoring,
            reversal: table.reversal,
        };
        Ok(View {
            seat,
            public: Public::beginning(rules, left),
            hand,
        })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        match decode(call)?.call {
            Some(Call::GetPlay(told)) => view.get_play(&told)?,
            Some(Call::Forfeit(told)) => view.forfeit(&told)?,
            Some(Call::RequestPlay(asked)) => {
                view.asked(&asked)?;
                return Ok(Some(Question::Play));
            }
            Some(Call::Start(_) | Call::Over(_)) | None => {}
        }
        Ok(None)
    }

    /// Every play and pass is told to all seats.
    fn answered(_: &mut View, Question::Play: Question, _: &Move) {}

    fn known(view: &View) -> (Public, Cards) {
        (view.public.clone(), view.hand)
    }
}

/// The fields of a call must agree with what earlier calls said.
impl View {
    fn get_play(&mut self, told: &GetPlay) -> Result<(), Malformed> {
        let seat = seat(told.seat)?;
        let did = match &told.r#move {
            Some(get_play::Move::Play(play)) => Move::Play(cards(&play.cards)?),
            Some(get_play::Move::Pass(_)) => Move::Pass,
            None => return Err(Malformed(format!("seat {seat} neither played nor passed"))),
        };
        let mut public = self.public.clone();
        if !public.in_play(seat) {
            return Err(Malformed(format!("seat {seat} is not in play")));
        }
        if let Move::Play(cards) = did {
            let held = public.cards_left[seat.index()];
            let known = public.all_played()
                | if seat == self.seat {
                    Cards::NONE
                } else {
                    self.hand
                };
            if Combination::of(cards).is_none()
                || cards.len() > held
                || !(cards & known).is_empty()
                || seat == self.seat && !self.hand.contains_all(cards)
            {
                return Err(Malformed(format!(
                    "seat {seat} can't have played {cards:?}"
                )));
            }
        }
        public.take(seat, did);
        let own = GetPlay {
            seat: told.seat,
            r#move: told.r#move.clone(),
            cards_left: public.cards_left[seat.index()].into(),
            reversed_after: public.order == Order::Reversed,
            place: public.place(seat).map(u32::from),
        };
        if own != *told {
            return Err(Malformed(format!("expected {own:?}, found {told:?}")));
        }
        self.public = public;
        if let (Move::Play(cards), true) = (did, seat == self.seat) {
            self.hand -= cards;
        }
        Ok(())
    }

    fn forfeit(&mut self, told: &Forfeit) -> Result<(), Malformed> {
        let seat = seat(told.seat)?;
        let place = self.public.forfeit(seat);
        if u32::from(place) != told.place {
            return Err(Malformed(format!(
                "seat {seat} forfeited and takes place {place}, not {}",
                told.place
            )));
        }
        Ok(())
    }

    fn asked(&self, asked: &RequestPlay) -> Result<(), Malformed> {
        let to_beat = match &asked.to_beat {
            Some(play) => Some(cards(&play.cards)?),
            None => None,
        };
        let public = &self.public;
        if to_beat == public.trick.map(|trick| trick.play.cards())
            && asked.reversed == (public.order == Order::Reversed)
            && asked.must_include_three_of_clubs == self.hand.contains(Card::THREE_OF_CLUBS)
        {
            Ok(())
        } else {
            Err(Malformed(format!("{asked:?} is not what {public:?} asks")))
        }
    }
}

fn decode(call: &[u8]) -> Result<BigTwoCall, Malformed> {
    BigTwoCall::decode(call).map_err(|error| Malformed(error.to_string()))
}

fn seat(number: u32) -> Result<Seat, Malformed> {
    u8::try_from(number)
        .ok()
        .filter(|number| *number < SEATS)
        .map(Seat::new)
        .ok_or_else(|| Malformed(format!("expected a seat of 0 to 3, found {number}")))
}
