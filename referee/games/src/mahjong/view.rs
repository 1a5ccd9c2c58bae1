//! A seat's calls and answers folded into what it knows.

use arena_proto::games::mahjong::v1::{MahjongCall, mahjong_call::Call};
use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use super::{
    hand::Hand,
    rules::{Answer, Mahjong, Private, Public, Question, WALL},
    setup::DEALT,
    tile::Tile,
    value::MissingSuit,
    wire::tile,
};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The seat that knows it.
    pub seat: Seat,
    /// The public part, as far as the seat knows it.
    pub public: Public,
    /// The private part of this seat.
    pub private: Private,
    /// True if the last discard was offered as a win; then it is told again after a
    /// pass.
    offered: bool,
}

impl Sight for Mahjong {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let round = decode(start)?
            .round
            .ok_or_else(|| Malformed("the start has no round".to_owned()))?;
        let missing_suit = if round.missing_suit_required {
            MissingSuit::Required
        } else {
            MissingSuit::Free
        };
        let wall = u8::try_from(round.wall)
            .ok()
            .filter(|wall| *wall <= WALL)
            .ok_or_else(|| Malformed(format!("there is no wall of {} tiles", round.wall)))?;
        if seat.index() > 1 {
            return Err(Malformed(format!("there is no seat {seat}")));
        }
        Ok(View {
            seat,
            public: Public::beginning(missing_suit, wall),
            private: Private::default(),
            offered: false,
        })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        match decode(call)?.call {
            Some(Call::GetDraw(draw)) => {
                let tiles: Vec<Tile> =
                    draw.tiles.into_iter().map(tile).collect::<Result<_, _>>()?;
                match tiles[..] {
                    [drawn] => view.draw(drawn)?,
                    _ => view.deal(&tiles)?,
                }
                Ok(None)
            }
            Some(Call::RequestDiscard(_)) => Ok(Some(Question::Discard)),
            Some(Call::GetOppDiscard(discard)) => {
                let discard = tile(discard.tile)?;
                if !std::mem::take(&mut view.offered) {
                    view.other_discards(discard)?;
                }
                Ok(None)
            }
            Some(Call::RequestWin(request)) => {
                let winning = tile(request.winning_tile)?;
                let self_draw = request.is_self_draw;
                if self_draw {
                    view.draw(winning)?;
                } else {
                    view.other_discards(winning)?;
                    view.offered = true;
                }
                Ok(Some(Question::Win { self_draw }))
            }
            Some(Call::Forfeit(forfeit)) => {
                let seat = usize::try_from(forfeit.seat).ok();
                let gone = seat.and_then(|seat| view.public.gone.get_mut(seat));
                *gone.ok_or_else(|| Malformed(format!("there is no seat {}", forfeit.seat)))? =
                    true;
                Ok(None)
            }
            Some(Call::Start(_) | Call::Over(_)) | None => Ok(None),
        }
    }

    fn answered(view: &mut View, question: Question, answer: &Answer) {
        let View {
            seat,
            public,
            private,
            ..
        } = view;
        match (question, *answer) {
            (Question::Discard, Answer::Discard(tile)) if private.all().contains(tile) => {
                private.discard(tile);
                public.discard(*seat, tile);
            }
            (Question::Win { self_draw }, Answer::Win) => {
                public.won = public.win(*seat, private, self_draw);
            }
            _ => {}
        }
    }

    fn known(view: &View) -> (Public, Private) {
        (view.public.clone(), view.private)
    }
}

impl View {
    fn deal(&mut self, tiles: &[Tile]) -> Result<(), Malformed> {
        match Hand::of(tiles).filter(|hand| hand.len() == DEALT && self.private.hand.is_empty()) {
            Some(hand) => {
                self.private.hand = hand;
                Ok(())
            }
            None => Err(Malformed(format!(
                "expected 13 tiles once and then one, found {tiles:?}"
            ))),
        }
    }

    /// A tile that completes the hand is known by the question, before the notice.
    fn draw(&mut self, tile: Tile) -> Result<(), Malformed> {
        let Private { hand, drawn } = self.private;
        let dealt = hand.len() == DEALT && hand.has_room(tile);
        if !dealt || drawn.is_some_and(|drawn| drawn != tile) {
            return Err(Malformed(format!("{tile} can't be drawn to {hand}")));
        }
        self.private.drawn = Some(tile);
        Ok(())
    }

    fn other_discards(&mut self, tile: Tile) -> Result<(), Malformed> {
        let other = self.seat.other();
        if self.public.turn() != other || self.public.wall == 0 {
            return Err(Malformed(format!("{tile} is discarded out of turn")));
        }
        self.public.discard(other, tile);
        Ok(())
    }
}

fn decode(call: &[u8]) -> Result<MahjongCall, Malformed> {
    MahjongCall::decode(call).map_err(|error| Malformed(error.to_string()))
}
